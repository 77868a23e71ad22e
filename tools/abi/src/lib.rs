//! Messages between guest and host, which are exchanged at *device nodes* in a private directory of
//! the guest's file system.
//!
//! The host serves the nodes (`runner/vfs`), the guest opens them (`tools/sys`). On a runtime
//! without them the paths do not exist and the guest falls back; nothing here is needed for
//! correctness of plain WASI programs.
//!
//! # Nodes
//! - [`META`]: file metadata that WASI preview 1 cannot express. One exchange is one `write` of a
//!   [`MetaRequest`] followed by reads of a reply. A further `write` on the same descriptor starts
//!   the next exchange.
//! - [`PIPE_DIR`]`/NAME/r` and `/NAME/w`: the ends of a bounded pipe ([`PIPE_CAPACITY`] bytes).
//!   Opening either end of an unknown NAME creates the pipe; opening never blocks. A read blocks
//!   while the pipe is empty and either a writer exists or none was opened yet; it returns 0 after
//!   the last writer closed. A write blocks while the pipe is full and either a reader exists or
//!   none was opened yet; it fails with EPIPE after the last reader closed. The pipe is removed
//!   once both ends were opened and every descriptor is closed.
//!
//! - [`session::STATE`]: the state that the shell left in the last call of a session. Reading
//!   returns all of it from the beginning; the bytes that were written through a descriptor replace
//!   it when the descriptor is closed, if they are a complete state. The node exists only during a
//!   session's calls.
//!
//! - [`kv::KV`]: the session's key-values. In an exchange the guest writes one [`kv::KvRequest`]
//!   and reads one [`kv::KvAnswer`]; a further `write` starts the next one. The node exists during
//!   the calls of a session that keeps values.
//!
//! - [`http::HTTP`]: requests to servers outside of the session, as the policy allows; exchanges as
//!   with [`kv::KV`]. The node exists if the policy allows any.
//!
//! - [`tools::TOOLS`]: host tools, which are functions of the embedder; exchanges as with
//!   [`kv::KV`]. The node exists if there are any.
//!
//! - [`terminal::TERMINAL`]: attributes, sizes and groups of terminals, and locks of files
//!   ([`lock`]); exchanges as with [`META`].
//!
//! [`signal`] has the numbers and names of signals.
//!
//! # Invariants
//! - Integers are little-endian. Paths are byte strings, absolute in the guest, without NUL. Every
//!   decoder is total: hostile bytes give `None`, no panic.
//! - This crate is `no_std`, has no dependency and no I/O: both sides share it.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
use alloc::vec::Vec;

pub mod http;
pub mod kv;
pub mod lock;
pub mod session;
pub mod signal;
pub mod terminal;
pub mod tools;

/// The private directory of the device nodes. It is not listed in `/`.
pub const DIR: &str = "/.box";
/// The metadata node.
pub const META: &str = "/.box/meta";
/// The directory of named bounded pipes.
pub const PIPE_DIR: &str = "/.box/pipe";
/// Capacity of a pipe in bytes, Linux's default (`pipe(7)`).
pub const PIPE_CAPACITY: usize = 65536;

/// The offset that is added to the numbers of the descriptors from 3 up when a program receives
/// them, because on WASI the low numbers belong to the preopened directories. A guest's `/dev/fd/N`
/// means descriptor N plus this offset.
pub const FD_SHIFT: u32 = 29;

/// The system as `uname` and `/proc` describe it: a small Linux machine, so that scripts take their
/// usual path.
pub struct Uname {
    pub kernel: &'static str,
    pub release: &'static str,
    pub version: &'static str,
    pub machine: &'static str,
}

/// The system of all sessions.
pub const SYSTEM: Uname = Uname {
    kernel: "Linux",
    release: "6.1.0-wasibox",
    version: "#1 SMP Wasibox",
    machine: "wasm32",
};

/// The environment variable that names the applet to the multicall program where `argv[0]` differs
/// (`exec -a`, a link by another name); `main` removes it.
pub const PROGRAM_VARIABLE: &str = "BOX_PROGRAM";

/// The environment variable that holds a process's file mode creation mask, in octal; without it
/// the mask is [`DEFAULT_UMASK`]. The host applies it to the files that the process creates.
pub const UMASK_VARIABLE: &str = "BOX_UMASK";
/// The usual mask.
pub const DEFAULT_UMASK: u16 = 0o022;

