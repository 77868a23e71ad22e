//! The errors of this crate.

use crate::digest::Digest;
use wasibox_protocol::{Refusal, RefusalKind};

/// The reason why data could not be read, written or applied.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    #[error("not a snapshot")]
    NotASnapshot,
    #[error("the snapshot has format {0}, this program reads {VERSION}", VERSION = crate::wbs::VERSION)]
    Version(u16),
    /// The file ends too early, or its digest differs.
    #[error("the snapshot is damaged: {0}")]
    Damaged(&'static str),
    /// The bytes of an object do not match its digest.
    #[error("object {0} is damaged")]
    Corrupt(Digest),
    #[error("object {0} is missing")]
    Missing(Digest),
    /// The contents contradict each other, or are not in the format.
    #[error("not a session's files: {0}")]
    Malformed(&'static str),
    #[error("larger than is allowed: {0}")]
    TooLarge(&'static str),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error of the store of objects.
    #[error(transparent)]
    Store(Box<dyn std::error::Error + Send + Sync>),
}

impl SnapshotError {
    /// Wraps an error of the store of objects.
    pub fn from_store(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> SnapshotError {
        SnapshotError::Store(e.into())
    }
}

impl From<SnapshotError> for Refusal {
    fn from(e: SnapshotError) -> Refusal {
        let kind = match e {
            SnapshotError::Store(_) | SnapshotError::Io(_) => RefusalKind::Internal,
            _ => RefusalKind::Invalid,
        };
        Refusal::new(kind, e)
    }
}
