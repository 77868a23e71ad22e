//! `edit`, `patch_lines`: replacements, preserved bytes, messages.

mod common;

use common::*;
use wasibox_files::{
    Answer, EditOf, EditReplacement, FilesError, PatchLines, Request, apply_request,
};
use wasibox_vfs::{DiskLimits, MountSpec, OpenFlags, Vfs};

fn edit(v: &Vfs, path: &str, old: &str, new: &str) -> Result<Answer, FilesError> {
    apply_request(v, "/work", &Request::Edit(EditOf::new(path, old, new)))
}

fn lines(v: &Vfs, first: u64, last: u64, text: &str) -> Result<Answer, FilesError> {
    let p = PatchLines {
        path: "f".into(),
        first,
        last,
        text: text.into(),
        expect: None,
        encoding: None,
    };
    apply_request(v, "/work", &Request::PatchLines(p))
}

#[test]
fn text_is_replaced_in_place() {
    let v = vfs();
    put(&v, "/work/f", "a\nb\nc\nd\ne\nf\ng\nh\ni\n");
    let Ok(Answer::Edited { shown, replacements, .. }) = edit(&v, "f", "e\n", "E\nE2\n") else {
        panic!()
    };
    assert_eq!(text(&v, "/work/f"), "a\nb\nc\nd\nE\nE2\nf\ng\nh\ni\n");
    assert_eq!(replacements, 1);
    assert_eq!(
        shown,
        "     2\tb\n     3\tc\n     4\td\n     5\tE\n     6\tE2\n     7\tf\n     8\tg\n     9\th\n"
    );
}

#[test]
fn a_text_to_replace_must_be_unique() {
    let v = vfs();
    put(&v, "/work/f", "x = 1\ny = 2\nx = 1\n");
    assert_eq!(
        edit(&v, "f", "x = 1", "x = 3").unwrap_err().to_string(),
        "edit 1: the text is 2 times in /work/f, at lines 1, 3; give more of the text around the one you mean, \
         or set replace_all"
    );
    let all = EditReplacement { old: "x = 1".into(), new: "x = 3".into(), replace_all: true };
    let request = Request::Edit(EditOf { path: "f".into(), edits: vec![all], encoding: None });
    let Ok(Answer::Edited { replacements: 2, .. }) = apply_request(&v, "/work", &request) else {
        panic!()
    };
    assert_eq!(text(&v, "/work/f"), "x = 3\ny = 2\nx = 3\n");
}

#[test]
fn a_missing_text_is_answered_with_the_nearest_lines() {
    let v = vfs();
    put(&v, "/work/f", "def f():\n    return 1\n\ndef g():\n    return 2\n");
    let e = edit(&v, "f", "def g():\n\treturn 2\n", "").unwrap_err().to_string();
    assert_eq!(
        e,
        "edit 1: the text is not in /work/f; lines 4 to 5 are the same but for white space:\n     4\tdef g():\n     \
         5\t    return 2\n"
    );
    let e = edit(&v, "f", "     5\t    return 2", "x").unwrap_err().to_string();
    assert!(e.contains("no part of the file"), "{e}");
    let e = edit(&v, "f", "def g():\n    return 3\n", "").unwrap_err().to_string();
    assert!(e.contains("lines 4 to 5 are most like it"), "{e}");
    assert!(edit(&v, "f", "", "x").unwrap_err().to_string().contains("old is empty"));
    assert!(edit(&v, "f", "a", "a").unwrap_err().to_string().contains("the same"));
    assert_eq!(text(&v, "/work/f"), "def f():\n    return 1\n\ndef g():\n    return 2\n");
}

#[test]
fn several_edits_are_all_or_none() {
    let v = vfs();
    put(&v, "/work/f", "one two three\n");
    let json = |b: &str| {
        format!(
            r#"{{"edit": {{"path": "f", "edits": [{{"old": "one", "new": "1"}}, {{"old": "{b}", "new": "2"}}]}}}}"#
        )
    };
    assert!(err(&v, &json("five")).starts_with("edit 2: the text is not in"));
    assert_eq!(text(&v, "/work/f"), "one two three\n");
    ok(&v, &json("1 two"));
    assert_eq!(text(&v, "/work/f"), "2 three\n");
}

