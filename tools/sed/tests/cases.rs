//! Runs `cases.toml` in-process, with real processes below for commands.
//! Where the authority itself is installed, the expected values are checked against it too.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;

use box_applet::{Ctx, Env, Exit, Input, Output, Run, Sink, Source, Table};
use serde::Deserialize;

/// The applet under test and its authority on this machine.
const NAME: &str = "sed";
const APPLETS: &[box_applet::Applet] = box_sed::APPLETS;

static TABLE: Table = Table::new(APPLETS, &[]);

#[derive(Deserialize)]
struct File {
    authority: String,
    files: BTreeMap<String, String>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    stdout: String,
    #[serde(default)]
    status: u8,
    /// Files that are new or different afterwards.
    #[serde(default)]
    after: BTreeMap<String, String>,
}

fn load() -> File {
    toml::from_str(include_str!("cases.toml")).expect("cases.toml is valid")
}

fn environment() -> Vec<(Vec<u8>, Vec<u8>)> {
    [("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC"), ("HOME", "/home/user")]
        .map(|(k, v)| (k.into(), v.into()))
        .to_vec()
}

/// Runs a case's applet in a directory; output and status.
fn ours(case: &Case, dir: &Path) -> (Vec<u8>, u8) {
    let out = Rc::new(RefCell::new(Vec::new()));
    let err = Rc::new(RefCell::new(Vec::new()));
    let os = box_sys::Os::with_applets(|_| false);
    let mut ctx = Ctx {
        name: NAME.into(),
        arg0: NAME.into(),
        env: environment().into_iter().collect::<Env>(),
        cwd: dir.to_path_buf(),
        stdin: Input::new(Source::Bytes(Rc::new(case.stdin.clone().into_bytes()))),
        stdout: Output::buffered(Sink::Buffer(out.clone())),
        stderr: Output::unbuffered(Sink::Buffer(err)),
        extra_fds: Vec::new(),
        procs: &os,
        table: &TABLE,
    };
    let applet = TABLE.find(NAME.as_bytes()).expect("applet exists");
    let Run::Ctx(run) = applet.run else { panic!("applet runs in a context") };
    let args: Vec<Vec<u8>> = case.args.iter().map(|a| a.clone().into_bytes()).collect();
    let exit = run(&mut ctx, &args);
    let Exit(status) = ctx.finish(exit);
    drop(ctx);
    (out.take(), status)
}

/// Runs the authority.
fn theirs(case: &Case, dir: &Path) -> Option<(Vec<u8>, u8)> {
    use std::io::Write;
    let mut child = Command::new(NAME)
        .args(&case.args)
        .current_dir(dir)
        .env_clear()
        .envs(environment().iter().map(|(k, v)| {
            let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
            (text(k), text(v))
        }))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let written = child.stdin.take().map(|mut w| w.write_all(case.stdin.as_bytes()));
    drop(written);
    let output = child.wait_with_output().ok()?;
    Some((output.stdout, output.status.code().and_then(|c| u8::try_from(c).ok())?))
}

/// Checks all cases against a way to run them; the names of those that differ.
fn check(run: impl Fn(&Case, &Path) -> Option<(Vec<u8>, u8)>, label: &str) {
    let file = load();
    let mut failed = Vec::new();
    for (n, case) in file.case.iter().enumerate() {
        let dir = std::env::temp_dir().join(format!("{NAME}-{label}-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&dir).expect("temporary directory");
        for (name, text) in &file.files {
            std::fs::write(dir.join(name), text).expect("case file");
        }
        let got = run(case, &dir).unwrap_or_else(|| panic!("{} cannot run", file.authority));
        let mut after = BTreeMap::new();
        for entry in std::fs::read_dir(&dir).expect("case directory").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(entry.path()).expect("case file");
            if file.files.get(&name) != Some(&text) {
                after.insert(name, text);
            }
        }
        std::fs::remove_dir_all(&dir).expect("temporary directory");
        if got.0 != case.stdout.as_bytes() || got.1 != case.status || after != case.after {
            let text = String::from_utf8_lossy(&got.0).into_owned();
            failed.push(format!(
                "{}: wanted {:?} status {} {:?}\n     got {:?} status {} {:?}",
                case.name, case.stdout, case.status, case.after, text, got.1, after
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{} of {} cases:\n{}",
        failed.len(),
        file.case.len(),
        failed.join("\n")
    );
}

#[test]
fn cases() {
    check(|case, dir| Some(ours(case, dir)), "ours");
}

/// The expected values are what the authority says, where it is installed in that version.
#[test]
fn authority_agrees() {
    let version = Command::new(NAME).arg("--version").output();
    let text = version.map(|o| String::from_utf8_lossy(&o.stdout).into_owned()).unwrap_or_default();
    let wanted = load().authority;
    let number = wanted.rsplit(' ').next().unwrap_or_default();
    if text.lines().next().unwrap_or_default().contains(number) {
        check(theirs, "authority");
    }
}
