//! What the profiles with SciPy change of the library: the patches in `python-dist/science/library`.
//!
//! The smaller profiles' archives do not depend on these patches, as they would on those in `site/library`.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bootstrap::Bootstrap;
use super::host;
use super::toolchain::copy_tree;
use super::workshop::{Key, Leftover, Workshop, sorted};

const CODE: &str = include_str!("science.rs");

/// Where the patches are, below the recipe's folder.
pub const PATCHES: &str = "science/library";

/// Compiles the named files of a library as `recipe/stdlib.py` does.
const COMPILE: &str = "\
import py_compile, sys
guest, *names = sys.argv[1:]
for name in names:
    py_compile.compile(name, dfile=f'{guest}/{name}', doraise=True,
                       invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
";

/// The library's folder with the patches applied to its files.
pub fn library(shop: &mut Workshop, bootstrap: &Bootstrap, library: &Path) -> Result<PathBuf> {
    let Bootstrap { pins, native, .. } = bootstrap;
    let patches = shop.recipe.join(PATCHES);
    let mut key = Key::new("science-library");
    key.text(&library.file_name().unwrap_or_default().to_string_lossy());
    key.text(&native.key);
    key.tree(&shop.recipe, &[PATCHES])?;
    key.text(CODE);
    let guest = format!("usr/lib/python{}", pins.series());
    let done = shop.step("science-library", key, Leftover::Discard, |bench| {
        let licences = bench.dir.join("licences");
        symlink(library.join("licences"), &licences).context("licences")?;
        copy_tree(&library.join("root"), &bench.dir.join("root"))?;
        let folder = bench.dir.join("root").join(&guest);
        let mut changed = Vec::new();
        for name in sorted(&patches)? {
            let file = patches.join(&name);
            let mut patch = host::tool("patch", &folder);
            patch.args(["-p1", "--fuzz=0", "--no-backup-if-mismatch", "--input"]).arg(&file);
            bench.run(&mut patch).with_context(|| name.clone())?;
            let text = fs::read_to_string(&file).with_context(|| name.clone())?;
            let files = text.lines().filter_map(|line| line.strip_prefix("+++ b/"));
            changed.extend(files.map(ToString::to_string));
        }
        let mut python = host::tool(native.dir.join("python"), &folder);
        python.args(["-I", "-S", "-c", COMPILE]).arg(format!("/{guest}")).args(changed);
        bench.run(&mut python)
    })?;
    Ok(done.dir)
}
