//! Times of calls that scripts and examples print, for sessions here and for other sandboxes.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::median_of;
use crate::env;

/// A line that a script of `tests/bench/peers` or a benchmark of this project prints: the
/// milliseconds of each call, by the call's name.
#[derive(Deserialize)]
pub struct CallTimes {
    pub peer: String,
    times: BTreeMap<String, f64>,
}

/// Runs a command and parses the lines that it prints.
pub fn read_times(command: &mut Command) -> Result<Vec<CallTimes>> {
    let said = env::command_output(command)?;
    said.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// Measures other sandboxes, each through its own library. just-bash and bashkit interpret within
/// the caller's process and keep only files from one call to the next; the Wasmer SDK runs this
/// image, with a process for each call.
pub fn peer_times() -> Result<Vec<CallTimes>> {
    let scripts = env::root().join("tests/bench/peers");
    let mut node = Command::new("node");
    node.arg(scripts.join("node.mjs")).arg(crate::test::peers_node()?);
    let mut python = Command::new(crate::test::peers_python("tests/bench/peers")?);
    let mut all = read_times(node.arg(env::dist().join("image.webc")))?;
    all.extend(read_times(python.arg(scripts.join("python.py")))?);
    Ok(all)
}

/// Combines several runs into one with the median time of each call.
pub fn median_times(runs: Vec<CallTimes>) -> Result<CallTimes> {
    let first = runs.first().context("no run")?;
    let of = |key: &String| {
        let mut all: Vec<f64> = runs.iter().filter_map(|r| r.times.get(key)).copied().collect();
        (key.clone(), median_of(&mut all))
    };
    Ok(CallTimes { peer: first.peer.clone(), times: first.times.keys().map(of).collect() })
}

/// Prints a table with a row for each call and a column for each measured sandbox. `calls` has the
/// calls' names and their descriptions.
pub fn print_table(title: &str, calls: &[(&str, &str)], all: &[CallTimes]) {
    let row = |what: &str, cells: Vec<String>| println!("{what:<44} {}", cells.join(" "));
    row(title, all.iter().map(|p| format!("{:>12}", p.peer)).collect());
    for (key, what) in calls {
        let cell = |p: &CallTimes| match p.times.get(*key) {
            Some(ms) => format!("{ms:>9.3} ms"),
            None => format!("{:>12}", "-"),
        };
        row(what, all.iter().map(cell).collect());
    }
}
