//! A process that is killed at any moment loses no more than the call that ran.

mod common;

use common::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;
use wasibox_store::Store;

const PATH: &str = "WASIBOX_KILL_STORE";

/// The number of kills, unless WASIBOX_KILLS is set; the long form has 100.
const KILLS: u64 = 20;

/// The child process: commits for ever, and prints each commit's number when it has returned.
#[test]
#[ignore = "the other half of the test below"]
fn child() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let store = Store::open(path.as_ref()).unwrap();
    let s = store.session("a").unwrap();
    let v = restored(&s);
    let mut known = v.tree_version();
    let mut random = Random(s.head().number);
    println!("\nbegun");
    loop {
        (0..10).for_each(|_| _ = random.act(&v));
        if std::process::id().is_multiple_of(3) {
            // A commit of several slices, which few processes live to complete.
            let large: Vec<u8> =
                (0..150_000).flat_map(|_| random.below(u64::MAX).to_le_bytes()).collect();
            write(&v, "/tmp/large", &large).unwrap();
        }
        write(&v, "/tmp/number", format!("{}", s.head().number + 1).as_bytes()).unwrap();
        let number = commit(&s, &v, &mut known).number;
        // Written to the pipe at once, because the parent may kill this process now.
        std::io::stdout().write_all(format!("\nat {number}\n").as_bytes()).unwrap();
        std::io::stdout().flush().unwrap();
        if number.is_multiple_of(50) {
            s.compact(20).unwrap();
            store.collect_garbage().unwrap();
        }
    }
}

#[test]
fn a_killed_process_loses_the_call_that_ran() {
    let kills = std::env::var("WASIBOX_KILLS").map_or(KILLS, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    drop(Store::open(&path).unwrap().create("a", None).unwrap());
    let mut random = Random(1);
    let mut last = 1;
    for _ in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(PATH, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.by_ref().map_while(Result::ok).find(|line| line == "begun").unwrap();
        std::thread::sleep(Duration::from_micros(random.below(40_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        for line in lines.map_while(Result::ok) {
            if let Some(number) = line.strip_prefix("at ") {
                last = number.parse().unwrap();
            }
        }
        let store = Store::open(&path).unwrap();
        // There is nothing to take over, because the system has released the dead process's lock.
        let s = store.session("a").unwrap();
        let head = s.head().number;
        assert!(head == last || head == last + 1, "{last} was told, {head} is there");
        last = head;
        let report = store.check().unwrap();
        assert!(report.is_whole(), "{report:?}");
        if head > 1 {
            let text = read(&restored(&s), "/tmp/number").unwrap();
            assert_eq!(text, format!("{head}").as_bytes());
        }
    }
    assert!(last > kills / 2, "{last} commits");
}
