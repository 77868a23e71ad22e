//! Scores `dist/` with an external collection of cases: a folder with `score.py` and
//! `cases/*.jsonl`, kept outside the project.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::{env, sdk, web};

/// Runs `cargo xtask conformance [DIR] [--web | --sessions] [ARG...]`; further arguments are passed
/// to the scorer. Prints the table and writes it to a file in `dist/`. By default `dist/runner` is
/// scored. `--web` scores `dist/web` in Node, and `--sessions` the package for Node under the same
/// conditions: a case's files are written into a session, not mounted.
pub fn run(args: &[String]) -> Result<ExitCode> {
    let (dir, rest) = match args.split_first() {
        Some((first, rest)) if !first.starts_with('-') => (Some(PathBuf::from(first)), rest),
        _ => (std::env::var_os("CONFORMANCE_DIR").map(PathBuf::from), args),
    };
    let dir = dir.context("give a folder with score.py, or set CONFORMANCE_DIR")?;
    let scorer = dir.join("score.py");
    ensure!(scorer.is_file(), "{}: no such file", scorer.display());
    let dist = env::dist();
    let asked = rest.split_first().map(|(first, rest)| (first.as_str(), rest));
    match asked {
        Some(("--web", rest)) => return in_node(&dir, ConformanceHost::Web, rest),
        Some(("--sessions", rest)) => return in_node(&dir, ConformanceHost::Native, rest),
        _ => {}
    }
    let mut cmd = Command::new("python3");
    cmd.arg(&scorer).args(["--target", "box", "--json"]).arg(dist.join("conformance.json"));
    cmd.args(rest).env("RUNNER", dist.join("runner")).env("IMAGE", dist.join("image.webc"));
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}

/// The package whose sessions run the cases.
#[derive(Clone, Copy)]
enum ConformanceHost {
    /// `dist/web`.
    Web,
    /// The package for Node, as `cargo xtask sdk` has installed it, with the image of `dist`.
    Native,
}

/// Runs the scorer with a package in Node, as an additional target beside the scorer's own ones.
fn in_node(dir: &Path, package: ConformanceHost, args: &[String]) -> Result<ExitCode> {
    let own = env::cache()?.join("conformance-web");
    std::fs::create_dir_all(&own).with_context(|| own.display().to_string())?;
    std::fs::copy(dir.join("score.py"), own.join("score.py")).context("score.py")?;
    let worker = env::root().join("sdk/web/test/conformance.js");
    let node = web::node_command()?;
    let worker = [node.get_program(), worker.as_os_str()].map(|part| part.to_string_lossy());
    let target = format!("[node]\nworker = {worker:?}\ntimeout = 60\n");
    env::write(&own.join("targets.toml"), target.as_bytes())?;
    let mut cmd = Command::new("python3");
    cmd.arg(own.join("score.py")).args(["--target", "node", "--jobs", "1"]);
    let wheel = match package {
        ConformanceHost::Web => "conformance-web.json",
        ConformanceHost::Native => {
            let package =
                sdk::node::installed_folder()?.join("node_modules/wasibox/dist/index.mjs");
            cmd.env("WASIBOX_PACKAGE", package);
            "conformance-sessions.json"
        }
    };
    cmd.arg("--cases").arg(dir.join("cases")).arg("--json").arg(env::dist().join(wheel));
    cmd.args(args).env("WASIBOX_DIST", env::dist());
    env::run(&mut cmd)?;
    Ok(ExitCode::SUCCESS)
}
