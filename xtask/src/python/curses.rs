//! `curses` and `curses.panel`: ncurses, and CPython's modules over it.
//!
//! The library is configured and compiled against the layer (`posix`), since it sets attributes of
//! terminals and catches signals. Its descriptions of terminals come with the commands of ncurses
//! (`xtask/src/upstream/ncurses.rs`), whose options it shares, so that both read the same files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bootstrap::Bootstrap;
use super::cpython::tree;
use super::posix::{self, Posix};
use super::toolchain::{find, unpack_tar};
use super::workshop::{Bench, Done, Key, Leftover, Workshop};
use super::{fetch, host};

const CODE: &str = include_str!("curses.rs");

/// What every build of ncurses leaves out: other languages, tests, manuals, the mouse of Linux's
/// console, libraries that are loaded.
pub const LEFT_OUT: &[&str] = &[
    "--without-cxx",
    "--without-cxx-binding",
    "--without-ada",
    "--without-manpages",
    "--without-tests",
    "--without-debug",
    "--without-shared",
    "--without-gpm",
    "--without-dlsym",
    "--disable-db-install",
    "--disable-stripping",
    "--with-termlib",
    "--enable-widec",
    "--disable-lib-suffixes",
];

/// Further options of builds for the guest: where the descriptions are, and answers to tests that
/// declare the functions with other types.
pub const GUEST: &[&str] = &[
    "--with-build-cc=cc",
    "--enable-overwrite",
    "--with-default-terminfo-dir=/usr/share/terminfo",
    "--with-terminfo-dirs=/etc/terminfo:/usr/share/terminfo",
    "ac_cv_func_getopt=yes",
    "ac_cv_func_tcgetpgrp=yes",
    "ac_cv_func_times=no",
    "ac_cv_func_vsnprintf=yes",
    "cf_cv_sizechange=yes",
    "cf_cv_getopt_header=unistd.h",
];

const TARGET: &[&str] =
    &["--host=wasm32-wasi", "--build=x86_64-linux-gnu", "--prefix=/usr", "--sysconfdir=/etc"];

/// Ncurses sets SA_RESTART for its handler of SIGTSTP: a program that is continued goes on reading.
const RESTART: &str = "-Dread=wasibox_restarting_read";

/// The parts of ncurses that are made.
const PARTS: &[&str] = &["include", "ncurses", "panel"];

/// The modules, and their files.
const MODULES: &[(&str, &str)] =
    &[("_curses", "Modules/_cursesmodule.c"), ("_curses_panel", "Modules/_curses_panel.c")];

/// What CPython's configure would find in this ncurses.
const FOUND: &[&str] = &[
    "-DHAVE_CURSES_H=1",
    "-DHAVE_TERM_H=1",
    "-DHAVE_PANEL_H=1",
    "-DHAVE_NCURSESW=1",
    "-DNCURSES_WIDECHAR=1",
    "-DHAVE_CURSES_ESCDELAY=1",
    "-DHAVE_CURSES_FILTER=1",
    "-DHAVE_CURSES_GETMOUSE=1",
    "-DHAVE_CURSES_HAS_KEY=1",
    "-DHAVE_CURSES_IMMEDOK=1",
    "-DHAVE_CURSES_IS_PAD=1",
    "-DHAVE_CURSES_IS_TERM_RESIZED=1",
    "-DHAVE_CURSES_RESIZETERM=1",
    "-DHAVE_CURSES_RESIZE_TERM=1",
    "-DHAVE_CURSES_SET_ESCDELAY=1",
    "-DHAVE_CURSES_SET_TABSIZE=1",
    "-DHAVE_CURSES_SYNCOK=1",
    "-DHAVE_CURSES_TABSIZE=1",
    "-DHAVE_CURSES_TYPEAHEAD=1",
    "-DHAVE_CURSES_USE_ENV=1",
    "-DHAVE_CURSES_WCHGAT=1",
];

/// The modules' objects and the libraries below them.
pub struct Curses {
    pub key: String,
    dir: PathBuf,
}

impl Curses {
    /// Returns the names of the modules, for the table of modules.
    pub fn modules() -> impl Iterator<Item = &'static str> {
        MODULES.iter().map(|(name, _)| *name)
    }

    /// Returns what to link: the modules, then the libraries in the order of their dependence.
    pub fn objects(&self) -> Vec<PathBuf> {
        let modules = MODULES.iter().map(|(name, _)| format!("{name}.o"));
        let libraries = ["libpanel.a", "libncurses.a", "libtinfo.a"].map(str::to_string);
        modules.chain(libraries).map(|name| self.dir.join(name)).collect()
    }
}

