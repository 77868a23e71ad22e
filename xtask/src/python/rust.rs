//! Packages whose C part is Rust: pydantic-core.
//!
//! Its sources come with the versions and sums of what they depend on (`Cargo.lock`), which cargo holds
//! to. What cargo makes is a static library; the linker makes one relocatable object of it, whose
//! only global name is the module's entry, as of every other module (see `wasmobj`). The allocator,
//! files and clocks of Rust's library are libc's. A panic ends the process: the target does not unwind.
//! The licences of all crates in it go to the package's `.dist-info`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::bootstrap::Bootstrap;
use super::packages::{Package, entry};
use super::pins::Pins;
use super::toolchain::{Tools, copy_tree, unpack_tar};
use super::workshop::{Bench, Done, Key, Leftover, Workshop, sorted};
use super::{fetch, host, notices, wasmobj};

const CODE: &[&str] =
    &[include_str!("rust.rs"), include_str!("notices.rs"), include_str!("wasmobj.rs")];

pub const TARGET: &str = "wasm32-wasip1";

/// What the image's other modules may use, too.
const FLAGS: &str = "-Ctarget-feature=+simd128,+bulk-memory";

/// Builds the profile's packages of this kind.
pub fn build(shop: &mut Workshop, bootstrap: &Bootstrap) -> Result<Vec<Package>> {
    let Bootstrap { pins, profile, native, tools, .. } = bootstrap;
    let mut packages = Vec::new();
    for (name, recipe) in pins.rust.iter().filter(|(name, _)| pins.has(*profile, name)) {
        let source = pins.source(name)?;
        let file = fetch::fetch(shop, source)?;
        let built = library(shop, pins, name, &file)?;
        let mut key = Key::new(name);
        for part in [&built.key, &tools.key, &native.key] {
            key.text(part);
        }
        key.text(&format!("{recipe:?}"));
        key.tree(&shop.recipe, &["recipe/site.py"])?;
        CODE.iter().for_each(|code| key.text(code));
        let (script, base) = (shop.recipe.join("recipe/site.py"), shop.base.clone());
        let done = shop.step(name, key, Leftover::Discard, |bench| {
            let site = bench.dir.join("site");
            for dir in ["objects", "devel"] {
                fs::create_dir_all(bench.dir.join(dir)).context(dir)?;
            }
            let tree = source_tree(&built.dir, &source.version)?;
            copy_tree(&tree.join(&recipe.python), &site)?;
            let info = metadata(&site, &tree, name, &source.version)?;
            notices::collect(bench, &tree, &info.join("licenses"))?;
            object(bench, tools, &built.dir.join("library.a"), &recipe.module)?;
            let mut python = host::tool(native.dir.join("python"), &bench.dir);
            bench.run(python.args(["-I", "-S"]).arg(script).arg(&site).arg(&base))
        })?;
        packages.push(Package { name: name.clone(), done, devel_key: String::new() });
    }
    Ok(packages)
}

/// The static library, at `library.a` beside the sources.
fn library(shop: &mut Workshop, pins: &Pins, name: &str, file: &Path) -> Result<Done> {
    let version = compiler(&shop.base)?;
    let series = pins.series().to_string();
    let mut key = Key::new("rust");
    key.text(&pins.source(name)?.sha256);
    for part in [&version, &series] {
        key.text(part);
    }
    key.text(CODE[0]);
    let pinned = pins.source(name)?.version.clone();
    let base = shop.base.clone();
    shop.step(&format!("{name}-rust"), key, Leftover::Continue, |bench| {
        let config = bench.dir.join("pyo3.txt");
        if !config.is_file() {
            unpack_tar(bench, file)?;
            let text = format!(
                "implementation=CPython\nversion={series}\nshared=false\npointer_width=32\n\
                 suppress_build_script_link_lines=true\n"
            );
            fs::write(&config, text).with_context(|| config.display().to_string())?;
        }
        let tree = source_tree(&bench.dir, &pinned)?;
        let mut cargo = cargo(&tree);
        cargo.args(["rustc", "--release", "--locked", "--lib", "--crate-type=staticlib"]);
        cargo.args(["--target", TARGET, "--target-dir"]).arg(bench.dir.join("target"));
        cargo.arg(host::jobs()).env("PYO3_CONFIG_FILE", &config);
        // Messages of panics name files.
        let mut flags = format!("{FLAGS} --remap-path-prefix={}=/build", base.display());
        if let Some(home) = cargo_home() {
            flags += &format!(" --remap-path-prefix={}=/cargo", home.display());
        }
        bench.run(cargo.env("RUSTFLAGS", flags))?;
        let made = bench.dir.join("target").join(TARGET).join("release");
        let name = find_library(&made)?;
        fs::rename(made.join(&name), bench.dir.join("library.a")).context(name)?;
        let rest = bench.dir.join("target");
        fs::remove_dir_all(&rest).with_context(|| rest.display().to_string())
    })
}

