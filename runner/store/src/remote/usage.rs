//! The use of a session by this worker: taking it up, changing it, and giving it back.

use super::draft::{FoldedRows, HeadDraft};
use super::head::{Head, WorkerId};
use super::pack::{self, NewPack};
use super::rows::{self, WholeHead};
use super::{
    AT_ONCE, KnownSession, PACKS_AT_ONCE, PublishedHead, Remote, TRIES, Usage, in_parallel, lock,
};
use crate::db::Db;
use crate::lease::Lease;
use crate::{SessionRow, Store, StoreError, StoreSession, check_name, staged};
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_bucket::Version;
use wasibox_snapshot::Digest;

/// A session that this worker has until the value is dropped.
pub(crate) struct RemoteHold {
    store: Store,
    name: String,
    known: Arc<KnownSession>,
}

impl Drop for RemoteHold {
    fn drop(&mut self) {
        if let Some(remote) = self.store.remote() {
            remote.release(&self.name, &self.known);
        }
    }
}

impl Remote {
    /// Makes the rows of a session those of the bucket, unless a process of this machine has the
    /// session.
    pub(super) fn refresh(&self, store: &Store, name: &str) -> Result<(), StoreError> {
        check_name(name)?;
        let known = self.known(name);
        let mut usage = lock(&known.usage);
        if usage.is_held {
            return Ok(());
        }
        let found = self.read_head(name)?;
        let row = SessionRow::find_by_name(&store.lock_db(), name).ok();
        // The rows of a session that another process changes are that process's. It is locked for
        // the time of a transaction only. Rows that are older than the bucket by then are noticed
        // when the session is taken up.
        let lease = row.map(|row| Lease::take(store, row.id, name)).transpose();
        match (lease, found) {
            (Ok(_lease), found) => self.sync(store, name, &known, &mut usage, found),
            (Err(StoreError::Busy { .. }), Some((head, version))) => {
                known.set_present(head, version, None);
                Ok(())
            }
            (Err(StoreError::Busy { .. }), None) => Err(StoreError::NoSession(name.to_owned())),
            (Err(e), _) => Err(e),
        }
    }

    /// Makes the rows of a session those of the head that was found.
    fn sync(
        &self,
        store: &Store,
        name: &str,
        known: &KnownSession,
        usage: &mut Usage,
        found: Option<(Head, Version)>,
    ) -> Result<(), StoreError> {
        let Some((head, version)) = found else {
            *lock(&known.present) = None;
            return store.transaction(|db| rows::forget_rows(db, name));
        };
        let is_same = |p: Arc<PublishedHead>| p.version == version && p.folded.is_some();
        if !usage.is_lost && known.present().is_some_and(is_same) {
            return Ok(());
        }
        let whole = WholeHead::read(&*self.bucket, &head)?;
        let folded = store.transaction(|db| whole.write(db, name, &head))?;
        known.set_present(head, version, Some(folded));
        usage.is_lost = false;
        Ok(())
    }

