//! ripgrep, with PCRE2.

use std::fs;

use anyhow::{Context, Result};

use super::compile::{
    apply_patches, compile_files, copy_licences, discard, licence_texts, write_compiler,
};
use super::crates::{self, CargoBuild};
use super::layer;
use super::step::{StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::python;

const CODE: &[&str] =
    &[include_str!("ripgrep.rs"), include_str!("crates.rs"), include_str!("compile.rs")];

/// The crates that the patches change, apart from the program's own.
const PATCHED: &[&str] = &["grep-cli", "pcre2-sys", "same-file"];

/// The file with the licence of PCRE2, which is the only one with its text.
const PCRE2_LICENCE: &str = "vendor/pcre2-sys/upstream/include/pcre2.h";

/// Builds ripgrep.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/ripgrep");
    let source = pinned_source("programs/pins.toml", "ripgrep")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let version = crates::compiler_version()?;
    let parts = [&source.sha256, &sysroot.key, &layer.key, &version];
    let key = recipe_key("ripgrep", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("ripgrep", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "ripgrep-")?;
        crates::vendor_crates(bench, &tree)?;
        apply_patches(bench, &recipe, &tree)?;
        crates::accept_patches(&tree, PATCHED)?;
        let compiler = write_compiler(bench, &sysroot, &[])?;
        let flags = ["-Wall", "-Wextra", "-Werror"];
        let host = compile_files(bench, &compiler, &[recipe.join("host.c")], &flags, "")?;
        let build =
            CargoBuild { tree: &tree, profile: "release-lto", features: "pcre2", objects: &host };
        let made = build.run(bench, &sysroot, &layer)?;
        fs::copy(made.join("rg.wasm"), bench.dir.join("rg.wasm")).context("rg.wasm")?;
        copy_licences(bench, &tree, &source.licence_files)?;
        let licences = bench.dir.join("licences");
        build.copy_crate_licences(bench, &licences)?;
        fs::create_dir_all(licences.join("pcre2")).context("pcre2")?;
        fs::copy(tree.join(PCRE2_LICENCE), licences.join("pcre2/pcre2.h")).context("pcre2.h")?;
        discard(&[&tree, &bench.dir.join("target")])
    })?;
    Ok(UpstreamProgram {
        name: "rg",
        module: env::read(&dir.join("rg.wasm"))?,
        commands: &["rg"],
        root: None,
        licenses: licence_texts(&dir, "ripgrep")?,
        components: vec![("ripgrep".to_string(), source.version, source.licence)],
        sources: Vec::new(),
        key,
    })
}
