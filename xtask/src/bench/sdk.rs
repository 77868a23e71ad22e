//! Measures one call and a file of a megabyte through the crate (`sdk/core/examples/bench.rs`),
//! through the packages for Python (`sdk/python/tests/bench.py`) and Node
//! (`sdk/node/tests/bench.mjs`), and through peers. Also measures the time to import a package and
//! to make the first call. The packages must be installed with `cargo xtask sdk`.

use crate::{env, sdk};
use anyhow::Result;
use std::process::Command;

use super::calls::{self, CallTimes};

/// The number of rounds in which the crate and the packages take turns.
const ROUNDS: usize = 3;

/// The timed calls, with their descriptions.
const CALLS: [(&str, &str); 6] = [
    ("true", "exec(\"true\")"),
    ("command", "exec([\"true\"]), without the shell"),
    ("read", "a file of 1 MB"),
    ("cancel", "a loop cancelled, and the next call"),
    ("first", "import, a session, its first call"),
    ("unpack", "the same, the first time on a machine"),
];

pub fn run() -> Result<()> {
    let mut build = env::cached_cargo()?;
    // The command line's crate is built in the same run, so that both have the same features.
    build.args(["build", "--quiet", "--locked", "--release", "-p", "wasibox-cli"]);
    env::run(build.args(["-p", "wasibox-sdk", "--example", "bench"]))?;
    let (dist, work) = (env::dist(), sdk::node::installed_folder()?);
    let mut ours = Command::new(env::cache()?.join("target/release/examples/bench"));
    ours.env("WASIBOX_DIST", &dist).env("WASIBOX_WORKER", dist.join("runner"));
    let mut python = Command::new(sdk::installed_python()?);
    python.arg(env::root().join("sdk/python/tests/bench.py"));
    let mut node = Command::new("node");
    node.arg(work.join("bench.mjs")).current_dir(&work);
    let mut commands = [ours, python, node];
    let mut runs: Vec<Vec<CallTimes>> = commands.iter().map(|_| Vec::new()).collect();
    for _ in 0..ROUNDS {
        for (command, runs) in commands.iter_mut().zip(&mut runs) {
            runs.extend(calls::read_times(command)?);
        }
    }
    let mut all = runs.into_iter().map(calls::median_times).collect::<Result<Vec<CallTimes>>>()?;
    all.extend(calls::peer_times()?);
    calls::print_table("one process, medians", &CALLS, &all);
    Ok(())
}