#[test]
fn line_ends_byte_order_marks_and_encodings_are_kept() {
    let v = vfs();
    put(&v, "/work/f", "a\r\nb\r\nc");
    edit(&v, "f", "a\nb\n", "x\ny\nz\n").unwrap();
    assert_eq!(text(&v, "/work/f"), "x\r\ny\r\nz\r\nc");
    // The last line had no line feed, and still has none.
    edit(&v, "f", "z\nc\n", "w\nd\n").unwrap();
    assert_eq!(text(&v, "/work/f"), "x\r\ny\r\nw\r\nd");
    put(&v, "/work/f", b"\xff\xfea\0\n\0b\0");
    edit(&v, "f", "b", "é").unwrap();
    assert_eq!(get(&v, "/work/f"), b"\xff\xfea\0\n\0\xe9\0");
    put(&v, "/work/f", b"\xef\xbb\xbfab");
    edit(&v, "f", "a", "x").unwrap();
    assert_eq!(get(&v, "/work/f"), b"\xef\xbb\xbfxb");
    // Bytes that are not UTF-8 are kept.
    put(&v, "/work/f", b"caf\xe9 = 1\n");
    edit(&v, "f", "= 1", "= 2").unwrap();
    assert_eq!(get(&v, "/work/f"), b"caf\xe9 = 2\n");
    put(&v, "/work/f", b"a\0b");
    assert!(edit(&v, "f", "a", "b").unwrap_err().to_string().contains("is not text"));
}

#[test]
fn a_file_is_replaced_at_once_and_keeps_its_bits() {
    let v = vfs();
    put(&v, "/work/f", "old");
    v.chmod(&ROOT_LOC, b"/work/f", 0o750).unwrap();
    let how = OpenFlags { read: true, ..OpenFlags::default() };
    let wasibox_vfs::OpenResult::File(open) = v.open(&ROOT_LOC, b"/work/f", how, 0).unwrap() else {
        panic!()
    };
    edit(&v, "f", "old", "new").unwrap();
    // A process that has the file open keeps the old contents.
    let mut b = [0; 8];
    assert_eq!((open.read(0, &mut b).unwrap(), &b[..3]), (3, &b"old"[..]));
    assert_eq!(v.stat(&ROOT_LOC, b"/work/f", true).unwrap().mode, 0o750);
    assert_eq!(names(&v), ["f"]);
    // A file with two names stays one file.
    v.link(&ROOT_LOC, b"/work/f", false, &ROOT_LOC, b"/work/g").unwrap();
    edit(&v, "f", "new", "newer").unwrap();
    assert_eq!(text(&v, "/work/g"), "newer");
    // A link is followed, not replaced.
    v.symlink(b"f", &ROOT_LOC, b"/work/l").unwrap();
    edit(&v, "l", "newer", "newest").unwrap();
    assert_eq!(v.read_link(&ROOT_LOC, b"/work/l").unwrap(), b"f");
    assert_eq!(text(&v, "/work/g"), "newest");
}

