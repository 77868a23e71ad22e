//! A package built by Meson, as its sources come, for our target.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::cpython::CONFIGURED;
use super::kit::Kit;
use super::libs::Libs;
use super::packages::{Package, Recipe};
use super::pins::Pins;
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host};

const CODE: &str = include_str!("meson.rs");

/// The sources in the step's folder.
const TREE: &str = "source";

/// Where Meson installs to, in the step's folder.
const INSTALLED: &str = "installed";

/// Meson itself comes with NumPy's sources, with the module NumPy needs.
const MESON: &str = "vendored-meson/meson/meson.py";

/// What is to be built.
pub struct Order<'a> {
    pub name: &'a str,
    /// Its folder in `packages/`.
    pub folder: &'a Path,
    pub recipe: &'a Recipe,
    /// The packages it needs.
    pub needed: Vec<&'a Package>,
}

/// Compiles and installs into the step's folder.
pub fn build(
    shop: &mut Workshop,
    pins: &Pins,
    order: &Order,
    kit: &Kit,
    libs: &Libs,
) -> Result<Done> {
    let Order { name, folder, recipe, needed } = order;
    let name = *name;
    let source = pins.source(name)?;
    let numpy = pins.source("numpy")?;
    let mut files = vec![(fetch::fetch(shop, source)?, TREE.to_string())];
    let mut key = Key::new("meson");
    for part in [&source.sha256, &kit.key, &numpy.sha256] {
        key.text(part);
    }
    needed.iter().for_each(|package| key.text(&package.devel_key));
    for extra in &recipe.unpack {
        let part = pins.source(&extra.source)?;
        key.text(&part.sha256);
        key.text(&extra.at);
        files.push((fetch::fetch(shop, part)?, format!("{TREE}/{}", extra.at)));
    }
    let patches: Vec<String> =
        sorted(folder)?.into_iter().filter(|n| n.ends_with(".patch")).collect();
    for patch in &patches {
        key.tree(folder, &[patch])?;
    }
    for flags in [&recipe.options, &recipe.c_flags, &recipe.cxx_flags, &recipe.flags] {
        key.text(&format!("{flags:?}"));
    }
    if recipe.libraries {
        key.text(&libs.key);
    }
    key.text(CODE);
    if name != "numpy" {
        files.push((fetch::fetch(shop, numpy)?, "meson".to_string()));
    }
    let meson = if name == "numpy" { TREE } else { "meson" };
    shop.step(&format!("{name}-meson"), key, Leftover::Continue, |bench| {
        let meson = bench.dir.join(meson).join(MESON);
        let python = host::python()?;
        if !bench.dir.join(CONFIGURED).is_file() {
            for (file, at) in &files {
                unpack(bench, file, at)?;
            }
            for patch in &patches {
                let mut command = host::tool("patch", &bench.dir.join(TREE));
                command.args(["-p1", "--fuzz=0", "--input"]).arg(folder.join(patch));
                bench.run(&mut command).with_context(|| patch.clone())?;
            }
            let cross = bench.dir.join("cross.ini");
            fs::write(&cross, cross_file(recipe, kit, libs)).context("cross.ini")?;
            let build = bench.dir.join("build");
            if build.exists() {
                fs::remove_dir_all(&build).with_context(|| build.display().to_string())?;
            }
            let mut setup = tool(&python, bench, kit, needed);
            setup
                .arg("-I")
                .arg(&meson)
                .arg("setup")
                .arg("build")
                .arg(TREE)
                .arg("--cross-file")
                .arg(&cross);
            setup.args(["--prefix=/usr", "--buildtype=plain", "-Db_ndebug=true"]);
            setup.args(["-Db_pch=false", "--wrap-mode=nodownload"]).args(&recipe.options);
            bench.run(&mut setup)?;
            fs::write(bench.dir.join(CONFIGURED), "").context(CONFIGURED)?;
        }
        let mut ninja = tool(kit.bin().join("ninja"), bench, kit, needed);
        bench.run(ninja.arg(host::jobs()).args(["-C", "build"]))?;
        let mut install = tool(&python, bench, kit, needed);
        install.arg("-I").arg(&meson).args([
            "install",
            "-C",
            "build",
            "--no-rebuild",
            "--skip-subprojects",
        ]);
        bench.run(install.arg("--destdir").arg(bench.dir.join(INSTALLED)))?;
        metadata(bench, name, &source.version)
    })
}

