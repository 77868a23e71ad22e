//! Tests real work in the image, through `runner exec`, as a user would type it.

use std::fmt::Write as _;
use std::process::Command;

use wasibox_tests::exec::Exec;
use wasibox_tests::root;

/// Returns the output of the machine's own bash and tools.
fn oracle(script: &str, dir: &std::path::Path) -> String {
    let out = Command::new("/bin/bash")
        .args(["-c", script])
        .current_dir(dir)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash");
    String::from_utf8(out.stdout).expect("UTF-8")
}

/// Writes a log of about 100 MB with a fixed, irregular mix of levels and services.
fn big_log(path: &std::path::Path) {
    let mut text = String::with_capacity(101 << 20);
    let mut seed = 12345u32;
    while text.len() < 100 << 20 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let level = ["INFO", "DEBUG", "WARN", "ERROR", "INFO"][(seed >> 16) as usize % 5];
        let service = ["auth", "db", "web", "cache", "queue", "mail"][(seed >> 20) as usize % 6];
        writeln!(
            text,
            "2026-01-01T00:00:00 {level} {service} request {seed} took {} ms",
            seed >> 22
        )
        .expect("string");
    }
    std::fs::write(path, text).expect("log");
}

#[test]
fn log_statistics() {
    let dir = tempfile::tempdir().expect("dir");
    big_log(&dir.path().join("app.log"));
    let script =
        "grep -E 'ERROR|WARN' app.log | awk '{print $3}' | sort | uniq -c | sort -rn | head";
    let ours = Exec::sh(script).mount(dir.path(), "/data:ro").opt(&["--cwd", "/data"]).ok();
    assert_eq!(ours, oracle(script, dir.path()));
    assert_eq!(ours.lines().count(), 6);
}

#[test]
fn source_tree() {
    let here = root();
    let in_tree = |script: &str| {
        Exec::sh(script).mount(&here.join("tools"), "/src:ro").opt(&["--cwd", "/src"]).ok()
    };
    let tree = here.join("tools");
    let count = "find . -name '*.rs' -print0 | xargs -0 wc -l | tail -1";
    assert_eq!(in_tree(count), oracle(count, &tree));
    let tar = "tar czf /tmp/s.tgz . && tar tzf /tmp/s.tgz | wc -l";
    assert_eq!(in_tree(tar), oracle("find . | wc -l", &tree));
    let grep = "grep -rn --include='*.rs' 'fn main' . | sort";
    assert_eq!(in_tree(grep), oracle(grep, &tree));
}

#[test]
fn json_into_a_loop() {
    let script = r#"echo '[{"n":"a","v":1},{"n":"b","v":22}]' |
        jq -r '.[] | "\(.n) \(.v)"' |
        while read -r name value; do echo "$name=$((value * 2))"; done"#;
    // The manual of jq: `-r` prints strings raw, `.[]` iterates.
    assert_eq!(Exec::sh(script).ok(), "a=2\nb=44\n");
}

#[test]
fn csv_sum_in_awk_and_python() {
    let dir = tempfile::tempdir().expect("dir");
    let mut csv = String::from("id,amount\n");
    for i in 0..10_000u32 {
        writeln!(csv, "{i},{}.{:02}", i % 97, i % 100).expect("string");
    }
    std::fs::write(dir.path().join("t.csv"), csv).expect("csv");
    let awk = "awk -F, 'NR > 1 { s += $2 } END { printf \"%.2f\\n\", s }' t.csv";
    let python = "python3 -c 'import csv; print(\"%.2f\" % sum(float(r[\"amount\"]) for r in csv.DictReader(open(\"t.csv\"))))'";
    let run = |s: &str| Exec::sh(s).mount(dir.path(), "/d:ro").opt(&["--cwd", "/d"]).ok();
    let (a, p) = (run(awk), run(python));
    assert_eq!(a, p);
    assert_eq!(a, oracle(awk, dir.path()));
}

#[test]
fn streams() {
    assert_eq!(Exec::sh("yes | head -1").ok(), "y\n");
    assert_eq!(Exec::sh("seq 1000000 | tail -1").ok(), "1000000\n");
    assert_eq!(Exec::sh("cat /dev/zero | head -c 300M | wc -c").ok(), "314572800\n");
}

#[test]
fn pipes_have_backpressure() {
    let done = Exec::sh("yes | sleep 3").opt(&["--json"]).run();
    let outcome: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON outcome");
    assert_eq!(outcome["exit_code"], 0, "{done:?}");
    let peak = outcome["peak_memory"].as_u64().expect("peak_memory");
    // Without a bound, a pipe would take hundreds of megabytes in three seconds.
    assert!(peak < 128 << 20, "peak memory {peak}");
}

#[test]
fn shell_grep_awk_jq_python_together() {
    let script = r#"for i in 1 2 3; do echo "{\"n\": $i}"; done | jq .n | grep -v 2 |
        awk '{ s += $1 } END { print s }' | python3 -c 'import sys; print(int(sys.stdin.read()) * 10)'"#;
    assert_eq!(Exec::sh(script).ok(), "40\n");
}
