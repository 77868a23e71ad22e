//! less, which is also `more`.

use anyhow::{Context, Result};

use super::compile::{apply_patches, copy_licences, discard, licence_texts};
use super::configure::Toolset;
use super::layer;
use super::ncurses::Ncurses;
use super::step::{StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::python;

const CODE: &[&str] =
    &[include_str!("less.rs"), include_str!("configure.rs"), include_str!("compile.rs")];

/// The layer's headers have `sigset_t`, for which the script looks without them.
const ANSWERS: &[&str] = &["--with-regex=posix", "am_cv_func_sigset_t=yes"];

/// Builds less.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop, ncurses: &Ncurses) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/less");
    let source = pinned_source("programs/pins.toml", "less")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let parts = [&source.sha256, &sysroot.key, &layer.key, &ncurses.key];
    let key = recipe_key("less", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("less", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "less-")?;
        apply_patches(bench, &recipe, &tree)?;
        let tools = Toolset::write(bench, &sysroot, &layer, &[&ncurses.headers()])?;
        let link = ncurses.link_option();
        tools.configure(&tree.join("configure"), &tree, ANSWERS, &link)?;
        bench.run(tools.make(&tree, &link).arg("less"))?;
        std::fs::copy(tree.join("less"), bench.dir.join("less.wasm")).context("less")?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree])
    })?;
    Ok(UpstreamProgram {
        name: "less",
        module: env::read(&dir.join("less.wasm"))?,
        commands: &["less", "more"],
        root: None,
        licenses: licence_texts(&dir, "less")?,
        components: vec![("less".to_string(), source.version, source.licence)],
        sources: Vec::new(),
        key,
    })
}
