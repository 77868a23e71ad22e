//! The portable snapshot, `.wbs`: one file with a session and everything that it needs.
//!
//! # Format
//! A file is the magic number, the version (two bytes, little-endian), and frames. A frame is its
//! kind (one byte), whether it is compressed (one byte), the lengths of its bytes unpacked and as
//! stored (four bytes each), and the bytes. The frames of the manifest come first, in the order of
//! [`ManifestFrame`]: the session, its commits starting with the oldest, tags, key-values. Then
//! comes every object once, in the order in which they are first referenced, and then the end
//! frame, with the number of frames and the digest of all bytes before it. Nothing follows.
//!
//! # Invariants
//! The same session from the same store yields the same file. Reading and writing pass through the
//! file once, and hold one object plus 36 bytes for each object. A reader computes the objects'
//! digests itself, and makes nothing permanent until it has reached the end and followed every
//! reference.

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

/// The first bytes: not valid text, and damaged by a conversion of line ends.
const MAGIC: [u8; 8] = *b"\x89WBS\r\n\x1a\n";

/// The kinds of frames.
const ITEM: u8 = 1;
const OBJECT: u8 = 2;
const END: u8 = 3;

/// Number of bytes of a frame's header.
const HEAD: usize = 10;

/// The contents of a snapshot, apart from objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SnapshotContents {
    /// The digest of the image with which it was made.
    pub image: Option<Digest>,
    /// The commits, starting with the oldest; each commit's parent comes before it.
    pub commits: Vec<Commit>,
    /// The number of the session's current commit.
    pub head: u64,
    /// The tags of commits.
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
