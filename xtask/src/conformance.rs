//! Scores `dist/` with an external collection of cases: a folder with `score.py` and
//! `cases/*.jsonl`, kept outside the project.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::env;

/// `cargo xtask conformance [DIR] [ARG...]`: further arguments go to the scorer. The
/// table is printed and written to `dist/conformance.json`.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let (dir, rest) = match args.split_first() {
        Some((first, rest)) if !first.starts_with('-') => (Some(PathBuf::from(first)), rest),
        _ => (std::env::var_os("CONFORMANCE_DIR").map(PathBuf::from), args),
    };
    let dir = dir.context("give a folder with score.py, or set CONFORMANCE_DIR")?;
    let scorer = dir.join("score.py");
    ensure!(scorer.is_file(), "{}: no such file", scorer.display());
    let dist = env::dist();
    let mut cmd = Command::new("python3");
    cmd.arg(&scorer).args(["--target", "box", "--json"]).arg(dist.join("conformance.json"));
    cmd.args(rest).env("RUNNER", dist.join("runner")).env("IMAGE", dist.join("image.webc"));
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}
