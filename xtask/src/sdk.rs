//! `cargo xtask dist --sdk`: builds the packages for Python and Node, and their image, in
//! `dist/sdk/`.
//!
//! | package | contents | built by |
//! |---|---|---|
//! | `wasibox` for Python | the engine as a native module for all versions of CPython from 3.10 on, `runner` for sessions' processes | hatchling |
//! | `wasibox` for Node | the engine as a native module for Node from 20 on, `runner`, JavaScript and types that tsc generates (`node.rs`) | npm |
//! | `wasibox-image` for both | the image and its machine code, compressed | hatchling, npm |
//!
//! This task runs cargo itself rather than maturin or napi's program, because those build a crate
//! alone, with other features than the command line's, so that Wasmer would be compiled once more.
//!
//! The Linux version that a package requires is the one that auditwheel finds in its files. It
//! becomes the wheel's tag, and `config.glibc` of the package for Node.
//!
//! The image's packages are cached by the digests of image and runner, because compression takes
//! longer than all other steps.
//!
//! `cargo xtask sdk` installs the packages into an environment and a folder and runs their tests
//! there.

pub mod node;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use wasibox_image::Image;

use crate::key::{Key, sorted};
use crate::progress::Steps;
use crate::{dist, env, kept, notices};

/// The native module of the package for Python.
const PYTHON: kept::GuestProgram = kept::GuestProgram {
    package: "wasibox-python",
    profile: "release",
    target: None,
    file: "lib_native.so",
    with: &["wasibox-cli"],
};

/// The number of cached bundles.
const BUNDLES: usize = 2;

/// Builds the packages; `dist/` must exist.
pub fn build_packages() -> Result<()> {
    let out = env::dist().join("sdk");
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let mut steps = Steps::new(3);
    let python = make_venv("sdk/build-requirements.txt")?;

    steps.begin_step("wasibox-image: wheel and npm package");
    let packed = image_packages(&python)?;
    // A wheel of an earlier build may have a different tag, and pip would get both.
    for name in sorted(&out)?.iter().filter(|name| name.starts_with("wasibox_image")) {
        std::fs::remove_file(out.join(name))?;
    }
    for name in sorted(&packed)? {
        // The packages are large, so they are hard links, or copies if the cache is on another file
        // system.
        let to = out.join(&name);
        let _ = std::fs::remove_file(&to);
        std::fs::hard_link(packed.join(&name), &to)
            .or_else(|_| std::fs::copy(packed.join(&name), &to).map(drop))?;
    }
    steps.end_step(&package_sizes(&out, |name| name.contains("image"))?);

    steps.begin_step("wasibox for Python: wheel");
    build_wheel(&python, &out)?;
    steps.end_step(&package_sizes(&out, |name| name.contains("abi3"))?);

    steps.begin_step("wasibox for Node: npm package");
    node::build_package(&python, &out)?;
    steps.end_step(&package_sizes(&out, |name| name.ends_with(".tgz") && !name.contains("image"))?);
    steps.finish_task("dist/sdk is complete");
    Ok(())
}

/// Builds the image's packages in a folder of the cache.
fn image_packages(python: &Path) -> Result<PathBuf> {
    let dist = env::dist();
    let mut key = Key::new("sdk-image");
    key.text(&crate::key::sha256_file(&dist.join("image.webc"))?);
    key.text(&crate::key::sha256_file(&dist.join("runner"))?);
    key.tree(&env::root(), &["sdk/image", "sdk/build-requirements.txt"])?;
    let shelf = env::cache()?.join("sdk-image");
    let packed = shelf.join(key.finish());
    if packed.is_dir() {
        return Ok(packed);
    }
    let work = env::cache()?.join(format!("sdk-stage-{}", std::process::id()));
    let (stage, made) = (work.join("image"), work.join("made"));
    copy_folder(&env::root().join("sdk/image"), &stage)?;
    copy_licences(&stage)?;
    state_licences(&stage)?;
    copy_folder(&packed_image()?, &stage.join("wasibox_image/data"))?;
    std::fs::create_dir_all(&made)?;
    let platform = oldest_platform(python, &[&dist.join("runner")])?;
    env::run(pip_wheel(python, &stage, &made).env("WASIBOX_WHEEL_PLATFORM", platform))?;
    node::npm_pack(&stage, &made)?;
    std::fs::create_dir_all(&shelf)?;
    std::fs::rename(&made, &packed).with_context(|| packed.display().to_string())?;
    std::fs::remove_dir_all(&work)?;
    forget_bundles(&shelf)?;
    Ok(packed)
}

