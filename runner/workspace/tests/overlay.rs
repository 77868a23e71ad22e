//! A session over a folder of the host: only applied changes reach the folder.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use wasibox_files::{EditOf, Request, WriteOf, apply_request};
use wasibox_vfs::tree::ROOT;
use wasibox_vfs::{Budget, DiskLimits, Loc, ProtectedPaths, Vfs};
use wasibox_workspace::{Applier, Operation, OriginalEntry, Overlay, WorkspaceError};

const ROOT_LOC: Loc = Loc::Tree(ROOT);

fn over(dir: &Path) -> (Overlay, Vfs) {
    let overlay = Overlay::open(dir, "/work", &ProtectedPaths::default()).unwrap();
    let vfs = Vfs::new(
        [overlay.base_folder().unwrap()],
        &[],
        DiskLimits::default(),
        Budget::new(1 << 30),
        &ProtectedPaths::default(),
    );
    (overlay, vfs.unwrap())
}

fn write(v: &Vfs, path: &str, text: &str) {
    apply_request(v, "/work", &Request::Write(WriteOf::new(path, text))).unwrap();
}

fn read(v: &Vfs, path: &str) -> String {
    let request = Request::Download { path: path.into(), offset: 0, limit: None };
    match apply_request(v, "/work", &request).unwrap() {
        wasibox_files::Answer::Data { data, .. } => String::from_utf8(data.0).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn project() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("src/deep")).unwrap();
    fs::write(dir.path().join("a"), "1\n2\n3\n").unwrap();
    fs::write(dir.path().join("gone"), "bye\n").unwrap();
    fs::write(dir.path().join("src/m"), "main\n").unwrap();
    fs::write(dir.path().join("src/deep/d"), "deep\n").unwrap();
    symlink("a", dir.path().join("link")).unwrap();
    dir
}

fn change(v: &Vfs) {
    apply_request(v, "/work", &Request::Edit(EditOf::new("a", "2", "two"))).unwrap();
    apply_request(v, "/work", &Request::Delete { path: "gone".into(), recursive: false }).unwrap();
    apply_request(v, "/work", &Request::Move { from: "src".into(), to: "lib".into() }).unwrap();
    write(v, "new/x", "x\n");
    v.chmod(&ROOT_LOC, b"/work/new/x", 0o755).unwrap();
    v.symlink(b"new/x", &ROOT_LOC, b"/work/to-x").unwrap();
}

#[test]
fn changes_stay_in_the_session_until_they_are_applied() {
    let dir = project();
    let (overlay, v) = over(dir.path());
    assert_eq!((read(&v, "a").as_str(), read(&v, "link").as_str()), ("1\n2\n3\n", "1\n2\n3\n"));
    change(&v);
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "1\n2\n3\n");
    assert!(dir.path().join("gone").exists() && dir.path().join("src/m").exists());
    let snapshot = v.tree_version();
    let (changes, more) = overlay.list_changes(&snapshot, 100).unwrap();
    let paths: Vec<&str> = changes.iter().map(|c| c.path.as_str()).collect();
    let want = [
        "a",
        "gone",
        "lib",
        "lib/deep",
        "lib/deep/d",
        "lib/m",
        "new",
        "new/x",
        "src",
        "src/deep",
        "src/deep/d",
        "src/m",
        "to-x",
    ];
    assert_eq!((paths.as_slice(), more), (&want[..], false));
    assert!(overlay.list_changes(&snapshot, 2).unwrap().1);
    let done = overlay
        .apply_to_folder(&snapshot, &[], dir.path(), &ProtectedPaths::default(), 1 << 30)
        .unwrap();
    assert_eq!(done.left, []);
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "1\ntwo\n3\n");
    assert_eq!(fs::read_to_string(dir.path().join("lib/deep/d")).unwrap(), "deep\n");
    assert_eq!(fs::read_link(dir.path().join("to-x")).unwrap(), Path::new("new/x"));
    assert_eq!(fs::metadata(dir.path().join("new/x")).unwrap().permissions().mode() & 0o777, 0o755);
    assert!(!dir.path().join("gone").exists() && !dir.path().join("src").exists());
    let mut left: Vec<_> = fs::read_dir(dir.path())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, ["a", "lib", "link", "new", "to-x"]);
    // A new session begins with no changes.
    let (overlay, v) = over(dir.path());
    assert_eq!(overlay.list_changes(&v.tree_version(), 100).unwrap().0, []);
}

