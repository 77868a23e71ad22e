//! The objects of a commit, on their way into the store.
//!
//! Hashing and compressing take most of the time of a large commit, and writing takes the rest. The
//! other sessions of the store must not wait for either, so a commit prepares its objects without a
//! lock and writes them in slices, each of which is a transaction of its own. The commit's
//! transaction only adds the last slice and the commit's row.
//!
//! No commit needs the objects of a slice before that transaction. Therefore each slice also adds
//! rows to the table `staged`, and a garbage collection keeps the objects that are listed there, in
//! whatever process it runs. An object that the store had before may be removed until then, so its
//! bytes are kept here until its row is added.

use crate::db::Db;
use crate::{Store, StoreError, StoreSession};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use wasibox_snapshot::{Digest, Objects, SnapshotError, StoredObject};

/// The number of bytes of objects that are written at once.
const SLICE: usize = 512 << 10;

/// An object that is not written yet.
enum StagedObject {
    New(StoredObject),
    /// The bytes of an object that the store has, unless a collection removes it.
    Found(Vec<u8>),
}

impl StagedObject {
    fn write(self, db: &Db, digest: &Digest) -> Result<(), SnapshotError> {
        match self {
            StagedObject::New(object) => db.put_object(digest, object),
            StagedObject::Found(_) if db.has_object(digest)? => Ok(()),
            StagedObject::Found(bytes) => db.put_object(digest, StoredObject::new(&bytes)?),
        }
    }
}

/// The objects of a commit that is being prepared.
pub struct StagedObjects<'a> {
    session: &'a StoreSession,
    waiting: RefCell<HashMap<Digest, StagedObject>>,
    /// The number of bytes of those.
    size: Cell<usize>,
    /// The objects of earlier slices.
    written: RefCell<HashSet<Digest>>,
    /// The number of bytes that those have added to the store.
    added: Cell<u64>,
}

impl<'a> StagedObjects<'a> {
    pub fn new(session: &'a StoreSession) -> StagedObjects<'a> {
        StagedObjects {
            session,
            waiting: RefCell::default(),
            size: Cell::new(0),
            written: RefCell::default(),
            added: Cell::new(0),
        }
    }

    fn store(&self) -> &'a Store {
        self.session.store()
    }

    fn add(&self, digest: Digest, object: StagedObject, size: usize) -> Result<(), SnapshotError> {
        self.waiting.borrow_mut().insert(digest, object);
        self.size.set(self.size.get() + size);
        if self.size.get() < SLICE { Ok(()) } else { Ok(self.write_slice()?) }
    }

    fn write_slice(&self) -> Result<(), StoreError> {
        let waiting = self.waiting.take();
        self.size.set(0);
        let mut written = self.written.borrow_mut();
        let added = self.store().write_slice(|db| {
            let before = db.added_bytes();
            let sql = "INSERT INTO staged(session, digest) VALUES(?, ?)";
            let mut stage = db.0.prepare_cached(sql)?;
            for (digest, object) in waiting {
                object.write(db, &digest)?;
                stage.execute((self.session.id(), &digest.0[..]))?;
                written.insert(digest);
            }
            Ok(db.added_bytes() - before)
        })?;
        self.added.set(self.added.get() + added);
        Ok(())
    }

    /// Adds the rest in the transaction of the commit. Returns the number of bytes that all objects
    /// have added to the store.
    pub fn finish(&self, db: &Db) -> Result<u64, StoreError> {
        let before = db.added_bytes();
        for (digest, object) in self.waiting.take() {
            db.touch([digest]);
            object.write(db, &digest)?;
        }
        db.touch(self.written.borrow().iter().copied());
        if !self.written.borrow().is_empty() {
            forget_staged(db, self.session.id())?;
        }
        Ok(self.added.get() + (db.added_bytes() - before))
    }

    /// Leaves the objects of earlier slices to the next collection, because the commit has failed.
    /// If this fails, too, the session's next use does it.
    pub fn give_up(&self) {
        if !self.written.borrow().is_empty() {
            let _ = self.store().transaction(|db| forget_staged(db, self.session.id()));
        }
    }
}

/// Removes the rows of a commit that is complete, or of one that never was.
pub fn forget_staged(db: &Db, session: i64) -> Result<(), StoreError> {
    db.0.prepare_cached("DELETE FROM staged WHERE session = ?")?.execute([session])?;
    Ok(())
}

impl Objects for StagedObjects<'_> {
    fn get(&self, digest: &Digest) -> Result<Option<StoredObject>, SnapshotError> {
        match self.waiting.borrow().get(digest) {
            Some(StagedObject::New(object)) => Ok(Some(object.clone())),
            Some(StagedObject::Found(bytes)) => Ok(Some(StoredObject::new(bytes)?)),
            None => self.store().get(digest),
        }
    }

    fn has_object(&self, digest: &Digest) -> Result<bool, SnapshotError> {
        Ok(self.is_staged(digest) || self.store().has_object(digest)?)
    }

    fn put_object(&self, digest: &Digest, object: StoredObject) -> Result<(), SnapshotError> {
        let size = object.bytes.len();
        self.add(*digest, StagedObject::New(object), size)
    }

    fn save_object(&self, bytes: &[u8]) -> Result<Digest, SnapshotError> {
        let digest = Digest::hash_bytes(bytes);
        if self.is_staged(&digest) {
            return Ok(digest);
        }
        if self.store().has_object(&digest)? {
            self.add(digest, StagedObject::Found(bytes.to_vec()), bytes.len())?;
        } else {
            self.put_object(&digest, StoredObject::new(bytes)?)?;
        }
        Ok(digest)
    }
}

impl StagedObjects<'_> {
    fn is_staged(&self, digest: &Digest) -> bool {
        self.waiting.borrow().contains_key(digest) || self.written.borrow().contains(digest)
    }
}
