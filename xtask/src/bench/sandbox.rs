//! What the second wall costs: the library's own example, and `runner exec` as a whole process.

use std::process::Command;

use anyhow::Result;

use super::{Subject, compare};
use crate::env;

pub fn run() -> Result<()> {
    let (image, runner) = (env::dist().join("image.webc"), env::dist().join("runner"));
    let mut bench = env::cached_cargo()?;
    bench.args(["run", "--quiet", "--locked", "--release", "-p", "wasibox"]);
    env::run(bench.args(["--example", "bench_sandbox", "--"]).arg(&image).arg(&runner))?;
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
