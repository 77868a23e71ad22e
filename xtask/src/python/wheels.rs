//! Packages in Python alone: wheels, unpacked into `site-packages`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::bootstrap::Bootstrap;
use super::packages::{INSTALLED, covers, patch_installed};
use super::toolchain::copy_tree;
use super::workshop::{Key, Leftover, Workshop, sorted};
use super::{fetch, host};

/// What of a package's folder goes to `/usr/local/bin`.
pub const COMMANDS: &str = "bin";

/// What of a package's folder goes to site-packages with the wheel: stand-ins of ours for
/// compiled packages that it needs.
const BESIDE: &str = "beside";

const CODE: &str = include_str!("wheels.rs");

/// Unpacks the profile's wheels; what of each goes to site-packages.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap) -> Result<Vec<PathBuf>> {
    let Bootstrap { pins, profile, native, .. } = bootstrap;
    let mut wheels = Vec::new();
    for (name, leave_out) in pins.wheels.iter().filter(|(name, _)| pins.has(*profile, name)) {
        let source = pins.source(name)?;
        let file = fetch::fetch(shop, source)?;
        let mut key = Key::new(name);
        for part in [&source.sha256, &native.key] {
            key.text(part);
        }
        leave_out.iter().for_each(|path| key.text(path));
        let source_only = pins.source_only.get(name).map_or(&[][..], Vec::as_slice);
        key.text(&format!("{source_only:?}"));
        key.tree(&shop.recipe, &["recipe/site.py"])?;
        let folder = shop.recipe.join("packages").join(name);
        let (patches, commands) = (folder.join(INSTALLED), folder.join(COMMANDS));
        let beside = folder.join(BESIDE);
        for (part, name) in [(&patches, INSTALLED), (&commands, COMMANDS), (&beside, BESIDE)] {
            if part.is_dir() {
                key.tree(&folder, &[name])?;
            }
        }
        key.text(CODE);
        let (script, base) = (shop.recipe.join("recipe/site.py"), shop.base.clone());
        let done = shop.step(name, key, Leftover::Discard, |bench| {
            let site = bench.dir.join("site");
            fs::create_dir_all(&site).with_context(|| site.display().to_string())?;
            let mut unzip = host::tool("python3", &site);
            bench.run(unzip.args(["-I", "-m", "zipfile", "-e"]).arg(&file).arg("."))?;
            let mut met = Vec::new();
            prune(&site, "", leave_out, &mut met)?;
            for rule in leave_out {
                ensure!(met.contains(rule), "{name}: there is no {rule} to leave out");
            }
            patch_installed(bench, &patches, &site)?;
            if beside.is_dir() {
                copy_tree(&beside, &site)?;
            }
            if commands.is_dir() {
                copy_tree(&commands, &bench.dir.join(COMMANDS))?;
            }
            let mut python = host::tool(native.dir.join("python"), &bench.dir);
            bench.run(python.args(["-I", "-S"]).arg(script).arg(&site).arg(&base))?;
            source_only.iter().try_for_each(|path| {
                let removed = remove_bytecode(&site.join(path))?;
                ensure!(removed > 0, "{name}: {path} has no bytecode to leave out");
                Ok(())
            })
        })?;
        wheels.push(done.dir.join("site"));
    }
    Ok(wheels)
}

/// Removes what is left out. A wheel's list of its files names what was removed
/// and not the bytecode: it goes, too, so that pip does not take it at its word.
fn prune(site: &Path, below: &str, leave_out: &[String], met: &mut Vec<String>) -> Result<()> {
    for name in sorted(&site.join(below))? {
        let path = if below.is_empty() { name.clone() } else { format!("{below}/{name}") };
        let full = site.join(&path);
        if let Some(rule) = leave_out.iter().find(|rule| covers(rule, &path, &name)) {
            met.push(rule.clone());
            let gone =
                if full.is_dir() { fs::remove_dir_all(&full) } else { fs::remove_file(&full) };
            gone.with_context(|| full.display().to_string())?;
        } else if below.is_empty() && name.ends_with(".data") {
            bail!("{name}: wheels with data to install elsewhere are not supported");
        } else if below.ends_with(".dist-info") && (name == "RECORD" || name == "WHEEL") {
            fs::remove_file(&full).with_context(|| full.display().to_string())?;
        } else if full.is_dir() {
            prune(site, &path, leave_out, met)?;
        }
    }
    Ok(())
}

/// Removes the bytecode of a module, or of all modules in a folder; how many that were.
fn remove_bytecode(path: &Path) -> Result<usize> {
    let mut removed = 0;
    if !path.is_dir() {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).context("a module's name")?;
        let cache = path.with_file_name("__pycache__");
        for name in sorted(&cache)? {
            if name.strip_prefix(stem).is_some_and(|rest| rest.starts_with(".cpython-")) {
                fs::remove_file(cache.join(&name)).with_context(|| name.clone())?;
                removed += 1;
            }
        }
        return Ok(removed);
    }
    for name in sorted(path)? {
        let inner = path.join(&name);
        if name == "__pycache__" {
            removed += sorted(&inner)?.len();
            fs::remove_dir_all(&inner).with_context(|| inner.display().to_string())?;
        } else if inner.is_dir() {
            removed += remove_bytecode(&inner)?;
        }
    }
    Ok(removed)
}
