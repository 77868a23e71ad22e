//! The write-ahead log of the store's file, and its readers.
//!
//! A commit is on the disk once its part of the log is. SQLite would wait for the disk while it has
//! the store locked, so the commits of sessions would wait for the disk one after the other. Here a
//! transaction ends without this wait. Its caller then waits until the log is synchronized, which
//! serves all transactions that have ended before.
//!
//! SQLite would also copy the log into the file in the middle of whatever commit makes it long,
//! while all others wait. Here a connection of its own copies it, after that commit and without the
//! store's lock. Commits that add much do this early, so that short ones seldom have to.

use crate::db::Db;
use crate::{RollBack, Store, StoreError};
use rusqlite::OptionalExtension;
use rusqlite::hooks::Wal;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::time::Duration;

/// The number of pages in the log, usually of 4 KiB, at which a slice of a large commit copies it,
/// and at which any other transaction does.
const SLICE_PAGES: u64 = 1000;
const MAX_PAGES: u64 = 4000;
/// The number of pages at which writers have to wait, so that the log begins again.
const RESTART_PAGES: u64 = 8000;
/// The time to wait for readers of the log until it begins again.
const READERS_WAIT: Duration = Duration::from_millis(5);
/// The number of connections for reading that are kept.
const READERS: usize = 4;

/// The log of a store whose file other connections can use.
pub struct WriteAheadLog {
    path: PathBuf,
    file: OnceLock<File>,
    /// The number of pages that the log had after the last transaction.
    pages: Arc<AtomicU64>,
    /// The number of transactions of this process.
    ended: AtomicU64,
    /// The number of transactions that are on the disk.
    synced: Mutex<u64>,
    /// Whether the disk has failed. It is then unknown which transactions it has, so that nothing
    /// may be added to them.
    has_failed: AtomicBool,
    /// The connection that copies the log.
    copier: Mutex<Option<Db>>,
    /// Connections that only read, and are not in use.
    readers: Mutex<Vec<Db>>,
    /// Locked by the only large commit that writes at this time.
    slices: Mutex<()>,
}

