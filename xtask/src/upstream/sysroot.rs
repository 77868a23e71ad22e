//! The compiler for programs in C: clang, wasm-ld and a libc for wasm32-wasip1, from the wheel that
//! also compiles CPython and QuickJS.
//!
//! `xtask/src/python/toolchain.rs` makes nearly the same for CPython. This one is separate because
//! CPython's configure must not see headers of functions that the guest lacks, while programs
//! without configure want them, and because that file is part of the hash of CPython's recipe.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::step::{Bench, Workshop};
use super::{entry_with_prefix, shared_file};
use crate::env;
use crate::js::copy_folder;
use crate::key::Key;
use crate::python;

const CODE: &str = include_str!("sysroot.rs");

/// Headers of the wheel that the guest has no functions for, which programs include nevertheless.
/// What they call of it is missing at the link.
const KEPT_HEADERS: &[&str] = &["bits/termios.h", "syslog.h", "sys/syslog.h", "termios.h"];

/// Libraries that programs name but whose functions are in libc.a.
const EMPTY: &[&str] = &[
    "m",
    "dl",
    "pthread",
    "rt",
    "util",
    "wasi-emulated-signal",
    "wasi-emulated-getpid",
    "wasi-emulated-process-clocks",
    "wasi-emulated-mman",
];

/// The compiler, ready to use.
pub struct Sysroot {
    pub key: String,
    /// Contains `clang`, `ar`, `wasm-ld`: scripts with the target set.
    bin: PathBuf,
    /// The unpacked wheel.
    pub wheel: PathBuf,
}

