//! Tests the state that the shell of one call leaves for the next. `shell/cli/tests/sessions` tests
//! the state itself, with bash as the authority; these tests check that it passes through worker,
//! store and sleep.

use wasibox::{Engine, Exec, Isolation, Session};
use wasibox_sessions::*;

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

#[test]
fn state_goes_on_from_call_to_call() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        assert_eq!(sh(&s, r#"cd /tmp; export A=1; f() { echo "f $A"; }; umask 027"#), "");
        assert_eq!(sh(&s, "pwd; f; umask"), "/tmp\nf 1\n0027\n");
        s.park();
        assert_eq!(
            sh(&s, "pwd; f; set -- x y; alias g='echo $#'; shopt -s expand_aliases"),
            "/tmp\nf 1\n"
        );
        assert_eq!(sh(&s, "g; exit 3"), "2\n[3]");
        // Neither the end of a shell nor an error ends the session.
        assert_eq!(sh(&s, "echo $?; set -e; B=2; false; echo never"), "3\n[1]");
        assert_eq!(sh(&s, "set +e; echo $B"), "2\n");
        assert!(sh(&s, "if").ends_with("[2]"));
        assert_eq!(sh(&s, "f"), "f 1\n");
    }
}

/// Tests constructs that end a script, or are errors, in a shell called as `sh`. The expected
/// results are those of this machine's `bash -c`.
#[test]
fn scripts_run_in_bash() {
    let scripts = [
        "cd /tmp; echo X=1 > .env; source .env; echo $X; rm .env",
        "cd /tmp; . ./missing 2> /dev/null || echo fallback",
        "source ~/.bashrc.missing 2> /dev/null || true; echo on",
        "my-func() { echo f; }; my-func; unset -f my-func",
        ": > /no/x; echo on",
        "export 1x=2; echo on",
        "shopt -qo posix; echo $?; echo $0",
        "diff <(echo a) <(echo a) && echo same",
    ];
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        for script in scripts {
            let real = std::process::Command::new("bash").args(["-c", script]).output().unwrap();
            let got = s.exec(Exec::script(script)).unwrap();
            let texts = [real.stdout, got.stdout, real.stderr, got.stderr];
            let [out, our_out, err, our_err] = texts.map(|t| String::from_utf8(t).unwrap());
            assert_eq!((our_out, our_err), (out, err), "{script}");
        }
        // The next call behaves in the same way.
        sh(&s, "my-func() { echo f; }");
        s.park();
        assert_eq!(sh(&s, "my-func; . ./missing 2> /dev/null; echo $?"), "f\n1\n");
    }
}

#[test]
fn a_program_has_the_shells_surroundings() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        sh(&s, "mkdir -p /tmp/d; cd /tmp/d; export A=1; unset LANG; B=not; umask 077");
        let run =
            |argv: &[&str]| String::from_utf8(s.exec(Exec::new(argv)).unwrap().stdout).unwrap();
        assert_eq!(run(&["pwd"]), "/tmp/d\n");
        assert_eq!(run(&["printenv", "A", "B", "LANG"]), "1\n");
        assert_eq!(run(&["sh", "-c", "umask; echo $PWD"]), "0077\n/tmp/d\n");
        let mut there = Exec::new(["pwd"]);
        there.cwd = Some("/etc".into());
        assert_eq!(s.exec(there).unwrap().stdout, b"/etc\n");
    }
}

#[test]
fn a_call_can_have_a_directory_and_variables() {
    let engine = engine(Isolation::Process);
    let s = engine.session(policy()).unwrap();
    sh(&s, "A=1; cd /tmp");
    let mut there = Exec::script("echo $(pwd) $PWD $A $B; printenv B");
    there.cwd = Some("/etc".into());
    there.env = vec![(b"B".to_vec(), b"2 3".to_vec())];
    assert_eq!(s.exec(there).unwrap().stdout, b"/etc /etc 1 2 3\n2 3\n");
    // The outcome is the same as with `cd` and `export` in the script.
    assert_eq!(sh(&s, "echo $PWD $B"), "/etc 2 3\n");
}

#[test]
fn a_session_in_memory_is_gone_with_its_last_clone() {
    let engine = engine(Isolation::Threads);
    let (a, b) = (engine.session(policy()).unwrap(), engine.session(policy()).unwrap());
    let store = b.store().unwrap();
    let fork = a.fork("fork").unwrap();
    let also = a.clone();
    assert_eq!(store.sessions().unwrap().len(), 3);
    drop((a, fork));
    assert_eq!(store.sessions().unwrap().len(), 2);
    drop(also);
    assert_eq!(store.sessions().unwrap().len(), 1);
}

#[test]
fn undo_brings_the_shell_back_too() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        sh(&s, "x=1; echo 1 > n");
        sh(&s, "x=2; echo 2 > n; cd /");
        let look = |s: &Session, name: &str| sh(&s.fork(name).unwrap(), "echo $x $PWD; cat ~/n");
        assert_eq!(look(&s, "a"), "2 /\n2\n");
        s.undo().unwrap();
        assert_eq!(look(&s, "b"), "1 /home/user\n1\n");
        assert_eq!(sh(&s, "echo $x $PWD"), "1 /home/user\n");
        s.undo().unwrap();
        s.undo().unwrap();
        assert_eq!(sh(&s, "echo [$x]; ls"), "[]\n");
    }
}

