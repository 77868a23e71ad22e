//! Tests sessions over a zip or a folder of the host. `runner/workspace` tests zips and folders
//! themselves; these tests check that worker, history and store agree with them.

use std::path::Path;
use std::process::Command;
use wasibox::files::{EditOf, Request, WriteOf};
use wasibox::{Engine, Error, Isolation, MountSpec, Policy, Session, Workspace, WorkspaceMismatch};
use wasibox_sessions::*;

fn over(path: impl AsRef<Path>) -> Policy {
    Policy { workspace: Some(Workspace::of(path.as_ref())), ..policy() }
}

/// Writes a zip with Python.
fn zip(path: &Path, files: &[(&str, &str)]) {
    let script = "import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1],'w')\n\
        for f in sys.argv[2:]: n,_,t=f.partition('='); z.writestr(n,t)\nz.close()";
    let mut c = Command::new("python3");
    c.args(["-c", script]).arg(path);
    c.args(files.iter().map(|(name, text)| format!("{name}={text}")));
    assert!(c.status().unwrap().success());
}

/// Returns the files that Python finds in a zip, except for the host's folder.
fn unzipped(path: &Path) -> String {
    let script = "import sys,zipfile\nz=zipfile.ZipFile(sys.argv[1])\nassert z.testzip() is None\n\
        print(*sorted(f'{n}={z.read(n).decode()}' for n in z.namelist() \
        if not n.startswith('.wasibox') and not n.endswith('/')), sep=';', end='')";
    let out = Command::new("python3").args(["-c", script]).arg(path).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

fn unfit<T>(result: Result<T, Error>) -> WorkspaceMismatch {
    match result {
        Err(Error::Unfit(why)) => why,
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("it fits"),
    }
}

#[test]
fn a_zip_is_the_directory_and_is_saved_after_each_change() {
    for engine in both() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.zip");
        zip(&path, &[("a", "1"), ("src/b", "2")]);
        let before = std::fs::read(&path).unwrap();
        let s = engine.session(over(&path)).unwrap();
        assert_eq!(
            sh(&s, "pwd; find . | sort | tr '\\n' ' '; cat a src/b"),
            "/work\n. ./a ./src ./src/b 12"
        );
        assert_eq!(std::fs::read(&path).unwrap(), before, "nobody has changed anything");
        assert_eq!(sh(&s, "cd src; echo 3 > c; rm ../a"), "");
        assert_eq!(unzipped(&path), "src/b=2;src/c=3\n");
        // The host and a cell write files after the session has slept.
        s.park();
        s.files(&Request::Write(WriteOf::new("d", "4"))).unwrap();
        s.files(&Request::Edit(EditOf::new("/work/src/b", "2", "5"))).unwrap();
        assert_eq!(py(&s, "import os; open('e','w').write('6'); os.getcwd()"), "'/work/src'");
        assert_eq!(unzipped(&path), "src/b=5;src/c=3\n;src/d=4;src/e=6");
        for _ in 0..3 {
            s.undo().unwrap();
        }
        assert_eq!(unzipped(&path), "src/b=2;src/c=3\n");
        s.redo().unwrap();
        assert_eq!(unzipped(&path), "src/b=2;src/c=3\n;src/d=4");
        assert_eq!(sh(&s, "ls"), "b\nc\nd\n");
        assert_eq!(unfit(s.fork("other").map(drop)), WorkspaceMismatch::Fork);
        // Another program changes the zip. The session leaves it as that program wrote it.
        zip(&path, &[("x", "y")]);
        assert!(matches!(s.exec("echo > f"), Err(Error::Workspace(_))));
        assert_eq!(unzipped(&path), "x=y");
    }
}

