//! Limits on a session's stored data, counted before it is stored.

use crate::errno::Errno;

/// Limits on the files that a session itself has written. The image's files count only where they
/// were overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct DiskLimits {
    /// Bytes of file content, link targets and names.
    pub bytes: u64,
    /// Directory entries.
    pub entries: u64,
    /// Files of host mounts that are open at once; at most a quarter of the files that the host
    /// process may have open.
    pub host_descriptors: usize,
    /// Bytes of one file, also on mounts; `u64::MAX` is no limit.
    pub file: u64,
    /// Pipes at once, of 64 KiB each; half of them may be the shell's, for process substitution and
    /// similar uses.
    pub pipes: usize,
}

impl Default for DiskLimits {
    /// Returns 512 MiB in 200,000 entries, 4096 open files of mounts, files of any length, 1024
    /// pipes.
    fn default() -> DiskLimits {
        DiskLimits {
            bytes: 512 << 20,
            entries: 200_000,
            host_descriptors: 4096,
            file: u64::MAX,
            pipes: crate::pipe::MAX_PIPES,
        }
    }
}

/// The file limit that refused an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuotaHit {
    /// Bytes of the session's files.
    Disk,
    /// Entries of the session's files.
    Entries,
    /// Bytes of one file.
    File,
    /// Bytes added to a mount.
    Mount,
    Pipes,
}

/// The account of the space in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quota {
    /// The limits.
    pub limits: DiskLimits,
    /// Bytes in use.
    pub bytes: u64,
    /// Entries in use.
    pub entries: u64,
    /// The first limit that refused an operation.
    pub hit: Option<QuotaHit>,
}

/// Bytes of a directory entry and its node beyond the name.
const ENTRY_BYTES: u64 = 256;

impl Quota {
    /// Takes `n` bytes; ENOSPC if the limit does not allow it.
    pub fn take_bytes(&mut self, n: u64) -> Result<(), Errno> {
        let total = self.bytes.checked_add(n).filter(|total| *total <= self.limits.bytes);
        self.bytes = total.ok_or_else(|| self.note_refusal(QuotaHit::Disk, Errno::NOSPC))?;
        Ok(())
    }

    /// Records the limit of a refusal.
    pub fn note_refusal(&mut self, hit: QuotaHit, errno: Errno) -> Errno {
        self.hit.get_or_insert(hit);
        errno
    }

    /// Gives `n` bytes back.
    pub fn give_bytes(&mut self, n: u64) {
        self.bytes = self.bytes.saturating_sub(n);
    }

    /// Takes an entry of that name; ENOSPC if a limit does not allow it.
    pub fn take_entry(&mut self, name: &[u8]) -> Result<(), Errno> {
        if self.entries >= self.limits.entries {
            return Err(self.note_refusal(QuotaHit::Entries, Errno::NOSPC));
        }
        self.take_bytes(name.len() as u64 + ENTRY_BYTES)?;
        self.entries += 1;
        Ok(())
    }

    /// Gives an entry of that name back.
    pub fn give_entry(&mut self, name: &[u8]) {
        self.give_bytes(name.len() as u64 + ENTRY_BYTES);
        self.entries = self.entries.saturating_sub(1);
    }
}
