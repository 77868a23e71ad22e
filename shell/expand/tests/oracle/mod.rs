//! Runs the same snippet in bash and in the test shell.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Shell;

const PRELUDE: &str = "shopt -s extglob\nHOME=/h; PWD=/w; unset OLDPWD; p(){ local IFS=' '; printf '%d:' $#; printf '<%s>' \"$@\"; echo; }\n";

/// Creates a folder with a few files.
pub fn fixture() -> PathBuf {
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
        // The link may exist from an earlier test in the same process.
        let _ = std::os::unix::fs::symlink(target, dir.join(name));
    }
    dir
}

/// Returns messages without `bash: line 3: ` in front.
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

/// Runs a snippet in bash and returns both output streams.
pub fn in_bash(dir: &Path, snippet: &str) -> (String, String) {
    let output = Command::new("bash")
        .arg("-c")
        .arg(format!("{PRELUDE}{snippet}"))
        .current_dir(dir)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .expect("bash is needed for this test");
    (String::from_utf8_lossy(&output.stdout).into_owned(), bare(&output.stderr))
}

/// Runs a snippet in the test shell and returns both output streams.
pub fn here(dir: &Path, snippet: &str) -> (String, String) {
    let mut shell = Shell::new(dir.to_path_buf());
    let result = shell.run(snippet);
    let mut err = String::from_utf8_lossy(&shell.err).into_owned();
    if let Err(what) = result {
        err.push_str(&format!("NOT RUN: {what}\n"));
    }
    (String::from_utf8_lossy(&shell.out).into_owned(), err)
}