/// Builds the library and the modules.
pub fn build(
    shop: &mut Workshop,
    bootstrap: &Bootstrap,
    wasm: &Done,
    posix: &Posix,
) -> Result<Curses> {
    let Bootstrap { pins, source, tools, .. } = bootstrap;
    let ncurses = pins.source("ncurses")?;
    let archive = fetch::fetch(shop, ncurses)?;
    let recipe = shop.recipe.clone();
    let mut key = Key::new("curses");
    key.text(&wasm.key);
    key.text(&posix.key);
    key.text(&ncurses.sha256);
    key.tree(&recipe, &["site/wasix.c", "site/wasix.h"])?;
    key.text(CODE);
    let python = tree(&source.dir);
    let done = shop.step("curses", key, Leftover::Discard, |bench| {
        unpack_tar(bench, &archive)?;
        let tree = find(&bench.dir, "ncurses-")?;
        let guest = bench.dir.join("guest");
        fs::create_dir_all(&guest).with_context(|| guest.display().to_string())?;
        let clang = tools.path("clang");
        let flags = posix::layer_flags(&recipe, bootstrap);
        // The script's tests declare functions by themselves, with other types than the layer's.
        let plain = write_compiler(bench, "plain-cc", &clang, &flags)?;
        let with_layer = [&flags[..], &posix::header_flags()].concat();
        let action = ["-include", "wasibox_action.h", RESTART].map(str::to_string);
        let compiler = write_compiler(bench, "cc", &clang, &[&with_layer[..], &action].concat())?;
        let layer = archive_layer(bench, bootstrap, &recipe, posix)?;
        let ar = format!("AR={}", tools.path("ar").display());
        let ranlib = format!("RANLIB={}", tools.path("ranlib").display());
        let link = format!("LDFLAGS={}", layer.display());
        let mut configure = host::tool("sh", &guest);
        configure.arg(tree.join("configure")).args(TARGET).args([&ar, &ranlib, &link]);
        configure.arg(format!("CC={}", plain.display())).arg("CFLAGS=-O2 -g0 -w");
        bench.run(configure.arg("--without-progs").args(LEFT_OUT).args(GUEST))?;
        for part in PARTS {
            let mut make = host::tool("make", &guest);
            make.args([&host::jobs(), "-C", part]).args([&ar, &ranlib, &link]);
            bench.run(make.arg(format!("CC={}", compiler.display())))?;
        }
        for name in ["libpanel.a", "libncurses.a", "libtinfo.a"] {
            fs::copy(guest.join("lib").join(name), bench.dir.join(name)).context(name)?;
        }
        let core = posix::core_flags(bench, wasm)?;
        for (module, file) in MODULES {
            let mut clang = host::tool(&clang, &wasm.dir);
            clang.args(&with_layer).arg("-I").arg(guest.join("include")).args(FOUND);
            clang.args(core.split_whitespace());
            clang.arg("-c").arg(python.join(file)).arg("-o");
            bench.run(clang.arg(bench.dir.join(format!("{module}.o"))))?;
        }
        [tree, guest]
            .iter()
            .try_for_each(|dir| fs::remove_dir_all(dir).with_context(|| dir.display().to_string()))
    })?;
    Ok(Curses { key: done.key, dir: done.dir })
}

/// Writes a script that runs the compiler with these flags.
fn write_compiler(bench: &Bench, name: &str, clang: &Path, flags: &[String]) -> Result<PathBuf> {
    let path = bench.dir.join(name);
    let words: Vec<String> = flags.iter().map(|flag| format!("'{flag}'")).collect();
    let text = format!("#!/bin/sh\nexec '{}' {} \"$@\"\n", clang.display(), words.join(" "));
    fs::write(&path, text).with_context(|| path.display().to_string())?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
        .with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Puts the layer into an archive, of which a link takes what it needs: some of its files need
/// CPython.
fn archive_layer(
    bench: &Bench,
    bootstrap: &Bootstrap,
    recipe: &Path,
    posix: &Posix,
) -> Result<PathBuf> {
    let tools = &bootstrap.tools;
    let wasix = bench.dir.join("wasix.o");
    let mut clang = host::tool(tools.path("clang"), &bench.dir);
    clang.args(["-O2", "-g0", "-DNDEBUG"]).arg("-I").arg(recipe.join("site"));
    bench.run(clang.arg("-c").arg(recipe.join("site/wasix.c")).arg("-o").arg(&wasix))?;
    let layer = bench.dir.join("liblayer.a");
    let mut ar = host::tool(tools.path("ar"), &bench.dir);
    bench.run(ar.arg("rcs").arg(&layer).args(posix.layer_objects()?).arg(&wasix))?;
    Ok(layer)
}
