//! Programs that run beside a session's calls.

use std::io::{Read, Write};
use std::time::{Duration, Instant};
use wasibox::{End, Error, Exec, Input, Isolation, Policy, Session, SpawnedProcess};
use wasibox_sessions::{engine, policy, sh};

const BOTH: [Isolation; 2] = [Isolation::Process, Isolation::Threads];

fn begin(session: &Session, script: &str) -> SpawnedProcess {
    session.spawn(Exec::new(["sh", "-c", script])).expect("a process")
}

fn output(process: SpawnedProcess) -> (String, End) {
    let mut text = String::new();
    let SpawnedProcess { mut stdout, end, .. } = process;
    stdout.read_to_string(&mut text).expect("its output");
    (text, end.wait().end)
}

#[test]
fn calls_and_files_go_on_meanwhile() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let long = begin(&session, "while [ ! -e /tmp/go ]; do sleep 0.01; done; echo went");
        assert_eq!(sh(&session, "echo meanwhile"), "meanwhile\n");
        let short = begin(&session, "echo short; exit 3");
        assert_ne!(short.pid, long.pid);
        assert_eq!(output(short), ("short\n".into(), End::Exited(3)));
        // Both see each other's processes and files.
        let seen = sh(&session, &format!("kill -0 {} && echo alive; touch /tmp/go", long.pid));
        assert_eq!(seen, "alive\n");
        assert_eq!(output(long), ("went\n".into(), End::Exited(0)));
    }
}

#[test]
fn input_and_signals_reach_a_process() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let mut exec = Exec::new(["cat"]);
        exec.input = Input::Inherit;
        let mut cat = session.spawn(exec).unwrap();
        cat.stdin.as_mut().unwrap().write_all(b"typed").unwrap();
        let mut typed = [0; 5];
        cat.stdout.read_exact(&mut typed).unwrap();
        assert_eq!(&typed, b"typed");
        drop(cat.stdin.take());
        assert_eq!(cat.end.wait().end, End::Exited(0));

        // The signal reaches the whole run, also while a call runs.
        let sleeping = begin(&session, "sleep 60; echo over");
        let pid = sleeping.pid;
        let call = std::thread::scope(|scope| {
            let call = scope.spawn(|| sh(&session, "sleep 0.5; echo call"));
            std::thread::sleep(Duration::from_millis(100));
            session.signal(pid, 9);
            assert_eq!(output(sleeping), (String::new(), End::Signaled(9)));
            call.join().unwrap()
        });
        assert_eq!(call, "call\n");
        assert_eq!(sh(&session, &format!("kill -0 {pid} 2> /dev/null || echo gone")), "gone\n");
    }
}

#[test]
fn what_a_process_writes_is_kept() {
    for isolation in BOTH {
        let engine = engine(isolation);
        let session = engine.session(policy()).unwrap();
        let before = session.head().unwrap().number;
        let (_, end) = output(begin(&session, "echo kept > /tmp/a"));
        assert_eq!(end, End::Exited(0));
        // The change becomes a commit soon, without another call.
        let until = Instant::now() + Duration::from_secs(10);
        while session.head().unwrap().number == before && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(session.head().unwrap().number > before);
        // One that is alive when the session goes to sleep is killed, and its changes stay.
        let alive = begin(&session, "echo more > /tmp/b; echo written; sleep 60");
        let SpawnedProcess { mut stdout, end, .. } = alive;
        let mut line = [0; 8];
        stdout.read_exact(&mut line).unwrap();
        session.park();
        assert!(matches!(end.wait().end, End::Signaled(9) | End::Interrupted));
        assert_eq!(sh(&session, "cat /tmp/a /tmp/b"), "kept\nmore\n");
    }
}

#[test]
fn limits_hold_for_processes_beside_calls() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let mut exec = Exec::new(["sleep", "60"]);
    exec.timeout = Some(Duration::from_millis(200));
    let end = session.spawn(exec).unwrap().end.wait().end;
    assert_eq!(end.exit_code(), 124);
    let mut limits = policy().limits;
    limits.cpu = Some(Duration::from_millis(300));
    let session = engine.session(Policy { limits, ..policy() }).unwrap();
    let end = begin(&session, "while :; do :; done").end.wait().end;
    assert_eq!(end.exit_code(), 152);
    // Neither a missing program nor a script runs.
    let missing = session.spawn(Exec::new(["no-such-program"]));
    assert!(matches!(missing, Err(Error::Sandbox(_))), "{:?}", missing.err());
    assert!(matches!(session.spawn(Exec::script("true")), Err(Error::Request(_))));
}

#[test]
fn orphans_of_a_process_continue() {
    let engine = engine(Isolation::Process);
    let session = engine.session(policy()).unwrap();
    let process = begin(
        &session,
        "(while [ ! -e /tmp/go ]; do sleep 0.01; done; touch /tmp/done) > /dev/null 2>&1 & echo left",
    );
    assert_eq!(output(process), ("left\n".into(), End::Exited(0)));
    let script = "touch /tmp/go; while [ ! -e /tmp/done ]; do sleep 0.01; done; echo done";
    assert_eq!(sh(&session, script), "done\n");
}
