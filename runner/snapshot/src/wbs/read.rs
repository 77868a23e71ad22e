//! Reads a snapshot.

use super::{
    END, HEAD, ITEM, MAGIC, ManifestEnd, ManifestFrame, OBJECT, SnapshotContents, VERSION,
};
use crate::blob::Blob;
use crate::commit::Commit;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::files;
use crate::object::{MAX_OBJECT, Objects, StoredObject};
use crate::tree::page::Page;
use crate::tree::{RecordKey, RecordValue};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{ErrorKind, Read};

/// The limits on a snapshot.
#[derive(Clone, Copy, Debug)]
pub struct SnapshotLimits {
    /// Maximum bytes of all objects, unpacked.
    pub bytes: u64,
    /// Maximum number of commits, tags and key-values together.
    pub items: usize,
    /// Maximum bytes of memory for these items, which are held until the whole file is read.
    pub manifest: usize,
}

impl SnapshotLimits {
    /// Returns the maximum length of the file in bytes: twice the limit of the objects and
    /// [`MAX_OBJECT`], which leaves room for the heads of frames and for the manifest.
    pub fn packed_bytes(&self) -> u64 {
        self.bytes.saturating_add(MAX_OBJECT as u64).saturating_mul(2)
    }
}

impl Default for SnapshotLimits {
    /// Returns the limits 64 GiB, 100,000 items and 256 MiB for them.
    fn default() -> SnapshotLimits {
        SnapshotLimits { bytes: 64 << 30, items: 100_000, manifest: 256 << 20 }
    }
}

/// Reads a snapshot, and stores its objects. They may be used only if this succeeds; otherwise the
/// caller must discard them.
///
/// # Errors
/// If it is not a complete snapshot of a session, or exceeds the limits; if objects cannot be
/// stored.
pub fn read(
    from: impl Read,
    limits: &SnapshotLimits,
    objects: &dyn Objects,
) -> Result<SnapshotContents, SnapshotError> {
    let mut input = FrameReader { from, hasher: blake3::Hasher::new(), frames: 0 };
    if input.read_array::<8>()? != MAGIC {
        return Err(SnapshotError::NotASnapshot);
    }
    let version = u16::from_le_bytes(input.read_array()?);
    if version != VERSION {
        return Err(SnapshotError::Version(version));
    }
    let mut taken = ManifestReader::default();
    loop {
        let before = (input.frames, Digest(*input.hasher.finalize().as_bytes()));
        let (kind, packed) = input.read_frame()?;
        match kind {
            ITEM if taken.sizes.is_empty() => taken.take_item(&unpack_object(packed)?, limits)?,
            OBJECT => taken.take_object(packed, limits, objects)?,
            END => {
                let end: ManifestEnd = decode_exact(&packed.bytes)?;
                if packed.compressed || (end.frames, end.digest) != before {
                    return Err(SnapshotError::Damaged("its digest is another one"));
                }
                break;
            }
            _ => return Err(SnapshotError::Damaged("frames out of order")),
        }
    }
    if input.from.read(&mut [0])? != 0 {
        return Err(SnapshotError::Damaged("something follows its end"));
    }
    taken.check_references(objects)
}

struct FrameReader<R> {
    from: R,
    hasher: blake3::Hasher,
    frames: u64,
}

impl<R: Read> FrameReader<R> {
    fn read_exact_bytes(&mut self, out: &mut [u8]) -> Result<(), SnapshotError> {
        self.from.read_exact(out).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => SnapshotError::Damaged("it ends too early"),
            _ => e.into(),
        })?;
        self.hasher.update(out);
        Ok(())
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N], SnapshotError> {
        let mut out = [0; N];
        self.read_exact_bytes(&mut out)?;
        Ok(out)
    }

    fn read_frame(&mut self) -> Result<(u8, StoredObject), SnapshotError> {
        let [kind, compressed, a, b, c, d, e, f, g, h] = self.read_array::<HEAD>()?;
        let len = u32::from_le_bytes([a, b, c, d]);
        let stored = u32::from_le_bytes([e, f, g, h]);
        // A compressed frame has fewer bytes than its contents, an uncompressed one as many.
        let fits = match compressed {
            0 => stored == len,
            1 => stored < len,
            _ => false,
        };
        if !fits || len as usize > MAX_OBJECT {
            return Err(SnapshotError::Damaged("a frame's length"));
        }
        let mut bytes = vec![0; stored as usize];
        self.read_exact_bytes(&mut bytes)?;
        self.frames += 1;
        Ok((kind, StoredObject { len, compressed: compressed == 1, bytes }))
    }
}

fn unpack_object(packed: StoredObject) -> Result<Vec<u8>, SnapshotError> {
    packed.unpack_object().ok_or(SnapshotError::Damaged("a frame that cannot be unpacked"))
}

fn decode_exact<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, SnapshotError> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        _ => Err(SnapshotError::Damaged("the manifest")),
    }
}

/// Bytes of memory that an item and a value in it take apart from their own bytes.
const ITEM_COST: usize = 512;
const BLOB_COST: usize = 64;

/// The part of the manifest that was read so far.
#[derive(Default)]
struct ManifestReader {
    contents: SnapshotContents,
    begun: bool,
    items: usize,
    /// Bytes that the manifest takes in memory.
    taken: usize,
    bytes: u64,
    /// The objects of the file, with their lengths.
    sizes: HashMap<Digest, u32>,
}

