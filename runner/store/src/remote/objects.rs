//! The objects of a bucket, which are read into the cache when they are needed.

use super::{AT_ONCE, Remote, in_parallel, lock, pack};
use crate::{Store, StoreError};
use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use wasibox_snapshot::{Digest, StoredObject};

impl Remote {
    /// Reads all objects of all sessions into the cache, apart from those that are damaged.
    pub(crate) fn read_all(&self, store: &Store) -> Result<(), StoreError> {
        self.refresh_all(store)?;
        for name in self.names()? {
            match store.export(&name, true, std::io::sink()) {
                Ok(()) | Err(StoreError::Snapshot(_) | StoreError::Damaged(_)) => {}
                Err(StoreError::NoSession(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    /// Returns an object that the cache lacks, if a known session's packs or heads have it. The
    /// cache then has it, too.
    pub(crate) fn fetch(
        &self,
        store: &Store,
        digest: &Digest,
    ) -> Result<Option<StoredObject>, StoreError> {
        let known: Vec<_> = lock(&self.known).values().cloned().collect();
        let mut unread = HashSet::new();
        for present in known.iter().filter_map(|known| known.present()) {
            let head = &present.head;
            if let Some(object) = head.objects.iter().find(|object| object.digest == *digest) {
                return Ok(Some(object.to_stored()));
            }
            let lists = lock(&self.lists);
            unread.extend(head.packs.iter().copied().filter(|pack| !lists.has_list(pack)));
        }
        if lock(&self.lists).find_pack(digest).is_none() {
            let unread: Vec<_> = unread.into_iter().collect();
            let failure = Mutex::new(None);
            in_parallel(&unread, AT_ONCE, |pack| {
                let read = pack::read_list(&*self.bucket, pack);
                let read = read.and_then(|list| lock(&self.lists).add(*pack, &list));
                // A pack that is damaged, perhaps another session's, must not hide the others.
                if let Err(e) = read {
                    lock(&failure).get_or_insert(e);
                }
                Ok(())
            })?;
            if let Some(e) = failure.into_inner().unwrap_or_else(PoisonError::into_inner)
                && lock(&self.lists).find_pack(digest).is_none()
            {
                return Err(e);
            }
        }
        let Some(place) = lock(&self.lists).find(digest) else { return Ok(None) };
        let objects = pack::read_objects(&*self.bucket, &place)?;
        let found = objects.first().map(|(_, object)| object.clone());
        store.transaction(|db| db.put_checked(objects))?;
        Ok(found)
    }
}
