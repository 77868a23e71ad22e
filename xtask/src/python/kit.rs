//! What packages are built with: the C++ library, Meson's and Cython's
//! interpreter, and an interpreter that describes our target.
//!
//! Three scripts carry the trick. `cc` and `c++` compile for wasm32-wasip1, and
//! when asked for a shared library make one relocatable object instead (see
//! `wasmobj`); `python` is the native interpreter with the headers and
//! the build description of the wasm one, so that build systems that ask it how
//! to compile extension modules get our answers.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bootstrap::Bootstrap;
use super::packages::patch_installed;
use super::toolchain::{Tools, copy_tree, find, unpack_tar};
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{cpython, fetch, host};

const CODE: &str = include_str!("kit.rs");

/// How libc++ is configured: the wheel's headers take it from the command line.
/// Threads are those of libc: locks work, starting a thread fails with an error.
const CXX_CONFIG: &[&str] = &[
    "-D_LIBCPP_ABI_VERSION=1",
    "-D_LIBCPP_ABI_NAMESPACE=__1",
    "-D_LIBCPP_HAS_THREADS=1",
    "-D_LIBCPP_HAS_MONOTONIC_CLOCK=1",
    "-D_LIBCPP_HAS_TERMINAL=0",
    "-D_LIBCPP_HAS_MUSL_LIBC=1",
    "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "-D_LIBCPP_HAS_FILESYSTEM=0",
    "-D_LIBCPP_HAS_RANDOM_DEVICE=1",
    "-D_LIBCPP_HAS_LOCALIZATION=1",
    "-D_LIBCPP_HAS_UNICODE=1",
    "-D_LIBCPP_HAS_WIDE_CHARACTERS=1",
    "-D_LIBCPP_HAS_TIME_ZONE_DATABASE=0",
    "-D_LIBCPP_HAS_NO_STD_MODULES",
    "-D_LIBCPP_PSTL_BACKEND_SERIAL",
    "-D_LIBCPP_HARDENING_MODE_DEFAULT=_LIBCPP_HARDENING_MODE_NONE",
    "-D_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE",
];

/// The standardised exceptions; the older encoding is refused by our runtime.
const EXCEPTIONS: &[&str] = &["-fwasm-exceptions", "-mllvm", "-wasm-use-legacy-eh=false"];

/// Wheels of the build systems, by their names in pins.toml.
const WHEELS: &[&str] = &["versioneer", "pybind11"];

/// The folder of patches to Cython.
const CYTHON: &str = "recipe/cython";

/// Folders of scripts: those that run here, those for our target.
const HERE: &str = "bin";
const TARGET: &str = "target-bin";

/// The kit, ready to use.
pub struct Kit {
    pub key: String,
    dir: PathBuf,
    cxx: PathBuf,
}

impl Kit {
    /// A program for our target.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(TARGET).join(name)
    }

    /// Programs that run here and are found by name.
    pub fn bin(&self) -> PathBuf {
        self.dir.join(HERE)
    }

    /// The C++ library and its exception support.
    pub fn cxx(&self) -> PathBuf {
        self.cxx.join("lib/libc++.a")
    }
}

