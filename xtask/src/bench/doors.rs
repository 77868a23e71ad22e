//! Measures `true` through the crate and through each protocol, in turn, and the tool `calculate`
//! (`tests/session-harness/examples/bench_doors.rs`). The peers are just-bash's library and its
//! server for the Model Context Protocol.

use crate::env;
use anyhow::Result;
use std::process::Command;

pub fn run() -> Result<()> {
    let mut ours = env::cached_cargo()?;
    ours.args(["run", "--quiet", "--locked", "--release", "-p", "wasibox-sessions"]);
    env::run(ours.args(["--example", "bench_doors"]).env("WASIBOX_DIST", env::dist()))?;
    let mut theirs = Command::new("node");
    theirs.env("WASIBOX_NODE_MODULES", crate::test::peers_node()?);
    env::run(theirs.arg(env::root().join("tests/doors/just_bash.mjs")))?;
    let mut theirs = Command::new("node");
    theirs.env("WASIBOX_NODE_MODULES", crate::test::node_modules("tests/doors/peer", "node")?);
    env::run(theirs.arg(env::root().join("tests/doors/just_bash_mcp.mjs")))
}
