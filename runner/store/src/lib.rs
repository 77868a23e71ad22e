//! The store of sessions: one SQLite file, `.wbx`, the same in memory, or a bucket ([`mod@remote`]).
//!
//! # Stages
//! [`Store`] opens the file ([`mod@db`]: tables, migration, objects) and lists its sessions. A
//! [`StoreSession`] is a session that this process holds ([`lease`]): it adds commits and moves
//! among them. [`Store::collect_garbage`] and [`Store::check`] work on all sessions;
//! [`Store::export`] and [`Store::import`] convert a session to and from a snapshot.
//!
//! # Invariants
//! - The types and the encoding are those of `wasibox-snapshot`; this crate keeps objects and knows
//!   which commits need them.
//! - A commit takes effect in one transaction, which also sets the session's new head, and is on the
//!   disk when [`StoreSession::commit`] returns. A process that is killed loses only the call that
//!   was running.
//! - The objects of a large commit are written before that transaction, in slices ([`staged`]), so
//!   that other sessions wait for milliseconds at most, whatever one of them commits.
//! - Objects are never changed. They are removed when no commit of any session and no slice needs
//!   them, in transactions of their own, so that no commit relies on an object that is being removed.
//! - Nothing in the file is trusted: the tables must be exactly those of this program, and every
//!   object is hashed when it is read.
//!
//! # Deliberately absent
//! A second kind of store for sessions without a file, because SQLite in memory costs 20 us a
//! commit and has the same undo, fork and export.
#![forbid(unsafe_code)]

mod check;
mod collector;
pub mod db;
mod error;
mod gc;
mod growth;
mod history;
mod lease;
mod log;
mod refusal;
mod remote;
mod session;
mod staged;
mod transfer;

pub use check::{CheckReport, Damage, LostPart};
pub use collector::wait_for_collections;
pub use error::StoreError;
pub use gc::GcReport;
pub use history::OwnerGrowth;
pub use remote::{RemoteOptions, RemoteReport, cache_path};
pub use session::{CommitWriter, StoreSession};
pub use wasibox_bucket::is_address;
pub use wasibox_snapshot as snapshot;
pub use wasibox_snapshot::wbs::SnapshotLimits;

use collector::BackgroundCollection;
use db::{Db, to_signed, to_unsigned};
use lease::{InUse, Lease};
use log::WriteAheadLog;
use remote::Remote;
use rusqlite::{OptionalExtension, Row};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use transfer::RunningExports;
use wasibox_snapshot::{Blob, Commit, Digest, Objects, SnapshotError, StoredObject};

/// The time after which a session is tried once more that another process may only compare with its
/// bucket.
const COMPARED: Duration = Duration::from_millis(100);
/// Longest name of a session or a tag.
const MAX_NAME: usize = 100;
/// Longest key and value of the key-value table, in bytes.
const MAX_KEY: usize = 4096;
const MAX_VALUE: usize = 64 << 20;

/// A store of sessions. Clones share it.
#[derive(Clone)]
pub struct Store {
    shared: Arc<StoreInner>,
}

struct StoreInner {
    db: Mutex<Db>,
    path: Option<PathBuf>,
    log: Option<WriteAheadLog>,
    in_use: InUse,
    /// Locked by the only garbage collection of this process.
    collecting: Mutex<()>,
    /// The number of collections that have begun.
    collections: AtomicU64,
    /// The collections in the background.
    background: Mutex<BackgroundCollection>,
    exports: Mutex<RunningExports>,
    /// The bucket whose cache this store is.
    remote: Option<Remote>,
}

/// The store's description of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    pub name: String,
    /// The digest of the image that it started from.
    pub image: Option<Digest>,
    /// The time of its creation, in nanoseconds since the epoch.
    pub created: u64,
    /// The number of its current commit.
    pub head: u64,
}

/// The database row of a session.
#[derive(Clone, Debug)]
struct SessionRow {
    id: i64,
    name: String,
    image: Option<Digest>,
    created: u64,
    head: i64,
    /// The commit that redo leads to.
    tip: i64,
    /// The commit that it was forked at, or 0.
    base: i64,
    next: u64,
}