/// Builds the C++ library and lays out the rest.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, wasm: &Done) -> Result<Kit> {
    let Bootstrap { pins, zig, source, native, tools, .. } = bootstrap;
    let cxx = cxx(shop, zig, tools)?;
    let arch = std::env::consts::ARCH;
    let mut wheels = Vec::new();
    let mut key = Key::new("kit");
    for part in [&cxx.key, &tools.key, &native.key, &wasm.key] {
        key.text(part);
    }
    let mut names: Vec<String> = WHEELS.iter().map(ToString::to_string).collect();
    names.extend(["cython", "ninja"].map(|name| format!("{name}-{arch}")));
    for name in &names {
        let source = pins.source(name)?;
        key.text(&source.sha256);
        wheels.push(fetch::fetch(shop, source)?);
    }
    let zlib = pins.source("zlib")?;
    key.text(&zlib.sha256);
    let zlib = fetch::fetch(shop, zlib)?;
    let patches = shop.recipe.join(CYTHON);
    key.tree(&shop.recipe, &[CYTHON])?;
    key.text(CODE);
    let tree = cpython::tree(&source.dir);
    let done = shop.step("kit", key, Leftover::Discard, |bench| {
        for dir in ["lib", HERE, TARGET, "target/bin", "target/include", "target/sysconfig"] {
            let dir = bench.dir.join(dir);
            fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
        }
        for wheel in &wheels {
            let mut unzip = host::tool("python3", &bench.dir.join("lib"));
            bench.run(unzip.args(["-I", "-m", "zipfile", "-e"]).arg(wheel).arg("."))?;
        }
        patch_installed(bench, &patches, &bench.dir.join("lib"))?;
        native_zlib(bench, &tree, &native.dir, &zlib)?;
        interpreter(bench, bootstrap, &wasm.dir)?;
        scripts(bench, bootstrap, &cxx.dir)
    })?;
    Ok(Kit { key: done.key, dir: done.dir, cxx: cxx.dir })
}

/// zlib for the native interpreter: Cython does not start without. From our own
/// sources, since what it compresses gets into the C it writes.
fn native_zlib(bench: &Bench, tree: &Path, native: &Path, file: &Path) -> Result<()> {
    unpack_tar(bench, file)?;
    let zlib = find(&bench.dir, "libz-sys-")?.join("src/zlib");
    let mut cc = host::tool(host::cc(), &bench.dir);
    cc.args(["-shared", "-fPIC", "-O2", "-g0", "-w", "-DZ_HAVE_UNISTD_H", "-I"]).arg(native);
    cc.arg("-I").arg(tree.join("Include")).arg("-I").arg(tree.join("Include/internal"));
    cc.arg("-I").arg(&zlib).arg("-o").arg(bench.dir.join("lib/zlib.so"));
    cc.arg(tree.join("Modules/zlibmodule.c"));
    for name in sorted(&zlib)?.iter().filter(|n| n.ends_with(".c") && !n.starts_with("gz")) {
        cc.arg(zlib.join(name));
    }
    bench.run(&mut cc)
}

/// An installation as build systems expect one, of the native program with the wasm headers.
fn interpreter(bench: &Bench, bootstrap: &Bootstrap, wasm: &Path) -> Result<()> {
    let Bootstrap { pins, source, native, .. } = bootstrap;
    let (tree, series) = (cpython::tree(&source.dir), format!("python{}", pins.series()));
    let target = bench.dir.join("target");
    let include = target.join("include").join(&series);
    copy_tree(&tree.join("Include"), &include)?;
    fs::copy(wasm.join("pyconfig.h"), include.join("pyconfig.h")).context("pyconfig.h")?;
    fs::copy(native.dir.join("python"), target.join("bin").join(&series)).context("python")?;
    fs::create_dir_all(target.join("lib")).context("lib")?;
    symlink(tree.join("Lib"), target.join("lib").join(series)).context("Lib")?;

    let built = wasm.join("pybuilddir.txt");
    let built = fs::read_to_string(&built).with_context(|| built.display().to_string())?;
    let data = find(&wasm.join(built.trim()), "_sysconfigdata_")?;
    let mut text = fs::read_to_string(&data).with_context(|| data.display().to_string())?;
    // Where the headers are; the host may have others in the place of installation.
    text += &format!(
        "\nbuild_time_vars.update(INCLUDEPY={include:?}, CONFINCLUDEPY={include:?}, \
         Py_DEBUG=0, LIBPC='')\n"
    );
    let to = target.join("sysconfig/_sysconfigdata_target.py");
    fs::write(&to, text).with_context(|| to.display().to_string())
}

