//! Export of sessions to snapshots, and import from them.
//!
//! The other end of a transfer may be a client that is slow or stops. Therefore nothing is locked
//! while a client is waited for. An import is read to its end before its transaction begins. An
//! export reads its commits at once, and then one object after the other as the client takes them.
//! Garbage collections of this process keep the objects of exports that are running. If another
//! process removes some, because the session was compacted or removed there, the export fails.

use crate::db::Db;
use crate::remote::KnownSession;
use crate::{CommitRow, SessionRow, Store, StoreError, blob_of, growth, history};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use std::sync::{Arc, MutexGuard, PoisonError};
use tempfile::SpooledTempFile;
use wasibox_snapshot::wbs::{self, SnapshotContents, SnapshotLimits};
use wasibox_snapshot::{Commit, SnapshotError};

/// An import up to this size, in bytes, stays in memory on its way.
const IN_MEMORY: usize = 1 << 20;

/// The exports of this process that are running.
#[derive(Default)]
pub struct RunningExports {
    next: u64,
    all: BTreeMap<u64, Arc<SnapshotContents>>,
}

impl RunningExports {
    /// Returns the number of the next export, and the exports from number `from` on.
    pub fn list_from(&self, from: u64) -> (u64, Vec<Arc<SnapshotContents>>) {
        (self.next, self.all.range(from..).map(|(_, contents)| contents.clone()).collect())
    }
}

/// An export that is running until this is dropped.
struct RunningExport<'a> {
    store: &'a Store,
    number: u64,
    contents: Arc<SnapshotContents>,
    /// Where the bucket has the session's objects.
    _known: Option<Arc<KnownSession>>,
}

impl Drop for RunningExport<'_> {
    fn drop(&mut self) {
        self.store.lock_exports().all.remove(&self.number);
    }
}

impl Store {
    pub(crate) fn lock_exports(&self) -> MutexGuard<'_, RunningExports> {
        self.shared.exports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a session as a snapshot: its current state, or all of its history with its tags. The
    /// session may be in use. Nothing is locked while `to` is written.
    ///
    /// # Errors
    /// Returns an error if there is no such session, the store is damaged, or `to` cannot be
    /// written.
    pub fn export(&self, name: &str, all: bool, to: impl Write) -> Result<(), StoreError> {
        let export = self.begin_export(name, all)?;
        let mut to = BufWriter::new(to);
        wbs::write(self, &export.contents, &mut to)?;
        Ok(to.flush()?)
    }