/// site-packages of a finished build.
pub fn site(dir: &Path) -> Result<PathBuf> {
    let lib = dir.join(INSTALLED).join("usr/lib");
    let series = super::toolchain::find(&lib, "python3.")?;
    Ok(series.join("site-packages"))
}

/// A program that finds the kit's others, and whose Python sees the needed packages.
/// Meson itself runs on the machine's Python: ours has no zlib, which it imports.
fn tool(
    program: impl AsRef<Path>,
    bench: &Bench,
    kit: &Kit,
    needed: &[&Package],
) -> std::process::Command {
    let mut command = host::tool(program, &bench.dir);
    let path: Vec<String> = needed.iter().map(|p| p.devel().display().to_string()).collect();
    let rest = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{rest}", kit.bin().display()));
    command.env("PYTHONPATH", path.join(":")).env("PYTHONHASHSEED", "0");
    command
}

/// An archive's one top folder becomes `at`.
fn unpack(bench: &Bench, file: &Path, at: &str) -> Result<()> {
    let (room, to) = (bench.dir.join("unpacked"), bench.dir.join(at));
    for dir in [&room, &to] {
        if dir.exists() {
            fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
        }
    }
    fs::create_dir_all(&room).with_context(|| room.display().to_string())?;
    let program = "import sys, tarfile\n\
                   with tarfile.open(sys.argv[1]) as t:\n\
                   \x20   t.extractall('.')";
    let mut extract = host::tool("python3", &room);
    bench.run(extract.args(["-I", "-W", "ignore", "-c", program]).arg(file))?;
    let names = sorted(&room)?;
    ensure!(names.len() == 1, "{}: not one top folder", file.display());
    fs::rename(room.join(&names[0]), &to).with_context(|| to.display().to_string())
}

fn cross_file(recipe: &Recipe, kit: &Kit, libs: &Libs) -> String {
    let list = |parts: &[&[String]]| -> String {
        let quoted: Vec<String> = parts.concat().iter().map(|flag| format!("'{flag}'")).collect();
        quoted.join(", ")
    };
    let libraries = if recipe.libraries { libs.include() } else { String::new() };
    let libraries: Vec<String> = libraries.split_whitespace().map(ToString::to_string).collect();
    let program = |name: &str| kit.path(name).display().to_string();
    format!(
        "[binaries]\nc = '{}'\ncpp = '{}'\nar = '{}'\nranlib = '{}'\nstrip = '/bin/true'\n\
         cython = '{}'\npython = '{}'\npybind11-config = '{}'\n\
         pkg-config = '/bin/false'\ncmake = '/bin/false'\n\
         [host_machine]\nsystem = 'wasi'\ncpu_family = 'wasm32'\ncpu = 'wasm32'\nendian = 'little'\n\
         [properties]\nlongdouble_format = 'IEEE_QUAD_LE'\ndevnull = '/dev/null'\n\
         needs_exe_wrapper = true\nskip_sanity_check = true\n\
         [built-in options]\nc_args = [{}]\ncpp_args = [{}]\n",
        program("cc"),
        program("c++"),
        program("ar"),
        program("ranlib"),
        kit.bin().join("cython").display(),
        program("python"),
        program("pybind11-config"),
        list(&[&libraries, &recipe.flags, &recipe.c_flags]),
        list(&[&libraries, &recipe.flags, &recipe.cxx_flags]),
    )
}

/// What `importlib.metadata` and `pip list` ask for.
fn metadata(bench: &Bench, name: &str, version: &str) -> Result<()> {
    let info = site(&bench.dir)?.join(format!("{name}-{version}.dist-info"));
    fs::create_dir_all(&info).with_context(|| info.display().to_string())?;
    let from = bench.dir.join(TREE).join("PKG-INFO");
    fs::copy(&from, info.join("METADATA")).with_context(|| from.display().to_string())?;
    fs::write(info.join("INSTALLER"), "wasibox\n").with_context(|| info.display().to_string())
}
