//! The portable snapshot, `.wbs`: one file with a session and all that it needs.
//!
//! # Form
//! The magic number, the version (two bytes, the lower one first), then frames. A frame is its kind (a byte),
//! whether it is compressed (a byte), the lengths of its bytes unpacked and as they are there (four bytes
//! each), and the bytes. First come the frames of the manifest in the order of [`ManifestFrame`]s: the
//! session, its commits from the oldest one on, tags, key-values; then every object once, in the order in
//! which they are come upon; then the end, with the number of frames before it and the digest of
//! all bytes before it. Nothing follows.
//!
//! # Invariants
//! The same session from the same store is the same file. Both directions go through the file once, and
//! hold one object and 36 bytes for each. A reader names objects by their digests itself, and takes nothing
//! for good before the end was reached and every reference was followed.

mod read;
mod write;

pub use read::{SnapshotLimits, read};
pub use write::write;

use crate::blob::Blob;
use crate::commit::Commit;
use crate::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// The version that is written.
pub const VERSION: u16 = 1;

/// The first bytes: no text, and spoilt by whoever changes ends of lines.
const MAGIC: [u8; 8] = *b"\x89WBS\r\n\x1a\n";

/// Kinds of frames.
const ITEM: u8 = 1;
const OBJECT: u8 = 2;
const END: u8 = 3;

/// Bytes before a frame's own.
const HEAD: usize = 10;

/// What a snapshot holds, beside objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotContents {
    /// The digest of the image that it was made with.
    pub image: Option<Digest>,
    /// From the oldest one on; each one's parent is before it.
    pub commits: Vec<Commit>,
    /// The number of the commit that the session is at.
    pub head: u64,
    /// Names of commits.
    pub tags: Vec<(String, u64)>,
    pub values: Vec<(ByteBuf, Blob)>,
}

/// A frame of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ManifestFrame {
    Session { image: Option<Digest>, head: u64 },
    Commit(Box<Commit>),
    Tag(String, u64),
    Value(ByteBuf, Blob),
}

/// The last frame.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ManifestEnd {
    frames: u64,
    digest: Digest,
}
