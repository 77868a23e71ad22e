//! The changes of a session's files as data, which the session's tree (`wasibox-vfs`) emits and
//! applies.
//!
//! Nodes are named by an [`Id`] that is the same in every session of an image, with any mounts: the
//! initial path of a node or, for a node that the session made, its number in the order of
//! creation.
//!
//! # Deliberately absent
//! Owners: every node of a session belongs to its only user.

use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// Bytes of each part of a file's content except the last.
pub const CHUNK: u64 = 64 * 1024;

/// Maximum length of a directory entry's name, as in Linux.
pub const MAX_NAME: usize = 255;
/// Maximum length of a symbolic link's target, as in Linux.
pub const MAX_TARGET: usize = 4095;

/// Returns whether a name is valid for a directory entry.
pub fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..")
        && name.len() <= MAX_NAME
        && !name.iter().any(|b| matches!(b, b'/' | 0))
}

/// A part of the changes. Parts are applied in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The session's totals after the change.
    pub totals: FileTotals,
    pub nodes: Vec<(Id, NodeChange)>,
}

/// The totals of a session's files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTotals {
    /// The number of nodes that the session has made, which is also the number of the next one.
    pub made: u64,
    /// Bytes counted by the disk quota.
    pub bytes: u64,
    /// Entries counted by the disk quota.
    pub entries: u64,
}

/// The name of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Id {
    /// A node with which a session begins, by its initial path: part of the image, a directory that
    /// every session has, or a mount.
    Given(Vec<ByteBuf>),
    /// A node made by the session, by number.
    Made(u64),
}

impl Id {
    /// The root directory.
    pub const ROOT: Id = Id::Given(Vec::new());
}

/// The change of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeChange {
    /// The node no longer exists.
    Gone,
    /// The node is as it was when the session began, until another change follows.
    Given,
    Is(TreeNode),
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeNode {
    /// Permission bits, 0 to 0o7777.
    pub mode: u16,
    pub nlink: u32,
    /// This and the other times are in nanoseconds since the epoch.
    pub atime: u64,
    pub mtime: u64,
    pub ctime: u64,
    pub what: NodeContent,
}

/// A node's kind and contents. Lists are relative to the previous changes of the node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeContent {
    Dir {
        parent: Id,
        /// Entries that were added, or that now lead to another node.
        put: Vec<(ByteBuf, Id)>,
        gone: Vec<ByteBuf>,
        /// Removed entries that the session began with.
        hidden: Vec<ByteBuf>,
    },
    File {
        len: u64,
        /// The number of visible bytes of the image's file.
        base: Option<u64>,
        /// The number of the image's program that this file is.
        program: Option<u32>,
        /// Written parts, by number; each hides the image's bytes at its place.
        put: Vec<(u64, ByteBuf)>,
        gone: Vec<u64>,
    },
    Symlink(ByteBuf),
    Fifo,
    /// A device or mount, of which only the other fields can change.
    Same,
}

impl TreeNode {
    /// Returns the approximate size in bytes of its names and contents.
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

impl Id {
    /// Returns the bytes of heap memory that the name takes.
    fn heap_size(&self) -> usize {
        match self {
            Id::Given(names) => names.iter().map(|name| size_of::<ByteBuf>() + name.len()).sum(),
            Id::Made(_) => 0,
        }
    }
}

impl TreeNode {
    /// Returns the bytes of heap memory that the node's lists take.
    fn heap_size(&self) -> usize {
        let names = |names: &[ByteBuf]| -> usize {
            names.iter().map(|name| size_of::<ByteBuf>() + name.len()).sum()
        };
        match &self.what {
            NodeContent::Dir { parent, put, gone, hidden } => {
                let entry = |(name, id): &(ByteBuf, Id)| {
                    size_of::<(ByteBuf, Id)>() + name.len() + id.heap_size()
                };
                let put: usize = put.iter().map(entry).sum();
                parent.heap_size() + put + names(gone) + names(hidden)
            }
            NodeContent::File { put, gone, .. } => {
                let part = |(_, bytes): &(u64, ByteBuf)| size_of::<(u64, ByteBuf)>() + bytes.len();
                put.iter().map(part).sum::<usize>() + gone.len() * size_of::<u64>()
            }
            NodeContent::Symlink(target) => target.len(),
            NodeContent::Fifo | NodeContent::Same => 0,
        }
    }
}

impl Delta {
    /// Returns the delta's memory use in bytes, including the names of nodes.
    pub fn memory_size(&self) -> u64 {
        let size = |(id, change): &(Id, NodeChange)| {
            let lists = match change {
                NodeChange::Is(node) => node.heap_size(),
                NodeChange::Gone | NodeChange::Given => 0,
            };
            (size_of::<(Id, NodeChange)>().max(256) + id.heap_size() + lists) as u64
        };
        self.nodes.iter().map(size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_nodes_count_as_memory() {
        let of = |id: Id| Delta { nodes: vec![(id, NodeChange::Gone)], ..Delta::default() };
        let deep = Id::Given(vec![ByteBuf::new(); 1 << 20]);
        assert!(of(deep.clone()).memory_size() >= 24 << 20);
        let what = NodeContent::Dir {
            parent: deep.clone(),
            put: vec![(ByteBuf::new(), deep)],
            gone: vec![ByteBuf::new(); 1 << 20],
            hidden: Vec::new(),
        };
        let node = TreeNode { mode: 0, nlink: 1, atime: 0, mtime: 0, ctime: 0, what };
        let delta = Delta { nodes: vec![(Id::Made(1), NodeChange::Is(node))], ..Delta::default() };
        assert!(delta.memory_size() >= 3 * (24 << 20));
    }
}
