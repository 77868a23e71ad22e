//! Tests that the runner leaves this machine's terminal as it was when a signal ends it. The terminal
//! is one of Linux's, which Python opens.

use std::process::Command;
use wasibox_sessions::dist;

#[test]
fn a_signal_leaves_the_terminal_as_it_was() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/host_terminal.py");
    let mut python = Command::new("python3");
    python.arg(script).arg(dist().join("runner")).arg(dist().join("image.webc"));
    let run = python.output().expect("python3");
    let (shown, errors) =
        (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines.len(), 6, "{shown}{errors}");
    for (line, status) in lines.iter().zip([143, 143, 143, 129, 129, 129]) {
        assert!(line.ends_with(&format!("True True {status}")), "{shown}");
    }
}
