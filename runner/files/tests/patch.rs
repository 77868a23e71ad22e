//! `apply_patch`: compared with GNU diff and patch, and with errors that only models make.

mod common;

use common::*;
use std::process::Command;
use wasibox_files::{
    Answer, FilesError, PatchAnswer, PatchOf, Request, apply_request, unified_diff,
};
use wasibox_vfs::Vfs;

fn patch(v: &Vfs, patch: &str) -> Result<PatchAnswer, FilesError> {
    let p = PatchOf { patch: patch.to_owned(), strip: None, fuzz: None, dry_run: false };
    match apply_request(v, "/work", &Request::ApplyPatch(p))? {
        Answer::Patched(p) => Ok(p),
        other => panic!("{other:?}"),
    }
}

#[test]
fn files_are_made_changed_renamed_and_deleted_together() {
    let v = vfs();
    dirs(&v, "/work/src");
    put(&v, "/work/src/a", "1\n2\n3\n4\n5\n");
    put(&v, "/work/old", "same\nline\n");
    put(&v, "/work/gone", "bye\n");
    let text_of = "diff --git a/src/a b/src/a\n--- a/src/a\n+++ b/src/a\n@@ -1,4 +1,4 @@\n 1\n-2\n+two\n 3\n 4\n\
                   diff --git a/new/n.sh b/new/n.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new/n.sh\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+true\n\
                   diff --git a/old b/moved/new\nsimilarity index 50%\nrename from old\nrename to moved/new\n--- a/old\n+++ b/moved/new\n@@ -1,2 +1,2 @@\n same\n-line\n+LINE\n\
                   diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n";
    let done = patch(&v, text_of).unwrap();
    assert_eq!(done.files.len(), 4);
    assert_eq!(text(&v, "/work/src/a"), "1\ntwo\n3\n4\n5\n");
    assert_eq!(text(&v, "/work/new/n.sh"), "#!/bin/sh\ntrue\n");
    assert_eq!(v.stat(&ROOT_LOC, b"/work/new/n.sh", true).unwrap().mode, 0o755);
    assert_eq!(text(&v, "/work/moved/new"), "same\nLINE\n");
    assert!(
        v.stat(&ROOT_LOC, b"/work/old", true).is_err()
            && v.stat(&ROOT_LOC, b"/work/gone", true).is_err()
    );
    assert_eq!(done.files[2].from.as_deref(), Some("/work/old"));
}