fn names(v: &Vfs) -> Vec<String> {
    match ok(v, r#"{"ls": {}}"#) {
        Answer::Entries { entries, .. } => entries.into_iter().map(|e| e.path).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn edits_respect_mounts_and_permissions() {
    let host = tempfile::tempdir().unwrap();
    std::fs::write(host.path().join("f"), "host").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", host.path().join("out")).unwrap();
    let spec = |guest: &str, writable, quota| MountSpec {
        host: host.path().into(),
        guest: guest.into(),
        writable,
        quota,
    };
    let v = with(&[spec("/ro", false, None), spec("/rw", true, Some(1000))], DiskLimits::default());
    assert!(
        edit(&v, "/ro/f", "host", "x")
            .unwrap_err()
            .to_string()
            .contains("may only be read (EROFS)")
            || edit(&v, "/ro/f", "host", "x").unwrap_err().to_string().contains("(EROFS)")
    );
    // A link in the mount leads to the guest's files, not to the host's.
    assert!(err(&v, r#"{"read": {"path": "/rw/out"}}"#).contains("no such file"));
    assert!(err(&v, r#"{"write": {"path": "/ro/new", "content": "x"}}"#).contains("EROFS"));
    edit(&v, "/rw/f", "host", "guest").unwrap();
    assert_eq!(std::fs::read_to_string(host.path().join("f")).unwrap(), "guest");
    let large = "x".repeat(2000);
    let e = err(&v, &format!(r#"{{"write": {{"path": "/rw/f", "content": "{large}"}}}}"#));
    assert!(e.contains("ENOSPC") && e.contains("quota"), "{e}");
    assert_eq!(std::fs::read_to_string(host.path().join("f")).unwrap(), "guest");
    assert_eq!(std::fs::read_dir(host.path()).unwrap().count(), 2);
    put(&v, "/work/locked", "x");
    v.chmod(&ROOT_LOC, b"/work/locked", 0o444).unwrap();
    assert!(edit(&v, "locked", "x", "y").unwrap_err().to_string().contains("EACCES"));
    // A writable file in a read-only directory is written in place.
    dirs(&v, "/work/shut");
    put(&v, "/work/shut/f", "x");
    v.chmod(&ROOT_LOC, b"/work/shut", 0o555).unwrap();
    edit(&v, "shut/f", "x", "y").unwrap();
    assert_eq!(text(&v, "/work/shut/f"), "y");
}

#[test]
fn a_full_disk_keeps_the_old_file() {
    let v = with(&[], DiskLimits { bytes: 20_000, ..DiskLimits::default() });
    put(&v, "/work/f", "a".repeat(8000));
    let e = edit(&v, "f", "a", "b").unwrap_err();
    assert!(matches!(e, FilesError::Ambiguous { .. }));
    put(&v, "/work/f", format!("x{}", "a".repeat(8000)));
    let e = edit(&v, "f", "x", &"y".repeat(9000)).unwrap_err().to_string();
    assert!(e.contains("ENOSPC"), "{e}");
    assert_eq!(get(&v, "/work/f").len(), 8001);
    assert_eq!(names(&v), ["f"]);
    v.link(&ROOT_LOC, b"/work/f", false, &ROOT_LOC, b"/work/g").unwrap();
    assert!(edit(&v, "f", "x", &"y".repeat(15_000)).is_err());
    assert_eq!(get(&v, "/work/g"), format!("x{}", "a".repeat(8000)).into_bytes());
}

#[test]
fn lines_by_number() {
    let v = vfs();
    for (before, first, last, new, after) in [
        ("a\nb\nc\n", 2, 2, "B", "a\nB\nc\n"),
        ("a\nb\nc\n", 2, 3, "x\ny\nz\n", "a\nx\ny\nz\n"),
        ("a\nb\nc\n", 2, 2, "", "a\nc\n"),
        ("a\nb\n", 1, 0, "x", "x\na\nb\n"),
        ("a\nb\n", 3, 2, "x", "a\nb\nx\n"),
        ("a\nb", 3, 2, "x", "a\nb\nx\n"),
        ("a\nb", 2, 2, "x\n", "a\nx"),
        ("a\r\nb\r\n", 1, 1, "x\ny", "x\r\ny\r\nb\r\n"),
        ("", 1, 0, "x", "x\n"),
        ("a\n", 1, 1, "", ""),
    ] {
        put(&v, "/work/f", before);
        lines(&v, first, last, new).unwrap();
        assert_eq!(text(&v, "/work/f"), after, "{before:?} {first} {last} {new:?}");
    }
    put(&v, "/work/f", "a\nb\n");
    for (first, last) in [(0, 0), (1, 3), (4, 3), (2, 0), (u64::MAX, u64::MAX)] {
        let e = lines(&v, first, last, "x").unwrap_err();
        assert!(matches!(e, FilesError::Lines { lines: 2, .. }), "{first} {last}");
    }
    let e = err(
        &v,
        r#"{"patch_lines": {"path": "f", "first": 1, "last": 1, "text": "x", "expect": "b"}}"#,
    );
    assert_eq!(e, "lines 1 to 1 of /work/f are not what was expected; they are now:\n     1\ta\n");
    ok(
        &v,
        r#"{"patch_lines": {"path": "f", "first": 1, "last": 2, "text": "x", "expect": "a\nb"}}"#,
    );
    assert_eq!(text(&v, "/work/f"), "x\n");
}
