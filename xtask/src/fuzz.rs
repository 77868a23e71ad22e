//! `cargo xtask fuzz [TARGET] [--seconds N] [--seed N]`: the fuzzers of `tests/fuzz`.
//!
//! `shell`, the default, runs scripts at random with bash and with ours (stable Rust); its
//! further options are those of `tests/fuzz/differ`. The other targets are libFuzzer's, by
//! cargo-fuzz, and need a nightly toolchain: `parser expand arith glob regex printf
//! snapshot store zip files request policy`, or `all` for one after another.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail, ensure};

use crate::env;

/// The libFuzzer targets.
const TARGETS: &[&str] = &[
    "parser", "expand", "arith", "glob", "regex", "printf", "snapshot", "store", "zip", "files",
    "request", "policy",
];

/// Installed into the cache folder when it is first needed.
const CARGO_FUZZ: &str = "0.13.1";

/// Longest time for one input, in seconds, and most memory, in MiB.
const INPUT_SECONDS: u32 = 10;
const MEMORY: u32 = 2048;

pub fn run(args: &[String]) -> Result<ExitCode> {
    let (target, rest) = match args.split_first() {
        Some((first, rest)) if !first.starts_with('-') => (first.as_str(), rest),
        _ => ("shell", args),
    };
    match target {
        "shell" => shell(rest),
        "all" => {
            for target in TARGETS {
                libfuzzer(target, rest)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        t if TARGETS.contains(&t) => libfuzzer(t, rest),
        other => bail!("no fuzz target '{other}': shell, all, {}", TARGETS.join(", ")),
    }
}

/// The differential fuzzer.
fn shell(rest: &[String]) -> Result<ExitCode> {
    env::run(env::cargo().args(["build", "--locked", "-p", "box", "-p", "wasibox-differ"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| env::root().join("target"), PathBuf::from);
    let mut cmd = Command::new(target.join("debug/wasibox-differ"));
    let status = cmd.arg("--box").arg(target.join("debug/box")).args(rest).status()?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(2)).unwrap_or(2)))
}

/// One target for `--seconds` (default 60), from the corpus in `tests/fuzz/seeds` and what
/// earlier runs found.
fn libfuzzer(target: &str, rest: &[String]) -> Result<ExitCode> {
    let (mut seconds, mut seed) = (60_u32, None);
    let mut options = rest.iter();
    while let Some(option) = options.next() {
        let value = options.next().with_context(|| format!("{option} needs a value"))?;
        match option.as_str() {
            "--seconds" => seconds = value.parse().context("--seconds")?,
            "--seed" => seed = Some(value.parse::<u32>().context("--seed")?),
            _ => bail!("no option {option} for {target}"),
        }
    }
    let nightly = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    ensure!(
        nightly.is_ok_and(|o| o.status.success()),
        "the target {target} needs nightly Rust: rustup toolchain install nightly \
         (cargo xtask fuzz shell does without)"
    );
    let fuzz = env::root().join("tests/fuzz");
    let corpus = fuzz.join("corpus").join(target);
    std::fs::create_dir_all(&corpus)?;
    let mut cmd = env::cargo();
    cmd.env_remove("RUSTUP_TOOLCHAIN").env_remove("CARGO");
    let mut cmd = replace_program(&cmd, cargo_fuzz()?);
    cmd.args(["fuzz", "run", "--fuzz-dir"]).arg(&fuzz).arg("--sanitizer").arg("none");
    cmd.arg(target).arg(&corpus);
    let seeds = fuzz.join("seeds").join(target);
    if seeds.is_dir() {
        cmd.arg(seeds);
    }
    cmd.arg("--").arg(format!("-max_total_time={seconds}"));
    cmd.arg(format!("-timeout={INPUT_SECONDS}")).arg(format!("-rss_limit_mb={MEMORY}"));
    cmd.args(["-max_len=2048", "-print_final_stats=1"]);
    if let Some(seed) = seed {
        cmd.arg(format!("-seed={seed}"));
    }
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}

/// The same environment and folder for another program, under nightly.
fn replace_program(like: &Command, program: PathBuf) -> Command {
    let mut cmd = Command::new(program);
    cmd.current_dir(env::root()).env("RUSTUP_TOOLCHAIN", "nightly");
    for (name, value) in like.get_envs() {
        match value {
            Some(value) => cmd.env(name, value),
            None => cmd.env_remove(name),
        };
    }
    cmd.env("RUSTUP_TOOLCHAIN", "nightly");
    cmd
}

/// The program `cargo-fuzz`, installed if it is not there yet.
fn cargo_fuzz() -> Result<PathBuf> {
    let root = env::cache()?.join(format!("cargo-fuzz-{CARGO_FUZZ}"));
    let program = root.join("bin/cargo-fuzz");
    if !program.is_file() {
        let mut cmd = env::cargo();
        cmd.args([
            "install",
            "--locked",
            "--quiet",
            "cargo-fuzz",
            "--version",
            CARGO_FUZZ,
            "--root",
        ]);
        env::run(cmd.arg(&root))?;
    }
    Ok(program)
}
