//! `cargo xtask test`: runs every check, the cheapest first.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::dist::DistOptions;
use crate::platforms::PlatformsOptions;
use crate::progress::Steps;
use crate::tidy::TidyOptions;
use crate::{cases, deny, dist, env, escape, fuzz, platforms, sdk, tidy, web};

/// Crates that depend on Wasmer. They are built in the cache folder, in the profile of `dist`, so
/// that Wasmer is compiled once.
const HOST: &[&str] = &[
    "wasibox-vfs",
    "wasibox-kernel",
    "wasibox-sandbox",
    "wasibox",
    "wasibox-providers",
    "wasibox-actions",
    "wasibox-mcp",
    "wasibox-http",
    "wasibox-e2b",
    "wasibox-chat",
    "wasibox-cli",
    "wasibox-image",
    "wasibox-sdk",
    "wasibox-python",
    "wasibox-node",
];

/// Features of those crates that are off in the runner.
pub const HOST_FEATURES: &str = "wasibox-http/opentelemetry";

/// Options of `cargo xtask test`.
#[derive(Debug, clap::Args)]
pub struct TestOptions {
    /// Leave out lints and the host's crates.
    #[arg(long)]
    fast: bool,
    /// Run these steps alone.
    #[arg(long, value_name = "STEP", value_parser = STEPS.map(|step| step.name))]
    only: Vec<String>,
}

/// A step of the test command.
#[derive(Clone, Copy)]
struct TestStep {
    name: &'static str,
    /// Whether it is part of `--fast`.
    is_fast: bool,
    run: fn() -> Result<()>,
}

const fn step(name: &'static str, run: fn() -> Result<()>) -> TestStep {
    TestStep { name, is_fast: false, run }
}

const fn fast_step(name: &'static str, run: fn() -> Result<()>) -> TestStep {
    TestStep { name, is_fast: true, run }
}

/// All steps. Those after `dist` test what it has built.
const STEPS: [TestStep; 15] = [
    step("format", || env::run(env::cargo().args(["fmt", "--all", "--check"]))),
    step("tidy", || {
        ensure!(tidy::run(&TidyOptions::default())? == ExitCode::SUCCESS, "tidy found breaches");
        Ok(())
    }),
    step("licences", || {
        ensure!(deny::run()? == ExitCode::SUCCESS, "cargo-deny found problems");
        Ok(())
    }),
    step("clippy", clippy),
    step("platforms", || platforms::run(&PlatformsOptions::usual()).map(drop)),
    fast_step("guest", test_guest),
    fast_step("dist", || {
        ensure!(dist::run(&DistOptions::default())? == ExitCode::SUCCESS, "dist failed");
        Ok(())
    }),
    step("host", || {
        let spans = ["test", "--locked", "--release", "--features", HOST_FEATURES];
        env::run(host_crates(&mut env::cached_cargo()?, &spans))
    }),
    step("hostile", escape::run_short),
    step("sessions", || {
        let mut sessions = env::cached_cargo()?;
        sessions.args(["test", "--locked", "--release", "-p", "wasibox-sessions"]);
        env::run(sessions.env("WASIBOX_DIST", env::dist()))
    }),
    step("packages", || {
        sdk::build_packages()?;
        sdk::test_packages()
    }),
    step("doors", cases::sample),
    step("pages", || {
        web::build_package()?;
        web::test_package()
    }),
    fast_step("cases", test_cases),
    step("differences", fuzz::compare_with_bash),
];

/// Runs all tests.
pub fn run(options: &TestOptions) -> Result<ExitCode> {
    let is_wanted = |step: &&TestStep| {
        (step.is_fast || !options.fast)
            && (options.only.is_empty() || options.only.iter().any(|name| name == step.name))
    };
    let wanted: Vec<&TestStep> = STEPS.iter().filter(is_wanted).collect();
    let mut steps = Steps::new(wanted.len());
    for step in wanted {
        steps.begin_step(step.name);
        (step.run)()?;
        steps.end_step("ok");
    }
    steps.finish_task("all checks passed");
    Ok(ExitCode::SUCCESS)
}

