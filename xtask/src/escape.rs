//! `cargo xtask escape [--seconds N] [--seed N] [--target NAME]`: runs random hostile programs
//! until the time is over (20 minutes by default) or a program is not contained. `cargo xtask
//! escape PART-OF-A-NAME...` runs those of `tests/escape` whose names match; for example, `cargo
//! xtask escape /` runs all of them.

use std::process::ExitCode;

use anyhow::{Result, ensure};

use crate::{dist, env};

/// Options of `cargo xtask escape`.
#[derive(Debug, clap::Args)]
pub struct EscapeOptions {
    /// Programs of tests/escape; without names programs are made at random.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The duration in seconds.
    #[arg(long)]
    seconds: Option<u64>,
    /// The seed of the first program.
    #[arg(long)]
    seed: Option<u64>,
}

pub fn run(options: &EscapeOptions) -> Result<ExitCode> {
    ensure!(dist::run(&dist::DistOptions::default())? == ExitCode::SUCCESS, "dist failed");
    let mut all = options.names.clone();
    if all.is_empty() {
        all.push("--random".into());
    }
    for (name, value) in [("--seconds", options.seconds), ("--seed", options.seed)] {
        all.extend(value.into_iter().flat_map(|value| [name.to_owned(), value.to_string()]));
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
