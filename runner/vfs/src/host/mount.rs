//! Host mounts: every access goes from the mount's own descriptor downwards.
//!
//! On Linux `openat2(2)` with `RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS`
//! refuses `..`, symbolic links and magic links at every component, atomically, so a file that
//! another process swaps for a link meanwhile is refused as well. On kernels without `openat2`, and
//! on macOS, each component is opened with `O_NOFOLLOW` from the one before, which gives the same
//! guarantee in more calls. Only regular files and directories are opened, because a FIFO or device
//! in a mount could block this process or act on the host.
//!
//! `openat2` is called so that it does not enter another mount of the host. If a path does, or if
//! the mount contains files of the runner, each directory on the way is checked ([`super::guard`]).

use super::account::MountAccount;
use super::guard::{self, Ident, MountGuard};
use super::system::{self, Node, REACH};
use super::{MountError, MountSpec, ProtectedPaths};
use crate::errno::Errno;
use crate::node::{GID, Ino, UID};
use crate::open_flags::OpenFlags;
use box_abi::{FileKind, Stat};
use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// An open file of the host.
pub type Handle = OwnedFd;

/// Returns the maximum number of files that this process may have open.
pub(crate) fn most_open() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}

/// Reads at `off`; 0 is end of file.
pub(crate) fn read_at(file: &Handle, buf: &mut [u8], off: u64) -> Result<usize, Errno> {
    Ok(rustix::io::pread(file, buf, off)?)
}

/// Waits until the host has stored a file's bytes.
pub(crate) fn sync(file: &Handle) -> Result<(), Errno> {
    Ok(fs::fsync(file)?)
}

/// A host directory or file in the guest's name space.
#[derive(Debug)]
pub struct HostMount {
    root: OwnedFd,
    /// The file type of the mount's root: directory or file.
    pub kind: FileKind,
    /// Whether the guest may change files below it.
    pub writable: bool,
    /// The node that the mount is attached to.
    pub at: Ino,
    /// The mount's number, which distinguishes file systems in `stat`.
    index: usize,
    /// The root's own number.
    ident: Ident,
    guard: MountGuard,
    /// Bytes that may still be added, if there is a limit. Locked while a file's length is changed,
    /// so that exactly the added bytes are counted.
    pub(super) left: Option<Mutex<MountAccount>>,
    /// The longest file that this process may write: past that length the host would send it a
    /// signal.
    pub(super) longest: u64,
    /// Whether an operation was refused by the account or by that length.
    pub(super) was_full: AtomicBool,
    pub(super) was_long: AtomicBool,
}

impl HostMount {
    /// Opens `spec.host`, following symbolic links in that path, because the user named it.
    pub fn open(
        spec: &MountSpec,
        at: Ino,
        index: usize,
        protected: &ProtectedPaths,
    ) -> Result<HostMount, MountError> {
        let host = || spec.host.clone();
        let err = |e: rustix::io::Errno| MountError::Host { host: host(), source: e.into() };
        let root = system::root(&spec.host).map_err(|e| match e {
            rustix::io::Errno::NXIO => MountError::Kind { host: host() },
            e => err(e),
        })?;
        let stat = fs::fstat(&root).map_err(err)?;
        let kind = kind_of(&stat);
        if !matches!(kind, FileKind::Dir | FileKind::File) {
            return Err(MountError::Kind { host: host() });
        }
        if guard::is_kernels(&root, Ident::from_stat(&stat).dev) {
            return Err(MountError::Kernel { host: host() });
        }
        let guard = MountGuard::new(&spec.host, &root, protected)
            .map_err(|path| MountError::Protected { host: host(), path })?;
        let left = spec.quota.map(|quota| Mutex::new(MountAccount { bytes: quota, quota }));
        let longest = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        Ok(HostMount {
            root,
            kind,
            writable: spec.writable,
            at,
            index,
            ident: Ident::from_stat(&stat),
            guard,
            left,
            longest: longest.unwrap_or(u64::MAX),
            was_full: AtomicBool::new(false),
            was_long: AtomicBool::new(false),
        })
    }

    /// Limits the length of files that are written through this mount.
    pub(crate) fn cap_length(&mut self, longest: u64) {
        self.longest = self.longest.min(longest);
    }