#[test]
fn git_applies_a_diff() {
    let dir = project();
    let (overlay, v) = over(dir.path());
    change(&v);
    let diff = overlay.diff_text(&v.tree_version(), &[], 1 << 20).unwrap();
    assert!(!diff.truncated);
    let text = String::from_utf8(diff.text.clone()).unwrap();
    assert!(
        text.starts_with(
            "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n 1\n-2\n+two\n 3\n"
        ),
        "{text}"
    );
    fs::write(dir.path().join("p"), &diff.text).unwrap();
    let git = Command::new("git").args(["apply", "p"]).current_dir(dir.path()).output().unwrap();
    assert!(git.status.success(), "{}\n{text}", String::from_utf8_lossy(&git.stderr));
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "1\ntwo\n3\n");
    assert_eq!(fs::read_to_string(dir.path().join("lib/m")).unwrap(), "main\n");
    assert!(!dir.path().join("gone").exists() && !dir.path().join("src").exists());
    assert_eq!(fs::read_link(dir.path().join("to-x")).unwrap(), Path::new("new/x"));
    // With chosen paths, and with a limit.
    let some = overlay.diff_text(&v.tree_version(), &["new"], 1 << 20).unwrap();
    assert!(
        String::from_utf8(some.text)
            .unwrap()
            .starts_with("diff --git a/new/x b/new/x\nnew file mode 100755\n")
    );
    assert!(overlay.diff_text(&v.tree_version(), &[], 10).unwrap().truncated);
    write(&v, "bin", "a\0b");
    let bin = overlay.diff_text(&v.tree_version(), &["bin"], 1 << 20).unwrap();
    let bin = String::from_utf8(bin.text).unwrap();
    assert!(
        bin.ends_with("Binary files /dev/null (0 bytes) and b/bin (3 bytes) differ\n"),
        "{bin}"
    );
}

#[test]
fn only_chosen_paths_are_applied() {
    let dir = project();
    let (overlay, v) = over(dir.path());
    change(&v);
    let done = overlay
        .apply_to_folder(
            &v.tree_version(),
            &["new/x", "a"],
            dir.path(),
            &ProtectedPaths::default(),
            1 << 30,
        )
        .unwrap();
    assert_eq!(done.done, ["a", "new", "new/x"]);
    assert!(dir.path().join("gone").exists() && dir.path().join("src/m").exists());
    assert!(!dir.path().join("lib").exists() && !dir.path().join("to-x").exists());
}

#[test]
fn changes_of_the_host_are_not_overwritten() {
    let dir = project();
    let (overlay, v) = over(dir.path());
    assert_eq!(read(&v, "src/m"), "main\n");
    change(&v);
    write(&v, "fresh", "session\n");
    fs::write(dir.path().join("a"), "host has written more\n").unwrap();
    fs::write(dir.path().join("fresh"), "host\n").unwrap();
    fs::write(dir.path().join("src/extra"), "host\n").unwrap();
    let done = overlay
        .apply_to_folder(&v.tree_version(), &[], dir.path(), &ProtectedPaths::default(), 1 << 30)
        .unwrap();
    let left: Vec<_> = done.left.iter().map(|(p, w)| (p.as_str(), w.as_str())).collect();
    assert_eq!(
        left,
        [
            ("src", "it has files that are not the session's"),
            ("a", "it was changed on the host meanwhile"),
            ("fresh", "the host has something of this name by now"),
        ]
    );
    assert_eq!(fs::read_to_string(dir.path().join("a")).unwrap(), "host has written more\n");
    assert_eq!(fs::read_to_string(dir.path().join("fresh")).unwrap(), "host\n");
    // A file that the host changes after it was listed is not read at all.
    let (_, v) = over(dir.path());
    assert_eq!(v.stat(&ROOT_LOC, b"/work/link", false).unwrap().size, 1);
    fs::write(dir.path().join("a"), "other\n").unwrap();
    let request = Request::Download { path: "a".into(), offset: 0, limit: None };
    let e = apply_request(&v, "/work", &request).unwrap_err().to_string();
    assert!(e.contains("ESTALE"), "{e}");
}

#[test]
fn nothing_is_written_outside_of_the_folder() {
    let dir = project();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("f"), "outside\n").unwrap();
    let (overlay, v) = over(dir.path());
    // A folder becomes a link on the host after the session has seen it.
    assert_eq!(read(&v, "src/deep/d"), "deep\n");
    write(&v, "src/deep/f", "inside\n");
    v.symlink(b"/etc/passwd", &ROOT_LOC, b"/work/out").unwrap();
    v.symlink(b"../../x", &ROOT_LOC, b"/work/src/out").unwrap();
    v.mkfifo(&ROOT_LOC, b"/work/pipe", 0o644).unwrap();
    let snapshot = v.tree_version();
    fs::remove_dir_all(dir.path().join("src/deep")).unwrap();
    symlink(outside.path(), dir.path().join("src/deep")).unwrap();
    let done = overlay
        .apply_to_folder(&snapshot, &[], dir.path(), &ProtectedPaths::default(), 1 << 30)
        .unwrap();
    let left: Vec<_> = done.left.iter().map(|(p, w)| (p.as_str(), w.as_str())).collect();
    assert_eq!(
        left,
        [
            ("src/deep/f", "a symbolic link is on the way"),
            ("out", "the symbolic link leads out of the folder"),
            ("pipe", "neither a file, a directory nor a symbolic link"),
            ("src/out", "the symbolic link leads out of the folder"),
        ]
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("f")).unwrap(), "outside\n");
}

