//! Limits on additions to the host's files.

use super::mount::{Handle, HostMount};
use super::system;
use crate::errno::Errno;
use crate::quota::QuotaHit;
use crate::sync::lock_mutex;
use rustix::fs;
use std::sync::MutexGuard;
use std::sync::atomic::Ordering;

/// A mount's account.
#[derive(Debug)]
pub(crate) struct MountAccount {
    pub bytes: u64,
    pub quota: u64,
}

impl MountAccount {
    fn take(&mut self, n: u64) -> Result<(), Errno> {
        self.bytes = self.bytes.checked_sub(n).ok_or(Errno::NOSPC)?;
        Ok(())
    }

    fn give(&mut self, n: u64) {
        self.bytes = self.bytes.saturating_add(n).min(self.quota);
    }
}

/// Bytes that a new name is charged.
const ENTRY: u64 = 256;

impl HostMount {
    /// Takes `n` bytes from the account.
    fn take(&self, left: &mut MountAccount, n: u64) -> Result<(), Errno> {
        left.take(n).inspect_err(|_| self.was_full.store(true, Ordering::Relaxed))
    }

    fn too_long(&self) -> Errno {
        self.was_long.store(true, Ordering::Relaxed);
        Errno::FBIG
    }

    /// Returns the limit that refused an operation since the last call.
    pub(crate) fn hit(&self) -> Option<QuotaHit> {
        let full = self.was_full.swap(false, Ordering::Relaxed).then_some(QuotaHit::Mount);
        full.or(self.was_long.swap(false, Ordering::Relaxed).then_some(QuotaHit::File))
    }

    fn left(&self) -> Option<MutexGuard<'_, MountAccount>> {
        self.left.as_ref().map(|left| lock_mutex(left))
    }

    /// Creates a new name, which is charged; ENOSPC past the mount's quota.
    pub(crate) fn entry<T>(
        &self,
        more: usize,
        make: impl FnOnce() -> rustix::io::Result<T>,
    ) -> Result<T, Errno> {
        let cost = ENTRY + more as u64;
        self.left().map_or(Ok(()), |mut left| self.take(&mut left, cost))?;
        let made = make();
        if made.is_err()
            && let Some(mut left) = self.left()
        {
            left.give(cost);
        }
        Ok(made?)
    }

    /// Writes at `off`, or at the end if `append`; returns the bytes written and the offset after
    /// them. Appending does not depend on how the file was opened, because the flag may have
    /// changed since.
    pub fn write(
        &self,
        fd: &Handle,
        off: u64,
        append: bool,
        data: &[u8],
    ) -> Result<(usize, u64), Errno> {
        let mut left = self.left();
        let size = || -> Result<u64, Errno> { Ok(fs::fstat(fd)?.st_size as u64) };
        let counts = left.is_some() || self.longest != u64::MAX;
        let (at, before) = match (append, counts) {
            (true, _) => size().map(|n| (n, n))?,
            (false, true) => (off, size()?),
            (false, false) => (off, 0),
        };
        let end = at.checked_add(data.len() as u64).ok_or(Errno::FBIG)?;
        if at >= self.longest && !data.is_empty() {
            return Err(self.too_long());
        }
        let room = usize::try_from(self.longest.saturating_sub(at)).unwrap_or(usize::MAX);
        let data = &data[..data.len().min(room)];
        let end = end.min(at + data.len() as u64);
        let growth = end.saturating_sub(before);
        if let Some(left) = &mut left {
            self.take(left, growth)?;
        }
        let written =
            if append { system::append(fd, data, at) } else { rustix::io::pwrite(fd, data, off) };
        if let Some(left) = &mut left {
            let done = written.map_or(0, |n| n as u64);
            left.give(growth - growth.min((at + done).saturating_sub(before)));
        }
        let n = written?;
        Ok((n, if append { size()? } else { at + n as u64 }))
    }

    /// Sets the length of an open file.
    pub fn set_len(&self, fd: &Handle, len: u64) -> Result<(), Errno> {
        if len > self.longest {
            return Err(self.too_long());
        }
        let Some(mut left) = self.left() else { return Ok(fs::ftruncate(fd, len)?) };
        let before = fs::fstat(fd)?.st_size as u64;
        self.take(&mut left, len.saturating_sub(before))?;
        match fs::ftruncate(fd, len) {
            Ok(()) => left.give(before.saturating_sub(len)),
            Err(e) => {
                left.give(len.saturating_sub(before));
                return Err(e.into());
            }
        }
        Ok(())
    }
}
