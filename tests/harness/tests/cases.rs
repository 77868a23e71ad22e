//! Runs every case of `tests/cases` on every target that it names.

use std::path::Path;
use wasibox_tests::case::{Case, CaseFile, Target, load};
use wasibox_tests::root;
use wasibox_tests::run::{Subject, check, run};

fn all(subject: Subject, wants: impl Fn(&Case) -> bool, knows: impl Fn(&Path, &CaseFile) -> bool) {
    let mut failures = Vec::new();
    let mut ran = 0;
    for (path, file) in load(&root().join("tests/cases")) {
        if !knows(&path, &file) {
            continue;
        }
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
    all(Subject::Native, |c| c.targets.contains(&Target::Native), |_, _| true);
}

#[test]
fn wasm() {
    all(Subject::Wasm, |c| c.targets.contains(&Target::Wasm), |_, _| true);
}

/// Runs the authority itself if it is installed on this machine, so that expected values cannot
/// drift.
#[test]
fn oracle() {
    let told = |program: &str, args: &[&str]| {
        let output = std::process::Command::new(program).args(args).output();
        output.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default()
    };
    let version = told("/bin/bash", &["-c", "echo $BASH_VERSION"]);
    if !version.starts_with("5.2") {
        eprintln!("bash 5.2 is not installed ({version:?}): the expected values are not checked");
        return;
    }
    // Distributions keep older versions for years, and on many systems `awk` is another program.
    let versions = [
        ("jq 1.8", "jq", "jq-1.8"),
        ("gawk", "awk", "GNU Awk"),
        ("GNU make", "make", "GNU Make 4.4"),
        ("SQLite", "sqlite3", "3.54."),
        ("Lua", "lua", "Lua 5.4"),
        ("less", "less", "less 668"),
        ("ripgrep", "rg", "ripgrep 15.2"),
        ("Perl's shasum", "shasum", "6.04"),
    ];
    let is_same_version = |authority: &str| {
        let known = versions.iter().find(|(name, ..)| authority.starts_with(name));
        known.is_none_or(|(_, program, version)| {
            let option = if ["lua", "shasum"].contains(program) { "-v" } else { "--version" };
            told(program, &[option]).starts_with(version)
        })
    };
    // A file in `tools` that is named after a program tests that program.
    let is_here = |path: &Path| {
        let name = path.file_stem().unwrap_or_default();
        let other = path.parent().is_none_or(|p| !p.ends_with("tools"));
        let group = ["diff", "jq18", "missing", "replace", "system", "text"];
        let built_in = ["kill", "time"];
        other
            || group.iter().chain(&built_in).any(|n| *n == name)
            || ["/usr/bin", "/bin"].iter().any(|dir| Path::new(dir).join(name).exists())
    };
    let knows = |path: &Path, f: &CaseFile| {
        // Another program of the host may use the port.
        let needs_port = f.authority.contains("netcat");
        let known = is_here(path) && !needs_port && is_same_version(&f.authority);
        if !known {
            eprintln!("{} is unconfirmed: there is no {} here", path.display(), f.authority);
        }
        known
    };
    let is_known = |c: &Case| is_same_version("gawk") || !c.script.contains("awk -i inplace");
    all(Subject::Oracle, |c| c.deviation.is_none() && is_known(c), knows);
}
