//! A session as a growing file: the contents of a snapshot, in the order in which they were made.
//!
//! It is meant for keeping a session where there is no database, for example in a page. After each
//! call one record is added, which contains the call's changes. A record is complete or it does not
//! count: an interrupted write leaves a torn end, which [`replay_journal`] ignores.
//!
//! # Format
//! A file is the magic number, the version (two bytes, little-endian), and records. A record is the
//! length of its body (four bytes, little-endian), a BLAKE3 digest, and the body. The digest covers
//! the digest of the previous record (zeros for the first one), the length and the body, so that a
//! record is valid only in its place. A body is the lengths of a manifest and of the objects, the
//! [`Manifest`] in postcard, and then each object: its digest, whether it is compressed (one byte),
//! its lengths unpacked and as stored (four bytes each), and its bytes.
//!
//! # Deliberately absent
//! Removing data: to get a smaller file, write a new one.

use crate::blob::Blob;
use crate::commit::Commit;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::files;
use crate::object::{MAX_OBJECT, Objects, StoredObject};
use crate::reach::ObjectReach;
use crate::wbs::SnapshotContents;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use std::collections::BTreeMap;

/// The first bytes: not valid text, and damaged by a conversion of line ends.
const MAGIC: [u8; 8] = *b"\x89WBJ\r\n\x1a\n";
/// The version that is written.
const VERSION: u16 = 1;
/// Number of bytes before the first record.
const BEGIN: usize = 10;
/// Number of bytes of a record before its body.
const HEAD: usize = 36;
/// Number of bytes of an object's header.
const OBJECT: usize = 41;

/// The current state of a session.
#[derive(Clone, Copy, Debug)]
pub struct JournalState<'a> {
    pub image: Option<Digest>,
    pub commits: &'a BTreeMap<u64, Commit>,
    /// The number of the session's current commit. The field `tip` has the number of the commit to
    /// which `redo` leads.
    pub head: u64,
    pub tip: u64,
    pub tags: &'a BTreeMap<String, u64>,
    pub values: &'a [(ByteBuf, Blob)],
}

/// The contents of a record apart from objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    image: Option<Digest>,
    head: u64,
    tip: u64,
    commits: Vec<Commit>,
    /// Tags that were added or moved.
    tags: Vec<(String, u64)>,
    /// All key-values, if they have changed.
    values: Option<Vec<(ByteBuf, Blob)>>,
}

/// The contents that a file already has, which determine the possible next records.
#[derive(Debug, Default)]
pub struct SessionJournal {
    /// The digest of the last record; `None` before the file has begun.
    last: Option<Digest>,
    reach: ObjectReach,
    newest: u64,
    at: (u64, u64),
    tags: BTreeMap<String, u64>,
    values: Vec<(ByteBuf, Blob)>,
}

