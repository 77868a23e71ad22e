//! Immutable objects of a bucket: packs of objects, and parts of a session's history and log.

use super::head::{PackRef, PartRef, PublishedObject, decode, encode};
use crate::StoreError;
use crate::db::Db;
use rusqlite::OptionalExtension;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use wasibox_bucket::Bucket;
use wasibox_snapshot::object::MAX_OBJECT;
use wasibox_snapshot::{Digest, Objects, SnapshotError, StoredObject};

/// The size in bytes at which a pack is full.
pub const FULL_PACK: usize = 8 << 20;
/// Packs up to this size are read as a whole when the first of their objects is needed, because a
/// request takes longer than the transfer.
const WHOLE_PACK: u64 = 4 << 20;
/// The largest list of a pack, and the largest part, in bytes.
const MAX_LIST: u64 = 16 << 20;
const MAX_PART: u64 = 16 << 20;

/// Returns the key of a part.
pub fn part_key(part: &PartRef) -> String {
    format!("parts/{}", part.digest)
}

/// Returns the key of a pack.
pub fn pack_key(pack: &PackRef) -> String {
    format!("packs/{}", pack.part.digest)
}

/// Encodes a part of a session's history or log, and returns it with its name.
pub fn make_part(value: &impl Serialize) -> Result<(PartRef, Vec<u8>), StoreError> {
    let bytes = encode(value)?;
    let part = PartRef { digest: Digest::hash_bytes(&bytes), len: bytes.len() as u64 };
    Ok((part, bytes))
}

/// Reads a part.
pub fn read_part<T: for<'a> Deserialize<'a>>(
    bucket: &dyn Bucket,
    part: &PartRef,
) -> Result<T, StoreError> {
    let found = bucket.get(&part_key(part), part.len.min(MAX_PART))?;
    let bytes = found.ok_or(StoreError::Damaged("a part of a session is missing"))?.bytes;
    if Digest::hash_bytes(&bytes) != part.digest {
        return Err(StoreError::Damaged("a part of a session"));
    }
    decode(&bytes)
}

/// An entry of a pack's list: where an object is after the list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PackedObject {
    digest: Digest,
    len: u32,
    compressed: bool,
    size: u32,
}

/// A pack that is to be put.
pub struct NewPack {
    pub name: PackRef,
    pub list: Vec<u8>,
    objects: Vec<Digest>,
    /// Those that the head had, and the cache may lack.
    own: Vec<PublishedObject>,
}

impl NewPack {
    /// Describes a pack of objects. Their bytes are read when it is put, so that those of all packs
    /// of a commit are not in memory together. Its name is the digest of its list, which names the
    /// objects by their digests.
    pub fn new(
        objects: &[ObjectFacts],
        own: impl Iterator<Item = PublishedObject>,
    ) -> Result<NewPack, StoreError> {
        let list = objects.iter().map(|facts| facts.0).collect::<Vec<PackedObject>>();
        let bytes: u64 = list.iter().map(|packed| u64::from(packed.size)).sum();
        let list = encode(&list)?;
        let len = list.len() as u64 + bytes;
        let part = PartRef { digest: Digest::hash_bytes(&list), len };
        let name =
            PackRef { part, list: u32::try_from(list.len()).map_err(|_| StoreError::TooLong)? };
        let objects: Vec<Digest> = objects.iter().map(|facts| facts.0.digest).collect();
        let own = own.filter(|own| objects.contains(&own.digest)).collect();
        Ok(NewPack { name, list, objects, own })
    }

    /// Returns the objects whose bytes are read from the cache.
    pub fn cached(&self) -> impl Iterator<Item = &Digest> {
        self.objects.iter().filter(|digest| self.own.iter().all(|own| own.digest != **digest))
    }

    /// Returns the bytes of the pack.
    pub fn read_bytes(&self, db: &Db) -> Result<Vec<u8>, StoreError> {
        let mut bytes = self.list.clone();
        for digest in &self.objects {
            match self.own.iter().find(|own| own.digest == *digest) {
                Some(own) => bytes.extend_from_slice(&own.bytes),
                None => {
                    let object = db.get(digest)?.ok_or(SnapshotError::Missing(*digest))?;
                    bytes.extend_from_slice(&object.bytes);
                }
            }
        }
        if bytes.len() as u64 == self.name.part.len {
            return Ok(bytes);
        }
        Err(StoreError::Damaged("an object of the cache"))
    }
}

/// The size of an object and the form of its bytes.
#[derive(Clone, Copy, Debug)]
pub struct ObjectFacts(PackedObject);

impl ObjectFacts {
    /// Reads the facts of an object of the cache.
    pub fn read(db: &Db, digest: &Digest) -> Result<ObjectFacts, StoreError> {
        let sql = "SELECT len, compressed, length(bytes) FROM objects WHERE digest = ?";
        let mut get = db.0.prepare_cached(sql)?;
        let facts = get.query_row([&digest.0[..]], |r| {
            let (digest, len, compressed) = (*digest, r.get(0)?, r.get(1)?);
            Ok(ObjectFacts(PackedObject { digest, len, compressed, size: r.get(2)? }))
        });
        Ok(facts.optional()?.ok_or(SnapshotError::Missing(*digest))?)
    }

