//! Tests that files which earlier versions wrote can be read. `formats/` has a store and a snapshot
//! of each version from the first one on; they are never made again.
//!
//! Both were made by these calls of a session `a`:
//!
//! ```text
//! echo kept > f; x=5; f() { echo "f of $1"; }
//! echo more >> f; ln -s f l; mkdir d
//! runner kv set a k v
//! ```

use std::path::Path;
use std::process::{Command, Output};

/// The versions, the first one first.
const VERSIONS: &[&str] = &["0.1.0"];

fn runner(args: &[&str]) -> Output {
    Command::new(wasibox_sessions::dist().join("runner")).args(args).output().expect("runner")
}

/// Returns the output of a command that succeeds.
fn stdout(args: &[&str]) -> String {
    let done = runner(args);
    assert!(done.status.success(), "{args:?}: {done:?}");
    String::from_utf8_lossy(&done.stdout).into_owned()
}

/// Runs a script in the session of a store.
fn exec(store: &str, script: &str) -> String {
    let image = wasibox_sessions::dist().join("image.webc");
    let image = image.to_str().expect("a path");
    stdout(&["session", "exec", "--store", store, "--image", image, "a", script])
}

/// Checks the contents of the session in a store.
fn check_session(store: &str, version: &str) {
    let script = "cat f; echo $x; f 1; readlink l; ls";
    assert_eq!(exec(store, script), "kept\nmore\n5\nf of 1\nf\nd\nf\nl\n", "{version}");
    assert_eq!(stdout(&["kv", "get", "--store", store, "a", "k"]), "v", "{version}");
}

#[test]
fn stores_and_snapshots_of_all_versions_can_be_read() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats");
    let dir = tempfile::tempdir().expect("a folder");
    for version in VERSIONS {
        let store = dir.path().join(format!("{version}.wbx"));
        std::fs::copy(kept.join(format!("{version}.wbx")), &store).expect("a copy");
        let at = store.to_str().expect("a path");
        check_session(at, version);
        // The calls can be undone: the check's own, and the second one.
        stdout(&["session", "undo", "--store", at, "a"]);
        stdout(&["session", "undo", "--store", at, "a"]);
        assert_eq!(exec(at, "cat f; ls"), "kept\nf\n");
        let new = dir.path().join(format!("{version}-imported.wbx"));
        let snapshot = kept.join(format!("{version}.wbs"));
        let (new_at, snapshot) =
            (new.to_str().expect("a path"), snapshot.to_str().expect("a path"));
        stdout(&["snapshot", "import", "--store", new_at, "--name", "a", snapshot]);
        check_session(new_at, version);
    }
}
