//! File metadata as `stat(2)` gives it, including the fields that WASI preview 1 lacks.
//!
//! On the guest, the host's metadata node ([`box_abi::META`]) answers. Without that node, fixed
//! values complete the answers of preview 1: mode 0755 for directories, 0644 for files, owner 1000.
//! On a POSIX host the real calls are used.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub use box_abi::{FileKind, Stat};

use crate::backend;

/// The user and group id of the guest's only user.
pub const USER_ID: u32 = 1000;

/// Calls `stat(2)`, or `lstat(2)` when `follow` is false. `path` is absolute.
pub fn stat(path: &Path, follow: bool) -> io::Result<Stat> {
    backend::stat(path, follow)
}

/// Calls `fstat(2)`.
pub fn of_file(file: &std::fs::File) -> io::Result<Stat> {
    backend::stat_file(file)
}

/// Returns whether both are the same regular file.
pub fn same_file(a: &std::fs::File, b: &std::fs::File) -> bool {
    let (Ok(a), Ok(b)) = (of_file(a), of_file(b)) else { return false };
    a.kind == FileKind::File && (a.dev, a.ino) == (b.dev, b.ino)
}

/// Calls `chmod(2)` with permission bits, 0 to 0o7777.
pub fn chmod(path: &Path, mode: u16) -> io::Result<()> {
    backend::chmod(path, mode)
}

/// Calls `chown(2)` or `lchown(2)`; `None` leaves an id as it is.
pub fn chown(path: &Path, uid: Option<u32>, gid: Option<u32>, follow: bool) -> io::Result<()> {
    backend::chown(path, uid, gid, follow)
}

/// Calls `utimensat(2)` with nanoseconds since the epoch; `None` leaves a time as it is.
pub fn set_times(
    path: &Path,
    atime: Option<u64>,
    mtime: Option<u64>,
    follow: bool,
) -> io::Result<()> {
    backend::set_times(path, atime, mtime, follow)
}

/// Calls `mkfifo(3)`.
pub fn mkfifo(path: &Path, mode: u16) -> io::Result<()> {
    backend::mkfifo(path, mode)
}

/// Calls `symlink(2)`.
pub fn symlink(target: &[u8], link: &Path) -> io::Result<()> {
    backend::symlink(target, link)
}

/// Returns whether the guest's user may read (4), write (2) or execute (1) a file with this
/// metadata. It does what `access(2)` does: for [`USER_ID`] on the guest, for the effective user on
/// a host.
pub fn may_access(stat: &Stat, want: u16) -> bool {
    let (uid, gid) = ids();
    if uid == 0 {
        return want & 1 == 0 || stat.kind == FileKind::Dir || stat.mode & 0o111 != 0;
    }
    let shift = if stat.uid == uid {
        6
    } else if stat.gid == gid {
        3
    } else {
        0
    };
    (stat.mode >> shift) & want == want
}

/// Returns the effective user and group id.
pub fn ids() -> (u32, u32) {
    backend::ids()
}

/// The file mode creation mask. Children that are started from now on create files with it, and so
/// does this process if the system keeps a mask for it ([`umask_in_force`]).
static UMASK: AtomicU32 = AtomicU32::new(u32::MAX);

/// Returns the mask that was set last, or else the one that this process started with.
pub fn umask() -> u16 {
    match u16::try_from(UMASK.load(Relaxed)) {
        Ok(mask) => mask,
        Err(_) => backend::initial_umask(),
    }
}

/// Calls `umask(2)`.
pub fn set_umask(mask: u16) {
    let mask = mask & 0o777;
    if UMASK.swap(u32::from(mask), Relaxed) != u32::from(mask) {
        backend::set_umask(mask);
    }
}

/// Returns the mask that the system applies to files that this process creates: on the guest, the
/// mask that it started with.
pub fn umask_in_force() -> u16 {
    backend::umask_in_force()
}
