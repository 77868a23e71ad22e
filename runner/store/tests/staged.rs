//! Large commits: other sessions use the store while one is being prepared, and its objects are
//! either those of a commit or garbage.

mod common;

use common::*;
use std::path::Path;
use wasibox_store::snapshot::FileTree;
use wasibox_store::{Store, StoreError, StoreSession};
use wasibox_vfs::delta::emit_between;

fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed);
    (0..len).map(|_| random.below(256) as u8).collect()
}

/// Commits a file of several slices. Calls `act` before the commit's transaction begins.
fn commit_large(
    s: &StoreSession,
    bytes: &[u8],
    act: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let v = session();
    apply(s, &v, &FileTree::default(), &s.state().files);
    let before = v.tree_version();
    write(&v, "/tmp/large", bytes).unwrap();
    s.commit(|w| {
        emit_between(&before, &v.tree_version(), &mut |delta| w.add_delta(delta))?;
        act()
    })?;
    Ok(())
}

fn staged_rows(path: &Path) -> i64 {
    let db = rusqlite::Connection::open(path).unwrap();
    db.query_row("SELECT count(*) FROM staged", [], |row| row.get(0)).unwrap()
}

#[test]
fn others_write_while_a_large_commit_is_prepared() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    for store in [Store::open(&path).unwrap(), Store::in_memory().unwrap()] {
        let (a, b) = (store.create("a", None).unwrap(), store.create("b", None).unwrap());
        let bytes = noise(1, 3 << 20);
        commit_large(&a, &bytes, || {
            // Another thread would wait for ever for a lock that this one holds.
            std::thread::scope(|scope| {
                let other = scope.spawn(|| b.commit(|w| w.set_command(b"meanwhile")));
                other.join().unwrap().map(drop)
            })
        })
        .unwrap();
        assert_eq!((a.head().number, b.head().number), (2, 2));
        assert!(read(&restored(&a), "/tmp/large").unwrap() == bytes);
        assert!(store.check().unwrap().is_whole());
    }
    assert_eq!(staged_rows(&path), 0);
}

#[test]
fn a_collection_keeps_the_objects_of_a_commit_in_preparation() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    let store = Store::open(&path).unwrap();
    let bytes = noise(2, 3 << 20);
    // The first time the objects are new. The second time the store has them from a session that is
    // removed, so that the collection would remove them.
    for name in ["a", "b"] {
        let s = store.create(name, None).unwrap();
        commit_large(&s, &bytes, || {
            // Another process has its own locks.
            Store::open(&path)?.collect_garbage().map(drop)
        })
        .unwrap();
        assert!(read(&restored(&s), "/tmp/large").unwrap() == bytes);
        assert!(store.check().unwrap().is_whole());
        drop(s);
        store.remove(name).unwrap();
    }
    assert!(store.collect_garbage().unwrap().bytes > 3 << 20);
    assert_eq!(store.check().unwrap().objects, 0);
}

#[test]
fn a_large_commit_that_fails_leaves_garbage_only() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    let store = Store::open(&path).unwrap();
    let s = store.create("a", None).unwrap();
    let failed = commit_large(&s, &noise(3, 3 << 20), || Err(StoreError::Nothing("do")));
    assert!(matches!(failed, Err(StoreError::Nothing("do"))));
    assert_eq!((s.head().number, staged_rows(&path)), (1, 0));
    assert!(store.collect_garbage().unwrap().bytes > 2 << 20);
    assert_eq!(store.check().unwrap().objects, 0);

    // A process that is killed in the middle leaves its rows, which the session's next use removes.
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute("INSERT INTO staged(session, digest) VALUES(1, zeroblob(32))", []).unwrap();
    drop(s);
    store.session("a").unwrap();
    assert_eq!(staged_rows(&path), 0);
}

/// A client that removes the session and collects garbage while it is sent the session's snapshot.
struct Remover<'a> {
    store: &'a Store,
    taken: Vec<u8>,
}

impl std::io::Write for Remover<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.taken.is_empty() {
            self.store.remove("a").map_err(std::io::Error::other)?;
            self.store.collect_garbage().map_err(std::io::Error::other)?;
        }
        self.taken.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_export_keeps_its_objects_until_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.wbx");
    for store in [Store::open(&path).unwrap(), Store::in_memory().unwrap()] {
        let bytes = noise(4, 3 << 20);
        let s = store.create("a", None).unwrap();
        commit_large(&s, &bytes, || Ok(())).unwrap();
        drop(s);
        let mut client = Remover { store: &store, taken: Vec::new() };
        store.export("a", true, &mut client).unwrap();
        store.import("b", &*client.taken, &Default::default()).unwrap();
        let s = store.session("b").unwrap();
        assert!(read(&restored(&s), "/tmp/large").unwrap() == bytes);
        drop(s);
        store.remove("b").unwrap();
        assert!(store.collect_garbage().unwrap().bytes > 3 << 20);
        assert_eq!(store.check().unwrap().objects, 0);
    }
}