#[test]
fn all_or_nothing() {
    let v = vfs();
    put(&v, "/work/a", "1\n");
    put(&v, "/work/b", "2\n3\n");
    let e = patch(&v, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- a/b\n+++ b/b\n@@ -1,2 +1,2 @@\n-two\n+x\n 3\n").unwrap_err();
    let said = e.to_string();
    assert!(
        said.starts_with("hunk 1 does not fit /work/b (its line 1); nothing was changed"),
        "{said}"
    );
    assert!(said.contains("     2\t3"), "{said}");
    assert_eq!(text(&v, "/work/a"), "1\n");
    // If one file cannot be written, the others are restored.
    put(&v, "/work/z", "9\n");
    v.chmod(&ROOT_LOC, b"/work/z", 0o444).unwrap();
    let e = patch(
        &v,
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- /dev/null\n+++ b/c\n@@ -0,0 +1 @@\n+c\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-9\n+nine\n",
    );
    assert!(e.unwrap_err().to_string().contains("EACCES"));
    assert_eq!(text(&v, "/work/a"), "1\n");
    assert!(v.stat(&ROOT_LOC, b"/work/c", true).is_err());
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let v = vfs();
    put(&v, "/etc/x", "1\n");
    for name in ["../etc/x", "a/../../etc/x"] {
        let e = patch(&v, &format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-1\n+2\n")).unwrap_err();
        assert!(e.to_string().contains("must not have '..'"), "{e}");
    }
    let e = patch(&v, "diff --git a/a b/a\nrename from ../etc/x\nrename to y\n").unwrap_err();
    assert!(e.to_string().contains("must not have '..'"), "{e}");
    assert!(
        patch(&v, "--- a/nothing\n+++ b/nothing\n@@ -1 +1 @@\n-1\n+2\n")
            .unwrap_err()
            .to_string()
            .contains("no such file")
    );
    put(&v, "/work/there", "x\n");
    let e = patch(&v, "--- /dev/null\n+++ b/there\n@@ -0,0 +1 @@\n+y\n").unwrap_err();
    assert!(e.to_string().contains("exists already"), "{e}");
    let e = patch(&v, "--- a/there\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n").unwrap_err();
    assert!(matches!(e, FilesError::Hunk { .. }), "{e}");
}

#[test]
fn ends_of_lines_are_the_files_own() {
    let v = vfs();
    put(&v, "/work/f", "a\r\nb\r\nc");
    patch(&v, "--- f\n+++ f\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n\\ No newline at end of file\n")
        .unwrap();
    assert_eq!(text(&v, "/work/f"), "a\r\nx\r\ny\r\nc");
    // The marker of the missing line feed may be absent, too.
    patch(&v, "--- f\n+++ f\n@@ -3,2 +3,3 @@\n y\n c\n+d\n").unwrap();
    assert_eq!(text(&v, "/work/f"), "a\r\nx\r\ny\r\nc\r\nd\r\n");
    patch(&v, "--- f\n+++ f\n@@ -4,2 +4,2 @@\n c\n-d\n+e\n\\ No newline at end of file\n").unwrap();
    assert_eq!(text(&v, "/work/f"), "a\r\nx\r\ny\r\nc\r\ne");
}

#[test]
fn what_models_write() {
    let v = vfs();
    // Wrong counts, wrong lines, no blank before an empty line, no numbers, an absolute name.
    put(&v, "/work/f", "a\n\nb\nc\nd\ne\n");
    let done =
        patch(&v, "--- /work/f\n+++ /work/f\n@@ -30,9 +30,1 @@\n a\n\n-b\n+B\n c\n").unwrap();
    assert_eq!((text(&v, "/work/f").as_str(), done.files[0].moved), ("a\n\nB\nc\nd\ne\n", 1));
    patch(&v, "--- a/f\n+++ b/f\n@@\n d\n-e\n+E\n").unwrap();
    assert_eq!(text(&v, "/work/f"), "a\n\nB\nc\nd\nE\n");
    put(&v, "/work/g", "x\ny\nx\ny\n");
    let e = patch(&v, "--- a/g\n+++ b/g\n@@\n x\n-y\n+z\n").unwrap_err();
    assert!(e.to_string().contains("several places"), "{e}");
    // Context that differs at the ends.
    let done = patch(&v, "--- a/f\n+++ b/f\n@@ -1,6 +1,6 @@\n other\n \n-B\n+b\n c\n d\n").unwrap();
    assert_eq!((text(&v, "/work/f").as_str(), done.files[0].fuzzy), ("a\n\nb\nc\nd\nE\n", 1));
}

/// Compares the diffs of random texts with GNU diff's, and applies them both here and by GNU patch.
#[test]
fn agrees_with_gnu_diff_and_patch() {
    let dir = tempfile::tempdir().unwrap();
    let path = |n: &str| dir.path().join(n);
    let mut seed = 42u64;
    let mut next = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    for round in 0..60 {
        let mut old: Vec<String> = (0..next(40)).map(|_| format!("line {}", next(12))).collect();
        let before = joined(&old, next(4) != 0);
        for _ in 0..=next(5) {
            let at = next(old.len() as u64 + 1) as usize;
            match next(3) {
                0 if at < old.len() => drop(old.remove(at)),
                1 if at < old.len() => old[at] = format!("changed {}", next(9)),
                _ => old.insert(at, format!("new {}", next(9))),
            }
        }
        let after = joined(&old, next(4) != 0);
        if before == after || before.is_empty() || after.is_empty() {
            continue;
        }
        std::fs::write(path("old"), &before).unwrap();
        std::fs::write(path("new"), &after).unwrap();
        let gnu = Command::new("diff")
            .args(["-u", "old", "new"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let gnu = String::from_utf8(gnu.stdout).unwrap();
        let ours =
            String::from_utf8(unified_diff(before.as_bytes(), after.as_bytes(), ("f", "f"), 3))
                .unwrap();
        for (who, text_of) in [
            ("GNU", gnu.replace("--- old", "--- f").replace("+++ new", "+++ f")),
            ("ours", ours.clone()),
        ] {
            let v = vfs();
            put(&v, "/work/f", &before);
            patch(&v, &text_of).unwrap_or_else(|e| panic!("round {round}, {who}: {e}\n{text_of}"));
            assert_eq!(text(&v, "/work/f"), after, "round {round}, {who}\n{text_of}");
        }
        std::fs::write(path("p"), ours).unwrap();
        let done = Command::new("patch")
            .args(["-s", "old", "p"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "round {round}: {}", String::from_utf8_lossy(&done.stdout));
        assert_eq!(std::fs::read_to_string(path("old")).unwrap(), after, "round {round}");
    }
}

fn joined(lines: &[String], ended: bool) -> String {
    let text = lines.join("\n");
    if ended && !text.is_empty() { text + "\n" } else { text }
}

#[test]
fn repeating_lines_end() {
    let v = vfs();
    put(&v, "/work/f", "\n".repeat(2_000_000));
    let hunk = " \n".repeat(3000);
    let start = std::time::Instant::now();
    let limits =
        wasibox_files::FileLimits { time: std::time::Duration::from_secs(2), ..Default::default() };
    let p = PatchOf {
        patch: format!("--- f\n+++ f\n@@ -1 +1 @@\n{hunk}-x\n+y\n"),
        strip: None,
        fuzz: None,
        dry_run: true,
    };
    let e = wasibox_files::apply_within(&v, "/work", &Request::ApplyPatch(p), &limits).unwrap_err();
    assert!(matches!(e, FilesError::Time { .. } | FilesError::Hunk { .. }), "{e}");
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

#[test]
fn numbers_without_bounds() {
    let v = vfs();
    put(&v, "/work/f", "a\nb\n");
    let most = u64::MAX;
    for head in [
        format!("@@ -{most},{most} +{most},{most} @@"),
        format!("@@ -{},0 +1 @@", most),
        format!("@@ -{} +1 @@", i64::MAX as u64 + 2),
        format!("@@ -{}9 +1 @@", most),
    ] {
        let _ = patch(&v, &format!("--- f\n+++ f\n{head}\n a\n-x\n+y\n"));
        patch(&v, &format!("--- f\n+++ f\n{head}\n a\n-b\n+c\n")).unwrap();
        assert_eq!(text(&v, "/work/f"), "a\nc\n", "{head}");
        put(&v, "/work/f", "a\nb\n");
    }
    for offset in [i64::MIN, i64::MAX] {
        let _ = ask(&v, &format!(r#"{{"read": {{"path": "f", "offset": {offset}}}}}"#));
        let _ = ask(&v, &format!(r#"{{"read": {{"path": ".", "offset": {offset}}}}}"#));
    }
    for json in [
        r#"{"download": {"path": "f", "offset": 18446744073709551615}}"#,
        r#"{"download": {"path": "f", "limit": 18446744073709551615}}"#,
        r#"{"upload": {"path": "f", "data": "", "offset": 18446744073709551615}}"#,
        r#"{"ls": {"offset": 18446744073709551615, "depth": 4294967295, "limit": 18446744073709551615}}"#,
        r#"{"grep": {"pattern": "a", "offset": 18446744073709551615, "before": 4294967295, "after": 4294967295}}"#,
        r#"{"search": {"pattern": "a", "offset": 18446744073709551615, "limit": 18446744073709551615}}"#,
        r#"{"read": {"path": "f", "limit": 18446744073709551615, "max_bytes": 18446744073709551615}}"#,
    ] {
        let _ = ask(&v, json);
    }
}
