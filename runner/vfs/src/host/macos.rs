//! The part of mounts that is specific to macOS (`linux.rs` is the other one).
//!
//! No descriptor stands for a file without opening it: a [`Node`] is a directory and a name in it,
//! whose calls follow no link. No call resolves a whole path safely, so each step is one call, as
//! on kernels without `openat2`; directories on the way must be readable. A file is opened again by
//! its path, if the same file is found there.
//!
//! This code has not run yet, as `docs/platforms.md` says: it is only compiled for the target.

use super::guard::Ident;
use super::mount::HostMount;
use crate::errno::Errno;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

/// Opens a directory to reach its entries.
pub(super) const REACH: OFlags = OFlags::DIRECTORY;

/// Returns whether a descriptor that is opened with these flags merely stands for its file: never.
pub(super) fn is_path(_: OFlags) -> bool {
    false
}

/// Opens the root of a mount. Its path may have links, because the user named it. Opens only a file
/// or directory, because opening a device could have an effect.
pub(super) fn root(path: &Path) -> rustix::io::Result<OwnedFd> {
    let before = fs::stat(path)?;
    let is_fit = matches!(
        fs::FileType::from_raw_mode(before.st_mode),
        fs::FileType::RegularFile | fs::FileType::Directory
    );
    if !is_fit {
        return Err(rustix::io::Errno::NXIO);
    }
    let fd = fs::open(path, OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    if Ident::from_stat(&fs::fstat(&fd)?) == Ident::from_stat(&before) {
        Ok(fd)
    } else {
        Err(rustix::io::Errno::STALE)
    }
}

/// Returns `None`, because macOS has no such call.
pub(super) fn beneath(
    _: BorrowedFd<'_>,
    _: &[u8],
    _: OFlags,
    _: Mode,
) -> Option<rustix::io::Result<OwnedFd>> {
    None
}

/// Opens the file of a descriptor again, by its path; ESTALE if another file is there by now.
/// `/dev/fd` would give the same open file, with its mode and offset.
pub(super) fn reopen(fd: BorrowedFd<'_>, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let path = fs::getpath(fd)?;
    let again = fs::open(&path, flags | OFlags::NOFOLLOW | OFlags::NONBLOCK, Mode::empty())?;
    if Ident::from_stat(&fs::fstat(&again)?) == Ident::from_stat(&fs::fstat(fd)?) {
        Ok(again)
    } else {
        Err(rustix::io::Errno::STALE)
    }
}

/// An existing file that is not opened.
pub(super) enum Node {
    /// A mount's root.
    Root(OwnedFd),
    /// A name in a directory.
    Name(OwnedFd, Vec<u8>),
}

impl Node {
    /// Returns the file at `rel`, which may be empty; never follows a symbolic link.
    pub fn at(mount: &HostMount, rel: &[u8]) -> Result<Node, Errno> {
        if rel.is_empty() {
            return Ok(Node::Root(rustix::io::fcntl_dupfd_cloexec(mount.root(), 3)?));
        }
        let cut = rel.iter().rposition(|b| *b == b'/');
        let (dir, name) = cut.map_or((&rel[..0], rel), |i| (&rel[..i], &rel[i + 1..]));
        if matches!(name, b"" | b"." | b"..") {
            return Err(Errno::ACCES);
        }
        let node = Node::Name(mount.named_dir(dir, name)?, name.to_vec());
        if super::guard::is_kernels_device(Ident::from_stat(&node.stat()?).dev) {
            Err(Errno::ACCES)
        } else {
            Ok(node)
        }
    }

    /// Returns its metadata; a symbolic link's own.
    pub fn stat(&self) -> rustix::io::Result<fs::Stat> {
        match self {
            Node::Root(fd) => fs::fstat(fd),
            Node::Name(dir, name) => fs::statat(dir, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW),
        }
    }

    /// Returns the target of a symbolic link; EINVAL if it is not one.
    pub fn read_link(&self) -> rustix::io::Result<Vec<u8>> {
        match self {
            Node::Root(_) => Err(rustix::io::Errno::INVAL),
            Node::Name(dir, name) => {
                fs::readlinkat(dir, name.as_slice(), Vec::new()).map(|target| target.into_bytes())
            }
        }
    }

    /// Sets its permission bits.
    pub fn chmod(&self, mode: Mode) -> rustix::io::Result<()> {
        match self {
            Node::Root(fd) => fs::fchmod(fd, mode),
            Node::Name(dir, name) => {
                fs::chmodat(dir, name.as_slice(), mode, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }

    /// Sets access and modification time.
    pub fn set_times(&self, times: &fs::Timestamps) -> rustix::io::Result<()> {
        match self {
            Node::Root(fd) => fs::futimens(fd, times),
            Node::Name(dir, name) => {
                fs::utimensat(dir, name.as_slice(), times, AtFlags::SYMLINK_NOFOLLOW)
            }
        }
    }
}

/// Writes at `end`, the earlier end of the file. No call appends at the present end, so bytes that
/// another program appends at the same moment can be overwritten.
pub(super) fn append(fd: &OwnedFd, data: &[u8], end: u64) -> rustix::io::Result<usize> {
    rustix::io::pwrite(fd, data, end)
}

/// Returns whether the file system of an open file is one of the kernel's: devices and descriptors.
pub(super) fn is_kernels(fd: impl AsFd) -> bool {
    const KERNELS: &[&[u8]] = &[b"devfs", b"fdesc"];
    fs::fstatfs(fd).is_ok_and(|s| {
        let name: Vec<u8> =
            s.f_fstypename.iter().map(|c| *c as u8).take_while(|c| *c != 0).collect();
        KERNELS.contains(&name.as_slice())
    })
}

/// Returns whether two names in a directory are the same one, because file systems here ignore
/// case. Names that are equal through other characters (the Kelvin sign) count as the same, too.
pub(super) fn same_name(a: &[u8], b: &[u8]) -> bool {
    let folded = |name: &[u8]| String::from_utf8_lossy(name).to_uppercase().to_lowercase();
    folded(a) == folded(b)
}

/// Whether every directory on the way to a file must be checked as soon as any file is protected,
/// even outside of the mount: a directory can have further names that are not links (firmlinks),
/// and every path is resolved step by step anyway.
pub(super) const LOOK_ALWAYS: bool = true;
