//! Checks licences and advisories of dependencies, with cargo-deny and the rules in `deny.toml`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::env;

/// The version that is installed if none is found.
const VERSION: &str = "^0.18";

/// Runs the checks. The advisory database is fetched from its public repository; if that cannot be
/// reached, the other checks still count and a warning is printed.
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

/// Returns the path of cargo-deny, from PATH or the cache folder, where it is built if it is
/// missing.
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
