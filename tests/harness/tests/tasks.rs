//! Runs tasks of several steps, as a model or a person writes them: `tests/tasks/NAME.sh`.
//! `NAME.out` has the output of each, and its status in a last line, from bash 5.2, GNU's tools, jq
//! 1.8 and CPython 3.13.
//!
//! `docs/programs.md` has the results.

use wasibox_tests::case::{Case, Target};
use wasibox_tests::root;
use wasibox_tests::run::{Subject, check, run};

/// Runs the selected tasks. Panics with the differences from the expected output.
fn all(subject: Subject, wants: impl Fn(&str) -> bool) {
    let mut failures = Vec::new();
    let mut ran = 0;
    let dir = root().join("tests/tasks");
    let entries = std::fs::read_dir(&dir).expect("folder of tasks");
    for script in entries.map(|e| e.expect("readable folder").path()) {
        if script.extension().is_none_or(|e| e != "sh") {
            continue;
        }
        let text = std::fs::read_to_string(&script).expect("a task");
        if !wants(&text) {
            continue;
        }
        let wanted = std::fs::read_to_string(script.with_extension("out")).expect("its output");
        let (stdout, status) = wanted.trim_end().rsplit_once("status ").expect("a last line");
        let case = Case {
            name: script.display().to_string(),
            script: text,
            stdin: String::new(),
            files: Default::default(),
            stdout: stdout.to_string(),
            stderr: None,
            status: status.parse().expect("a number"),
            targets: vec![Target::Native, Target::Wasm],
            deviation: None,
        };
        ran += 1;
        failures.extend(check(subject, &case, &run(subject, &case)));
    }
    assert!(ran > 0, "no task for {subject:?}");
    assert!(failures.is_empty(), "{} of {ran} failed\n{}", failures.len(), failures.join("\n"));
}

/// Runs our shell and tools natively. Tasks with Python are left out, because there is no native
/// build of ours.
#[test]
fn native() {
    all(Subject::Native, |text| !text.contains("python3"));
}

#[test]
fn wasm() {
    all(Subject::Wasm, |_| true);
}
