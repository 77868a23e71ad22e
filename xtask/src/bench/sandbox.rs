//! What the second wall costs: the library's own example, peers' calls, and `runner exec` as a whole process.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::{Subject, compare};
use crate::env;

/// What peers are timed at, as `tests/bench/peers` names it, and what is said of it.
const CALLS: [(&str, &str); 4] = [
    ("true", "warm `true`"),
    ("echo hi | wc -c", "warm `echo hi | wc -c`"),
    ("echo x > /tmp/x", "warm `echo x > /tmp/x`"),
    ("new", "a session and `true`"),
];

pub fn run() -> Result<()> {
    let (image, runner) = (env::dist().join("image.webc"), env::dist().join("runner"));
    let mut bench = env::cached_cargo()?;
    bench.args(["run", "--quiet", "--locked", "--release", "-p", "wasibox"]);
    env::run(bench.args(["--example", "bench_sandbox", "--"]).arg(&image).arg(&runner))?;
    peers()?;
    let text = |path: &std::path::Path| path.display().to_string();
    let exec = |name, command: &[&str]| Subject {
        name,
        argv: [text(&runner), "exec".into(), text(&image), "--".into()]
            .into_iter()
            .chain(command.iter().map(|w| (*w).to_owned()))
            .collect(),
    };
    let bash = Subject { name: "bash", argv: vec!["bash".into(), "-c".into(), "echo hi".into()] };
    compare(&[bash, exec("runner exec, jailed", &["echo", "hi"])])?;
    env::run(Command::new(&runner).arg("doctor"))
}

/// A line that a script of `tests/bench/peers` writes: milliseconds by call.
#[derive(Deserialize)]
struct Times {
    peer: String,
    times: BTreeMap<String, f64>,
}

/// The same calls of other sandboxes, each through its own library: just-bash and bashkit interpret within the
/// caller's process and keep nothing of a call but files; the Wasmer SDK runs this image, a process for each call.
fn peers() -> Result<()> {
    let scripts = env::root().join("tests/bench/peers");
    let mut node = Command::new("node");
    node.arg(scripts.join("node.mjs")).arg(crate::test::peers_node()?);
    let mut python = Command::new(crate::test::peers_python("tests/bench/peers")?);
    let mut said = env::output(node.arg(env::dist().join("image.webc")))?;
    said.push_str(&env::output(python.arg(scripts.join("python.py")))?);
    let peers: Vec<Times> = said
        .lines()
        .map(|line| serde_json::from_str(line).with_context(|| line.to_owned()))
        .collect::<Result<_>>()?;
    let row = |what: &str, cells: Vec<String>| println!("{what:<44} {}", cells.join(" "));
    row("peers", peers.iter().map(|p| format!("{:>12}", p.peer)).collect());
    for (key, what) in CALLS {
        let cell = |p: &Times| match p.times.get(key) {
            Some(ms) => format!("{ms:>9.3} ms"),
            None => format!("{:>12}", "-"),
        };
        row(what, peers.iter().map(cell).collect());
    }
    Ok(())
}
