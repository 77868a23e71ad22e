//! Measures the cost of isolation: sessions on threads and in processes, in turn.
//!
//! Usage: `bench_sandbox IMAGE RUNNER [SESSIONS]`; `cargo xtask bench sandbox` calls it. With
//! SESSIONS it measures only that number of sessions in one process, of which at most 32 are awake.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox::{
    Engine, EngineOptions, Exec, Image, Isolation, Policy, PoolOptions, Session, WorkerPool,
};

/// The number of measured runs of a call; a tenth as many sessions are created.
const RUNS: usize = 200;
/// The number of sessions that are busy at once, and the number of calls in each.
const BUSY: usize = 20;
const CALLS: usize = 20;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result<()> {
    let args: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (image, runner) = match args.as_slice() {
        [image, runner] => (image, runner),
        [image, runner, many] => {
            let many = many.to_str().and_then(|n| n.parse().ok()).ok_or("not a number")?;
            return crowd(image, runner, many);
        }
        _ => return Err("usage: IMAGE RUNNER [SESSIONS]".into()),
    };
    let options = PoolOptions { program: Some(runner.clone()), warm: 4, ..PoolOptions::new(image) };
    let pool = WorkerPool::new(options)?;
    pool.warm_up();
    calls(image, &pool)?;
    sessions(image, &pool)?;
    memory(&pool)?;
    throughput(image, &pool)?;
    let kept = |isolation| {
        let pool =
            PoolOptions { program: Some(runner.clone()), warm: 4, ..PoolOptions::new(image) };
        let options = EngineOptions { isolation, pool, awake: 32, idle: None };
        Engine::new(options)
    };
    histories(&kept(Isolation::Threads)?, &kept(Isolation::Process)?)
}

/// Measures sessions that keep their history, in memory or in a file.
fn histories(threads: &Engine, process: &Engine) -> Result<()> {
    let dir = std::env::temp_dir().join(format!("wasibox-bench-{}", std::process::id()));
    std::fs::create_dir_all(&dir)?;
    let stored = process.store(&dir.join("w.wbx"))?;
    let durable = stored.create("a", Policy::default())?;
    let (a, b) = (threads.session(Policy::default())?, process.session(Policy::default())?);
    println!(
        "{:<44} {:>12} {:>12} {:>12}",
        "with history", "by thread", "by process", "and a store"
    );
    for script in ["true", "echo hi | wc -c", "echo x > /tmp/x"] {
        medians(&format!("warm `{script}`"), &mut [&a, &b, &durable], &|s| {
            s.exec(script)?;
            Ok(())
        })?;
    }
    a.exec("for i in {1..10000}; do echo $i > /tmp/f$i; done")?;
    b.exec("for i in {1..10000}; do echo $i > /tmp/f$i; done")?;
    durable.exec("for i in {1..10000}; do echo $i > /tmp/f$i; done")?;
    medians("undo of 10,000 new files, and redo", &mut [&a, &b, &durable], &|s| {
        s.undo()?;
        s.redo()?;
        Ok(())
    })?;
    medians("fork of that session", &mut [&a, &b, &durable], &|s| {
        let name = format!("f{}", s.store()?.sessions()?.len());
        drop(s.fork(&name)?);
        Ok(())
    })?;
    for s in [&a, &b, &durable] {
        s.exec("rm -f /tmp/f*")?;
        s.python("x = 0")?;
    }
    medians("python `x += 1`", &mut [&a, &b, &durable], &|s| {
        s.python("x += 1")?;
        Ok(())
    })?;
    for s in [&a, &b, &durable] {
        s.python("import pandas as pd; df = pd.DataFrame({'a': range(65536), 'b': 0.5})")?;
    }
    medians("sleep, wake and `df.shape`", &mut [&a, &b, &durable], &|s| {
        s.park();
        s.python("df.shape")?;
        Ok(())
    })?;
    for (n, isolation) in ["by thread", "by process"].iter().zip([threads, process]) {
        let mut times = Vec::new();
        for _ in 0..RUNS / 10 {
            if let Some(pool) = isolation.pool() {
                pool.warm_up();
            }
            times.push(timed(|| {
                isolation.session(Policy::default())?.exec("true")?;
                Ok(())
            })?);
            std::thread::sleep(Duration::from_millis(30));
        }
        println!("a session with history and `true`, {n}: {:.3} ms", median(&mut times));
    }
    drop((durable, stored));
    Ok(std::fs::remove_dir_all(&dir)?)
}

/// Measures many sessions in one process, each used in turn.
fn crowd(image: &Path, runner: &Path, many: usize) -> Result<()> {
    let pool = PoolOptions { program: Some(runner.into()), warm: 4, ..PoolOptions::new(image) };
    let options = EngineOptions { isolation: Isolation::Process, pool, awake: 32, idle: None };
    let engine = Engine::new(options)?;
    engine.pool().ok_or("no pool")?.warm_up();
    let before = private(std::process::id())?;
    let sessions: Vec<Session> = (0..many)
        .map(|_| engine.session(Policy::default()))
        .collect::<std::result::Result<_, _>>()?;
    let mut times = Vec::new();
    for round in 0..2 {
        for (n, s) in sessions.iter().enumerate() {
            let script = format!("n=$((n + {n})); echo $n > /tmp/n");
            let took = timed(|| exec_kept(s, &script))?;
            if round > 0 {
                times.push(took);
            }
        }
    }
    for (n, s) in sessions.iter().enumerate().step_by(many.div_ceil(100)) {
        let outcome = s.exec("cat /tmp/n")?;
        if outcome.stdout != format!("{}\n", 2 * n).into_bytes() {
            return Err(format!("session {n} has {outcome:?}").into());
        }
    }
    let own = private(std::process::id())?;
    times.sort();
    let at = |part: f64| times[(times.len() as f64 * part) as usize].as_secs_f64() * 1e3;
    println!(
        "{many} sessions, at most 32 awake: {:.1} KB each in this process ({own:.0} MB), a call {:.2} ms at the \
         median, {:.2} ms at the 99th percentile (<= 10 times)",
        (own - before) * 1024.0 / many as f64,
        at(0.5),
        at(0.99)
    );
    Ok(())
}

