//! The compiler: one wheel becomes clang, wasm-ld and a sysroot for wasm32-wasip1.
//!
//! The wheel's own driver (`zig cc`) is only asked to compile its libc; after
//! that, plain clang and wasm-ld are used, whose flags are the documented ones.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::pins::Pins;
use super::workshop::{Bench, Done, Key, Leftover, Workshop};
use super::{fetch, host};

const CODE: &str = include_str!("toolchain.rs");

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
pub struct Tools {
    pub key: String,
    /// Holds `clang`, `ar`, `ranlib`, ... : scripts with the target set.
    bin: PathBuf,
}

impl Tools {
    /// A program of the toolchain.
    pub fn path(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }
}

/// Unpacks the wheel for this machine.
pub fn unpack(shop: &mut Workshop, pins: &Pins) -> Result<Done> {
    let name = format!("zig-{}", std::env::consts::ARCH);
    let source = pins.source(&name).context("no compiler wheel is pinned for this architecture")?;
    let file = fetch::fetch(shop, source)?;
    let mut key = Key::new("zig");
    key.text(&source.sha256);
    shop.step("compiler", key, Leftover::Discard, |bench| {
        unpack_zip(bench, &file)?;
        let zig = bench.dir.join("ziglang/zig");
        fs::set_permissions(&zig, fs::Permissions::from_mode(0o755))
            .with_context(|| zig.display().to_string())
    })
}

/// Unpacks a wheel into the step's folder.
pub fn unpack_zip(bench: &Bench, file: &Path) -> Result<()> {
    let mut python = host::tool("python3", &bench.dir);
    bench.run(python.args(["-I", "-m", "zipfile", "-e"]).arg(file).arg("."))
}

/// Unpacks a tar archive (`.crate` too) into the step's folder, dates included: make compares them.
pub fn unpack_tar(bench: &Bench, file: &Path) -> Result<()> {
    let program = "import sys, tarfile\n\
                   with tarfile.open(sys.argv[1]) as t:\n\
                   \x20   t.extractall('.')";
    let mut python = host::tool("python3", &bench.dir);
    bench.run(python.args(["-I", "-W", "ignore", "-c", program]).arg(file))
}

/// Builds libc and lays out headers, archives and driver scripts.
pub fn sysroot(shop: &mut Workshop, pins: &Pins, zig: &Done) -> Result<Tools> {
    let malloc = pins.source("dlmalloc")?;
    let malloc_file = fetch::fetch(shop, malloc)?;
    let recipe = shop.recipe.clone();
    let base = shop.base.clone();
    let mut key = Key::new("sysroot");
    key.text(&zig.key);
    key.text(&malloc.sha256);
    key.tree(&recipe, &["site/malloc.c", "site/libc.c", "recipe/absent-headers.txt"])?;
    key.text(CODE);
    let zig = zig.dir.join("ziglang");
    let done = shop.step("libc", key, Leftover::Discard, |bench| {
        headers(bench, &zig, &recipe)?;
        drivers(bench, &zig, &base)?;
        let parts = libc_parts(bench, &zig)?;
        unpack_tar(bench, &malloc_file)?;
        archives(bench, &zig, &recipe, &parts)
    })?;
    Ok(Tools { bin: done.dir.join("bin"), key: done.key })
}

/// The wheel's musl headers, its WASI ones over them, minus those WASI has not.
fn headers(bench: &Bench, zig: &Path, recipe: &Path) -> Result<()> {
    let to = bench.dir.join("sysroot/include/wasm32-wasip1");
    for set in ["generic-musl", "wasm-wasi-musl"] {
        copy_tree(&zig.join("lib/libc/include").join(set), &to)?;
    }
    let list = recipe.join("recipe/absent-headers.txt");
    let text = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    for name in text.lines().filter(|l| !l.is_empty() && !l.starts_with('#')) {
        let header = to.join(name);
        fs::remove_file(&header).with_context(|| header.display().to_string())?;
    }
    Ok(())
}

