//! Writing a snapshot.

use super::{Contents, END, End, ITEM, Item, MAGIC, OBJECT, VERSION};
use crate::digest::Digest;
use crate::error::Error;
use crate::object::{MAX_OBJECT, Objects, Packed};
use crate::reach::Reach;
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
    let mut reach = Reach::default();
    let mut visit = |_: &Digest, packed: &Packed| out.frame(OBJECT, packed);
    for commit in &contents.commits {
        reach.commit(objects, commit, &mut visit)?;
    }
    for (_, value) in &contents.values {
        reach.blob(objects, value, &mut visit)?;
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

    fn end(mut self) -> Result<(), Error> {
        let digest = Digest(*self.hasher.finalize().as_bytes());
        let end = End { frames: self.frames, digest };
        let bytes = postcard::to_stdvec(&end).map_err(|_| Error::TooLarge("a manifest"))?;
        let len = bytes.len() as u32;
        self.frame(END, &Packed { len, compressed: false, bytes })?;
        Ok(self.to.flush()?)
    }
}