impl SessionJournal {
    /// Returns the bytes to append to the file so that it contains the current state; the result is
    /// empty if it already does. The caller must append the bytes before those of the next call.
    ///
    /// # Errors
    /// If objects are missing or damaged.
    pub fn next_record(
        &mut self,
        objects: &dyn Objects,
        now: &JournalState<'_>,
    ) -> Result<Vec<u8>, SnapshotError> {
        let commits: Vec<Commit> =
            now.commits.range(self.newest + 1..).map(|(_, c)| c.clone()).collect();
        let is_new = |(name, n): &(&String, &u64)| self.tags.get(*name) != Some(*n);
        let tags: Vec<(String, u64)> =
            now.tags.iter().filter(is_new).map(|(t, n)| (t.clone(), *n)).collect();
        let values = (self.values != now.values).then(|| now.values.to_vec());
        let is_same = commits.is_empty() && tags.is_empty() && values.is_none();
        if is_same && self.at == (now.head, now.tip) && self.last.is_some() {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        let mut visit = |digest: &Digest, object: &StoredObject| {
            put_object(&mut found, digest, object);
            Ok(())
        };
        for commit in &commits {
            self.reach.follow_commit(objects, commit, &mut visit)?;
        }
        for (_, blob) in values.iter().flatten() {
            self.reach.follow_blob(objects, blob, &mut visit)?;
        }
        self.newest = commits.last().map_or(self.newest, |commit| commit.number);
        self.at = (now.head, now.tip);
        self.tags = now.tags.clone();
        self.values = now.values.to_vec();
        let (image, (head, tip)) = (now.image, self.at);
        let manifest = Manifest { image, head, tip, commits, tags, values };
        let manifest =
            postcard::to_stdvec(&manifest).map_err(|_| SnapshotError::TooLarge("a manifest"))?;
        self.seal_record(&manifest, &found)
    }

    /// Encodes a record, preceded by the file's header if it is the first.
    fn seal_record(&mut self, manifest: &[u8], objects: &[u8]) -> Result<Vec<u8>, SnapshotError> {
        let too_large = |_| SnapshotError::TooLarge("what a call has changed");
        let parts = [manifest, objects];
        let mut body = Vec::with_capacity(8 + manifest.len() + objects.len());
        for part in parts {
            body.extend(u32::try_from(part.len()).map_err(too_large)?.to_le_bytes());
        }
        body.extend(parts.concat());
        let len = u32::try_from(body.len()).map_err(too_large)?;
        let mut out = Vec::with_capacity(BEGIN + HEAD + body.len());
        if self.last.is_none() {
            out.extend(MAGIC);
            out.extend(VERSION.to_le_bytes());
        }
        let digest = digest_of(self.last, len, &body);
        out.extend(len.to_le_bytes());
        out.extend(digest.0);
        out.extend(body);
        self.last = Some(digest);
        Ok(out)
    }
}

fn digest_of(before: Option<Digest>, len: u32, body: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&before.map_or([0; 32], |digest| digest.0));
    hasher.update(&len.to_le_bytes());
    hasher.update(body);
    Digest(*hasher.finalize().as_bytes())
}

fn put_object(out: &mut Vec<u8>, digest: &Digest, object: &StoredObject) {
    out.extend(digest.0);
    out.push(object.compressed.into());
    out.extend(object.len.to_le_bytes());
    // The length is at most `MAX_OBJECT`, like that of the unpacked object.
    out.extend((object.bytes.len() as u32).to_le_bytes());
    out.extend(&object.bytes);
}

/// The contents of a file.
#[derive(Debug, Default)]
pub struct JournalContents {
    /// The state for appending further records.
    pub journal: SessionJournal,
    /// The session; without commits if there was no complete record.
    pub contents: SnapshotContents,
    pub tip: u64,
    /// The length in bytes of all complete records. The rest was never completed, and must be cut
    /// off.
    pub whole: usize,
}

