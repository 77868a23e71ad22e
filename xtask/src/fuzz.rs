//! `cargo xtask fuzz`: the fuzzers of `tests/fuzz`.
//!
//! `shell`, the default, runs random scripts in bash and in this shell (stable Rust). `javascript` calls the bindings of the image's `node` with random values
//! (`tests/fuzz/javascript.cjs`). `worker` sends the parent what a hijacked worker could send
//! (`runner/session/src/worker/fuzz.rs`, stable Rust). The other targets use libFuzzer through
//! cargo-fuzz and need a nightly toolchain: `parser expand arith glob regex printf snapshot store
//! zip files request push`, or `all` for one after another.

use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::env;
use crate::test::{HOST_FEATURES, host_crates};

/// The libFuzzer targets.
const TARGETS: &[&str] = &[
    "parser", "expand", "arith", "glob", "regex", "printf", "snapshot", "store", "zip", "files",
    "request", "push",
];

/// The version that is installed into the cache folder on first use.
const CARGO_FUZZ: &str = "0.13.1";

/// The maximum time for one input in seconds, and the maximum memory in MiB.
const INPUT_SECONDS: u32 = 10;
const MEMORY: u32 = 2048;

/// The names of all fuzzers.
fn target_names() -> Vec<&'static str> {
    ["shell", "javascript", "worker", "all"].iter().chain(TARGETS).copied().collect()
}

/// Options of `cargo xtask fuzz`.
#[derive(Debug, clap::Args)]
pub struct FuzzOptions {
    /// The fuzzer: shell compares random scripts with bash; all runs the targets of libFuzzer, one
    /// after another.
    #[arg(value_parser = target_names(), default_value = "shell")]
    target: String,
    /// The duration in seconds.
    #[arg(long, value_name = "N")]
    seconds: Option<u32>,
    /// The seed of the first input.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// For shell: run the scripts in dist/image.webc instead of the native shell.
    #[arg(long)]
    image: bool,
    /// For shell: options of tests/fuzz/differ.
    #[arg(last = true, value_name = "OPTION")]
    differ: Vec<String>,
}

/// Runs a fuzzer.
pub fn run(options: &FuzzOptions) -> Result<ExitCode> {
    let of_differ = options.image || !options.differ.is_empty();
    ensure!(options.target == "shell" || !of_differ, "{} has no options of shell", options.target);
    let time = FuzzTime { seconds: options.seconds.unwrap_or(USUAL_SECONDS), seed: options.seed };
    match options.target.as_str() {
        "shell" => {
            let mut words = options.differ.clone();
            for (name, value) in
                [("--seconds", options.seconds.map(u64::from)), ("--seed", options.seed)]
            {
                words.extend(value.into_iter().flat_map(|n| [name.to_owned(), n.to_string()]));
            }
            fuzz_shell(options.image, &words)
        }
        "javascript" => fuzz_javascript(&time),
        "worker" => fuzz_worker(&time),
        "all" => {
            for target in TARGETS {
                run_libfuzzer(target, &time)?;
            }
            Ok(ExitCode::SUCCESS)
        }
        target => run_libfuzzer(target, &time),
    }
}

/// The usual duration in seconds of all fuzzers but that of the shell.
const USUAL_SECONDS: u32 = 60;

/// The duration of a fuzzer in seconds and its seed.
struct FuzzTime {
    seconds: u32,
    seed: Option<u64>,
}