const SESSION: &str = "SELECT id, name, image, created, head, tip, base, next FROM sessions";

impl SessionRow {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
        let image: Option<Vec<u8>> = row.get(2)?;
        Ok(SessionRow {
            id: row.get(0)?,
            name: row.get(1)?,
            image: image.as_deref().and_then(Digest::from_slice),
            created: to_unsigned(row.get(3)?),
            head: row.get(4)?,
            tip: row.get(5)?,
            base: row.get(6)?,
            next: to_unsigned(row.get(7)?),
        })
    }

    fn find_by_name(db: &Db, name: &str) -> Result<SessionRow, StoreError> {
        let mut get = db.0.prepare_cached(&format!("{SESSION} WHERE name = ?"))?;
        let row = get.query_row([name], SessionRow::from_row).optional()?;
        row.ok_or_else(|| StoreError::NoSession(name.into()))
    }
}

/// A commit with its row id in the store.
struct CommitRow {
    id: i64,
    parent: Option<i64>,
    commit: Commit,
}

impl CommitRow {
    fn get(db: &Db, id: i64) -> Result<CommitRow, StoreError> {
        let sql = "SELECT parent, digest, body FROM commits WHERE id = ?";
        let mut get = db.0.prepare_cached(sql)?;
        let row = get.query_row([id], |r| {
            Ok((r.get::<_, Option<i64>>(0)?, r.get::<_, Vec<u8>>(1)?, r.get::<_, Vec<u8>>(2)?))
        });
        let row = row.optional()?.ok_or(StoreError::Damaged("a commit is missing"))?;
        let (parent, digest, body) = row;
        // A parent has a smaller row id, so that a walk through the history ends.
        if digest != Digest::hash_bytes(&body).0 || parent.is_some_and(|parent| parent >= id) {
            return Err(StoreError::Damaged("a commit"));
        }
        Ok(CommitRow { id, parent, commit: Commit::decode(&body)? })
    }

    /// Adds a commit with the number of bytes that it has added to the store, and returns its row
    /// id.
    fn add(
        db: &Db,
        session: i64,
        parent: Option<i64>,
        commit: &Commit,
        stored: u64,
    ) -> Result<i64, StoreError> {
        let sql = "INSERT INTO commits(session, number, parent, digest, body, stored)
            VALUES(?, ?, ?, ?, ?, ?)";
        let mut add = db.0.prepare_cached(sql)?;
        let body = commit.encode()?;
        Ok(add.insert((
            session,
            to_signed(commit.number),
            parent,
            Digest::hash_bytes(&body).0,
            body,
            to_signed(stored),
        ))?)
    }
}

/// Checks the name of a session or a tag. `.` and `..` are none: clients and proxies remove them from
/// addresses (RFC 3986, 5.2.4), so that a request would reach something else.
///
/// # Errors
/// If it is not a name.
pub fn check_name(name: &str) -> Result<(), StoreError> {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let ok = (1..=MAX_NAME).contains(&name.len())
        && name.bytes().all(fine)
        && !matches!(name, "." | "..");
    if ok { Ok(()) } else { Err(StoreError::Name) }
}

/// Returns the current time in nanoseconds since the epoch.
fn now_nanos() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}

impl Store {
    /// Opens the store in a file, or creates it. A path that is the address of a bucket, such as
    /// `s3://bucket/sessions`, opens the sessions of that bucket, with a cache in the user's cache
    /// folder ([`cache_path`]).
    ///
    /// # Errors
    /// Returns an error if the file or the bucket cannot be opened, or is not a store of a known
    /// format.
    pub fn open(path: &Path) -> Result<Store, StoreError> {
        let Some(address) = path.to_str().filter(|text| is_address(text)) else {
            return Store::open_file(path, None);
        };
        let bucket = wasibox_bucket::open_bucket(address)?;
        let cache = cache_path(address)?;
        let open = || Store::open_remote(bucket.clone(), &cache);
        match open() {
            // A cache that was damaged is not missed.
            Err(StoreError::NotAStore | StoreError::Version(_)) => {
                std::fs::remove_file(&cache)?;
                open()
            }
            opened => opened,
        }
    }

