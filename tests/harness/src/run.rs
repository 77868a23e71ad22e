//! Runs one case in bash, in the native binary or in the image.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::case::Case;

/// The program that runs the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The machine's own bash and tools.
    Oracle,
    /// Our shell and tools as a program of this machine.
    Native,
    /// The image, run by `runner exec`.
    Wasm,
}

/// The result of a script.
#[derive(Debug, PartialEq, Eq)]
pub struct CaseResult {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

/// Runs the case in a fresh directory.
pub fn run(subject: Subject, case: &Case) -> CaseResult {
    let dir = tempfile::tempdir().expect("temporary directory");
    let (work, meta) = (dir.path().join("work"), dir.path().join("meta"));
    std::fs::create_dir_all(&work).expect("work folder");
    std::fs::create_dir_all(&meta).expect("meta folder");
    for (name, content) in &case.files {
        let path = work.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("folder of a case file");
        }
        std::fs::write(&path, content).expect("case file");
    }
    let script = meta.join("script.sh");
    std::fs::write(&script, &case.script).expect("script");
    let mut cmd = command(subject, &work, &meta, &script);
    cmd.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = cmd.spawn().unwrap_or_else(|e| panic!("{cmd:?}: {e}"));
    let mut stdin = child.stdin.take().expect("stdin is piped");
    let input = case.stdin.clone();
    // A script may end without reading its input, so a closed pipe is not a failure.
    let writer = std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let out = child.wait_with_output().expect("output");
    writer.join().expect("writer");
    let text = |b: Vec<u8>| String::from_utf8_lossy(&b).into_owned();
    CaseResult {
        stdout: text(out.stdout),
        stderr: text(out.stderr),
        status: out.status.code().unwrap_or(-1),
    }
}

/// Returns a command for which no signal is ignored, even if the tests run under `nohup`, because a
/// shell reports the signals that it found ignored. This needs coreutils' `env`; without it nothing
/// is changed.
fn undisturbed(program: &Path) -> Command {
    static RESETS: LazyLock<bool> = LazyLock::new(|| {
        let probe = Command::new("/usr/bin/env").args(["--default-signal", "true"]).output();
        probe.is_ok_and(|o| o.status.success())
    });
    if !*RESETS {
        return Command::new(program);
    }
    let mut cmd = Command::new("/usr/bin/env");
    cmd.arg("--default-signal").arg(program);
    cmd
}

fn command(subject: Subject, work: &Path, meta: &Path, script: &Path) -> Command {
    let mut cmd = match subject {
        Subject::Oracle => undisturbed("/bin/bash".as_ref()),
        Subject::Native => {
            let mut c = undisturbed(&crate::native_box());
            c.arg("bash");
            c
        }
        Subject::Wasm => {
            let mut c = Command::new(crate::runner());
            c.args(["exec", "--timeout", "60", "--cwd", "/case"]);
            c.arg("--mount").arg(format!("{}:/case:rw", work.display()));
            c.arg("--mount").arg(format!("{}:/meta:ro", meta.display()));
            c.arg(crate::image()).args(["--", "bash", "/meta/script.sh"]);
            return c;
        }
    };
    cmd.arg(script).current_dir(work).env_clear();
    let path = match subject {
        Subject::Native => APPLETS.display().to_string(),
        Subject::Oracle | Subject::Wasm => "/usr/bin:/bin".to_owned(),
    };
    for (k, v) in
        [("PATH", path.as_str()), ("HOME", "/home/user"), ("LANG", "C.UTF-8"), ("TZ", "UTC")]
    {
        cmd.env(k, v);
    }
    cmd
}

/// The folder beside the native multicall binary that has a link to it for each applet, as
/// `/usr/bin` has in the image. A native run finds nothing else in PATH, so other programs of this
/// machine cannot change results.
static APPLETS: LazyLock<PathBuf> = LazyLock::new(|| {
    let program = crate::native_box().canonicalize().expect("native binary");
    let folder = program.with_file_name("applets");
    std::fs::create_dir_all(&folder).expect("folder of applets");
    let list = Command::new(&program).arg("--list").output().expect("list of applets");
    let list = String::from_utf8(list.stdout).expect("names of applets");
    for name in list.lines().filter_map(|line| line.split_whitespace().next()) {
        // An existing link may have been created by another test at the same time. A link to a
        // program that has moved is replaced.
        let link = folder.join(name);
        if std::fs::read_link(&link).ok().as_ref() != Some(&program) {
            let own = folder.join(format!(".{name}.{}", std::process::id()));
            std::os::unix::fs::symlink(&program, &own).expect("link to an applet");
            std::fs::rename(&own, &link).expect("link to an applet");
        }
    }
    folder
});

/// Returns `None` if the result is what the case expects, otherwise a report.
pub fn check(subject: Subject, case: &Case, got: &CaseResult) -> Option<String> {
    let stderr_ok = case.stderr.as_ref().is_none_or(|e| *e == got.stderr);
    if got.stdout == case.stdout && got.status == case.status && stderr_ok {
        return None;
    }
    Some(format!(
        "{subject:?}: {}\n--- script\n{}\n--- expected status {} stdout\n{}\n--- got status {} stdout\n{}\n--- stderr\n{}\n",
        case.name, case.script, case.status, case.stdout, got.status, got.stdout, got.stderr
    ))
}
