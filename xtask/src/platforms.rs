//! `cargo xtask platforms`: checks that the crates compile for platforms whose programs cannot run
//! on this machine. `--run` builds the command line for Linux on aarch64 with Debian's cross
//! compiler and runs the tests of the portable crates under `qemu-user`.
//!
//! qemu-user lacks the timers that signal a thread, which the sandbox needs to interrupt guests.
//! Under it, therefore, the command line only prints its version and runs no guest.
//!
//! `cargo check` checks types and links nothing. The build scripts of crates that contain C still
//! run; `ci/cc-for-checks` replaces the C compiler that they call, because its output is not used.
//! A check therefore does not cover C code, linking, or the behaviour of a program, and
//! `docs/platforms.md` distinguishes checked platforms from tested ones.
//!
//! The task has a target folder of its own, because its profiles and targets differ from those of
//! other tasks; crates from the registry are checked only once.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::env;

/// The crates that do not need Linux.
const PORTABLE: &[&str] = &[
    "wasibox-image",
    "wasibox-vfs",
    "wasibox-kernel",
    "wasibox-snapshot",
    "wasibox-bucket",
    "wasibox-store",
    "wasibox-files",
    "wasibox-workspace",
    "wasibox-bridge",
];

/// The crates that need the jail and the engine: the command line and the packages.
const HOST: &[&str] = &["wasibox-cli", "wasibox-sdk", "wasibox-python", "wasibox-node"];

/// The targets, with the crates that are checked for each.
const CHECKED: &[(&str, &[&[&str]])] = &[
    ("aarch64-unknown-linux-gnu", &[PORTABLE, HOST]),
    ("aarch64-apple-darwin", &[PORTABLE]),
    ("x86_64-apple-darwin", &[PORTABLE]),
];

/// The targets that `cargo xtask test` checks. For macOS one architecture is enough, because the
/// code does not distinguish the two.
const USUAL: [&str; 2] = ["aarch64-unknown-linux-gnu", "aarch64-apple-darwin"];

/// The target that is built and run, its compilers, and the folder of its C library.
const FOREIGN: &str = "aarch64-unknown-linux-gnu";
const COMPILERS: [&str; 2] = ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"];
const EMULATOR: &str = "qemu-aarch64-static";
const SYSROOT: &str = "/usr/aarch64-linux-gnu";

/// Tests that cannot run under qemu. One starts itself as another process, which this machine's
/// kernel cannot run. One mounts `/`, for which qemu uses [`SYSROOT`]. One expects `openat2`'s
/// error for a link on the path; qemu lacks that call, and the walk that replaces it returns
/// ENOTDIR.
const NOT_EMULATED: [&str; 3] = [
    "a_killed_process_loses_the_call_that_ran",
    "the_kernels_file_systems_are_refused",
    "nothing_is_written_outside_of_the_folder",
];

/// Options of `cargo xtask platforms`.
#[derive(Debug, clap::Args)]
pub struct PlatformsOptions {
    /// Build and run what qemu can instead.
    #[arg(long, conflicts_with = "targets")]
    run: bool,
    /// The targets to check; all by default.
    #[arg(value_name = "TARGET", value_parser = CHECKED.iter().map(|(name, _)| *name).collect::<Vec<_>>())]
    targets: Vec<String>,
}

impl PlatformsOptions {
    /// Returns the options that select the targets of `cargo xtask test`.
    pub fn usual() -> PlatformsOptions {
        PlatformsOptions { run: false, targets: USUAL.map(String::from).to_vec() }
    }
}

/// Checks all targets, or the given ones.
pub fn run(options: &PlatformsOptions) -> Result<ExitCode> {
    if options.run {
        run_emulated()?;
        return Ok(ExitCode::SUCCESS);
    }
    let meant = |target: &str| {
        options.targets.is_empty() || options.targets.iter().any(|name| name == target)
    };
    for (target, crates) in CHECKED.iter().filter(|(target, _)| meant(target)) {
        check_target(target, crates).with_context(|| format!("for {target}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_target(target: &str, crates: &[&[&str]]) -> Result<()> {
    env::ensure_target(target)?;
    let mut cargo = env::cargo_in("platforms")?;
    cargo.args(["check", "--quiet", "--locked", "--target", target]);
    for name in crates.iter().copied().flatten() {
        cargo.args(["-p", name]);
    }
    // Code that is only checked needs no debug information and no incremental builds; without them
    // the folder is 1.1 GB smaller.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let compiler = env::root().join("ci/cc-for-checks");
    // `CC` is not set, because build scripts themselves may need this machine's C compiler.
    env::run(cargo.env("TARGET_CC", &compiler).env("TARGET_CXX", &compiler))
}

/// Builds the command line for [`FOREIGN`], and runs it and the tests of [`PORTABLE`].
fn run_emulated() -> Result<()> {
    for program in [COMPILERS[0], COMPILERS[1], EMULATOR] {
        let is_there = Command::new(program).arg("--version").output().is_ok();
        let packages = "g++-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static";
        ensure!(is_there, "there is no {program}: apt-get install {packages}");
    }
    env::ensure_target(FOREIGN)?;
    let cargo = |what: &str| -> Result<Command> {
        let mut cargo = env::cargo_in("platforms")?;
        cargo.args([what, "--locked", "--release", "--target", FOREIGN]);
        let name = FOREIGN.replace('-', "_");
        cargo.env(format!("CC_{name}"), COMPILERS[0]).env(format!("CXX_{name}"), COMPILERS[1]);
        let name = name.to_uppercase();
        cargo.env(format!("CARGO_TARGET_{name}_LINKER"), COMPILERS[0]);
        let emulator = format!("{EMULATOR} -L {SYSROOT}");
        cargo.env(format!("CARGO_TARGET_{name}_RUNNER"), emulator);
        cargo.env("CARGO_INCREMENTAL", "0");
        Ok(cargo)
    };
    env::run(cargo("run")?.args(["-p", "wasibox-cli", "--", "--version"]))?;
    let mut tests = cargo("test")?;
    for name in PORTABLE {
        tests.args(["-p", name]);
    }
    tests.arg("--");
    for name in NOT_EMULATED {
        tests.args(["--skip", name]);
    }
    env::run(&mut tests)
}
