//! `cargo xtask doors --e2b [SOURCES]`: frameworks with a backend for E2B, the suites of E2B's
//! packages, and requests that are generated from its OpenAPI documents, against `runner serve --e2b`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::env;

/// The repositories below the folder of sources.
const REPOSITORIES: &[&str] = &["E2B", "code-interpreter"];

/// Runs agents of the frameworks, whose models are scripted.
pub fn run_frameworks() -> Result<()> {
    let ours = env::root().join("tests/doors/e2b/frameworks");
    let (venv, modules) = (prepare_python(&ours)?, prepare_node(&ours)?);
    run_program(&ours, &venv, &modules, None)
}

/// Runs the suites, then generated requests. `sources` has clones of the repositories; `tests/doors/e2b/run.py` names their
/// commits.
pub fn run_suites(sources: &Path) -> Result<()> {
    for name in REPOSITORIES {
        let folder = sources.join(name);
        ensure!(folder.is_dir(), "no clone of e2b-dev/{name} at {}", folder.display());
    }
    let ours = env::root().join("tests/doors/e2b");
    let (venv, modules) = (prepare_python(&ours)?, prepare_node(&ours)?);
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

fn prepare_python(ours: &Path) -> Result<PathBuf> {
    let requirements = ours.join("requirements.txt");
    let key = env::sha256(&env::read(&requirements)?);
    let venv = env::cache()?.join(format!("e2b-venv-{}", &key[..16]));
    if !venv.join("complete").exists() {
        env::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
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
