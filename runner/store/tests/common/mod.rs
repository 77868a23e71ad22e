//! A session's file system on an image of a few files, and helpers to compare file systems.
#![allow(dead_code, unused_imports)] // each test file uses some

#[path = "../../../vfs/tests/common/mod.rs"]
mod files;

pub use files::sessions::{Random, dump, image};
pub use files::{READ, ROOT_LOC, WRITE, open, read_bytes as read, write};
use wasibox_store::snapshot::{Commit, FileTree};
use wasibox_store::{StoreError, StoreSession};
use wasibox_vfs::delta::{TreeVersion, emit_between};
use wasibox_vfs::{Budget, DiskLimits, Errno, ProtectedPaths, Vfs};

/// Returns a new session.
pub fn session() -> Vfs {
    let limits = DiskLimits { bytes: 8 << 30, entries: 10_000_000, ..DiskLimits::default() };
    Vfs::new(image(), &[], limits, Budget::new(u64::MAX), &ProtectedPaths::default()).unwrap()
}

#[derive(Debug)]
pub enum Failed {
    Store(StoreError),
    Vfs(Errno),
}

impl From<StoreError> for Failed {
    fn from(e: StoreError) -> Failed {
        Failed::Store(e)
    }
}

/// Commits the changes since `known`.
pub fn commit(s: &StoreSession, v: &Vfs, known: &mut TreeVersion) -> Commit {
    let now = v.tree_version();
    let commit = s.commit(|w| emit_between(known, &now, &mut |delta| w.add_delta(delta))).unwrap();
    *known = now;
    commit
}

/// Changes a file system to the files of a session.
pub fn apply(s: &StoreSession, v: &Vfs, old: &FileTree, new: &FileTree) {
    let emit = &mut |delta| v.restore_delta(delta).map_err(Failed::Vfs);
    s.changes(old, new, emit).unwrap();
}

/// Returns a new file system with the files of a session.
pub fn restored(s: &StoreSession) -> Vfs {
    let v = session();
    apply(s, &v, &FileTree::default(), &s.state().files);
    v
}
