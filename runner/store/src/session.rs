//! A session that this process holds.

use crate::db::{Db, to_signed};
use crate::growth::{self, SessionGrowth};
use crate::history;
use crate::lease::Lease;
use crate::remote::RemoteHold;
use crate::staged::{self, StagedObjects};
use crate::{CommitRow, MAX_KEY, MAX_VALUE, SessionRow, Store, StoreError, blob_of, now_nanos};
use rusqlite::params;
use std::sync::{Mutex, MutexGuard};
use wasibox_snapshot::commit::MAX_LAYERS;
use wasibox_snapshot::delta::Delta;
use wasibox_snapshot::files::{self, TreeWriter};
use wasibox_snapshot::{
    Blob, CallRecord, CellRecord, ChangedPath, Commit, CommitState, Digest, FileTree,
};

/// A session that this process holds until the value is dropped.
pub struct StoreSession {
    store: Store,
    id: i64,
    name: String,
    head: Mutex<Commit>,
    /// Locked by the only change of the session at this time.
    changing: Mutex<()>,
    pub(crate) growth: Mutex<SessionGrowth>,
    // Given back before the lock of this machine.
    _hold: Option<RemoteHold>,
    _lease: Lease,
}

impl StoreSession {
    pub(crate) fn new(
        store: Store,
        id: i64,
        name: &str,
        hold: Option<RemoteHold>,
        lease: Lease,
    ) -> Result<StoreSession, StoreError> {
        // The row is read only after the lease is taken, because another process may have held the
        // session until then and removed it.
        let head = {
            let db = store.lock_db();
            let row = SessionRow::find_by_name(&db, name)?;
            if row.id != id {
                return Err(StoreError::Busy { name: name.into(), holder: None });
            }
            // The previous holder may have been killed in the middle of a large commit.
            if db.0.prepare_cached("SELECT 1 FROM staged WHERE session = ?")?.exists([id])? {
                staged::forget_staged(&db, id)?;
            }
            CommitRow::get(&db, row.head)?.commit
        };
        Ok(StoreSession {
            store,
            id,
            name: name.into(),
            head: Mutex::new(head),
            changing: Mutex::default(),
            growth: Mutex::default(),
            _hold: hold,
            _lease: lease,
        })
    }

    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    /// Returns the session's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the store that the session belongs to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the current commit.
    pub fn head(&self) -> Commit {
        self.head.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    /// Returns the state of the current commit.
    pub fn state(&self) -> CommitState {
        self.head().state
    }

    /// Returns whether the current commit was made by another session, that is, whether this is a
    /// fork without changes so far.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn is_fork(&self) -> Result<bool, StoreError> {
        let db = self.store.lock_db();
        let head = self.row(&db)?.head;
        // In a store with a bucket each session has its commits for itself; the one that it was
        // forked at is its base.
        let sql = "SELECT c.session <> ?1 OR c.number <= b.number FROM commits c
            LEFT JOIN sessions s ON s.id = ?1
            LEFT JOIN commits b ON b.id = s.base AND b.session = ?1 WHERE c.id = ?2";
        let is_fork: Option<bool> =
            db.0.prepare_cached(sql)?.query_row((self.id, head), |row| row.get(0))?;
        Ok(is_fork.unwrap_or(false))
    }

