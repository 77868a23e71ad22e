//! git: one module for the program, its helper for HTTP and the one of its scripts.
//!
//! git's own Makefile builds it, with the switches in `programs/git/config.mak`, so that a new
//! version needs no list of files here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::compile::{
    apply_patches, compile_files, compile_zlib, copy_licences, discard, licence_texts,
    write_compiler,
};
use super::layer;
use super::step::{Bench, StepResult, Workshop, jobs_option};
use super::sysroot::{self, Sysroot};
use super::{UpstreamProgram, entry_with_prefix, pinned_source, recipe_key, shared_file};
use crate::env;
use crate::js::copy_folder;
use crate::python;

const CODE: &[&str] = &[include_str!("git.rs"), include_str!("compile.rs")];

/// The commands of the image that run the module. git finds those of its own commands that are not
/// here in the program; the names here are those that git itself or another machine's git starts.
const COMMANDS: &[&str] = &[
    "git",
    "git-receive-pack",
    "git-remote-http",
    "git-remote-https",
    "git-sh-i18n--envsubst",
    "git-upload-archive",
    "git-upload-pack",
];

/// Objects that git's Makefile links to programs of their own (`programs/git/main.c`).
const FURTHER_OBJECTS: &[&str] =
    &["http.o", "http-walker.o", "remote-curl.o", "sh-i18n--envsubst.o"];

/// Commands that are shell scripts, and what they source.
const SCRIPTS: &[&str] = &[
    "git-difftool--helper",
    "git-filter-branch",
    "git-merge-octopus",
    "git-merge-one-file",
    "git-merge-resolve",
    "git-mergetool",
    "git-mergetool--lib",
    "git-quiltimport",
    "git-request-pull",
    "git-sh-i18n",
    "git-sh-setup",
    "git-submodule",
];

/// The files that a new repository gets. The sample hooks are left out: none is in use, and each
/// repository would have a copy of all.
const TEMPLATES: &[&str] = &["description", "info/exclude"];
/// Its empty folders.
const TEMPLATE_FOLDERS: &[&str] = &["branches", "hooks"];

/// Builds git.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<UpstreamProgram> {
    let recipe = env::root().join("programs/git");
    let source = pinned_source("programs/pins.toml", "git")?;
    let archive = python::pinned(&env::cache()?, &source, shop.say)?;
    let (zlib, zlib_archive) = shared_file("zlib", shop.say)?;
    let sysroot = sysroot::build(shop)?;
    let layer = layer::build(shop, &sysroot)?;
    let parts = [&source.sha256, &zlib.sha256, &sysroot.key, &layer.key];
    let key = recipe_key("git", &recipe, &parts, CODE)?;
    let StepResult { dir, key } = shop.step("git", key, |bench| {
        bench.unpack(&archive, &bench.dir)?;
        bench.unpack(&zlib_archive, &bench.dir)?;
        let tree = entry_with_prefix(&bench.dir, "git-")?;
        let zlib_tree = entry_with_prefix(&bench.dir, "libz-sys-")?;
        let zlib_dir = zlib_tree.join("src/zlib");
        apply_patches(bench, &recipe, &tree)?;
        fs::copy(recipe.join("config.mak"), tree.join("config.mak")).context("config.mak")?;
        let compiler = write_compiler(bench, &sysroot, &[&recipe, &zlib_dir])?;
        let mut objects = compile_zlib(bench, &compiler, &zlib_dir, &zlib.flags)?;
        let own = ["curl.c", "main.c"].map(|name| recipe.join(name));
        let strict = ["-Wall", "-Wextra", "-Werror"];
        objects.extend(compile_files(bench, &compiler, &own, &strict, "")?);
        objects.extend(layer.objects()?);
        make(bench, &tree, &compiler, &sysroot, &objects)?;
        collect_files(bench, &tree, &recipe)?;
        copy_licences(bench, &tree, &source.licence_files)?;
        // The rest is a hundred megabytes.
        discard(&[&tree, &zlib_tree])
    })?;
    let mut licenses = licence_texts(&dir, "git")?;
    licenses.push(("git".to_string(), recipe.join("SOURCE")));
    let root = env::root();
    let origin = |name: &str| (format!("git/{name}"), root.join(name));
    Ok(UpstreamProgram {
        name: "git",
        module: env::read(&dir.join("git.wasm"))?,
        commands: COMMANDS,
        root: Some(dir.join("root")),
        licenses,
        components: vec![("git".to_string(), source.version.clone(), source.licence.clone())],
        sources: vec![
            (format!("git/git-{}.tar.xz", source.version), archive),
            ("git/zlib.crate".to_string(), zlib_archive),
            origin("programs"),
            origin("guest/posix"),
            origin("python-dist/site"),
            origin("xtask/src/upstream"),
        ],
        key,
    })
}

/// Runs git's Makefile.
fn make(
    bench: &Bench,
    tree: &Path,
    compiler: &Path,
    sysroot: &Sysroot,
    objects: &[PathBuf],
) -> Result<()> {
    let command = || {
        let mut make = bench.tool("make", tree);
        make.arg(jobs_option()).arg("uname_S=WASI");
        make.arg(format!("CC={}", compiler.display()));
        make.arg(format!("AR={}", sysroot.program("ar").display()));
        make
    };
    bench.run(command().args(FURTHER_OBJECTS))?;
    let mut inputs: Vec<String> = FURTHER_OBJECTS.iter().map(|name| (*name).to_string()).collect();
    inputs.extend(objects.iter().map(|path| path.display().to_string()));
    let link = [&["-Wl,--wrap=cmd_main"], layer::LINK_FLAGS].concat().join(" ");
    let mut git = command();
    git.arg(format!("LDFLAGS={link}")).arg(format!("EXTLIBS={}", inputs.join(" ")));
    bench.run(git.arg("git").args(SCRIPTS))?;
    bench.run(command().args(["-C", "templates"]))
}

/// Collects what is used of the finished tree: `git.wasm`, `root`, `licences`.
fn collect_files(bench: &Bench, tree: &Path, recipe: &Path) -> Result<()> {
    let copy = |from: PathBuf, to: PathBuf| -> Result<()> {
        let dir = to.parent().context("a folder")?;
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        fs::copy(&from, to).with_context(|| from.display().to_string())?;
        Ok(())
    };
    let root = bench.dir.join("root");
    copy(tree.join("git"), bench.dir.join("git.wasm"))?;
    for name in SCRIPTS {
        copy(tree.join(name), root.join("usr/lib/git-core").join(name))?;
    }
    copy_folder(&tree.join("mergetools"), &root.join("usr/lib/git-core/mergetools"))?;
    let templates = root.join("usr/share/git-core/templates");
    for name in TEMPLATES {
        copy(tree.join("templates/blt").join(name), templates.join(name))?;
    }
    for name in TEMPLATE_FOLDERS {
        fs::create_dir_all(templates.join(name)).context("a folder of a new repository")?;
    }
    copy_folder(&recipe.join("rootfs"), &root)
}
