//! Measures the time per item as sizes grow, in this shell and in native bash. The scripts are
//! `tests/bench/curves/*.sh`, which are run with `N` set. A linear script keeps its time per item;
//! a quadratic one takes ten times as much per item at each step.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::shell::read_scripts;
use super::{exec_argv, median_of, to_words};

const SIZES: &[u64] = &[1_000, 10_000, 100_000, 1_000_000];
const RUNS: usize = 3;
/// A size is skipped if the previous one took longer than this (microseconds).
const TOO_LONG: f64 = 4e6;

/// Runs `cargo xtask bench curves`.
pub fn run() -> Result<()> {
    println!("Nanoseconds per item for N items, measured inside of the shell.\n");
    println!("| script | shell | 10^3 | 10^4 | 10^5 | 10^6 | last / 10^4 |");
    println!("|---|---|---|---|---|---|---|");
    for (name, text) in read_scripts("curves")? {
        let max = text.lines().find_map(|l| l.strip_prefix("# max: "));
        let max: u64 = max.map_or(Ok(u64::MAX), str::parse).with_context(|| name.clone())?;
        for (shell, argv) in
            [("ours", exec_argv(&["bash", "-c"])), ("bash", to_words(&["bash", "-c"]))]
        {
            let mut per_item = Vec::new();
            for n in SIZES.iter().filter(|n| **n <= max) {
                let micros = measure_script(&argv, &text, *n).with_context(|| name.clone())?;
                per_item.push(micros * 1e3 / *n as f64);
                if micros > TOO_LONG {
                    break;
                }
            }
            let bend = match (per_item.get(1), per_item.last()) {
                (Some(first), Some(last)) => format!("{:.2}", last / first),
                _ => "-".into(),
            };
            let cell = |i: usize| per_item.get(i).map_or("-".into(), |t| format!("{t:.0}"));
            let cells: Vec<String> = (0..SIZES.len()).map(cell).collect();
            println!("| {name} | {shell} | {} | {bend} |", cells.join(" | "));
        }
    }
    Ok(())
}

/// Returns the microseconds that the script takes with `N` items.
fn measure_script(argv: &[String], text: &str, n: u64) -> Result<f64> {
    let script = format!(
        "cd \"$(mktemp -d)\"\nN={n}\nbegin=${{EPOCHREALTIME/./}}\n{text}\n\
         end=${{EPOCHREALTIME/./}}\nrm -rf \"$PWD\"\necho $((end - begin))"
    );
    let (program, args) = argv.split_first().context("empty command")?;
    let mut runs = Vec::new();
    for _ in 0..RUNS {
        let mut cmd = Command::new(program);
        cmd.args(args).arg(&script).stdin(Stdio::null());
        let out = cmd.output().with_context(|| format!("cannot start {program}"))?;
        if !out.status.success() || !out.stderr.is_empty() {
            bail!("{argv:?}: {}: {}", out.status, String::from_utf8_lossy(&out.stderr));
        }
        let printed = String::from_utf8_lossy(&out.stdout);
        let micros: f64 = printed.trim().parse().with_context(|| printed.to_string())?;
        runs.push(micros);
        if micros > TOO_LONG {
            break;
        }
    }
    Ok(median_of(&mut runs))
}
