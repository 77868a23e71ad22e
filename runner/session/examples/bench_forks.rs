//! Measures forks of a session whose Python holds NumPy: making them, the first cell in each, the
//! memory of those that are awake and of those that sleep.
//!
//! Usage: `bench_forks IMAGE RUNNER`; `cargo xtask bench forks` calls it.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wasibox::{Engine, EngineOptions, Isolation, Policy, PoolOptions, Session};

/// The number of forks that run a cell, and that of forks that sleep.
const AWAKE: usize = 100;
const SLEEPING: usize = 1000;
/// The number of runs, of which the median is shown.
const RUNS: usize = 5;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [image, runner] = args.as_slice() else { return Err("usage: IMAGE RUNNER".into()) };
    let pool = PoolOptions { program: Some(runner.clone()), warm: 4, ..PoolOptions::new(image) };
    let options =
        EngineOptions { isolation: Isolation::Process, pool, awake: AWAKE + 8, idle: None };
    let engine = Engine::new(options)?;
    engine.pool().ok_or("no pool")?.warm_up();
    let dir = std::env::temp_dir().join(format!("wasibox-forks-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let measured = measure(&engine, &dir);
    std::fs::remove_dir_all(&dir)?;
    measured
}

fn measure(engine: &Engine, dir: &Path) -> Result<()> {
    let in_memory = engine.session(Policy::default())?;
    let stored = engine.store(&dir.join("w.wbx"))?;
    let in_file = stored.create("parent", Policy::default())?;
    for session in [&in_memory, &in_file] {
        let code = "import numpy as np\na = np.arange(65536)\nx = 0";
        run_cell(session, code, None)?;
    }
    for (kind, session) in [("in memory", &in_memory), ("in a file", &in_file)] {
        let times = median_of(&mut |run| {
            let begun = Instant::now();
            let forks = session.fork_many(&names(&format!("f{run}"), AWAKE))?;
            let took = begun.elapsed();
            drop(forks);
            Ok(took)
        })?;
        println!("{AWAKE} forks, {kind}: {:.1} ms", ms(times));
    }
    let threads = std::thread::available_parallelism()?.get();
    let mut memory = Vec::new();
    let first = median_of(&mut |run| {
        let forks = in_memory.fork_many(&names(&format!("c{run}"), AWAKE))?;
        let took = run_in_all(&forks, threads)?;
        memory.push(mean_pss(&forks)?);
        // The next run has the processors for itself.
        forks.iter().for_each(Session::park);
        Ok(took)
    })?;
    memory.sort_by(f64::total_cmp);
    println!("the first cell (`x += 1`) in all {AWAKE}, {threads} at a time: {:.0} ms", ms(first));
    println!("memory (PSS) of each after it: {:.2} MiB", memory[memory.len() / 2]);

    let before = private_bytes()?;
    let forks = in_memory.fork_many(&names("s", SLEEPING))?;
    let after = private_bytes()?;
    println!(
        "{SLEEPING} forks that sleep: {:.1} KB each in this process",
        after.saturating_sub(before) as f64 / 1e3 / SLEEPING as f64
    );
    drop(forks);
    let file = dir.join("w.wbx");
    let size = || -> Result<u64> {
        let log = std::fs::metadata(dir.join("w.wbx-wal")).map_or(0, |file| file.len());
        Ok(std::fs::metadata(&file)?.len() + log)
    };
    let before = size()?;
    drop(in_file.fork_many(&names("s", SLEEPING))?);
    println!(
        "{SLEEPING} forks that sleep: {:.1} KB each in the store's file",
        size()?.saturating_sub(before) as f64 / 1e3 / SLEEPING as f64
    );
    Ok(())
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}-{n}")).collect()
}

fn median_of(measure: &mut dyn FnMut(usize) -> Result<Duration>) -> Result<Duration> {
    let mut times = (0..RUNS).map(measure).collect::<Result<Vec<_>>>()?;
    times.sort();
    Ok(times[times.len() / 2])
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Runs a cell, and checks the value of its last expression.
fn run_cell(session: &Session, code: &str, value: Option<&str>) -> Result<()> {
    let outcome = session.python(code)?;
    let fits = outcome.exit_code == 0 && (value.is_none() || outcome.value.as_deref() == value);
    if fits { Ok(()) } else { Err(format!("{code}: {outcome:?}").into()) }
}

/// Runs a first cell in all sessions, on `threads` threads.
fn run_in_all(forks: &[Session], threads: usize) -> Result<Duration> {
    let next = AtomicUsize::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        let work = || -> Result<()> {
            while let Some(fork) = forks.get(next.fetch_add(1, Ordering::Relaxed)) {
                run_cell(fork, "x += 1\nx", Some("1"))?;
            }
            Ok(())
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a panic")?)
    })?;
    Ok(begun.elapsed())
}

/// Returns the proportional memory of the sessions' processes in MiB, on average (proc(5),
/// `smaps_rollup`).
fn mean_pss(sessions: &[Session]) -> Result<f64> {
    let mut sum = 0;
    for session in sessions {
        sum += rollup(&session.worker().ok_or("a fork is asleep")?.to_string(), "Pss:")?;
    }
    Ok(sum as f64 / 1024.0 / 1024.0 / sessions.len() as f64)
}

fn private_bytes() -> Result<u64> {
    rollup("self", "Private_Dirty:")
}

/// Returns the bytes of a line of `smaps_rollup`.
fn rollup(process: &str, line: &str) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup"))?;
    let found = text.lines().find_map(|l| l.strip_prefix(line)?.split_whitespace().next());
    Ok(found.ok_or("no such line")?.parse::<u64>()? * 1024)
}
