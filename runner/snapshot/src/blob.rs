//! Values of any length: short ones in place, longer ones in objects.

use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::{MAX_OBJECT, Objects, load_object};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Maximum length in bytes of a value that is kept in place.
pub const IN_PLACE: usize = 1024;

/// Bytes of each object of a blob except the last. They are fewer than an object may have, because
/// some code must hold a whole object in memory.
const PART: usize = MAX_OBJECT / 4;

/// Maximum number of bytes for which memory is reserved before they are read.
const MOST_AT_ONCE: u64 = 64 << 20;

/// Maximum number of objects of a blob, which limits it to 4 GiB.
const MAX_PARTS: usize = 1 << 14;

/// The bytes of a value, or the objects that contain them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blob {
    InPlace(ByteBuf),
    Objects { len: u64, parts: Vec<Digest> },
}

impl Default for Blob {
    fn default() -> Blob {
        Blob::InPlace(ByteBuf::new())
    }
}

impl Blob {
    /// Stores bytes.
    ///
    /// # Errors
    /// If objects cannot be written; `TooLarge` beyond 4 GiB.
    pub fn save_bytes(objects: &dyn Objects, bytes: &[u8]) -> Result<Blob, SnapshotError> {
        if bytes.len() <= IN_PLACE {
            return Ok(Blob::InPlace(ByteBuf::from(bytes)));
        }
        if bytes.len().div_ceil(PART) > MAX_PARTS {
            return Err(SnapshotError::TooLarge("a value"));
        }
        let parts =
            bytes.chunks(PART).map(|part| objects.save_object(part)).collect::<Result<_, _>>()?;
        Ok(Blob::Objects { len: bytes.len() as u64, parts })
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Blob::InPlace(bytes) => bytes.len() as u64,
            Blob::Objects { len, .. } => *len,
        }
    }

    /// Returns whether the value is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the objects that the value needs.
    pub fn objects(&self) -> &[Digest] {
        match self {
            Blob::InPlace(_) => &[],
            Blob::Objects { parts, .. } => parts,
        }
    }

    /// Returns all bytes, up to `limit`.
    ///
    /// # Errors
    /// If objects are missing or damaged, or there are more bytes.
    pub fn load_bytes(&self, objects: &dyn Objects, limit: u64) -> Result<Vec<u8>, SnapshotError> {
        if self.len() > limit {
            return Err(SnapshotError::TooLarge("a value"));
        }
        let (len, parts) = match self {
            Blob::InPlace(bytes) => return Ok(bytes.to_vec()),
            Blob::Objects { len, parts } => (*len, parts),
        };
        // A blob that claims a false length only reserves memory that is never touched.
        let mut out = Vec::with_capacity(len.min(MOST_AT_ONCE) as usize);
        for part in parts {
            out.extend(load_object(objects, part)?);
            if out.len() as u64 > len {
                break;
            }
        }
        if out.len() as u64 == len {
            Ok(out)
        } else {
            Err(SnapshotError::Malformed("a value's length"))
        }
    }

    /// Checks that the length fits the objects.
    pub(crate) fn check_len(&self) -> Result<(), SnapshotError> {
        let fits = match self {
            Blob::InPlace(bytes) => bytes.len() <= IN_PLACE,
            Blob::Objects { len, parts } => {
                parts.len() <= MAX_PARTS && *len <= parts.len() as u64 * MAX_OBJECT as u64
            }
        };
        if fits { Ok(()) } else { Err(SnapshotError::Malformed("a value's length")) }
    }
}
