//! What lies in the guest's file system, and the licences of all parts.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::bootstrap::Bootstrap;
use super::pins::{Pins, Profile, Source};
use super::toolchain::unpack_zip;
use super::workshop::{Done, Key, Leftover, Workshop, sorted};
use super::{cpython, fetch, host, toolchain};

const CODE: &str = include_str!("library.rs");

/// Lays out `root/` (see `recipe/stdlib.py`) and `licences/COMPONENT/FILE`.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, wasm: &Done) -> Result<PathBuf> {
    let Bootstrap { pins, profile, source, native, .. } = bootstrap;
    let zones = pins.source("tzdata")?;
    let zones_file = fetch::fetch(shop, zones)?;
    let parts = licensed(shop, pins, *profile)?;
    let (recipe, base) = (shop.recipe.clone(), shop.base.clone());
    let mut key = Key::new("library");
    for part in [&source.key, &native.key, &wasm.key, &zones.sha256] {
        key.text(part);
    }
    for (part, _) in &parts {
        key.text(&format!("{part:?}"));
    }
    key.tree(&recipe, &["site/lib", "site/library", "recipe/stdlib.py"])?;
    key.text(CODE);
    let tree = cpython::tree(&source.dir);
    let done = shop.step("library", key, Leftover::Discard, |bench| {
        unpack_zip(bench, &zones_file)?;
        let built = wasm.dir.join("pybuilddir.txt");
        let built = fs::read_to_string(&built).with_context(|| built.display().to_string())?;
        let data = toolchain::find(&wasm.dir.join(built.trim()), "_sysconfigdata_")?;
        let mut python = host::tool(native.dir.join("python"), &bench.dir);
        python.args(["-I", "-S"]).arg(recipe.join("recipe/stdlib.py")).arg(&tree).arg(data);
        python.arg(recipe.join("site/lib")).arg(recipe.join("site/library"));
        python.arg(bench.dir.join("tzdata/zoneinfo"));
        bench.run(python.arg(bench.dir.join("root")).arg(&base))?;

        for (part, file) in &parts {
            let unpacked = bench.dir.join("sources").join(&part.name);
            fs::create_dir_all(&unpacked).with_context(|| unpacked.display().to_string())?;
            let mut extract = host::tool("python3", &unpacked);
            extract.args(["-I", "-c", EXTRACT]).arg(file).args(&part.licence_files);
            bench.run(&mut extract)?;
            let to = bench.dir.join("licences").join(&part.name);
            fs::create_dir_all(&to).with_context(|| to.display().to_string())?;
            for name in sorted(&unpacked)? {
                let from = unpacked.join(&name);
                fs::copy(&from, to.join(&name)).with_context(|| from.display().to_string())?;
            }
            let sums = format!(
                "{} {}\nlicence: {}\nsha256 of the source: {}\n",
                part.name, part.version, part.licence, part.sha256
            );
            fs::write(to.join("SOURCE"), sums).with_context(|| to.display().to_string())?;
        }
        Ok(())
    })?;
    Ok(done.dir)
}

/// Writes the named members of an archive, under their last name (or last two
/// joined by a dash, or all of them, if that is taken), into the current folder. A crate's or a
/// tarball's one top folder does not count as part of the name.
const EXTRACT: &str = r#"
import os, sys, tarfile, zipfile
archive, *wanted = sys.argv[1:]
if zipfile.is_zipfile(archive):
    z = zipfile.ZipFile(archive)
    read = z.read
else:
    t = tarfile.open(archive)
    top = t.next().name.split("/")[0]
    read = lambda name: t.extractfile(f"{top}/{name}").read()
for name in wanted:
    to = os.path.basename(name)
    if os.path.exists(to):
        to = "-".join(name.split("/")[-2:])
    if os.path.exists(to):
        to = name.replace("/", "-")
    with open(to, "xb") as f:
        f.write(read(name))
"#;

/// The sources that are part of the result, with their files.
fn licensed<'p>(
    shop: &mut Workshop,
    pins: &'p Pins,
    profile: Profile,
) -> Result<Vec<(&'p Source, PathBuf)>> {
    let mut parts = Vec::new();
    for source in pins.sources.iter().filter(|source| pins.ships(profile, source)) {
        parts.push((source, fetch::fetch(shop, source)?));
    }
    Ok(parts)
}

/// All licence files of a finished build: component and path.
pub fn licence_files(dir: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut all = Vec::new();
    for component in sorted(dir)? {
        for name in sorted(&dir.join(&component))? {
            all.push((component.clone(), dir.join(&component).join(name)));
        }
    }
    if all.is_empty() {
        bail!("{}: no licences", dir.display());
    }
    Ok(all)
}
