//! Runs the hostile programs of `tests/escape` on every target and checks that each is contained.
//!
//! ```text
//! escape [--target NAME] [--jobs N] [PART-OF-A-NAME...]     the files
//! escape --share                                            the files, each on one target, in turn
//! escape --random [--seconds N] [--seed N]                  random programs
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `program` | the format of the files |
//! | `target` | the ways to run a program: `runner exec`, the library |
//! | `watch` | memory, threads, descriptors and descendants of a host process |
//! | `trial` | one program on one target: prepare, run, judge |
//! | `random` | random programs |
//!
//! # Invariants
//! - Every file is run; one without a valid header fails the suite.
//! - No failure is expected. A program's header states what the sandbox promises, not what it does
//!   today.
//! - Only processes that a trial has started are killed, each by its number.
#![forbid(unsafe_code)]

mod program;
mod random;
mod target;
mod trial;
mod watch;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use program::Program;
use target::{TARGETS, Target};
use trial::Verdict;

/// The minimum number of files: a suite that has lost its files must not pass.
const LEAST: usize = 150;

fn main() -> ExitCode {
    // The library starts this program with this argument as the process of a session.
    if std::env::args_os().nth(1).is_some_and(|a| a == wasibox::WORKER_ARGUMENT) {
        return wasibox::worker_main();
    }
    match run() {
        Ok(status) => ExitCode::from(status),
        Err(e) => {
            eprintln!("escape: {e}");
            ExitCode::FAILURE
        }
    }
}

/// The command line.
struct Options {
    targets: Vec<Target>,
    jobs: usize,
    names: Vec<String>,
    share: bool,
    random: bool,
    seconds: u64,
    seed: Option<u64>,
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut o = Options {
        targets: TARGETS.to_vec(),
        jobs: 2,
        names: Vec::new(),
        share: false,
        random: false,
        seconds: 20 * 60,
        seed: None,
    };
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
        let number = |v: String| v.parse::<u64>().map_err(|e| format!("{v}: {e}"));
        match arg.as_str() {
            "--target" => {
                let name = value()?;
                o.targets.retain(|t| t.name() == name);
            }
            "--jobs" => o.jobs = number(value()?)?.clamp(1, 64) as usize,
            "--share" => o.share = true,
            "--random" => o.random = true,
            "--seconds" => o.seconds = number(value()?)?,
            "--seed" => o.seed = Some(number(value()?)?),
            _ if arg.starts_with("--") => return Err(format!("no option {arg}")),
            _ => o.names.push(arg),
        }
    }
    if o.targets.is_empty() { Err("no such target".into()) } else { Ok(o) }
}

fn run() -> Result<u8, String> {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if(|a| a == "--child").is_some() {
        let (Some(name), Some(file)) = (args.next(), args.next()) else {
            return Err("--child NAME FILE".into());
        };
        return target::child(&name, Path::new(&file));
    }
    let o = options(args)?;
    // Orphans become children of this process, so it sees everything that a trial leaves running.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|e| e.to_string())?;
    let bench = trial::Bench::new()?;
    if o.random {
        return random::run(&bench, &o.targets, Duration::from_secs(o.seconds), o.seed);
    }
    let all = program::load(&wasibox_escape::root().join("tests/escape"))?;
    if o.names.is_empty() && all.len() < LEAST {
        return Err(format!("{} files, expected at least {LEAST}", all.len()));
    }
    let named = |p: &&Program| o.names.is_empty() || o.names.iter().any(|n| p.name.contains(n));
    let chosen: Vec<&Program> = all.iter().filter(named).collect();
    let mut trials: Vec<(&Program, Target)> = (o.targets.iter())
        .flat_map(|t| chosen.iter().map(|p| (*p, *t)))
        .filter(|(p, t)| p.runs_on(t.name()))
        .collect();
    if o.share {
        trials = shared(&trials);
    }
    if trials.is_empty() {
        return Err("no program of that name".into());
    }
    let verdicts = try_all(&bench, &trials, o.jobs);
    Ok(summary(&verdicts))
}

/// Returns one trial of each program. The targets take turns.
fn shared<'a>(trials: &[(&'a Program, Target)]) -> Vec<(&'a Program, Target)> {
    let mut of: BTreeMap<&str, Vec<(&Program, Target)>> = BTreeMap::new();
    for trial in trials {
        of.entry(&trial.0.name).or_default().push(*trial);
    }
    of.into_values().enumerate().filter_map(|(n, of)| of.get(n % of.len()).copied()).collect()
}

/// Runs trials, `jobs` at a time, and prints a line for each.
fn try_all(bench: &trial::Bench, trials: &[(&Program, Target)], jobs: usize) -> Vec<Verdict> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    println!("{}", Verdict::HEAD);
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((program, target)) = trials.get(next.fetch_add(1, Ordering::SeqCst))
                {
                    let verdict = bench.judge(program, *target);
                    println!("{verdict}");
                    done.lock().unwrap_or_else(|e| e.into_inner()).push(verdict);
                }
            });
        }
    });
    done.into_inner().unwrap_or_else(|e| e.into_inner())
}

/// Prints the end of the table, with the failures by name. Returns the suite's exit status.
fn summary(verdicts: &[Verdict]) -> u8 {
    let mut failed: Vec<&Verdict> = verdicts.iter().filter(|v| !v.failures.is_empty()).collect();
    failed.sort_by(|a, b| (&a.name, a.target).cmp(&(&b.name, b.target)));
    println!("\n{} trials, {} not contained", verdicts.len(), failed.len());
    for v in &failed {
        println!("  {} ({}, {}): {}", v.name, v.target, v.finding, v.failures.join("; "));
    }
    u8::from(!failed.is_empty())
}