impl WriteAheadLog {
    /// Returns the log of the file that `db` has open, or `None` if no other connection can use it.
    /// Then `db` waits for the disk itself.
    pub fn new(db: &mut Db, path: &Path) -> Result<Option<WriteAheadLog>, StoreError> {
        if db.is_exclusive() {
            return Ok(None);
        }
        let pages = Arc::new(AtomicU64::new(0));
        let counter = pages.clone();
        db.0.wal_hook(Some(move |_: &mut Wal, pages: i32| {
            counter.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        db.0.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Some(WriteAheadLog {
            path: path.to_path_buf(),
            file: OnceLock::new(),
            pages,
            ended: AtomicU64::new(0),
            synced: Mutex::default(),
            has_failed: AtomicBool::new(false),
            copier: Mutex::default(),
            readers: Mutex::default(),
            slices: Mutex::default(),
        }))
    }

    /// Calls `act` with a connection that is for this call only, and does not wait for writers.
    pub fn read<T>(&self, act: impl FnOnce(&Db) -> T) -> Result<T, StoreError> {
        let idle = lock(&self.readers).pop();
        let db = match idle {
            Some(db) => db,
            None => Db::open(&self.path)?,
        };
        let done = act(&db);
        let mut readers = lock(&self.readers);
        if readers.len() < READERS {
            readers.push(db);
        }
        Ok(done)
    }

    /// Checks that the disk has not failed.
    fn check_disk(&self) -> Result<(), StoreError> {
        if self.has_failed.load(Ordering::SeqCst) { Err(StoreError::DiskFailed) } else { Ok(()) }
    }

    /// Waits until the transaction with that number is on the disk.
    fn wait_for_disk(&self, number: u64) -> Result<(), StoreError> {
        let mut synced = lock(&self.synced);
        self.check_disk()?;
        if *synced < number {
            let ended = self.ended.load(Ordering::SeqCst);
            self.sync_file().inspect_err(|_| self.has_failed.store(true, Ordering::SeqCst))?;
            *synced = ended;
        }
        Ok(())
    }

    fn sync_file(&self) -> io::Result<()> {
        let file = match self.file.get() {
            Some(file) => file,
            None => {
                let mut log = self.path.as_os_str().to_owned();
                log.push("-wal");
                let opened = File::open(log)?;
                self.file.get_or_init(|| opened)
            }
        };
        file.sync_data()
    }

    /// Copies the log into the file if it has at least `most` pages, unless this is being done.
    /// Failures are ignored, for example on a full disk, because all is in the log; the next
    /// transaction tries it again.
    fn shorten(&self, store: &Store, most: u64) {
        if self.pages.load(Ordering::Relaxed) >= most
            && let Ok(mut copier) = self.copier.try_lock()
        {
            let _ = self.copy(store, &mut copier);
        }
    }

    fn copy(&self, store: &Store, copier: &mut Option<Db>) -> Result<(), StoreError> {
        let db = match copier.take() {
            Some(db) => db,
            None => {
                let db = Db::open(&self.path)?;
                db.0.busy_timeout(READERS_WAIT)?;
                db
            }
        };
        let db = copier.insert(db);
        if run_checkpoint(db, "PASSIVE")? > RESTART_PAGES {
            // Little is left to be copied. Waits for the store's lock rather than SQLite's, which
            // would be tried in intervals.
            let _alone = store.lock_db();
            run_checkpoint(db, "RESTART")?;
        }
        self.pages.store(0, Ordering::Relaxed);
        Ok(())
    }
}

/// Copies the log, and returns the number of pages that it then has.
fn run_checkpoint(db: &Db, mode: &str) -> Result<u64, StoreError> {
    let sql = format!("PRAGMA wal_checkpoint({mode})");
    let pages = db.0.query_row(&sql, [], |row| row.get::<_, i64>(1)).optional()?;
    Ok(pages.and_then(|pages| u64::try_from(pages).ok()).unwrap_or(0))
}

impl Store {
    /// Calls `act` with a connection that sees all that is committed, and does not wait for writers.
    pub(crate) fn with_reader<T>(&self, act: impl FnOnce(&Db) -> T) -> Result<T, StoreError> {
        // A connection of its own is opened only if it is needed, because that takes a millisecond.
        match self.shared.db.try_lock() {
            Ok(db) => return Ok(act(&db)),
            Err(TryLockError::Poisoned(e)) => return Ok(act(&e.into_inner())),
            Err(TryLockError::WouldBlock) => {}
        }
        match &self.shared.log {
            Some(log) => log.read(act),
            None => Ok(act(&self.lock_db())),
        }
    }

    /// Reads the store as it is now, with a connection of its own if possible.
    pub(crate) fn read_with<T>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(log) = &self.shared.log else { return act(&self.lock_db()) };
        log.read(|db| {
            let _reading = db.0.unchecked_transaction()?;
            act(db)
        })?
    }

    /// Runs `act` in a transaction: either all of it takes effect or nothing, and no other process
    /// writes meanwhile. It is on the disk when this returns.
    pub(crate) fn transaction<T, E: From<StoreError>>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        self.run_transaction(MAX_PAGES, act)
    }

    /// Does the same as [`Store::transaction`] with a part of a large commit. Only one is written
    /// at a time.
    pub(crate) fn write_slice<T>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _alone = self.shared.log.as_ref().map(|log| lock(&log.slices));
        self.run_transaction(SLICE_PAGES, act)
    }

    /// Runs a transaction, and copies the log if it then has at least `most` pages.
    fn run_transaction<T, E: From<StoreError>>(
        &self,
        most: u64,
        act: impl FnOnce(&Db) -> Result<T, E>,
    ) -> Result<T, E> {
        let Some(log) = &self.shared.log else {
            return RollBack::run_transaction(&self.lock_db(), act);
        };
        let (done, number) = {
            let db = self.lock_db();
            log.check_disk()?;
            let done = RollBack::run_transaction(&db, act)?;
            (done, log.ended.fetch_add(1, Ordering::SeqCst) + 1)
        };
        // The bucket has whatever a cache loses.
        if self.remote().is_none() {
            log.wait_for_disk(number)?;
        }
        log.shorten(self, most);
        Ok(done)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
