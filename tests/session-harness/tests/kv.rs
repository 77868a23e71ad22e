//! Tests key-values as guests see them through the command `kv`, in sessions that keep them.

use wasibox::{Isolation, Session};
use wasibox_sessions::*;

#[test]
fn values_are_shared_with_the_host_and_outlive_undo() {
    for isolation in [Isolation::Process, Isolation::Threads] {
        let engine = engine(isolation);
        let dir = tempfile::tempdir().unwrap();
        let store = engine.store(&dir.path().join("w.wbx")).unwrap();
        let s = store.create("a", policy()).unwrap();
        assert_eq!(sh(&s, "kv set a 1; printf 'x\\ny' | kv set b; kv get a; kv list"), "1a\nb\n");
        s.undo().unwrap();
        assert_eq!(
            sh(&s, "kv get b; kv delete a; kv list; kv get a"),
            "x\nyb\nkv: no value 'a'\n[1]"
        );
        s.park();
        // The value is longer than one answer and than a pipe's buffer.
        assert_eq!(
            sh(&s, "seq 200000 | head -c 1000000 | kv set long; kv get long | md5sum; seq 200000 | head -c 1000000 | md5sum")
                .lines()
                .collect::<std::collections::HashSet<_>>()
                .len(),
            1
        );
        // `kv` runs from Python, and in many processes at once.
        let code = "import subprocess as s; s.run(['kv', 'set', 'p', 'q'], check=True)\n\
                    all = [s.Popen(['kv', 'set', f'n{i}', str(i)]) for i in range(20)]\n\
                    [p.wait() for p in all].count(0), s.check_output(['kv', 'get', 'p'])";
        assert_eq!(py(&s, code), "(20, b'q')");
        assert_eq!(
            sh(&s, "kv list n1 | wc -l; kv delete n0 n1 nope"),
            "11\nkv: no value 'nope'\n[1]"
        );
        drop(s);
        let store = store.store();
        assert_eq!(store.value("a", b"p").unwrap().unwrap(), b"q");
        assert_eq!(store.value("a", b"long").unwrap().unwrap().len(), 1_000_000);
        store.session("a").unwrap().set_value(b"host", &vec![b'h'; 3_000_000]).unwrap();
        let s = engine.sessions(store.clone()).session("a", policy()).unwrap();
        assert_eq!(sh(&s, "kv get host | wc -c"), "3000000\n");
    }
}

#[test]
fn what_cannot_be_is_said() {
    for isolation in [Isolation::Process, Isolation::Threads] {
        let s = engine(isolation).session(policy()).unwrap();
        let said =
            |s: &Session, script: &str| sh(s, script).lines().next().unwrap_or_default().to_owned();
        assert_eq!(said(&s, "kv"), "kv: missing operand");
        assert_eq!(said(&s, "kv get"), "kv: missing operand after 'get'");
        assert_eq!(said(&s, "kv get ''"), "kv: the key is empty");
        assert_eq!(said(&s, "kv take a"), "kv: unknown action 'take'");
        assert_eq!(
            said(&s, "head -c 1048577 /dev/zero | kv set a"),
            "kv: the value is longer than 1 MiB"
        );
        let many = "for i in {1..1001}; do kv set k$i v || break; done; kv list | wc -l";
        assert_eq!(sh(&s, many), "1000\nkv: there would be more than 1000 keys or 64 MiB\n");
        let own =
            "kv set wasibox.workspace x; kv get wasibox.workspace; kv delete wasibox.workspace";
        assert_eq!(
            sh(&s, own),
            "kv: keys that begin with wasibox. are the host's\n\
             kv: no value 'wasibox.workspace'\nkv: no value 'wasibox.workspace'\n[1]"
        );
        // A guest that sends nonsense gets an error and harms no other guest.
        assert_eq!(
            sh(&s, "printf zz > /.box/kv; exec 3<>/.box/kv; printf x >&3; wc -c <&3; kv get k1"),
            "14\nv"
        );
        assert!(!sh(&s, "cat /.box/kv").contains("cat"));
    }
    // Sessions without a history keep no values.
    let options = options(Isolation::Threads);
    let s = Session::open(&options.pool.image, policy()).unwrap();
    let o = s.exec("kv list; ls /.box/kv").unwrap();
    let err = String::from_utf8(o.stderr).unwrap();
    assert!(err.starts_with("kv: no values are kept here"), "{err}");
    assert!(err.contains("No such file"), "{err}");
}
