//! The example of the crate `wasibox` runs, and continues where it has ended.

#[allow(dead_code)] // its `main` is for the program
#[path = "../../../runner/session/examples/kept_session.rs"]
mod kept_session;

use wasibox_sessions::*;

#[test]
fn a_kept_session_counts_its_runs() {
    let dir = tempfile::tempdir().unwrap();
    for expected in ["run 1\n2 commits\n", "run 2\n3 commits\n"] {
        let mut out = Vec::new();
        kept_session::run(&dist().join("image.webc"), &dir.path().join("work.wbx"), &mut out)
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
