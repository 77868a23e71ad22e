//! Calls of a session: each runs in a separate shell and begins with the state that the previous
//! call has stored. Their output is that of one bash that runs them one after another. If a call
//! ends the shell, bash cannot provide the output, so the test contains it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the example binary, which cargo builds along with the tests.
fn ours() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    exe.parent().and_then(Path::parent).unwrap().join("examples/bash")
}

fn with_env(shell: &Path) -> Command {
    let mut command = Command::new(shell);
    command
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("LC_ALL", "C.UTF-8"), ("HOME", "/home")])
        .stdin(Stdio::null())
        .current_dir("/");
    command
}

struct Session {
    folder: tempfile::TempDir,
}

impl Session {
    fn new() -> Session {
        let session = Session { folder: tempfile::tempdir().unwrap() };
        std::fs::write(session.file(), "").unwrap();
        session
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    fn call(&self, call: &str) -> Output {
        self.call_with(&["--session", "-c", call], |_| {})
    }

    fn call_with(&self, args: &[&str], change: impl FnOnce(&mut Command)) -> Output {
        let mut command = with_env(&ours());
        command.args(args).env("SESSION_FILE", self.file()).env("BASH", ours());
        change(&mut command);
        command.output().unwrap()
    }

    /// Returns the standard output of a call that prints nothing on standard error.
    fn out(&self, call: &str) -> String {
        let out = self.call(call);
        assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{call}");
        String::from_utf8(out.stdout).unwrap()
    }

    /// Returns standard error and status.
    fn err(&self, call: &str) -> (String, i32) {
        let out = self.call(call);
        assert_eq!(String::from_utf8_lossy(&out.stdout), "", "{call}");
        (String::from_utf8(out.stderr).unwrap(), out.status.code().unwrap_or(-1))
    }
}

fn sessions() -> Vec<(PathBuf, Vec<String>)> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let files = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    let mut list: Vec<PathBuf> =
        files.filter(|p| p.extension().is_some_and(|x| x == "calls")).collect();
    list.sort();
    assert!(list.len() >= 5);
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file, text.split("\n%%\n").map(str::to_owned).collect())
    };
    list.into_iter().map(read).collect()
}

#[test]
fn as_one_shell() {
    for (file, calls) in sessions() {
        let session = Session::new();
        let mut got = String::new();
        for call in &calls {
            let out = session.call(call);
            got += &String::from_utf8_lossy(&out.stdout);
            got += &format!("[{}]\n", out.status.code().unwrap_or(-1));
        }
        let want = std::fs::read_to_string(file.with_extension("out")).unwrap();
        similar(&want, &got, &file);
    }
}

fn similar(want: &str, got: &str, file: &Path) {
    let differs = |(_, (w, g)): &(usize, (&str, &str))| w != g;
    let first = want.lines().zip(got.lines()).enumerate().find(differs);
    assert!(want == got, "{}: {first:?}\n{got}", file.display());
}

/// The `.out` files hold bash's output; `UPDATE=1` rewrites them.
#[test]
fn recorded_from_bash() {
    let bash = Path::new("/usr/bin/bash");
    let version = Command::new(bash).arg("--version").output();
    if !version.is_ok_and(|v| String::from_utf8_lossy(&v.stdout).contains("version 5.2.")) {
        return;
    }
    for (file, calls) in sessions() {
        let dir = tempfile::tempdir().unwrap();
        let mut script = String::new();
        for (i, call) in calls.iter().enumerate() {
            let path = dir.path().join(i.to_string());
            // The call's text is in a file, so it needs no quoting. It is evaluated instead of
            // sourced, because a sourced file would not see the caller's DEBUG trap.
            std::fs::write(&path, call).unwrap();
            script += &format!("eval \"$(/usr/bin/cat {})\"\necho \"[$?]\"\n", path.display());
            if call.ends_with("(exit 3)") {
                // `echo` has a status of its own.
                script.truncate(script.len() - "echo \"[$?]\"\n".len());
                script += "__=(\"${PIPESTATUS[@]}\"); echo '[3]'; true | false | (exit 3)\n";
            }
        }
        let out = with_env(bash).args(["-c", &script]).env("BASH", bash).output().unwrap();
        let says = String::from_utf8_lossy(&out.stdout).into_owned();
        let recorded = file.with_extension("out");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&recorded, &says).unwrap();
        }
        similar(&std::fs::read_to_string(&recorded).unwrap_or_default(), &says, &file);
    }
}