impl Sysroot {
    /// Returns the path of a program.
    pub fn program(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

/// Builds the compiler's folder.
///
/// # Errors
/// The same as [`super::build_programs`].
pub fn build(shop: &mut Workshop) -> Result<Sysroot> {
    let wheel = python::compiler(&env::cache()?, shop.say)?;
    let (malloc, malloc_file) = shared_file("dlmalloc", shop.say)?;
    let python_dist = env::root().join("python-dist");
    let mut key = Key::new("sysroot");
    // The name of the wheel's folder has its key.
    key.text(&wheel.display().to_string());
    key.text(&malloc.sha256);
    key.tree(&python_dist, &["site/malloc.c", "site/libc.c", "recipe/absent-headers.txt"])?;
    key.text(CODE);
    let done = shop.step("sysroot", key, |bench| {
        lay_out_headers(bench, &wheel, &python_dist)?;
        write_scripts(bench, &wheel)?;
        bench.unpack(&malloc_file, &bench.dir)?;
        build_archives(bench, &wheel, &python_dist.join("site"))
    })?;
    Ok(Sysroot { key: done.key, bin: done.dir.join("bin"), wheel })
}

/// Copies the wheel's musl headers, with its WASI ones over them and without those of missing
/// functions.
fn lay_out_headers(bench: &Bench, wheel: &Path, python_dist: &Path) -> Result<()> {
    let to = bench.dir.join("sysroot/include/wasm32-wasip1");
    for set in ["generic-musl", "wasm-wasi-musl"] {
        copy_folder(&wheel.join("lib/libc/include").join(set), &to)?;
    }
    let list = python_dist.join("recipe/absent-headers.txt");
    let text = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    for name in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if !KEPT_HEADERS.contains(&name) {
            fs::remove_file(to.join(name)).with_context(|| name.to_string())?;
        }
    }
    Ok(())
}

/// Writes scripts that call the wheel's tools with the guest's target.
fn write_scripts(bench: &Bench, wheel: &Path) -> Result<()> {
    let (bin, resource) = (bench.dir.join("bin"), bench.dir.join("resource"));
    for dir in [&bin, &resource.join("lib/wasm32-unknown-wasip1")] {
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    symlink(wheel.join("lib/include"), resource.join("include")).context("compiler headers")?;
    let zig = wheel.join("zig");
    let script = |name: &str, rest: &str| -> Result<()> {
        let path = bin.join(name);
        env::write(
            &path,
            format!("#!/bin/sh\nexec '{}' {rest} \"$@\"\n", zig.display()).as_bytes(),
        )?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
        Ok(())
    };
    for name in ["ar", "ranlib", "wasm-ld"] {
        script(name, name)?;
    }
    let flags = format!(
        "clang --target=wasm32-wasip1 --sysroot='{}' -resource-dir '{}' -B '{}' \
         -ffile-prefix-map='{}'=/build",
        bench.dir.join("sysroot").display(),
        resource.display(),
        bin.display(),
        env::cache()?.display()
    );
    script("clang", &flags)
}

/// Has the wheel link an empty program, so that it compiles its libc; returns the words of the
/// link.
fn compile_libc(bench: &Bench, wheel: &Path) -> Result<Vec<String>> {
    env::write(&bench.dir.join("empty.c"), b"int main(void) { return 0; }\n")?;
    let mut build = bench.tool("/bin/sh", &bench.dir);
    build.env("ZIG_GLOBAL_CACHE_DIR", "zig-cache").env("ZIG_LOCAL_CACHE_DIR", "zig-cache");
    build.args(["-c", "\"$@\" 2>link.txt || { cat link.txt >&2; exit 1; }", "sh"]);
    build.arg(wheel.join("zig")).args(["build-exe", "-target", "wasm32-wasi", "-O", "ReleaseFast"]);
    build.args(["-fstrip", "-lc", "-lwasi-emulated-signal", "-lwasi-emulated-getpid"]);
    build.args(["-lwasi-emulated-process-clocks", "-lwasi-emulated-mman", "empty.c"]);
    build.args(["-femit-bin=empty.wasm", "--verbose-link"]);
    bench.run(&mut build)?;
    let text = fs::read_to_string(bench.dir.join("link.txt")).context("link.txt")?;
    let line = text.lines().find(|line| line.starts_with("wasm-ld ")).context("no link line")?;
    Ok(line.split_whitespace().map(str::to_string).collect())
}

/// Makes one libc.a of the wheel's two, with another malloc, and completes the start-up object.
fn build_archives(bench: &Bench, wheel: &Path, site: &Path) -> Result<()> {
    let words = compile_libc(bench, wheel)?;
    let part = |name: &str| -> Result<PathBuf> {
        let word = words.iter().find(|word| word.ends_with(name));
        Ok(bench.dir.join(word.with_context(|| format!("the wheel links no {name}"))?))
    };
    let malloc = entry_with_prefix(&bench.dir, "libffi-sys-")?.join("libffi/src");
    let mut clang = bench.tool("bin/clang", &bench.dir);
    clang.args(["-O3", "-DNDEBUG", "-c", "-o", "dlmalloc.o", "-I"]).arg(malloc);
    bench.run(clang.arg(site.join("malloc.c")))?;
    bench.run(&mut main_thread_command(bench, wheel, site))?;

    let out = bench.dir.join("sysroot/lib/wasm32-wasip1");
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let script = format!(
        "CREATE sysroot/lib/wasm32-wasip1/libc.a\nADDMOD dlmalloc.o\nADDLIB {}\nADDLIB {}\n\
         SAVE\nEND\n",
        part("/libc.a")?.display(),
        part("/libzigc.a")?.display()
    );
    env::write(&bench.dir.join("libc.mri"), script.as_bytes())?;
    bench.run(bench.tool("/bin/sh", &bench.dir).args(["-c", "bin/ar -M <libc.mri"]))?;
    for name in EMPTY {
        env::write(&out.join(format!("lib{name}.a")), b"!<arch>\n")?;
    }
    // Linked with the start-up object, because nothing else refers to it.
    let mut link = bench.tool("bin/wasm-ld", &bench.dir);
    link.args(["-r", "-o"]).arg(out.join("crt1-command.o")).arg(part("/crt1-command.o")?);
    bench.run(link.arg("main-thread.o"))?;
    let runtime = bench.dir.join("resource/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a");
    fs::copy(part("/libcompiler_rt.a")?, runtime).context("the compiler's runtime")?;
    fs::remove_dir_all(bench.dir.join("zig-cache")).context("the wheel's cache")
}

/// Returns the command that compiles `site/libc.c`, with libc's private headers in the order in
/// which libc itself is compiled with them.
fn main_thread_command(bench: &Bench, wheel: &Path, site: &Path) -> Command {
    let lib = wheel.join("lib");
    let (wasi, musl) = (lib.join("libc/wasi"), lib.join("libc/musl"));
    let (bottom, top) = (wasi.join("libc-bottom-half"), wasi.join("libc-top-half/musl"));
    let mut clang = bench.tool("bin/clang", &bench.dir);
    clang.args(["-O2", "-std=gnu17", "-w", "-nostdinc", "-isystem"]).arg(lib.join("include"));
    for set in ["wasm-wasi-musl", "generic-musl"] {
        clang.arg("-isystem").arg(lib.join("libc/include").join(set));
    }
    for dir in [
        bottom.join("headers/private"),
        bottom.join("cloudlibc/src/include"),
        bottom.join("cloudlibc/src"),
        top.join("src/include"),
        musl.join("src/include"),
        top.join("src/internal"),
        musl.join("src/internal"),
        top.join("arch/wasm32"),
    ] {
        clang.arg("-I").arg(dir);
    }
    clang.args(["-c", "-o", "main-thread.o"]).arg(site.join("libc.c"));
    clang
}
