//! Objects: immutable bytes named by their digest, and the stores that keep them.

use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::zstd;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum size in bytes of an object.
pub const MAX_OBJECT: usize = 1 << 20;

/// An object in stored form: compressed if that makes it smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// The length of the unpacked object in bytes.
    pub len: u32,
    pub compressed: bool,
    pub bytes: Vec<u8>,
}

impl StoredObject {
    /// Packs the bytes of an object.
    ///
    /// # Errors
    /// TooLarge beyond [`MAX_OBJECT`].
    pub fn new(bytes: &[u8]) -> Result<StoredObject, SnapshotError> {
        if bytes.len() > MAX_OBJECT {
            return Err(SnapshotError::TooLarge("an object"));
        }
        let len = bytes.len() as u32;
        match zstd::compress_frame(bytes).filter(|packed| packed.len() < bytes.len()) {
            Some(bytes) => Ok(StoredObject { len, compressed: true, bytes }),
            None => Ok(StoredObject { len, compressed: false, bytes: bytes.to_vec() }),
        }
    }

    /// Returns the object's bytes, which are not verified; `None` if their length is not the stated
    /// one. Never uses more memory than that.
    pub fn unpack_object(self) -> Option<Vec<u8>> {
        let len = Some(self.len as usize).filter(|len| *len <= MAX_OBJECT)?;
        let bytes =
            if self.compressed { zstd::decompress_frame(&self.bytes, len)? } else { self.bytes };
        (bytes.len() == len).then_some(bytes)
    }
}

/// A store of objects.
pub trait Objects {
    /// Returns the object with that digest, if it exists. The object may be damaged.
    ///
    /// # Errors
    /// If it cannot be read.
    fn get(&self, digest: &Digest) -> Result<Option<StoredObject>, SnapshotError>;

    /// Returns whether the object exists.
    ///
    /// # Errors
    /// The same as [`Objects::get`].
    fn has_object(&self, digest: &Digest) -> Result<bool, SnapshotError>;

    /// Stores an object that has this digest; it may exist already.
    ///
    /// # Errors
    /// If it cannot be written.
    fn put_object(&self, digest: &Digest, object: StoredObject) -> Result<(), SnapshotError>;

    /// Stores bytes as an object, unless it exists already, and returns their digest.
    ///
    /// # Errors
    /// If it cannot be written; `TooLarge` beyond [`MAX_OBJECT`].
    fn save_object(&self, bytes: &[u8]) -> Result<Digest, SnapshotError> {
        let digest = Digest::hash_bytes(bytes);
        if !self.has_object(&digest)? {
            self.put_object(&digest, StoredObject::new(bytes)?)?;
        }
        Ok(digest)
    }
}

/// Returns the bytes of an object, verified against its digest.
///
/// # Errors
/// If it is missing or damaged.
pub fn load_object(objects: &dyn Objects, digest: &Digest) -> Result<Vec<u8>, SnapshotError> {
    let packed = objects.get(digest)?.ok_or(SnapshotError::Missing(*digest))?;
    let bytes = packed.unpack_object().ok_or(SnapshotError::Corrupt(*digest))?;
    if Digest::hash_bytes(&bytes) == *digest {
        Ok(bytes)
    } else {
        Err(SnapshotError::Corrupt(*digest))
    }
}

/// A store of objects in memory.
#[derive(Debug, Default)]
pub struct MemoryObjects(RefCell<HashMap<Digest, Arc<StoredObject>>>);

impl MemoryObjects {
    /// Returns the number of objects, and their stored size in bytes.
    pub fn size(&self) -> (usize, usize) {
        let map = self.0.borrow();
        (map.len(), map.values().map(|o| o.bytes.len()).sum())
    }
}

impl Objects for MemoryObjects {
    fn get(&self, digest: &Digest) -> Result<Option<StoredObject>, SnapshotError> {
        Ok(self.0.borrow().get(digest).map(|o| StoredObject::clone(o)))
    }

    fn has_object(&self, digest: &Digest) -> Result<bool, SnapshotError> {
        Ok(self.0.borrow().contains_key(digest))
    }

    fn put_object(&self, digest: &Digest, object: StoredObject) -> Result<(), SnapshotError> {
        self.0.borrow_mut().insert(*digest, Arc::new(object));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_is_loaded() {
        let m = MemoryObjects::default();
        for bytes in [vec![], b"abc".to_vec(), vec![7; MAX_OBJECT]] {
            let digest = m.save_object(&bytes).unwrap();
            assert_eq!(load_object(&m, &digest).unwrap(), bytes);
        }
        assert!(m.size().1 < 1000);
        assert!(matches!(m.save_object(&vec![7; MAX_OBJECT + 1]), Err(SnapshotError::TooLarge(_))));
        assert!(matches!(load_object(&m, &Digest([0; 32])), Err(SnapshotError::Missing(_))));
    }

    #[test]
    fn damage_and_bombs_are_noticed() {
        let m = MemoryObjects::default();
        let bytes: Vec<u8> = (0..5000_u32).flat_map(u32::to_le_bytes).collect();
        let (digest, packed) = (Digest::hash_bytes(&bytes), StoredObject::new(&bytes).unwrap());
        assert!(packed.compressed);
        for at in 0..packed.bytes.len() {
            let mut damaged = packed.clone();
            damaged.bytes[at] ^= 1;
            m.put_object(&digest, damaged).unwrap();
            // Some bits have no meaning for the decompressor; flipping them leaves the object
            // unchanged.
            assert!(
                matches!(load_object(&m, &digest), Err(SnapshotError::Corrupt(_)))
                    || load_object(&m, &digest).unwrap() == bytes
            );
        }
        let bomb = StoredObject::new(&vec![0; MAX_OBJECT]).unwrap();
        for len in [0, 10, MAX_OBJECT as u32 + 1, u32::MAX] {
            assert_eq!(StoredObject { len, ..bomb.clone() }.unpack_object(), None);
        }
    }
}
