//! Errors of a store.

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use std::io::ErrorKind;
use std::path::PathBuf;
use wasibox_snapshot::SnapshotError;

/// The reason why a store or one of its sessions could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{path}: {source}")]
    Open { path: PathBuf, source: std::io::Error },
    #[error("not a store of sessions")]
    NotAStore,
    #[error("the store has format {0}, this program knows {known}", known = crate::db::VERSION)]
    Version(i64),
    #[error("no session '{0}'")]
    NoSession(String),
    #[error("there is a session '{0}' already")]
    Exists(String),
    #[error(
        "a session's name has 1 to 100 letters, digits, '.', '_' and '-', and is neither '.' nor '..'"
    )]
    Name,
    /// Another process, or another part of this one, holds the session.
    #[error("session '{name}' is in use{}", holder.as_ref().map_or(String::new(), |h| format!(" by process {h}")))]
    Busy { name: String, holder: Option<u32> },
    #[error("session '{session}' has no commit {number}")]
    NoCommit { session: String, number: u64 },
    #[error("no tag '{0}'")]
    NoTag(String),
    #[error("there is nothing to {0}")]
    Nothing(&'static str),
    #[error("the session's tags keep more than its history may have: {0} bytes")]
    HistoryFull(u64),
    #[error("a name or value is too long")]
    TooLong,
    #[error("the store is damaged: {0}")]
    Damaged(&'static str),
    /// Nothing was changed.
    #[error("the file system of the store is full")]
    DiskFull,
    /// Nothing is written any more until the store is opened again.
    #[error("the disk of the store has failed")]
    DiskFailed,
    /// Another worker has taken the session up since, or it is unknown whether the last change took
    /// effect. It is to be opened again.
    #[error("session '{0}' is no longer this process's: open it again")]
    Lost(String),
    /// The bucket of the sessions could not be used.
    #[error(transparent)]
    Bucket(#[from] wasibox_bucket::BucketError),
    #[error(transparent)]
    Snapshot(SnapshotError),
    #[error(transparent)]
    Database(rusqlite::Error),
    #[error(transparent)]
    Io(std::io::Error),
}

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> StoreError {
        if is_disk_full(&e) { StoreError::DiskFull } else { StoreError::Database(e) }
    }
}

impl From<SnapshotError> for StoreError {
    fn from(e: SnapshotError) -> StoreError {
        match e {
            SnapshotError::Io(e) => e.into(),
            // An error of this crate, on its way through the crate of snapshots.
            SnapshotError::Store(e) => match e.downcast::<rusqlite::Error>() {
                Ok(e) => (*e).into(),
                Err(e) => match e.downcast::<StoreError>() {
                    Ok(e) => *e,
                    Err(e) => StoreError::Snapshot(SnapshotError::Store(e)),
                },
            },
            e => StoreError::Snapshot(e),
        }
    }
}

/// Carries an error of this crate through the crate of snapshots.
impl From<StoreError> for SnapshotError {
    fn from(e: StoreError) -> SnapshotError {
        match e {
            StoreError::Snapshot(e) => e,
            e => SnapshotError::from_store(e),
        }
    }
}

impl From<std::io::Error> for StoreError {
    fn from(e: std::io::Error) -> StoreError {
        match e.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => StoreError::DiskFull,
            _ => StoreError::Io(e),
        }
    }
}

/// Returns whether SQLite has found no space for its file, its log or the log's index.
fn is_disk_full(e: &rusqlite::Error) -> bool {
    let rusqlite::Error::SqliteFailure(e, _) = e else { return false };
    e.code == ErrorCode::DiskFull || e.extended_code == SQLITE_IOERR_SHMSIZE
}
