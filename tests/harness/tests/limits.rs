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

/// `df`, `stat -f` and statvfs(3) tell of the limit and of what is used.
#[test]
fn free_space_is_shown() {
    let script = "head -c 20M /dev/zero > f; df -B1M --output=size,used,avail . | tail -1
        stat -f -c '%S %b' .
        python3 -c 'import shutil; u = shutil.disk_usage(\".\"); print(u.total >> 20, u.used >> 20)'";
    let done = Exec::sh(script).opt(&["--disk", "64M"]).ok();
    let numbers: Vec<u64> = done.split_whitespace().map(|n| n.parse().unwrap()).collect();
    let [size, used, free, block, blocks, total, taken] = numbers[..] else { panic!("{done}") };
    assert_eq!((size, block * blocks, total), (64, 64 << 20, 64), "{done}");
    assert!((20..=22).contains(&used) && free <= 44 && (20..=22).contains(&taken), "{done}");
}

#[test]
fn output_is_bounded() {
    let done = Exec::sh("yes").opt(&["--output-limit", "1M", "--timeout", "20"]).run();
    assert!(done.stdout.len() <= 1 << 20, "{}", done.stdout.len());
    assert_ne!(done.status, 0);
}

#[test]
fn a_preset_bounds_the_shells_loops() {
    // docs/budgets.md: strict allows 1,000,000 rounds of loops.
    let script = "for ((i = 0; i < 1100000; i++)); do :; done; echo all";
    let strict = Exec::sh(script).opt(&["--limits", "strict"]).run();
    assert_eq!((strict.status, &*strict.stdout), (1, ""), "{strict:?}");
    assert!(strict.stderr.contains("limit reached: too many"), "{strict:?}");
    let own = ["--limits", "strict", "--env", "BOX_BUDGET=normal"];
    assert_eq!(Exec::sh(script).opt(&own).run().stdout, "all\n");
}