fn exec_kept(s: &Session, script: &str) -> Result<()> {
    let outcome = s.exec(script)?;
    if outcome.exit_code == 0 { Ok(()) } else { Err(format!("{outcome:?}").into()) }
}

/// Runs an action in each of the sessions in turn, and prints the median times.
fn medians(
    what: &str,
    sessions: &mut [&Session],
    act: &dyn Fn(&Session) -> Result<()>,
) -> Result<()> {
    let mut times = vec![Vec::new(); sessions.len()];
    for round in 0..RUNS / 4 + 5 {
        for (s, times) in sessions.iter().zip(&mut times) {
            let took = timed(|| act(s))?;
            if round >= 5 {
                times.push(took);
            }
        }
    }
    let shown: Vec<String> = times.iter_mut().map(|t| format!("{:>9.3} ms", median(t))).collect();
    println!("{what:<44} {}", shown.join(" "));
    Ok(())
}

fn by_threads(image: &Path) -> Result<Session> {
    let image = Arc::new(Image::open(image)?);
    let kept = wasibox::default_artifact_dir();
    Ok(Session::with(image, Policy::default(), kept, Arc::new(|_| {}))?)
}

fn exec(session: &Session, script: &str) -> Result<()> {
    let outcome = session.exec(Exec::new(["bash", "-c", script]))?;
    if outcome.exit_code == 0 { Ok(()) } else { Err(format!("{script}: {outcome:?}").into()) }
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times.get(times.len() / 2).map_or(f64::NAN, |t| t.as_secs_f64() * 1e3)
}

fn timed(f: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let begun = Instant::now();
    f()?;
    Ok(begun.elapsed())
}

fn row(what: &str, thread: f64, process: f64, must: &str) {
    println!("{what:<44} {thread:>9.3} ms {process:>9.3} ms   {must}");
}

fn calls(image: &Path, pool: &Arc<WorkerPool>) -> Result<()> {
    let (thread, process) = (by_threads(image)?, Session::on(pool, Policy::default())?);
    println!("{:<44} {:>12} {:>12}", "", "by thread", "by process");
    for script in ["true", "echo hi | wc -c", "echo x > /tmp/x"] {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..RUNS + 10 {
            let (x, y) = (timed(|| exec(&thread, script))?, timed(|| exec(&process, script))?);
            if round >= 10 {
                a.push(x);
                b.push(y);
            }
        }
        row(&format!("warm `{script}`"), median(&mut a), median(&mut b), "<= 0.2 ms more");
    }
    Ok(())
}

fn sessions(image: &Path, pool: &Arc<WorkerPool>) -> Result<()> {
    let (mut a, mut b, mut c) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..RUNS / 10 {
        pool.warm_up();
        a.push(timed(|| exec(&by_threads(image)?, "true"))?);
        // The threads of the last session are still tearing it down.
        std::thread::sleep(Duration::from_millis(30));
        let begun = Instant::now();
        let session = Session::on(pool, Policy::default())?;
        b.push(begun.elapsed());
        exec(&session, "true")?;
        c.push(begun.elapsed());
    }
    let thread = median(&mut a);
    row("a session, from the pool", f64::NAN, median(&mut b), "<= 2 ms");
    row("a session and `true`", thread, median(&mut c), "");
    Ok(())
}

fn memory(pool: &Arc<WorkerPool>) -> Result<()> {
    let session = Session::on(pool, Policy::default())?;
    let pid = session.worker().ok_or("no worker")?;
    let idle = private(pid)?;
    exec(&session, "echo hi | wc -c")?;
    let used = private(pid)?;
    println!(
        "private memory of a worker, new {idle:.1} MB, after a pipeline {used:.1} MB   <= 3 MB"
    );
    Ok(())
}

/// Returns the memory that no other process shares, in megabytes (proc(5), `smaps_rollup`).
fn private(pid: u32) -> Result<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let dirty = text.lines().filter(|l| l.starts_with("Private_Dirty:"));
    let kb = dirty.filter_map(|l| l.split_whitespace().nth(1)?.parse::<f64>().ok());
    Ok(kb.sum::<f64>() / 1024.0)
}

fn throughput(image: &Path, pool: &Arc<WorkerPool>) -> Result<()> {
    let rate = |make: &(dyn Fn() -> Result<Session> + Sync)| -> Result<f64> {
        let made: Vec<Session> = (0..BUSY).map(|_| make()).collect::<Result<_>>()?;
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let busy: Vec<_> = made
                .iter()
                .map(|s| {
                    scope.spawn(move || (0..CALLS).try_for_each(|_| exec(s, "echo hi | wc -c")))
                })
                .collect();
            busy.into_iter().try_for_each(|b| b.join().map_err(|_| "a thread panicked")?)
        })?;
        Ok((BUSY * CALLS) as f64 / begun.elapsed().as_secs_f64())
    };
    let thread = rate(&|| by_threads(image))?;
    let process = rate(&|| Ok(Session::on(pool, Policy::default())?))?;
    println!(
        "{BUSY} busy sessions, `echo hi | wc -c`: {thread:.0} calls/s by thread, {process:.0} by process"
    );
    Ok(())
}
