//! The SQLite file: opening it, its tables, and its objects.

use crate::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use wasibox_snapshot::{Digest, Objects, StoredObject};

/// Marks a SQLite file as a store: "WBX1".
const APPLICATION: i64 = 0x5742_5831;

/// The version of the format that this program writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

/// The SQL that turns each version of the format into the next one; the first creates it.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE objects(id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE,
        len INTEGER NOT NULL, compressed INTEGER NOT NULL, bytes BLOB NOT NULL);
    CREATE TABLE sessions(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
        image BLOB, created INTEGER NOT NULL, head INTEGER NOT NULL, tip INTEGER NOT NULL,
        base INTEGER NOT NULL, next INTEGER NOT NULL);
    CREATE TABLE commits(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
        number INTEGER NOT NULL, parent INTEGER, digest BLOB NOT NULL, body BLOB NOT NULL);
    CREATE INDEX commits_of ON commits(session, number);
    CREATE TABLE tags(session INTEGER NOT NULL, name TEXT NOT NULL, target INTEGER NOT NULL,
        PRIMARY KEY(session, name)) WITHOUT ROWID;
    CREATE TABLE kv(session INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
        PRIMARY KEY(session, key)) WITHOUT ROWID;
    CREATE TABLE audit(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
        time INTEGER NOT NULL, entry TEXT NOT NULL);
    CREATE INDEX audit_of ON audit(session, id);
",
    "
    ALTER TABLE commits ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
",
    "
    CREATE TABLE staged(id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL,
        digest BLOB NOT NULL);
    CREATE INDEX staged_of ON staged(session);
",
    "
    CREATE INDEX commits_by_parent ON commits(parent);
",
];

/// The time for which a process waits for another one that writes.
pub const WAIT: Duration = Duration::from_secs(60);

/// The pause between two attempts to open a file that another process is creating.
const PAUSE: Duration = Duration::from_millis(2);

/// The largest row in bytes: a commit with its lists of objects, or an audit entry.
const MAX_ROW: i32 = 8 << 20;

/// Bytes that an object takes in addition to its own.
const OBJECT: u64 = 96;

/// Converts a number such as milliseconds or bytes to SQLite's signed integers.
pub fn to_signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Converts a number back from SQLite's signed integers.
pub fn to_unsigned(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// An open database.
pub struct Db(pub Connection, DbFacts);

#[derive(Default)]
struct DbFacts {
    /// The number of bytes of objects that were added.
    added: Cell<u64>,
    /// Whether no other connection can use the file.
    is_exclusive: bool,
    /// The objects that were written or used again since this is recorded.
    touched: RefCell<Option<HashSet<Digest>>>,
}

impl Db {
    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> Result<Db, StoreError> {
        let start = Instant::now();
        loop {
            match Db::open_now(path, false) {
                // The log's index is in memory if there is no space for its file. Then no other
                // connection can use the store; one that has opened it already has made the file.
                Err(StoreError::DiskFull) => return Db::open_now(path, true),
                // When two processes create a file at once, both upgrade a read lock to a write
                // lock as they set the journal mode, and SQLite refuses one of them without calling
                // its busy handler.
                Err(e) if is_busy(&e) && start.elapsed() < WAIT => std::thread::sleep(PAUSE),
                result => return result,
            }
        }
    }

    fn open_now(path: &Path, is_exclusive: bool) -> Result<Db, StoreError> {
        // SQLite would create the file readable for everybody; it gives its other files the same
        // mode.
        let mut private = File::options();
        match private.write(true).create_new(true).mode(0o600).open(path) {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StoreError::Open { path: path.to_path_buf(), source }),
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = Connection::open_with_flags(path, flags);
        let conn = open.map_err(|e| not_a_store(e.into()))?;
        // Limits the memory that a hostile file can make SQLite allocate for a row.
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW)?;
        conn.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        conn.busy_timeout(WAIT)?;
        if is_exclusive {
            conn.pragma_update_and_check(None, "locking_mode", "EXCLUSIVE", |_| Ok(()))?;
        }
        let facts = DbFacts { is_exclusive, ..DbFacts::default() };
        Db(conn, facts).begin_schema().map_err(not_a_store)
    }

    /// Opens a database that has no file.
    pub fn in_memory() -> Result<Db, StoreError> {
        Db(Connection::open_in_memory()?, DbFacts::default()).begin_schema()
    }

    /// Returns the number of bytes of objects that were added, including those of failed
    /// transactions.
    pub fn added_bytes(&self) -> u64 {
        self.1.added.get()
    }

    /// Begins the record of objects that are written or used again.
    pub fn begin_touched(&self) {
        self.1.touched.replace(Some(HashSet::new()));
    }

    /// Ends the record, and returns its objects.
    pub fn take_touched(&self) -> HashSet<Digest> {
        self.1.touched.take().unwrap_or_default()
    }

    /// Records that a change needs these objects.
    pub fn touch(&self, digests: impl IntoIterator<Item = Digest>) {
        if let Some(touched) = &mut *self.1.touched.borrow_mut() {
            touched.extend(digests);
        }
    }

    /// Puts objects that come from elsewhere. Those that are damaged are left out, because they must
    /// not take the places of the right ones.
    pub fn put_checked(
        &self,
        objects: impl IntoIterator<Item = (Digest, StoredObject)>,
    ) -> Result<(), StoreError> {
        for (digest, object) in objects {
            let bytes = object.clone().unpack_object();
            if bytes.is_some_and(|bytes| Digest::hash_bytes(&bytes) == digest) {
                self.put_object(&digest, object)?;
            }
        }
        Ok(())
    }

    /// Returns whether no other connection can use the file, because the disk is full.
    pub fn is_exclusive(&self) -> bool {
        self.1.is_exclusive
    }

    fn begin_schema(mut self) -> Result<Db, StoreError> {
        let conn = &self.0;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        // This only works in a new file, before anything is written. In another file it would be a
        // write, for which a full disk has no space.
        if conn.pragma_query_value(None, "page_count", |row| row.get::<_, i64>(0))? == 0 {
            conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        }
        conn.pragma_update(None, "cell_size_check", true)?;
        conn.pragma_update(None, "cache_size", -2048)?;
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        // FULL puts a commit on the disk before the call returns. With NORMAL the
        // last commits would be lost if the machine failed, unless the log is synchronized
        // otherwise.
        conn.pragma_update(None, "synchronous", "FULL")?;
        conn.set_prepared_statement_cache_capacity(64);
        self.migrate_schema()?;
        self.check_schema()?;
        Ok(self)
    }

    fn migrate_schema(&mut self) -> Result<(), StoreError> {
        if self.schema_version()? == VERSION {
            return Ok(());
        }
        let tx = self.0.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have migrated the file first.
        let version = tx.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))?;
        let application =
            tx.pragma_query_value(None, "application_id", |row| row.get::<_, i64>(0))?;
        let tables: i64 =
            tx.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if application != APPLICATION && tables > 0 {
            return Err(StoreError::NotAStore);
        }
        let todo = usize::try_from(version).ok().and_then(|from| MIGRATIONS.get(from..));
        for step in todo.ok_or(StoreError::Version(version))? {
            tx.execute_batch(step)?;
        }
        tx.pragma_update(None, "application_id", APPLICATION)?;
        tx.pragma_update(None, "user_version", VERSION)?;
        Ok(tx.commit()?)
    }

    fn schema_version(&self) -> Result<i64, StoreError> {
        let get = |name| self.0.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(if get("application_id")? == APPLICATION { get("user_version")? } else { 0 })
    }

    /// Checks that the schema is exactly this program's, because a hostile file could have other
    /// tables of the same names, or triggers.
    fn check_schema(&self) -> Result<(), StoreError> {
        let fresh = Connection::open_in_memory()?;
        for step in MIGRATIONS {
            fresh.execute_batch(step)?;
        }
        let tables =
            |conn: &Connection| -> Result<Vec<(String, String, Option<String>)>, StoreError> {
                let mut all =
                    conn.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY 1, 2")?;
                let rows = all.query_map([], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))?;
                Ok(rows.collect::<Result<_, _>>()?)
            };
        if tables(&fresh)? == tables(&self.0)? { Ok(()) } else { Err(StoreError::NotAStore) }
    }
}

