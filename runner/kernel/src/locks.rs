//! Locks of files: `flock(2)`, and the record locks of `fcntl(2)`.
//!
//! | lock | belongs to | ends with |
//! |---|---|---|
//! | of a whole file (`flock`) | the open file description | its last descriptor |
//! | of a range of bytes (`fcntl`) | the process | the process, or the last descriptor of the open file description by which it was set |
//!
//! The two kinds do not see each other, as on Linux. A range's lock stays when the process closes
//! *another* descriptor of the same file, which POSIX ends it with; programs work around that.
//!
//! Locks exclude programs of one session. Another session, or the host, does not see them.
//!
//! # Invariants
//! - A lock whose description is closed is never in the way: each request removes such locks first.
//!   Closing reports nothing, so a request that waits looks again every [`PAUSE`].
//! - A file that is locked stays the same file: its number is not given to another one while it is
//!   open, and its locks end when it is closed.

use super::call_fd::open_file;
use super::descriptors::OpenDescription;
use super::guest::{GuestCall, Halt};
use super::host::Host;
use crate::border::Fd;
use crate::lock_mutex;
use box_abi::lock::{LockKind, RecordLock, RecordRequest, WholeLock};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};
use wasibox_vfs::{Errno, Stat, VfsFile};

/// The time after which a request that waits looks again.
const PAUSE: Duration = Duration::from_millis(5);

/// The number of locks of a session, beyond which a request fails with ENOLCK. The memory that they
/// take is not charged.
const MAX_LOCKS: usize = 4096;

/// The identity of a file: device and inode.
type FileIdentity = (u64, u64);

/// A lock that a description or a process holds.
#[derive(Debug)]
struct HeldLock {
    /// The process, for a lock of a range; 0 for a lock of the whole file.
    pid: u32,
    description: Weak<OpenDescription>,
    is_shared: bool,
    /// The first byte, and the one after the last; `u64::MAX` stands for all that follow.
    range: (u64, u64),
}

impl HeldLock {
    fn overlaps(&self, range: (u64, u64)) -> bool {
        self.range.0 < range.1 && range.0 < self.range.1
    }
}

/// The locks of a session.
#[derive(Debug, Default)]
pub struct FileLocks {
    files: Mutex<HashMap<FileIdentity, Vec<HeldLock>>>,
}

/// A lock that a request asks for.
struct LockWish<'a> {
    file: FileIdentity,
    pid: u32,
    description: &'a Arc<OpenDescription>,
    /// `None` releases.
    is_shared: Option<bool>,
    range: (u64, u64),
}

impl LockWish<'_> {
    fn is_of_same_owner(&self, held: &HeldLock) -> bool {
        if self.pid == 0 {
            std::ptr::eq(held.description.as_ptr(), Arc::as_ptr(self.description))
        } else {
            held.pid == self.pid
        }
    }

    fn conflicts_with(&self, held: &HeldLock) -> bool {
        (held.pid == 0) == (self.pid == 0)
            && held.overlaps(self.range)
            && !self.is_of_same_owner(held)
            && !(held.is_shared && self.is_shared == Some(true))
    }
}

impl FileLocks {
    /// Sets, changes or releases a lock; returns whether no other lock was in the way.
    ///
    /// # Errors
    /// ENOLCK if there are too many locks.
    fn apply(&self, wish: &LockWish<'_>) -> Result<bool, Errno> {
        let mut files = lock_mutex(&self.files);
        remove_closed(&mut files);
        let count: usize = files.values().map(Vec::len).sum();
        let locks = files.entry(wish.file).or_default();
        let is_free =
            wish.is_shared.is_none() || !locks.iter().any(|held| wish.conflicts_with(held));
        if is_free {
            // A range that is cut in its middle makes two of one.
            if wish.is_shared.is_some() && count + 2 > MAX_LOCKS {
                return Err(Errno::NOLCK);
            }
            let (own, mut others): (Vec<_>, Vec<_>) =
                std::mem::take(locks).into_iter().partition(|held| {
                    (held.pid == 0) == (wish.pid == 0) && wish.is_of_same_owner(held)
                });
            others.extend(own.into_iter().flat_map(|held| cut(held, wish.range)));
            others.extend(wish.is_shared.map(|is_shared| HeldLock {
                pid: wish.pid,
                description: Arc::downgrade(wish.description),
                is_shared,
                range: wish.range,
            }));
            *locks = others;
        }
        if locks.is_empty() {
            files.remove(&wish.file);
        }
        Ok(is_free)
    }

