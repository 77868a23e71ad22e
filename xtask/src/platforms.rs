//! `cargo xtask platforms`: checks that our crates compile for platforms that nothing here can run. `--run` builds the command line
//! for Linux on aarch64 by Debian's cross compiler and runs the tests of what is portable under `qemu-user`.
//!
//! qemu-user has no timers that signal a thread, which the sandbox interrupts guests by: the command line says its version there, and
//! runs no guest.
//!
//! `cargo check` types everything and links nothing. Build scripts of crates with C in them run all the same; `ci/cc-for-checks` stands for
//! the C compiler that they ask for, since nobody reads what it would make. So a check says nothing of foreign C, of linking, nor of what
//! a program does there: `docs/platforms.md` tells checked and run apart.
//!
//! Its target folder is its own, as other profiles' and targets' artifacts are; what is foreign is checked once.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

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

/// What is built and run, by which compilers, and the folder of its C library.
const FOREIGN: &str = "aarch64-unknown-linux-gnu";
const COMPILERS: [&str; 2] = ["aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"];
const EMULATOR: &str = "qemu-aarch64-static";
const SYSROOT: &str = "/usr/aarch64-linux-gnu";

/// Starts itself as another process, which the kernel here cannot run; mounts `/`, for which qemu gives it [`SYSROOT`]; wants
/// `openat2`'s error for a link on the way, where qemu has none and the walk in its place says ENOTDIR.
const NOT_EMULATED: [&str; 3] = [
    "a_killed_process_loses_the_call_that_ran",
    "the_kernels_file_systems_are_refused",
    "nothing_is_written_elsewhere",
];

/// Checks all of them, or those that are named.
pub fn run(args: &[String]) -> Result<ExitCode> {
    if args == ["--run"] {
        run_emulated()?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_known = |name: &String| CHECKED.iter().any(|(target, _)| target == name);
    if let Some(other) = args.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = CHECKED.iter().map(|(target, _)| *target).collect();
        eprintln!("xtask platforms: '{other}' is none of {}", known.join(", "));
        return Ok(ExitCode::from(2));
    }
    let meant = |target: &str| args.is_empty() || args.iter().any(|name| name == target);
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
    // Nobody runs or changes what is foreign: 1.1 GB less.
    cargo.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    let compiler = env::root().join("ci/cc-for-checks");
    // Not `CC`: build scripts themselves may want C of this machine.
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