    /// Opens the cache of a bucket.
    fn open_cache(path: &Path, remote: Remote) -> Result<Store, StoreError> {
        Store::open_file(path, Some(remote))
    }

    fn open_file(path: &Path, remote: Option<Remote>) -> Result<Store, StoreError> {
        let mut db = Db::open(path)?;
        let path = path.canonicalize()?;
        let log = WriteAheadLog::new(&mut db, &path)?;
        Ok(Store::with_db(db, Some(path), log, remote))
    }

    /// Opens a store in memory, which exists until its last clone is dropped.
    ///
    /// # Errors
    /// Returns an error if SQLite cannot be opened.
    pub fn in_memory() -> Result<Store, StoreError> {
        Ok(Store::with_db(Db::in_memory()?, None, None, None))
    }

    fn with_db(
        db: Db,
        path: Option<PathBuf>,
        log: Option<WriteAheadLog>,
        remote: Option<Remote>,
    ) -> Store {
        Store {
            shared: Arc::new(StoreInner {
                db: Mutex::new(db),
                path,
                log,
                in_use: InUse::default(),
                collecting: Mutex::default(),
                collections: AtomicU64::default(),
                background: Mutex::default(),
                exports: Mutex::default(),
                remote,
            }),
        }
    }

    fn lock_db(&self) -> MutexGuard<'_, Db> {
        self.shared.db.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the sessions, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn sessions(&self) -> Result<Vec<Info>, StoreError> {
        if let Some(remote) = self.remote() {
            remote.refresh_all(self)?;
        }
        self.read_with(|db| {
            let mut all = db.0.prepare_cached(&format!("{SESSION} ORDER BY name"))?;
            let rows = all.query_map([], SessionRow::from_row)?;
            rows.map(|row| Store::info_of(db, &row?)).collect()
        })
    }

