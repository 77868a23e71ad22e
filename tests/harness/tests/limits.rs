//! Tests limits: what a hostile or careless guest attempts is ended or refused with a clear
//! message.

use std::time::Duration;

use wasibox_tests::exec::Exec;

/// Checks that `--timeout 1` ends a command soon, with status 124 and a message.
fn timed_out(exec: Exec) {
    let done = exec.opt(&["--timeout", "1"]).run();
    assert_eq!(done.status, 124, "{done:?}");
    assert!(done.stderr.to_lowercase().contains("time"), "no message: {done:?}");
    assert!(done.wall >= Duration::from_secs(1), "{done:?}");
    // Users are promised 1.5 s; this bound is larger because the machine may be busy.
    assert!(done.wall < Duration::from_secs(10), "{done:?}");
}

#[test]
fn endless_loops_end() {
    timed_out(Exec::sh("while true; do :; done"));
    timed_out(Exec::new(&["python3", "-c", "while True: pass"]));
    timed_out(Exec::new(&["sleep", "100"]));
    timed_out(Exec::sh("yes | cat >/dev/null"));
}

#[test]
fn memory_is_bounded() {
    let done = Exec::new(&["python3", "-c", "x = 'a' * (1 << 40)"]).run();
    assert_ne!(done.status, 0);
    assert!(done.stderr.contains("Error"), "{done:?}");
    let script = "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done";
    let done = Exec::sh(script).opt(&["--timeout", "60", "--memory", "256M"]).run();
    assert_ne!(done.status, 0, "{done:?}");
    assert_ne!(done.status, 124, "stopped by time, not by memory: {done:?}");
    assert!(!done.stderr.trim().is_empty(), "no message: {done:?}");
}

#[test]
fn process_count_is_bounded() {
    let script = "for i in $(seq 10000); do sleep 100 & done; echo survived";
    let done = Exec::sh(script).opt(&["--timeout", "60"]).run();
    assert!(!done.stderr.trim().is_empty(), "no message: {done:?}");
    assert!(done.wall < Duration::from_secs(70), "{done:?}");
}

#[test]
fn disk_is_bounded() {
    let script = "head -c 10G /dev/zero > /tmp/big; echo status=$?; rm -f /tmp/big; echo ok > /tmp/small && cat /tmp/small";
    let done = Exec::sh(script).opt(&["--disk", "64M"]).run();
    assert!(done.stdout.starts_with("status=1\n"), "{done:?}");
    assert!(done.stdout.ends_with("ok\n"), "{done:?}");
    assert!(done.stderr.contains("No space left on device"), "{done:?}");
}

#[test]
fn output_is_bounded() {
    let done = Exec::sh("yes").opt(&["--output-limit", "1M", "--timeout", "20"]).run();
    assert!(done.stdout.len() <= 1 << 20, "{}", done.stdout.len());
    assert_ne!(done.status, 0);
}