    /// Returns the descriptor that all accesses begin at.
    #[cfg(target_vendor = "apple")]
    pub(super) fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    pub(super) fn open_raw(&self, rel: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let mut flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // `openat2` refuses flags that have no meaning with O_PATH.
        if !system::is_path(flags) {
            flags |= OFlags::NOCTTY;
        }
        if rel.is_empty() {
            if self.kind == FileKind::Dir {
                return Ok(fs::openat(&self.root, ".", flags, mode)?);
            }
            // A mounted file has only a path descriptor; reopen that very file.
            if system::is_path(flags) {
                return Ok(rustix::io::fcntl_dupfd_cloexec(&self.root, 3)?);
            }
            return Ok(system::reopen(self.root.as_fd(), flags)?);
        }
        if !self.guard.every_step
            && let Some(opened) = system::beneath(self.root.as_fd(), rel, flags, mode)
        {
            return Ok(opened?);
        }
        self.open_stepwise(rel, flags, mode)
    }

    fn open_stepwise(&self, rel: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let step = REACH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut parts = rel.split(|b| *b == b'/').peekable();
        let mut dir: Option<OwnedFd> = None;
        let mut at = self.ident;
        while let Some(part) = parts.next() {
            if part.is_empty() || part == b"." || part == b".." {
                return Err(Errno::ACCES);
            }
            if self.guard.hides_name(at, part) {
                return Err(Errno::NOENT);
            }
            let from: BorrowedFd = dir.as_ref().map_or(self.root.as_fd(), |d| d.as_fd());
            let last = parts.peek().is_none();
            let fd = if last {
                fs::openat(from, part, flags, mode)?
            } else {
                fs::openat(from, part, step, Mode::empty())?
            };
            let here = Ident::from_stat(&fs::fstat(&fd)?);
            if self.guard.is_hidden(here) {
                return Err(Errno::NOENT);
            }
            if here.dev != at.dev && guard::is_kernels(&fd, here.dev) {
                return Err(Errno::ACCES);
            }
            if last {
                return Ok(fd);
            }
            (dir, at) = (Some(fd), here);
        }
        Err(Errno::NOENT)
    }

    /// Opens a file that is not hidden with [`HostMount::open_raw`]; returns its metadata, too.
    fn open_seen(&self, rel: &[u8], flags: OFlags) -> Result<(OwnedFd, fs::Stat), Errno> {
        let fd = self.open_raw(rel, flags, Mode::empty())?;
        let stat = fs::fstat(&fd)?;
        // A protected file may have other names.
        if self.guard.is_hidden(Ident::from_stat(&stat)) {
            Err(Errno::NOENT)
        } else {
            Ok((fd, stat))
        }
    }

    /// Returns the node at a path and its metadata; ENOENT if it is hidden.
    fn seen(&self, rel: &[u8]) -> Result<(Node, fs::Stat), Errno> {
        let node = Node::at(self, rel)?;
        let stat = node.stat()?;
        if self.guard.is_hidden(Ident::from_stat(&stat)) {
            Err(Errno::NOENT)
        } else {
            Ok((node, stat))
        }
    }

    /// Returns the directory of a node that is not to be opened; ENOENT if its name is hidden.
    #[cfg(target_vendor = "apple")]
    pub(super) fn named_dir(&self, rel: &[u8], name: &[u8]) -> Result<OwnedFd, Errno> {
        let dir = self.dir(rel)?;
        if self.guard.hides_name(Ident::from_stat(&fs::fstat(&dir)?), name) {
            Err(Errno::NOENT)
        } else {
            Ok(dir)
        }
    }

