//! Sessions with a history, as embedders use them: in memory and in a store, in processes and on
//! threads.

mod common;

use common::*;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use wasibox::{
    Cancel, End, Engine, EngineOptions, Error, Exec, Isolation, Limits, Output, Policy,
    PoolOptions, Request, RequestFault, Session, Streams,
};

/// A time that is long enough for a busy machine.
const LONG: Duration = Duration::from_secs(60);

fn options(isolation: Isolation) -> EngineOptions {
    let pool = PoolOptions {
        program: Some(env!("CARGO_BIN_EXE_runner").into()),
        artifacts: Some(cache().join("wasibox/aot")),
        warm: 1,
        ..PoolOptions::new(&*IMAGE)
    };
    EngineOptions { isolation, pool, awake: 4, idle: None }
}

static BOTH: LazyLock<[Engine; 2]> = LazyLock::new(|| {
    [Isolation::Process, Isolation::Threads].map(|i| Engine::new(options(i)).unwrap())
});

fn policy() -> Policy {
    Policy { limits: Limits { timeout: Some(LONG), ..Limits::default() }, ..Policy::default() }
}

fn out(s: &Session, argv: &[&str]) -> String {
    let o = s.exec(Exec::new(argv)).unwrap();
    assert_eq!((o.exit_code, o.stderr.as_slice()), (0, b"".as_slice()), "{argv:?}");
    String::from_utf8(o.stdout).unwrap()
}

/// Creates a file of `n` bytes of value 7.
fn fill(s: &Session, path: &str, n: usize) {
    assert_eq!(out(s, &["fill", path, &n.to_string()]), format!("wrote {n}\n"));
}

/// Returns the length of a file of bytes of value 7; `None` if it does not exist.
fn held(s: &Session, path: &str) -> Option<usize> {
    let o = s.exec(Exec::new(["cat", path])).unwrap();
    if o.stdout.starts_with(path.as_bytes()) {
        // The output is its name and an errno.
        return None;
    }
    assert!(o.stdout.iter().all(|b| *b == 7));
    Some(o.stdout.len())
}

#[test]
fn a_guests_own_130_leaves_no_interrupt_for_the_next_call() {
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        for n in 0..150 {
            let (cancel, interrupt) = (Cancel::default(), s.interrupter());
            let own = std::thread::scope(|scope| {
                let call = scope.spawn(|| {
                    let streams = Streams { cancel: Some(&cancel), ..Streams::default() };
                    s.call(Exec::new(["exit", "130"]), streams)
                });
                // The cancellation comes before the call, within it or at its end.
                std::thread::sleep(Duration::from_micros(n * 10));
                cancel.cancel(&interrupt);
                call.join().unwrap()
            });
            match own {
                Ok(o) => assert!(matches!(o.end, End::Exited(130) | End::Interrupted), "{o:?}"),
                // Before the first process has begun, an interrupt makes its start fail.
                Err(e) => assert!(!matches!(e, Error::Worker(_)), "{e}"),
            }
            let next = s.exec(Exec::new(["exit", "3"])).unwrap();
            assert_eq!((next.end, next.exit_code), (End::Exited(3), 3), "call {n}");
        }
    }
}

#[test]
fn requests_that_are_invalid_begin_nothing() {
    let s = BOTH[0].session(policy()).unwrap();
    let begun = s.head().unwrap().number;
    let exec = Exec { cwd: Some("tmp".into()), ..Exec::new(["echo"]) };
    let large = Exec::script("x".repeat(5 << 20));
    for (exec, is_size) in [(exec, false), (large, true)] {
        let by_call = s.exec(exec.clone()).unwrap_err();
        let by_request = s.apply(Request::Exec(exec), Streams::default()).unwrap_err();
        for e in [by_call, by_request] {
            match e {
                Error::Request(RequestFault::CommandSize { .. }) => assert!(is_size),
                Error::Request(RequestFault::Directory(cwd)) => assert!(!is_size && cwd == "tmp"),
                e => panic!("{e}"),
            }
        }
    }
    assert_eq!(s.head().unwrap().number, begun);
}

#[test]
fn long_input_goes_through_a_pipe() {
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        let mut exec = Exec::new(["cat"]);
        exec.input = wasibox::Input::Bytes(vec![7; 6 << 20]);
        let o = s.exec(exec).unwrap();
        assert_eq!((o.exit_code, o.stdout.len()), (0, 6 << 20));
    }
}

