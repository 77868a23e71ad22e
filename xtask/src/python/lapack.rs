//! BLAS and LAPACK, which SciPy calls, as C from Fortran 77; one copy for all modules. With what else SciPy calls that
//! nobody here has (`own.c`, `own.cpp`).
//!
//! `python-dist/science/lapack/translate.py` has f2c translate the reference implementation, and says what it changes.
//! The result is one relocatable object. SciPy's own modules leave these functions undefined, as
//! they do elsewhere where a shared library has them; here the object joins the first module of
//! theirs that needs all of it, and its names stay global, so the link finds them for the others.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::bootstrap::Bootstrap;
use super::kit::Kit;
use super::packages::Package;
use super::toolchain::{Tools, find, unpack_tar};
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host};

const CODE: &str = include_str!("lapack.rs");

/// The module that offers all of LAPACK to Cython, and its package.
const OWNER: (&str, &str) = ("scipy", "scipy.linalg.cython_lapack");

/// Where the sources come from, by their names in the pins.
const SOURCES: &[&str] = &["f2c", "libf2c", "netlib-lapack", "libflame"];

/// f2c's programs return nothing from functions that it declares as returning numbers, and call functions whose
/// parameters are not declared. Loops over columns are vectorised.
const FLAGS: &str =
    "-O3 -g0 -w -std=gnu17 -msimd128 -DNDEBUG -Wno-return-mismatch -fno-strict-aliasing";

/// Of our part in C++, as SciPy's own.
const CXX_FLAGS: &str = "-O2 -g0 -msimd128 -U_LIBCPP_HAS_FILESYSTEM -D_LIBCPP_HAS_FILESYSTEM=1";

/// Our part, beside the script.
const OWN: &[&str] = &["own.c", "own.cpp"];

/// The object with all of it.
const OBJECT: &str = "lapack.o";

/// Translates and compiles.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap, kit: &Kit) -> Result<Done> {
    let Bootstrap { pins, tools, .. } = bootstrap;
    let scripts = shop.recipe.join("science/lapack");
    let mut key = Key::new("lapack");
    key.text(&tools.key);
    key.text(&kit.key);
    let mut files = Vec::new();
    for name in SOURCES {
        let source = pins.source(name)?;
        key.text(&source.sha256);
        files.push(fetch::fetch(shop, source)?);
    }
    key.tree(&shop.recipe, &["science/lapack"])?;
    key.text(CODE);
    shop.step("lapack", key, Leftover::Continue, |bench| {
        let sources = bench.dir.join("c");
        // Last of what is written before the compiler runs.
        let plan = bench.dir.join("build.ninja");
        if !plan.is_file() {
            for file in &files {
                unpack_tar(bench, file)?;
            }
            let f2c = translator(bench)?;
            let mut translate = host::tool("python3", &bench.dir);
            translate.args(["-I", "-B"]).arg(scripts.join("translate.py"));
            translate.arg(find(&bench.dir, "netlib-src-")?.join("source"));
            translate.arg(find(&bench.dir, "libflame-")?).arg(find(&bench.dir, "libf2c2-")?);
            bench.run(translate.arg(f2c).arg(&sources))?;
            for name in OWN {
                fs::copy(scripts.join(name), sources.join(name)).context(*name)?;
            }
            fs::write(&plan, ninja(&sources, tools, kit)?).context("build.ninja")?;
        }
        let mut ninja = host::tool(kit.bin().join("ninja"), &bench.dir);
        bench.run(ninja.arg(host::jobs()))
    })
}

/// f2c for this machine.
fn translator(bench: &Bench) -> Result<PathBuf> {
    let source = find(&bench.dir, "f2c-")?.join("src");
    let mut make = host::tool("make", &source);
    make.args(["--silent", "--makefile=makefile.u", "f2c"]);
    // Its functions are declared as C had them before prototypes.
    make.arg(format!("CC={}", host::cc())).arg("CFLAGS=-O1 -w -std=gnu17");
    bench.run(&mut make)?;
    Ok(source.join("f2c"))
}

/// A plan for ninja: every file's object, and one object of them all.
fn ninja(sources: &Path, tools: &Tools, kit: &Kit) -> Result<String> {
    let mut text = format!(
        "rule c\n  command = '{}' {FLAGS} -c $in -o $out\n\
         rule cpp\n  command = '{}' {CXX_FLAGS} -c $in -o $out\n\
         rule objects\n  command = '{}' -r -o $out @$out.list\n  rspfile = $out.list\n  rspfile_content = $in\n",
        tools.path("clang").display(),
        kit.path("c++").display(),
        tools.path("wasm-ld").display()
    );
    let mut objects = String::new();
    for name in sorted(sources)? {
        let Some((_, rule @ ("c" | "cpp"))) = name.rsplit_once('.') else { continue };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "build obj/{name}.o: {rule} c/{name}");
        let _ = write!(objects, " obj/{name}.o");
    }
    let _ = writeln!(text, "build {OBJECT}: objects{objects}");
    Ok(text)
}

/// Gives the library to the module that needs all of it. Nothing happens without its package.
pub fn join(
    shop: &mut Workshop,
    bootstrap: &Bootstrap,
    lapack: &Done,
    packages: &mut [Package],
) -> Result<()> {
    let tools = &bootstrap.tools;
    let (package, module) = OWNER;
    let Some(package) = packages.iter_mut().find(|p| p.name == package) else { return Ok(()) };
    let mut key = Key::new("joined");
    for part in [&package.done.key, &lapack.key, &tools.key] {
        key.text(part);
    }
    key.text(CODE);
    let from = package.done.dir.clone();
    let library = lapack.dir.join(OBJECT);
    package.done =
        shop.step(&format!("{}-lapack", package.name), key, Leftover::Discard, |bench| {
            for part in ["site", "devel"] {
                symlink(from.join(part), bench.dir.join(part)).context(part)?;
            }
            let (old, new) = (from.join("objects"), bench.dir.join("objects"));
            fs::create_dir_all(&new).with_context(|| new.display().to_string())?;
            let owner = format!("{module}.o");
            for name in sorted(&old)?.iter().filter(|name| **name != owner) {
                symlink(old.join(name), new.join(name)).with_context(|| name.clone())?;
            }
            let mut join = host::tool(tools.path("wasm-ld"), &bench.dir);
            bench.run(
                join.arg("-r").arg("-o").arg(new.join(&owner)).arg(old.join(&owner)).arg(&library),
            )
        })?;
    Ok(())
}