    /// Returns the number of sessions whose names begin with `prefix`.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn count_sessions(&self, prefix: &str) -> Result<usize, StoreError> {
        if let Some(remote) = self.remote() {
            // Their heads need not be read.
            return Ok(remote.names()?.iter().filter(|name| name.starts_with(prefix)).count());
        }
        self.read_with(|db| {
            let sql = "SELECT count(*) FROM sessions WHERE substr(name, 1, length(?1)) = ?1";
            let count: i64 = db.0.prepare_cached(sql)?.query_row([prefix], |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or(0))
        })
    }

    fn info_of(db: &Db, row: &SessionRow) -> Result<Info, StoreError> {
        let head = CommitRow::get(db, row.head)?.commit.number;
        Ok(Info { name: row.name.clone(), image: row.image, created: row.created, head })
    }

    /// Returns the store's description of a session.
    ///
    /// # Errors
    /// Returns an error if there is no session with that name.
    pub fn session_info(&self, name: &str) -> Result<Info, StoreError> {
        self.refresh(name)?;
        let db = self.lock_db();
        Store::info_of(&db, &SessionRow::find_by_name(&db, name)?)
    }

    /// Creates an empty session with its first commit, and holds it.
    ///
    /// # Errors
    /// Returns an error if a session with that name exists, or the name is not valid.
    pub fn create(&self, name: &str, image: Option<Digest>) -> Result<StoreSession, StoreError> {
        check_name(name)?;
        // A session that another worker has removed may still be in the cache.
        match self.refresh(name) {
            Err(StoreError::NoSession(_)) | Ok(()) => {}
            Err(e) => return Err(e),
        }
        self.transaction(|db| {
            let call = wasibox_snapshot::CallRecord { time: now_nanos(), ..Default::default() };
            let commit = Commit { number: 1, call, ..Commit::default() };
            let id = Store::add_session(db, name, image, 2)?;
            let head = CommitRow::add(db, id, None, &commit, 0)?;
            Store::set_head(db, id, head, head)
        })?;
        if let Some(remote) = self.remote() {
            remote.publish_new(self, name, &HashSet::new())?;
        }
        self.session(name)
    }

    /// Adds a row whose head is still to be set.
    fn add_session(
        db: &Db,
        name: &str,
        image: Option<Digest>,
        next: u64,
    ) -> Result<i64, StoreError> {
        if db.0.prepare_cached("SELECT 1 FROM sessions WHERE name = ?")?.exists([name])? {
            return Err(StoreError::Exists(name.into()));
        }
        let sql = "INSERT INTO sessions(name, image, created, head, tip, base, next)
            VALUES(?, ?, ?, 0, 0, 0, ?)";
        let image = image.as_ref().map(|d| &d.0[..]);
        let mut add = db.0.prepare_cached(sql)?;
        Ok(add.insert((name, image, to_signed(now_nanos()), to_signed(next)))?)
    }

    fn set_head(db: &Db, session: i64, head: i64, tip: i64) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET head = ?, tip = ? WHERE id = ?";
        db.0.prepare_cached(sql)?.execute((head, tip, session))?;
        Ok(())
    }

    /// Opens a session and holds it.
    ///
    /// # Errors
    /// Returns an error if there is no session with that name, or it is in use.
    pub fn session(&self, name: &str) -> Result<StoreSession, StoreError> {
        // The row may be missing in the cache, but the lock of this machine needs its number.
        if self.remote().is_some() && SessionRow::find_by_name(&self.lock_db(), name).is_err() {
            self.refresh(name)?;
        }
        let row = SessionRow::find_by_name(&self.lock_db(), name)?;
        let lease = match Lease::take(self, row.id, name) {
            // Another process may be comparing the session with the bucket, for a moment.
            Err(StoreError::Busy { .. }) if self.has_bucket() => {
                std::thread::sleep(COMPARED);
                Lease::take(self, row.id, name)?
            }
            lease => lease?,
        };
        let hold = self.remote().map(|remote| remote.take(self, name)).transpose()?;
        StoreSession::new(self.clone(), row.id, name, hold, lease)
    }

    /// Removes a session that is not in use. [`Store::collect_garbage`] then frees the objects that
    /// only this session needed.
    ///
    /// # Errors
    /// Returns an error if there is no session with that name, or it is in use.
    pub fn remove(&self, name: &str) -> Result<(), StoreError> {
        let held = self.session(name)?;
        let id = held.id();
        if let Some(remote) = self.remote() {
            remote.remove(name)?;
        }
        self.transaction(|db| {
            for table in ["tags", "kv", "audit", "staged"] {
                db.0.execute(&format!("DELETE FROM {table} WHERE session = ?"), [id])?;
            }
            db.0.execute("DELETE FROM sessions WHERE id = ?", [id])?;
            Ok(())
        })
    }

    /// Creates the session `new` as a copy of another one, at its head or at an earlier commit.
    /// Both share all data until one of them changes it. The source may be in use.
    ///
    /// # Errors
    /// Returns an error if there is no such session or commit, or if a session with the new name
    /// exists.
    pub fn fork(&self, name: &str, at: Option<u64>, new: &str) -> Result<StoreSession, StoreError> {
        self.fork_many(name, at, &[new])?;
        self.session(new)
    }

    /// Creates several sessions as [`Store::fork`] does: all of them, or none. None is held. This
    /// is written to the disk once.
    ///
    /// # Errors
    /// The same as [`Store::fork`].
    pub fn fork_many(
        &self,
        name: &str,
        at: Option<u64>,
        new: &[impl AsRef<str>],
    ) -> Result<(), StoreError> {
        new.iter().try_for_each(|new| check_name(new.as_ref()))?;
        if let Some(remote) = self.remote() {
            let new: Vec<&str> = new.iter().map(AsRef::as_ref).collect();
            return remote.fork_many(self, name, at, &new);
        }
        self.transaction(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let head = match at {
                Some(number) => history::find_commit(db, &row, number)?,
                None => row.head,
            };
            let next = CommitRow::get(db, head)?.commit.number + 1;
            let values = "INSERT INTO kv SELECT ?, key, value FROM kv WHERE session = ?";
            for new in new {
                let id = Store::add_session(db, new.as_ref(), row.image, next)?;
                Store::set_head(db, id, head, head)?;
                let sql = "UPDATE sessions SET base = ? WHERE id = ?";
                db.0.prepare_cached(sql)?.execute([head, id])?;
                db.0.prepare_cached(values)?.execute([id, row.id])?;
            }
            Ok(())
        })
    }

    /// Returns a value of a session's table.
    ///
    /// # Errors
    /// Returns an error if there is no such session, or the value is damaged.
    pub fn value(&self, name: &str, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.refresh(name)?;
        let found = {
            let db = self.lock_db();
            let row = SessionRow::find_by_name(&db, name)?;
            let sql = "SELECT value FROM kv WHERE session = ? AND key = ?";
            let mut get = db.0.prepare_cached(sql)?;
            get.query_row((row.id, key), |r| r.get::<_, Vec<u8>>(0)).optional()?
        };
        let Some(blob) = found else { return Ok(None) };
        Ok(Some(blob_of(&blob)?.load_bytes(self, MAX_VALUE as u64)?))
    }

    /// Returns the keys of a session's table, sorted.
    ///
    /// # Errors
    /// Returns an error if there is no such session.
    pub fn keys(&self, name: &str) -> Result<Vec<Vec<u8>>, StoreError> {
        self.refresh(name)?;
        let db = self.lock_db();
        let row = SessionRow::find_by_name(&db, name)?;
        let mut all = db.0.prepare_cached("SELECT key FROM kv WHERE session = ? ORDER BY key")?;
        let keys = all.query_map([row.id], |r| r.get(0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// Calls `emit` with each entry of the session's log: its time, in nanoseconds since the epoch,
    /// and its text.
    ///
    /// # Errors
    /// Returns an error if there is no such session, and the first error of `emit`.
    pub fn audit(
        &self,
        name: &str,
        emit: &mut dyn FnMut(u64, &str) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.refresh(name)?;
        self.read_with(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let sql = "SELECT time, entry FROM audit WHERE session = ? ORDER BY id";
            let mut all = db.0.prepare_cached(sql)?;
            let mut rows = all.query([row.id])?;
            while let Some(row) = rows.next()? {
                emit(to_unsigned(row.get(0)?), &row.get::<_, String>(1)?)?;
            }
            Ok(())
        })
    }
}

/// Reads objects without waiting for writers, and writes them one at a time. Objects that a held
/// session needs are not removed meanwhile.
impl Objects for Store {
    fn get(&self, digest: &Digest) -> Result<Option<StoredObject>, SnapshotError> {
        let found = self.with_reader(|db| db.get(digest)).map_err(SnapshotError::from)??;
        match (found, self.remote()) {
            (None, Some(remote)) => Ok(remote.fetch(self, digest)?),
            (found, _) => Ok(found),
        }
    }

    fn has_object(&self, digest: &Digest) -> Result<bool, SnapshotError> {
        self.with_reader(|db| db.has_object(digest)).map_err(SnapshotError::from)?
    }

    fn put_object(&self, digest: &Digest, object: StoredObject) -> Result<(), SnapshotError> {
        self.lock_db().put_object(digest, object)
    }
}

fn blob_of(bytes: &[u8]) -> Result<Blob, StoreError> {
    postcard::from_bytes(bytes).map_err(|_| StoreError::Damaged("a value"))
}

/// Rolls back a transaction that was not committed.
struct RollBack<'a>(&'a Db);

impl RollBack<'_> {
    fn run_transaction<T, E: From<StoreError>>(
        db: &Db,
        act: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let run = |sql: &str| -> Result<(), StoreError> {
            db.0.prepare_cached(sql)?.execute([])?;
            Ok(())
        };
        run("BEGIN IMMEDIATE")?;
        // The guard also rolls back if `act` panics.
        let guard = RollBack(db);
        let done = act(db)?;
        run("COMMIT")?;
        std::mem::forget(guard);
        Ok(done)
    }
}

impl Drop for RollBack<'_> {
    fn drop(&mut self) {
        // Ignored because an error that already ended the transaction is reported elsewhere.
        let _ = self.0.0.execute_batch("ROLLBACK");
    }
}
