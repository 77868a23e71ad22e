//! What an opened path gives: reads and writes by offset, never blocking.

use crate::Vfs;
use crate::bridge::MetaExchange;
use crate::budget::Reservation;
use crate::device::Device;
use crate::errno::Errno;
use crate::host::{self, HostFile};
use crate::net::{Receive, Socket};
use crate::now_ns;
use crate::pipe::{ReadEnd, WriteEnd};
use crate::quota::Hit;
use crate::service::ServiceFile;
use crate::session_state::StateFile;
use crate::tree::{Ino, Kind};
use crate::walk::Loc;
use box_abi::{Kind as FileKind, Stat};
use std::sync::Arc;
use std::thread::Thread;

/// Whether an operation can proceed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Bytes that can be moved at once.
    pub bytes: u64,
    /// The other side is gone: reads give end of file, writes fail.
    pub hangup: bool,
}

/// The session's standard streams: whatever the host connects them to.
pub trait Stream: Send + Sync + std::fmt::Debug {
    /// Reads what is there; 0 is end of file, [`Errno::AGAIN`] means wait.
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno>;
    /// Writes; [`Errno::AGAIN`] means wait.
    fn write(&self, data: &[u8]) -> Result<usize, Errno>;
    /// Whether a read (or write) can proceed now.
    fn ready(&self, write: bool) -> Option<Readiness>;
    /// Waits at most `timeout` for a read (or write) to be able to proceed; may
    /// return early. Only called if [`Stream::ready`] said no.
    fn wait(&self, write: bool, timeout: std::time::Duration);
    /// Whether a write was refused because the stream has taken all it may.
    fn full(&self) -> bool {
        false
    }
    /// Whether a terminal is at the other end.
    fn is_terminal(&self) -> bool {
        false
    }
}

/// A regular file of the tree; counts as one opening.
#[derive(Debug)]
pub struct TreeFile {
    vfs: Vfs,
    ino: Ino,
}

impl TreeFile {
    pub(crate) fn ino(&self) -> Ino {
        self.ino
    }
}

impl Drop for TreeFile {
    fn drop(&mut self) {
        self.vfs.write().closed(self.ino);
    }
}

/// An open file. Access rights and the offset belong to the opener.
#[derive(Debug)]
pub enum File {
    Tree(TreeFile),
    Host {
        fd: HostFile,
        mount: usize,
        vfs: Vfs,
    },
    Dir {
        loc: Loc,
        vfs: Vfs,
        /// What it takes of the budget.
        held: Reservation,
    },
    Device(Device, Ino, Vfs),
    PipeRead(ReadEnd),
    PipeWrite(WriteEnd),
    /// A FIFO opened for reading and writing.
    PipeBoth(ReadEnd, WriteEnd),
    Meta(MetaExchange),
    State(StateFile),
    Service(ServiceFile),
    Stream(Arc<dyn Stream>),
    Socket(Box<Socket>),
}

impl File {
    pub(crate) fn tree(vfs: &Vfs, st: &mut crate::tree::State, ino: Ino) -> File {
        st.opened(ino);
        File::Tree(TreeFile { vfs: vfs.clone(), ino })
    }

    /// Whether offsets mean something; otherwise reads and writes ignore them.
    pub fn seekable(&self) -> bool {
        matches!(
            self,
            File::Tree(_)
                | File::Host { .. }
                | File::Dir { .. }
                | File::Device(..)
                | File::State(_)
        )
    }