#[test]
fn operations_of_a_hostile_session_are_refused() {
    let dir = project();
    let all: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    let file = |path: &str| Operation::File {
        path: path.as_bytes().to_vec().into(),
        mode: 0o7777,
        was: OriginalEntry::Nothing,
    };
    let link = |path: &str, target: &str| Operation::Link {
        path: path.as_bytes().to_vec().into(),
        target: target.as_bytes().to_vec().into(),
        was: OriginalEntry::Nothing,
    };
    let bytes = |n: usize| Operation::Bytes(vec![0; n].into());
    for ops in [
        vec![file("../x")],
        vec![file("/etc/x")],
        vec![file("a/../../x")],
        vec![file("")],
        vec![file("a//b")],
        vec![file(&"x".repeat(300))],
        vec![link("l", "/etc/passwd")],
        vec![link("l", "../x")],
        vec![bytes(1)],
        vec![Operation::End],
        vec![file("x"), file("y")],
        vec![file("x"), bytes(600), bytes(600)],
    ] {
        let mut applier = Applier::new(dir.path(), &ProtectedPaths::default(), 1000).unwrap();
        let shown = format!("{ops:?}");
        let refused = ops.into_iter().map(|op| applier.take_operation(op)).find(Result::is_err);
        assert!(
            matches!(refused, Some(Err(WorkspaceError::Operations(_)))),
            "{}",
            &shown[..shown.len().min(200)]
        );
        drop(applier);
        let mut now: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        let mut want = all.clone();
        now.sort();
        want.sort();
        assert_eq!(now, want);
    }
    let mut applier = Applier::new(dir.path(), &ProtectedPaths::default(), 1000).unwrap();
    applier.take_operation(file("x")).unwrap();
    assert!(applier.finish_steps().is_err());
    let mut applier = Applier::new(dir.path(), &ProtectedPaths::default(), 1000).unwrap();
    // The path leads through a link that the host has always had.
    symlink("/tmp", dir.path().join("tmp")).unwrap();
    applier.take_operation(file("tmp/wasibox-test-escape")).unwrap();
    applier.take_operation(Operation::End).unwrap();
    applier.take_operation(file("set-id")).unwrap();
    applier.take_operation(Operation::End).unwrap();
    let wire = postcard::to_stdvec(&file("x")).unwrap();
    assert_eq!(postcard::from_bytes::<Operation>(&wire).unwrap(), file("x"));
    let done = applier.finish_steps().unwrap();
    assert_eq!((done.done, done.left.len()), (vec!["set-id".to_owned()], 1));
    assert!(!Path::new("/tmp/wasibox-test-escape").exists());
    assert_eq!(
        fs::metadata(dir.path().join("set-id")).unwrap().permissions().mode() & 0o7777,
        0o777
    );
}

#[test]
fn changes_of_types_and_of_permission_bits_are_applied() {
    let dir = project();
    let (overlay, v) = over(dir.path());
    for (path, recursive) in [("src", true), ("a", false), ("link", false)] {
        apply_request(&v, "/work", &Request::Delete { path: path.into(), recursive }).unwrap();
    }
    write(&v, "src", "now a file\n");
    write(&v, "a/b", "now a directory\n");
    write(&v, "link", "now a file\n");
    v.chmod(&ROOT_LOC, b"/work/gone", 0o600).unwrap();
    let done = overlay
        .apply_to_folder(&v.tree_version(), &[], dir.path(), &ProtectedPaths::default(), 1 << 30)
        .unwrap();
    assert_eq!(done.left, []);
    assert_eq!(fs::read_to_string(dir.path().join("src")).unwrap(), "now a file\n");
    assert_eq!(fs::read_to_string(dir.path().join("a/b")).unwrap(), "now a directory\n");
    assert!(fs::symlink_metadata(dir.path().join("link")).unwrap().is_file());
    assert_eq!(fs::metadata(dir.path().join("gone")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn folders_that_may_not_be_mounted_are_refused() {
    assert!(Overlay::open(Path::new("/proc"), "/work", &ProtectedPaths::default()).is_err());
    let dir = project();
    assert!(Overlay::open(&dir.path().join("a"), "/work", &ProtectedPaths::default()).is_err());
    for at in ["work", "/", "/a/../b", "/dev/x", "/work/"] {
        assert!(Overlay::open(dir.path(), at, &ProtectedPaths::default()).is_err(), "{at}");
    }
}

#[test]
fn a_write_into_a_large_file_keeps_its_other_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let big: Vec<u8> = (0..300_000u32).map(|i| (i / 3) as u8).collect();
    fs::write(dir.path().join("big"), &big).unwrap();
    let (overlay, v) = over(dir.path());
    let how = wasibox_vfs::OpenFlags { read: true, write: true, ..Default::default() };
    let wasibox_vfs::OpenResult::File(f) = v.open(&ROOT_LOC, b"/work/big", how, 0).unwrap() else {
        panic!()
    };
    f.write(70_000, false, b"!").unwrap();
    drop(f);
    overlay
        .apply_to_folder(&v.tree_version(), &[], dir.path(), &ProtectedPaths::default(), 1 << 30)
        .unwrap();
    let mut want = big;
    want[70_000] = b'!';
    assert_eq!(fs::read(dir.path().join("big")).unwrap(), want);
}