#[test]
fn a_zip_alone_carries_its_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("p.zip");
    zip(&path, &[("a", "1")]);
    let first = engine(Isolation::Process);
    let s = first.session(over(&path)).unwrap();
    sh(
        &s,
        "f() { echo \"f $X\"; }; X=7; echo one > one; printf 2 > a; mkdir /tmp/t; echo t > /tmp/t/t",
    );
    py(&s, "x = 41");
    sh(&s, "rm a; mv one two; mv /tmp/t/t three");
    drop((s, first));
    let moved = dir.path().join("moved.zip");
    std::fs::rename(&path, &moved).unwrap();
    for engine in both() {
        // These engines differ from the one that wrote the zip, of which nothing else is left.
        let copy = dir.path().join("copy.zip");
        std::fs::copy(&moved, &copy).unwrap();
        let s = engine.session(over(&copy)).unwrap();
        assert_eq!(sh(&s, "f; cat two three; ls /tmp/t"), "f 7\none\nt\n");
        assert_eq!(py(&s, "x + 1"), "42");
        let done = s.history().unwrap();
        let third = done.iter().rev().find(|c| c.call.changed_count > 0).unwrap();
        s.restore(third.parent.unwrap()).unwrap();
        assert_eq!(sh(&s, "cat a one; cat /tmp/t/t"), "2one\nt\n");
        assert_eq!(unzipped(&copy), "a=2;one=one\n");
        // This is the state before the session. Only the session's record, which the zip has now,
        // can restore the later ones.
        s.restore(1).unwrap();
        assert_eq!(unzipped(&copy), "a=1");
        drop(s);
        let s = engine.session(over(&copy)).unwrap();
        assert_eq!(sh(&s, "cat a; ls /tmp"), "1");
        for _ in 0..2 {
            s.undo().unwrap();
        }
        assert_eq!(unzipped(&copy), "a=2;one=one\n");
        drop(s);
        // If another program changes the zip, its present contents count, and there is no history.
        zip(&copy, &[("new", "n")]);
        let s = engine.session(over(&copy)).unwrap();
        assert_eq!((sh(&s, "ls"), s.history().unwrap().len()), ("new\n".into(), 2));
    }
}

#[test]
fn a_session_of_a_store_knows_its_zip() {
    for engine in both() {
        let dir = tempfile::tempdir().unwrap();
        let [path, other] = ["p.zip", "o.zip"].map(|name| dir.path().join(name));
        zip(&path, &[("a", "1")]);
        zip(&other, &[("a", "1")]);
        let store = |name: &str| engine.store(&dir.path().join(name)).unwrap();
        let sessions = store("w.wbx");
        let s = sessions.create("a", over(&path)).unwrap();
        sh(&s, "echo 2 > b; cd /tmp");
        drop(s);
        assert!(matches!(
            unfit(sessions.session("a", policy()).unwrap().exec("true")),
            WorkspaceMismatch::Missing(_)
        ));
        assert!(matches!(unfit(sessions.session("a", over(&other))), WorkspaceMismatch::Other(_)));
        let mut elsewhere = over(&path);
        elsewhere.workspace.as_mut().unwrap().guest = "/src".into();
        assert!(matches!(unfit(sessions.session("a", elsewhere)), WorkspaceMismatch::Other(_)));
        let s = sessions.session("a", over(&path)).unwrap();
        // A zip can have only one session.
        assert!(matches!(sessions.create("b", over(&path)), Err(Error::Workspace(_))));
        assert_eq!(sh(&s, "pwd; cat /work/b"), "/tmp\n2\n");
        s.restore(1).unwrap();
        drop(s);
        assert_eq!(unzipped(&path), "a=1");
        // Another store gets the session from the zip, with its past.
        let t = store("v.wbx").create("c", over(&path)).unwrap();
        t.undo().unwrap();
        assert_eq!(sh(&t, "cat /work/b; pwd"), "2\n/tmp\n");
        drop(t);
        // A session in which something was done cannot get a workspace later, and a new one cannot
        // get a zip that has another session's record.
        let s = sessions.create("d", policy()).unwrap();
        sh(&s, "echo > f");
        drop(s);
        assert_eq!(unfit(sessions.session("d", over(&other))), WorkspaceMismatch::Without);
        drop(sessions.create("e", policy()).unwrap());
        assert_eq!(unfit(sessions.session("e", over(&path))), WorkspaceMismatch::CarriesOne);
        zip(&path, &[("a", "1")]);
        assert!(matches!(unfit(sessions.session("a", over(&path))), WorkspaceMismatch::Other(_)));
    }
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("src")).unwrap();
    for (path, text) in [("a", "one\ntwo\n"), ("src/b", "b\n"), ("src/c", "c\n")] {
        std::fs::write(dir.path().join(path), text).unwrap();
    }
    dir
}

fn host(dir: &tempfile::TempDir, path: &str) -> Option<String> {
    std::fs::read_to_string(dir.path().join(path)).ok()
}

/// Opens the session of a store again.
fn again(engine: &Engine, store: &Path, dir: &tempfile::TempDir) -> Result<Session, Error> {
    engine.store(store)?.session("a", over(dir.path()))
}

