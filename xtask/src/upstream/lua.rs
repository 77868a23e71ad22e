//! Lua's interpreter.

use std::path::PathBuf;

use anyhow::Result;

use super::compile::{
    compile_files, copy_licences, discard, licence_texts, link_program, write_compiler,
};
use super::layer;
use super::step::{StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::key::sorted;
use crate::python;

const CODE: &[&str] = &[include_str!("lua.rs"), include_str!("compile.rs")];

/// The options of Lua's own Makefile for POSIX systems.
const OPTIONS: &[&str] = &["-w", "-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX"];

/// Lua's errors are longjmp(), which becomes WebAssembly's exceptions in the standardised encoding.
const LONGJMP: &[&str] =
    &["-mexception-handling", "-mllvm", "-wasm-enable-sjlj", "-mllvm", "-wasm-use-legacy-eh=false"];

/// The runtime of longjmp(), which the wheel has beside its libc, and the tag of its exceptions.
const RUNTIME: &str = "lib/libc/wasi/libc-top-half/musl/src/setjmp/wasm32/rt.c";
const TAG: &str = "python-dist/site/cxx-tag.s";

/// Builds Lua.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<UpstreamProgram> {
    let source = pinned_source("programs/pins.toml", "lua")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let tag = env::root().join(TAG);
    let key = recipe_key("lua", &tag, &[&source.sha256, &sysroot.key, &layer.key], CODE)?;
    let StepResult { dir, key } = shop.step("lua", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "lua-")?;
        let compiler = write_compiler(bench, &sysroot, &[])?;
        let is_part = |name: &String| name.ends_with(".c") && name != "luac.c";
        let files: Vec<PathBuf> = sorted(&tree.join("src"))?
            .into_iter()
            .filter(is_part)
            .map(|name| tree.join("src").join(name))
            .collect();
        let flags = [OPTIONS, LONGJMP].concat();
        let mut objects = compile_files(bench, &compiler, &files, &flags, "")?;
        let runtime = [sysroot.wheel.join(RUNTIME), tag.clone()];
        let clang = sysroot.program("clang");
        objects.extend(compile_files(bench, &clang, &runtime[..1], LONGJMP, "longjmp-")?);
        objects.extend(compile_files(bench, &clang, &runtime[1..], &[], "")?);
        link_program(bench, &sysroot, &layer, &objects, "lua.wasm")?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree])
    })?;
    Ok(UpstreamProgram {
        name: "lua",
        module: env::read(&dir.join("lua.wasm"))?,
        commands: &["lua", "lua5.4"],
        root: None,
        licenses: licence_texts(&dir, "lua")?,
        components: vec![("lua".to_string(), source.version, source.licence)],
        sources: Vec::new(),
        key,
    })
}
