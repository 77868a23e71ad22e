//! Measurements against peers, always as ratios within one run.

use std::process::ExitCode;

use anyhow::Result;

/// `cargo xtask bench [NAME...]`.
pub fn run(_args: &[String]) -> Result<ExitCode> {
    anyhow::bail!("no benchmarks yet")
}