/// The environment variable that describes a process's work to the host if its arguments do not, as
/// in a shell that runs a part of another shell's script. The host shows it to people and bases no
/// decision on it.
pub const TASK_VARIABLE: &str = "BOX_TASK";

/// The environment variable by which a parent selects a child's process group: [`GROUP_NEW`] or the
/// number of a group of its session. The host removes it.
pub const GROUP_VARIABLE: &str = "BOX_GROUP";
/// The value for a new group.
pub const GROUP_NEW: &str = "new";

/// The living processes: for each a line `PID PARENT GROUP SESSION MILLISECONDS LENGTH`, where the
/// milliseconds are CPU time, then LENGTH bytes: its arguments, each with a NUL after it.
pub const PROCESSES: &str = "/.box/processes";

/// The addresses that sockets of the session's loopback have taken: for each a line `KIND STATE
/// ADDRESS`, where KIND is `tcp` or `udp`, STATE is `listen` or `bound`, and ADDRESS is that of
/// `SocketAddr`: `127.0.0.1:8000`, `[::]:80`.
pub const SOCKETS: &str = "/.box/sockets";

/// The node that gives the size of a process's call stack in bytes, as a decimal number. This is
/// the stack that the engine keeps, in addition to the one in linear memory. Programs bound their
/// recursion by it. The number assumes frames of optimised code; a host whose engine makes larger
/// frames reports less than it has.
pub const STACK: &str = "/.box/stack";

/// Numbers that `proc_signal` takes in place of a signal, with effects of their own. Their lowest
/// byte is that of signal 0, so that a host that looks only at that byte does nothing.
pub mod control {
    /// From now on the caller ignores exactly the signals in a set, which is given as the process
    /// argument: bit N for signal N.
    pub const IGNORE: u32 = 0x100;
    /// The caller begins a session (`setsid(2)`); the process argument does not matter.
    pub const SESSION: u32 = 0x200;
    /// All threads of the caller's process except the caller end; the caller must be the first
    /// thread. The process argument does not matter. The threads end when they next wait, as if the
    /// process had been forked.
    pub const ALONE: u32 = 0x400;
    /// From now on a write to a pipe without readers ends the caller's process as SIGPIPE does by
    /// default; the process argument does not matter. Without it such a write returns EPIPE, which
    /// a program has to check for.
    pub const PIPE: u32 = 0x800;
    /// The caller stops, as by the default action of the signal that is given as the process
    /// argument: TSTP, TTIN or TTOU. A program with a handler for all signals needs it, because the
    /// signal itself would reach the handler again.
    pub const STOP: u32 = 0x1000;
    /// From now on the caller's handler takes exactly the signals in a set, which is given as the
    /// process argument: bit N for signal N; those from 32 on always reach it. The others have
    /// their default action at once, also while the program computes. Without this call the handler
    /// takes all signals, but only at the end of a system call.
    pub const CATCH: u32 = 0x2000;
}

/// Ids of WASI clocks that only our host has: CPU times of a process in nanoseconds. Any other
/// host answers EINVAL.
pub mod clock {
    /// The time that the process itself has spent computing (user time).
    pub const USER: u32 = 0x100;
    /// The time that the host has spent in the process's system calls.
    pub const SYSTEM: u32 = 0x101;
    /// The user time of the children that were waited for, and of their children.
    pub const CHILDREN_USER: u32 = 0x102;
    /// The time that the host has spent in those children's system calls.
    pub const CHILDREN_SYSTEM: u32 = 0x103;
}

/// The type of a file; the values are the type bits of `st_mode` shifted right by 12 (POSIX
/// `sys/stat.h` as numbered by Linux).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FileKind {
    Fifo = 0o01,
    CharDevice = 0o02,
    Dir = 0o04,
    BlockDevice = 0o06,
    File = 0o10,
    Symlink = 0o12,
    Socket = 0o14,
}

impl FileKind {
    /// Returns the kind for type bits `st_mode >> 12`.
    pub fn from_bits(bits: u8) -> Option<FileKind> {
        Some(match bits {
            0o01 => FileKind::Fifo,
            0o02 => FileKind::CharDevice,
            0o04 => FileKind::Dir,
            0o06 => FileKind::BlockDevice,
            0o10 => FileKind::File,
            0o12 => FileKind::Symlink,
            0o14 => FileKind::Socket,
            _ => return None,
        })
    }

    /// Returns the letter that `ls -l` begins a line with.
    pub fn letter(self) -> char {
        match self {
            FileKind::File => '-',
            FileKind::Dir => 'd',
            FileKind::Symlink => 'l',
            FileKind::Fifo => 'p',
            FileKind::Socket => 's',
            FileKind::BlockDevice => 'b',
            FileKind::CharDevice => 'c',
        }
    }
}