/// Returns the folder of the cache with the image and its machine code, compressed.
pub fn packed_image() -> Result<PathBuf> {
    let dist = env::dist();
    let mut key = Key::new("release-image");
    key.text(&crate::key::sha256_file(&dist.join("image.webc"))?);
    key.text(&crate::key::sha256_file(&dist.join("runner"))?);
    let shelf = env::cache()?.join("release-image");
    let packed = shelf.join(key.finish());
    if !packed.is_dir() {
        std::fs::create_dir_all(&shelf)?;
        let part = shelf.join(format!("part-{}", std::process::id()));
        let mut pack = Command::new(dist.join("runner"));
        pack.arg("compile").arg(dist.join("image.webc")).arg("--bundle").arg(&part);
        env::run(&mut pack)?;
        std::fs::rename(&part, &packed).with_context(|| packed.display().to_string())?;
        forget_bundles(&shelf)?;
    }
    Ok(packed)
}

/// Writes the licences of the image's components into the descriptions of its packages, and a list
/// of them into the packages.
fn state_licences(stage: &Path) -> Result<()> {
    let image = Image::open(&env::dist().join("image.webc"))?;
    let licences = &image.extra().licenses;
    let mut list = String::from(
        "# Licences of the image\n\nThe texts are in the image below `/usr/share/licenses`.\n\n\
         | component | licence |\n|---|---|\n",
    );
    for licence in licences {
        list.push_str(&format!("| {} | {} |\n", licence.component, licence.license));
    }
    std::fs::write(stage.join("THIRD-PARTY.md"), list)?;
    let expression = licence_expression(licences.iter().map(|licence| licence.license.as_str()));
    for (name, begin) in [("pyproject.toml", "license = "), ("package.json", "  \"license\": ")] {
        let path = stage.join(name);
        let text = String::from_utf8(env::read(&path)?)?;
        let from = format!("{begin}\"MIT OR Apache-2.0\"");
        ensure!(text.contains(&from), "{name} states no licence");
        let to = format!("{begin}\"{expression}\"");
        std::fs::write(&path, text.replace(&from, &to))?;
    }
    Ok(())
}

/// Returns the SPDX expression of a work with parts under all of these licences.
fn licence_expression<'a>(licences: impl Iterator<Item = &'a str>) -> String {
    let parts: std::collections::BTreeSet<&str> =
        // Parentheses in a list of conjunctions belong to single licences with an exception.
        licences.flat_map(|l| if l.contains(" OR ") { vec![l] } else { l.split(" AND ").collect() })
            .map(|part| part.strip_prefix('(').and_then(|p| p.strip_suffix(')')).unwrap_or(part))
            .collect();
    let whole =
        |part: &&str| if part.contains(" OR ") { format!("({part})") } else { (*part).to_string() };
    parts.iter().map(whole).collect::<Vec<_>>().join(" AND ")
}

/// Writes the notices of the crates in programs of ours into a package.
pub fn write_notices(stage: &Path, programs: &[&str]) -> Result<()> {
    let text = notices::notices_text(&notices::linked_crates(programs)?)?;
    std::fs::write(stage.join("THIRD-PARTY.txt"), text).context("THIRD-PARTY.txt")
}

/// Removes all bundles except the newest.
fn forget_bundles(shelf: &Path) -> Result<()> {
    let mut all = Vec::new();
    for name in sorted(shelf)? {
        let path = shelf.join(name);
        all.push((path.metadata()?.modified()?, path));
    }
    all.sort();
    for (_, path) in all.iter().rev().skip(BUNDLES) {
        std::fs::remove_dir_all(path)?;
    }
    Ok(())
}

