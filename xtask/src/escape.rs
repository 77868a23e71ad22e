//! `cargo xtask escape [--seconds N] [--seed N] [--target NAME]`: runs random hostile programs
//! until the time is over (20 minutes by default) or a program is not contained. `cargo xtask
//! escape PART-OF-A-NAME...` runs those of `tests/escape` whose names match; for example, `cargo
//! xtask escape /` runs all of them.

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::{dist, env};

pub fn run(args: &[String]) -> Result<ExitCode> {
    ensure!(dist::run(&[])? == ExitCode::SUCCESS, "dist failed");
    let mut values = false;
    let named = args.iter().any(|a| {
        // The argument after an option is its value.
        let name = !values && !a.starts_with("--");
        values = !values && a.starts_with("--");
        name
    });
    let mut all = args.to_vec();
    if !named {
        all.insert(0, "--random".into());
    }
    run_suite(&all)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs the suite with its own arguments, or all of its files without arguments. It is built in the
/// cache folder, where Wasmer is, because it embeds the library.
pub fn run_suite(args: &[String]) -> Result<()> {
    let mut cmd = env::cached_cargo()?;
    cmd.args(["test", "--locked", "--release", "-p", "wasibox-escape"]);
    cmd.args(["--test", "escape", "--"]).args(args);
    env::run(cmd.env("WASIBOX_DIST", env::dist()))
}

/// Runs the short form for the test command: the jail around a kernel with a hole (`holes.rs`), and
/// each file on one of the targets.
pub fn run_short() -> Result<()> {
    let mut cmd = env::cached_cargo()?;
    cmd.args(["test", "--locked", "--release", "-p", "wasibox-escape", "--test", "holes"]);
    env::run(cmd.env("WASIBOX_DIST", env::dist()))?;
    run_suite(&["--share".into()])
}
