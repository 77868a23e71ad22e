//! Tests requests of the host about files of a session. `runner/files` tests the requests
//! themselves; these tests check that they pass through worker, history and log.

use wasibox::files::{Answer, EditOf, ReadOf, Request, WriteOf};
use wasibox::{Error, Isolation};
use wasibox_sessions::*;

#[test]
fn the_host_and_guests_see_the_same_files() {
    for engine in [Isolation::Process, Isolation::Threads].map(engine) {
        let s = engine.session(policy()).unwrap();
        sh(&s, "cd /tmp; umask 077");
        // This is longer than one message between the processes.
        let long = "one line of text\n".repeat(300_000);
        s.files(&Request::Write(WriteOf::new("long", &*long))).unwrap();
        s.files(&Request::Write(WriteOf::new("/home/user/a", "one\ntwo\n"))).unwrap();
        assert_eq!(sh(&s, "wc -l < long; cat ~/a"), "300000\none\ntwo\n");
        let edit = |old: &str| Request::Edit(EditOf::new("/home/user/a", old, "2"));
        s.files(&edit("two")).unwrap();
        let before = s.head().unwrap().number;
        assert!(matches!(s.files(&edit("none")), Err(Error::Files(_))));
        let read = s.files(&Request::Read(ReadOf::new("/home/user/a"))).unwrap();
        assert!(matches!(&read, Answer::Read { .. }), "{read:?}");
        // Requests that read or fail are logged, but are not commits.
        assert_eq!(s.head().unwrap().number, before);
        s.park();
        assert_eq!(sh(&s, "cat ~/a; pwd"), "one\n2\n/tmp\n");
        s.undo().unwrap();
        s.undo().unwrap();
        assert_eq!(sh(&s, "cat ~/a"), "one\ntwo\n");
        let mut log = Vec::new();
        s.audit(&mut |_, entry| log.push(entry.to_owned())).unwrap();
        assert!(
            log.iter().any(|e| e.contains("edit /home/user/a") && e.contains("the text is not in")),
            "{log:?}"
        );
    }
}