#[test]
fn no_call_ends_the_session() {
    let s = Session::new();
    assert_eq!(s.call("x=1; exit 7").status.code(), Some(7));
    assert_eq!(s.out("echo $? $x"), "7 1\n");
    // `set -e` ends only the call that fails.
    assert_eq!(s.call("set -e; x=2; false; x=3").status.code(), Some(1));
    assert_eq!(s.call("echo $? $x; x=4; (exit 9); x=5").stdout, b"1 2\n");
    assert_eq!(s.out("echo $? $x; set +e"), "9 4\n");
    // A syntax error changes only `$?`.
    let before = std::fs::read(s.file()).unwrap();
    let (err, status) = s.err("x=6; if then");
    assert!(err.contains("syntax error near unexpected token `then'"), "{err}");
    assert_eq!(status, 2);
    let after = std::fs::read(s.file()).unwrap();
    let differing = before.iter().zip(&after).filter(|(a, b)| a != b).count();
    assert!(before.len() == after.len() && differing <= 2, "{differing}");
    assert_eq!(s.out("echo $? $x"), "2 4\n");
    let (err, status) = s.err("set -u; x=7; : $nothing; x=8");
    assert!(err.ends_with("nothing: unbound variable\n"), "{err}");
    assert_eq!(status, 127);
    assert_eq!(s.out("echo $? $x; set +u"), "127 7\n");
    // The shell exits from a function, whose locals and parameters are gone afterwards.
    assert_eq!(s.call("set -- p; f() { local x=9; g=1; exit 4; }; f arg").status.code(), Some(4));
    assert_eq!(s.out("echo $? $x $1 $g"), "4 7 p 1\n");
    assert_eq!(s.call("x=10 eval 'exit 5'").status.code(), Some(5));
    assert_eq!(s.out("echo $? $x"), "5 7\n");
    // The program that replaces the shell has the session's state of that moment.
    let exec = "h() { local x=11 -; set -f; x=12 exec printf '%s.' \"$@\"; }; set -- q; h 1 2";
    assert_eq!(s.out(exec), "1.2.");
    assert_eq!(s.out("echo $x $1 $-"), "7 q hBc\n");
    assert_eq!(s.out("export e=1; exec -c printenv e || :"), "");
    assert_eq!(s.out("printenv e"), "1\n");
    let (_, status) = s.err("y=13; exec /nonexistent");
    assert_eq!(status, 127);
    assert_eq!(s.out("echo $? $y"), "127 13\n");
}

#[test]
fn all_traps_except_that_of_exit() {
    let s = Session::new();
    assert_eq!(s.out("trap 'echo bye $x' EXIT; trap 'echo usr' USR1; x=1; exit 3"), "bye 1\n");
    assert_eq!(s.out("x=2; trap -p"), "trap -- 'echo usr' SIGUSR1\n");
    assert_eq!(s.out("kill -USR1 $$; :; trap - USR1; trap '' TERM; trap 'echo err' ERR"), "usr\n");
    assert_eq!(s.out("kill -TERM $$; echo on; false; trap - ERR"), "on\nerr\n");
    // The effects of an EXIT trap are kept.
    assert_eq!(s.out("trap - TERM; trap 'x=3; cd /usr' EXIT"), "");
    assert_eq!(s.out("echo $x $PWD; trap 'echo \"d: $BASH_COMMAND\"' DEBUG"), "3 /usr\n");
    // Loading the state runs no trap and shows no trace.
    assert_eq!(s.out("echo 1; trap - DEBUG"), "d: echo 1\n1\nd: trap - DEBUG\n");
    assert_eq!(s.out("f() { echo $BASH_COMMAND; }"), "");
    assert_eq!(s.out("f"), "echo $BASH_COMMAND\n");
    assert_eq!(s.err("a=(1 2); set -x").0, "");
    assert_eq!(s.err(": ${a[1]}").0, "+ : 2\n");
    assert_eq!(s.err("set +x; set -v").0, "+ set +x\n");
    assert_eq!(s.err(":").0, ":\n");
}