impl ManifestReader {
    fn take_item(&mut self, bytes: &[u8], limits: &SnapshotLimits) -> Result<(), SnapshotError> {
        let SnapshotContents { commits, tags, values, .. } = &mut self.contents;
        self.items += 1;
        if self.items > limits.items {
            return Err(SnapshotError::TooLarge("the manifest"));
        }
        self.taken = self.taken.saturating_add(bytes.len()).saturating_add(ITEM_COST);
        let frame = decode_exact::<ManifestFrame>(bytes)?;
        if let ManifestFrame::Commit(commit) = &frame {
            self.taken = self.taken.saturating_add(commit.blobs().count() * BLOB_COST);
        }
        if self.taken > limits.manifest {
            return Err(SnapshotError::TooLarge("the manifest"));
        }
        let in_order = match frame {
            ManifestFrame::Session { image, head } => {
                (self.contents.image, self.contents.head) = (image, head);
                return if std::mem::replace(&mut self.begun, true) {
                    Err(SnapshotError::Damaged("two sessions"))
                } else {
                    Ok(())
                };
            }
            ManifestFrame::Commit(commit) => {
                let commit = Commit::decode(&commit.encode()?)?;
                let ok = tags.is_empty()
                    && values.is_empty()
                    && commits.last().is_none_or(|last| last.number < commit.number);
                commits.push(commit);
                ok
            }
            ManifestFrame::Tag(name, number) => {
                let ok = values.is_empty() && tags.last().is_none_or(|(last, _)| *last < name);
                tags.push((name, number));
                ok
            }
            ManifestFrame::Value(key, value) => {
                value.check_len()?;
                let ok = values.last().is_none_or(|(last, _)| *last < key);
                values.push((key, value));
                ok
            }
        };
        if in_order && self.begun {
            Ok(())
        } else {
            Err(SnapshotError::Damaged("the manifest's order"))
        }
    }

    fn take_object(
        &mut self,
        packed: StoredObject,
        limits: &SnapshotLimits,
        objects: &dyn Objects,
    ) -> Result<(), SnapshotError> {
        self.bytes += u64::from(packed.len);
        if self.bytes > limits.bytes {
            return Err(SnapshotError::TooLarge("the snapshot"));
        }
        let digest = Digest::hash_bytes(&unpack_object(packed.clone())?);
        if self.sizes.insert(digest, packed.len).is_some() {
            return Err(SnapshotError::Damaged("an object that is there twice"));
        }
        if objects.has_object(&digest)? { Ok(()) } else { objects.put_object(&digest, packed) }
    }

    /// Checks that all references can be followed.
    fn check_references(self, objects: &dyn Objects) -> Result<SnapshotContents, SnapshotError> {
        let SnapshotContents { commits, head, tags, values, .. } = &self.contents;
        let numbers: BTreeSet<u64> = commits.iter().map(|c| c.number).collect();
        if !commits.iter().all(|c| c.parent.is_none_or(|n| numbers.contains(&n)))
            || !numbers.contains(head)
            || !tags.iter().all(|(_, n)| numbers.contains(n))
        {
            return Err(SnapshotError::Damaged("a commit that is not there"));
        }
        let (mut used, mut followed) = (HashSet::new(), HashSet::new());
        for commit in commits {
            commit.blobs().try_for_each(|blob| self.check_blob(blob, &mut used))?;
            self.check_pages(objects, commit, &mut used, &mut followed)?;
        }
        values.iter().try_for_each(|(_, blob)| self.check_blob(blob, &mut used))?;
        if used.len() != self.sizes.len() {
            return Err(SnapshotError::Damaged("objects that nothing refers to"));
        }
        let mut trees = HashSet::new();
        for files in commits.iter().map(|c| &c.state.files).filter(|f| trees.insert(**f)) {
            files::check::check_records(objects, files)?;
        }
        Ok(self.contents)
    }

    fn object_size(
        &self,
        digest: &Digest,
        used: &mut HashSet<Digest>,
    ) -> Result<u32, SnapshotError> {
        used.insert(*digest);
        self.sizes.get(digest).copied().ok_or(SnapshotError::Missing(*digest))
    }

    fn check_blob(&self, blob: &Blob, used: &mut HashSet<Digest>) -> Result<(), SnapshotError> {
        let mut sum = 0;
        for digest in blob.objects() {
            sum += u64::from(self.object_size(digest, used)?);
        }
        let fits = blob.objects().is_empty() || sum == blob.len();
        if fits { Ok(()) } else { Err(SnapshotError::Malformed("a value's length")) }
    }

    fn check_pages(
        &self,
        objects: &dyn Objects,
        commit: &Commit,
        used: &mut HashSet<Digest>,
        followed: &mut HashSet<Digest>,
    ) -> Result<(), SnapshotError> {
        let mut todo: Vec<(Digest, Option<(u8, RecordKey)>)> = Vec::new();
        todo.extend(commit.state.files.root.map(|root| (root, None)));
        while let Some((digest, above)) = todo.pop() {
            self.object_size(&digest, used)?;
            if !followed.insert(digest) {
                continue;
            }
            let page = Page::load(objects, &digest)?;
            if above.is_some_and(|(level, key)| {
                (level, Some(&key)) != (page.level() + 1, page.first_key())
            }) {
                return Err(SnapshotError::Malformed("pages that do not fit each other"));
            }
            let level = page.level();
            match page {
                Page::Branch(_, below) => {
                    todo.extend(below.into_iter().map(|(key, d)| (d, Some((level, key)))));
                }
                Page::Leaf(records) => {
                    for (_, value) in records {
                        let RecordValue::Pieces(pieces) = value else { continue };
                        for piece in pieces {
                            let size = self.object_size(&piece.object, used)?;
                            if piece.from.checked_add(piece.len).is_none_or(|end| end > size) {
                                return Err(SnapshotError::Malformed("a piece of an object"));
                            }
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
