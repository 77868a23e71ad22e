//! Runs CPython's own benchmarks (pyperformance) in the guest and natively. They measure the speed
//! of the interpreter after its start.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use super::python::{NativePython, native_peer};
use crate::env;

/// Benchmarks that need only the standard library, no network and no threads, with their arguments.
const BENCHMARKS: &[(&str, &[&str])] = &[
    ("async_generators", &[]),
    ("barnes_hut", &[]),
    ("bpe_tokeniser", &[]),
    ("chaos", &[]),
    ("comprehensions", &[]),
    ("coroutines", &[]),
    ("deepcopy", &[]),
    ("deltablue", &[]),
    ("fannkuch", &[]),
    ("float", &[]),
    ("gc_collect", &[]),
    ("gc_traversal", &[]),
    ("generators", &[]),
    ("go", &[]),
    ("hexiom", &[]),
    ("json_dumps", &[]),
    ("json_loads", &[]),
    ("logging", &["simple"]),
    ("mdp", &[]),
    ("meteor_contest", &[]),
    ("nbody", &[]),
    ("nqueens", &[]),
    ("pathlib", &[]),
    ("pidigits", &[]),
    ("pprint", &[]),
    ("pyflate", &[]),
    ("raytrace", &[]),
    ("regex_compile", &[]),
    ("regex_dna", &[]),
    ("regex_effbot", &[]),
    ("regex_v8", &[]),
    ("richards", &[]),
    ("richards_super", &[]),
    ("scimark", &["sparse_mat_mult"]),
    ("scimark", &["monte_carlo"]),
    ("scimark", &["lu"]),
    ("scimark", &["sor"]),
    ("scimark", &["fft"]),
    ("spectral_norm", &[]),
    ("sqlite_synth", &[]),
    ("telco", &[]),
    ("typing_runtime_protocols", &[]),
    ("unpack_sequence", &[]),
    ("xml_etree", &[]),
];

/// The seconds that one measurement should take at least; the number of loops follows from it.
const LONG_ENOUGH: f64 = 0.1;
/// If one loop takes more seconds than this, one round is enough.
const LONG: f64 = 1.0;
/// The number of rounds; each side's best one counts.
const ROUNDS: usize = 2;

pub fn run() -> Result<()> {
    let peer = native_peer()?;
    let site = pyperf_site()?;
    let scripts = env::root().join("tests/bench/python");
    println!("| benchmark | ours ms | native ms | ours / native |");
    println!("|---|---|---|---|");
    let mut logs = Vec::new();
    for (name, args) in BENCHMARKS {
        match measure_benchmark(&peer, &site, &scripts, name, args) {
            Ok((label, ours, native)) => {
                let ratio = ours / native;
                logs.push(ratio.ln());
                println!("| {label} | {:.3} | {:.3} | {ratio:.2} |", ours * 1e3, native * 1e3);
            }
            Err(e) => {
                let why = format!("{e:#}");
                let why = why.trim().lines().next_back().unwrap_or_default();
                println!("| {name} {} | does not run: {why} | | |", args.join(" "));
            }
        }
    }
    let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
    println!("{} benchmarks, geometric mean {mean:.2} (goal 2.2)", logs.len());
    Ok(())
}

/// Returns the benchmark's name, and its seconds in the guest and natively.
fn measure_benchmark(
    peer: &NativePython,
    site: &Path,
    scripts: &Path,
    name: &str,
    args: &[&str],
) -> Result<(String, f64, f64)> {
    let inner = format!("pyperformance/data-files/benchmarks/bm_{name}/run_benchmark.py");
    let native = |loops: u64| {
        let mut cmd = Command::new(&peer.python);
        cmd.env("PYTHONPATH", site).arg(scripts.join("pyperformance.py")).arg(site.join(&inner));
        read_result(cmd.arg(loops.to_string()).args(args))
    };
    let ours = |loops: u64| {
        let mut cmd = Command::new(env::dist().join("runner"));
        cmd.args(["exec", "--env", "PYTHONPATH=/site"]);
        for (host, guest) in [(site, "/site"), (scripts, "/scripts")] {
            cmd.arg("--mount").arg(format!("{}:{guest}", host.display()));
        }
        cmd.arg(env::dist().join("image.webc")).args(["--", "python3"]);
        cmd.args(["/scripts/pyperformance.py", &format!("/site/{inner}"), &loops.to_string()]);
        read_result(cmd.args(args))
    };
    let (label, once) = native(1)?;
    let loops = (LONG_ENOUGH / once).ceil().clamp(1.0, 1e6) as u64;
    let (mut best, mut peers) = (f64::INFINITY, f64::INFINITY);
    // Long benchmarks differ little from run to run.
    for _ in 0..if once > LONG { 1 } else { ROUNDS } {
        best = best.min(ours(loops)?.1);
        peers = peers.min(native(loops)?.1);
    }
    Ok((label, best, peers))
}

/// Runs `cmd`. Returns the name and the seconds from the last line of its output.
fn read_result(cmd: &mut Command) -> Result<(String, f64)> {
    let text = env::command_output(cmd)?;
    let line = text.trim().lines().next_back().context("no result")?;
    let (name, seconds) = line.rsplit_once(' ').context("a name and seconds")?;
    Ok((name.to_string(), seconds.parse().context("seconds")?))
}

/// Returns a folder with pyperf and pyperformance, of pinned versions.
fn pyperf_site() -> Result<PathBuf> {
    let wanted = env::root().join("tests/bench/python/requirements.txt");
    let text = std::fs::read(&wanted)?;
    let dir = env::cache()?.join(format!("pyperformance-{}", &env::sha256(&text)[..16]));
    if !dir.join("complete").exists() {
        let mut pip = Command::new("python3");
        pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--upgrade"]);
        pip.args(["--no-compile", "--only-binary=:all:", "--target"]).arg(&dir);
        env::run(pip.arg("-r").arg(&wanted))?;
        std::fs::write(dir.join("complete"), b"")?;
    }
    Ok(dir)
}
