//! What can be wrong.

use crate::digest::Digest;

/// Why something could not be read, written or taken up.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("not a snapshot")]
    NotASnapshot,
    #[error("the snapshot has format {0}, this program reads {VERSION}", VERSION = crate::wbs::VERSION)]
    Version(u16),
    /// The file ends too early, or its digest is another one.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// A digest's bytes are others.
    #[error("object {0} is damaged")]
    Corrupt(Digest),
    #[error("object {0} is missing")]
    Missing(Digest),
    /// What is written makes no sense.
    #[error("not a session's files: {0}")]
    Malformed(&'static str),
    #[error("larger than is allowed: {0}")]
    TooLarge(&'static str),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// From where objects are kept.
    #[error(transparent)]
    Store(Box<dyn std::error::Error + Send + Sync>),
}

impl SnapshotError {
    /// An error of whoever keeps the objects.
    pub fn from_store(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> SnapshotError {
        SnapshotError::Store(e.into())
    }
}