    /// Reads the contents of an export, apart from objects, which are kept until it ends.
    fn begin_export(&self, name: &str, all: bool) -> Result<RunningExport<'_>, StoreError> {
        // Locked while the commits are read, because a collection that begins after them must find
        // this export.
        let known = self.remote().map(|remote| remote.known(name));
        self.refresh(name)?;
        let mut exports = self.lock_exports();
        let contents = Arc::new(self.read_with(|db| read_contents(db, name, all))?);
        let number = exports.next;
        exports.next += 1;
        exports.all.insert(number, contents.clone());
        Ok(RunningExport { store: self, number, contents, _known: known })
    }

    /// Returns a file without a name, on the disk of the store.
    fn spool_file(&self) -> SpooledTempFile {
        match self.shared.path.as_deref().and_then(Path::parent) {
            Some(folder) => tempfile::spooled_tempfile_in(IN_MEMORY, folder),
            None => tempfile::spooled_tempfile(IN_MEMORY),
        }
    }

    /// Creates a session from a snapshot. On an error nothing is created.
    ///
    /// # Errors
    /// Returns an error if a session with that name exists, or if the input is damaged, not a
    /// snapshot, or larger than the limits.
    pub fn import(
        &self,
        name: &str,
        from: impl Read,
        limits: &SnapshotLimits,
    ) -> Result<(), StoreError> {
        crate::check_name(name)?;
        let mut from = BufReader::new(self.spool_input(from, limits)?);
        self.import_spooled(name, &mut from, limits)
    }

    /// Does the same as [`Store::import`] after `check` has accepted the input, which is in a file
    /// at its beginning.
    ///
    /// # Errors
    /// The same as [`Store::import`], and the error of `check`.
    pub fn import_checked<E: From<StoreError>>(
        &self,
        name: &str,
        from: impl Read,
        limits: &SnapshotLimits,
        check: impl FnOnce(&File) -> Result<(), E>,
    ) -> Result<(), E> {
        crate::check_name(name)?;
        let spooled = self.spool_input(from, limits)?;
        let mut file = spooled.into_file().map_err(StoreError::from)?;
        check(&file)?;
        file.rewind().map_err(StoreError::from)?;
        Ok(self.import_spooled(name, &mut BufReader::new(file), limits)?)
    }

    fn import_spooled(
        &self,
        name: &str,
        from: &mut dyn Read,
        limits: &SnapshotLimits,
    ) -> Result<(), StoreError> {
        match self.refresh(name) {
            Ok(()) | Err(StoreError::NoSession(_)) => {}
            Err(e) => return Err(e),
        }
        let touched = self.transaction(|db| {
            db.begin_touched();
            let done = self.import_contents(db, name, from, limits);
            let touched = db.take_touched();
            done.map(|()| touched)
        })?;
        match self.remote() {
            Some(remote) => remote.publish_new(self, name, &touched),
            None => Ok(()),
        }
    }

    fn import_contents(
        &self,
        db: &Db,
        name: &str,
        from: &mut dyn Read,
        limits: &SnapshotLimits,
    ) -> Result<(), StoreError> {
        let before = db.added_bytes();
        let contents = wbs::read(from, limits, db)?;
        // All of it counts as added by the first commit.
        let mut stored = growth::commit_bytes(db.added_bytes() - before);
        let next = contents.commits.iter().map(|c| c.number).max().unwrap_or(0);
        let next = next.checked_add(1).filter(|n| i64::try_from(*n).is_ok());
        let next = next.ok_or(StoreError::Damaged("a commit's number"))?;
        let id = Store::add_session(db, name, contents.image, next)?;
        let mut places: HashMap<u64, i64> = HashMap::new();
        for commit in &contents.commits {
            let parent = commit.parent.and_then(|n| places.get(&n).copied());
            places.insert(commit.number, CommitRow::add(db, id, parent, commit, stored)?);
            stored = growth::commit_bytes(0);
        }
        let place =
            |n: &u64| places.get(n).copied().ok_or(StoreError::Damaged("a commit is missing"));
        let head = place(&contents.head)?;
        Store::set_head(db, id, head, head)?;
        for (tag, number) in &contents.tags {
            crate::check_name(tag)?;
            db.0.execute("INSERT INTO tags VALUES(?, ?, ?)", (id, tag, place(number)?))?;
        }
        for (key, value) in contents.values {
            let value = postcard::to_stdvec(&value).map_err(|_| StoreError::TooLong)?;
            if key.len() > crate::MAX_KEY {
                return Err(StoreError::TooLong);
            }
            db.0.execute("INSERT INTO kv VALUES(?, ?, ?)", (id, key.into_vec(), value))?;
        }
        Ok(())
    }

    /// Reads an import to its end into a file, because the input may be slow.
    fn spool_input(
        &self,
        from: impl Read,
        limits: &SnapshotLimits,
    ) -> Result<SpooledTempFile, StoreError> {
        let most = limits.packed_bytes();
        let mut spooled = self.spool_file();
        let taken = io::copy(&mut from.take(most.saturating_add(1)), &mut spooled)?;
        if taken > most {
            return Err(SnapshotError::TooLarge("the snapshot").into());
        }
        spooled.rewind()?;
        Ok(spooled)
    }
}

/// Returns the contents of a snapshot of a session, apart from objects.
fn read_contents(db: &Db, name: &str, all: bool) -> Result<SnapshotContents, StoreError> {
    let row = SessionRow::find_by_name(db, name)?;
    let places = if all { history::all_commits(db, &row)? } else { vec![row.head] };
    let known: HashSet<i64> = places.iter().copied().collect();
    let mut commits = Vec::new();
    for id in places {
        let row = CommitRow::get(db, id)?;
        let parent = row.commit.parent.filter(|_| row.parent.is_some_and(|p| known.contains(&p)));
        commits.push(Commit { parent, ..row.commit });
    }
    let head = CommitRow::get(db, row.head)?.commit.number;
    let mut tags = Vec::new();
    for (tag, id) in history::session_tags(db, row.id)? {
        if known.contains(&id) {
            tags.push((tag, CommitRow::get(db, id)?.commit.number));
        }
    }
    let mut values = Vec::new();
    let mut rows =
        db.0.prepare_cached("SELECT key, value FROM kv WHERE session = ? ORDER BY key")?;
    let mut rows = rows.query([row.id])?;
    while let Some(row) = rows.next()? {
        values.push((row.get::<_, Vec<u8>>(0)?.into(), blob_of(&row.get::<_, Vec<u8>>(1)?)?));
    }
    Ok(SnapshotContents { image: row.image, commits, head, tags, values })
}
