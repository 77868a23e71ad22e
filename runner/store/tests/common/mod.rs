//! A session's file system on an image of a few files, and what can be told of it.
#![allow(dead_code, unused_imports)] // each test file uses some

#[path = "../../../vfs/tests/common/mod.rs"]
mod files;

pub use files::sessions::{Random, dump, image};
pub use files::{READ, ROOT_LOC, WRITE, open, read_bytes as read, write};
use wasibox_store::snapshot::{Commit, Files};
use wasibox_store::{Error, Session};
use wasibox_vfs::delta::{Snapshot, between};
use wasibox_vfs::{Budget, DiskLimits, Errno, Protected, Vfs};

/// A new session.
pub fn session() -> Vfs {
    let limits = DiskLimits { bytes: 8 << 30, entries: 10_000_000, ..DiskLimits::default() };
    Vfs::new(image(), &[], limits, Budget::new(u64::MAX), &Protected::default()).unwrap()
}

#[derive(Debug)]
pub enum Failed {
    Store(Error),
    Vfs(Errno),
}

impl From<Error> for Failed {
    fn from(e: Error) -> Failed {
        Failed::Store(e)
    }
}

/// Commits what has changed since `known`.
pub fn commit(s: &Session, v: &Vfs, known: &mut Snapshot) -> Commit {
    let now = v.snapshot();
    let commit = s.commit(|w| between(known, &now, &mut |delta| w.add(delta))).unwrap();
    *known = now;
    commit
}

/// Makes a file system what a session is.
pub fn apply(s: &Session, v: &Vfs, old: &Files, new: &Files) {
    let emit = &mut |delta| v.restore(delta).map_err(Failed::Vfs);
    s.changes(old, new, emit).unwrap();
}

/// A new file system with the files of a session.
pub fn restored(s: &Session) -> Vfs {
    let v = session();
    apply(s, &v, &Files::default(), &s.state().files);
    v
}
