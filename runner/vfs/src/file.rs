//! Open files: reads and writes by offset, never blocking.

use crate::bridge::MetaExchange;
use crate::budget::Reservation;
use crate::buffer::Readiness;
use crate::device::Device;
use crate::errno::Errno;
use crate::host::{self, OpenHostFile};
use crate::loc::{Loc, TERMINAL_INO};
use crate::net::{ReceiveOptions, Socket};
use crate::node::{GID, UID, now_ns};
use crate::pipe::{ReadEnd, WriteEnd};
use crate::proc::ProcFile;
use crate::quota::QuotaHit;
use crate::service::ServiceFile;
use crate::session_state::StateFile;
use crate::terminal::{MasterEnd, SlaveEnd, TerminalExchange};
use crate::tree::{DEV_PTMX, Ino, NodeKind, TreeState};
use crate::vfs::Vfs;
use box_abi::{FileKind, Stat};
use std::sync::Arc;
use std::thread::Thread;

/// A standard stream of the session, connected by the host.
pub trait StdStream: Send + Sync + std::fmt::Debug {
    /// Reads the available bytes; 0 is end of file, [`Errno::AGAIN`] means wait.
    fn read(&self, buf: &mut [u8]) -> Result<usize, Errno>;
    /// Writes; [`Errno::AGAIN`] means wait.
    fn write(&self, data: &[u8]) -> Result<usize, Errno>;
    /// Returns the readiness if a read (or write) is known to be able to proceed now; `None` if it
    /// may have to wait.
    fn readiness_of(&self, write: bool) -> Option<Readiness>;
    /// Waits at most `timeout` for a read (or write) to be able to proceed; may return early. Only
    /// called if [`StdStream::readiness_of`] returned `None`.
    fn wait_ready(&self, write: bool, timeout: std::time::Duration);
    /// Returns whether a write was refused because the stream has reached its limit.
    fn is_full(&self) -> bool {
        false
    }
    /// Returns whether a terminal is at the other end.
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
        self.vfs.write().count_close(self.ino);
    }
}

/// An open file. Access rights and the offset belong to the opener.
#[derive(Debug)]
pub enum VfsFile {
    Tree(TreeFile),
    Host {
        fd: OpenHostFile,
        mount: usize,
        vfs: Vfs,
    },
    Dir {
        loc: Loc,
        vfs: Vfs,
        /// The bytes of the budget that it holds.
        held: Reservation,
    },
    Device(Device, Ino, Vfs),
    PipeRead(ReadEnd),
    PipeWrite(WriteEnd),
    /// A FIFO opened for reading and writing.
    PipeBoth(ReadEnd, WriteEnd),
    Meta(MetaExchange),
    State(StateFile),
    Proc(ProcFile),
    Service(ServiceFile),
    Stream(Arc<dyn StdStream>),
    Socket(Box<Socket>),
    /// The master end of a terminal.
    Master(MasterEnd),
    /// The end of a terminal that programs use.
    Slave(SlaveEnd),
    /// The node of requests about terminals.
    Terminals(TerminalExchange),
}

impl VfsFile {
    pub(crate) fn open_tree_file(vfs: &Vfs, st: &mut TreeState, ino: Ino) -> VfsFile {
        st.count_open(ino);
        VfsFile::Tree(TreeFile { vfs: vfs.clone(), ino })
    }

    /// Returns whether offsets are meaningful; otherwise reads and writes ignore them.
    pub fn seekable(&self) -> bool {
        matches!(
            self,
            VfsFile::Tree(_)
                | VfsFile::Host { .. }
                | VfsFile::Dir { .. }
                | VfsFile::Device(..)
                | VfsFile::State(_)
                | VfsFile::Proc(_)
        )
    }

