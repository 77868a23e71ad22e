//! Licences and advisories of dependencies, by cargo-deny with the rules in `deny.toml`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::env;

/// The version that is installed where none is found.
const VERSION: &str = "^0.18";

/// Runs the checks. The advisory database is fetched from its public repository; where that cannot be
/// reached the other checks still count and a warning says so.
pub fn run() -> Result<ExitCode> {
    let tool = install_deny()?;
    let check = |what: &[&str]| {
        let mut cmd = Command::new(&tool);
        cmd.current_dir(env::root()).arg("check").args(what);
        cmd
    };
    env::run(&mut check(&["--hide-inclusion-graph", "licenses", "bans", "sources"]))?;
    let advisories = check(&["advisories"]).output()?;
    let text = String::from_utf8_lossy(&advisories.stderr);
    if advisories.status.success() {
        eprintln!("advisories ok");
    } else if text.contains("failed to fetch advisory database")
        || text.contains("failed to load advisory database")
    {
        eprintln!("warning: advisories not checked: the database cannot be reached");
    } else {
        eprint!("{text}");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// cargo-deny from PATH or our cache folder, built there if it is missing.
fn install_deny() -> Result<PathBuf> {
    let in_path = Command::new("cargo-deny").arg("--version").output();
    if in_path.is_ok_and(|o| o.status.success()) {
        return Ok("cargo-deny".into());
    }
    let root = env::cache()?.join("tools");
    let tool = root.join("bin/cargo-deny");
    if !tool.exists() {
        eprintln!("installing cargo-deny {VERSION} into {}", root.display());
        let mut cmd = Command::new("cargo");
        cmd.args(["install", "--quiet", "--locked", "cargo-deny", "--version", VERSION, "--root"]);
        env::run(cmd.arg(&root))?;
    }
    Ok(tool)
}
