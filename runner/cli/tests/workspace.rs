//! `--workspace` on the command line; its behaviour is tested in tests/session-harness.

mod common;

use common::*;
use std::path::Path;
use std::process::Output;

fn at(dir: &Path, args: &[&str]) -> Output {
    runner().current_dir(dir).env("WASIBOX_IMAGE", &*IMAGE).args(args).output().unwrap()
}

/// Returns the output of a command, which must succeed.
fn said(dir: &Path, args: &[&str]) -> String {
    let o = at(dir, args);
    assert!(o.status.success(), "{args:?}: {}", String::from_utf8_lossy(&o.stderr));
    String::from_utf8(o.stdout).unwrap()
}

fn failed(dir: &Path, args: &[&str]) -> (i32, String) {
    let o = at(dir, args);
    (o.status.code().unwrap(), String::from_utf8(o.stderr).unwrap())
}

#[test]
fn a_zip_goes_from_command_to_command() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let image = IMAGE.to_str().unwrap();
    let exec =
        |argv: &[&str]| said(dir, &[&["exec", "--workspace", "p.zip", image], argv].concat());
    assert_eq!(exec(&["cwd"]).trim_end(), "/work");
    exec(&["fill", "/work/a", "3"]);
    assert!(std::fs::metadata(dir.join("p.zip")).unwrap().len() > 22);
    // A store takes the session over, with its history.
    let over = ["--store", "w.wbx", "--workspace", "p.zip", "s"];
    assert_eq!(said(dir, &[&["session", "create"], &over[..]].concat()), "s\n");
    assert!(
        at(dir, &[&["session", "exec"], &over[..], &["--", "cat", "/work/a"]].concat()).stdout
            == [7; 3]
    );
    let (status, why) = failed(dir, &["session", "undo", "--store", "w.wbx", "s"]);
    assert!(status == 125 && why.contains("works in a zip"), "{why}");
    let (status, why) = failed(dir, &["session", "exec", "--store", "w.wbx", "s", "--", "cwd"]);
    assert!(status == 125 && why.contains("works in a zip at /work, which is not given"), "{why}");
    assert_eq!(said(dir, &[&["fs", "ls"], &over[..]].concat()).lines().count(), 1);
    said(dir, &[&["session", "restore"], &over[..], &["1"]].concat());
    assert_eq!(said(dir, &[&["fs", "ls"], &over[..]].concat()), "");
}

#[test]
fn a_folder_is_looked_at_and_brought_back() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::create_dir(dir.join("p")).unwrap();
    std::fs::write(dir.join("p/a"), "x\n").unwrap();
    let image = IMAGE.to_str().unwrap();
    let out =
        said(dir, &["exec", "--workspace", "p:/src", "--diff", image, "copy", "/src/a", "/src/b"]);
    assert!(
        out.ends_with(
            "diff --git a/b b/b\nnew file mode 100644\n--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n"
        ),
        "{out}"
    );
    assert!(!dir.join("p/b").exists());
    said(dir, &["exec", "--workspace", "p", "--apply", image, "copy", "/work/a", "/work/b"]);
    assert_eq!(std::fs::read(dir.join("p/b")).unwrap(), b"x\n");
    let over = ["--store", "w.wbx", "--workspace", "p", "s"];
    said(dir, &[&["session", "create"], &over[..]].concat());
    said(dir, &[&["session", "exec"], &over[..], &["--", "copy", "/work/a", "/work/c"]].concat());
    said(dir, &[&["session", "exec"], &over[..], &["--", "copy", "/work/a", "/work/d"]].concat());
    let names = |out: String| out.lines().filter(|l| l.starts_with("+++")).count();
    assert_eq!(names(said(dir, &[&["session", "workspace", "diff"], &over[..]].concat())), 2);
    said(dir, &[&["session", "workspace", "apply"], &over[..], &["d"]].concat());
    assert!(dir.join("p/d").exists() && !dir.join("p/c").exists());
    assert_eq!(failed(dir, &[&["session", "exec"], &over[..], &["--", "cwd"]].concat()).0, 125);
    let (status, _) = failed(dir, &["exec", "--apply", image, "cwd"]);
    assert_eq!(status, 2);
}
