//! Sessions in processes of their own, as embedders use them.

mod common;

use common::*;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};
use wasibox::{
    Error, Exec, LimitHit, Limits, MountSpec, Outcome, Policy, PoolOptions, Session, WorkerPool,
};

/// A time that is long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);

static POOL: LazyLock<Arc<WorkerPool>> = LazyLock::new(|| {
    let options = PoolOptions {
        program: Some(env!("CARGO_BIN_EXE_runner").into()),
        artifacts: Some(cache().join("wasibox/aot")),
        warm: 1,
        ..PoolOptions::new(&*IMAGE)
    };
    WorkerPool::new(options).unwrap()
});

fn policy() -> Policy {
    Policy { limits: Limits { timeout: Some(LONG), ..Limits::default() }, ..Policy::default() }
}

fn session() -> Session {
    Session::on(&POOL, policy()).unwrap()
}

fn exec(s: &Session, argv: &[&str]) -> Result<Outcome, Error> {
    s.exec(Exec::new(argv))
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

/// Creates a file of `n` bytes of value 7.
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
    // The worker is another process, so its jail leaves no trace on this one.
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
    // The worker is killed between two calls, and the next call has to notice.
    let lost = exec(&s, &["cat", "/tmp/kept"]);
    assert!(matches!(&lost, Err(Error::Worker(why)) if why.contains("SIGKILL")), "{lost:?}");
    assert!(holds(&s, "/tmp/kept", 70_000));
    assert_ne!(s.worker().unwrap(), first);
    // The worker is killed while a call runs.
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
    let o = s.exec(spin).unwrap();
    assert_eq!((o.exit_code, o.limit_hit), (124, Some(LimitHit::Timeout)));
    assert_eq!(out(&s, &["echo", "on"]), "on\n");
    // A call is interrupted from another thread.
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

#[test]
fn a_pool_goes_on_without_its_first_worker() {
    let options = PoolOptions { warm: 0, ..POOL.options().clone() };
    let pool = WorkerPool::new(options).unwrap();
    let s = Session::on(&pool, policy()).unwrap();
    fill(&s, "/tmp/a", 9);
    let first = pool.first_pid().unwrap();
    assert_ne!(s.worker(), Some(first));
    kill_process(Pid::from_raw(first as i32).unwrap(), Signal::KILL).unwrap();
    let other = Session::on(&pool, policy()).unwrap();
    assert_eq!(out(&other, &["echo", "hi"]), "hi\n");
    assert!(pool.first_pid() != Some(first) && holds(&s, "/tmp/a", 9));
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_the_guest() {
    let dir = tempfile::tempdir().unwrap();
    let mount =
        MountSpec { host: dir.path().into(), guest: "/w".into(), writable: true, quota: None };
    let s = Session::on(&POOL, Policy { mounts: vec![mount], ..policy() }).unwrap();
    let worker = s.worker().unwrap();
    let none = Rlimit { current: Some(0), maximum: None };
    prlimit(Pid::from_raw(worker as i32), Resource::Fsize, none).unwrap();
    let o = exec(&s, &["fill", "/w/file", "100"]).unwrap();
    // 22 is EFBIG in WASI's numbering.
    assert_eq!(String::from_utf8(o.stdout).unwrap(), "errno 22 after 0\n");
    assert_eq!((out(&s, &["echo", "on"]).as_str(), s.worker()), ("on\n", Some(worker)));
}

/// A fault that is inflicted on a worker from outside, at a random moment of a call.
#[derive(Clone, Copy, Debug)]
enum Fault {
    /// Killed, for example by the host's kernel when memory is short.
    Killed,
    /// A trap of the machine within the engine or the kernel, not in a guest.
    Trap(Signal),
    /// The host provides no more memory for some time.
    NoMemory,
    /// The host provides no more descriptors for some time.
    NoDescriptors,
    /// Nothing can be written to the host's disk for some time.
    DiskFull,
}

const FAULTS: &[Fault] = &[
    Fault::Killed,
    Fault::Trap(Signal::SEGV),
    Fault::Trap(Signal::ILL),
    Fault::Trap(Signal::BUS),
    Fault::Trap(Signal::ABORT),
    Fault::NoMemory,
    Fault::NoDescriptors,
    Fault::DiskFull,
];

impl Fault {
    /// Inflicts the fault, and returns whether it reached the worker.
    fn hit(self, pid: Pid, pause: Duration) -> bool {
        let limited = |resource| {
            let Ok(old) = prlimit(Some(pid), resource, Rlimit { current: Some(0), maximum: None })
            else {
                return false;
            };
            std::thread::sleep(pause);
            // The worker may have ended.
            let _ = prlimit(Some(pid), resource, old);
            true
        };
        match self {
            Fault::Killed => kill_process(pid, Signal::KILL).is_ok(),
            Fault::Trap(signal) => kill_process(pid, signal).is_ok(),
            Fault::NoMemory => limited(Resource::Data),
            Fault::NoDescriptors => limited(Resource::Nofile),
            Fault::DiskFull => limited(Resource::Fsize),
        }
    }
}

/// A session that is hit now and then.
struct Victim {
    session: Session,
    /// The number of faults so far, including one in progress.
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Victim {
    /// Returns the result of a call, and whether it is certain that no fault affected it. A fault
    /// after the answer of the previous call is noticed by this call, so `last` is the number of
    /// faults that had ended when the previous call began.
    fn call(&self, last: &mut usize, argv: &[&str]) -> (Result<Outcome, Error>, bool) {
        let ended = self.ended.load(Ordering::SeqCst);
        let result = exec(&self.session, argv);
        let is_sure = self.begun.load(Ordering::SeqCst) == *last;
        *last = ended;
        (result, is_sure)
    }
}

/// Twenty sessions work while 200 faults of all kinds hit their workers at random moments. A
/// session that was not hit has the right result; one that was hit has a clear error, a right
/// result, or the command's own failure.
#[test]
fn faults_at_any_moment_cost_the_calls_they_hit() {
    const SESSIONS: usize = 20;
    const HITS: usize = 200;
    let dir = tempfile::tempdir().unwrap();
    let mount =
        MountSpec { host: dir.path().into(), guest: "/w".into(), writable: true, quota: None };
    let victim = |_| Victim {
        session: Session::on(&POOL, Policy { mounts: vec![mount.clone()], ..policy() }).unwrap(),
        begun: AtomicUsize::new(0),
        ended: AtomicUsize::new(0),
    };
    let victims: Vec<Victim> = (0..SESSIONS).map(victim).collect();
    let (hits, lost, right) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let mut is_late = false;
    std::thread::scope(|t| {
        for (n, v) in victims.iter().enumerate() {
            let (hits, lost, right) = (&hits, &lost, &right);
            t.spawn(move || {
                let (own, shared) = (format!("/tmp/{n}"), format!("/w/{n}"));
                let (mut there, mut next, mut last) = (None, 1000 + n, 0);
                while hits.load(Ordering::Relaxed) < HITS {
                    let path = if next % 3 == 0 { &shared } else { &own };
                    let (wrote, is_sure) = v.call(&mut last, &["fill", path, &next.to_string()]);
                    match wrote {
                        Ok(o) if o.exit_code == 0 && !o.stdout.starts_with(b"errno") => {
                            assert_eq!(o.stdout, format!("wrote {next}\n").as_bytes());
                            right.fetch_add(1, Ordering::Relaxed);
                            if path == &own {
                                there = Some(next);
                            }
                        }
                        failed => {
                            assert!(!is_sure, "{n}: {failed:?}");
                            assert!(is_clear(&failed), "{n}: {failed:?}");
                            lost.fetch_add(1, Ordering::Relaxed);
                            // A command that fails halfway leaves the data that it has written.
                            if path == &own && failed.is_ok() {
                                there = None;
                            }
                        }
                    }
                    let (read, is_sure) = v.call(&mut last, &["cat", &own]);
                    match (read, there) {
                        (Ok(o), Some(size)) if o.exit_code == 0 => assert_eq!(o.stdout.len(), size),
                        (Ok(o), None) if o.exit_code <= 1 => {}
                        (failed, _) => {
                            assert!(!is_sure && is_clear(&failed), "{n}: {failed:?}");
                            lost.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    next += 1013;
                }
            });
        }
        let mut random = 12345u64;
        let mut dice = |sides: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % sides
        };
        let begun = Instant::now();
        while hits.load(Ordering::Relaxed) < HITS {
            if begun.elapsed() > 5 * LONG {
                // A thread has panicked, and must not be waited for without end.
                hits.store(HITS, Ordering::Relaxed);
                is_late = true;
            }
            std::thread::sleep(Duration::from_micros(dice(20_000)));
            let v = &victims[dice(SESSIONS as u64) as usize];
            let fault = FAULTS[dice(FAULTS.len() as u64) as usize];
            let pause = Duration::from_micros(dice(5_000));
            v.begun.fetch_add(1, Ordering::SeqCst);
            let pid = v.session.worker().and_then(|pid| Pid::from_raw(pid as i32));
            if pid.is_some_and(|pid| fault.hit(pid, pause)) {
                hits.fetch_add(1, Ordering::Relaxed);
            }
            v.ended.fetch_add(1, Ordering::SeqCst);
        }
    });
    let (lost, right) = (lost.load(Ordering::Relaxed), right.load(Ordering::Relaxed));
    assert!(!is_late && lost > 0 && right > SESSIONS, "{lost} lost, {right} right");
    for v in &victims {
        // A worker that was hit after its last call is noticed now.
        let _ = exec(&v.session, &["echo"]);
        assert_eq!(out(&v.session, &["echo", "well"]), "well\n");
    }
}

/// Returns whether a caller can see that something failed, and why.
fn is_clear(failed: &Result<Outcome, Error>) -> bool {
    match failed {
        // The guest's message for an error of the disk.
        Ok(o) if o.stdout.starts_with(b"errno ") => true,
        Ok(o) => o.limit_hit.is_some() || (o.exit_code != 0 && !o.stderr.is_empty()),
        Err(e) => !e.to_string().is_empty(),
    }
}
