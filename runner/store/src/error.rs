//! Errors of a store.

use std::path::PathBuf;

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
    #[error("a session's name has 1 to 100 letters, digits, '.', '_' and '-'")]
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
    #[error(transparent)]
    Snapshot(#[from] wasibox_snapshot::SnapshotError),
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
