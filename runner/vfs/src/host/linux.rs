//! The part of mounts that is specific to Linux.
//!
//! `O_PATH` gives descriptors that stand for a file without opening it, `openat2` resolves a whole
//! path in one call that follows no link, and `/proc/self/fd` opens the file of a descriptor again.
//! `macos.rs` has the same functions.

use super::mount::HostMount;
use crate::errno::Errno;
use rustix::fs::{self, AtFlags, Mode, OFlags, ResolveFlags};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Opens a directory to reach its entries.
pub(super) const REACH: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);

/// Returns whether a descriptor that is opened with these flags merely stands for its file.
pub(super) fn is_path(flags: OFlags) -> bool {
    flags.contains(OFlags::PATH)
}

/// Opens the root of a mount. Its path may have links, because the user named it.
pub(super) fn root(path: &Path) -> rustix::io::Result<OwnedFd> {
    fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

static NO_OPENAT2: AtomicBool = AtomicBool::new(false);

/// Opens a path below a directory in one call. `None` where that must be done step by step: an
/// older kernel, another mount on the way, or a concurrent rename.
pub(super) fn beneath(
    dir: BorrowedFd<'_>,
    rel: &[u8],
    flags: OFlags,
    mode: Mode,
) -> Option<rustix::io::Result<OwnedFd>> {
    use rustix::io::Errno as Host;
    const RESOLVE: ResolveFlags = ResolveFlags::BENEATH
        .union(ResolveFlags::NO_SYMLINKS)
        .union(ResolveFlags::NO_MAGICLINKS)
        .union(ResolveFlags::NO_XDEV);
    if NO_OPENAT2.load(Ordering::Relaxed) {
        return None;
    }
    let opened = fs::openat2(dir, rel, flags, mode, RESOLVE);
    if let Err(Host::NOSYS) = opened {
        NO_OPENAT2.store(true, Ordering::Relaxed);
    }
    Some(opened).filter(|opened| !matches!(opened, Err(Host::NOSYS | Host::XDEV)))
}

/// Opens the file of a descriptor again.
pub(super) fn reopen(fd: BorrowedFd<'_>, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    fs::open(proc_path(fd), flags - OFlags::NOFOLLOW, Mode::empty())
}

/// An existing file that is not opened.
pub(super) struct Node(OwnedFd);

impl Node {
    /// Returns the file at `rel`, which may be empty; never follows a symbolic link.
    pub fn at(mount: &HostMount, rel: &[u8]) -> Result<Node, Errno> {
        mount.open_raw(rel, OFlags::PATH, Mode::empty()).map(Node)
    }

    /// Returns its metadata; a symbolic link's own.
    pub fn stat(&self) -> rustix::io::Result<fs::Stat> {
        fs::fstat(&self.0)
    }

    /// Returns the target of a symbolic link; EINVAL if it is not one.
    pub fn read_link(&self) -> rustix::io::Result<Vec<u8>> {
        match fs::readlinkat(&self.0, "", Vec::new()) {
            Ok(target) => Ok(target.into_bytes()),
            // `readlinkat` fails with ENOENT for a descriptor of a file that is not a link.
            Err(rustix::io::Errno::NOENT) => Err(rustix::io::Errno::INVAL),
            Err(e) => Err(e),
        }
    }

    /// Sets its permission bits.
    pub fn chmod(&self, mode: Mode) -> rustix::io::Result<()> {
        fs::chmod(proc_path(self.0.as_fd()), mode)
    }

    /// Sets access and modification time.
    pub fn set_times(&self, times: &fs::Timestamps) -> rustix::io::Result<()> {
        fs::utimensat(fs::CWD, proc_path(self.0.as_fd()), times, AtFlags::empty())
    }
}

fn proc_path(fd: BorrowedFd<'_>) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Writes at the present end of a file. `end` is its earlier end, for kernels that cannot append.
pub(super) fn append(fd: &OwnedFd, data: &[u8], end: u64) -> rustix::io::Result<usize> {
    let part = [std::io::IoSlice::new(data)];
    match rustix::io::pwritev2(fd, &part, end, rustix::io::ReadWriteFlags::APPEND) {
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::OPNOTSUPP) => {
            rustix::io::pwrite(fd, data, end)
        }
        written => written,
    }
}

/// File systems whose files are the kernel's, by `statfs(2)`: proc, sysfs, devpts, cgroup 1 and 2,
/// debugfs, tracefs, securityfs, bpf, configfs, efivarfs, selinuxfs, nsfs, binfmt_misc, fusectl,
/// mqueue, pstore.
const KERNELS: &[u64] = &[
    0x9fa0,
    0x6265_6572,
    0x1cd1,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x6265_6570,
    0xde5e_81e4,
    0xf97c_ff8c,
    0x6e73_6673,
    0x4249_4e4d,
    0x6573_5543,
    0x1980_0202,
    0x6165_676c,
];

/// Returns whether the file system of an open file is one of the kernel's.
pub(super) fn is_kernels(fd: impl AsFd) -> bool {
    fs::fstatfs(fd).is_ok_and(|s| KERNELS.contains(&(s.f_type as u64 & 0xffff_ffff)))
}

/// Returns whether two names in a directory are the same one.
pub(super) fn same_name(a: &[u8], b: &[u8]) -> bool {
    a == b
}

/// Whether every directory on the way to a file must be checked as soon as any file is protected,
/// even outside of the mount.
pub(super) const LOOK_ALWAYS: bool = false;