/// Reads a file, and stores its objects. They may be used only if this succeeds.
///
/// # Errors
/// If the bytes are not a journal or have a different version, if they are damaged in a way that an
/// interrupted write cannot have caused, or if objects cannot be stored.
pub fn replay_journal(
    bytes: &[u8],
    objects: &dyn Objects,
) -> Result<JournalContents, SnapshotError> {
    let mut out = JournalContents::default();
    let Some((begin, mut rest)) = bytes.split_at_checked(BEGIN) else {
        let is_torn = MAGIC.starts_with(&bytes[..bytes.len().min(MAGIC.len())]);
        return if is_torn { Ok(out) } else { Err(SnapshotError::NotASnapshot) };
    };
    // A file system may have extended the file without writing to it.
    if bytes.iter().all(|b| *b == 0) {
        return Ok(out);
    }
    let version = u16::from_le_bytes([begin[8], begin[9]]);
    if begin[..8] != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let mut commits = BTreeMap::new();
    let mut tags = BTreeMap::new();
    while let Some((body, after)) = next(rest, &mut out.journal.last)? {
        let manifest = take_manifest(body, &mut out.journal.reach, objects)?;
        for commit in manifest.commits {
            commits.insert(commit.number, Commit::decode(&commit.encode()?)?);
        }
        tags.extend(manifest.tags);
        if let Some(values) = manifest.values {
            out.contents.values = values;
        }
        out.contents.image = manifest.image;
        (out.contents.head, out.tip) = (manifest.head, manifest.tip);
        rest = after;
        out.whole = bytes.len() - rest.len();
    }
    let journal = &mut out.journal;
    journal.newest = commits.last_key_value().map_or(0, |(n, _)| *n);
    journal.at = (out.contents.head, out.tip);
    journal.values.clone_from(&out.contents.values);
    let is_known = |n: &u64| commits.contains_key(n);
    let named = [out.contents.head, out.tip];
    let parents = commits.values().filter_map(|commit| commit.parent.as_ref());
    let is_whole = named.iter().chain(tags.values()).chain(parents).all(is_known);
    if !is_whole && !commits.is_empty() {
        return Err(SnapshotError::Damaged("a commit that is not there"));
    }
    if let Some(head) = commits.get(&out.contents.head) {
        files::check::check_records(objects, &head.state.files)?;
    }
    out.contents.commits = commits.into_values().collect();
    out.contents.tags = tags.iter().map(|(name, n)| (name.clone(), *n)).collect();
    journal.tags = tags;
    Ok(out)
}

/// Returns the body of the next record and the bytes after it; `None` after the last complete
/// record.
fn next<'a>(
    bytes: &'a [u8],
    last: &mut Option<Digest>,
) -> Result<Option<(&'a [u8], &'a [u8])>, SnapshotError> {
    let Some((head, rest)) = bytes.split_at_checked(HEAD) else { return Ok(None) };
    let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
    let Some((body, rest)) = rest.split_at_checked(len as usize) else { return Ok(None) };
    let digest = digest_of(*last, len, body);
    if head[4..] == digest.0 {
        *last = Some(digest);
        return Ok(Some((body, rest)));
    }
    // Each record is written once the previous one is on the disk, so only the last one can be
    // torn. If its first bytes are missing, its length is 0, because missing bytes read as zeros.
    let is_torn = len == 0 || rest.iter().all(|b| *b == 0);
    if is_torn { Ok(None) } else { Err(SnapshotError::Damaged("a record")) }
}

/// Reads a body, and stores its objects.
fn take_manifest(
    body: &[u8],
    reach: &mut ObjectReach,
    objects: &dyn Objects,
) -> Result<Manifest, SnapshotError> {
    let damaged = || SnapshotError::Damaged("a record's parts");
    let mut rest = body;
    let mut part = |len: usize| {
        let (part, after) = rest.split_at_checked(len).ok_or_else(damaged)?;
        rest = after;
        Ok::<_, SnapshotError>(part)
    };
    let number =
        |bytes: &[u8]| bytes.try_into().map(u32::from_le_bytes).unwrap_or_default() as usize;
    let (manifest, mut left) = (number(part(4)?), number(part(4)?));
    let manifest = match postcard::take_from_bytes(part(manifest)?) {
        Ok((manifest, [])) => manifest,
        _ => return Err(SnapshotError::Damaged("a record's manifest")),
    };
    while left > 0 {
        let head = part(OBJECT)?;
        let digest = Digest::from_slice(&head[..32]).ok_or_else(damaged)?;
        let (len, stored) = (number(&head[33..37]), number(&head[37..]));
        left = left.checked_sub(OBJECT + stored).ok_or_else(damaged)?;
        if len > MAX_OBJECT || stored > len {
            return Err(damaged());
        }
        let bytes = part(stored)?.to_vec();
        reach.note(digest);
        objects.put_object(
            &digest,
            StoredObject { len: len as u32, compressed: head[32] == 1, bytes },
        )?;
    }
    Ok(manifest)
}