    /// Runs a change of the session in a transaction. In a store with a bucket, it has taken effect
    /// there when this returns.
    pub(crate) fn change<T, E: From<StoreError>>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        match self.store.remote() {
            Some(remote) => remote.change(self, act),
            None => self.store.transaction(act),
        }
    }

    /// Returns whether another worker has taken the session up, or it is unknown whether its last
    /// change took effect. It must then be opened again. False in a store without a bucket.
    pub fn is_lost(&self) -> bool {
        self.store.remote().is_some_and(|remote| remote.is_lost(&self.name))
    }

    pub(crate) fn set_head(&self, commit: Commit) -> Commit {
        *self.head.lock().unwrap_or_else(|e| e.into_inner()) = commit.clone();
        commit
    }

    /// Returns the session's row.
    pub(crate) fn row(&self, db: &Db) -> Result<SessionRow, StoreError> {
        let row = SessionRow::find_by_name(db, &self.name)?;
        if row.id == self.id { Ok(row) } else { Err(StoreError::NoSession(self.name.clone())) }
    }

    /// Waits until no other change of the session is in progress.
    fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Adds the commit that `fill` describes, or nothing if `fill` fails. The commit is on the disk
    /// when this returns. Other sessions of the store can write while `fill` runs. `fill` must not
    /// change the session.
    ///
    /// # Errors
    /// Returns the error of `fill`, or an error if the commit cannot be written.
    pub fn commit<E: From<StoreError>>(
        &self,
        fill: impl FnOnce(&mut CommitWriter<'_>) -> Result<(), E>,
    ) -> Result<Commit, E> {
        let _alone = self.lock_changes();
        let objects = StagedObjects::new(self);
        let done = self.stage_commit(&objects, fill);
        let (commit, stored) = done.inspect_err(|_| {
            objects.give_up();
            self.forget_growth();
        })?;
        let commit = self.set_head(commit);
        // The commit is on the disk, so the call has succeeded even if those before it cannot be
        // compacted, for example on a full disk. The next commit tries it again.
        if self.count_commit(stored).is_err() {
            self.forget_growth();
        }
        Ok(commit)
    }

    /// Adds a commit, and returns it with the number of bytes that it has added to the store.
    fn stage_commit<E: From<StoreError>>(
        &self,
        objects: &StagedObjects<'_>,
        fill: impl FnOnce(&mut CommitWriter<'_>) -> Result<(), E>,
    ) -> Result<(Commit, u64), E> {
        let CommitState { files, shell, cells } = self.state();
        let files = TreeWriter::new(objects, files);
        let call = CallRecord { time: now_nanos(), ..CallRecord::default() };
        let mut writer = CommitWriter { objects, files, shell, cells, call, log: Vec::new() };
        fill(&mut writer)?;
        let CommitWriter { files, shell, cells, call, log, .. } = writer;
        let files = files.finish().map_err(StoreError::from)?;
        let state = CommitState { files, shell, cells };
        self.change(|db| {
            let row = self.row(db)?;
            let stored = growth::commit_bytes(objects.finish(db)?);
            log.iter().try_for_each(|entry| self.log(db, entry))?;
            Ok((self.add_commit(db, &row, call, state, stored)?, stored))
        })
    }

    /// Adds a commit after the head and makes it the head. Nothing can be redone afterwards.
    fn add_commit(
        &self,
        db: &Db,
        row: &SessionRow,
        call: CallRecord,
        state: CommitState,
        stored: u64,
    ) -> Result<Commit, StoreError> {
        let parent = Some(self.head().number);
        let commit = Commit { number: row.next, parent, call, state };
        let id = CommitRow::add(db, self.id, Some(row.head), &commit, stored)?;
        let sql = "UPDATE sessions SET head = ?1, tip = ?1, next = ?2 WHERE id = ?3";
        db.0.prepare_cached(sql)?.execute((id, to_signed(row.next + 1), self.id))?;
        Ok(commit)
    }

    /// Returns to the commit before this one.
    ///
    /// # Errors
    /// Returns an error if there is no earlier commit.
    pub fn undo(&self) -> Result<Commit, StoreError> {
        let _alone = self.lock_changes();
        let commit = self.change(|db| {
            let row = self.row(db)?;
            let parent = CommitRow::get(db, row.head)?.parent.ok_or(StoreError::Nothing("undo"))?;
            let commit = CommitRow::get(db, parent)?.commit;
            Store::set_head(db, self.id, parent, row.tip)?;
            Ok::<_, StoreError>(commit)
        })?;
        Ok(self.set_head(commit))
    }

    /// Moves forward to the commit that the last undo left.
    ///
    /// # Errors
    /// Returns an error if nothing was undone.
    pub fn redo(&self) -> Result<Commit, StoreError> {
        let _alone = self.lock_changes();
        let commit = self.change(|db| {
            let row = self.row(db)?;
            let mut at = row.tip;
            while at != row.head {
                let next = CommitRow::get(db, at)?;
                match next.parent {
                    Some(parent) if parent == row.head => {
                        Store::set_head(db, self.id, at, row.tip)?;
                        return Ok(next.commit);
                    }
                    Some(parent) => at = parent,
                    None => break,
                }
            }
            Err(StoreError::Nothing("redo"))
        })?;
        Ok(self.set_head(commit))
    }

    /// Restores the state of a commit as a new commit, which can be undone.
    ///
    /// # Errors
    /// Returns an error if there is no such commit.
    pub fn restore(&self, number: u64) -> Result<Commit, StoreError> {
        let _alone = self.lock_changes();
        let commit = self.change(|db| {
            let row = self.row(db)?;
            let at = history::find_commit(db, &row, number)?;
            let state = CommitRow::get(db, at)?.commit.state;
            let text = format!("restore {number}");
            let command = Blob::save_bytes(db, text.as_bytes())?;
            self.add_commit(
                db,
                &row,
                CallRecord { command, time: now_nanos(), ..CallRecord::default() },
                state,
                growth::commit_bytes(0),
            )
        })?;
        self.forget_growth();
        Ok(self.set_head(commit))
    }

    /// Discards the commits after `number`, an ancestor of the current one, for example those of a
    /// failed transaction. Nothing can be redone afterwards.
    ///
    /// # Errors
    /// Returns an error if no earlier commit has this number.
    pub fn roll_back(&self, number: u64) -> Result<Commit, StoreError> {
        let _alone = self.lock_changes();
        let commit = self.change(|db| {
            let row = self.row(db)?;
            let mut at = CommitRow::get(db, row.head)?;
            while at.commit.number != number {
                let missing = || StoreError::NoCommit { session: self.name.clone(), number };
                at = CommitRow::get(db, at.parent.ok_or_else(missing)?)?;
            }
            Store::set_head(db, self.id, at.id, at.id)?;
            // Commits that a fork or a tag needs are kept.
            let after = history::commits_after(db, self.id, number)?;
            let tags = history::session_tags(db, self.id)?.into_iter().map(|(_, id)| id);
            let kept = history::needed_by_others(db, self.id, &after, tags)?;
            for id in after {
                if !kept.contains(&id) {
                    db.0.prepare_cached("DELETE FROM commits WHERE id = ?")?.execute([id])?;
                }
            }
            Ok::<_, StoreError>(at.commit)
        })?;
        self.forget_growth();
        Ok(self.set_head(commit))
    }

    /// Calls `emit` with the steps that turn the files of `old` into those of `new`. If `old` is
    /// the default, the steps start from the files of a new session. The store is locked for each
    /// object that is read, not while `emit` runs, which may wait for a worker.
    ///
    /// # Errors
    /// Returns an error if the store is damaged, or the first error of `emit`.
    pub fn changes<E: From<StoreError>>(
        &self,
        old: &FileTree,
        new: &FileTree,
        emit: &mut dyn FnMut(Delta) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut emit = |delta| emit(delta).map_err(ErrorSource::Emit);
        let emitted = files::emit_changes(&self.store, old, new, &mut emit);
        emitted.map_err(|e| match e {
            ErrorSource::Emit(e) => e,
            ErrorSource::Store(e) => StoreError::from(e).into(),
        })
    }

    /// Calls `emit` with the steps that recreate the files of a commit in a new session, even if
    /// the store is damaged. Lost bytes become zeros. Returns the paths of the files that lost
    /// bytes. `emit` must not use the store.
    ///
    /// # Errors
    /// Returns an error if anything other than file contents is damaged, or the first error of
    /// `emit`.
    pub fn salvage(
        &self,
        files: &FileTree,
        emit: &mut dyn FnMut(Delta) -> Result<(), StoreError>,
    ) -> Result<Vec<Vec<u8>>, StoreError> {
        if self.store.has_bucket() {
            // Reads what the bucket has; the rest is lost.
            let _ = self.store.export(&self.name, false, std::io::sink());
        }
        let db = self.store.lock_db();
        let lost = files::salvage_changes(&*db, files, emit)?;
        let mut paths = Vec::new();
        if !lost.is_empty() {
            files::walk::walk_tree(&*db, &files.root, &mut |found| {
                if lost.contains(found.id) {
                    paths.push(found.path.to_vec());
                }
                Ok::<_, StoreError>(())
            })?;
        }
        Ok(paths)
    }

    /// Returns the bytes of a blob that a commit refers to, such as a command.
    ///
    /// # Errors
    /// Returns an error if the bytes are damaged, or are more than `limit`.
    pub fn load(&self, blob: &Blob, limit: u64) -> Result<Vec<u8>, StoreError> {
        Ok(blob.load_bytes(&self.store, limit)?)
    }

    /// Tags a commit. An existing tag of that name moves to it.
    ///
    /// # Errors
    /// Returns an error if there is no such commit, or the name is not valid.
    pub fn tag(&self, tag: &str, number: u64) -> Result<(), StoreError> {
        crate::check_name(tag)?;
        self.change(|db| {
            let target = history::find_commit(db, &self.row(db)?, number)?;
            self.check_tagged(db, target)?;
            let sql = "INSERT OR REPLACE INTO tags VALUES(?, ?, ?)";
            db.0.execute(sql, params![self.id, tag, target])?;
            Ok(())
        })
    }

    /// Removes a tag.
    ///
    /// # Errors
    /// Returns an error if there is no such tag.
    pub fn untag(&self, tag: &str) -> Result<(), StoreError> {
        self.change(|db| {
            let gone = db.0.execute(
                "DELETE FROM tags WHERE session = ? AND name = ?",
                params![self.id, tag],
            )?;
            if gone > 0 { Ok(()) } else { Err(StoreError::NoTag(tag.into())) }
        })
    }

    /// Sets a value of the session's table.
    ///
    /// # Errors
    /// Returns an error if the key or the value is too long.
    pub fn set_value(&self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        if key.len() > MAX_KEY || value.len() > MAX_VALUE {
            return Err(StoreError::TooLong);
        }
        self.change(|db| self.put_value(db, key, value))
    }

    /// Sets a value if the table then has at most `keys` keys, and at most `bytes` bytes of keys
    /// and values together. Returns whether the value was set.
    ///
    /// # Errors
    /// The same as [`StoreSession::set_value`].
    pub fn set_value_within(
        &self,
        key: &[u8],
        value: &[u8],
        keys: usize,
        bytes: u64,
    ) -> Result<bool, StoreError> {
        if key.len() > MAX_KEY || value.len() > MAX_VALUE {
            return Err(StoreError::TooLong);
        }
        self.change(|db| {
            let (mut many, mut sum) = (1, (key.len() + value.len()) as u64);
            let mut all = db.0.prepare_cached("SELECT key, value FROM kv WHERE session = ?")?;
            let mut rows = all.query([self.id])?;
            while let Some(row) = rows.next()? {
                let other: Vec<u8> = row.get(0)?;
                if other != key {
                    many += 1;
                    sum += other.len() as u64 + blob_of(&row.get::<_, Vec<u8>>(1)?)?.len();
                }
            }
            if many > keys || sum > bytes {
                return Ok(false);
            }
            self.put_value(db, key, value)?;
            Ok(true)
        })
    }

    fn put_value(&self, db: &Db, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let blob = Blob::save_bytes(db, value)?;
        let blob = postcard::to_stdvec(&blob).map_err(|_| StoreError::TooLong)?;
        let sql = "INSERT OR REPLACE INTO kv VALUES(?, ?, ?)";
        db.0.prepare_cached(sql)?.execute((self.id, key, blob))?;
        Ok(())
    }

    /// Returns a value of the session's table.
    ///
    /// # Errors
    /// Returns an error if it is damaged.
    pub fn value(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.store.value(&self.name, key)
    }

    /// Returns the keys of the session's table, sorted.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn keys(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        self.store.keys(&self.name)
    }

    /// Removes a value and returns whether it existed.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn remove_value(&self, key: &[u8]) -> Result<bool, StoreError> {
        self.change(|db| {
            let mut remove = db.0.prepare_cached("DELETE FROM kv WHERE session = ? AND key = ?")?;
            Ok(remove.execute((self.id, key))? > 0)
        })
    }

    /// Adds an entry to the session's log. The caller decides its format; by convention it is JSON.
    ///
    /// # Errors
    /// Returns an error if the entry is longer than 1 MiB.
    pub fn add_log_entry(&self, entry: &str) -> Result<(), StoreError> {
        let done = self.change(|db| self.log(db, entry));
        done.inspect_err(|_| self.forget_growth())
    }

    /// Adds several entries to the log at once.
    ///
    /// # Errors
    /// The same as [`StoreSession::add_log_entry`]; on an error no entry is added.
    pub fn log_all(&self, entries: &[String]) -> Result<(), StoreError> {
        let log = |db: &Db| entries.iter().try_for_each(|entry| self.log(db, entry));
        self.change(log).inspect_err(|_| self.forget_growth())
    }
}