    /// Reads at `off`; 0 is end of file.
    pub fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        match self {
            VfsFile::Tree(f) => {
                let st = f.vfs.read();
                let node = st.tree.node_at(f.ino)?;
                let NodeKind::File { content, .. } = &node.kind else { return Err(Errno::INVAL) };
                if content.lazy_bytes().is_none() {
                    return content.read(off, buf);
                }
                // The bytes may have to be fetched, and the tree must not be locked meanwhile.
                let node = node.clone();
                drop(st);
                match &node.kind {
                    NodeKind::File { content, .. } => content.read(off, buf),
                    _ => Err(Errno::INVAL),
                }
            }
            VfsFile::Host { fd, .. } => host::read_at(fd, buf, off),
            VfsFile::Dir { .. } => Err(Errno::ISDIR),
            VfsFile::Device(d, ..) => d.read(buf),
            VfsFile::PipeRead(r) | VfsFile::PipeBoth(r, _) => r.try_read(buf),
            VfsFile::PipeWrite(_) => Err(Errno::BADF),
            VfsFile::Meta(m) => m.read(buf),
            VfsFile::State(s) => Ok(s.read(off, buf)),
            VfsFile::Proc(f) => Ok(f.read(off, buf)),
            VfsFile::Service(s) => s.read(buf),
            VfsFile::Stream(s) => s.read(buf),
            VfsFile::Socket(s) => s.receive(buf, ReceiveOptions::default()),
            VfsFile::Master(m) => m.try_read(buf),
            VfsFile::Slave(s) => s.try_read(buf),
            VfsFile::Terminals(x) => Ok(x.read(buf)),
        }
    }

    /// Writes at `off`, or at the end if `append`; returns the bytes written and the offset after
    /// them.
    pub fn write(&self, off: u64, append: bool, data: &[u8]) -> Result<(usize, u64), Errno> {
        let plain = |n: usize| Ok((n, off));
        match self {
            VfsFile::Tree(f) => {
                let mut st = f.vfs.write();
                let TreeState { tree, quota, .. } = &mut *st;
                let node = tree.node_mut(f.ino)?;
                let NodeKind::File { content, program } = &mut node.kind else {
                    return Err(Errno::INVAL);
                };
                let at = if append { content.len() } else { off };
                let room = quota.limits.file.saturating_sub(at);
                if room == 0 && !data.is_empty() {
                    return Err(quota.note_refusal(QuotaHit::File, Errno::FBIG));
                }
                let data = &data[..data.len().min(usize::try_from(room).unwrap_or(usize::MAX))];
                content.write(at, data, &f.vfs.shared.budget, |n| quota.take_bytes(n))?;
                *program = None;
                let now = now_ns();
                (node.mtime, node.ctime) = (now, now);
                Ok((data.len(), at + data.len() as u64))
            }
            VfsFile::Host { fd, mount, vfs } => vfs.mount(*mount).write(fd, off, append, data),
            VfsFile::Dir { .. } => Err(Errno::ISDIR),
            VfsFile::Device(d, ..) => plain(d.write(data.len())?),
            VfsFile::PipeRead(_) | VfsFile::Proc(_) => Err(Errno::BADF),
            VfsFile::PipeWrite(w) | VfsFile::PipeBoth(_, w) => plain(w.try_write(data)?),
            // Requests about descriptors need the kernel, which calls `take_request` itself.
            VfsFile::Meta(m) => plain(m.take_request(data, &|_| Err(Errno::NOENT))?),
            VfsFile::State(s) => Ok((s.write(data)?, off + data.len() as u64)),
            VfsFile::Service(s) => plain(s.write(data)?),
            VfsFile::Stream(s) => plain(s.write(data)?),
            VfsFile::Socket(s) => plain(s.send(data, None)?),
            VfsFile::Master(m) => plain(m.try_write(data)?),
            VfsFile::Slave(s) => plain(s.try_write(data)?),
            // The kernel answers these requests.
            VfsFile::Terminals(_) => Err(Errno::BADF),
        }
    }

    /// Returns the metadata.
    pub fn stat(&self) -> Result<Stat, Errno> {
        let special = |kind| Stat {
            kind,
            mode: 0o600,
            uid: UID,
            gid: GID,
            nlink: 1,
            dev: 2,
            ino: 9,
            size: 0,
            atime: 0,
            mtime: 0,
            ctime: 0,
        };
        match self {
            VfsFile::Tree(f) => Ok(f.vfs.read().tree.node_at(f.ino)?.stat(f.ino)),
            VfsFile::Host { fd, mount, vfs } => vfs.shared.mounts[*mount].fd_stat(fd),
            VfsFile::Dir { loc, vfs, .. } => vfs.loc_stat(loc),
            VfsFile::Device(_, ino, vfs) => Ok(vfs.read().tree.node_at(*ino)?.stat(*ino)),
            VfsFile::Proc(f) => Ok(f.stat()),
            VfsFile::PipeRead(_) | VfsFile::PipeWrite(_) | VfsFile::PipeBoth(..) => {
                Ok(special(FileKind::Fifo))
            }
            VfsFile::Meta(_) | VfsFile::State(_) | VfsFile::Service(_) | VfsFile::Terminals(_) => {
                Ok(special(FileKind::CharDevice))
            }
            VfsFile::Stream(s) if s.is_terminal() => Ok(special(FileKind::CharDevice)),
            VfsFile::Stream(_) => Ok(special(FileKind::Fifo)),
            VfsFile::Socket(_) => Ok(special(FileKind::Socket)),
            VfsFile::Master(_) => {
                Ok(Stat { ino: DEV_PTMX, mode: 0o666, ..special(FileKind::CharDevice) })
            }
            VfsFile::Slave(s) => Ok(Stat {
                ino: TERMINAL_INO + u64::from(s.terminal().number()),
                mode: 0o620,
                ..special(FileKind::CharDevice)
            }),
        }
    }

    /// Sets the length of a regular file.
    pub fn set_len(&self, len: u64) -> Result<(), Errno> {
        match self {
            VfsFile::Tree(f) => {
                let mut st = f.vfs.write();
                let TreeState { tree, quota, .. } = &mut *st;
                let node = tree.node_mut(f.ino)?;
                let NodeKind::File { content, program } = &mut node.kind else {
                    return Err(Errno::INVAL);
                };
                if len > quota.limits.file.max(content.len()) {
                    return Err(quota.note_refusal(QuotaHit::File, Errno::FBIG));
                }
                let freed = content.set_len(len, &f.vfs.shared.budget)?;
                *program = None;
                let now = now_ns();
                (node.mtime, node.ctime) = (now, now);
                quota.give_bytes(freed);
                Ok(())
            }
            VfsFile::Host { fd, mount, vfs } => vfs.mount(*mount).set_len(fd, len),
            _ => Err(Errno::INVAL),
        }
    }

    /// Sets times; `None` leaves one as it is.
    pub fn set_times(&self, atime: Option<u64>, mtime: Option<u64>) -> Result<(), Errno> {
        match self {
            VfsFile::Tree(f) => f.vfs.write().set_times(f.ino, atime, mtime),
            VfsFile::Host { fd, mount, vfs } => {
                vfs.shared.mounts[*mount].set_fd_times(fd, atime, mtime)
            }
            VfsFile::Dir { loc, vfs, .. } => vfs.set_loc_times(loc, atime, mtime),
            _ => Ok(()),
        }
    }

    /// Waits until the host has stored a mounted file's bytes.
    pub fn sync(&self) -> Result<(), Errno> {
        match self {
            VfsFile::Host { fd, .. } => host::sync(fd),
            _ => Ok(()),
        }
    }

    /// Returns whether a read (or a write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let some = |bytes: usize, hangup| Some(Readiness { bytes: bytes as u64, hangup });
        match self {
            VfsFile::PipeRead(r) | VfsFile::PipeBoth(r, _) if !write => {
                r.readable_bytes().and_then(|n| some(n, n == 0))
            }
            VfsFile::PipeWrite(w) | VfsFile::PipeBoth(_, w) if write => {
                w.writable_room().and_then(|n| some(n, n == 0))
            }
            VfsFile::Stream(s) => s.readiness_of(write),
            VfsFile::Service(s) if !write => s.ready(),
            VfsFile::Socket(s) => s.ready(write),
            VfsFile::Master(m) => m.ready(write),
            VfsFile::Slave(s) => s.ready(write),
            _ => some(65536, false),
        }
    }

    /// Unparks `who` when readiness may have changed. Returns true if such changes cannot be
    /// noticed, so that `who` must check again from time to time.
    pub fn watch(&self, who: &Thread) -> bool {
        match self {
            VfsFile::PipeRead(r) => r.pipe().watch(who),
            VfsFile::PipeBoth(r, _) => r.pipe().watch(who),
            VfsFile::PipeWrite(w) => w.pipe().watch(who),
            VfsFile::Stream(_) => return true,
            VfsFile::Service(s) => s.watch(who),
            VfsFile::Socket(s) => s.watch(who),
            VfsFile::Master(m) => m.terminal().watch(who),
            VfsFile::Slave(s) => s.terminal().watch(who),
            _ => {}
        }
        false
    }

    /// Returns the location of an open directory, as a base for relative paths.
    pub fn loc(&self) -> Option<&Loc> {
        match self {
            VfsFile::Dir { loc, .. } => Some(loc),
            _ => None,
        }
    }
}
