//! `cases.toml`: command lines with the answers of GNU grep.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use box_applet::{Ctx, Env, Input, Output, Run, Sink, Source, Table};
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    files: BTreeMap<String, String>,
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    args: Vec<String>,
    #[serde(default)]
    stdin: String,
    stdout: String,
    stderr: String,
    status: u8,
}

/// Output, messages and status of one call.
fn run(case: &Case, cwd: &Path) -> (String, String, u8) {
    let (name, args) = case.args.split_first().unwrap();
    let applet = box_grep::APPLETS.iter().find(|a| a.name == name).unwrap();
    let Run::Ctx(run) = applet.run else { panic!("{name} is no applet of ours") };
    let args: Vec<Vec<u8>> = args.iter().map(|a| a.clone().into_bytes()).collect();
    let (out, err) = (Rc::new(RefCell::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    static TABLE: Table = Table::new(box_grep::APPLETS, &[]);
    let os = box_sys::Os::with_applets(|_| false);
    let mut ctx = Ctx {
        name: name.clone(),
        arg0: name.clone().into_bytes(),
        env: [(b"LC_ALL".to_vec(), b"C.UTF-8".to_vec())].into_iter().collect::<Env>(),
        cwd: cwd.to_path_buf(),
        stdin: Input::new(Source::Bytes(Rc::new(case.stdin.clone().into_bytes()))),
        stdout: Output::buffered(Sink::Buffer(out.clone())),
        stderr: Output::unbuffered(Sink::Buffer(err.clone())),
        extra_fds: Vec::new(),
        procs: &os,
        table: &TABLE,
    };
    let exit = run(&mut ctx, &args);
    let exit = ctx.finish(exit);
    let text = |b: Rc<RefCell<Vec<u8>>>| String::from_utf8_lossy(&b.borrow()).into_owned();
    (text(out), text(err), exit.0)
}

/// Without GNU's remarks on style and with the last line of usage errors only.
fn comparable(stderr: &str) -> String {
    stderr
        .lines()
        .filter(|l| !l.starts_with("grep: warning:") && !l.starts_with("Usage:"))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn as_gnu_grep() {
    let cases: Cases = toml::from_str(include_str!("cases.toml")).unwrap();
    let dir = std::env::temp_dir().join(format!("box-grep-{}", std::process::id()));
    for (name, text) in &cases.files {
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut failures = Vec::new();
    for case in &cases.case {
        let (stdout, stderr, status) = run(case, &dir);
        let expected = comparable(&case.stderr);
        if (&stdout, status) != (&case.stdout, case.status) || comparable(&stderr) != expected {
            failures.push(format!(
                "{:?}\n  want {:?} {:?} {}\n  got  {stdout:?} {stderr:?} {status}",
                case.args, case.stdout, case.stderr, case.status
            ));
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
    assert!(
        failures.is_empty(),
        "{} of {}:\n{}",
        failures.len(),
        cases.case.len(),
        failures.join("\n")
    );
}
