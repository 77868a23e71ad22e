//! Sessions in processes of their own, as embedders meet them.

mod common;

use common::*;
use rustix::process::{Pid, Signal, kill_process};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wasibox::{
    Action, Error, Exec, LimitHit, Limits, MountSpec, Outcome, Policy, Pool, PoolOptions, Session,
};

/// Enough for a machine with much else to do.
const LONG: Duration = Duration::from_secs(60);

static POOL: LazyLock<Arc<Pool>> = LazyLock::new(|| {
    let options = PoolOptions {
        program: Some(env!("CARGO_BIN_EXE_runner").into()),
        artifacts: Some(cache().join("wasibox/aot")),
        warm: 1,
        ..PoolOptions::new(&*IMAGE)
    };
    Pool::new(options).unwrap()
});

fn policy() -> Policy {
    Policy { limits: Limits { timeout: Some(LONG), ..Limits::default() }, ..Policy::default() }
}

fn session() -> Session {
    Session::on(&POOL, policy()).unwrap()
}

fn exec(s: &Session, argv: &[&str]) -> Result<Outcome, Error> {
    s.apply(Action::Exec(Exec::new(argv)))
}

fn out(s: &Session, argv: &[&str]) -> String {
    let o = exec(s, argv).unwrap();
    assert_eq!((o.exit_code, o.stderr.as_slice()), (0, b"".as_slice()));
    String::from_utf8(o.stdout).unwrap()
}

fn kill(s: &Session) {
    let pid = Pid::from_raw(s.worker().unwrap() as i32).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Makes a file of so many bytes 7.
fn fill(s: &Session, path: &str, n: usize) {
    assert_eq!(out(s, &["fill", path, &n.to_string()]), format!("wrote {n}\n"));
}

fn holds(s: &Session, path: &str, n: usize) -> bool {
    out(s, &["cat", path]) == "\u{7}".repeat(n)
}

#[test]
fn commands_run_behind_all_walls_of_the_host() {
    let s = session();
    assert_eq!(out(&s, &["echo", "hi"]), "hi\n");
    let walls = s.walls().unwrap();
    assert!(walls.no_new_privs && walls.not_dumpable && walls.system_calls);
    // Other programs' worker: the jail leaves no trace on this process.
    assert!(std::fs::read("/etc/passwd").is_ok());
    let big = exec(&s, &["gen", "3000000"]).unwrap();
    assert_eq!(big.stdout.len(), 3_000_000);
    assert!(
        matches!(exec(&s, &["nosuch"]), Err(Error::Sandbox(e)) if e.to_string().contains("not found"))
    );
    assert_eq!(out(&s, &["echo", "still"]), "still\n");
}

#[test]
fn a_worker_that_dies_loses_the_call_that_runs() {
    let s = session();
    fill(&s, "/tmp/kept", 70_000);
    let first = s.worker().unwrap();
    kill(&s);
    // Between two calls: the next one has to find out.
    let lost = exec(&s, &["cat", "/tmp/kept"]);
    assert!(matches!(&lost, Err(Error::Worker(why)) if why.contains("SIGKILL")), "{lost:?}");
    assert!(holds(&s, "/tmp/kept", 70_000));
    assert_ne!(s.worker().unwrap(), first);
    // While one runs.
    std::thread::scope(|t| {
        let running = t.spawn(|| exec(&s, &["spin"]));
        std::thread::sleep(Duration::from_millis(300));
        kill(&s);
        assert!(matches!(running.join().unwrap(), Err(Error::Worker(_))));
    });
    assert!(holds(&s, "/tmp/kept", 70_000));
}

#[test]
fn a_session_without_a_worker_goes_on_where_it_was() {
    let s = session();
    fill(&s, "/tmp/a", 3);
    fill(&s, "/home/user/b", 3_000_000);
    s.park();
    assert_eq!(s.worker(), None);
    assert!(holds(&s, "/tmp/a", 3) && holds(&s, "/home/user/b", 3_000_000));
    fill(&s, "/tmp/a", 5);
    s.park();
    assert!(holds(&s, "/tmp/a", 5) && holds(&s, "/home/user/b", 3_000_000));
}

#[test]
fn limits_hold_and_the_session_goes_on() {
    let s = session();
    let mut spin = Exec::new(["spin"]);
    spin.timeout = Some(Duration::from_millis(200));
    let o = s.apply(Action::Exec(spin)).unwrap();
    assert_eq!((o.exit_code, o.limit_hit), (124, Some(LimitHit::Timeout)));
    assert_eq!(out(&s, &["echo", "on"]), "on\n");
    // Interrupted from another thread.
    let interrupt = s.interrupter();
    let begun = Instant::now();
    std::thread::scope(|t| {
        t.spawn(|| {
            std::thread::sleep(Duration::from_millis(200));
            interrupt.interrupt();
        });
        assert_eq!(exec(&s, &["spin"]).unwrap().exit_code, 130);
    });
    assert!(begun.elapsed() < LONG);
    assert_eq!(out(&s, &["echo", "on"]), "on\n");
}

#[test]
fn mounts_are_reached_and_nothing_beside_them() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("in"), "from the host").unwrap();
    let mount = |guest: &str, writable| MountSpec {
        host: dir.path().into(),
        guest: guest.into(),
        writable,
        quota: None,
    };
    let s = Session::on(&POOL, Policy { mounts: vec![mount("/w", true)], ..policy() }).unwrap();
    assert_eq!(out(&s, &["cat", "/w/in"]), "from the host");
    fill(&s, "/w/out", 100);
    assert_eq!(std::fs::read(dir.path().join("out")).unwrap(), [7; 100]);
    let s = Session::on(&POOL, Policy { mounts: vec![mount("/r", false)], ..policy() }).unwrap();
    assert_eq!(out(&s, &["cat", "/r/in"]), "from the host");
    assert_ne!(exec(&s, &["fill", "/r/out", "1"]).unwrap().exit_code, 0);
}

