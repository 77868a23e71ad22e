//! Writes a snapshot.

use super::{END, ITEM, MAGIC, ManifestEnd, ManifestFrame, OBJECT, SnapshotContents, VERSION};
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::{MAX_OBJECT, Objects, StoredObject};
use crate::reach::ObjectReach;
use std::io::Write;

/// Writes a snapshot.
///
/// # Errors
/// If objects are missing or damaged, or `to` cannot be written.
pub fn write(
    objects: &dyn Objects,
    contents: &SnapshotContents,
    to: impl Write,
) -> Result<(), SnapshotError> {
    let mut out = FrameWriter { to, hasher: blake3::Hasher::new(), frames: 0 };
    out.write_bytes(&MAGIC)?;
    out.write_bytes(&VERSION.to_le_bytes())?;
    out.write_item(&ManifestFrame::Session { image: contents.image, head: contents.head })?;
    for commit in &contents.commits {
        out.write_item(&ManifestFrame::Commit(Box::new(commit.clone())))?;
    }
    for (name, number) in &contents.tags {
        out.write_item(&ManifestFrame::Tag(name.clone(), *number))?;
    }
    for (key, value) in &contents.values {
        out.write_item(&ManifestFrame::Value(key.clone(), value.clone()))?;
    }
    let mut reach = ObjectReach::default();
    let mut visit = |_: &Digest, packed: &StoredObject| out.write_frame(OBJECT, packed);
    for commit in &contents.commits {
        reach.follow_commit(objects, commit, &mut visit)?;
    }
    for (_, value) in &contents.values {
        reach.follow_blob(objects, value, &mut visit)?;
    }
    out.write_end()
}

struct FrameWriter<W> {
    to: W,
    hasher: blake3::Hasher,
    frames: u64,
}

impl<W: Write> FrameWriter<W> {
    fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), SnapshotError> {
        self.hasher.update(bytes);
        Ok(self.to.write_all(bytes)?)
    }

    fn write_frame(&mut self, kind: u8, frame: &StoredObject) -> Result<(), SnapshotError> {
        let stored =
            u32::try_from(frame.bytes.len()).map_err(|_| SnapshotError::TooLarge("an object"))?;
        self.write_bytes(&[kind, u8::from(frame.compressed)])?;
        self.write_bytes(&frame.len.to_le_bytes())?;
        self.write_bytes(&stored.to_le_bytes())?;
        self.write_bytes(&frame.bytes)?;
        self.frames += 1;
        Ok(())
    }

    fn write_item(&mut self, item: &ManifestFrame) -> Result<(), SnapshotError> {
        let bytes = postcard::to_stdvec(item).map_err(|_| SnapshotError::TooLarge("a manifest"))?;
        if bytes.len() > MAX_OBJECT {
            return Err(SnapshotError::TooLarge("a part of the manifest"));
        }
        self.write_frame(ITEM, &StoredObject::new(&bytes)?)
    }

    fn write_end(mut self) -> Result<(), SnapshotError> {
        let digest = Digest(*self.hasher.finalize().as_bytes());
        let end = ManifestEnd { frames: self.frames, digest };
        let bytes = postcard::to_stdvec(&end).map_err(|_| SnapshotError::TooLarge("a manifest"))?;
        let len = bytes.len() as u32;
        self.write_frame(END, &StoredObject { len, compressed: false, bytes })?;
        Ok(self.to.flush()?)
    }
}
