//! `cargo xtask doors --e2b [SOURCES]`: frameworks with a backend for E2B, the suites of E2B's
//! packages, and requests that are generated from its OpenAPI documents, against `runner serve --e2b`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::env;

/// The repositories below the folder of sources.
const REPOSITORIES: &[&str] = &["E2B", "code-interpreter"];

/// The versions of Python that OpenHands runs on, and the variable that names another program.
const OPENHANDS_PYTHONS: &[&str] = &["python3.12", "python3.13"];
const OPENHANDS_PYTHON: &str = "WASIBOX_OPENHANDS_PYTHON";

/// Runs agents of the frameworks, whose models are scripted.
pub fn run_frameworks() -> Result<()> {
    let ours = env::root().join("tests/doors/e2b/frameworks");
    let (venv, modules) = (prepare_python(&ours, "python3")?, prepare_node(&ours)?);
    run_program(&ours, &venv, &modules, None)?;
    run_openhands()
}

/// Runs OpenHands, which needs a Python that the other frameworks do not, if there is one.
fn run_openhands() -> Result<()> {
    let ours = env::root().join("tests/doors/e2b/openhands");
    let given = std::env::var(OPENHANDS_PYTHON).ok();
    let candidates = given.as_deref().map_or(OPENHANDS_PYTHONS.to_vec(), |given| vec![given]);
    // pyenv has a program for each version that it knows, which fails if the version is not chosen.
    let runs = |name: &&&str| {
        Command::new(**name).arg("--version").output().is_ok_and(|o| o.status.success())
    };
    let Some(python) = candidates.iter().find(runs) else {
        let names = candidates.join(", ");
        println!("OpenHands: not tried, there is no {names} ({OPENHANDS_PYTHON} names another)");
        return Ok(());
    };
    let venv = prepare_python(&ours, python)?;
    let mut program = Command::new(venv.join("bin/python"));
    program.arg(ours.join("run.py"));
    env::run(program.args([env::dist().join("runner"), env::dist().join("image.webc")]))
}

/// Runs the suites, then generated requests. `sources` has clones of the repositories; `tests/doors/e2b/run.py` names their
/// commits.
pub fn run_suites(sources: &Path) -> Result<()> {
    for name in REPOSITORIES {
        let folder = sources.join(name);
        ensure!(folder.is_dir(), "no clone of e2b-dev/{name} at {}", folder.display());
    }
    let ours = env::root().join("tests/doors/e2b");
    let (venv, modules) = (prepare_python(&ours, "python3")?, prepare_node(&ours)?);
    run_program(&ours, &venv, &modules, Some(sources))?;
    let mut specification = Command::new(venv.join("bin/python"));
    specification
        .arg(ours.join("specification.py"))
        .args([env::dist().join("runner"), env::dist().join("image.webc")]);
    env::run(specification.arg(sources))
}

/// Runs a folder's `run.py` with runner, image and modules.
fn run_program(ours: &Path, venv: &Path, modules: &Path, sources: Option<&Path>) -> Result<()> {
    let mut program = Command::new(venv.join("bin/python"));
    program
        .arg(ours.join("run.py"))
        .args([env::dist().join("runner"), env::dist().join("image.webc")]);
    env::run(program.arg(modules).args(sources))
}

/// Returns an environment of `interpreter` with the packages that a folder's `requirements.txt` pins.
fn prepare_python(ours: &Path, interpreter: &str) -> Result<PathBuf> {
    let requirements = ours.join("requirements.txt");
    let key = env::sha256(&env::read(&requirements)?);
    let venv = env::cache()?.join(format!("e2b-venv-{}", &key[..16]));
    if !venv.join("complete").exists() {
        env::run(Command::new(interpreter).args(["-m", "venv", "--clear"]).arg(&venv))?;
        let mut pip = Command::new(venv.join("bin/python"));
        env::run(pip.args(["-m", "pip", "install", "--quiet", "-r"]).arg(&requirements))?;
        std::fs::write(venv.join("complete"), b"")?;
    }
    Ok(venv)
}

fn prepare_node(ours: &Path) -> Result<PathBuf> {
    let package = ours.join("package.json");
    let key = env::sha256(&env::read(&package)?);
    let node = env::cache()?.join(format!("e2b-node-{}", &key[..16]));
    if !node.join("complete").exists() {
        std::fs::create_dir_all(&node)?;
        std::fs::copy(&package, node.join("package.json")).context("package.json")?;
        let mut npm = Command::new("npm");
        env::run(npm.args(["install", "--silent", "--no-audit", "--no-fund"]).current_dir(&node))?;
        std::fs::write(node.join("complete"), b"")?;
    }
    Ok(node.join("node_modules"))
}