/// One file's metadata, as `stat(2)` returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    pub kind: FileKind,
    /// Permission bits, 0 to 0o7777.
    pub mode: u16,
    pub uid: u32,
    pub gid: u32,
    pub nlink: u32,
    /// Identifies the mounted file system.
    pub dev: u64,
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Times in nanoseconds since the epoch.
    pub atime: u64,
    pub mtime: u64,
    pub ctime: u64,
}

impl Stat {
    /// Returns the name that GNU's tools have for such a file (`stat -c %F`, `diff`), for example
    /// `regular file`.
    pub fn kind_name(&self) -> &'static str {
        match self.kind {
            FileKind::File if self.size == 0 => "regular empty file",
            FileKind::File => "regular file",
            FileKind::Dir => "directory",
            FileKind::Symlink => "symbolic link",
            FileKind::Fifo => "fifo",
            FileKind::Socket => "socket",
            FileKind::CharDevice => "character special file",
            FileKind::BlockDevice => "block special file",
        }
    }
}

/// Encoded length of a [`Stat`].
pub const STAT_LEN: usize = 64;

impl Stat {
    /// Encodes into [`STAT_LEN`] bytes.
    pub fn encode(&self) -> [u8; STAT_LEN] {
        let mut out = [0u8; STAT_LEN];
        out[0] = self.kind as u8;
        out[2..4].copy_from_slice(&self.mode.to_le_bytes());
        for (i, v) in [self.uid, self.gid, self.nlink].into_iter().enumerate() {
            out[4 + 4 * i..8 + 4 * i].copy_from_slice(&v.to_le_bytes());
        }
        let longs = [self.dev, self.ino, self.size, self.atime, self.mtime, self.ctime];
        for (i, v) in longs.into_iter().enumerate() {
            out[16 + 8 * i..24 + 8 * i].copy_from_slice(&v.to_le_bytes());
        }
        out
    }

    /// Decodes the output of [`Stat::encode`]; `None` for any other bytes.
    pub fn decode(b: &[u8]) -> Option<Stat> {
        let b: &[u8; STAT_LEN] = b.try_into().ok()?;
        let u32_at = |i: usize| u32::from_le_bytes([b[i], b[i + 1], b[i + 2], b[i + 3]]);
        let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
        Some(Stat {
            kind: FileKind::from_bits(b[0])?,
            mode: u16::from_le_bytes([b[2], b[3]]) & 0o7777,
            uid: u32_at(4),
            gid: u32_at(8),
            nlink: u32_at(12),
            dev: u64_at(16),
            ino: u64_at(24),
            size: u64_at(32),
            atime: u64_at(40),
            mtime: u64_at(48),
            ctime: u64_at(56),
        })
    }
}

