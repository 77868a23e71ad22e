//! Expansions compared with bash: each line of `snippets/*.sh` runs in the test shell and in bash
//! 5.2, and both must print the same on both streams.
//!
//! `p` prints its arguments in angle brackets, with their number. Lines run in a directory
//! with a few files, with `HOME=/h`. Comments begin with `#`.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::Shell;

const PRELUDE: &str = "shopt -s extglob\nHOME=/h; PWD=/w; unset OLDPWD; p(){ local IFS=' '; printf '%d:' $#; printf '<%s>' \"$@\"; echo; }\n";

fn fixture() -> PathBuf {
    let dir = std::env::temp_dir().join(format!("sh-expand-{}", std::process::id()));
    for path in [
        "d/e/f.c", "d/g.c", "a.c", "b.c", "c.h", "B.txt", ".hid", "d/.hid2", "sp ace", "x[1]",
        "st*r", "k/l/m.c", "1", "é",
    ] {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().expect("has a parent")).expect("can make folders");
        std::fs::write(path, "").expect("can make files");
    }
    for (target, name) in [("d", "link"), ("nowhere", "dangling")] {
        // Left from an earlier test of the same process.
        let _ = std::os::unix::fs::symlink(target, dir.join(name));
    }
    dir
}

/// Messages without `bash: line 3: ` in front.
fn bare(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let mut out = String::new();
    for line in text.lines() {
        let line = line.strip_prefix("bash: ").unwrap_or(line);
        let line = match line.strip_prefix("line ").and_then(|rest| rest.split_once(": ")) {
            Some((_, rest)) => rest,
            None => line,
        };
        out.push_str(line);
        out.push('\n');
    }
    out
}

fn in_bash(dir: &Path, snippet: &str) -> (String, String) {
    let output = Command::new("bash")
        .arg("-c")
        .arg(format!("{PRELUDE}{snippet}"))
        .current_dir(dir)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash is needed for this test");
    (String::from_utf8_lossy(&output.stdout).into_owned(), bare(&output.stderr))
}

fn here(dir: &Path, snippet: &str) -> (String, String) {
    let mut shell = Shell::new(dir.to_path_buf());
    let result = shell.run(snippet);
    let mut err = String::from_utf8_lossy(&shell.err).into_owned();
    if let Err(what) = result {
        err.push_str(&format!("NOT RUN: {what}\n"));
    }
    (String::from_utf8_lossy(&shell.out).into_owned(), err)
}

fn compare(file: &str) {
    let dir = fixture();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snippets").join(file);
    let text = std::fs::read_to_string(path).expect("the snippets are there");
    let mut failures = 0;
    let mut count = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        // `⏎` stands for a newline, so that a here-document fits on a line.
        let snippet = line.replace('⏎', "\n");
        count += 1;
        let (expected, got) = (in_bash(&dir, &snippet), here(&dir, &snippet));
        if expected != got {
            failures += 1;
            println!("--- {line}\nbash: {}{}ours: {}{}", expected.0, expected.1, got.0, got.1);
        }
    }
    assert!(count > 0, "no snippets in {file}");
    assert_eq!(failures, 0, "{failures} of {count} snippets of {file} differ from bash");
}

macro_rules! files {
    ($($test:ident: $file:literal,)*) => { $(#[test] fn $test() { compare($file); })* };
}

files! {
    parameters: "parameters.sh",
    splitting: "splitting.sh",
    braces_and_tildes: "braces.sh",
    arithmetic: "arithmetic.sh",
    pathnames: "pathnames.sh",
    contexts: "contexts.sh",
}
