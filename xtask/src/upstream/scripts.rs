//! Programs of the image that an interpreter of the image runs: `yq` and `uv` by Python, `openssl` by
//! Node.
//!
//! The folder of a program in `programs/` has `bin`, which becomes a part of `/usr/local/bin`, and
//! `lib`, which becomes `/usr/lib/NAME`. `yq` is the package yaqpy, whose wheel is pinned. Python in
//! the image compiles the modules, because bytecode has the version of the interpreter; without
//! bytecode, `yq` takes 160 ms longer to start.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use wasibox_image::ImageSpec;

use super::pinned_source;
use super::step::{Bench, StepResult, Workshop};
use crate::env;
use crate::js;
use crate::key::Key;
use crate::python::{self, PythonDist};

/// The programs, which are also the folders of `programs/`.
const PROGRAMS: &[&str] = &["openssl", "uv", "yq"];

/// The part of yaqpy's wheel that is left out: windows and a server for them.
const WINDOWS: &str = "yaqpy/gui";

/// What the programs add to an image.
pub struct ScriptTree {
    /// The tree that is copied to the guest's `/`.
    pub root: PathBuf,
    /// Licence texts: component and file.
    pub licenses: Vec<(String, PathBuf)>,
    /// Name, version and licence of each component.
    pub components: Vec<(String, String, String)>,
    /// The hash of everything that determines the result.
    pub key: String,
}

/// Builds the tree if it is not cached. `runner` runs Python in an image that has nothing else.
///
/// # Errors
/// Returns an error if the wheel cannot be fetched or has another digest, or if Python finds a
/// mistake in a module.
pub fn build(py: &PythonDist, runner: &Path, say: &mut dyn FnMut(&str)) -> Result<ScriptTree> {
    let source = pinned_source("programs/pins.toml", "yaqpy")?;
    let wheel = python::pinned(&env::cache()?, &source, say)?;
    let mut shop = Workshop { base: super::folder()?, say };
    let mut key = Key::new("scripts");
    [&source.sha256, &py.hash, include_str!("scripts.rs")].iter().for_each(|part| key.text(part));
    key.tree(&env::root().join("programs"), PROGRAMS)?;
    let StepResult { dir, key } = shop.step("scripts", key, |bench| {
        let root = bench.dir.join("root");
        for name in PROGRAMS {
            let from = env::root().join("programs").join(name);
            copy_if_there(&from.join("bin"), &root.join("usr/local/bin"))?;
            copy_if_there(&from.join("lib"), &root.join("usr/lib").join(name))?;
        }
        let yq = root.join("usr/lib/yq");
        unpack_wheel(bench, &wheel, &yq)?;
        fs::remove_dir_all(yq.join(WINDOWS)).context(WINDOWS)?;
        let info = yq.join(format!("yaqpy-{}.dist-info", source.version));
        let licences = bench.dir.join("licences");
        fs::create_dir_all(&licences).context("licences")?;
        for name in &source.licence_files {
            fs::copy(info.join("licenses").join(name), licences.join(name))
                .context(name.clone())?;
        }
        fs::remove_dir_all(&info).context("dist-info")?;
        compile_modules(bench, py, runner, &root.join("usr/lib"))
    })?;
    let text = |name: &String| ("yaqpy".to_string(), dir.join("licences").join(name));
    Ok(ScriptTree {
        root: dir.join("root"),
        licenses: source.licence_files.iter().map(text).collect(),
        components: vec![("yaqpy".to_string(), source.version, source.licence)],
        key,
    })
}

fn copy_if_there(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() { js::copy_folder(from, to) } else { Ok(()) }
}

fn unpack_wheel(bench: &Bench, wheel: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let mut unzip = bench.tool("python3", to);
    bench.run(unzip.args(["-I", "-m", "zipfile", "-e"]).arg(wheel).arg("."))
}

/// Compiles all modules in the folders of `lib`, which is `/usr/lib` in the image.
fn compile_modules(bench: &Bench, py: &PythonDist, runner: &Path, lib: &Path) -> Result<()> {
    let image = bench.dir.join("python.webc");
    let spec = ImageSpec {
        name: "wasibox/python".to_string(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        atoms: vec![("python".to_string(), env::read(&py.wasm)?)],
        commands: vec![("python3".to_string(), "python".to_string())],
        rootfs: vec![py.root.clone()],
        ..ImageSpec::default()
    };
    wasibox_image::pack_to(&spec, &image)?;
    let mut compile = Command::new(runner);
    compile.args(["exec", "--mount", &format!("{}:/made:rw", lib.display())]).arg(&image);
    compile.args(["--", "python3", "-m", "compileall", "-q", "-j1"]);
    compile.args([
        "--invalidation-mode",
        "unchecked-hash",
        "-s",
        "/made",
        "-p",
        "/usr/lib",
        "/made",
    ]);
    bench.run(&mut compile)?;
    fs::remove_file(&image).context("python.webc")
}
