//! The harness of `tools/*/tests/cases.rs`, which runs applets in this process with command lines
//! from files of cases.
//!
//! A file of cases names the authority that gave its expected values. Each case runs in its own
//! folder, which initially has the file's `files`. [`Suite::ours`] runs the applet as a function,
//! so a crate's cases need no binary. [`Suite::authority`] runs the real program if this machine
//! has that version, so the expected values stay correct. Cases that need a shell are in
//! `tests/cases`, and `tests/harness` runs them.
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::rc::Rc;

use box_applet::{AppletRun, AppletTable, Ctx, Env, InputSource, OutStream, OutputSink, StdInput};
use serde::Deserialize;

/// The whole environment of every case.
const ENVIRONMENT: [(&str, &str); 4] =
    [("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC"), ("HOME", "/home/user")];

/// The cases of one program with the expected values of its authority.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// The program and version that gave the expected values, for example `GNU grep 3.8`.
    authority: String,
    /// Whether the order of lines is ignored, because the file system determines the order within a
    /// directory.
    #[serde(default)]
    unordered: bool,
    /// The beginnings of those lines of standard error that are not compared.
    #[serde(default)]
    not_compared: Vec<String>,
    /// The initial files of each case's folder.
    files: BTreeMap<String, String>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    name: String,
    /// The program's name and its arguments.
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    stdout: String,
    /// The expected standard error. It is not compared if it is absent.
    stderr: Option<String>,
    #[serde(default)]
    status: u8,
    /// The files directly in the folder that are new or different after the run.
    #[serde(default)]
    after: BTreeMap<String, String>,
}

/// The result of a run.
struct Outcome {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    status: u8,
}

impl Suite {
    /// Reads a file of cases.
    ///
    /// # Panics
    /// The text is not a file of cases.
    pub fn parse(text: &str) -> Suite {
        match toml::from_str(text) {
            Ok(suite) => suite,
            Err(e) => panic!("cases: {e}"),
        }
    }

    /// Runs all cases with the applets of a table, in this process.
    ///
    /// # Panics
    /// A result differs from the expected one. The message lists all cases that differ.
    pub fn ours(&self, table: &'static AppletTable) {
        self.check("ours", |case, dir| ours(table, case, dir));
    }

    /// Runs all cases with the authority itself if this machine's program reports that version.
    ///
    /// # Panics
    /// A result differs from the expected one. The message lists all cases that differ.
    pub fn authority(&self) {
        let Some(program) = self.case.first().and_then(|c| c.args.first()) else { return };
        let version = Command::new(program).arg("--version").output();
        let reported = version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned());
        let number = self.authority.rsplit(' ').next().unwrap_or_default();
        if reported.unwrap_or_default().lines().next().is_some_and(|l| l.contains(number)) {
            self.check("authority", theirs);
        } else {
            eprintln!("{} is not installed: the expected values are not checked", self.authority);
        }
    }

    fn check(&self, label: &str, run: impl Fn(&Case, &Path) -> Outcome) {
        let folder = std::env::temp_dir().join(format!("cases-{label}-{}", std::process::id()));
        let mut failed = Vec::new();
        for (number, case) in self.case.iter().enumerate() {
            let dir = folder.join(format!("{}-{number}", case.args[0]));
            self.prepare(&dir);
            let got = run(case, &dir);
            let after = self.changed(&dir);
            remove(&dir);
            failed.extend(self.difference(case, &got, &after));
        }
        // The folder stays if another suite of the same process still has folders in it.
        let _ = std::fs::remove_dir(&folder);
        assert!(
            failed.is_empty(),
            "{} of {}:\n{}",
            failed.len(),
            self.case.len(),
            failed.join("\n")
        );
    }

    fn prepare(&self, dir: &Path) {
        std::fs::create_dir_all(dir).expect("a folder for the case");
        for (name, text) in &self.files {
            let path = dir.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(dir)).expect("a folder of the case");
            std::fs::write(path, text).expect("a file of the case");
        }
    }

    /// Returns the files directly in the folder that are new or different.
    fn changed(&self, dir: &Path) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(dir).expect("the case's folder").flatten();
        let files = entries.filter(|e| e.path().is_file()).map(|e| {
            let text = std::fs::read_to_string(e.path()).expect("a file of the case");
            (e.file_name().to_string_lossy().into_owned(), text)
        });
        files.filter(|(name, text)| self.files.get(name) != Some(text)).collect()
    }

    /// Returns a report if the result of the run differs from the expected one.
    fn difference(
        &self,
        case: &Case,
        got: &Outcome,
        after: &BTreeMap<String, String>,
    ) -> Option<String> {
        let stdout = String::from_utf8_lossy(&got.stdout);
        let stderr = String::from_utf8_lossy(&got.stderr);
        let wanted = case.stderr.as_deref();
        let same = self.lines(&stdout) == self.lines(&case.stdout)
            && wanted.is_none_or(|w| self.compared(w) == self.compared(&stderr))
            && got.status == case.status
            && *after == case.after;
        (!same).then(|| {
            format!(
                "{} {:?}\n  want {:?} {wanted:?} {} {:?}\n  got  {stdout:?} {stderr:?} {} {after:?}",
                case.name, case.args, case.stdout, case.status, case.after, got.status
            )
        })
    }

    fn lines<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut lines: Vec<&str> = text.split('\n').collect();
        if self.unordered {
            lines.sort_unstable();
        }
        lines
    }

    /// Returns the lines of standard error that are compared.
    fn compared<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let counts = |line: &&str| !self.not_compared.iter().any(|n| line.starts_with(n));
        text.lines().filter(counts).collect()
    }
}