    /// Returns the first lock that is in the way of a wish: whether it is shared, its range, and its
    /// process.
    fn obstacle(&self, wish: &LockWish<'_>) -> Option<(bool, (u64, u64), u32)> {
        let mut files = lock_mutex(&self.files);
        remove_closed(&mut files);
        let held = files.get(&wish.file)?.iter().find(|held| wish.conflicts_with(held))?;
        Some((held.is_shared, held.range, held.pid))
    }

    /// Releases the locks of a process that has ended.
    pub fn release_process(&self, pid: u32) {
        lock_mutex(&self.files).retain(|_, locks| {
            locks.retain(|held| held.pid != pid);
            !locks.is_empty()
        });
    }
}

/// Removes the locks whose descriptions are closed.
fn remove_closed(files: &mut HashMap<FileIdentity, Vec<HeldLock>>) {
    files.retain(|_, locks| {
        locks.retain(|held| held.description.strong_count() > 0);
        !locks.is_empty()
    });
}

/// Returns the rest of a lock without the bytes of `range`.
fn cut(held: HeldLock, range: (u64, u64)) -> impl Iterator<Item = HeldLock> {
    let (first, end) = held.range;
    let before = (first, end.min(range.0));
    let after = (first.max(range.1), end);
    [before, after].into_iter().filter(|(first, end)| first < end).map(move |range| HeldLock {
        pid: held.pid,
        description: held.description.clone(),
        is_shared: held.is_shared,
        range,
    })
}

/// Returns the description of a file that can be locked, and the file's identity.
fn lockable<H: Host>(
    c: &GuestCall<'_, H>,
    fd: u32,
) -> Result<(Arc<OpenDescription>, FileIdentity), Errno> {
    let open = open_file(c, Fd(fd))?;
    if !matches!(open.file, VfsFile::Tree(_) | VfsFile::Host { .. } | VfsFile::Dir { .. }) {
        return Err(Errno::INVAL);
    }
    let Stat { dev, ino, .. } = open.file.stat()?;
    Ok((open, (dev, ino)))
}

/// Returns whether a lock of this kind is shared; `None` if it is none.
fn sharing(kind: LockKind) -> Option<bool> {
    match kind {
        LockKind::Shared => Some(true),
        LockKind::Exclusive => Some(false),
        LockKind::Release => None,
    }
}

/// Waits until a wish is granted, or returns EAGAIN if it may not wait.
fn grant<H: Host>(c: &GuestCall<'_, H>, wish: &LockWish<'_>, waits: bool) -> Result<(), Halt> {
    loop {
        if c.process.kernel.file_locks().apply(wish)? {
            return Ok(());
        }
        if !waits {
            return Err(Errno::AGAIN.into());
        }
        c.process.park_thread(Some(Instant::now() + PAUSE))?;
    }
}

/// `flock(2)`.
///
/// # Errors
/// EBADF, EINVAL for something that is not a file or directory, EAGAIN if another one has the lock
/// and the request does not wait, EINTR for a signal that is handled, ENOLCK.
pub fn lock_whole<H: Host>(
    c: &GuestCall<'_, H>,
    fd: u32,
    request: WholeLock,
) -> Result<Vec<u8>, Halt> {
    let (description, file) = lockable(c, fd)?;
    let is_shared = sharing(request.kind);
    let wish =
        LockWish { file, pid: 0, description: &description, is_shared, range: (0, u64::MAX) };
    grant(c, &wish, request.waits)?;
    Ok(Vec::new())
}

