//! `cargo xtask platforms`: checks that our crates compile for platforms that nothing here can run.
//!
//! `cargo check` types everything and links nothing. Build scripts of crates with C in them run all the same; `ci/cc-for-checks` stands for
//! the C compiler that they ask for, since nobody reads what it would make. So a check says nothing of foreign C, of linking, nor of what
//! a program does there: `docs/platforms.md` tells checked and run apart.
//!
//! Its target folder is its own, as other profiles' and targets' artifacts are; what is foreign is checked once.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::env;

/// What has no need of Linux: image, file system, kernel, snapshots and their store, files, requests out.
const PORTABLE: &[&str] = &[
    "wasibox-image",
    "wasibox-vfs",
    "wasibox-kernel",
    "wasibox-snapshot",
    "wasibox-store",
    "wasibox-files",
    "wasibox-workspace",
    "wasibox-bridge",
];

/// With the jail, the engine and all that rests on them: the command line and the packages.
const HOST: &[&str] = &["wasibox-cli", "wasibox-sdk", "wasibox-python", "wasibox-node"];

/// Targets, and what is checked for them.
const CHECKED: &[(&str, &[&[&str]])] = &[
    ("aarch64-unknown-linux-gnu", &[PORTABLE, HOST]),
    ("aarch64-apple-darwin", &[PORTABLE]),
    ("x86_64-apple-darwin", &[PORTABLE]),
];

/// What `cargo xtask test` checks: of macOS one processor, since nothing of ours tells them apart.
pub const USUAL: [&str; 2] = ["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// Checks all of them, or those that are named.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let is_known = |name: &String| CHECKED.iter().any(|(target, _)| target == name);
    if let Some(other) = args.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = CHECKED.iter().map(|(target, _)| *target).collect();
        eprintln!("xtask platforms: '{other}' is none of {}", known.join(", "));
        return Ok(ExitCode::from(2));
    }
    let meant = |target: &str| args.is_empty() || args.iter().any(|name| name == target);
    for (target, crates) in CHECKED.iter().filter(|(target, _)| meant(target)) {
        check(target, crates).with_context(|| format!("for {target}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check(target: &str, crates: &[&[&str]]) -> Result<()> {
    env::ensure_target(target)?;
    let mut cargo = env::cargo_in("platforms")?;
    cargo.args(["check", "--quiet", "--locked", "--target", target]);
    for name in crates.iter().copied().flatten() {
        cargo.args(["-p", name]);
    }
    // Nobody runs or changes what is foreign: 1.1 GB less.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let compiler = env::root().join("ci/cc-for-checks");
    // Not `CC`: build scripts themselves may want C of this machine.
    env::run(cargo.env("TARGET_CC", &compiler).env("TARGET_CXX", &compiler))
}