/// Runs a case with the applet as a function.
fn ours(table: &'static AppletTable, case: &Case, dir: &Path) -> Outcome {
    let name = &case.args[0];
    let applet = table.find(name.as_bytes()).unwrap_or_else(|| panic!("there is no {name}"));
    let AppletRun::Ctx(run) = applet.run else { panic!("{name} does not run in a context") };
    let (out, err) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    let os = box_sys::Os::with_applets(|_| false);
    let bytes = |(name, value): (&str, &str)| (name.as_bytes().to_vec(), value.as_bytes().to_vec());
    let mut ctx = Ctx {
        name: name.clone(),
        applet: applet.name,
        arg0: name.clone().into_bytes(),
        env: ENVIRONMENT.map(bytes).into_iter().collect::<Env>(),
        cwd: dir.to_path_buf(),
        stdin: StdInput::new(InputSource::Bytes(Rc::new(case.stdin.clone().into_bytes()))),
        stdout: OutStream::buffered(OutputSink::Buffer(out.clone())),
        stderr: OutStream::unbuffered(OutputSink::Buffer(err.clone())),
        extra_fds: Vec::new(),
        procs: &os,
        table,
    };
    let args: Vec<Vec<u8>> = case.args[1..].iter().map(|a| a.clone().into_bytes()).collect();
    let exit = run(&mut ctx, &args);
    let status = ctx.finish(exit).0;
    drop(ctx);
    Outcome { stdout: out.take(), stderr: err.take(), status }
}

/// Runs a case with the program of this machine.
fn theirs(case: &Case, dir: &Path) -> Outcome {
    let input = PathBuf::from(format!("{}.stdin", dir.display()));
    std::fs::write(&input, &case.stdin).expect("the case's input");
    let output = Command::new(&case.args[0])
        .args(&case.args[1..])
        .current_dir(dir)
        .env_clear()
        .envs(ENVIRONMENT)
        .stdin(Stdio::from(std::fs::File::open(&input).expect("the case's input")))
        .output()
        .expect("the authority runs");
    std::fs::remove_file(&input).expect("the case's input");
    let status = output.status.code().and_then(|c| u8::try_from(c).ok()).unwrap_or(u8::MAX);
    Outcome { stdout: output.stdout, stderr: output.stderr, status }
}

fn remove(dir: &Path) {
    std::fs::remove_dir_all(dir).expect("the case's folder");
}