#[test]
fn calls_are_commits_that_can_be_undone() {
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        let begun = s.head().unwrap().number;
        fill(&s, "/tmp/a", 10);
        fill(&s, "/tmp/a", 200_000);
        fill(&s, "/home/user/b", 3);
        assert_eq!(s.history().unwrap().len() as u64, begun + 3);
        let last = s.head().unwrap();
        assert_eq!((last.call.exit_code, last.call.changed_count), (Some(0), 1));
        // The moves are tried while the session is awake, and while it sleeps.
        for sleeps in [false, true] {
            let nap = || {
                if sleeps {
                    s.park();
                }
            };
            assert_eq!(s.undo().unwrap().number, last.number - 1);
            nap();
            let state = |s: &Session| {
                // Reading is a call as well, so it is done in a fork, which keeps the redo
                // possible.
                let fork = s.fork(&format!("{}-{sleeps}-{}", s.name().unwrap(), nonce())).unwrap();
                (held(&fork, "/tmp/a"), held(&fork, "/home/user/b"))
            };
            assert_eq!(state(&s), (Some(200_000), None));
            s.undo().unwrap();
            nap();
            assert_eq!(state(&s), (Some(10), None));
            s.redo().unwrap();
            s.redo().unwrap();
            nap();
            assert_eq!(state(&s), (Some(200_000), Some(3)));
            assert!(matches!(s.redo(), Err(Error::Store(_))));
        }
        s.restore(begun + 1).unwrap();
        assert_eq!((held(&s, "/tmp/a"), held(&s, "/home/user/b")), (Some(10), None));
        s.roll_back(begun).unwrap();
        assert_eq!((held(&s, "/tmp/a"), held(&s, "/home/user/b")), (None, None));
        assert!(s.undo().is_ok() && s.undo().is_ok(), "the two looks");
        assert!(matches!(s.undo(), Err(Error::Store(_))));
    }
}

fn nonce() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

#[test]
fn a_transaction_counts_whole_or_not_at_all() {
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        fill(&s, "/tmp/a", 1);
        let begun = s.head().unwrap().number;
        let failed: Result<(), Error> = s.transaction(|s| {
            fill(s, "/tmp/a", 2);
            fill(s, "/tmp/b", 2);
            Err(Error::Refused("no".into()))
        });
        assert!(matches!(failed, Err(Error::Refused(why)) if why == "no"));
        assert_eq!(s.head().unwrap().number, begun);
        assert_eq!((held(&s, "/tmp/a"), held(&s, "/tmp/b")), (Some(1), None));
        s.transaction(|s| {
            fill(s, "/tmp/b", 3);
            Ok::<_, Error>(())
        })
        .unwrap();
        assert_eq!(held(&s, "/tmp/b"), Some(3));
    }
}

#[test]
fn more_sessions_than_can_be_awake_take_turns() {
    for engine in BOTH.iter() {
        let sessions: Vec<Session> = (0..10).map(|_| engine.session(policy()).unwrap()).collect();
        assert!(sessions.iter().all(|s| !s.is_awake()));
        for (n, s) in sessions.iter().enumerate() {
            fill(s, "/tmp/n", n + 1);
        }
        std::thread::scope(|t| {
            for (n, s) in sessions.iter().enumerate() {
                t.spawn(move || {
                    for _ in 0..5 {
                        assert_eq!(held(s, "/tmp/n"), Some(n + 1));
                    }
                });
            }
        });
        assert!(sessions.iter().filter(|s| s.is_awake()).count() <= 4);
    }
}