/// The driver that runs a cell's code: the wheel's kernel for Jupyter uses the server's own.
const CELL_DRIVER: &str = "runner/e2b/src/interpreter/driver.py";

/// Builds the wheel of the package for Python.
fn build_wheel(python: &Path, out: &Path) -> Result<()> {
    let built = kept::build_program(&PYTHON)?;
    let stage = env::cache()?.join(format!("sdk-python-{}", std::process::id()));
    copy_folder(&env::root().join("sdk/python"), &stage)?;
    copy_licences(&stage)?;
    write_notices(&stage, &["wasibox-python", "wasibox-cli"])?;
    let package = stage.join("python/wasibox");
    std::fs::create_dir_all(package.join("bin"))?;
    let (native, runner) = (package.join("_native.abi3.so"), package.join("bin/runner"));
    std::fs::copy(env::dist().join("runner"), &runner).context("dist/runner")?;
    std::fs::write(&native, &built.bytes)?;
    std::fs::copy(env::root().join(CELL_DRIVER), package.join("jupyter/driver.txt"))
        .context(CELL_DRIVER)?;
    // A wheel that was built elsewhere may have a different tag, and pip would get both.
    for name in sorted(out)?.iter().filter(|n| n.starts_with("wasibox-") && n.ends_with(".whl")) {
        std::fs::remove_file(out.join(name))?;
    }
    let platform = oldest_platform(python, &[&native, &runner])?;
    env::run(pip_wheel(python, &stage, out).env("WASIBOX_WHEEL_PLATFORM", platform))?;
    Ok(std::fs::remove_dir_all(&stage)?)
}

/// Returns the oldest Linux that all of these files run on, as a wheel's tag (for example
/// `manylinux_2_34_x86_64`). For a wheel, the files in it count.
fn oldest_platform(python: &Path, files: &[&Path]) -> Result<String> {
    let mut asked = Command::new(python);
    asked.arg(env::root().join("sdk/manylinux.py")).args(files);
    Ok(env::command_output(&mut asked)?.trim().to_string())
}

fn pip_wheel(python: &Path, from: &Path, to: &Path) -> Command {
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    pip.args(["--no-build-isolation", "-w"]).arg(to).arg(from);
    pip
}

/// Copies the licences of this project into a package.
pub fn copy_licences(to: &Path) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        std::fs::copy(env::root().join(name), to.join(name)).context(name)?;
    }
    Ok(())
}

/// Copies a folder's files, except the folders that builds and tests leave.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    for name in sorted(from)? {
        if ["__pycache__", "target", "node_modules", "dist"].contains(&name.as_str()) {
            continue;
        }
        let (source, target) = (from.join(&name), to.join(&name));
        if source.is_dir() {
            copy_folder(&source, &target)?;
        } else {
            std::fs::copy(&source, &target).with_context(|| name.clone())?;
        }
    }
    Ok(())
}

/// Returns names and sizes of some of the packages.
fn package_sizes(out: &Path, is_meant: impl Fn(&str) -> bool) -> Result<String> {
    let mut sizes = Vec::new();
    for name in sorted(out)?.iter().filter(|name| is_meant(name)) {
        let size = out.join(name).metadata()?.len();
        sizes.push(format!("{name} {:.1} MB", size as f64 / 1e6));
    }
    Ok(sizes.join(", "))
}

/// Returns the Python of an environment in the cache folder with the packages that a file pins.
pub fn make_venv(requirements: &str) -> Result<PathBuf> {
    let pins = env::root().join(requirements);
    let key = env::sha256(&env::read(&pins)?);
    let venv = env::cache()?.join(format!("sdk-venv-{}", &key[..16]));
    let python = venv.join("bin/python");
    if !venv.join("complete").exists() {
        env::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
        env::run(pip.arg(&pins))?;
        std::fs::write(venv.join("complete"), b"")?;
    }
    Ok(python)
}

