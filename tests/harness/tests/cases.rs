//! Every case of `tests/cases`, under every target it names.

use wasibox_tests::case::{Target, load};
use wasibox_tests::root;
use wasibox_tests::run::{Subject, check, run};

fn all(subject: Subject, wants: impl Fn(&wasibox_tests::case::Case) -> bool) {
    let mut failures = Vec::new();
    let mut ran = 0;
    for (path, file) in load(&root().join("tests/cases")) {
        for case in file.case.iter().filter(|c| wants(c)) {
            ran += 1;
            if let Some(report) = check(subject, case, &run(subject, case)) {
                failures.push(format!("{}: {report}", path.display()));
            }
        }
    }
    assert!(ran > 0, "no case for {subject:?}");
    assert!(failures.is_empty(), "{} of {ran} failed\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn native() {
    all(Subject::Native, |c| c.targets.contains(&Target::Native));
}

#[test]
fn wasm() {
    all(Subject::Wasm, |c| c.targets.contains(&Target::Wasm));
}

/// The authority itself, where this machine has it: expected values cannot drift.
#[test]
fn oracle() {
    let version =
        std::process::Command::new("/bin/bash").args(["-c", "echo $BASH_VERSION"]).output();
    let version =
        version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    if !version.starts_with("5.2") {
        eprintln!("no bash 5.2 here ({version:?}): the expected values stand unconfirmed");
        return;
    }
    all(Subject::Oracle, |c| c.deviation.is_none());
}
