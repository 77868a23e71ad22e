//! Removal of commits and objects that nothing needs.
//!
//! A collection must not stop the other sessions of the store, so it holds the lock only in slices
//! of a few milliseconds. It first lists what nothing needs, from a read transaction of its own.
//! Each slice then begins with the commits and values that were added since, because these may use
//! listed objects again, and with the objects of commits that are being written.

use crate::db::Db;
use crate::remote::Remote;
use crate::transfer::RunningExports;
use crate::{CommitRow, Store, StoreError, blob_of, history};
use rusqlite::OptionalExtension;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use wasibox_snapshot::tree::page::Page;
use wasibox_snapshot::tree::{RecordValue, Root};
use wasibox_snapshot::{Blob, Commit, Digest};

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
    fn has_object(&self, digest: &[u8]) -> bool {
        Digest::from_slice(digest).is_some_and(|digest| self.all.contains(&digest))
    }

    /// Adds the objects of a value.
    pub fn add_blob(&mut self, blob: &Blob) {
        self.all.extend(blob.objects());
    }

    /// Adds the objects of a commit.
    pub fn add_commit(&mut self, db: &Db, commit: &Commit) -> Result<(), StoreError> {
        commit.blobs().for_each(|blob| self.add_blob(blob));
        self.add_tree(db, commit.state.files.root, &mut |e| Err(e.into()))
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

/// The longest time for which a slice of a collection holds the store's lock, apart from its last
/// row.
const SLICE: Duration = Duration::from_millis(5);
/// The number of rows that each slice removes at least, however long it takes.
const LEAST: usize = 32;
/// The number of objects that are listed at once.
const LISTED: usize = 4096;

/// The rows that nothing needed when they were listed.
#[derive(Default)]
struct GarbageList {
    needed: NeededObjects,
    /// The largest row id of the commits that were looked at, and that of the staged objects.
    last: i64,
    last_staged: i64,
    /// The number of the next export.
    next_export: u64,
    commits: Vec<i64>,
    /// Row ids, digests and sizes.
    objects: Vec<(i64, Vec<u8>, u64)>,
}

/// Runs a function with a database, which is locked only meanwhile.
type WithDb<'a> =
    dyn Fn(&mut dyn FnMut(&Db) -> Result<(), StoreError>) -> Result<(), StoreError> + 'a;

impl GarbageList {
    /// Lists what no session and no tag leads to.
    fn make(with_db: &WithDb<'_>) -> Result<GarbageList, StoreError> {
        let mut list = GarbageList::default();
        let (mut needed, mut known) = (HashSet::new(), HashSet::new());
        with_db(&mut |db| {
            needed = history::reachable_commits(db)?;
            let mut all = db.0.prepare_cached("SELECT id FROM commits")?;
            known = all.query_map([], |r| r.get::<_, i64>(0))?.collect::<Result<_, _>>()?;
            Ok(())
        })?;
        list.last = known.iter().copied().max().unwrap_or(0);
        list.commits = known.difference(&needed).copied().collect();
        for id in needed {
            with_db(&mut |db| match CommitRow::get(db, id) {
                Ok(commit) => list.needed.add_commit(db, &commit.commit),
                // It was removed since.
                Err(_) if known.contains(&id) && !has_commit(db, id)? => Ok(()),
                Err(e) => Err(e),
            })?;
        }
        with_db(&mut |db| list.needed.add_values(db))?;
        let (mut after, mut is_last) = (0, false);
        while !is_last {
            with_db(&mut |db| {
                let sql = "SELECT id, digest, length(bytes) FROM objects WHERE id > ? ORDER BY id
                    LIMIT ?";
                let mut some = db.0.prepare_cached(sql)?;
                let mut rows = some.query((after, LISTED as i64))?;
                let mut count = 0;
                while let Some(row) = rows.next()? {
                    (after, count) = (row.get(0)?, count + 1);
                    let digest: Vec<u8> = row.get(1)?;
                    if !list.needed.has_object(&digest) {
                        list.objects.push((after, digest, crate::db::to_unsigned(row.get(2)?)));
                    }
                }
                is_last = count < LISTED;
                Ok(())
            })?;
        }
        Ok(list)
    }

    /// Adds the commits, staged objects, exports and values since, which may use objects that
    /// nothing needed before.
    fn catch_up(&mut self, db: &Db, exports: &RunningExports) -> Result<(), StoreError> {
        let (next, new) = exports.list_from(self.next_export);
        self.next_export = next;
        for contents in new {
            for commit in &contents.commits {
                self.needed.add_commit(db, commit)?;
            }
            contents.values.iter().for_each(|(_, value)| self.needed.add_blob(value));
        }
        let mut new = db.0.prepare_cached("SELECT id FROM commits WHERE id > ? ORDER BY id")?;
        let new = new.query_map([self.last], |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        for id in new {
            self.needed.add_commit(db, &CommitRow::get(db, id)?.commit)?;
            self.last = id;
        }
        let mut new = db.0.prepare_cached("SELECT id, digest FROM staged WHERE id > ?")?;
        let mut rows = new.query([self.last_staged])?;
        while let Some(row) = rows.next()? {
            self.last_staged = self.last_staged.max(row.get(0)?);
            self.needed.all.extend(Digest::from_slice(&row.get::<_, Vec<u8>>(1)?));
        }
        self.needed.add_values(db)
    }

    /// Removes listed rows for the time of a slice, in a transaction of the caller.
    fn remove_some(
        &mut self,
        db: &Db,
        exports: &RunningExports,
        gone: &mut GcReport,
    ) -> Result<(), StoreError> {
        let begun = Instant::now();
        self.catch_up(db, exports)?;
        let mut count = 0;
        while count < LEAST || begun.elapsed() < SLICE {
            count += 1;
            if let Some(id) = self.commits.pop() {
                let sql = "DELETE FROM commits WHERE id = ?";
                gone.commits += db.0.prepare_cached(sql)?.execute([id])?;
            } else if let Some((id, digest, bytes)) = self.objects.pop() {
                if self.needed.has_object(&digest) {
                    continue;
                }
                // Another process may have removed the object, and its row id may be another
                // object's by now.
                let sql = "DELETE FROM objects WHERE id = ? AND digest = ?";
                if db.0.prepare_cached(sql)?.execute((id, digest))? > 0 {
                    gone.objects += 1;
                    gone.bytes += bytes;
                }
            } else {
                break;
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.commits.is_empty() && self.objects.is_empty()
    }
}

fn has_commit(db: &Db, id: i64) -> Result<bool, StoreError> {
    Ok(db.0.prepare_cached("SELECT 1 FROM commits WHERE id = ?")?.exists([id])?)
}

impl Store {
    /// Removes commits that no session and no tag leads to, then objects that no commit needs, and
    /// returns their space to the file system. Other sessions use the store meanwhile: they wait
    /// for a few milliseconds at a time. Returns an empty report if another collection of this
    /// process has done the same. In a store with a bucket, removes the oldest objects of the cache
    /// until it has its size.
    ///
    /// # Errors
    /// Returns an error if the store is damaged. Nothing is removed then, because the needed
    /// objects cannot be determined.
    pub fn collect_garbage(&self) -> Result<GcReport, StoreError> {
        let asked = self.shared.collections.load(Ordering::SeqCst);
        let _alone = self.shared.collecting.lock().unwrap_or_else(|e| e.into_inner());
        if self.shared.collections.load(Ordering::SeqCst) > asked {
            // Another collection began and ended since, for example for another session.
            return Ok(GcReport::default());
        }
        self.shared.collections.fetch_add(1, Ordering::SeqCst);
        if let Some(remote) = self.remote() {
            // The bucket has everything that sessions need, so the cache need not have it.
            let gone = Remote::trim_cache(self, remote.cache_bytes())?;
            self.vacuum()?;
            return Ok(gone);
        }
        let mut list = match &self.shared.log {
            Some(_) => self.read_with(|db| GarbageList::make(&|act| act(db)))?,
            None => GarbageList::make(&|act| act(&self.lock_db()))?,
        };
        let mut gone = GcReport::default();
        while !list.is_empty() {
            let mut begun = Instant::now();
            // No export begins during a slice, so that all that it begins with is kept.
            let exports = self.lock_exports();
            self.transaction(|db| {
                begun = Instant::now();
                list.remove_some(db, &exports, &mut gone)
            })?;
            drop(exports);
            pause_after(begun);
        }
        self.vacuum()?;
        if let Some(log) = &self.shared.log {
            log.read(|db| self.truncate_log(db))??;
        }
        Ok(gone)
    }

    /// Empties the write-ahead log, unless another process uses it.
    fn truncate_log(&self, db: &Db) -> Result<(), StoreError> {
        let run = |mode| {
            db.0.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())).optional()
        };
        // The first copies all pages while others may write, so that the second, which locks them
        // out, has little to do.
        run("PASSIVE")?;
        let _alone = self.lock_db();
        db.0.busy_timeout(SLICE)?;
        let truncated = run("TRUNCATE");
        db.0.busy_timeout(crate::db::WAIT)?;
        truncated?;
        Ok(())
    }

    /// Returns free pages to the file system, some at a time.
    fn vacuum(&self) -> Result<(), StoreError> {
        let (mut pages, mut before) = (64_u32, i64::MAX);
        loop {
            let begun;
            {
                let db = self.lock_db();
                begun = Instant::now();
                let free = db.0.query_row("PRAGMA freelist_count", [], |r| r.get::<_, i64>(0))?;
                if free == 0 || free >= before {
                    return Ok(());
                }
                before = free;
                // The pragma returns a row for each page.
                let mut some = db.0.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
                let mut rows = some.query([])?;
                while rows.next()?.is_some() {}
            }
            if begun.elapsed() < SLICE / 2 {
                pages = pages.saturating_mul(2);
            } else if begun.elapsed() > SLICE {
                pages = (pages / 2).max(16);
            }
            pause_after(begun);
        }
    }
}

/// Leaves the lock to others for as long as it was held, from `begun` on.
fn pause_after(begun: Instant) {
    std::thread::sleep(begun.elapsed().max(Duration::from_micros(200)));
}