/// The source of an error: the caller or the store.
enum ErrorSource<E> {
    Emit(E),
    Store(wasibox_snapshot::SnapshotError),
}

impl<E> From<wasibox_snapshot::SnapshotError> for ErrorSource<E> {
    fn from(e: wasibox_snapshot::SnapshotError) -> ErrorSource<E> {
        ErrorSource::Store(e)
    }
}

/// A commit in preparation. The states of the shell and the cells stay as in the last commit unless
/// they are set.
pub struct CommitWriter<'a> {
    objects: &'a StagedObjects<'a>,
    files: TreeWriter<'a>,
    shell: Blob,
    cells: Vec<CellRecord>,
    /// Entries for the session's log.
    log: Vec<String>,
    /// The record of the call. Its time is the current time by default.
    pub call: CallRecord,
}

impl CommitWriter<'_> {
    /// Adds a part of the call's changes to the files.
    ///
    /// # Errors
    /// Returns an error if the part does not belong to a session or cannot be written.
    pub fn add_delta(&mut self, delta: Delta) -> Result<(), StoreError> {
        Ok(self.files.add_delta(delta)?)
    }

    /// Sets the command of the call.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn set_command(&mut self, command: &[u8]) -> Result<(), StoreError> {
        self.call.command = Blob::save_bytes(self.objects, command)?;
        Ok(())
    }

    /// Sets the list of changed files. `cut` marks an incomplete list.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn set_changed(&mut self, changed: &[ChangedPath], cut: bool) -> Result<(), StoreError> {
        Ok(self.call.set_changed(self.objects, changed, cut)?)
    }

    /// Sets the state of the shell.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn set_shell(&mut self, state: &[u8]) -> Result<(), StoreError> {
        self.shell = Blob::save_bytes(self.objects, state)?;
        Ok(())
    }

    /// Sets the state of a parked interpreter: the number of memory layers that are kept since it
    /// was last parked, an optional layer on top of them, and the rest of its state. If `module`
    /// has changed, no layer can be kept.
    ///
    /// # Errors
    /// Returns an error if there are fewer layers than `keep`, or if the state cannot be written.
    pub fn set_cell(
        &mut self,
        name: &str,
        module: Digest,
        keep: usize,
        layer: &[u8],
        rest: &[u8],
    ) -> Result<(), StoreError> {
        let before = self.cells.iter().find(|c| c.name == name && c.module == module);
        let mut memory = before.map_or(Vec::new(), |c| c.memory.clone());
        if keep > memory.len() || keep >= MAX_LAYERS {
            return Err(StoreError::Damaged("missing layers of a cell"));
        }
        memory.truncate(keep);
        if !layer.is_empty() {
            memory.push(Blob::save_bytes(self.objects, layer)?);
        }
        let rest = Blob::save_bytes(self.objects, rest)?;
        self.forget_cell(name);
        self.cells.push(CellRecord { name: name.into(), module, memory, rest });
        Ok(())
    }

    /// Removes the state of an interpreter.
    pub fn forget_cell(&mut self, name: &str) {
        self.cells.retain(|cell| cell.name != name);
    }

    /// Adds an entry to the session's log as part of the commit.
    ///
    /// # Errors
    /// The same as [`StoreSession::add_log_entry`].
    pub fn add_to_log(&mut self, entry: String) -> Result<(), StoreError> {
        growth::check_log_entry(&entry)?;
        self.log.push(entry);
        Ok(())
    }
}
