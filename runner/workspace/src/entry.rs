//! The bytes of a zip's entry: unpacked when the file is opened, and kept within bounds.
//!
//! Unpacked bytes are reserved from the session's budget. If there is no room, or too much is kept
//! already, the entries that were unpacked first are dropped; they are unpacked again when they are
//! read. Entries that are open for writing stay, so that a write does not have to wait.

use crate::archive::{Archive, unpack_entry};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use wasibox_vfs::budget::Reservation;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{Budget, Errno, LazyBytes};

/// The maximum number of unpacked bytes that are kept for entries that are not open for writing.
const KEPT: u64 = 128 << 20;

/// The unpacked entries, the oldest first.
#[derive(Default)]
pub(crate) struct Cache(Mutex<EntryCache>);

#[derive(Default)]
struct EntryCache {
    entries: VecDeque<(Weak<ZipMember>, u64)>,
    bytes: u64,
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, EntryCache> {
        lock_mutex(&self.0)
    }

    /// Drops the bytes of the oldest entry other than `not`. Returns false if there is none.
    fn drop_one(&self, not: &ZipMember) -> bool {
        loop {
            let Some((entry, size)) = ({
                let mut loaded = self.lock();
                let oldest = loaded.entries.pop_front();
                if let Some((_, size)) = &oldest {
                    loaded.bytes -= size;
                }
                oldest
            }) else {
                return false;
            };
            let Some(entry) = entry.upgrade() else { continue };
            if std::ptr::eq(&*entry, not) {
                // The entry goes to the end of the list. If it is the only one, nothing can be
                // dropped.
                let mut loaded = self.lock();
                let only = loaded.entries.is_empty();
                loaded.entries.push_back((Arc::downgrade(&entry), size));
                loaded.bytes += size;
                if only {
                    return false;
                }
                continue;
            }
            // If the lock is taken, another thread is unpacking or reading the entry now.
            if let Ok(mut state) = entry.state.try_lock()
                && !state.stays
            {
                state.bytes = None;
                return true;
            }
        }
    }
}

/// The state of an entry's bytes.
#[derive(Default)]
struct EntryState {
    bytes: Option<Arc<(Vec<u8>, Reservation)>>,
    stays: bool,
}

/// A file of the zip.
pub(crate) struct ZipMember {
    pub archive: Arc<Archive>,
    pub index: usize,
    size: u64,
    /// The mode when the session began.
    pub mode: u16,
    pub time: u64,
    state: Mutex<EntryState>,
    budget: OnceLock<Arc<Budget>>,
    this: Weak<ZipMember>,
}

impl ZipMember {
    /// Makes the file with that number in the archive, with its size in bytes, its permission bits
    /// and its modification time.
    pub fn new(
        archive: Arc<Archive>,
        index: usize,
        size: u64,
        mode: u16,
        time: u64,
    ) -> Arc<ZipMember> {
        Arc::new_cyclic(|this| ZipMember {
            archive,
            index,
            size,
            mode,
            time,
            state: Mutex::default(),
            budget: OnceLock::new(),
            this: this.clone(),
        })
    }

    /// Returns the bytes, and unpacks them if necessary.
    fn unpack_bytes(&self, stays: bool) -> Result<Arc<(Vec<u8>, Reservation)>, Errno> {
        let mut state = lock_mutex(&self.state);
        state.stays |= stays;
        if let Some(bytes) = &state.bytes {
            return Ok(bytes.clone());
        }
        let budget = self.budget.get().ok_or(Errno::IO)?;
        let cache = &self.archive.cache;
        while cache.lock().bytes.saturating_add(self.size) > KEPT && cache.drop_one(self) {}
        let held = loop {
            match budget.reserve_bytes(self.size + 256) {
                Some(held) => break held,
                None if cache.drop_one(self) => {}
                None => return Err(Errno::NOMEM),
            }
        };
        // A clone shares the directory, so only the entry's own bytes are read from the zip.
        let mut zip = self.archive.zip.clone();
        let entry = zip.by_index(self.index).map_err(|_| Errno::IO)?;
        let bytes = unpack_entry(entry, self.size).map_err(|_| Errno::IO)?;
        let bytes = Arc::new((bytes, held));
        state.bytes = Some(bytes.clone());
        drop(state);
        let mut loaded = cache.lock();
        loaded.entries.push_back((self.this.clone(), self.size));
        loaded.bytes += self.size;
        Ok(bytes)
    }
}

impl LazyBytes for ZipMember {
    fn len(&self) -> u64 {
        self.size
    }

    fn make_ready(&self, budget: &Arc<Budget>, whole: bool) -> Result<(), Errno> {
        let _ = self.budget.set(budget.clone());
        self.unpack_bytes(whole).map(drop)
    }

    fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        let bytes = self.unpack_bytes(false)?;
        let rest = usize::try_from(off).ok().and_then(|off| bytes.0.get(off..)).unwrap_or(&[]);
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}