#[test]
fn what_is_left_running_is_named() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        let o = s.exec("sleep 50 & echo begun").unwrap();
        assert_eq!(
            (o.stdout.as_slice(), o.ended.as_slice()),
            (&b"begun\n"[..], &["sleep 50".into()][..])
        );
        assert_eq!(sh(&s, "ps | grep -c sleep"), "0\n[1]");
    }
}

/// Tests that processes continue from call to call with `keep_background`.
#[test]
fn what_is_left_can_go_on() {
    let keeps = |script: &str| {
        let mut exec = Exec::script(script);
        exec.keep_background = true;
        exec
    };
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        // It reads a line for each request, and answers through another file.
        let serve = "mkfifo /tmp/in /tmp/out; serve() { while :; do read -r x </tmp/in && echo \"got $x\" >/tmp/out; done; }; serve & echo $! >/tmp/pid; echo begun";
        let o = s.exec(keeps(serve)).unwrap();
        assert_eq!((o.stdout, o.background.len()), (b"begun\n".to_vec(), 1), "{:?}", o.background);
        assert!(o.ended.is_empty());
        assert_eq!(sh(&s, "echo one >/tmp/in; read -r x </tmp/out; echo $x"), "got one\n");
        // Other processes see it, its number is not reused, and it is not a child of later shells.
        assert_eq!(
            sh(&s, "ps -o pid= | grep -cx \" *$(cat /tmp/pid)\"; kill -0 $(cat /tmp/pid); echo $?"),
            "1\n0\n"
        );
        assert!(sh(&s, "wait $(cat /tmp/pid)").contains("not a child of this shell"));
        // A call without this option ends its own background processes only.
        let o = s.exec("sleep 300 & true").unwrap();
        assert_eq!((o.ended, o.background), (vec!["sleep 300".to_owned()], vec![]));
        let o = s.exec(keeps("sleep 301 & echo $! > /tmp/second")).unwrap();
        assert_eq!(o.background, ["sleep 301"]);
        assert_eq!(sh(&s, "cmp -s /tmp/pid /tmp/second; echo $?; pgrep -c sleep"), "1\n1\n");
        // Interpreters see it, too.
        assert_eq!(
            py(&s, "import subprocess; subprocess.run(['pgrep', 'sleep']).returncode"),
            sh(&s, "pgrep sleep") + "0"
        );
        assert_eq!(sh(&s, "kill $(cat /tmp/second); sleep 0.1; pgrep -c sleep"), "0\n[1]");
        assert_eq!(sh(&s, "echo two >/tmp/in; read -r x </tmp/out; echo $x"), "got two\n");
        // Output to the streams of a call that has ended is discarded.
        let o = s
            .exec(keeps("(while sleep 0.01; do echo tick; date >>/tmp/ticks; done) & sleep 0.1"))
            .unwrap();
        assert!(o.stdout.starts_with(b"tick"));
        let before: u32 = sh(&s, "wc -l </tmp/ticks").trim().parse().unwrap();
        let more = "until [ $(wc -l </tmp/ticks) -gt $n ]; do sleep 0.02; done; echo more";
        assert_eq!(sh(&s, &format!("n={before}; {more}")), "more\n");
        // It survives neither undo nor sleep.
        s.undo().unwrap();
        assert_eq!(sh(&s, "pgrep -c sleep"), "0\n[1]");
        s.exec(keeps("sleep 302 &")).unwrap();
        s.park();
        assert_eq!(sh(&s, "pgrep -c sleep"), "0\n[1]");
    }
}

/// Tests that limits apply to background processes.
#[test]
fn background_processes_are_bounded() {
    use std::time::Duration;
    for isolation in [Isolation::Process, Isolation::Threads] {
        let mut policy = policy();
        policy.limits.cpu = Some(Duration::from_millis(1500));
        policy.limits.processes = 8;
        let s = engine(isolation).session(policy).unwrap();
        let keeps = |script: &str| {
            let mut exec = Exec::script(script);
            exec.keep_background = true;
            exec
        };
        let o = s.exec(keeps("while :; do :; done & true")).unwrap();
        assert_eq!(o.background.len(), 1);
        // It ends when its own time limit is used up; calls that run now do not count against it.
        assert_eq!(
            sh(&s, "until ! pgrep -f box-state >/dev/null; do sleep 0.05; done; echo over"),
            "over\n"
        );
        for _ in 0..2 {
            s.exec(keeps("sleep 300 & sleep 300 & sleep 300 & true")).unwrap();
        }
        let o = s.exec(keeps("sleep 300 & sleep 300 & sleep 300 & true")).unwrap();
        assert!(o.background.len() < 3 || o.limit_hit.is_some(), "{o:?}");
        assert!(sh(&s, "pgrep -c sleep").trim().parse::<u32>().unwrap() <= 8);
        let began = std::time::Instant::now();
        drop(s);
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}
