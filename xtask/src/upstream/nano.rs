//! GNU nano.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::compile::{apply_patches, copy_licences, discard, licence_texts, write_script};
use super::configure::Toolset;
use super::layer;
use super::ncurses::Ncurses;
use super::step::{Bench, StepResult, Workshop};
use super::sysroot;
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key};
use crate::env;
use crate::js::copy_folder;
use crate::key::sorted;
use crate::python;

const CODE: &[&str] =
    &[include_str!("nano.rs"), include_str!("configure.rs"), include_str!("compile.rs")];

/// What is left out, and answers to tests that configure runs or that cannot see the layer's header.
/// Gnulib knows what musl's functions do, which are the guest's.
const ANSWERS: &[&str] = &[
    "--host=wasm32-linux-musl",
    "--disable-nls",
    "--disable-speller",
    "--disable-linter",
    "--disable-formatter",
    "--disable-libmagic",
    "--enable-utf8",
    "ac_cv_func_sigaction=yes",
    "ac_cv_member_struct_sigaction_sa_sigaction=yes",
    "ac_cv_func_fchdir=yes",
    "ac_cv_have_decl_fchdir=yes",
    "ac_cv_func_getdtablesize=yes",
    "ac_cv_have_decl_getdtablesize=yes",
    "gl_cv_func_getdtablesize_works=yes",
    "gl_cv_func_fcntl_f_dupfd_cloexec=yes",
    "ac_cv_func_dup2=yes",
    "gl_cv_func_dup2_works=yes",
    "gl_cv_func_strcasecmp_works=yes",
    "gl_cv_func_printf_sizes_c23=yes",
    "gl_cv_func_printf_directive_b=yes",
    "gl_cv_func_printf_directive_lc=yes",
    "gl_cv_func_printf_enomem=yes",
    "gl_cv_func_working_strerror=yes",
    // The patch replaces what uses it.
    "ac_cv_func_fork=yes",
    "ac_cv_func_fork_works=yes",
];

/// Further options of the compiler. Parts of gnulib that are not linked call fchdir().
const FLAGS: &[&str] = &["-Wno-error=implicit-function-declaration", "-DP_tmpdir=\"/tmp\""];

/// Builds nano.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop, ncurses: &Ncurses) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/nano");
    let source = pinned_source("programs/pins.toml", "nano")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let parts = [&source.sha256, &sysroot.key, &layer.key, &ncurses.key];
    let key = recipe_key("nano", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("nano", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "nano-")?;
        apply_patches(bench, &recipe, &tree)?;
        let headers = ncurses.headers();
        let tools = Toolset::write(bench, &sysroot, &layer, &[&headers])?;
        let link = ncurses.link_option();
        tools.configure(Path::new("./configure"), &tree, ANSWERS, &link)?;
        // The headers of gnulib want its config.h before everything else.
        let compiler = bench.dir.join("nano-cc");
        let mut flags = vec!["-include".to_string(), tree.join("config.h").display().to_string()];
        flags.extend(layer::compile_flags());
        flags.push(format!("-I{}", headers.display()));
        flags.extend(FLAGS.iter().map(|flag| (*flag).to_string()));
        write_script(&compiler, &sysroot.program("clang"), &flags, &[])?;
        let with = format!("CC={}", compiler.display());
        bench.run(tools.make(&tree, &link).args(["-C", "lib", &with]))?;
        let libraries = "LIBS=-lncurses -ltinfo";
        bench.run(tools.make(&tree, &link).args(["-C", "src", "nano", &with, libraries]))?;
        fs::copy(tree.join("src/nano"), bench.dir.join("nano.wasm")).context("nano")?;
        collect_files(bench, &tree, &recipe)?;
        copy_licences(bench, &tree, &source.licence_files)?;
        discard(&[&tree])
    })?;
    let mut licenses = licence_texts(&dir, "nano")?;
    licenses.push(("nano".to_string(), recipe.join("SOURCE")));
    let root = env::root();
    let origin = |name: &str| (format!("nano/{name}"), root.join(name));
    let ncurses_archive = ncurses.archive();
    Ok(UpstreamProgram {
        name: "nano",
        module: env::read(&dir.join("nano.wasm"))?,
        commands: &["nano", "pico", "rnano"],
        root: Some(dir.join("root")),
        licenses,
        components: vec![("nano".to_string(), source.version.clone(), source.licence)],
        sources: vec![
            (format!("nano/nano-{}.tar.xz", source.version), archive),
            ("nano/ncurses.tar.gz".to_string(), ncurses_archive),
            origin("programs"),
            origin("guest/posix"),
            origin("python-dist/site"),
            origin("xtask/src/upstream"),
        ],
        key,
    })
}

/// Collects nano's settings and its descriptions of languages in `root`.
fn collect_files(bench: &Bench, tree: &Path, recipe: &Path) -> Result<()> {
    let root = bench.dir.join("root");
    let to = root.join("usr/share/nano");
    fs::create_dir_all(&to).context("a folder for descriptions of languages")?;
    let from = tree.join("syntax");
    for name in sorted(&from)?.iter().filter(|name| name.ends_with(".nanorc")) {
        fs::copy(from.join(name), to.join(name)).with_context(|| name.clone())?;
    }
    copy_folder(&recipe.join("rootfs"), &root)
}