/// Runs `cargo xtask sdk`: builds the packages and runs their tests where they are installed.
pub fn run() -> Result<ExitCode> {
    ensure!(dist::run(&dist::DistOptions::with_sdk())? == ExitCode::SUCCESS, "dist failed");
    test_packages()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the files of `dist/sdk` whose names end with `end`.
fn find_packages(end: &str) -> Result<Vec<PathBuf>> {
    let out = env::dist().join("sdk");
    let all = sorted(&out)?.into_iter().filter(|name| name.ends_with(end));
    let all: Vec<PathBuf> = all.map(|name| out.join(name)).collect();
    ensure!(!all.is_empty(), "no {end} in dist/sdk");
    Ok(all)
}

/// Returns the Python in which the package is installed for its tests.
pub fn installed_python() -> Result<PathBuf> {
    make_venv("sdk/python/requirements.txt")
}

/// Runs the packages' tests in an environment without other files of this project.
pub fn test_packages() -> Result<()> {
    let mut steps = Steps::new(2);
    steps.begin_step("the package for Python, installed");
    test_python()?;
    steps.end_step("ok");
    steps.begin_step("the package for Node, installed");
    node::test_package()?;
    steps.end_step("ok");
    Ok(())
}

/// Checks with auditwheel that the wheel's tag is exactly the one that its files need.
fn check_tag() -> Result<()> {
    let python = make_venv("sdk/build-requirements.txt")?;
    for wheel in
        find_packages(".whl")?.iter().filter(|path| path_file_name(path).starts_with("wasibox-"))
    {
        let platform = oldest_platform(&python, &[wheel])?;
        let is_true = platform.starts_with("manylinux_")
            && path_file_name(wheel).ends_with(&format!("-{platform}.whl"));
        ensure!(is_true, "auditwheel made no wheel for {platform} but {}", path_file_name(wheel));
    }
    Ok(())
}

fn path_file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn test_python() -> Result<()> {
    check_tag()?;
    let python = installed_python()?;
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
    env::run(pip.args(["--no-index", "--force-reinstall"]).args(find_packages(".whl")?))?;
    // The checkout is not on the path, so the tests import the installed package.
    let mut types = Command::new(&python);
    env::run(types.args(["-m", "mypy", "--strict", "--no-error-summary", "-p", "wasibox"]))?;
    let mut tests = Command::new(&python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
    let folder = env::root().join("sdk/python/tests");
    tests.env("WASIBOX_PACKAGES", env::dist().join("sdk"));
    env::run(tests.arg(&folder).current_dir(env::cache()?))?;
    let mut older = Command::new(&python);
    older
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg("-c")
        .arg(folder.join("pytest.ini"));
    older.arg(folder.join("test_deepagents.py")).current_dir(env::cache()?);
    env::run(
        older.env(
            "PYTHONPATH",
            overlay_packages(&python, "sdk/python/requirements-deepagents.txt")?,
        ),
    )
}

/// Returns a folder in the cache with the packages that a file pins, which precede those of an
/// environment.
fn overlay_packages(python: &Path, requirements: &str) -> Result<PathBuf> {
    let pins = env::root().join(requirements);
    let key = env::sha256(&env::read(&pins)?);
    let folder = env::cache()?.join(format!("sdk-over-{}", &key[..16]));
    if !folder.join("complete").exists() {
        let mut pip = Command::new(python);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]);
        env::run(pip.arg("--target").arg(&folder).arg("-r").arg(&pins))?;
        std::fs::write(folder.join("complete"), b"")?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_has_each_licence_once() {
        let licences = ["MIT OR Apache-2.0", "MIT", "BSD-3-Clause AND MIT", "GPL-2.0-only"];
        assert_eq!(
            licence_expression(licences.into_iter()),
            "BSD-3-Clause AND GPL-2.0-only AND MIT AND (MIT OR Apache-2.0)"
        );
        let exception = "MIT AND (Apache-2.0 WITH LLVM-exception)";
        assert_eq!(
            licence_expression([exception].into_iter()),
            "Apache-2.0 WITH LLVM-exception AND MIT"
        );
    }
}