fn not_a_store(e: StoreError) -> StoreError {
    match e {
        StoreError::Database(e) if e.sqlite_error_code() == Some(ErrorCode::NotADatabase) => {
            StoreError::NotAStore
        }
        e => e,
    }
}

fn is_busy(e: &StoreError) -> bool {
    matches!(e, StoreError::Database(e) if e.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
}

fn sqlite_error(e: rusqlite::Error) -> wasibox_snapshot::SnapshotError {
    wasibox_snapshot::SnapshotError::from_store(e)
}

impl Objects for Db {
    fn get(
        &self,
        digest: &Digest,
    ) -> Result<Option<StoredObject>, wasibox_snapshot::SnapshotError> {
        let sql = "SELECT len, compressed, bytes FROM objects WHERE digest = ?";
        let mut get = self.0.prepare_cached(sql).map_err(sqlite_error)?;
        let packed = get.query_row([&digest.0[..]], |row| {
            Ok(StoredObject { len: row.get(0)?, compressed: row.get(1)?, bytes: row.get(2)? })
        });
        packed.optional().map_err(sqlite_error)
    }

    fn has_object(&self, digest: &Digest) -> Result<bool, wasibox_snapshot::SnapshotError> {
        let sql = "SELECT 1 FROM objects WHERE digest = ?";
        let mut has = self.0.prepare_cached(sql).map_err(sqlite_error)?;
        has.exists([&digest.0[..]]).map_err(sqlite_error)
    }

    fn put_object(
        &self,
        digest: &Digest,
        o: StoredObject,
    ) -> Result<(), wasibox_snapshot::SnapshotError> {
        self.touch([*digest]);
        let sql =
            "INSERT OR IGNORE INTO objects(digest, len, compressed, bytes) VALUES(?, ?, ?, ?)";
        let mut put = self.0.prepare_cached(sql).map_err(sqlite_error)?;
        let bytes = o.bytes.len() as u64;
        let rows = put.execute((&digest.0[..], o.len, o.compressed, o.bytes));
        if rows.map_err(sqlite_error)? > 0 {
            let added = &self.1.added;
            added.set(added.get().saturating_add(bytes + OBJECT));
        }
        Ok(())
    }
    fn save_object(&self, bytes: &[u8]) -> Result<Digest, wasibox_snapshot::SnapshotError> {
        let digest = Digest::hash_bytes(bytes);
        if self.has_object(&digest)? {
            self.touch([digest]);
        } else {
            self.put_object(&digest, StoredObject::new(bytes)?)?;
        }
        Ok(digest)
    }
}
