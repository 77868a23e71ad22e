//! Scores `dist/` with an external collection of cases: a folder with `score.py` and
//! `cases/*.jsonl`, kept outside the project.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};

use crate::{env, sdk, web};

/// Options of `cargo xtask conformance`. By default `dist/runner` is scored.
#[derive(Debug, clap::Args)]
pub struct ConformanceOptions {
    /// The folder of the cases.
    #[arg(env = "CONFORMANCE_DIR")]
    dir: PathBuf,
    /// Score dist/web in Node.
    #[arg(long)]
    web: bool,
    /// Score the package for Node under the same conditions: a case's files are written into a
    /// session, not mounted.
    #[arg(long, conflicts_with = "web")]
    sessions: bool,
    /// Arguments of the scorer.
    #[arg(value_name = "ARG", trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs `cargo xtask conformance`. Prints the table and writes it to a file in `dist/`.
pub fn run(options: &ConformanceOptions) -> Result<ExitCode> {
    let dir = &options.dir;
    let scorer = dir.join("score.py");
    ensure!(scorer.is_file(), "{}: no such file", scorer.display());
    let dist = env::dist();
    if options.web {
        return in_node(dir, ConformanceHost::Web, &options.rest);
    }
    if options.sessions {
        return in_node(dir, ConformanceHost::Native, &options.rest);
    }
    let mut cmd = Command::new("python3");
    cmd.arg(&scorer).args(["--target", "box", "--json"]).arg(dist.join("conformance.json"));
    cmd.args(&options.rest)
        .env("RUNNER", dist.join("runner"))
        .env("IMAGE", dist.join("image.webc"));
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
