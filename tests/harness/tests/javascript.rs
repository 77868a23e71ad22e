//! Scripts in JavaScript: `tests/javascript/FILE` has cases, each begun by a line `//# NAME`; FILE.out has what
//! Node 24 prints for each and its status, recorded by `cargo xtask javascript`.

use std::path::Path;

use wasibox_tests::case::{Case, Target};
use wasibox_tests::root;
use wasibox_tests::run::{Subject, check, run};

/// Names and texts of the parts of a file.
fn parts(text: &str) -> Vec<(&str, &str)> {
    text.split("//# ").skip(1).filter_map(|part| part.split_once('\n')).collect()
}

/// The cases of a file.
fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("cases");
    let wanted = std::fs::read_to_string(format!("{}.out", file.display())).expect("outputs");
    let (cases, wanted) = (parts(&text), parts(&wanted));
    assert_eq!(cases.len(), wanted.len(), "{}: record it again", file.display());
    let script = format!("case.{}", file.extension().expect("an extension").display());
    cases
        .into_iter()
        .zip(wanted)
        .map(|((name, text), (head, stdout))| {
            let (recorded, status) = head.rsplit_once(" = ").expect("a status");
            assert_eq!(name, recorded, "{}: record it again", file.display());
            Case {
                name: format!("{}: {name}", file.display()),
                script: format!("node {script}"),
                stdin: String::new(),
                files: [(script.clone(), text.to_string())].into(),
                stdout: stdout.to_string(),
                stderr: None,
                status: status.parse().expect("a number"),
                targets: vec![Target::Wasm],
                deviation: None,
            }
        })
        .collect()
}

fn file(name: &str) {
    let cases = cases(&root().join("tests/javascript").join(name));
    let failures: Vec<String> = cases
        .iter()
        .flat_map(|case| check(Subject::Wasm, case, &run(Subject::Wasm, case)))
        .collect();
    let (failed, all) = (failures.len(), cases.len());
    assert!(failed == 0, "{failed} of {all} failed\n{}", failures.join("\n"));
}

#[test]
fn language() {
    file("language.js");
}

#[test]
fn inspect() {
    file("inspect.js");
}

#[test]
fn core() {
    file("core.js");
}

#[test]
fn system() {
    file("system.js");
}

#[test]
fn process() {
    file("process.js");
}

#[test]
fn network() {
    file("network.js");
}

#[test]
fn modules() {
    file("modules.mjs");
}

#[test]
fn typescript() {
    file("typescript.ts");
}

#[test]
fn limits() {
    file("limits.js");
}
