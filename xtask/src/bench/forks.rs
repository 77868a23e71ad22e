//! Measures forks of a session that holds NumPy, with the library's example `bench_forks`.

use anyhow::Result;

use crate::env;

pub fn run() -> Result<()> {
    let (image, runner) = (env::dist().join("image.webc"), env::dist().join("runner"));
    let mut bench = env::cached_cargo()?;
    bench.args(["run", "--quiet", "--locked", "--release", "-p", "wasibox"]);
    env::run(bench.args(["--example", "bench_forks", "--"]).arg(&image).arg(&runner))
}