#[test]
fn processes_outside_of_the_session() {
    let s = Session::new();
    assert_eq!(s.out("x=1; (x=2; cd /usr); bash -c 'x=3'; x=4 | :; y=$(x=5; exit 3)"), "");
    assert_eq!(s.out("echo $? $x $PWD"), "3 1 /\n");
    // A child does not take part in the session, although its environment has all the variables.
    assert_eq!(s.out("x=6; bash -c 'x=7; exit 8'; echo $?"), "8\n");
    assert_eq!(s.out("echo $x"), "6\n");
    // A killed shell stores nothing.
    assert_ne!(s.call("x=8; kill -KILL $$").status.code(), Some(0));
    assert_ne!(s.call("x=9; kill -TERM $$; :").status.code(), Some(0));
    assert_eq!(s.out("echo $x"), "6\n");
    // Without `--session` there is no session.
    let out = s.call_with(&["-c", "echo ${x-none}; x=10"], |_| {});
    assert_eq!(out.stdout, b"none\n");
    assert_eq!(s.out("echo $x; exec 3>&1; echo $! >&3"), "6\n\n");
    let (err, _) = s.err("echo 1 >&3");
    assert!(err.ends_with("3: Bad file descriptor\n"), "{err}");
    // There is no session outside of a session's process either.
    let out = with_env(&ours()).args(["--session", "-c", "echo ran"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert_eq!((out.stdout, out.stderr), (vec![], b"bash: --session: not in a session\n".to_vec()));
}

#[test]
fn arguments_and_environment_of_a_call() {
    let s = Session::new();
    s.out("set -- kept; x=1");
    let args = ["--session", "-c", "echo $0 $* $G", "name", "a", "b"];
    let out = s.call_with(&args, |c| {
        c.env("G", "given");
    });
    assert_eq!(out.stdout, b"name a b given\n");
    // Variables that the environment had for that call, and no script changed, are gone.
    assert_eq!(s.out("echo $0 $* ${G-gone} $SHLVL"), format!("{} a b gone 1\n", ours().display()));
    let touched = |c: &mut Command| {
        c.env("G", "given");
    };
    s.call_with(&["--session", "-c", "G+=!"], touched);
    assert_eq!(s.out("echo $G; printenv G; unset G"), "given!\ngiven!\n");
    let out = s.call_with(&["--session", "-c", "echo ${G-gone}"], touched);
    assert_eq!(out.stdout, b"given\n", "unset before it was given");
    s.call_with(&["--session", "-c", "unset G"], touched);
    let out = s.call_with(&["--session", "-c", "echo ${G-gone}"], touched);
    assert_eq!(out.stdout, b"gone\n");
    // Options of a call apply within it; those that a script has changed persist.
    let out = s.call_with(&["--session", "-eu", "-c", "echo $-; set +u -f"], |_| {});
    assert_eq!(out.stdout, b"ehuBc\n");
    assert_eq!(s.out("echo $-; set +f"), "fhBc\n");
    // The start-up file belongs to the session, not to each call.
    let file = s.folder.path().join("rc");
    std::fs::write(&file, "echo begins").unwrap();
    let new = Session::new();
    for begins in ["begins\n", ""] {
        let out = new.call_with(&["--session", "-c", ":"], |c| {
            c.env("BASH_ENV", &file);
        });
        assert_eq!(String::from_utf8_lossy(&out.stdout), begins);
    }
    // `sh` can be called in a session just as `bash` can.
    let posix = ["--posix", "--session", "-c", "alias hi='echo hi'; f() { hi; }"];
    s.call_with(&posix, |_| {});
    let out = s.call_with(
        &["--posix", "--session", "-c", "hi\nshopt -q expand_aliases && echo on"],
        |_| {},
    );
    assert_eq!(out.stdout, b"hi\non\n");
}

#[test]
fn parts_that_cannot_be_loaded_are_named() {
    let s = Session::new();
    let dir = s.folder.path().join("gone");
    std::fs::create_dir(&dir).unwrap();
    s.out(&format!("cd {}; x=1; HOME=/usr", dir.display()));
    std::fs::remove_dir(&dir).unwrap();
    let out = s.call("echo $PWD $x; pwd");
    assert_eq!(out.stdout, b"/usr 1\n/usr\n");
    let want = format!(
        "{}: session: {}: the working directory is gone, continuing in /usr\n",
        ours().display(),
        dir.display()
    );
    assert_eq!(String::from_utf8_lossy(&out.stderr), want);
    assert_eq!(s.out("pwd"), "/usr\n");

    use box_sys::session::{SessionFunction, SessionRecord, SessionWriter};
    let mut w = SessionWriter::new();
    w.add_record(&SessionRecord::Set { name: b"quick", on: true });
    w.add_record(&SessionRecord::Trap { condition: b"SIGNONE", action: b"exit" });
    w.add_record(&SessionRecord::Alias { name: b"a", text: b"b" });
    let f = SessionFunction { name: b"f", text: b"f () { echo $(", ..SessionFunction::default() };
    w.add_record(&SessionRecord::Function(f));
    let two = SessionFunction {
        name: b"two",
        text: b"two () { :; }; echo run",
        ..SessionFunction::default()
    };
    w.add_record(&SessionRecord::Function(two));
    std::fs::write(s.file(), w.finish()).unwrap();
    let out = s.call("alias; f; two; echo $?; declare -F");
    assert_eq!(
        String::from_utf8_lossy(&out.stdout),
        "alias a='b'\n1\ndeclare -f f\ndeclare -f two\n"
    );
    let err = String::from_utf8_lossy(&out.stderr).replace(&ours().display().to_string(), "sh");
    let want = "sh: session: not taken up: option quick, trap SIGNONE\n\
                sh: line 1: f: corrupt function: syntax error\n\
                sh: line 1: two: corrupt function: not a function definition\n";
    assert_eq!(err, want);

    // The call continues without a state.
    let mut newer = SessionWriter::new().finish();
    newer[4] = 9;
    for (bytes, why) in [
        (&b"nonsense"[..], "corrupt session state"),
        (&newer, "session state of a later version (9)"),
    ] {
        std::fs::write(s.file(), bytes).unwrap();
        let out = s.call("echo on ${x-new}; x=1");
        assert_eq!(out.stdout, b"on new\n");
        let err = String::from_utf8_lossy(&out.stderr);
        assert!(err.ends_with(&format!(": session: {why}: not taken up\n")), "{err}");
        assert_eq!(s.out("echo $x"), "1\n");
    }
}

/// A call ends by itself and soon, whatever bytes its state has.
#[test]
fn hostile_states() {
    use box_sys::session::{SessionRecord, SessionValue, SessionWriter};
    let s = Session::new();
    for far in [i64::MIN, i64::MAX] {
        let mut w = SessionWriter::new();
        w.add_record(&SessionRecord::SecondsZero(far));
        w.add_record(&SessionRecord::GetOpts { index: u32::MAX, offset: u32::MAX });
        w.add_record(&SessionRecord::Umask(u16::MAX));
        w.add_record(&SessionRecord::Random(0));
        w.add_record(&SessionRecord::Directories(vec![b"", b"\0", b"relative"]));
        w.add_record(&SessionRecord::Cwd(b"relative"));
        let a = SessionValue::Indexed(vec![(far, b"x"), (-1, b"y")]);
        w.add_record(&SessionRecord::Variable { name: b"a", attributes: b"aAnirtxclu?", value: a });
        let me = SessionValue::Scalar(b"me");
        w.add_record(&SessionRecord::Variable { name: b"me", attributes: b"n", value: me });
        let name = b"\x02x".as_slice();
        w.add_record(&SessionRecord::Variable {
            name,
            attributes: b"",
            value: SessionValue::Unset,
        });
        for name in [&b"PATH"[..], b"IFS", b"BASHPID", b"SHELLOPTS", b"FUNCNAME", b""] {
            w.add_record(&SessionRecord::NoVariable(name));
            w.add_record(&SessionRecord::Variable {
                name,
                attributes: b"r",
                value: SessionValue::Unset,
            });
        }
        std::fs::write(s.file(), w.finish()).unwrap();
        let call = "SECONDS+=1; getopts ab: o -ab -b; echo $SECONDS $RANDOM; dirs; popd; umask; declare -p; echo $me ran";
        let out = s.call(call);
        assert!(out.stdout.ends_with(b"\nran\n"), "{out:?}");
        assert_eq!(s.call("true").status.code(), Some(0));
    }
    let s = Session::new();
    s.out("f() { echo f; }; a=(1 2); declare -A h=([k]=v); cd /usr; set -- 1 2; trap : USR1; alias x=y; set -u");
    let good = std::fs::read(s.file()).unwrap();
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 0xff;
        std::fs::write(s.file(), &bad).unwrap();
        let out = s.call("f; echo end; :");
        assert!(out.status.code().is_some(), "{at}: {out:?}");
    }
}