/// `fcntl(2)` with `F_GETLK`, `F_SETLK` and `F_SETLKW`. Answers the first with the lock that is in
/// the way, the others with nothing.
///
/// # Errors
/// As [`lock_whole`], and EBADF if the descriptor is not open for reading (shared) or writing
/// (exclusive).
pub fn lock_range<H: Host>(
    c: &GuestCall<'_, H>,
    fd: u32,
    lock: RecordLock,
) -> Result<Vec<u8>, Halt> {
    let (description, file) = lockable(c, fd)?;
    let end = match lock.length {
        0 => u64::MAX,
        length => lock.start.checked_add(length).ok_or(Errno::OVERFLOW)?,
    };
    let is_shared = sharing(lock.kind);
    let pid = c.process.pid;
    let wish =
        LockWish { file, pid, description: &description, is_shared, range: (lock.start, end) };
    if lock.request == RecordRequest::Get {
        let found = c.process.kernel.file_locks().obstacle(&wish);
        let answer = found.map_or(
            RecordLock { kind: LockKind::Release, pid: 0, ..lock },
            |(is_shared, (start, end), pid)| RecordLock {
                request: lock.request,
                kind: if is_shared { LockKind::Shared } else { LockKind::Exclusive },
                start,
                length: if end == u64::MAX { 0 } else { end - start },
                pid,
            },
        );
        return Ok(answer.encode().to_vec());
    }
    let may =
        is_shared.map(|is_shared| if is_shared { description.read } else { description.write });
    if may == Some(false) {
        return Err(Errno::BADF.into());
    }
    grant(c, &wish, lock.request == RecordRequest::SetAndWait)?;
    Ok(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasibox_vfs::{Budget, DiskLimits, ProtectedPaths, Vfs};

    fn description() -> Arc<OpenDescription> {
        let (budget, paths) = (Budget::new(u64::MAX), ProtectedPaths::default());
        let vfs = Vfs::new([], &[], DiskLimits::default(), budget, &paths).unwrap();
        OpenDescription::root(&vfs).unwrap()
    }

    fn wish(
        description: &Arc<OpenDescription>,
        pid: u32,
        is_shared: Option<bool>,
        range: (u64, u64),
    ) -> LockWish<'_> {
        LockWish { file: (1, 7), pid, description, is_shared, range }
    }

    const ALL: (u64, u64) = (0, u64::MAX);

    #[test]
    fn a_whole_lock_belongs_to_the_description() {
        let (locks, one, other) = (FileLocks::default(), description(), description());
        let apply =
            |d: &Arc<OpenDescription>, shared| locks.apply(&wish(d, 0, shared, ALL)).unwrap();
        assert!(apply(&one, Some(true)) && apply(&other, Some(true)));
        assert!(!apply(&one, Some(false)));
        assert!(apply(&other, None) && apply(&one, Some(false)) && !apply(&other, Some(true)));
        // The last descriptor is closed.
        drop(one);
        assert!(apply(&other, Some(false)));
        assert!(apply(&other, None));
        assert!(lock_mutex(&locks.files).is_empty());
    }

    #[test]
    fn ranges_are_cut_and_joined_by_process() {
        let (locks, file) = (FileLocks::default(), description());
        let apply = |pid, shared, range| locks.apply(&wish(&file, pid, shared, range)).unwrap();
        assert!(apply(1, Some(false), (10, 30)));
        assert!(!apply(2, Some(true), (29, 40)) && apply(2, Some(true), (30, 40)));
        // The middle is released, and another process takes it.
        assert!(apply(1, None, (15, 20)));
        assert!(apply(2, Some(false), (15, 20)) && !apply(2, Some(false), (14, 20)));
        let found = locks.obstacle(&wish(&file, 3, Some(false), ALL)).unwrap();
        assert!([(false, (10, 15), 1), (false, (20, 30), 1), (true, (30, 40), 2)].contains(&found));
        // A shared lock in the place of an exclusive one.
        assert!(apply(1, Some(true), (10, 15)) && apply(3, Some(true), (10, 15)));
        // A lock of a process that has ended is in nobody's way, nor is one of the whole file.
        assert!(apply(9, Some(false), (100, 200)) && !apply(1, Some(false), (150, 151)));
        locks.release_process(9);
        assert!(apply(1, Some(false), (150, 151)) && apply(0, Some(false), ALL));
    }
}
