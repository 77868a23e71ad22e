//! Writing a snapshot.

use super::{Contents, END, End, ITEM, Item, MAGIC, OBJECT, VERSION};
use crate::digest::Digest;
use crate::error::Error;
use crate::object::{MAX_OBJECT, Objects, Packed, load};
use crate::tree::Value;
use crate::tree::page::Page;
use std::collections::HashSet;
use std::io::Write;

/// Writes a snapshot.
///
/// # Errors
/// If objects are missing or damaged, or `to` cannot be written.
pub fn write(objects: &dyn Objects, contents: &Contents, to: impl Write) -> Result<(), Error> {
    let mut out = Out { to, hasher: blake3::Hasher::new(), frames: 0 };
    out.bytes(&MAGIC)?;
    out.bytes(&VERSION.to_le_bytes())?;
    out.item(&Item::Session { image: contents.image, head: contents.head })?;
    for commit in &contents.commits {
        out.item(&Item::Commit(Box::new(commit.clone())))?;
    }
    for (name, number) in &contents.tags {
        out.item(&Item::Tag(name.clone(), *number))?;
    }
    for (key, value) in &contents.values {
        out.item(&Item::Value(key.clone(), value.clone()))?;
    }
    // A file's bytes can be those of a page, so that pages are followed is remembered by itself.
    let (mut seen, mut followed) = (HashSet::new(), HashSet::new());
    for commit in &contents.commits {
        for digest in commit.blobs().flat_map(|blob| blob.objects()) {
            out.object(objects, digest, &mut seen)?;
        }
        if let Some(root) = commit.state.files.root {
            out.pages(objects, root, &mut seen, &mut followed)?;
        }
    }
    for digest in contents.values.iter().flat_map(|(_, blob)| blob.objects()) {
        out.object(objects, digest, &mut seen)?;
    }
    out.end()
}

struct Out<W> {
    to: W,
    hasher: blake3::Hasher,
    frames: u64,
}

impl<W: Write> Out<W> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.hasher.update(bytes);
        Ok(self.to.write_all(bytes)?)
    }

    fn frame(&mut self, kind: u8, frame: &Packed) -> Result<(), Error> {
        let stored = u32::try_from(frame.bytes.len()).map_err(|_| Error::TooLarge("an object"))?;
        self.bytes(&[kind, u8::from(frame.compressed)])?;
        self.bytes(&frame.len.to_le_bytes())?;
        self.bytes(&stored.to_le_bytes())?;
        self.bytes(&frame.bytes)?;
        self.frames += 1;
        Ok(())
    }

    fn item(&mut self, item: &Item) -> Result<(), Error> {
        let bytes = postcard::to_stdvec(item).map_err(|_| Error::TooLarge("a manifest"))?;
        if bytes.len() > MAX_OBJECT {
            return Err(Error::TooLarge("a part of the manifest"));
        }
        self.frame(ITEM, &Packed::new(&bytes)?)
    }

    /// Writes an object, unless it was written before.
    fn object(
        &mut self,
        objects: &dyn Objects,
        digest: &Digest,
        seen: &mut HashSet<Digest>,
    ) -> Result<(), Error> {
        if seen.insert(*digest) { self.kept(objects, digest).map(drop) } else { Ok(()) }
    }

    /// Writes an object as it is kept, having looked whether it is whole. Gives its bytes.
    fn kept(&mut self, objects: &dyn Objects, digest: &Digest) -> Result<Vec<u8>, Error> {
        let packed = objects.get(digest)?.ok_or(Error::Missing(*digest))?;
        let bytes = packed.clone().unpacked().filter(|bytes| Digest::of(bytes) == *digest);
        let bytes = bytes.ok_or(Error::Corrupt(*digest))?;
        self.frame(OBJECT, &packed)?;
        Ok(bytes)
    }

    /// Writes a page, and what is below it.
    fn pages(
        &mut self,
        objects: &dyn Objects,
        root: Digest,
        seen: &mut HashSet<Digest>,
        followed: &mut HashSet<Digest>,
    ) -> Result<(), Error> {
        let mut todo = vec![root];
        while let Some(digest) = todo.pop() {
            if !followed.insert(digest) {
                continue;
            }
            let bytes = match seen.insert(digest) {
                true => self.kept(objects, &digest)?,
                false => load(objects, &digest)?,
            };
            match Page::decode(&bytes)? {
                Page::Branch(_, below) => {
                    todo.extend(below.iter().rev().map(|(_, digest)| *digest))
                }
                Page::Leaf(records) => {
                    for (_, value) in records {
                        let Value::Pieces(pieces) = value else { continue };
                        for piece in pieces {
                            self.object(objects, &piece.object, seen)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn end(mut self) -> Result<(), Error> {
        let digest = Digest(*self.hasher.finalize().as_bytes());
        let end = End { frames: self.frames, digest };
        let bytes = postcard::to_stdvec(&end).map_err(|_| Error::TooLarge("a manifest"))?;
        let len = bytes.len() as u32;
        self.frame(END, &Packed { len, compressed: false, bytes })?;
        Ok(self.to.flush()?)
    }
}
