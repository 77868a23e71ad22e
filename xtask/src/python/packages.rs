//! Packages with C parts: from sources to objects for the link and files for
//! `site-packages`.
//!
//! A package is a folder of `python-dist/packages`: `package.toml`, numbered
//! patches, and `devel/`, what other packages see of it while they are built
//! (its headers and `.pxd` files join that by themselves), and `installed/`, patches to
//! what is installed, which need nothing compiled. Building is one step
//! (`meson`), splitting what came out into objects and files is another, so that
//! a change of what is left out compiles nothing anew.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use super::bootstrap::Bootstrap;
use super::kit::Kit;
use super::toolchain::copy_tree;
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{host, meson, wasmobj};

const CODE: &[&str] = &[include_str!("packages.rs"), include_str!("wasmobj.rs")];

/// A package's folder of patches to what is installed.
pub const INSTALLED: &str = "installed";

/// `package.toml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Recipe {
    /// Names of packages whose headers it needs.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Sources unpacked into the tree before patching.
    #[serde(default)]
    pub unpack: Vec<Unpack>,
    /// Whether it needs the headers of zlib, bzip2, xz and SQLite.
    #[serde(default)]
    pub libraries: bool,
    /// Options of its build system.
    #[serde(default)]
    pub options: Vec<String>,
    /// Flags for C, for C++, for both.
    #[serde(default)]
    pub c_flags: Vec<String>,
    #[serde(default)]
    pub cxx_flags: Vec<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    /// Paths below site-packages that are not in the image: a folder or file, or
    /// `**/NAME` or `**/*ENDING` for such names anywhere.
    #[serde(default)]
    pub leave_out: Vec<String>,
}

/// A pinned source that belongs into another's tree.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unpack {
    pub source: String,
    /// The folder to make; the archive's own top folder is dropped.
    pub at: String,
}

/// A finished package.
pub struct Package {
    pub name: String,
    pub done: Done,
    /// What its headers depend on: less than all of it.
    pub devel_key: String,
}

impl Package {
    /// Relocatable objects, each with the dotted name of its module.
    pub fn modules(&self) -> Result<Vec<(String, PathBuf)>> {
        let dir = self.done.dir.join("objects");
        let names = sorted(&dir)?;
        Ok(names
            .iter()
            .filter_map(|n| n.strip_suffix(".o").map(|module| (module.to_string(), dir.join(n))))
            .collect())
    }

    /// What goes to site-packages.
    pub fn site(&self) -> PathBuf {
        self.done.dir.join("site")
    }

    /// What other packages see of it while they are built.
    pub fn devel(&self) -> PathBuf {
        self.done.dir.join("devel")
    }
}

/// The global symbol of a module's entry.
pub fn entry(module: &str) -> String {
    format!("PyInit_{module}")
}

/// Builds the packages that pins.toml lists, in its order.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, kit: &Kit) -> Result<Vec<Package>> {
    let Bootstrap { pins, profile, native, libs, .. } = bootstrap;
    let mut packages: Vec<Package> = Vec::new();
    for name in pins.packages.iter().filter(|name| pins.has(*profile, name)) {
        let folder = shop.recipe.join("packages").join(name);
        let path = folder.join("package.toml");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let recipe: Recipe = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let mut needed = Vec::new();
        for need in &recipe.needs {
            let package = packages.iter().find(|p| p.name == *need);
            needed.push(package.with_context(|| format!("{name} needs {need} before it"))?);
        }
        let order = meson::Order { name, folder: &folder, recipe: &recipe, needed };
        let built = meson::build(shop, pins, &order, kit, libs)?;
        let done = split(shop, &order, native, &built)?;
        // The headers themselves: most changes of a package leave them as they are, and
        // then nothing that needs it is built anew.
        let mut devel = Key::new("devel");
        devel.tree(&done.dir, &["devel"])?;
        packages.push(Package { name: name.clone(), done, devel_key: devel.finish() });
    }
    Ok(packages)
}

