//! Measures the cost of the jail, with the library's example `bench_sandbox`, with calls of other
//! sandboxes, and with `runner exec` as a whole process.

use std::process::Command;

use anyhow::Result;

use super::{BenchSubject, calls, compare_subjects};
use crate::env;

/// The calls that are timed in other sandboxes: the name in `tests/bench/peers`, and the
/// description.
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
    calls::print_table("peers", &CALLS, &calls::peer_times()?);
    let text = |path: &std::path::Path| path.display().to_string();
    let exec = |name, command: &[&str]| BenchSubject {
        name,
        argv: [text(&runner), "exec".into(), text(&image), "--".into()]
            .into_iter()
            .chain(command.iter().map(|w| (*w).to_owned()))
            .collect(),
    };
    let bash =
        BenchSubject { name: "bash", argv: vec!["bash".into(), "-c".into(), "echo hi".into()] };
    compare_subjects(&[bash, exec("runner exec, jailed", &["echo", "hi"])])?;
    env::run(Command::new(&runner).arg("doctor"))
}
