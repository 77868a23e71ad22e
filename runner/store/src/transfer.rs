//! Export of sessions to snapshots, and import from them.
//!
//! The other end of a transfer may be a client that is slow or stops. Therefore nothing is locked
//! while a client is waited for. An import is read to its end before its transaction begins. An
//! export is written to a file, by a connection of its own, before its first byte is sent.

use crate::db::Db;
use crate::{CommitRow, SessionRow, Store, StoreError, blob_of, growth, history};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;
use tempfile::SpooledTempFile;
use wasibox_snapshot::wbs::{self, SnapshotContents, SnapshotLimits};
use wasibox_snapshot::{Commit, SnapshotError};

/// A snapshot up to this size, in bytes, stays in memory on its way.
const IN_MEMORY: usize = 1 << 20;

impl Store {
    /// Writes a session as a snapshot: its current state, or all of its history with its tags. The
    /// session may be in use. Nothing is locked while `to` is written. If there is no space for the
    /// file on the way, the snapshot is written to `to` at once; then a session in memory is locked
    /// meanwhile.
    ///
    /// # Errors
    /// Returns an error if there is no such session, the store is damaged, or `to` cannot be
    /// written.
    pub fn export(&self, name: &str, all: bool, mut to: impl Write) -> Result<(), StoreError> {
        let mut spooled = self.spool_file();
        match self.read_with(|db| write_snapshot(db, name, all, &mut spooled)) {
            Err(StoreError::DiskFull) => {
                drop(spooled);
                return self.read_with(|db| write_snapshot(db, name, all, to));
            }
            written => written?,
        }
        spooled.rewind()?;
        io::copy(&mut spooled, &mut to)?;
        Ok(())
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
        self.transaction(|db| {
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
        })
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

/// Writes a session of this database as a snapshot.
fn write_snapshot(db: &Db, name: &str, all: bool, to: impl Write) -> Result<(), StoreError> {
    let row = SessionRow::find_by_name(db, name)?;
    let places = if all { history::all_commits(db, &row)? } else { vec![row.head] };
    let mut commits = Vec::new();
    for id in &places {
        let row = CommitRow::get(db, *id)?;
        let parent = row.commit.parent.filter(|_| row.parent.is_some_and(|p| places.contains(&p)));
        commits.push(Commit { parent, ..row.commit });
    }
    let head = CommitRow::get(db, row.head)?.commit.number;
    let mut tags = Vec::new();
    for (tag, id) in
        history::session_tags(db, row.id)?.into_iter().filter(|(_, id)| places.contains(id))
    {
        tags.push((tag, CommitRow::get(db, id)?.commit.number));
    }
    let mut values = Vec::new();
    let mut rows =
        db.0.prepare_cached("SELECT key, value FROM kv WHERE session = ? ORDER BY key")?;
    let mut rows = rows.query([row.id])?;
    while let Some(row) = rows.next()? {
        values.push((row.get::<_, Vec<u8>>(0)?.into(), blob_of(&row.get::<_, Vec<u8>>(1)?)?));
    }
    let contents = SnapshotContents { image: row.image, commits, head, tags, values };
    let mut to = BufWriter::new(to);
    wbs::write(db, &contents, &mut to)?;
    Ok(to.flush()?)
}
