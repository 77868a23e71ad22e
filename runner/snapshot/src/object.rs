//! Objects: immutable bytes named by their digest, and where they are kept.

use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::zstd;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

/// Most bytes of an object.
pub const MAX_OBJECT: usize = 1 << 20;

/// An object as it is kept: compressed where that makes it smaller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredObject {
    /// Bytes of the object itself.
    pub len: u32,
    pub compressed: bool,
    pub bytes: Vec<u8>,
}

impl StoredObject {
    /// Packs the bytes of an object.
    ///
    /// # Errors
    /// TooLarge past [`MAX_OBJECT`].
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

    /// The object's bytes, which may be any; `None` if they are not as many as are said to be. Takes no
    /// more memory than that.
    pub fn unpack_object(self) -> Option<Vec<u8>> {
        let len = Some(self.len as usize).filter(|len| *len <= MAX_OBJECT)?;
        let bytes =
            if self.compressed { zstd::decompress_frame(&self.bytes, len)? } else { self.bytes };
        (bytes.len() == len).then_some(bytes)
    }
}

/// Where objects are kept.
pub trait Objects {
    /// The object of that digest, if it is there. What is given may be damaged.
    ///
    /// # Errors
    /// What keeps it from being read.
    fn get(&self, digest: &Digest) -> Result<Option<StoredObject>, SnapshotError>;

    /// Whether it is there.
    ///
    /// # Errors
    /// As [`Objects::get`].
    fn has_object(&self, digest: &Digest) -> Result<bool, SnapshotError>;

    /// Keeps an object that has this digest; it may be there already.
    ///
    /// # Errors
    /// What keeps it from being written.
    fn put_object(&self, digest: &Digest, object: StoredObject) -> Result<(), SnapshotError>;
}

/// The bytes of an object, which have its digest.
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

/// Keeps bytes, unless they are kept already.
///
/// # Errors
/// What keeps them from being written.
pub fn save_object(objects: &dyn Objects, bytes: &[u8]) -> Result<Digest, SnapshotError> {
    let digest = Digest::hash_bytes(bytes);
    if !objects.has_object(&digest)? {
        objects.put_object(&digest, StoredObject::new(bytes)?)?;
    }
    Ok(digest)
}

/// Objects in memory.
#[derive(Debug, Default)]
pub struct MemoryObjects(RefCell<HashMap<Digest, Arc<StoredObject>>>);

impl MemoryObjects {
    /// How many objects, and bytes as they are kept.
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
            let digest = save_object(&m, &bytes).unwrap();
            assert_eq!(load_object(&m, &digest).unwrap(), bytes);
        }
        assert!(m.size().1 < 1000);
        assert!(matches!(
            save_object(&m, &vec![7; MAX_OBJECT + 1]),
            Err(SnapshotError::TooLarge(_))
        ));
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
            // Bits that mean nothing to the decompressor leave the object as it was.
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