#[test]
fn an_idle_session_has_no_process() {
    let idle = Some(Duration::from_millis(100));
    let engine = Engine::new(EngineOptions { idle, ..options(Isolation::Process) }).unwrap();
    let s = engine.session(policy()).unwrap();
    fill(&s, "/tmp/a", 5);
    let begun = Instant::now();
    while s.is_awake() {
        assert!(begun.elapsed() < LONG);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!((s.worker(), engine.awake()), (None, 0));
    assert_eq!(held(&s, "/tmp/a"), Some(5));
}

#[test]
fn a_store_has_its_sessions_for_another_process() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    let [process, threads] = &*BOTH;
    let store = process.store(&path).unwrap();
    let a = store.create("a", policy()).unwrap();
    assert!(matches!(store.create("a", policy()), Err(Error::Store(_))));
    fill(&a, "/tmp/x", 70_000);
    a.set_value(b"key", b"value").unwrap();
    let b = a.fork("b").unwrap();
    fill(&b, "/tmp/x", 7);
    drop((a, b, store));
    // Another engine takes the place of another process here; the tests of the command line use a
    // real one.
    let store = threads.store(&path).unwrap();
    let names: Vec<String> = store.list().unwrap().into_iter().map(|i| i.name).collect();
    assert_eq!(names, ["a", "b"]);
    let (a, b) = (store.session("a", policy()).unwrap(), store.session("b", policy()).unwrap());
    assert!(matches!(store.session("a", policy()), Err(Error::Store(_))), "it is held");
    assert_eq!((held(&a, "/tmp/x"), held(&b, "/tmp/x")), (Some(70_000), Some(7)));
    assert_eq!(a.value(b"key").unwrap().as_deref(), Some(&b"value"[..]));
    // The session is written to a file, and imported into another store.
    let mut file = Vec::new();
    a.snapshot(true, &mut file).unwrap();
    let other = process.store(&dir.path().join("v.wbx")).unwrap();
    let c = other.import("c", &*file, policy()).unwrap();
    assert_eq!(held(&c, "/tmp/x"), Some(70_000));
    assert_eq!(c.undo().unwrap().number, a.head().unwrap().number);
    assert!(store.store().check().unwrap().is_whole());
    drop(b);
    store.remove("b").unwrap();
    assert!(matches!(store.session("b", policy()), Err(Error::Store(_))));
}

#[test]
fn the_log_has_every_call_and_guests_have_none_of_it() {
    let engine = &BOTH[0];
    let s = engine.session(policy()).unwrap();
    fill(&s, "/tmp/a b", 1);
    let mut spin = Exec::new(["spin"]);
    spin.timeout = Some(Duration::from_millis(100));
    assert_eq!(s.exec(spin).unwrap().exit_code, 124);
    assert!(s.exec(Exec::new(["nosuch"])).is_err());
    let mut log = Vec::new();
    s.audit(&mut |time, entry| {
        assert!(time > 1_700_000_000_000_000_000);
        log.push(serde_json::from_str::<serde_json::Value>(entry).unwrap());
    })
    .unwrap();
    let part = |n: usize, key: &str| log[n][key].clone();
    assert_eq!(log.len(), 3, "{log:?}");
    assert_eq!((part(0, "command"), part(0, "exit_code")), ("fill '/tmp/a b' 1".into(), 0.into()));
    assert_eq!((part(1, "exit_code"), part(1, "limit_hit")), (124.into(), "timeout".into()));
    assert!(part(2, "error").as_str().unwrap().contains("not found"));
}

#[test]
fn a_busy_session_says_so_or_is_waited_for() {
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        fill(&s, "/tmp/a", 1);
        let interrupt = s.interrupter();
        std::thread::scope(|t| {
            let runs = t.spawn(|| s.exec(Exec::new(["spin"])).unwrap().exit_code);
            let begun = Instant::now();
            while !matches!(s.try_exec(Exec::new(["echo"])), Err(Error::Busy)) {
                assert!(begun.elapsed() < LONG);
            }
            let waits = t.spawn(|| held(&s, "/tmp/a"));
            std::thread::sleep(Duration::from_millis(50));
            assert!(!waits.is_finished());
            interrupt.interrupt();
            assert_eq!((runs.join().unwrap(), waits.join().unwrap()), (130, Some(1)));
        });
    }
}

#[test]
fn output_comes_while_a_call_runs() {
    use std::io::{PipeReader, Read, Write};
    for engine in BOTH.iter() {
        let s = engine.session(policy()).unwrap();
        fill(&s, "/tmp/a", 1);
        let (mut out, theirs): (PipeReader, _) = std::io::pipe().unwrap();
        let (input, mut feed) = std::io::pipe().unwrap();
        let null = std::fs::File::options().write(true).open("/dev/null").unwrap();
        let mut cat = Exec::new(["cat"]);
        (cat.input, cat.output) = (wasibox::Input::Inherit, Output::Inherit);
        std::thread::scope(|t| {
            let s = &s;
            let runs = t.spawn(move || {
                let streams =
                    wasibox::InheritedStreams { stdin: &input, stdout: &theirs, stderr: &null };
                s.exec_on(cat, &streams).unwrap().exit_code
            });
            for text in [b"first\n", b"again\n"] {
                feed.write_all(text).unwrap();
                let mut got = [0; 6];
                out.read_exact(&mut got).unwrap();
                assert_eq!(&got, text);
            }
            assert!(!runs.is_finished());
            drop(feed);
            assert_eq!(runs.join().unwrap(), 0);
        });
    }
}
