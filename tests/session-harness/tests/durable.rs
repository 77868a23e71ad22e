//! Tests a process with a store that is killed at a random moment.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wasibox::Isolation;
use wasibox_sessions::*;

const STORE: &str = "WASIBOX_KILL_STORE";
/// The maximum number of calls of a process.
const CALLS: u64 = 20;
/// The number of kills. The variable WASIBOX_KILLS changes it; the long form of the test uses 300.
const KILLS: u64 = 15;

/// Runs as the process that is killed: makes calls of the shell and cells in turn, and prints a
/// line after each.
#[test]
#[ignore = "the other half of the test below"]
fn child() {
    let Some(path) = std::env::var_os(STORE) else { return };
    let store = engine(Isolation::Process).store(path.as_ref()).unwrap();
    let s = store.session("a", policy()).unwrap();
    let told = |text: String| {
        // The line is written to the pipe at once, because this process may be killed now.
        std::io::stdout().write_all(text.as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
    };
    told("\nbegun\n".into());
    for _ in 0..CALLS {
        let next = s.head().unwrap().number + 1;
        if next.is_multiple_of(2) {
            let script =
                format!("n={next}; echo {next} > /tmp/n; head -c {next} /dev/zero > ~/f$((n % 7))");
            assert_eq!(sh(&s, &script), "");
        } else {
            let code = format!(
                "n = {next}; held = list(range({next}))\nopen('/tmp/n', 'w').write('{next}\\n');"
            );
            s.python(code).unwrap();
        }
        told(format!("\nat {next}\n"));
    }
}

#[test]
fn a_killed_process_loses_the_call_that_ran() {
    let kills = std::env::var("WASIBOX_KILLS").map_or(KILLS, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    let engine = engine(Isolation::Process);
    drop(engine.store(&path).unwrap().create("a", policy()).unwrap());
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1;
    let mut below = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    let mut last = 1;
    for _ in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(STORE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.by_ref().map_while(Result::ok).find(|line| line == "begun").unwrap();
        std::thread::sleep(Duration::from_micros(below(400_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("at ") {
                last = number.parse().unwrap();
            }
        }
        let store = engine.store(&path).unwrap();
        let report = store.store().check().unwrap();
        assert!(report.is_whole(), "{report:?}");
        // No takeover is necessary, because the dead process's lock went with it.
        let s = store.session("a", policy()).unwrap();
        let head = s.head().unwrap().number;
        assert!(head == last || head == last + 1, "{last} was told, {head} is there");
        last = head;
        if head < 4 {
            continue;
        }
        // Looking is a call, so it is made in a fork of the session.
        let fork = s.fork("look").unwrap();
        let (even, odd) = (head & !1, (head - 1) | 1);
        assert_eq!(sh(&fork, "cat /tmp/n; echo $n"), format!("{head}\n{even}\n"));
        assert_eq!(py(&fork, "n, len(held)"), format!("({odd}, {odd})"));
        drop(fork);
        store.remove("look").unwrap();
    }
    assert!(last > 1, "{last} commits");
}
