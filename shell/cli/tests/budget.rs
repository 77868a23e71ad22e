//! Bombs end soon, with a message and a status; the command line sets the budgets.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Returns the example binary, which cargo builds along with the tests.
fn ours() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.parent().and_then(Path::parent).unwrap().join("examples/bash")
}

fn run(options: &[&str], script: &str) -> Output {
    let start = Instant::now();
    let dir = std::env::temp_dir().join(format!("sh-budget-{}-{start:?}", std::process::id()));
    // Scripts may be longer than an argument can be.
    std::fs::write(&dir, script).unwrap();
    let out = Command::new(ours())
        .args(options)
        .arg(&dir)
        .stdin(Stdio::null())
        .env_remove("BOX_BUDGET")
        .output()
        .unwrap();
    std::fs::remove_file(&dir).unwrap();
    // This takes seconds in a release build, but this build may be unoptimised, on a busy machine.
    assert!(start.elapsed() < Duration::from_secs(60), "{:.60}", script);
    out
}

fn ends_with(options: &[&str], script: &str, status: i32, message: &str) {
    let out = run(options, script);
    let err = String::from_utf8_lossy(&out.stderr);
    assert!(err.contains(message), "{script:.60}: {err:.300}");
    assert_eq!(out.status.code(), Some(status), "{script:.60}: {err:.300}");
    assert!(err.lines().count() < 20 || message.contains("nesting"), "{script:.60}: {err:.300}");
}

#[test]
fn bombs() {
    let (open, close) = ("(".repeat(100_000), ")".repeat(100_000));
    for (script, message) in [
        ("echo {1..1000000000}; echo no", "brace expansion"),
        (
            "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
            "limit",
        ),
        ("x=aaaaaaaaaa; for i in 1 2 3 4 5 6 7 8; do x=${x//a/$x}; done; echo no", "limit reached"),
        ("x=aaaaaaaa; while :; do x=$x$x; done", "limit reached"),
        ("x=aaaaaaaa; while :; do x+=$x; done", "limit reached"),
        ("a=(1 2 3); while :; do a+=(\"${a[@]}\"); done", "limit reached"),
        ("set a b c; while :; do set \"$@\" \"$@\"; done", "limit reached"),
        ("read x < /dev/zero", "limit reached"),
        ("mapfile x < /dev/zero", "limit reached"),
        ("printf '%2000000000d' 1; echo no", "limit reached"),
        ("x=$(while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done)", "limit reached"),
        ("f() { f; }; f; echo no", "nesting level exceeded"),
        ("f() { (f); }; f", "nesting level exceeded"),
        ("f='eval \"$f\"'; eval \"$f\"", "nesting level exceeded"),
        ("set -- '${@@P}'; echo \"${@@P}\"", "nesting level exceeded"),
        ("trap 'eval \"$t\"' EXIT; t='eval \"$t\"'; eval \"$t\"", "nesting level exceeded"),
    ] {
        ends_with(&["--budget", "strict,commands=unlimited,loops=unlimited"], script, 1, message);
    }
    ends_with(&[], &open, 2, "unexpected EOF");
    ends_with(&[], &format!("{open}:{close}"), 1, "");
    ends_with(&[], &format!("echo $(({open}1{close}))"), 1, "");
    ends_with(&[], &"echo $(".repeat(1000), 2, "nesting level exceeded");
    ends_with(&[], &format!("x={}; echo ${{#x}} >&2", "a".repeat(1_000_000)), 0, "1000000");
}

#[test]
fn counters() {
    for (budget, script, message) in [
        ("commands=100", "while :; do :; done", "too many commands executed"),
        ("loops=100", "for ((;;)); do ((i++)); done", "too many loop iterations"),
        ("depth=50", "f() { f; }; f", "maximum function nesting level exceeded (50)"),
        ("expansion=1K", "x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", "expansion too large"),
        ("output=1K", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done", "too much output"),
        ("processes=5", "while :; do /bin/true; done", "too many processes started"),
        ("background=3", "while :; do sleep 0.3 & done", "too many background processes"),
    ] {
        ends_with(&["--budget", budget], script, 1, message);
    }
    // A subshell continues from its parent's counters, at any depth.
    let script = "f() { for i in {1..50}; do :; done; f | cat; }; f";
    ends_with(&["--budget", "commands=300"], script, 0, "too many commands executed");
    // The EXIT trap still runs, and children have the limits, too.
    let out = run(&["--budget=loops=1000"], "trap 'echo bye' EXIT; while :; do :; done");
    assert_eq!(out.stdout, b"bye\n");
    let out = run(&["--budget=strict"], "echo $BOX_BUDGET");
    assert_eq!(out.stdout, b"strict\n");
}

#[test]
fn wrong_limits() {
    let out = run(&["--budget", "loose"], "echo no");
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).ends_with("--budget: loose: invalid limit\n"));
}
