//! The stored form of a session between two calls.
#![forbid(unsafe_code)]

pub mod blob;
pub mod commit;
pub mod delta;
pub mod digest;
pub mod error;
pub mod export;
pub mod files;
pub mod journal;
pub mod object;
mod reach;
pub mod tree;
pub mod wbs;
mod zstd;

pub use blob::Blob;
pub use commit::{CallRecord, CellRecord, ChangedPath, Commit, CommitState, FileTree};
pub use digest::Digest;
pub use error::SnapshotError;
pub use journal::SessionJournal;
pub use object::{MemoryObjects, Objects, StoredObject};