/// cargo, with the compiler beside it. Found by rustup's rules the compiler might be another one, which
/// rustup would even install; it must not.
pub fn cargo(dir: &Path) -> Command {
    let program = host::cargo();
    let mut cargo = host::tool(&program, dir);
    for name in ["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"] {
        if let Some(value) = std::env::var_os(name) {
            cargo.env(name, value);
        }
    }
    let beside = program.with_file_name("rustc");
    if beside.is_file() {
        cargo.env("RUSTC", beside);
    }
    cargo.env("RUSTUP_AUTO_INSTALL", "0");
    cargo
}

fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cargo")))
}

/// The compiler's version: another one makes other code.
fn compiler(dir: &Path) -> Result<String> {
    let output = cargo(dir).args(["--version", "--verbose"]).output().context("cargo --version")?;
    ensure!(output.status.success(), "cargo --version: {}", output.status);
    let text = String::from_utf8(output.stdout).context("cargo --version")?;
    Ok(text.lines().take_while(|line| !line.starts_with("host:")).collect())
}

fn find_library(dir: &Path) -> Result<String> {
    let names = sorted(dir)?;
    let name = names.into_iter().find(|name| name.starts_with("lib") && name.ends_with(".a"));
    name.with_context(|| format!("{}: cargo made no static library", dir.display()))
}

/// The one folder of an unpacked archive, whose name ends in the version.
fn source_tree(dir: &Path, version: &str) -> Result<PathBuf> {
    let names = sorted(dir)?;
    let name = names.into_iter().find(|name| name.ends_with(&format!("-{version}")));
    name.map(|name| dir.join(name)).with_context(|| format!("{}: no sources", dir.display()))
}

/// The module's object, with its entry as the only global name.
fn object(bench: &Bench, tools: &Tools, library: &Path, module: &str) -> Result<()> {
    let last = module.rsplit('.').next().unwrap_or(module);
    let whole = bench.dir.join("whole.o");
    let symbol = format!("PyInit_{last}");
    let mut link = host::tool(tools.path("wasm-ld"), &bench.dir);
    // Of what nothing needs the interpreter's link takes nothing.
    link.args(["-r", "-o"]).arg(&whole).arg("--whole-archive").arg(library);
    bench.run(&mut link)?;
    let bytes = fs::read(&whole).with_context(|| whole.display().to_string())?;
    let hidden = wasmobj::hide(&bytes, &symbol, &entry(module)).context(symbol)?;
    let to = bench.dir.join("objects").join(format!("{module}.o"));
    fs::write(&to, hidden).with_context(|| to.display().to_string())?;
    fs::remove_file(&whole).with_context(|| whole.display().to_string())
}

/// What `importlib.metadata` and `pip list` ask for; its folder.
fn metadata(site: &Path, tree: &Path, name: &str, version: &str) -> Result<PathBuf> {
    let info = site.join(format!("{}-{version}.dist-info", name.replace('-', "_")));
    fs::create_dir_all(&info).with_context(|| info.display().to_string())?;
    let from = tree.join("PKG-INFO");
    fs::copy(&from, info.join("METADATA")).with_context(|| from.display().to_string())?;
    fs::write(info.join("INSTALLER"), "wasibox\n").with_context(|| info.display().to_string())?;
    Ok(info)
}
