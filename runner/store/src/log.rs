//! The write-ahead log of the store's file, and its readers.
//!
//! A commit is on the disk once it is in the log. By default SQLite copies the log into the file in
//! the middle of whatever commit makes it long, while all others wait. Here a connection of its own
//! copies it, after the commit that made it long and without the store's lock. Commits that add
//! much do this early, so that short ones seldom have to.

use crate::db::Db;
use crate::{RollBack, Store, StoreError};
use rusqlite::OptionalExtension;
use rusqlite::hooks::Wal;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
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
    /// The number of pages that the log had after the last transaction.
    pages: Arc<AtomicU64>,
    /// The connection that writes large commits and copies the log. It does not wait for the disk
    /// at the end of a transaction.
    writer: Mutex<Option<Db>>,
    /// Connections that only read, and are not in use.
    readers: Mutex<Vec<Db>>,
}

impl WriteAheadLog {
    /// Returns the log of the file that `db` has open, or `None` if no other connection can use it.
    pub fn new(db: &mut Db, path: &Path) -> Result<Option<WriteAheadLog>, StoreError> {
        if db.is_exclusive() {
            return Ok(None);
        }
        let (pages, path) = (Arc::default(), path.to_path_buf());
        let (writer, readers) = (Mutex::default(), Mutex::default());
        let log = WriteAheadLog { path, pages, writer, readers };
        log.count_pages(db)?;
        Ok(Some(log))
    }

    /// Makes a connection count the pages after its transactions, instead of copying the log.
    fn count_pages(&self, db: &mut Db) -> Result<(), StoreError> {
        let counter = self.pages.clone();
        db.0.wal_hook(Some(move |_: &mut Wal, pages: i32| {
            counter.store(u64::try_from(pages).unwrap_or(0), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(())
    }

    /// Calls `act` with a connection that is for this call only, and does not wait for those who
    /// write.
    pub fn read<T>(&self, act: impl FnOnce(&Db) -> T) -> Result<T, StoreError> {
        let idle = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let db = match idle {
            Some(db) => db,
            None => Db::open(&self.path)?,
        };
        let done = act(&db);
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < READERS {
            readers.push(db);
        }
        Ok(done)
    }

    fn open_writer(&self) -> Result<Db, StoreError> {
        let mut db = Db::open(&self.path)?;
        db.0.pragma_update(None, "synchronous", "NORMAL")?;
        self.count_pages(&mut db)?;
        Ok(db)
    }

    /// Waits until all that was written is on the disk.
    fn sync(&self) -> Result<(), StoreError> {
        let mut log = self.path.as_os_str().to_owned();
        log.push("-wal");
        Ok(File::open(log)?.sync_data()?)
    }

    /// Copies the log into the file if it has at least `most` pages. `db` is the writer.
    fn copy_beyond(&self, most: u64, store: &Store, db: &Db) -> Result<(), StoreError> {
        if self.pages.load(Ordering::Relaxed) < most {
            return Ok(());
        }
        let left = run_checkpoint(db, "PASSIVE")?;
        if left > RESTART_PAGES {
            // Little is left to be copied. Waits for the store's lock rather than SQLite's, which
            // would be tried in intervals.
            let _alone = store.lock_db();
            db.0.busy_timeout(READERS_WAIT)?;
            let restarted = run_checkpoint(db, "RESTART");
            db.0.busy_timeout(crate::db::WAIT)?;
            restarted?;
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
    /// Calls `act` with a connection that sees all that is committed, without a wait for those who
    /// write.
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

    /// Runs `act` in a transaction, as a part of a large commit. It is on the disk when this
    /// returns, but others do not have to wait for that, and only one part is written at a time.
    pub(crate) fn write_slice<T>(
        &self,
        act: impl FnOnce(&Db) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Some(log) = &self.shared.log else { return self.run_transaction(act) };
        let mut writer = log.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let db = open_once(&mut writer, || log.open_writer())?;
        let done = {
            // The other connection of this process cannot write meanwhile. SQLite would let it try
            // in intervals.
            let _alone = self.lock_db();
            RollBack::run_transaction(db, act)?
        };
        log.sync()?;
        // Ignored for the same reason as below.
        let _ = log.copy_beyond(SLICE_PAGES, self, db);
        Ok(done)
    }

    /// Copies the log into the file if it is long and nobody is doing that. Failures are ignored,
    /// for example on a full disk, because all is in the log; the next transaction tries it again.
    pub(crate) fn shorten_log(&self) {
        let Some(log) = &self.shared.log else { return };
        if log.pages.load(Ordering::Relaxed) < MAX_PAGES {
            return;
        }
        if let Ok(mut writer) = log.writer.try_lock() {
            let db = open_once(&mut writer, || log.open_writer());
            let _ = db.and_then(|db| log.copy_beyond(MAX_PAGES, self, db));
        }
    }
}

/// Returns a connection, which is opened if this was not done before.
fn open_once(
    db: &mut Option<Db>,
    open: impl FnOnce() -> Result<Db, StoreError>,
) -> Result<&Db, StoreError> {
    let opened = match db.take() {
        Some(opened) => opened,
        None => open()?,
    };
    Ok(db.insert(opened))
}
