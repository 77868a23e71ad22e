//! Tests workers that are stopped by SIGSTOP, like a hijacked one that no longer reads. The parent
//! waits for a limited time, and other sessions of the store do not wait at all.

use std::process::Command;
use std::time::{Duration, Instant};
use wasibox::{Exec, Isolation, LimitHit, Session};
use wasibox_sessions::*;

/// More than the ten seconds that the parent waits, for a busy machine.
const PATIENT: Duration = Duration::from_secs(60);

fn stop_worker(s: &Session) {
    let pid = s.worker().expect("a worker").to_string();
    assert!(Command::new("kill").args(["-STOP", &pid]).status().expect("kill").success());
}

#[test]
fn undo_of_a_stopped_worker_ends_and_holds_no_one_up() {
    let dir = tempfile::tempdir().unwrap();
    let store = engine(Isolation::Process).store(&dir.path().join("w.wbx")).unwrap();
    let (s, other) = (store.create("a", policy()).unwrap(), store.create("b", policy()).unwrap());
    assert_eq!(sh(&s, "head -c 8000000 /dev/urandom > /tmp/a"), "");
    assert_eq!(sh(&s, "rm /tmp/a"), "");
    assert_eq!(sh(&other, "echo 1"), "1\n");
    stop_worker(&s);
    let begun = Instant::now();
    std::thread::scope(|t| {
        let undo = t.spawn(|| s.undo());
        std::thread::sleep(Duration::from_secs(1));
        assert!(!undo.is_finished());
        let before = Instant::now();
        assert_eq!(sh(&other, "echo 2"), "2\n");
        assert!(before.elapsed() < Duration::from_secs(5), "{:?}", before.elapsed());
        assert!(!undo.is_finished());
        undo.join().unwrap().unwrap();
    });
    assert!(begun.elapsed() < PATIENT, "{:?}", begun.elapsed());
    assert_eq!(sh(&s, "wc -c < /tmp/a"), "8000000\n");
}

#[test]
fn a_long_script_does_not_outrun_its_limit_of_time() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    assert_eq!(sh(&s, "echo 1"), "1\n");
    stop_worker(&s);
    let mut exec = Exec::script(format!("echo '{}'", "x".repeat(2_000_000)));
    exec.timeout = Some(Duration::from_secs(1));
    let begun = Instant::now();
    let o = s.exec(exec).unwrap();
    assert_eq!((o.exit_code, o.limit_hit), (124, Some(LimitHit::Timeout)));
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(sh(&s, "echo 2"), "2\n");
}
