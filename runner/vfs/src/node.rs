//! The nodes of the tree, and the entries of a directory.

use crate::budget::{Budget, HeldBytes};
use crate::content::FileContent;
use crate::device::Device;
use crate::errno::Errno;
use crate::pipe::Pipe;
use box_abi::{FileKind, Stat};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The one user of a session.
pub const UID: u32 = 1000;
/// The one group of a session.
pub const GID: u32 = 1000;

/// A node's number; never reused within a session.
pub type Ino = u64;

/// Longest name of a directory's entry in bytes (Linux's `NAME_MAX`).
pub const MAX_NAME: usize = 255;

/// The mark of a file that is one of the image's programs; the host assigns the number. Writing to
/// the file removes the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramMark(pub u32);

/// The properties of an executable file that the kernel needs to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its mark, if it is one of the image's programs.
    pub program: Option<ProgramMark>,
    /// Its first bytes, for `#!`; empty for a program whose bytes were not fetched.
    pub head: Vec<u8>,
    /// Its own name in its directory, after following links.
    pub name: Vec<u8>,
}

/// A name in a directory.
pub type Name = Arc<[u8]>;

/// A directory's entries.
#[derive(Clone, Debug, Default)]
pub struct DirEntries {
    map: BTreeMap<Name, Ino>,
    held: HeldBytes,
}

impl DirEntries {
    /// Computes the bytes that a name occupies: itself, its counters, its part of a map's node.
    fn entry_cost(name: &[u8]) -> u64 {
        name.len() as u64 + 80
    }

    /// Adds an entry; ENOMEM if the budget has no room.
    pub fn add_entry(&mut self, name: &[u8], ino: Ino, budget: &Arc<Budget>) -> Result<(), Errno> {
        if !self.held.grow_by(budget, DirEntries::entry_cost(name)) {
            return Err(Errno::NOMEM);
        }
        self.map.insert(name.into(), ino);
        Ok(())
    }

    /// Adds an entry that is not charged, because no guest asked for it.
    pub fn put_entry(&mut self, name: &[u8], ino: Ino) {
        self.map.insert(name.into(), ino);
    }

    /// Removes an entry.
    pub fn remove_entry(&mut self, name: &[u8]) -> Option<Ino> {
        let ino = self.map.remove(name)?;
        self.held.shrink_by(DirEntries::entry_cost(name));
        Some(ino)
    }
}

impl From<BTreeMap<Name, Ino>> for DirEntries {
    fn from(map: BTreeMap<Name, Ino>) -> DirEntries {
        DirEntries { map, held: HeldBytes::default() }
    }
}

impl std::ops::Deref for DirEntries {
    type Target = BTreeMap<Name, Ino>;

    fn deref(&self) -> &BTreeMap<Name, Ino> {
        &self.map
    }
}

/// The kind of a node.
#[derive(Clone, Debug)]
pub enum NodeKind {
    Dir {
        parent: Ino,
        entries: Arc<DirEntries>,
    },
    File {
        content: FileContent,
        program: Option<ProgramMark>,
    },
    Symlink(Arc<[u8]>),
    Device(Device),
    Fifo(Arc<Pipe>),
    /// The attachment point of host mount number N; `parent` is the directory above.
    Mount {
        index: usize,
        parent: Ino,
    },
    /// Another name for a descriptor of the caller, such as `/dev/stdin`.
    Descriptor(u32),
    /// The device node for metadata.
    BridgeMeta,
    /// The node of requests about terminals.
    BridgeTerminals,
    /// The directory of named pipes below `/.box`.
    BridgePipes,
}

/// A node. Times are nanoseconds since the epoch.
#[derive(Clone, Debug)]
pub struct Inode {
    pub kind: NodeKind,
    /// Permission bits, 0 to 0o7777.
    pub mode: u16,
    pub nlink: u32,
    pub atime: u64,
    pub mtime: u64,
    pub ctime: u64,
    pub(crate) held: HeldBytes,
}

impl Inode {
    /// Creates a node with one link and the present time.
    pub fn new(kind: NodeKind, mode: u16) -> Inode {
        Inode::new_at(kind, mode, now_ns())
    }

    /// Creates a node with one link and the given time.
    pub fn new_at(kind: NodeKind, mode: u16, time: u64) -> Inode {
        let nlink = if matches!(kind, NodeKind::Dir { .. }) { 2 } else { 1 };
        Inode {
            kind,
            mode,
            nlink,
            atime: time,
            mtime: time,
            ctime: time,
            held: HeldBytes::default(),
        }
    }

    /// Host memory of a node, without the data that it points to.
    pub(crate) const COST: u64 = size_of::<Inode>() as u64 + 32;

    /// Counts the node in the budget; ENOMEM if there is no room.
    pub(crate) fn count_in(&mut self, budget: &Arc<Budget>) -> Result<(), Errno> {
        let more = match &self.kind {
            NodeKind::Symlink(target) => target.len() as u64 + 32,
            _ => 0,
        };
        if self.held.grow_by(budget, Inode::COST + more) { Ok(()) } else { Err(Errno::NOMEM) }
    }

    /// Returns the file type for `stat`.
    pub fn file_kind(&self) -> FileKind {
        match &self.kind {
            NodeKind::Dir { .. } | NodeKind::Mount { .. } | NodeKind::BridgePipes => FileKind::Dir,
            NodeKind::File { .. } => FileKind::File,
            NodeKind::Symlink(_) => FileKind::Symlink,
            NodeKind::Fifo(_) => FileKind::Fifo,
            NodeKind::Device(_)
            | NodeKind::Descriptor(_)
            | NodeKind::BridgeMeta
            | NodeKind::BridgeTerminals => FileKind::CharDevice,
        }
    }

    /// Returns the size in bytes for `stat`.
    pub fn size(&self) -> u64 {
        match &self.kind {
            NodeKind::File { content, .. } => content.len(),
            NodeKind::Symlink(t) => t.len() as u64,
            NodeKind::Dir { .. } => 4096,
            _ => 0,
        }
    }

    /// Returns the metadata of `stat(2)`.
    pub fn stat(&self, ino: Ino) -> Stat {
        Stat {
            kind: self.file_kind(),
            mode: self.mode,
            uid: UID,
            gid: GID,
            nlink: self.nlink,
            dev: 1,
            ino,
            size: self.size(),
            atime: self.atime,
            mtime: self.mtime,
            ctime: self.ctime,
        }
    }

    /// Returns EACCES unless the owner has all of `bits` (4 read, 2 write, 1 execute).
    pub fn require_access(&self, bits: u16) -> Result<(), Errno> {
        if (self.mode >> 6) & bits == bits { Ok(()) } else { Err(Errno::ACCES) }
    }
}

/// Returns nanoseconds since the epoch.
pub fn now_ns() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}
