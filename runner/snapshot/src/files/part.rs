//! The contents of files: cut into objects at places that depend on the content, and put together
//! again.
//!
//! A session reports parts of 64 KiB. Consecutive parts of a file make a run, which is cut by its
//! content (FastCDC). Therefore a file that was rewritten with an addition at its front, or that is
//! similar to another one, shares most of its objects with files that are already kept. The content
//! of a part is a list of pieces, so rewriting a part replaces only that part.

use crate::blob::IN_PLACE;
use crate::delta::{CHUNK, Id};
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::{Objects, load_object};
use crate::tree::edit::Edits;
use crate::tree::{ObjectPiece, RecordKey, RecordValue};
use fastcdc::v2020::FastCDC;
use serde_bytes::ByteBuf;

/// Sizes of objects in bytes: minimum, average, maximum.
const SIZES: [usize; 3] = [16 << 10, 64 << 10, 256 << 10];

/// Number of bytes of a run that are examined at once.
const WINDOW: usize = 1 << 20;

/// A run of consecutive parts.
#[derive(Default)]
pub struct PartRun {
    id: Option<Id>,
    /// Numbers and lengths of parts that are not written yet.
    parts: Vec<(u64, usize)>,
    /// The bytes of these parts that are in no piece yet.
    bytes: Vec<u8>,
    /// The pieces of these parts.
    pieces: Vec<ObjectPiece>,
}

impl PartRun {
    /// Adds a part. Its record is in `edits` once the run has ended.
    pub fn add(
        &mut self,
        objects: &dyn Objects,
        edits: &mut Edits,
        id: &Id,
        index: u64,
        bytes: &[u8],
    ) -> Result<(), SnapshotError> {
        if bytes.len() as u64 > CHUNK {
            return Err(SnapshotError::TooLarge("a part of a file"));
        }
        let follows = self.parts.last().is_some_and(|(last, len)| {
            self.id.as_ref() == Some(id)
                && Some(index) == last.checked_add(1)
                && *len as u64 == CHUNK
        });
        if !follows {
            self.end(objects, edits)?;
            self.id = Some(id.clone());
        }
        self.parts.push((index, bytes.len()));
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= WINDOW { self.cut_objects(objects, edits, false) } else { Ok(()) }
    }

    /// Ends the run, and writes the rest of it.
    pub fn end(&mut self, objects: &dyn Objects, edits: &mut Edits) -> Result<(), SnapshotError> {
        match (&self.id, self.parts.as_slice()) {
            (Some(id), [(index, len)]) if *len <= IN_PLACE && self.pieces.is_empty() => {
                let value = RecordValue::Bytes(ByteBuf::from(std::mem::take(&mut self.bytes)));
                edits.insert(RecordKey::for_data(id.clone(), *index), Some(value));
                self.parts.clear();
            }
            _ => self.cut_objects(objects, edits, true)?,
        }
        self.id = None;
        Ok(())
    }

    /// Makes objects from the bytes: from all of them, or only where the end of an object is known.
    fn cut_objects(
        &mut self,
        objects: &dyn Objects,
        edits: &mut Edits,
        all: bool,
    ) -> Result<(), SnapshotError> {
        let [least, average, most] = SIZES;
        let mut done = 0;
        for chunk in FastCDC::new(&self.bytes, least, average, most) {
            let end = chunk.offset + chunk.length;
            if end == self.bytes.len() && !all {
                break;
            }
            let object = objects.save_object(&self.bytes[chunk.offset..end])?;
            self.pieces.push(ObjectPiece { object, from: 0, len: chunk.length as u32 });
            done = end;
        }
        self.bytes.drain(..done);
        self.lay_pieces(edits);
        Ok(())
    }

    /// Assigns pieces to their parts.
    fn lay_pieces(&mut self, edits: &mut Edits) {
        let Some(id) = &self.id else { return };
        let mut had: usize = self.pieces.iter().map(|p| p.len as usize).sum();
        let mut pieces = std::mem::take(&mut self.pieces).into_iter();
        let mut open = None;
        let mut written = 0;
        for (index, len) in &self.parts {
            if *len > had {
                break;
            }
            had -= len;
            let (mut left, mut own) = (*len as u32, Vec::new());
            while left > 0 {
                let Some(piece) = open.take().or_else(|| pieces.next()) else { break };
                let ObjectPiece { object, from, len } = piece;
                let n = len.min(left);
                own.push(ObjectPiece { len: n, ..piece });
                left -= n;
                open = (n < len).then(|| ObjectPiece { object, from: from + n, len: len - n });
            }
            edits.insert(RecordKey::for_data(id.clone(), *index), Some(RecordValue::Pieces(own)));
            written += 1;
        }
        self.parts.drain(..written);
        self.pieces = open.into_iter().chain(pieces).collect();
    }
}

/// A loader that puts parts together. It keeps the last object, because consecutive pieces often
/// belong to the same one.
pub struct Loader<'a> {
    objects: &'a dyn Objects,
    last: Option<(Digest, Vec<u8>)>,
    /// Whether missing or damaged objects are read as zeros.
    forgiving: bool,
    /// Whether an object was read as zeros since the caller last reset this field.
    pub forgave: bool,
}

impl<'a> Loader<'a> {
    /// Makes a loader for which a missing or damaged object is an error.
    pub fn new(objects: &'a dyn Objects) -> Loader<'a> {
        Loader { objects, last: None, forgiving: false, forgave: false }
    }

    /// Makes a loader that returns zeros for missing or damaged objects.
    pub fn new_forgiving(objects: &'a dyn Objects) -> Loader<'a> {
        Loader { forgiving: true, ..Loader::new(objects) }
    }

    /// Returns the bytes of a part.
    pub fn load_part(&mut self, value: RecordValue) -> Result<Vec<u8>, SnapshotError> {
        let pieces = match value {
            RecordValue::Bytes(bytes) => return Ok(bytes.into_vec()),
            RecordValue::Pieces(pieces) => pieces,
            _ => return Err(SnapshotError::Malformed("a part of a file")),
        };
        let mut out = Vec::with_capacity(pieces.iter().map(|p| p.len as usize).sum());
        for ObjectPiece { object, from, len } in pieces {
            let known = self.last.take().filter(|(digest, _)| *digest == object);
            let (_, bytes) = match known {
                Some(known) => self.last.insert(known),
                None => match load_object(self.objects, &object) {
                    Ok(bytes) => self.last.insert((object, bytes)),
                    Err(SnapshotError::Corrupt(_) | SnapshotError::Missing(_))
                        if self.forgiving =>
                    {
                        self.forgave = true;
                        out.resize(out.len() + len as usize, 0);
                        continue;
                    }
                    Err(e) => return Err(e),
                },
            };
            let piece = bytes.get(from as usize..).and_then(|b| b.get(..len as usize));
            out.extend_from_slice(piece.ok_or(SnapshotError::Malformed("a piece of an object"))?);
        }
        Ok(out)
    }
}
