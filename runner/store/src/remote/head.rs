//! The head of a session in a bucket: the object whose change is a commit.
//!
//! A head has all that a session is apart from what grows: old commits and old entries of the log
//! are in parts, larger objects are in packs. A session that is small is its head alone, so that a
//! worker takes it up with one request.
//!
//! Heads come from a bucket that others can write, so [`Head::decode`] bounds and checks
//! everything that the rest of the crate relies on.

use crate::{MAX_KEY, MAX_NAME, StoreError, check_name};
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::HashSet;
use wasibox_snapshot::{Blob, Commit, Digest, StoredObject};

/// The first bytes of a head and of a part, and the version of their format.
const MAGIC: &[u8; 8] = b"\x89WBH\r\n\x1a\x01";
/// The largest head in bytes.
pub const MAX_HEAD: u64 = 32 << 20;
/// The most packs and parts of a session, and the most bytes of its parts together, which are in
/// memory while the session is taken up.
const MAX_REFERENCES: usize = 1 << 16;
const MAX_PARTS_BYTES: u64 = 512 << 20;

/// The process that has a session, by a random number.
pub type WorkerId = [u8; 16];

/// An immutable object of the bucket, named by its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PartRef {
    pub digest: Digest,
    /// The size in bytes.
    pub len: u64,
}

/// A pack of objects, whose list is at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PackRef {
    pub part: PartRef,
    /// The size of the list in bytes.
    pub list: u32,
}

/// A commit as the store keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedCommit {
    pub body: ByteBuf,
    /// The number of bytes that it has added to the store.
    pub stored: u64,
}

/// An entry of a session's log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedEntry {
    /// In nanoseconds since the epoch.
    pub time: u64,
    pub text: String,
}

/// An object in its stored form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedObject {
    pub digest: Digest,
    pub len: u32,
    pub compressed: bool,
    pub bytes: ByteBuf,
}

impl PublishedObject {
    pub fn new(digest: Digest, object: StoredObject) -> PublishedObject {
        let StoredObject { len, compressed, bytes } = object;
        PublishedObject { digest, len, compressed, bytes: bytes.into() }
    }

    pub fn to_stored(&self) -> StoredObject {
        StoredObject { len: self.len, compressed: self.compressed, bytes: self.bytes.to_vec() }
    }
}

/// The head of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The worker that has the session, or had it last.
    pub owner: WorkerId,
    pub is_released: bool,
    /// The number of times that the session was taken up. It grows with each, so that a worker can
    /// tell its own time from a later one.
    pub fence: u64,
    /// The number of changes of this object, which makes each version's bytes different.
    pub writes: u64,
    pub image: Option<Digest>,
    pub created: u64,
    /// Numbers of commits, as in the table of sessions.
    pub head: u64,
    pub tip: u64,
    pub base: Option<u64>,
    pub next: u64,
    /// The older commits, and those since.
    pub history: Vec<PartRef>,
    pub recent: Vec<PublishedCommit>,
    pub tags: Vec<(String, u64)>,
    pub values: Vec<(ByteBuf, Blob)>,
    /// The older entries of the log, and those since.
    pub log: Vec<PartRef>,
    pub recent_log: Vec<PublishedEntry>,
    /// The objects that the commits need, and perhaps others.
    pub packs: Vec<PackRef>,
    pub objects: Vec<PublishedObject>,
}

impl Head {
    pub fn encode(&self) -> Result<Vec<u8>, StoreError> {
        encode(self)
    }

    /// Decodes a head. Its parts are still to be read.
    pub fn decode(bytes: &[u8]) -> Result<Head, StoreError> {
        let head: Head = decode(bytes)?;
        let references = [head.history.len(), head.log.len(), head.packs.len()];
        let parts = head.history.iter().chain(&head.log);
        let parts_bytes = parts.fold(0, |sum: u64, part| sum.saturating_add(part.len));
        let is_fine = references.iter().all(|n| *n <= MAX_REFERENCES)
            && parts_bytes <= MAX_PARTS_BYTES
            && head.values.iter().all(|(key, _)| key.len() <= MAX_KEY)
            && head.packs.iter().all(|pack| u64::from(pack.list) <= pack.part.len);
        if !is_fine {
            return Err(StoreError::Damaged("a session's head"));
        }
        head.tags.iter().try_for_each(|(tag, _)| check_name(tag))?;
        Ok(head)
    }

    /// Returns whether another worker than `own` has the session, as far as the head tells.
    pub fn is_held_by_other(&self, own: &WorkerId) -> bool {
        !self.is_released && self.owner != *own
    }
}

/// The commits of a head, the oldest first.
pub struct CommitList(pub Vec<(Commit, PublishedCommit)>);

impl CommitList {
    /// Decodes the commits of a head, whose parts have been read, and checks that they are those of
    /// a session.
    pub fn check(head: &Head, all: Vec<PublishedCommit>) -> Result<CommitList, StoreError> {
        let bad = StoreError::Damaged("a session's commits");
        let (mut list, mut known) = (Vec::with_capacity(all.len()), HashSet::new());
        let mut last = 0;
        for entry in all {
            let commit = Commit::decode(&entry.body)?;
            let is_after = commit.number > last;
            if !is_after || commit.parent.is_some_and(|parent| !known.contains(&parent)) {
                return Err(bad);
            }
            last = commit.number;
            known.insert(last);
            list.push((commit, entry));
        }
        let targets = head.tags.iter().map(|(_, number)| *number);
        let mut needed = [head.head, head.tip].into_iter().chain(head.base).chain(targets);
        let is_whole = needed.all(|number| known.contains(&number));
        if is_whole && head.next > last && i64::try_from(head.next).is_ok() {
            Ok(CommitList(list))
        } else {
            Err(bad)
        }
    }
}

/// The sign of life of a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The time, in milliseconds since the epoch, until which its sessions are its own.
    pub until: u64,
}

/// Encodes a value with the magic number before it.
pub fn encode(value: &impl Serialize) -> Result<Vec<u8>, StoreError> {
    postcard::to_extend(value, MAGIC.to_vec()).map_err(|_| StoreError::TooLong)
}

/// Decodes the bytes of [`encode`].
pub fn decode<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, StoreError> {
    let body = bytes.strip_prefix(MAGIC).ok_or(StoreError::Damaged("not an object of a store"))?;
    match postcard::take_from_bytes(body) {
        Ok((value, [])) => Ok(value),
        _ => Err(StoreError::Damaged("an object of the bucket")),
    }
}

const _: () = assert!(MAX_NAME < 128, "a session's name is a part of a key");
