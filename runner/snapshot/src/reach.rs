//! Visits all objects that commits need.

use crate::blob::Blob;
use crate::commit::Commit;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::{Objects, StoredObject, load_object};
use crate::tree::RecordValue;
use crate::tree::page::Page;
use std::collections::HashSet;

/// The objects that were visited: each is visited once, in the order in which commits lead to them.
#[derive(Debug, Default)]
pub(crate) struct ObjectReach {
    seen: HashSet<Digest>,
    /// Pages that were followed. A separate set, because a file's bytes may equal those of a page.
    followed: HashSet<Digest>,
}

/// The callback for visited objects.
pub(crate) type Visit<'a> = dyn FnMut(&Digest, &StoredObject) -> Result<(), SnapshotError> + 'a;

impl ObjectReach {
    /// Marks an object as visited.
    pub fn note(&mut self, digest: Digest) {
        self.seen.insert(digest);
    }

    /// Visits the objects that a commit needs.
    pub fn follow_commit(
        &mut self,
        objects: &dyn Objects,
        commit: &Commit,
        visit: &mut Visit<'_>,
    ) -> Result<(), SnapshotError> {
        commit.blobs().try_for_each(|blob| self.follow_blob(objects, blob, visit))?;
        commit.state.files.root.map_or(Ok(()), |root| self.follow_pages(objects, root, visit))
    }

    /// Visits the objects that a value needs.
    pub fn follow_blob(
        &mut self,
        objects: &dyn Objects,
        blob: &Blob,
        visit: &mut Visit<'_>,
    ) -> Result<(), SnapshotError> {
        blob.objects().iter().try_for_each(|digest| self.follow_object(objects, digest, visit))
    }

    fn follow_object(
        &mut self,
        objects: &dyn Objects,
        digest: &Digest,
        visit: &mut Visit<'_>,
    ) -> Result<(), SnapshotError> {
        if self.seen.insert(*digest) {
            visit_object(objects, digest, visit).map(drop)
        } else {
            Ok(())
        }
    }

    /// Visits a page and everything below it.
    fn follow_pages(
        &mut self,
        objects: &dyn Objects,
        root: Digest,
        visit: &mut Visit<'_>,
    ) -> Result<(), SnapshotError> {
        let mut todo = vec![root];
        while let Some(digest) = todo.pop() {
            if !self.followed.insert(digest) {
                continue;
            }
            let bytes = if self.seen.insert(digest) {
                visit_object(objects, &digest, visit)?
            } else {
                load_object(objects, &digest)?
            };
            match Page::decode(&bytes)? {
                Page::Branch(_, below) => {
                    todo.extend(below.iter().rev().map(|(_, digest)| *digest));
                }
                Page::Leaf(records) => {
                    for (_, value) in records {
                        let RecordValue::Pieces(pieces) = value else { continue };
                        for piece in pieces {
                            self.follow_object(objects, &piece.object, visit)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// Checks that an object is intact, passes it to the callback in stored form, and returns its
/// bytes.
fn visit_object(
    objects: &dyn Objects,
    digest: &Digest,
    visit: &mut Visit<'_>,
) -> Result<Vec<u8>, SnapshotError> {
    let packed = objects.get(digest)?.ok_or(SnapshotError::Missing(*digest))?;
    let bytes = packed.clone().unpack_object().filter(|bytes| Digest::hash_bytes(bytes) == *digest);
    let bytes = bytes.ok_or(SnapshotError::Corrupt(*digest))?;
    visit(digest, &packed)?;
    Ok(bytes)
}
