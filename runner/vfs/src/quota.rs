//! Limits on what a session may store, counted before it is stored.

use crate::errno::Errno;

/// How much a session's own layer may hold. The image's files count only where
/// they were written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DiskLimits {
    /// Bytes of file content, link targets and names.
    pub bytes: u64,
    /// Directory entries.
    pub entries: u64,
    /// Files of host mounts that are open at once; a quarter of what the host process may have
    /// open is the most.
    pub host_descriptors: usize,
}

impl Default for DiskLimits {
    /// 512 MiB in 200,000 entries, 4096 open files of mounts.
    fn default() -> DiskLimits {
        DiskLimits { bytes: 512 << 20, entries: 200_000, host_descriptors: 4096 }
    }
}

/// The running account.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quota {
    /// What may be used.
    pub limits: DiskLimits,
    /// Bytes in use.
    pub bytes: u64,
    /// Entries in use.
    pub entries: u64,
}

/// What a directory entry and its node cost beyond the name.
const ENTRY_BYTES: u64 = 256;

impl Quota {
    /// Takes `n` bytes, or ENOSPC.
    pub fn take(&mut self, n: u64) -> Result<(), Errno> {
        let total = self.bytes.checked_add(n).ok_or(Errno::NOSPC)?;
        if total > self.limits.bytes {
            return Err(Errno::NOSPC);
        }
        self.bytes = total;
        Ok(())
    }

    /// Gives `n` bytes back.
    pub fn give(&mut self, n: u64) {
        self.bytes = self.bytes.saturating_sub(n);
    }

    /// Takes an entry of that name, or ENOSPC.
    pub fn take_entry(&mut self, name: &[u8]) -> Result<(), Errno> {
        if self.entries >= self.limits.entries {
            return Err(Errno::NOSPC);
        }
        self.take(name.len() as u64 + ENTRY_BYTES)?;
        self.entries += 1;
        Ok(())
    }

    /// Gives an entry of that name back.
    pub fn give_entry(&mut self, name: &[u8]) {
        self.give(name.len() as u64 + ENTRY_BYTES);
        self.entries = self.entries.saturating_sub(1);
    }
}