fn test_guest() -> Result<()> {
    let mut guest = env::cargo();
    guest.args(["test", "--locked", "--workspace", "--exclude", "wasibox-tests"]);
    guest.args(["--exclude", "wasibox-escape", "--exclude", "wasibox-sessions"]);
    for name in HOST {
        guest.args(["--exclude", name]);
    }
    env::run(&mut guest)
}

/// Runs the cases and the end-to-end tests.
fn test_cases() -> Result<()> {
    let mut all = env::cargo();
    all.args(["test", "--locked", "-p", "wasibox-tests"]);
    all.env("WASIBOX_DIST", env::dist()).env("WASIBOX_NATIVE_BOX", native_box()?);
    all.env("WASIBOX_PYTHON", peers_python("tests/harness/peers")?);
    all.env("WASIBOX_NODE_MODULES", peers_node()?);
    all.env("WASIBOX_PACKAGES", packages()?);
    env::run(&mut all)
}

/// Adds the arguments, then all crates of the host, and returns the command.
pub fn host_crates<'a>(cmd: &'a mut Command, args: &[&str]) -> &'a mut Command {
    cmd.args(args);
    for name in HOST {
        cmd.args(["-p", name]);
    }
    cmd
}

fn clippy() -> Result<()> {
    let strict = ["--", "-D", "warnings"];
    let mut guest = env::cargo();
    guest.args(["clippy", "--locked", "--workspace", "--all-targets"]);
    guest.args(["--exclude", "wasibox-escape", "--exclude", "wasibox-sessions"]);
    for name in HOST {
        guest.args(["--exclude", name]);
    }
    env::run(guest.args(strict))?;
    let mut cmd = env::cached_cargo()?;
    let cmd = host_crates(&mut cmd, &["clippy", "--locked", "--release", "--all-targets"]);
    env::run(cmd.args(["-p", "wasibox-escape", "-p", "wasibox-sessions"]).args(strict))?;
    fuzz::check_targets()
}

/// Returns the multicall binary for this machine.
fn native_box() -> Result<PathBuf> {
    env::run(env::cargo().args(["build", "--quiet", "--locked", "-p", "box"]))?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| env::root().join("target"), PathBuf::from);
    Ok(target.join("debug/box"))
}

/// Returns a Python in the cache folder with the packages that `requirements.txt` of that folder
/// pins.
pub fn peers_python(folder: &str) -> Result<PathBuf> {
    let pins = env::root().join(folder).join("requirements.txt");
    let key = env::sha256(&env::read(&pins)?);
    let venv = env::cache()?.join(format!("venv-{}", &key[..16]));
    let python = venv.join("bin/python");
    if !venv.join("complete").exists() {
        env::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv))?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "--require-hashes", "-r"]).arg(&pins);
        env::run(&mut pip)?;
        std::fs::write(venv.join("complete"), b"")?;
    }
    Ok(python)
}

/// Returns a `node_modules` in the cache folder with the packages that tests use as foreign
/// runtimes.
pub fn peers_node() -> Result<PathBuf> {
    node_modules("tests/harness/peers", "node")
}

/// Returns the packages that run in the image and, for comparison, in Node.
pub fn packages() -> Result<PathBuf> {
    node_modules("tests/javascript/packages", "packages")
}

/// Returns a `node_modules` with the packages that the lock file in that folder pins.
pub fn node_modules(folder: &str, name: &str) -> Result<PathBuf> {
    let pins = env::root().join(folder);
    let lock = env::read(&pins.join("package-lock.json"))?;
    let dir = env::cache()?.join(format!("{name}-{}", &env::sha256(&lock)[..16]));
    if !dir.join("complete").exists() {
        std::fs::create_dir_all(&dir)?;
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(pins.join(name), dir.join(name)).context(name)?;
        }
        env::run(
            Command::new("npm")
                .args(["ci", "--silent", "--no-audit", "--no-fund"])
                .current_dir(&dir),
        )?;
        std::fs::write(dir.join("complete"), b"")?;
    }
    Ok(dir.join("node_modules"))
}
