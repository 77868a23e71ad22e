//! Removal of commits and objects that nothing needs.

use crate::db::Db;
use crate::{CommitRow, Store, StoreError, blob_of, history};
use rusqlite::OptionalExtension;
use std::collections::HashSet;
use wasibox_snapshot::tree::page::Page;
use wasibox_snapshot::tree::{RecordValue, Root};
use wasibox_snapshot::{Blob, Digest};

/// The result of a garbage collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GcReport {
    pub commits: usize,
    pub objects: usize,
    /// Stored (compressed) size.
    pub bytes: u64,
}

/// The objects that must be kept.
#[derive(Default)]
pub struct NeededObjects {
    pub all: HashSet<Digest>,
    followed: HashSet<Digest>,
}

impl NeededObjects {
    /// Adds the objects of a value.
    pub fn add_blob(&mut self, blob: &Blob) {
        self.all.extend(blob.objects());
    }

    /// Adds the objects of a commit.
    pub fn add_commit(&mut self, db: &Db, commit: &CommitRow) -> Result<(), StoreError> {
        commit.commit.blobs().for_each(|blob| self.add_blob(blob));
        self.add_tree(db, commit.commit.state.files.root, &mut |e| Err(e.into()))
    }

    /// Adds the objects of a tree. Calls `damaged` for pages that cannot be read.
    pub fn add_tree(
        &mut self,
        db: &Db,
        root: Root,
        damaged: &mut dyn FnMut(wasibox_snapshot::SnapshotError) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut todo: Vec<Digest> = root.into_iter().collect();
        while let Some(digest) = todo.pop() {
            self.all.insert(digest);
            if !self.followed.insert(digest) {
                continue;
            }
            match Page::load(db, &digest) {
                Ok(Page::Branch(_, below)) => todo.extend(below.into_iter().map(|(_, d)| d)),
                Ok(Page::Leaf(records)) => {
                    for (_, value) in records {
                        if let RecordValue::Pieces(pieces) = value {
                            self.all.extend(pieces.iter().map(|p| p.object));
                        }
                    }
                }
                Err(e) => damaged(e)?,
            }
        }
        Ok(())
    }

    /// Adds the objects of the key-value tables of all sessions.
    pub fn add_values(&mut self, db: &Db) -> Result<(), StoreError> {
        let mut all = db.0.prepare_cached("SELECT value FROM kv")?;
        let mut rows = all.query([])?;
        while let Some(row) = rows.next()? {
            self.add_blob(&blob_of(&row.get::<_, Vec<u8>>(0)?)?);
        }
        Ok(())
    }
}

impl Store {
    /// Removes commits that no session and no tag leads to, then objects that no commit needs, and
    /// returns their space to the file system.
    ///
    /// # Errors
    /// Returns an error if the store is damaged. Nothing is removed then, because the needed
    /// objects cannot be determined.
    pub fn collect_garbage(&self) -> Result<GcReport, StoreError> {
        let gone = self.transaction(|db| {
            let mut gone = GcReport::default();
            let (needed, mut known) = (history::reachable_commits(db, None)?, Vec::new());
            {
                let mut all = db.0.prepare_cached("SELECT id FROM commits")?;
                let ids = all.query_map([], |r| r.get::<_, i64>(0))?;
                for id in ids {
                    known.push(id?);
                }
            }
            for id in known.into_iter().filter(|id| !needed.contains(id)) {
                gone.commits +=
                    db.0.prepare_cached("DELETE FROM commits WHERE id = ?")?.execute([id])?;
            }
            let mut objects = NeededObjects::default();
            for id in needed {
                objects.add_commit(db, &CommitRow::get(db, id)?)?;
            }
            objects.add_values(db)?;
            let mut all = db.0.prepare_cached("SELECT id, digest, length(bytes) FROM objects")?;
            let mut rows = all.query([])?;
            let mut unneeded = Vec::new();
            while let Some(row) = rows.next()? {
                let digest: Vec<u8> = row.get(1)?;
                if !Digest::from_slice(&digest).is_some_and(|d| objects.all.contains(&d)) {
                    unneeded.push(row.get::<_, i64>(0)?);
                    gone.bytes += crate::db::to_unsigned(row.get(2)?);
                }
            }
            for id in unneeded {
                gone.objects +=
                    db.0.prepare_cached("DELETE FROM objects WHERE id = ?")?.execute([id])?;
            }
            Ok::<_, StoreError>(gone)
        })?;
        let db = self.lock_db();
        // The pragma returns a row for each page.
        let mut vacuum = db.0.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = vacuum.query([])?;
        while rows.next()?.is_some() {}
        drop(rows);
        db.0.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).optional()?;
        Ok(gone)
    }
}
