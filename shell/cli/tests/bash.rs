//! Runs the scripts of `cases/` through our shell and compares standard output with that of bash
//! 5.2.15 (the `.out` files). Where this machine has bash 5.2, a second test checks that the files
//! still equal its output; `UPDATE=1` rewrites them from it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn cases() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut list: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().path())
        .filter(|p| p.extension().is_some_and(|x| x == "sh"))
        .collect();
    list.sort();
    assert!(list.len() >= 7);
    list
}

/// Returns the example binary: the shell with the host's programs. Cargo builds it along with the
/// tests.
fn ours() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let dir = exe.parent().and_then(Path::parent).unwrap();
    let dir = dir.join("examples");
    assert!(dir.join("bash").exists(), "{dir:?}: example `bash` not built");
    dir.join("bash")
}

/// Returns a command for a shell that ignores no signal, if coreutils' `env` is there to reset
/// them: tests may run under `nohup`, and a shell shows the signals that were ignored at its start.
fn undisturbed(shell: &Path) -> Command {
    const ENV: [&str; 2] = ["/usr/bin/env", "--default-signal"];
    let probe = Command::new(ENV[0]).args([ENV[1], "true"]).output();
    if !probe.is_ok_and(|o| o.status.success()) {
        return Command::new(shell);
    }
    let mut cmd = Command::new(ENV[0]);
    cmd.arg(ENV[1]).arg(shell);
    cmd
}

fn run(shell: &Path, script: &Path) -> String {
    // A name without machine paths, because $0 shows up in output.
    let out = undisturbed(shell)
        .arg(script.file_name().unwrap())
        .current_dir(script.parent().unwrap())
        .env_clear()
        .envs([
            ("PATH", "/usr/bin:/bin"),
            ("LC_ALL", "C.UTF-8"),
            ("TZ", "UTC"),
            ("HOME", "/"),
            ("TMPDIR", "/tmp"),
        ])
        .env("BASH", shell)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    format!("{}status {}\n", String::from_utf8_lossy(&out.stdout), out.status.code().unwrap_or(-1))
}

#[test]
fn as_recorded() {
    let mut failed = Vec::new();
    for script in cases() {
        let want = std::fs::read_to_string(script.with_extension("out")).unwrap();
        let got = run(&ours(), &script);
        if got != want {
            let diff: Vec<String> = want
                .lines()
                .zip(got.lines())
                .enumerate()
                .filter(|(_, (w, g))| w != g)
                .take(5)
                .map(|(i, (w, g))| format!("  line {}: want {w:?}\n           got {g:?}", i + 1))
                .collect();
            failed.push(format!("{}:\n{}", script.display(), diff.join("\n")));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn recorded_from_bash() {
    let bash = Path::new("/usr/bin/bash");
    let version = Command::new(bash).arg("--version").output();
    if !version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("version 5.2.")) {
        return;
    }
    for script in cases() {
        let says = run(bash, &script);
        let file = script.with_extension("out");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&file, &says).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap_or_default(), says, "{}", file.display());
    }
}
