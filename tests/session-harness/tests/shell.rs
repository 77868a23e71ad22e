//! What the shell of one call leaves for the next. What is kept is tried in `shell/cli/tests/sessions`, with bash as the
//! authority; here, that it goes through worker, store and sleep.

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
        // Neither the end of a shell nor a mistake ends the session.
        assert_eq!(sh(&s, "echo $?; set -e; B=2; false; echo never"), "3\n[1]");
        assert_eq!(sh(&s, "set +e; echo $B"), "2\n");
        assert!(sh(&s, "if").ends_with("[2]"));
        assert_eq!(sh(&s, "f"), "f 1\n");
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
    // As if `cd` and `export` had been in the script.
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