/// Scripts that call the wheel's tools with our target and sysroot.
fn drivers(bench: &Bench, zig: &Path, base: &Path) -> Result<()> {
    let (bin, resource) = (bench.dir.join("bin"), bench.dir.join("resource"));
    for dir in [&bin, &resource.join("lib/wasm32-unknown-wasip1")] {
        fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    symlink(zig.join("lib/include"), resource.join("include")).context("compiler headers")?;
    let zig_program = zig.join("zig");
    let script = |name: &str, rest: &str| -> Result<()> {
        let path = bin.join(name);
        let text = format!("#!/bin/sh\nexec '{}' {rest} \"$@\"\n", zig_program.display());
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .with_context(|| path.display().to_string())
    };
    for name in ["ar", "ranlib", "objcopy", "wasm-ld"] {
        script(name, name)?;
    }
    let flags = format!(
        "clang --target=wasm32-wasip1 --sysroot='{}' -resource-dir '{}' -B '{}' \
         -ffile-prefix-map='{}'=/build",
        bench.dir.join("sysroot").display(),
        resource.display(),
        bin.display(),
        base.display()
    );
    script("clang", &flags)
}

/// Start-up object, libc and compiler runtime, as the wheel builds them for an empty program.
struct Parts {
    start: PathBuf,
    libc: PathBuf,
    zigc: PathBuf,
    runtime: PathBuf,
}

fn libc_parts(bench: &Bench, zig: &Path) -> Result<Parts> {
    let empty = bench.dir.join("empty.c");
    fs::write(&empty, "int main(void) { return 0; }\n").context("an empty program")?;
    let verbose = bench.dir.join("link.txt");
    let mut build = host::tool("/bin/sh", &bench.dir);
    build.env("ZIG_GLOBAL_CACHE_DIR", "zig-cache").env("ZIG_LOCAL_CACHE_DIR", "zig-cache");
    // The command's own errors are kept in the log too: `tee` would hide its status.
    build.args(["-c", "\"$@\" 2>link.txt || { cat link.txt >&2; exit 1; }", "sh"]);
    build.arg(zig.join("zig")).args(["build-exe", "-target", "wasm32-wasi", "-O", "ReleaseFast"]);
    build.args(["-fstrip", "-lc", "-lwasi-emulated-signal", "-lwasi-emulated-getpid"]);
    build.args(["-lwasi-emulated-process-clocks", "-lwasi-emulated-mman", "empty.c"]);
    build.args(["-femit-bin=empty.wasm", "--verbose-link"]);
    bench.run(&mut build)?;
    let text = fs::read_to_string(&verbose).with_context(|| verbose.display().to_string())?;
    let line = text.lines().find(|l| l.starts_with("wasm-ld ")).context("no link line")?;
    let part = |name: &str| -> Result<PathBuf> {
        match line.split_whitespace().find(|w| w.ends_with(name)) {
            Some(word) => Ok(bench.dir.join(word)),
            None => bail!("the compiler wheel links no {name}: {line}"),
        }
    };
    Ok(Parts {
        start: part("/crt1-command.o")?,
        libc: part("/libc.a")?,
        zigc: part("/libzigc.a")?,
        runtime: part("/libcompiler_rt.a")?,
    })
}

/// One libc.a of the wheel's two, our malloc and our start-up fix.
fn archives(bench: &Bench, zig: &Path, recipe: &Path, parts: &Parts) -> Result<()> {
    let site = recipe.join("site");
    let malloc_source = find(&bench.dir, "libffi-sys-")?.join("libffi/src");
    let mut malloc = host::tool("bin/clang", &bench.dir);
    malloc.args(["-O3", "-DNDEBUG", "-c", "-o", "dlmalloc.o", "-I"]).arg(&malloc_source);
    bench.run(malloc.arg(site.join("malloc.c")))?;

    // libc's private headers, in the order libc itself is compiled with.
    let lib = zig.join("lib");
    let (wasi, musl) = (lib.join("libc/wasi"), lib.join("libc/musl"));
    let (bottom, top) = (wasi.join("libc-bottom-half"), wasi.join("libc-top-half/musl"));
    let mut thread = host::tool("bin/clang", &bench.dir);
    thread.args(["-O2", "-std=gnu17", "-w", "-nostdinc", "-isystem"]).arg(lib.join("include"));
    for set in ["wasm-wasi-musl", "generic-musl"] {
        thread.arg("-isystem").arg(lib.join("libc/include").join(set));
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
        thread.arg("-I").arg(dir);
    }
    bench.run(thread.args(["-c", "-o", "main-thread.o"]).arg(site.join("libc.c")))?;

    let out = bench.dir.join("sysroot/lib/wasm32-wasip1");
    fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let script = format!(
        "CREATE sysroot/lib/wasm32-wasip1/libc.a\nADDMOD dlmalloc.o\nADDLIB {}\nADDLIB {}\nSAVE\nEND\n",
        parts.libc.display(),
        parts.zigc.display()
    );
    fs::write(bench.dir.join("libc.mri"), script).context("libc.mri")?;
    bench.run(host::tool("/bin/sh", &bench.dir).args(["-c", "bin/ar -M <libc.mri"]))?;
    for name in EMPTY {
        let path = out.join(format!("lib{name}.a"));
        fs::write(&path, "!<arch>\n").with_context(|| path.display().to_string())?;
    }
    // The fix is linked with the start-up object: nothing else would ask for it.
    let mut start = host::tool("bin/wasm-ld", &bench.dir);
    start.args(["-r", "-o"]).arg(out.join("crt1-command.o")).arg(&parts.start);
    bench.run(start.arg("main-thread.o"))?;
    let runtime = bench.dir.join("resource/lib/wasm32-unknown-wasip1/libclang_rt.builtins.a");
    fs::copy(&parts.runtime, &runtime).with_context(|| runtime.display().to_string())?;
    let cache = bench.dir.join("zig-cache");
    fs::remove_dir_all(&cache).with_context(|| cache.display().to_string())
}

/// The one entry of a folder whose name starts so.
pub fn find(dir: &Path, prefix: &str) -> Result<PathBuf> {
    let names = super::workshop::sorted(dir)?;
    match names.iter().find(|n| n.starts_with(prefix)) {
        Some(name) => Ok(dir.join(name)),
        None => bail!("{}: no {prefix}*", dir.display()),
    }
}

/// Copies a folder over another.
pub fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for name in super::workshop::sorted(from)? {
        let (source, target) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            copy_tree(&source, &target)?;
        } else {
            fs::copy(&source, &target).with_context(|| source.display().to_string())?;
        }
    }
    Ok(())
}
