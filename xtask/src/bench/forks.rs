//! Measures forks of a session that holds NumPy, through the package for Python
//! (`sdk/python/tests/bench_forks.py`), which must be installed with `cargo xtask sdk`.

use crate::{env, sdk};
use anyhow::Result;
use std::process::Command;

pub fn run() -> Result<()> {
    let mut bench = Command::new(sdk::installed_python()?);
    env::run(bench.arg(env::root().join("sdk/python/tests/bench_forks.py")))
}