#[test]
fn changes_stay_in_the_session_until_they_are_brought_back() {
    for engine in both() {
        let (dir, store) = (project(), tempfile::tempdir().unwrap());
        let store = store.path().join("w.wbx");
        let s = engine.store(&store).unwrap().create("a", over(dir.path())).unwrap();
        assert_eq!(sh(&s, "sed -i s/two/2/ a; rm src/c; mkdir n; echo new > n/f; pwd"), "/work\n");
        assert_eq!(host(&dir, "a").unwrap(), "one\ntwo\n");
        drop(s);
        let s = again(&engine, &store, &dir).unwrap();
        assert_eq!(sh(&s, "cat a n/f; ls src"), "one\n2\nnew\nb\n");
        let diff = String::from_utf8(s.workspace_diff(&["a"]).unwrap().text).unwrap();
        assert_eq!(diff, "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
        // Files that the session has not changed follow the host.
        std::fs::write(dir.path().join("src/b"), "other\n").unwrap();
        s.park();
        assert_eq!(sh(&s, "cat src/b"), "other\n");
        let done = s.workspace_apply(&["a"]).unwrap();
        assert_eq!((done.done, done.left), (vec!["a".to_owned()], vec![]));
        assert_eq!(host(&dir, "a").unwrap(), "one\n2\n");
        assert_eq!(host(&dir, "src/c").unwrap(), "c\n");
        assert_eq!(unfit(s.exec("true")), WorkspaceMismatch::Applied);
        drop(s);
        let s = again(&engine, &store, &dir).unwrap();
        let rest = String::from_utf8(s.workspace_diff(&[]).unwrap().text).unwrap();
        assert!(
            !rest.contains("a/a ") && rest.contains("b/n/f") && rest.contains("a/src/c"),
            "{rest}"
        );
        assert_eq!(s.workspace_apply(&[]).unwrap().left, vec![]);
        assert_eq!((host(&dir, "n/f").unwrap(), host(&dir, "src/c")), ("new\n".into(), None));
    }
}

#[test]
fn a_folder_that_was_changed_meanwhile_is_not_mixed_with_the_session() {
    for engine in both() {
        for change in
            ["printf x >> a", "touch a", "chmod 600 a", "rm a", "mv a z", "ln -s a l; echo > a"]
        {
            let (dir, store) = (project(), tempfile::tempdir().unwrap());
            let store = store.path().join("w.wbx");
            let s = engine.store(&store).unwrap().create("a", over(dir.path())).unwrap();
            sh(&s, change);
            s.park();
            std::fs::write(dir.path().join("a"), "something else that is longer\n").unwrap();
            let why = |result: Result<wasibox::Outcome, Error>| match unfit(result) {
                WorkspaceMismatch::Changed(why) => {
                    assert!(why.contains("a (it was changed"), "{change}: {why}")
                }
                other => panic!("{change}: {other}"),
            };
            why(s.exec("true"));
            drop(s);
            let s = again(&engine, &store, &dir).unwrap();
            why(s.exec("true"));
            assert!(
                matches!(unfit(s.workspace_apply(&[])), WorkspaceMismatch::Changed(_)),
                "{change}"
            );
            assert_eq!(host(&dir, "a").unwrap(), "something else that is longer\n");
        }
    }
}

#[test]
fn what_a_workspace_may_not_be_is_refused() {
    let engine = engine(Isolation::Process);
    let dir = project();
    let mut policy = over(dir.path());
    let mount = |guest: &str| MountSpec {
        host: dir.path().into(),
        guest: guest.into(),
        writable: false,
        quota: None,
    };
    policy.mounts = vec![mount("/work/src")];
    assert!(matches!(unfit(engine.session(policy)), WorkspaceMismatch::Overlap(_)));
    assert!(engine.session(over(dir.path().join("none"))).is_err());
    assert!(!dir.path().join("none").exists());
    assert!(engine.session(over(dir.path().join("a"))).is_err(), "it is no zip");
    // In the folder with the image, everything except the image is visible.
    let image = dist().join("image.webc");
    let s = engine.session(over(image.parent().unwrap())).unwrap();
    assert_eq!(sh(&s, "ls | grep -c image.webc"), "0\n[1]");
    let new = dir.path().join("new.zip");
    let s = engine.session(over(&new)).unwrap();
    sh(&s, "echo hi > f; mkfifo p; ln -s /etc/passwd l");
    assert_eq!(unzipped(&new), "f=hi\n");
    let left: Vec<_> = s.workspace_left_out().into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, ["l", "p"]);
    let with = Session::open(&dist().join("image.webc"), over(&new));
    assert_eq!(unfit(with), WorkspaceMismatch::NoEngine);
}