    /// Opens the directory for an operation on `name` in it. ENOENT if the name is hidden, EBUSY if
    /// the operation moves it (`moves`) and it must stay.
    fn dir_of(&self, rel: &[u8], name: &[u8], moves: bool) -> Result<OwnedFd, Errno> {
        let dir = self.dir(rel)?;
        if self.guard.every_step {
            if self.guard.hides_name(Ident::from_stat(&fs::fstat(&dir)?), name) {
                return Err(Errno::NOENT);
            }
            if let Ok(stat) = fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                let ident = Ident::from_stat(&stat);
                if self.guard.is_hidden(ident) {
                    return Err(Errno::NOENT);
                }
                if moves && self.guard.is_pinned(ident) {
                    return Err(Errno::BUSY);
                }
            }
        }
        Ok(dir)
    }

    fn dir(&self, rel: &[u8]) -> Result<OwnedFd, Errno> {
        self.open_raw(rel, REACH, Mode::empty())
    }

    fn to_stat(&self, s: &fs::Stat) -> Stat {
        // The types of these fields differ from system to system.
        let time = |sec: i128, nsec: i128| {
            u64::try_from(sec.max(0) * 1_000_000_000 + nsec).unwrap_or(u64::MAX)
        };
        Stat {
            kind: kind_of(s),
            mode: (s.st_mode & 0o777) as u16,
            uid: UID,
            gid: GID,
            nlink: u32::try_from(s.st_nlink).unwrap_or(u32::MAX),
            dev: 16 + self.index as u64,
            ino: s.st_ino,
            size: u64::try_from(s.st_size).unwrap_or(0),
            atime: time(s.st_atime.into(), s.st_atime_nsec.into()),
            mtime: time(s.st_mtime.into(), s.st_mtime_nsec.into()),
            ctime: time(s.st_ctime.into(), s.st_ctime_nsec.into()),
        }
    }

    /// Returns the metadata; never follows a symbolic link.
    pub fn stat(&self, rel: &[u8]) -> Result<Stat, Errno> {
        if rel.is_empty() {
            return Ok(self.to_stat(&fs::fstat(&self.root)?));
        }
        Ok(self.to_stat(&self.seen(rel)?.1))
    }

    /// Returns the metadata of an open file of this mount.
    pub fn fd_stat(&self, fd: &Handle) -> Result<Stat, Errno> {
        Ok(self.to_stat(&fs::fstat(fd)?))
    }

    /// Returns the target of a symbolic link.
    pub fn read_link(&self, rel: &[u8]) -> Result<Vec<u8>, Errno> {
        Ok(Node::at(self, rel)?.read_link()?)
    }

    /// Returns EROFS unless the guest may change the mount.
    pub fn need_writable(&self) -> Result<(), Errno> {
        if self.writable { Ok(()) } else { Err(Errno::ROFS) }
    }

    /// Opens a regular file or directory that exists.
    pub fn open_existing(&self, rel: &[u8], how: OpenFlags) -> Result<Handle, Errno> {
        let flags = flags_of(how);
        let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
        if writes {
            self.need_writable()?;
        }
        if !matches!(self.stat(rel)?.kind, FileKind::File | FileKind::Dir) {
            return Err(Errno::NXIO);
        }
        // Truncation waits until the opened file is known to be regular.
        let (fd, stat) = self.open_seen(rel, (flags - OFlags::TRUNC) | OFlags::NONBLOCK)?;
        match kind_of(&stat) {
            FileKind::File => {
                if flags.contains(OFlags::TRUNC) {
                    self.set_len(&fd, 0)?;
                }
                Ok(fd)
            }
            FileKind::Dir => Ok(fd),
            _ => Err(Errno::NXIO),
        }
    }

    /// Opens an open regular file again.
    pub fn reopen(&self, fd: &Handle, how: OpenFlags) -> Result<Handle, Errno> {
        let flags = flags_of(how);
        if flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC) {
            self.need_writable()?;
        }
        let again = (flags - OFlags::TRUNC) | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = system::reopen(fd.as_fd(), again)?;
        if flags.contains(OFlags::TRUNC) {
            self.set_len(&fd, 0)?;
        }
        Ok(fd)
    }

    /// Creates and opens a regular file with mode `mode`, independent of the host's umask.
    pub fn create(
        &self,
        dir: &[u8],
        name: &[u8],
        how: OpenFlags,
        mode: u16,
    ) -> Result<Handle, Errno> {
        self.need_writable()?;
        let parent = self.dir_of(dir, name, false)?;
        let flags =
            flags_of(how) | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = self.entry(0, || fs::openat(&parent, name, flags, to_mode(mode)))?;
        fs::fchmod(&fd, to_mode(mode))?;
        Ok(fd)
    }

    /// Creates a directory with that mode, independent of the host's umask.
    pub fn mkdir(&self, dir: &[u8], name: &[u8], mode: u16) -> Result<(), Errno> {
        self.need_writable()?;
        let parent = self.dir_of(dir, name, false)?;
        self.entry(0, || fs::mkdirat(&parent, name, to_mode(mode)))?;
        let made = fs::openat(
            &parent,
            name,
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
        )?;
        Ok(fs::fchmod(&made, to_mode(mode))?)
    }

    /// Removes a name; `dir` says whether it must be a directory.
    pub fn remove(&self, parent: &[u8], name: &[u8], dir: bool) -> Result<(), Errno> {
        self.need_writable()?;
        let flags = if dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(fs::unlinkat(self.dir_of(parent, name, true)?, name, flags)?)
    }

    /// Renames within the mount.
    pub fn rename(&self, from: (&[u8], &[u8]), to: (&[u8], &[u8])) -> Result<(), Errno> {
        self.need_writable()?;
        let (a, b) = (self.dir_of(from.0, from.1, true)?, self.dir_of(to.0, to.1, true)?);
        Ok(fs::renameat(a, from.1, b, to.1)?)
    }

    /// Creates a hard link within the mount; a symbolic link is linked itself.
    pub fn link(&self, from: (&[u8], &[u8]), to: (&[u8], &[u8])) -> Result<(), Errno> {
        self.need_writable()?;
        let (a, b) = (self.dir_of(from.0, from.1, false)?, self.dir_of(to.0, to.1, false)?);
        self.entry(0, || fs::linkat(a, from.1, b, to.1, AtFlags::empty()))
    }

    /// Creates a symbolic link.
    pub fn symlink(&self, target: &[u8], dir: &[u8], name: &[u8]) -> Result<(), Errno> {
        self.need_writable()?;
        let parent = self.dir_of(dir, name, false)?;
        self.entry(target.len(), || fs::symlinkat(target, parent, name))
    }

    /// Sets permission bits. Set-id bits are dropped, because the file belongs to the host's user,
    /// whose power a guest must not hand out.
    pub fn chmod(&self, rel: &[u8], mode: u16) -> Result<(), Errno> {
        self.need_writable()?;
        if rel.is_empty() {
            // The mount's root belongs to the host, so the guest may not change its mode.
            return Err(Errno::PERM);
        }
        let (node, stat) = self.seen(rel)?;
        if kind_of(&stat) == FileKind::Symlink {
            return Err(Errno::NOTSUP);
        }
        Ok(node.chmod(to_mode(mode))?)
    }

    /// Sets times; `None` leaves one as it is. Never follows a symbolic link.
    pub fn set_times(
        &self,
        rel: &[u8],
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        self.need_writable()?;
        let cut = rel.iter().rposition(|b| *b == b'/');
        let times = fs::Timestamps {
            last_access: to_timespec(atime),
            last_modification: to_timespec(mtime),
        };
        if rel.is_empty() {
            return Ok(Node::at(self, rel)?.set_times(&times)?);
        }
        let (dir, name) = match cut {
            Some(i) => (&rel[..i], &rel[i + 1..]),
            None => (&rel[..0], rel),
        };
        Ok(fs::utimensat(self.dir_of(dir, name, false)?, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Sets times of an open file.
    pub fn set_fd_times(
        &self,
        fd: &Handle,
        atime: Option<u64>,
        mtime: Option<u64>,
    ) -> Result<(), Errno> {
        self.need_writable()?;
        let times = fs::Timestamps {
            last_access: to_timespec(atime),
            last_modification: to_timespec(mtime),
        };
        Ok(fs::futimens(fd, &times)?)
    }

    /// Returns the names in a directory with their numbers and kinds, without the dots.
    pub fn list(&self, rel: &[u8]) -> Result<Vec<(Vec<u8>, u64, FileKind)>, Errno> {
        let (fd, stat) = self.open_seen(rel, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let here = Ident::from_stat(&stat);
        let mut out = Vec::new();
        for e in fs::Dir::new(fd)? {
            let e = e?;
            let name = e.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let hidden = self.guard.is_hidden(Ident { dev: here.dev, ino: e.ino() });
            if hidden || self.guard.hides_name(here, name) {
                continue;
            }
            let kind = match e.file_type() {
                fs::FileType::RegularFile => FileKind::File,
                fs::FileType::Directory => FileKind::Dir,
                fs::FileType::Symlink => FileKind::Symlink,
                fs::FileType::Fifo => FileKind::Fifo,
                fs::FileType::Socket => FileKind::Socket,
                fs::FileType::CharacterDevice => FileKind::CharDevice,
                fs::FileType::BlockDevice => FileKind::BlockDevice,
                fs::FileType::Unknown => self
                    .stat(&crate::fifos::join_path(rel, name))
                    .map_or(FileKind::File, |s| s.kind),
            };
            out.push((name.to_vec(), e.ino(), kind));
        }
        Ok(out)
    }
}

fn flags_of(how: OpenFlags) -> OFlags {
    let flags = match (how.read, how.write) {
        (true, true) => OFlags::RDWR,
        (false, true) => OFlags::WRONLY,
        _ => OFlags::RDONLY,
    };
    if how.truncate { flags | OFlags::TRUNC } else { flags }
}

fn kind_of(stat: &fs::Stat) -> FileKind {
    FileKind::from_bits((stat.st_mode >> 12) as u8).unwrap_or(FileKind::File)
}

fn to_mode(mode: u16) -> Mode {
    Mode::from_raw_mode((mode & 0o777).into())
}

fn to_timespec(t: Option<u64>) -> fs::Timespec {
    match t {
        Some(ns) => {
            fs::Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
        }
        None => fs::Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT },
    }
}

/// Converts the error of a host call for the guest. Errors that do not concern the sandbox become
/// EIO.
impl From<rustix::io::Errno> for Errno {
    fn from(e: rustix::io::Errno) -> Errno {
        use rustix::io::Errno as H;
        match e {
            H::ACCESS => Errno::ACCES,
            H::AGAIN => Errno::AGAIN,
            H::BADF => Errno::BADF,
            H::BUSY => Errno::BUSY,
            H::DQUOT => Errno::DQUOT,
            H::EXIST => Errno::EXIST,
            H::FBIG => Errno::FBIG,
            H::ILSEQ => Errno::ILSEQ,
            H::INTR => Errno::INTR,
            H::INVAL => Errno::INVAL,
            H::ISDIR => Errno::ISDIR,
            H::LOOP => Errno::LOOP,
            H::MFILE | H::NFILE => Errno::NFILE,
            H::MLINK => Errno::MLINK,
            H::NAMETOOLONG => Errno::NAMETOOLONG,
            H::NOENT => Errno::NOENT,
            H::NOMEM => Errno::NOMEM,
            H::NOSPC => Errno::NOSPC,
            H::NOTDIR => Errno::NOTDIR,
            H::NOTEMPTY => Errno::NOTEMPTY,
            H::NOTSUP => Errno::NOTSUP,
            H::NXIO => Errno::NXIO,
            H::PERM => Errno::PERM,
            H::PIPE => Errno::PIPE,
            H::ROFS => Errno::ROFS,
            H::SPIPE => Errno::SPIPE,
            H::STALE => Errno::STALE,
            H::TXTBSY => Errno::TXTBSY,
            H::XDEV => Errno::XDEV,
            _ => Errno::IO,
        }
    }
}

impl From<std::io::Error> for Errno {
    fn from(e: std::io::Error) -> Errno {
        rustix::io::Errno::from_io_error(&e).map_or(Errno::IO, Errno::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without `openat2` the guarantee is the same.
    #[test]
    fn steps_follow_no_link_and_no_dots() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("m");
        std::fs::create_dir_all(dir.join("a/b")).unwrap();
        std::fs::write(dir.join("a/b/f"), "x").unwrap();
        std::fs::write(tmp.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("..", dir.join("a/up")).unwrap();
        std::os::unix::fs::symlink("../secret", dir.join("ln")).unwrap();
        let spec = MountSpec { host: dir, guest: "/m".into(), writable: true, quota: None };
        let m = HostMount::open(&spec, 1, 0, &ProtectedPaths::default()).unwrap();
        let step = |p: &str| {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            m.open_stepwise(p.as_bytes(), flags, Mode::empty())
        };
        assert!(step("a/b/f").is_ok() && step("a").is_ok());
        for p in ["ln", "a/up", "a/up/ln", "a/up/a/b/f", "../secret", "a/../a", "a//b", "", "."] {
            assert!(step(p).is_err(), "{p}");
        }
    }
}