/// Twenty sessions work while their workers are killed at random moments, 200 in all.
#[test]
fn workers_that_die_at_any_moment_cost_one_call_each() {
    const SESSIONS: usize = 20;
    const KILLS: usize = 200;
    let sessions: Vec<Session> = (0..SESSIONS).map(|_| session()).collect();
    let killed = AtomicUsize::new(0);
    let (lost, calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|t| {
        for (n, s) in sessions.iter().enumerate() {
            let (killed, lost, calls) = (&killed, &lost, &calls);
            t.spawn(move || {
                let path = format!("/tmp/{n}");
                // What is known to be there, in bytes.
                let mut there = 0;
                let mut next = 1000 + n;
                while killed.load(Ordering::Relaxed) < KILLS {
                    calls.fetch_add(1, Ordering::Relaxed);
                    match exec(s, &["fill", &path, &next.to_string()]) {
                        Ok(o) => {
                            assert_eq!(o.stdout, format!("wrote {next}\n").as_bytes());
                            there = next;
                        }
                        Err(Error::Worker(why)) => {
                            assert!(why.contains("SIGKILL"), "{why}");
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(e) => panic!("{e}"),
                    }
                    next += 1013;
                    match exec(s, &["cat", &path]) {
                        Ok(o) if there > 0 => assert_eq!(o.stdout.len(), there),
                        Ok(_) => {}
                        Err(Error::Worker(_)) => drop(lost.fetch_add(1, Ordering::Relaxed)),
                        Err(e) => panic!("{e}"),
                    }
                }
            });
        }
        let mut random = 12345u64;
        while killed.load(Ordering::Relaxed) < KILLS {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            std::thread::sleep(Duration::from_micros((random >> 33) % 20_000));
            let victim = &sessions[(random >> 40) as usize % SESSIONS];
            let pid = victim.worker().and_then(|pid| Pid::from_raw(pid as i32));
            if pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok()) {
                killed.fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    let (lost, calls) = (lost.load(Ordering::Relaxed), calls.load(Ordering::Relaxed));
    // One worker can be hit twice before its end is noticed; nobody is hit without losing a call.
    assert!(lost > 0 && lost <= KILLS && calls > SESSIONS, "{lost} of {calls} calls lost");
    for s in &sessions {
        // A worker that was killed after its last call is found out now.
        let _ = exec(s, &["echo"]);
        assert_eq!(out(s, &["echo", "well"]), "well\n");
    }
}
