//! What a session's files differ in, as data: the form in which the session's tree
//! (`wasibox-vfs`) tells of its changes and takes them up again.
//!
//! Nodes are named by an [`Id`] that holds for every session of an image, whatever it mounts: where
//! a node lies as a session begins, or the how-manieth node it was that this session has made.
//!
//! # Deliberately absent
//! Owners: every node of a session belongs to its one user.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Bytes of a part of a file's content, but for its last one.
pub const CHUNK: u64 = 64 * 1024;

/// Longest name of a directory entry and longest target of a symbolic link, as Linux has them.
pub const MAX_NAME: usize = 255;
/// Longest target of a symbolic link.
pub const MAX_TARGET: usize = 4095;

/// Whether the name can be one of a directory's entries.
pub fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= MAX_NAME
        && !name.iter().any(|b| matches!(b, b'/' | 0))
}

/// A part of what has changed. Parts are applied in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// Totals of the session after the change.
    pub totals: FileTotals,
    pub nodes: Vec<(Id, NodeChange)>,
}

/// What is counted of a session's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTotals {
    /// How many nodes the session has made; the next one's number.
    pub made: u64,
    /// Bytes that the disk quota has counted.
    pub bytes: u64,
    /// Entries that it has counted.
    pub entries: u64,
}

/// A node's name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Id {
    /// What a session begins with, by its path then: of the image, a directory that every session
    /// has, or a mount.
    Given(Vec<ByteBuf>),
    /// Made by the session, by number.
    Made(u64),
}

impl Id {
    /// The root directory.
    pub const ROOT: Id = Id::Given(Vec::new());
}

/// What became of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeChange {
    /// There is none of that name any more.
    Gone,
    /// It is as the session began with, until something else is told.
    Given,
    Is(TreeNode),
}

/// What a node is now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNode {
    /// Permission bits, 0 to 0o7777.
    pub mode: u16,
    pub nlink: u32,
    /// Times are nanoseconds since the epoch.
    pub atime: u64,
    pub mtime: u64,
    pub ctime: u64,
    pub what: NodeContent,
}

/// A node's kind and contents. Lists are relative to what was told before of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeContent {
    Dir {
        parent: Id,
        /// Entries that were added or lead elsewhere now.
        put: Vec<(ByteBuf, Id)>,
        gone: Vec<ByteBuf>,
        /// The same for names that the session began with.
        hidden: Vec<ByteBuf>,
    },
    File {
        len: u64,
        /// How much is visible of the bytes that the image has for it.
        base: Option<u64>,
        /// Says that it is one of the image's programs.
        program: Option<u32>,
        /// Parts that were written, by number; each hides what the image has there.
        put: Vec<(u64, ByteBuf)>,
        gone: Vec<u64>,
    },
    Symlink(ByteBuf),
    Fifo,
    /// A device or mount, of which only the rest can change.
    Same,
}

impl TreeNode {
    /// Bytes of its names and contents, about.
    pub fn weight(&self) -> usize {
        match &self.what {
            NodeContent::Dir { put, gone, hidden, .. } => {
                let put: usize = put.iter().map(|(name, _)| name.len() + 32).sum();
                put + gone.iter().chain(hidden).map(|name| name.len() + 16).sum::<usize>()
            }
            NodeContent::File { put, gone, .. } => {
                put.iter().map(|(_, bytes)| bytes.len() + 16).sum::<usize>() + gone.len() * 8
            }
            NodeContent::Symlink(target) => target.len(),
            NodeContent::Fifo | NodeContent::Same => 0,
        }
    }
}

impl Delta {
    /// Bytes of memory that it takes, about.
    pub fn memory_size(&self) -> u64 {
        let weight = |change: &NodeChange| match change {
            NodeChange::Is(node) => node.weight() + 256,
            NodeChange::Gone | NodeChange::Given => 256,
        };
        self.nodes.iter().map(|(_, change)| weight(change) as u64).sum()
    }
}