fn scripts(bench: &Bench, bootstrap: &Bootstrap, cxx: &Path) -> Result<()> {
    let Bootstrap { pins, zig, native, tools, .. } = bootstrap;
    let series = format!("python{}", pins.series());
    let dir = bench.dir.display();
    let script = |folder: &str, name: &str, text: String| -> Result<()> {
        let path = bench.dir.join(folder).join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n"))
            .with_context(|| path.display().to_string())?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .with_context(|| path.display().to_string())
    };
    let python = native.dir.join("python");
    let python = python.display();
    let lib = format!("PYTHONPATH='{dir}/lib'${{PYTHONPATH:+:$PYTHONPATH}}");
    script(HERE, "python3", format!("{lib} exec '{python}' -B \"$@\""))?;
    script(HERE, "cython", format!("{lib} exec '{python}' -B -m cython \"$@\""))?;
    script(TARGET, "pybind11-config", format!("exec '{dir}/{TARGET}/python' -m pybind11 \"$@\""))?;
    let version = &pins.source(&format!("ninja-{}", std::env::consts::ARCH))?.version;
    let ninja = bench.dir.join(format!("lib/ninja-{version}.data/scripts/ninja"));
    fs::set_permissions(&ninja, fs::Permissions::from_mode(0o755))
        .with_context(|| ninja.display().to_string())?;
    script(HERE, "ninja", format!("exec '{}' \"$@\"", ninja.display()))?;
    script(
        TARGET,
        "python",
        format!(
            "export PYTHONHOME='{dir}/target' _PYTHON_HOST_PLATFORM=wasi-wasm32\n\
             export _PYTHON_SYSCONFIGDATA_NAME=_sysconfigdata_target\n\
             export PYTHONPATH='{dir}/target/sysconfig:{dir}/lib'${{PYTHONPATH:+:$PYTHONPATH}}\n\
             exec '{dir}/target/bin/{series}' -B \"$@\""
        ),
    )?;
    let clang = tools.path("clang");
    let object = tools.path("wasm-ld");
    let driver = |compile: String| {
        DRIVER
            .replace("@COMPILE@", &compile)
            .replace("@OBJECT@", &format!("'{}' -r", object.display()))
    };
    for name in ["ar", "ranlib"] {
        script(TARGET, name, format!("exec '{}' \"$@\"", tools.path(name).display()))?;
    }
    script(TARGET, "cc", driver(format!("'{}'", clang.display())))?;
    let cxx_flags = cxx_flags(&zig.dir.join("ziglang")).join(" ");
    let cxx_flags = format!(
        "'{}' {cxx_flags} -Wno-unused-command-line-argument -L '{}/lib'",
        clang.display(),
        cxx.display()
    );
    script(TARGET, "c++", driver(cxx_flags))
}

/// `cc` and `c++`. Dropped: what wasm-ld does not know, and position-independent
/// code, which a static link would only be slower by.
const DRIVER: &str = r#"shared=
for word; do
    shift
    case $word in
    -shared) shared=1 ;;
    -fPIC | -pthread | -rdynamic | -Wl,--as-needed | -Wl,--no-undefined | -Wl,-O1) ;;
    -Wl,--start-group | -Wl,--end-group | -Wl,--version-script* | -Wl,-soname*) ;;
    *) set -- "$@" "$word" ;;
    esac
done
[ "$shared" ] || exec @COMPILE@ "$@"
last=
for word; do
    shift
    case $last$word in
    -o*) [ "$last" ] && set -- "$@" -o "$word" ;;
    *.o | *.a | @*) set -- "$@" "$word" ;;
    -Wl,--whole-archive | -Wl,--no-whole-archive) set -- "$@" "${word#-Wl,}" ;;
    esac
    last=
    [ "$word" = -o ] && last=-o
done
exec @OBJECT@ "$@""#;

/// What makes clang a C++ compiler with the wheel's library.
fn cxx_flags(zig: &Path) -> Vec<String> {
    let mut flags = vec!["--driver-mode=g++".to_string(), "-nostdinc++".to_string()];
    for dir in ["libcxx/include", "libcxxabi/include"] {
        flags.push(format!("-isystem '{}'", zig.join("lib").join(dir).display()));
    }
    flags.extend(CXX_CONFIG.iter().chain(EXCEPTIONS).map(ToString::to_string));
    flags
}

