//! `true` and a megabyte of a file by the crate (`sdk/core/examples/bench.rs`) and by the package for Python
//! (`sdk/python/tests/bench.py`), and how long `import wasibox` and the first call take. The package must be installed:
//! `cargo xtask sdk`.

use crate::{env, sdk};
use anyhow::Result;
use std::process::Command;

pub fn run() -> Result<()> {
    let mut build = env::cached_cargo()?;
    // With the command line's crate, and so with its features.
    build.args(["build", "--quiet", "--locked", "--release", "-p", "wasibox-cli"]);
    env::run(build.args(["-p", "wasibox-sdk", "--example", "bench"]))?;
    let mut ours = Command::new(env::cache()?.join("target/release/examples/bench"));
    env::run(ours.env("WASIBOX_DIST", env::dist()))?;
    let mut python = Command::new(sdk::python()?);
    env::run(python.arg(env::root().join("sdk/python/tests/bench.py")))
}
