//! Measurements against peers. Results are ratios within one run, because machines are noisy: the
//! commands take turns, and their medians are compared.
//!
//! | benchmark | contents |
//! |---|---|
//! | `startup` | one command as a whole process |
//! | `session` | processes within one session |
//! | `sandbox` | sessions in threads and in processes, and the cost of the jail |
//! | `forks` | forks of a session that holds NumPy: making them, their first cells, their memory |
//! | `bridge` | requests to a server of the host, compared with the same programs run natively |
//! | `doors` | one call through the crate, through MCP and through HTTP |
//! | `sdk` | a call and a file through the crate, the packages for Python and Node, and peers |
//! | `shell` | the shell's constructs against bash and dash, without start-up |
//! | `tools` | commands over a log of 60 MB, a CSV and JSON lines, against GNU's tools and jq |
//! | `growth` | loops of the shell, awk, sed and jq at n and 10 n steps: how time grows, against the peers |
//! | `javascript` | start, computing, JSON, files and commands against Node, QuickJS-NG and quickjs-emscripten |
//! | `python` | start, imports, arrays and tables against CPython built for this machine |
//! | `pyperformance` | CPython's own benchmarks, the same interpreter here and there |
//! | `web` | the machine in a page against just-bash, Pyodide and the Wasmer SDK, in Chromium |
//! | `curves` | time per item from 10^3 to 10^6 items, which reveals quadratic behaviour |

mod bridge;
mod calls;
mod curves;
mod doors;
mod forks;
mod growth;
mod javascript;
mod pyperformance;
mod python;
mod sandbox;
mod sdk;
mod shell;
mod tools;
mod tools_data;
mod web;

use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::env;

/// The number of counted runs of each command. One run before them warms up.
const RUNS: usize = 20;

/// The name of a benchmark, and the function that runs it.
type Bench = (&'static str, fn() -> Result<()>);

/// All benchmarks.
const BENCHES: &[Bench] = &[
    ("startup", bench_startup),
    ("session", bench_session),
    ("sandbox", sandbox::run),
    ("forks", forks::run),
    ("bridge", bridge::run),
    ("doors", doors::run),
    ("sdk", sdk::run),
    ("shell", shell::run),
    ("tools", tools::run),
    ("curves", curves::run),
    ("growth", growth::run),
    ("javascript", javascript::run),
    ("python", python::run),
    ("pyperformance", pyperformance::run),
    ("web", web::run),
];

/// Options of `cargo xtask bench`.
#[derive(Debug, clap::Args)]
pub struct BenchOptions {
    /// The benchmarks; all by default.
    #[arg(value_name = "NAME", value_parser = BENCHES.iter().map(|(name, _)| *name).collect::<Vec<_>>())]
    names: Vec<String>,
}

/// Runs `cargo xtask bench`.
pub fn run(options: &BenchOptions) -> Result<ExitCode> {
    for (name, bench) in BENCHES {
        if options.names.is_empty() || options.names.iter().any(|asked| asked == name) {
            println!("## {name}");
            bench()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A command and its name in tables.
struct BenchSubject {
    name: &'static str,
    argv: Vec<String>,
}

/// Sorts the values and returns the median.
fn median_of(t: &mut [f64]) -> f64 {
    t.sort_by(f64::total_cmp);
    t.get(t.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Runs the subjects in turn and prints medians in milliseconds, with ratios to the first.
fn compare_subjects(subjects: &[BenchSubject]) -> Result<()> {
    let mut times = vec![Vec::with_capacity(RUNS); subjects.len()];
    for round in 0..=RUNS {
        for (s, t) in subjects.iter().zip(&mut times) {
            let (program, args) = s.argv.split_first().context("empty command")?;
            let mut cmd = Command::new(program);
            cmd.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            let status = cmd.status().with_context(|| format!("cannot start {}", s.name))?;
            let took = start.elapsed().as_secs_f64() * 1e3;
            if !status.success() {
                bail!("{}: {status}", s.name);
            }
            if round > 0 {
                t.push(took);
            }
        }
    }
    println!("| command | median ms | min | max | ours / it |");
    println!("|---|---|---|---|---|");
    let ours = median_of(&mut times[0]);
    for (s, t) in subjects.iter().zip(&mut times) {
        let m = median_of(t);
        println!("| {} | {m:.1} | {:.1} | {:.1} | {:.2} |", s.name, t[0], t[t.len() - 1], ours / m);
    }
    Ok(())
}

fn to_words(items: &[&str]) -> Vec<String> {
    items.iter().map(|s| (*s).to_string()).collect()
}

/// Returns the arguments of `runner exec` with a command, as a user would type it.
fn exec_argv(command: &[&str]) -> Vec<String> {
    let dist = env::dist();
    let mut argv = vec![dist.join("runner").display().to_string(), "exec".to_string()];
    argv.push(dist.join("image.webc").display().to_string());
    argv.push("--".to_string());
    argv.extend(to_words(command));
    argv
}

/// Measures one command as a whole process, with a warm file cache.
fn bench_startup() -> Result<()> {
    let mut subjects = vec![
        BenchSubject {
            name: "runner exec image.webc -- echo hi",
            argv: exec_argv(&["echo", "hi"]),
        },
        BenchSubject { name: "bash -c 'echo hi'", argv: to_words(&["bash", "-c", "echo hi"]) },
    ];
    let just_bash = crate::test::peers_node()?.join(".bin/just-bash");
    if just_bash.exists() {
        let path = just_bash.display().to_string();
        subjects.push(BenchSubject {
            name: "just-bash -c 'echo hi'",
            argv: to_words(&[&path, "-c", "echo hi"]),
        });
    }
    compare_subjects(&subjects)
}

/// Measures a shell that runs a pipeline 100 times within one session, in milliseconds per run.
fn bench_session() -> Result<()> {
    const SCRIPT: &str = "s=${EPOCHREALTIME/./}; for i in {1..100}; do bash -c 'echo hi | wc -c' >/dev/null; done; \
                          e=${EPOCHREALTIME/./}; echo $(((e - s) / 100))";
    let mut micros = Vec::new();
    for argv in [exec_argv(&["bash", "-c", SCRIPT]), to_words(&["bash", "-c", SCRIPT])] {
        let (program, args) = argv.split_first().context("empty command")?;
        let mut runs = Vec::new();
        for _ in 0..5 {
            let text = env::command_output(Command::new(program).args(args))?;
            runs.push(text.trim().parse::<f64>().context("microseconds")?);
        }
        runs.sort_by(f64::total_cmp);
        micros.push(runs[runs.len() / 2]);
    }
    println!(
        "bash -c 'echo hi | wc -c', each of 100 in one session: {:.2} ms; native bash {:.2} ms; ratio {:.2}",
        micros[0] / 1e3,
        micros[1] / 1e3,
        micros[0] / micros[1]
    );
    Ok(())
}