/// A request to the [`META`] node.
///
/// The reply is an errno (WASI preview 1 numbering, `u16`, 0 for success) and,
/// after a successful [`MetaRequest::Stat`], an encoded [`Stat`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetaRequest<'a> {
    /// `stat(2)`, or `lstat(2)` when `follow` is false.
    Stat { path: &'a [u8], follow: bool },
    /// `chmod(2)`: permission bits, 0 to 0o7777. Follows symbolic links.
    Chmod { path: &'a [u8], mode: u16 },
    /// `chown(2)`; `u32::MAX` leaves the id as it is.
    Chown { path: &'a [u8], uid: u32, gid: u32, follow: bool },
    /// `utimensat(2)`: nanoseconds since the epoch; `None` leaves the time as it is.
    SetTimes { path: &'a [u8], atime: Option<u64>, mtime: Option<u64>, follow: bool },
    /// `mkfifo(3)` with permission bits.
    Mkfifo { path: &'a [u8], mode: u16 },
}

impl<'a> MetaRequest<'a> {
    /// Encodes the request: one tag byte, fixed fields, then the path to the end.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(40);
        match *self {
            MetaRequest::Stat { path, follow } => {
                out.extend_from_slice(&[1, u8::from(follow)]);
                out.extend_from_slice(path);
            }
            MetaRequest::Chmod { path, mode } => {
                out.push(2);
                out.extend_from_slice(&mode.to_le_bytes());
                out.extend_from_slice(path);
            }
            MetaRequest::Chown { path, uid, gid, follow } => {
                out.extend_from_slice(&[3, u8::from(follow)]);
                out.extend_from_slice(&uid.to_le_bytes());
                out.extend_from_slice(&gid.to_le_bytes());
                out.extend_from_slice(path);
            }
            MetaRequest::SetTimes { path, atime, mtime, follow } => {
                let flags = u8::from(follow)
                    | u8::from(atime.is_some()) << 1
                    | u8::from(mtime.is_some()) << 2;
                out.extend_from_slice(&[4, flags]);
                out.extend_from_slice(&atime.unwrap_or(0).to_le_bytes());
                out.extend_from_slice(&mtime.unwrap_or(0).to_le_bytes());
                out.extend_from_slice(path);
            }
            MetaRequest::Mkfifo { path, mode } => {
                out.push(5);
                out.extend_from_slice(&mode.to_le_bytes());
                out.extend_from_slice(path);
            }
        }
        out
    }

    /// Decodes a request; `None` for anything that [`MetaRequest::encode`] does not write.
    pub fn decode(b: &'a [u8]) -> Option<MetaRequest<'a>> {
        let (&tag, rest) = b.split_first()?;
        let req = match tag {
            1 => {
                let (&f, path) = rest.split_first()?;
                MetaRequest::Stat { path, follow: f & 1 != 0 }
            }
            2 | 5 => {
                let (m, path) = rest.split_first_chunk::<2>()?;
                let mode = u16::from_le_bytes(*m);
                if tag == 2 {
                    MetaRequest::Chmod { path, mode }
                } else {
                    MetaRequest::Mkfifo { path, mode }
                }
            }
            3 => {
                let (&f, rest) = rest.split_first()?;
                let (uid, rest) = rest.split_first_chunk::<4>()?;
                let (gid, path) = rest.split_first_chunk::<4>()?;
                let (uid, gid) = (u32::from_le_bytes(*uid), u32::from_le_bytes(*gid));
                MetaRequest::Chown { path, uid, gid, follow: f & 1 != 0 }
            }
            4 => {
                let (&f, rest) = rest.split_first()?;
                let (a, rest) = rest.split_first_chunk::<8>()?;
                let (m, path) = rest.split_first_chunk::<8>()?;
                let time = |bit: u8, t: &[u8; 8]| (f & bit != 0).then(|| u64::from_le_bytes(*t));
                MetaRequest::SetTimes {
                    path,
                    atime: time(2, a),
                    mtime: time(4, m),
                    follow: f & 1 != 0,
                }
            }
            _ => return None,
        };
        let path = req.path();
        (path.first() == Some(&b'/') && !path.contains(&0)).then_some(req)
    }

    /// Returns the path that the request is about.
    pub fn path(&self) -> &'a [u8] {
        match *self {
            MetaRequest::Stat { path, .. }
            | MetaRequest::Chmod { path, .. }
            | MetaRequest::Chown { path, .. }
            | MetaRequest::SetTimes { path, .. }
            | MetaRequest::Mkfifo { path, .. } => path,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_round_trip() {
        let path = b"/tmp/a b".as_slice();
        for r in [
            MetaRequest::Stat { path, follow: true },
            MetaRequest::Stat { path, follow: false },
            MetaRequest::Chmod { path, mode: 0o4755 },
            MetaRequest::Chown { path, uid: 1, gid: u32::MAX, follow: false },
            MetaRequest::SetTimes { path, atime: None, mtime: Some(7), follow: true },
            MetaRequest::Mkfifo { path, mode: 0o600 },
        ] {
            assert_eq!(MetaRequest::decode(&r.encode()), Some(r));
        }
    }

    #[test]
    fn hostile_requests_are_refused() {
        for b in [
            &b""[..],
            b"\x01",
            b"\x01\x01",
            b"\x01\x01rel",
            b"\x01\x01/a\0b",
            b"\x02\x01",
            b"\x09/a",
        ] {
            assert_eq!(MetaRequest::decode(b), None, "{b:?}");
        }
    }

    #[test]
    fn stat_round_trips() {
        let s = Stat {
            kind: FileKind::Symlink,
            mode: 0o777,
            uid: 1000,
            gid: 1000,
            nlink: 2,
            dev: 3,
            ino: u64::MAX,
            size: 1 << 40,
            atime: 1,
            mtime: 2,
            ctime: 3,
        };
        assert_eq!(Stat::decode(&s.encode()), Some(s));
        assert_eq!(Stat::decode(&[0; STAT_LEN]), None);
        assert_eq!(Stat::decode(&[0; 3]), None);
    }
}