/// libc++, libc++abi and the unwinder as one archive.
fn cxx(shop: &mut Workshop, zig: &Done, tools: &Tools) -> Result<Done> {
    let recipe = shop.recipe.clone();
    let mut key = Key::new("cxx");
    key.text(&tools.key);
    key.tree(&recipe, &["site/cxx-tag.s"])?;
    for list in [CXX_CONFIG, EXCEPTIONS, CXX_PARTS, CXX_LIBRARY, LONGJMP, &[SETJMP]] {
        list.iter().for_each(|text| key.text(text));
    }
    let lib = zig.dir.join("ziglang/lib");
    shop.step("libcxx", key, Leftover::Continue, |bench| {
        for dir in ["obj", "lib"] {
            fs::create_dir_all(bench.dir.join(dir)).context(dir)?;
        }
        let objects = bench.dir.join("obj");
        let compile = |group: &str, file: &Path, args: &[&str]| -> Result<()> {
            let stem = file.file_stem().and_then(|s| s.to_str()).context("a file name")?;
            let object = objects.join(format!("{group}-{stem}.o"));
            if object.is_file() {
                return Ok(());
            }
            let part = object.with_extension("part");
            let mut clang = host::tool(tools.path("clang"), &bench.dir);
            clang.args(["-O2", "-g0", "-w", "-DNDEBUG", "-ffunction-sections", "-fdata-sections"]);
            clang.args(EXCEPTIONS).args(args);
            if group == CXX {
                clang.args(CXX_CONFIG).args(["--driver-mode=g++", "-nostdinc++", "-std=c++23"]);
                clang.args(CXX_LIBRARY);
                for dir in ["libcxx/include", "libcxxabi/include", "libcxx/src", "libcxx/libc"] {
                    clang.arg("-I").arg(lib.join(dir));
                }
            }
            clang.arg("-I").arg(lib.join("libunwind/include"));
            bench.run(clang.arg("-c").arg(file).arg("-o").arg(&part))?;
            fs::rename(&part, &object).with_context(|| object.display().to_string())
        };
        for part in CXX_PARTS {
            let folder = lib.join(part);
            for name in sorted(&folder)?.iter().filter(|name| name.ends_with(".cpp")) {
                compile(CXX, &folder.join(name), &[])?;
            }
        }
        let unwind = ["-std=c11", "-D_LIBUNWIND_HIDE_SYMBOLS", "-D_LIBUNWIND_IS_NATIVE_ONLY"];
        compile("unwind", &lib.join("libunwind/src/Unwind-wasm.c"), &unwind)?;
        compile("setjmp", &lib.join(SETJMP), LONGJMP)?;
        compile("site", &recipe.join("site/cxx-tag.s"), &[])?;
        let mut ar = host::tool(tools.path("ar"), &objects);
        bench.run(ar.args(["rcs", "../lib/libc++.a"]).args(sorted(&objects)?))?;
        for name in ["libc++abi.a", "libunwind.a"] {
            fs::write(bench.dir.join("lib").join(name), "!<arch>\n").context(name)?;
        }
        Ok(())
    })
}

/// Folders of the wheel whose C++ files make the library. File systems are absent: WASI's differ.
const CXX_PARTS: &[&str] = &["libcxxabi/src", "libcxx/src", "libcxx/src/ryu"];

/// What says that it is the library that is compiled.
const CXX_LIBRARY: &[&str] = &[
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-D_LIBCXXABI_BUILDING_LIBRARY",
    "-DLIBCXX_BUILDING_LIBCXXABI",
    "-D_LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS",
    "-DLIBC_NAMESPACE=__llvm_libc_common_utils",
];

/// The wheel's own runtime of setjmp, not part of its libc, and what it needs.
const SETJMP: &str = "libc/wasi/libc-top-half/musl/src/setjmp/wasm32/rt.c";
const LONGJMP: &[&str] = &["-mexception-handling", "-mllvm", "-wasm-enable-sjlj"];

/// The prefix of their objects' names.
const CXX: &str = "cxx";