    /// Reads at `off`; 0 is end of file.
    pub fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        match self {
            File::Tree(f) => {
                let st = f.vfs.read();
                let node = st.tree.node(f.ino)?;
                let Kind::File { content, .. } = &node.kind else { return Err(Errno::INVAL) };
                if content.lazy().is_none() {
                    return content.read(off, buf);
                }
                // The bytes may have to be fetched, and nobody is to wait for that.
                let node = node.clone();
                drop(st);
                match &node.kind {
                    Kind::File { content, .. } => content.read(off, buf),
                    _ => Err(Errno::INVAL),
                }
            }
            File::Host { fd, .. } => host::read_at(fd, buf, off),
            File::Dir { .. } => Err(Errno::ISDIR),
            File::Device(d, ..) => d.read(buf),
            File::PipeRead(r) | File::PipeBoth(r, _) => r.try_read(buf),
            File::PipeWrite(_) => Err(Errno::BADF),
            File::Meta(m) => m.read(buf),
            File::State(s) => Ok(s.read(off, buf)),
            File::Service(s) => s.read(buf),
            File::Stream(s) => s.read(buf),
            File::Socket(s) => s.receive(buf, Receive::default()),
        }
    }

    /// Writes at `off`, or at the end if `append`; returns the bytes written and
    /// the offset after them.
    pub fn write(&self, off: u64, append: bool, data: &[u8]) -> Result<(usize, u64), Errno> {
        let plain = |n: usize| Ok((n, off));
        match self {
            File::Tree(f) => {
                let mut st = f.vfs.write();
                let crate::tree::State { tree, quota, .. } = &mut *st;
                let node = tree.node_mut(f.ino)?;
                let Kind::File { content, program } = &mut node.kind else {
                    return Err(Errno::INVAL);
                };
                let at = if append { content.len() } else { off };
                let room = quota.limits.file.saturating_sub(at);
                if room == 0 && !data.is_empty() {
                    return Err(quota.refuse(Hit::File, Errno::FBIG));
                }
                let data = &data[..data.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
                content.write(at, data, &f.vfs.shared.budget, |n| quota.take(n))?;
                *program = None;
                let now = now_ns();
                (node.mtime, node.ctime) = (now, now);
                Ok((data.len(), at + data.len() as u64))
            }
            File::Host { fd, mount, vfs } => vfs.mount(*mount).write(fd, off, append, data),
            File::Dir { .. } => Err(Errno::ISDIR),
            File::Device(d, ..) => plain(d.write(data.len())?),
            File::PipeRead(_) => Err(Errno::BADF),
            File::PipeWrite(w) | File::PipeBoth(_, w) => plain(w.try_write(data)?),
            // Requests about descriptors need the kernel, which calls `exchange` itself.
            File::Meta(m) => plain(m.exchange(data, &|_| Err(Errno::NOENT))?),
            File::State(s) => Ok((s.write(data)?, off + data.len() as u64)),
            File::Service(s) => plain(s.write(data)?),
            File::Stream(s) => plain(s.write(data)?),
            File::Socket(s) => plain(s.send(data, None)?),
        }
    }

    /// Metadata.
    pub fn stat(&self) -> Result<Stat, Errno> {
        let special = |kind| Stat {
            kind,
            mode: 0o600,
            uid: crate::UID,
            gid: crate::GID,
            nlink: 1,
            dev: 2,
            ino: 9,
            size: 0,
            atime: 0,
            mtime: 0,
            ctime: 0,
        };
        match self {
            File::Tree(f) => Ok(f.vfs.read().tree.node(f.ino)?.stat(f.ino)),
            File::Host { fd, mount, vfs } => vfs.shared.mounts[*mount].fd_stat(fd),
            File::Dir { loc, vfs, .. } => vfs.loc_stat(loc),
            File::Device(_, ino, vfs) => Ok(vfs.read().tree.node(*ino)?.stat(*ino)),
            File::PipeRead(_) | File::PipeWrite(_) | File::PipeBoth(..) => {
                Ok(special(FileKind::Fifo))
            }
            File::Meta(_) | File::State(_) | File::Service(_) => Ok(special(FileKind::CharDevice)),
            File::Stream(s) if s.is_terminal() => Ok(special(FileKind::CharDevice)),
            File::Stream(_) => Ok(special(FileKind::Fifo)),
            File::Socket(_) => Ok(special(FileKind::Socket)),
        }
    }

    /// Sets the length of a regular file.
    pub fn set_len(&self, len: u64) -> Result<(), Errno> {
        match self {
            File::Tree(f) => {
                let mut st = f.vfs.write();
                let crate::tree::State { tree, quota, .. } = &mut *st;
                let node = tree.node_mut(f.ino)?;
                let Kind::File { content, program } = &mut node.kind else {
                    return Err(Errno::INVAL);
                };
                if len > quota.limits.file.max(content.len()) {
                    return Err(quota.refuse(Hit::File, Errno::FBIG));
                }
                let freed = content.set_len(len, &f.vfs.shared.budget)?;
                *program = None;
                let now = now_ns();
                (node.mtime, node.ctime) = (now, now);
                quota.give(freed);
                Ok(())
            }
            File::Host { fd, mount, vfs } => vfs.mount(*mount).set_len(fd, len),
            _ => Err(Errno::INVAL),
        }
    }

    /// Sets times; `None` leaves one as it is.
    pub fn set_times(&self, atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        match self {
            File::Tree(f) => f.vfs.write().set_times(f.ino, atime, mtime),
            File::Host { fd, mount, vfs } => {
                vfs.shared.mounts[*mount].set_fd_times(fd, atime, mtime)
            }
            File::Dir { loc, vfs, .. } => vfs.set_loc_times(loc, atime, mtime),
            _ => Ok(()),
        }
    }

    /// Waits until the host has stored a mounted file's bytes.
    pub fn sync(&self) -> Result<(), Errno> {
        match self {
            File::Host { fd, .. } => host::sync(fd),
            _ => Ok(()),
        }
    }

    /// Whether a read (or a write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let some = |bytes: usize, hangup| Some(Readiness { bytes: bytes as u64, hangup });
        match self {
            File::PipeRead(r) | File::PipeBoth(r, _) if !write => {
                r.readable().and_then(|n| some(n, n == 0))
            }
            File::PipeWrite(w) | File::PipeBoth(_, w) if write => {
                w.writable().and_then(|n| some(n, n == 0))
            }
            File::Stream(s) => s.ready(write),
            File::Service(s) if !write => s.ready(),
            File::Socket(s) => s.ready(write),
            _ => some(65536, false),
        }
    }

    /// Has `who` unparked when readiness may have changed. Returns true if it cannot
    /// promise that and `who` must look again by itself now and then.
    pub fn watch(&self, who: &Thread) -> bool {
        match self {
            File::PipeRead(r) => r.pipe().watch(who),
            File::PipeBoth(r, _) => r.pipe().watch(who),
            File::PipeWrite(w) => w.pipe().watch(who),
            File::Stream(_) => return true,
            File::Service(s) => s.watch(who),
            File::Socket(s) => s.watch(who),
            _ => {}
        }
        false
    }

    /// The directory that this file is, as a base for relative paths.
    pub fn loc(&self) -> Option<&Loc> {
        match self {
            File::Dir { loc, .. } => Some(loc),
            _ => None,
        }
    }
}