/// Objects to `objects/`, Python to `site/` with bytecode, headers to `devel/`.
fn split(shop: &mut Workshop, order: &meson::Order, native: &Done, built: &Done) -> Result<Done> {
    let meson::Order { name, folder, recipe, .. } = *order;
    let mut key = Key::new(name);
    for part in [&built.key, &native.key] {
        key.text(part);
    }
    recipe.leave_out.iter().for_each(|path| key.text(path));
    if folder.join("devel").is_dir() {
        key.tree(folder, &["devel"])?;
    }
    let patches = folder.join(INSTALLED);
    if patches.is_dir() {
        key.tree(folder, &[INSTALLED])?;
    }
    key.tree(&shop.recipe, &["recipe/site.py"])?;
    CODE.iter().for_each(|code| key.text(code));
    let (script, base) = (shop.recipe.join("recipe/site.py"), shop.base.clone());
    shop.step(name, key, Leftover::Discard, |bench| {
        let installed = meson::site(&built.dir)?;
        let (site, objects) = (bench.dir.join("site"), bench.dir.join("objects"));
        let devel = bench.dir.join("devel");
        for dir in [&site, &objects, &devel] {
            fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
        let mut left_out = Vec::new();
        place(bench, &installed, "", recipe, &mut left_out)?;
        for path in &recipe.leave_out {
            ensure!(left_out.contains(path), "{name}: there is no {path} to leave out");
        }
        if folder.join("devel").is_dir() {
            copy_tree(&folder.join("devel"), &devel)?;
        }
        patch_installed(bench, &patches, &site)?;
        let mut python = host::tool(native.dir.join("python"), &bench.dir);
        python.args(["-I", "-S"]).arg(script).arg(&site).arg(&base);
        bench.run(&mut python)
    })
}

/// Applies the patches of a folder, if there is one, to a site-packages.
pub fn patch_installed(bench: &Bench, patches: &Path, site: &Path) -> Result<()> {
    if !patches.is_dir() {
        return Ok(());
    }
    for patch in sorted(patches)? {
        let mut command = host::tool("patch", site);
        command.args(["-p1", "--fuzz=0", "--no-backup-if-mismatch", "--input"]);
        bench.run(command.arg(patches.join(&patch))).context(patch)?;
    }
    Ok(())
}

/// Sorts what lies in a folder of the installation.
fn place(
    bench: &Bench,
    installed: &Path,
    below: &str,
    recipe: &Recipe,
    left_out: &mut Vec<String>,
) -> Result<()> {
    for name in sorted(&installed.join(below))? {
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let from = installed.join(&path);
        let development = [".h", ".pxd", ".hpp"].iter().any(|end| name.ends_with(end));
        if development {
            copy(&from, &bench.dir.join("devel").join(&path))?;
        }
        if let Some(rule) = recipe.leave_out.iter().find(|rule| covers(rule, &path, &name)) {
            left_out.push(rule.clone());
            if from.is_dir() {
                headers(bench, installed, &path)?;
            }
        } else if from.is_dir() {
            place(bench, installed, &path, recipe, left_out)?;
        } else if let Some((module, _)) = name.strip_suffix(".so").and_then(|n| n.split_once('.')) {
            let dotted = match below {
                "" => module.to_string(),
                _ => format!("{}.{module}", below.replace('/', ".")),
            };
            let object = fs::read(&from).with_context(|| from.display().to_string())?;
            let hidden = wasmobj::hide(&object, &format!("PyInit_{module}"), &entry(&dotted))
                .with_context(|| from.display().to_string())?;
            let to = bench.dir.join("objects").join(format!("{dotted}.o"));
            fs::write(&to, hidden).with_context(|| to.display().to_string())?;
        } else if !development {
            copy(&from, &bench.dir.join("site").join(&path))?;
        }
    }
    Ok(())
}

/// Whether a rule of `leave-out` means this path, whose last part is `name`.
pub fn covers(rule: &str, path: &str, name: &str) -> bool {
    match rule.strip_prefix("**/") {
        Some(anywhere) => anywhere
            .strip_prefix('*')
            .map_or_else(|| name == anywhere, |ending| name.ends_with(ending)),
        None => rule == path,
    }
}

/// Headers in folders that the image leaves out are seen by other packages all the same.
fn headers(bench: &Bench, installed: &Path, below: &str) -> Result<()> {
    for name in sorted(&installed.join(below))? {
        let path = format!("{below}/{name}");
        let from = installed.join(&path);
        if from.is_dir() {
            headers(bench, installed, &path)?;
        } else if [".h", ".pxd", ".hpp"].iter().any(|end| name.ends_with(end)) {
            copy(&from, &bench.dir.join("devel").join(&path))?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let Some(dir) = to.parent() else { bail!("{}: no folder", to.display()) };
    fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}