/// Runs the differential fuzzer against the native shell or against the image in `dist`.
fn fuzz_shell(image: bool, options: &[String]) -> Result<ExitCode> {
    env::run(env::cargo().args(["build", "--locked", "-p", "box", "-p", "wasibox-differ"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| env::root().join("target"), PathBuf::from);
    let mut cmd = Command::new(target.join("debug/wasibox-differ"));
    if image {
        cmd.arg("--image").arg(env::dist());
    } else {
        cmd.arg("--box").arg(target.join("debug/box"));
    }
    let status = cmd.args(options).status()?;
    Ok(ExitCode::from(u8::try_from(status.code().unwrap_or(2)).unwrap_or(2)))
}

/// The number of scripts of each run from the fixed seed, which must not depend on the machine's
/// speed, and the seconds of each run from a fresh one.
const FIXED_SCRIPTS: &str = "160";
const FRESH_SECONDS: &str = "15";

/// Compares constructs in various places with bash, natively and in the image, from a fixed seed
/// and a fresh one. A difference from the fresh seed is only reported, because a change must not
/// fail over something that it did not touch. The whole grammar is not run here, because bash would
/// run its scripts with the rights of this user.
///
/// # Errors
/// Returns an error if a script from the fixed seed differs, after printing that script and its
/// seed. Without bash 5.2 nothing is compared.
pub fn compare_with_bash() -> Result<()> {
    const FIXED: u64 = 1;
    let version =
        env::command_output(Command::new("/bin/bash").args(["-c", "echo $BASH_VERSION"]))?;
    if !version.starts_with("5.2") {
        eprintln!("no bash 5.2 here: nothing to compare with");
        return Ok(());
    }
    let fresh = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_secs();
    for image in [false, true] {
        let is_same = compare_from_seed(image, FIXED, ["--count", FIXED_SCRIPTS])?;
        ensure!(is_same, "the shell differs from bash");
        if !compare_from_seed(image, fresh, ["--seconds", FRESH_SECONDS])? {
            eprintln!(
                "the shell differs from bash, from the fresh seed {fresh}: look at it, and mend it or add a row to docs/deviations.md"
            );
        }
    }
    Ok(())
}

/// Prints the command that repeats this run of the differential fuzzer, and runs it as long as
/// `extent` says. Returns whether there was no difference.
fn compare_from_seed(image: bool, seed: u64, extent: [&str; 2]) -> Result<bool> {
    let seed = seed.to_string();
    let mut words = ["--places", "--seed", &seed].map(String::from).to_vec();
    words.extend(extent.map(String::from));
    println!(
        "cargo xtask fuzz shell{} -- {}",
        if image { " --image" } else { "" },
        words.join(" ")
    );
    words.extend(["--shrink", "60"].map(String::from));
    Ok(fuzz_shell(image, &words)? == ExitCode::SUCCESS)
}

/// The number of calls of one guest, and the seconds that they may take.
const CALLS: u64 = 4000;
const GUEST_SECONDS: &str = "120";

/// Runs guests one after another, each with its own seed, until the time is over or one fails. A
/// failure is a trap or a panic of the program or of the runner, or a call that does not return.
fn fuzz_javascript(time: &FuzzTime) -> Result<ExitCode> {
    let (begun, first) = (Instant::now(), time.seed.unwrap_or(1));
    let dist = env::dist();
    let mounted = format!("{}:/fuzz:ro", env::root().join("tests/fuzz").display());
    for seed in first.. {
        let mut cmd = Command::new(dist.join("runner"));
        cmd.args(["exec", "--no-stdin", "--memory", "2G", "--timeout", GUEST_SECONDS, "--mount"]);
        cmd.arg(&mounted).arg(dist.join("image.webc"));
        cmd.args(["--", "node", "--expose-internals", "--no-warnings", "/fuzz/javascript.cjs"]);
        let done = cmd.args([seed.to_string(), CALLS.to_string()]).output();
        let done = done.context("no dist/runner; run cargo xtask dist first")?;
        if !done.status.success() {
            let lines = String::from_utf8_lossy(&done.stderr).into_owned();
            let lines: Vec<&str> = lines.lines().rev().take(12).collect();
            eprintln!("{}", lines.into_iter().rev().collect::<Vec<_>>().join("\n"));
            eprintln!(
                "seed {seed}: {} (javascript.cjs {seed} {CALLS} trace tells the call)",
                done.status
            );
            return Ok(ExitCode::FAILURE);
        }
        if begun.elapsed().as_secs() >= u64::from(time.seconds) {
            let guests = seed - first + 1;
            println!("{} calls of {guests} guests, nothing found", guests * CALLS);
            break;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs the fuzzer of the messages that a worker sends to its parent.
fn fuzz_worker(time: &FuzzTime) -> Result<ExitCode> {
    // All crates of the host with their features, because another set would build Wasmer again.
    let mut cmd = env::cached_cargo()?;
    host_crates(&mut cmd, &["test", "--locked", "--release", "--features", HOST_FEATURES]);
    cmd.args(["--lib", "worker::fuzz", "--", "--nocapture"]);
    cmd.env("WASIBOX_FUZZ_SECONDS", time.seconds.to_string());
    if let Some(seed) = time.seed {
        cmd.env("WASIBOX_FUZZ_SEED", seed.to_string());
    }
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}

/// Runs one target, starting from the corpus in `tests/fuzz/seeds` and the inputs found by earlier
/// runs.
fn run_libfuzzer(target: &str, time: &FuzzTime) -> Result<ExitCode> {
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
    cmd.arg("--").arg(format!("-max_total_time={}", time.seconds));
    cmd.arg(format!("-timeout={INPUT_SECONDS}")).arg(format!("-rss_limit_mb={MEMORY}"));
    cmd.args(["-max_len=2048", "-print_final_stats=1"]);
    if let Some(seed) = time.seed {
        cmd.arg(format!("-seed={seed}"));
    }
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}

/// Compiles all libFuzzer targets without running them. Their workspace is not the main one, so
/// nothing else would notice that a name in them is gone.
///
/// # Errors
/// Returns an error if one does not compile.
pub fn check_targets() -> Result<()> {
    let mut cmd = env::cached_cargo()?;
    cmd.args(["check", "--locked", "--all-targets", "--manifest-path"]);
    env::run(cmd.arg(env::root().join("tests/fuzz/Cargo.toml")))?;
    Ok(())
}

/// Returns a command that runs another program under nightly Rust, with the same environment, in
/// the checkout's root.
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

/// Returns the path of `cargo-fuzz`, which is installed if needed.
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
