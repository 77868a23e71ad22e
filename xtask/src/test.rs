//! `cargo xtask test`: runs every check, the cheapest first.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::progress::Steps;
use crate::{cases, deny, dist, env, escape, fuzz, platforms, sdk, tidy, web};

/// Crates that depend on Wasmer. They are built in the cache folder, in the profile of `dist`, so
/// that Wasmer is compiled once.
const HOST: &[&str] = &[
    "wasibox-vfs",
    "wasibox-kernel",
    "wasibox-sandbox",
    "wasibox",
    "wasibox-actions",
    "wasibox-mcp",
    "wasibox-http",
    "wasibox-e2b",
    "wasibox-cli",
    "wasibox-image",
    "wasibox-sdk",
    "wasibox-python",
    "wasibox-node",
];

/// Features of those crates that are off in the runner.
pub const HOST_FEATURES: &str = "wasibox-http/opentelemetry";

/// Runs all tests; with `--fast` without lints and without the host's crates.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let fast = match args {
        [] => false,
        [one] if one == "--fast" => true,
        _ => {
            eprintln!("usage: cargo xtask test [--fast]");
            return Ok(ExitCode::from(2));
        }
    };
    let mut steps = Steps::new(if fast { 3 } else { 15 });
    if !fast {
        steps.begin_step("format");
        env::run(env::cargo().args(["fmt", "--all", "--check"]))?;
        steps.end_step("ok");
        steps.begin_step("tidy");
        ensure!(tidy::run(&[])? == ExitCode::SUCCESS, "tidy found breaches");
        steps.end_step("ok");
        steps.begin_step("licences");
        ensure!(deny::run()? == ExitCode::SUCCESS, "cargo-deny found problems");
        steps.end_step("ok");
        steps.begin_step("clippy");
        clippy()?;
        steps.end_step("ok");
        steps.begin_step("other platforms, checked");
        ensure!(
            platforms::run(&platforms::USUAL.map(String::from))? == ExitCode::SUCCESS,
            "unknown"
        );
        steps.end_step("ok");
    }
    steps.begin_step("unit tests: guest");
    let mut guest = env::cargo();
    guest.args(["test", "--locked", "--workspace", "--exclude", "wasibox-tests"]);
    guest.args(["--exclude", "wasibox-escape", "--exclude", "wasibox-sessions"]);
    for name in HOST {
        guest.args(["--exclude", name]);
    }
    env::run(&mut guest)?;
    steps.end_step("ok");
    steps.begin_step("dist");
    ensure!(dist::run(&[])? == ExitCode::SUCCESS, "dist failed");
    steps.end_step("ok");
    if !fast {
        steps.begin_step("unit tests: host");
        let spans = ["test", "--locked", "--release", "--features", HOST_FEATURES];
        env::run(host_crates(&mut env::cached_cargo()?, &spans))?;
        steps.end_step("ok");
        steps.begin_step("hostile programs");
        escape::run_short()?;
        steps.end_step("ok");
        steps.begin_step("sessions");
        let mut sessions = env::cached_cargo()?;
        sessions.args(["test", "--locked", "--release", "-p", "wasibox-sessions"]);
        env::run(sessions.env("WASIBOX_DIST", env::dist()))?;
        steps.end_step("ok");
    }
    if !fast {
        steps.begin_step("the package for Python");
        sdk::build_packages()?;
        sdk::test_packages()?;
        steps.end_step("ok");
        steps.begin_step("a sample of cases through each door");
        cases::sample()?;
        steps.end_step("ok");
        steps.begin_step("the package for pages, in Node");
        web::build_package()?;
        web::test_package()?;
        steps.end_step("ok");
    }
    steps.begin_step("cases and end-to-end tests");
    let mut all = env::cargo();
    all.args(["test", "--locked", "-p", "wasibox-tests"]);
    all.env("WASIBOX_DIST", env::dist()).env("WASIBOX_NATIVE_BOX", native_box()?);
    all.env("WASIBOX_PYTHON", peers_python("tests/harness/peers")?);
    all.env("WASIBOX_NODE_MODULES", peers_node()?);
    all.env("WASIBOX_PACKAGES", packages()?);
    env::run(&mut all)?;
    steps.end_step("ok");
    if !fast {
        steps.begin_step("the shell beside bash, random scripts");
        fuzz::compare_with_bash()?;
        steps.end_step("ok");
    }
    steps.finish_task("all checks passed");
    Ok(ExitCode::SUCCESS)
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