    /// Returns whether the rows of a session are those of its last known head. Another process may
    /// have changed them, and may have failed to publish that.
    fn has_rows_of(
        &self,
        store: &Store,
        name: &str,
        present: &PublishedHead,
    ) -> Result<bool, StoreError> {
        let Some(folded) = &present.folded else { return Ok(false) };
        let none = HashSet::new();
        store.with_reader(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let lists = lock(&self.lists);
            let made = HeadDraft::from_rows(db, &row, &present.head, folded, &none, &lists)?.head;
            Ok(Head { writes: present.head.writes, ..made } == present.head)
        })?
    }

    /// Takes a session up. Its rows are then those of the bucket.
    ///
    /// # Errors
    /// `Busy` if another worker has it.
    pub(crate) fn take(&self, store: &Store, name: &str) -> Result<RemoteHold, StoreError> {
        self.beat_before_use(store)?;
        let known = self.known(name);
        let mut usage = lock(&known.usage);
        let busy = || StoreError::Busy { name: name.to_owned(), holder: None };
        if usage.is_held {
            return Err(busy());
        }
        // The last known head is tried first, because it is the present one unless another worker
        // had the session since.
        let has_rows = known.present().map(|present| self.has_rows_of(store, name, &present));
        // Rows that cannot be read are replaced, as those that differ.
        usage.is_lost |= !matches!(has_rows, Some(Ok(true)));
        let mut must_read = usage.is_lost;
        for _ in 0..TRIES {
            if must_read {
                let found = self.read_head(name)?;
                let is_missing = found.is_none();
                self.sync(store, name, &known, &mut usage, found)?;
                if is_missing {
                    return Err(StoreError::NoSession(name.to_owned()));
                }
            }
            let Some(present) = known.present() else { break };
            if present.head.is_held_by_other(&self.worker) {
                if !must_read {
                    must_read = true;
                    continue;
                }
                if self.is_alive(&present.head.owner)? {
                    return Err(busy());
                }
            }
            let head = Head {
                owner: self.worker,
                is_released: false,
                fence: present.head.fence + 1,
                writes: present.head.writes + 1,
                ..present.head.clone()
            };
            if let Some(version) = self.put_head(name, &head, Some(&present.version))? {
                known.set_present(head, version, present.folded.clone());
                usage.is_held = true;
                self.held.fetch_add(1, Ordering::SeqCst);
                let (store, name) = (store.clone(), name.to_owned());
                drop(usage);
                return Ok(RemoteHold { store, name, known });
            }
            must_read = true;
        }
        Err(busy())
    }

    /// Returns whether a change of a session has failed, so that it is to be taken up again.
    pub(crate) fn is_lost(&self, name: &str) -> bool {
        lock(&self.known(name).usage).is_lost
    }

    /// Gives a session back. If this fails, others wait until this worker's lease is over.
    fn release(&self, name: &str, known: &KnownSession) {
        let mut usage = lock(&known.usage);
        usage.is_held = false;
        self.held.fetch_sub(1, Ordering::SeqCst);
        if usage.is_lost {
            // It may still be this worker's in the bucket.
            if let Ok(Some((head, version))) = self.read_head(name)
                && head.owner == self.worker
            {
                let _ = self.put_released(name, &head, &version);
            }
            return;
        }
        let Some(present) = known.present() else { return };
        match self.put_released(name, &present.head, &present.version) {
            Ok(Some((head, version))) => known.set_present(head, version, present.folded.clone()),
            _ => usage.is_lost = true,
        }
    }

    /// Puts a head that any worker may take.
    fn put_released(
        &self,
        name: &str,
        head: &Head,
        version: &Version,
    ) -> Result<Option<(Head, Version)>, StoreError> {
        let head = Head { is_released: true, writes: head.writes + 1, ..head.clone() };
        let put = self.put_head(name, &head, Some(version))?;
        Ok(put.map(|version| (head, version)))
    }

    /// Runs a change of a session in the cache, and publishes it. It has taken effect when this
    /// returns.
    pub(crate) fn change<T, E: From<StoreError>>(
        &self,
        session: &StoreSession,
        act: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let (store, name) = (session.store(), session.name());
        let known = self.known(name);
        let mut usage = lock(&known.usage);
        let lost = || StoreError::Lost(name.to_owned());
        if usage.is_lost {
            return Err(lost().into());
        }
        let present = known.present().ok_or_else(lost)?;
        let folded = present.folded.as_ref().ok_or_else(lost)?;
        // Whatever fails from here on may leave the cache ahead of the bucket.
        usage.is_lost = true;
        let done = store.transaction(|db| {
            db.begin_touched();
            let done = act(db);
            let touched = db.take_touched();
            let done = done?;
            let row = session.row(db)?;
            let lists = lock(&self.lists);
            let head = &present.head;
            let draft = HeadDraft::from_rows(db, &row, head, folded, &touched, &lists)?;
            stage_packs(db, row.id, &draft.packs)?;
            Ok::<_, E>((done, draft))
        });
        let (done, draft) = match done {
            Ok(done) => done,
            Err(e) => {
                // The transaction had no effect, so the cache is as before.
                usage.is_lost = false;
                return Err(e);
            }
        };
        let version = self.publish(store, name, &draft, Some(&present.version))?;
        known.set_present(draft.head, version.ok_or_else(lost)?, Some(draft.folded));
        usage.is_lost = false;
        Ok(done)
    }

    /// Puts the objects that a head refers to, then the head.
    fn publish(
        &self,
        store: &Store,
        name: &str,
        draft: &HeadDraft,
        expected: Option<&Version>,
    ) -> Result<Option<Version>, StoreError> {
        in_parallel(&draft.parts, AT_ONCE, |(part, bytes)| {
            self.put_object(&pack::part_key(part), bytes)
        })?;
        // Few at a time, because each is in memory as a whole.
        in_parallel(&draft.packs, PACKS_AT_ONCE, |pack| {
            let bytes = store.with_reader(|db| pack.read_bytes(db))??;
            self.put_object(&pack::pack_key(&pack.name), &bytes)
        })?;
        let mut lists = lock(&self.lists);
        draft.packs.iter().try_for_each(|pack| lists.add(pack.name, &pack.list))?;
        drop(lists);
        let version = self.put_head(name, &draft.head, expected)?;
        if !draft.packs.is_empty() {
            store.transaction(|db| {
                let row = SessionRow::find_by_name(db, name)?;
                staged::forget_staged(db, row.id)
            })?;
        }
        Ok(version)
    }

    /// Publishes a session that was made in the cache.
    pub(crate) fn publish_new(
        &self,
        store: &Store,
        name: &str,
        touched: &HashSet<Digest>,
    ) -> Result<(), StoreError> {
        let known = self.known(name);
        let mut usage = lock(&known.usage);
        let draft = store.transaction(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let lists = lock(&self.lists);
            let (empty, none) = (new_head(self.worker), FoldedRows::default());
            let draft = HeadDraft::from_rows(db, &row, &empty, &none, touched, &lists)?;
            stage_packs(db, row.id, &draft.packs)?;
            Ok::<_, StoreError>(draft)
        });
        let published = draft.and_then(|draft| {
            let version = self.publish(store, name, &draft, None)?;
            let version = version.ok_or_else(|| StoreError::Exists(name.to_owned()))?;
            Ok((draft, version))
        });
        match published {
            Ok((HeadDraft { head, folded, .. }, version)) => {
                known.set_present(head, version, Some(folded));
                *usage = Usage::default();
                Ok(())
            }
            Err(e) => {
                store.transaction(|db| rows::forget_rows(db, name))?;
                Err(e)
            }
        }
    }
}

/// Returns the head before the first one of a session.
fn new_head(worker: WorkerId) -> Head {
    Head {
        owner: worker,
        is_released: true,
        fence: 0,
        writes: 0,
        image: None,
        created: 0,
        head: 0,
        tip: 0,
        base: None,
        next: 0,
        history: Vec::new(),
        recent: Vec::new(),
        tags: Vec::new(),
        values: Vec::new(),
        log: Vec::new(),
        recent_log: Vec::new(),
        packs: Vec::new(),
        objects: Vec::new(),
    }
}

/// Lists the objects of packs that are to be put, so that the cache keeps them until then.
fn stage_packs(db: &Db, session: i64, packs: &[NewPack]) -> Result<(), StoreError> {
    let sql = "INSERT INTO staged(session, digest) VALUES(?, ?)";
    let mut stage = db.0.prepare_cached(sql)?;
    for digest in packs.iter().flat_map(NewPack::cached) {
        stage.execute((session, &digest.0[..]))?;
    }
    Ok(())
}