    /// Returns the facts of an object of a head.
    pub fn of(object: &PublishedObject) -> ObjectFacts {
        let PublishedObject { digest, len, compressed, bytes } = object;
        let size = bytes.len() as u32;
        ObjectFacts(PackedObject { digest: *digest, len: *len, compressed: *compressed, size })
    }

    /// Returns the number of stored bytes.
    pub fn size(&self) -> usize {
        self.0.size as usize
    }
}

/// The place of an object in a pack.
#[derive(Clone, Copy, Debug)]
struct Place {
    pack: PackRef,
    start: u64,
    packed: PackedObject,
}

/// The objects of the packs whose lists were read.
#[derive(Debug, Default)]
pub struct PackLists {
    packs: HashMap<PackRef, Vec<Digest>>,
    places: HashMap<Digest, Place>,
}

impl PackLists {
    /// Returns the pack that has an object, if its list was read.
    pub fn find_pack(&self, digest: &Digest) -> Option<PackRef> {
        self.places.get(digest).map(|place| place.pack)
    }

    /// Returns whether a pack's list was read.
    pub fn has_list(&self, pack: &PackRef) -> bool {
        self.packs.contains_key(pack)
    }

    /// Adds a pack that this process has made, or whose first bytes it has read.
    pub fn add(&mut self, pack: PackRef, bytes: &[u8]) -> Result<(), StoreError> {
        let bad = StoreError::Damaged("a pack's list");
        let Some(list) = bytes.get(..pack.list as usize) else { return Err(bad) };
        if Digest::hash_bytes(list) != pack.part.digest {
            return Err(bad);
        }
        let list: Vec<PackedObject> = decode(list)?;
        let mut start = u64::from(pack.list);
        let mut places = Vec::with_capacity(list.len());
        for packed in list {
            places.push((packed.digest, Place { pack, start, packed }));
            start += u64::from(packed.size);
        }
        let is_fine = |(_, place): &(_, Place)| place.packed.size as usize <= MAX_OBJECT;
        if start != pack.part.len || !places.iter().all(is_fine) {
            return Err(bad);
        }
        self.packs.insert(pack, places.iter().map(|(digest, _)| *digest).collect());
        self.places.extend(places);
        Ok(())
    }

    /// Forgets packs that are not among `kept`.
    pub fn retain(&mut self, kept: impl Fn(&PackRef) -> bool) {
        self.packs.retain(|pack, _| kept(pack));
        self.places.retain(|_, place| kept(&place.pack));
    }
}

/// Reads a pack's list.
pub fn read_list(bucket: &dyn Bucket, pack: &PackRef) -> Result<Vec<u8>, StoreError> {
    let len = u64::from(pack.list);
    if len > MAX_LIST {
        return Err(StoreError::Damaged("a pack's list"));
    }
    Ok(bucket.get_range(&pack_key(pack), 0, len)?)
}

/// Reads an object from its pack, and the pack's others if it is small. The objects are not
/// verified.
pub fn read_objects(
    bucket: &dyn Bucket,
    place: &ObjectPlace,
) -> Result<Vec<(Digest, StoredObject)>, StoreError> {
    let ObjectPlace { pack, all } = place;
    let (begin, end) = if pack.part.len <= WHOLE_PACK {
        (u64::from(pack.list), pack.part.len)
    } else {
        (all[0].start, all[0].start + u64::from(all[0].packed.size))
    };
    let bytes = bucket.get_range(&pack_key(pack), begin, end - begin)?;
    let stored = |place: &Place| {
        let start = place.start.checked_sub(begin)? as usize;
        let bytes = bytes.get(start..start + place.packed.size as usize)?.to_vec();
        let PackedObject { digest, len, compressed, .. } = place.packed;
        Some((digest, StoredObject { len, compressed, bytes }))
    };
    Ok(all.iter().filter_map(stored).collect())
}

/// Where an object is, and those that are read together with it.
pub struct ObjectPlace {
    pack: PackRef,
    /// The object itself is the first.
    all: Vec<Place>,
}

impl PackLists {
    /// Returns where an object is.
    pub fn find(&self, digest: &Digest) -> Option<ObjectPlace> {
        let place = *self.places.get(digest)?;
        let mut all = vec![place];
        if place.pack.part.len <= WHOLE_PACK {
            let others = self.packs.get(&place.pack)?.iter().filter(|other| *other != digest);
            // An object that a later pack has, too, is found there.
            let others = others.filter_map(|other| self.places.get(other));
            all.extend(others.filter(|other| other.pack == place.pack));
        }
        Some(ObjectPlace { pack: place.pack, all })
    }
}
