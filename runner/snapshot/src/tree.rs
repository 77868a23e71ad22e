//! The session's tree written down: one sorted map of records, kept in pages that are objects.
//!
//! The tree of a session (`wasibox-vfs`) is a table of nodes by number, and a directory leads from
//! names to numbers. This is its encoding, record by record: a node, an entry of a directory,
//! a part of a file. The map is a B-tree whose pages name each other by digest, so that a state is
//! one digest; states share what they have in common; a change costs the pages it is in and one
//! page per level above them, however deep the changed file lies and however many names a
//! directory has; and a state is changed by making another one.
//!
//! # Stages
//! [`page`] says what a page is and checks it, [`edit`] makes a state from another one, [`read`]
//! goes through the records of one, or through those in which two states differ.
//!
//! # Deliberately absent
//! Directories that name their children by digest, as Git has them: renaming a directory or
//! changing a file with two names would need an index from nodes to names beside the tree, and a
//! changed file would cost all directories above it. Files of the image and directories that nothing has
//! changed in have no records.

pub mod edit;
pub mod page;
pub mod read;

use crate::delta::{Id, TreeNode};
use crate::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// What a record is of. Their order is the map's.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordKey {
    pub id: Id,
    pub part: RecordPart,
}

/// Which record of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RecordPart {
    /// The node itself.
    Node,
    /// A directory's entry.
    Entry(ByteBuf),
    /// A file's part of that number, [`crate::delta::CHUNK`] bytes but for the last one.
    Data(u64),
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordValue {
    /// What the session began with is gone: a node or an entry.
    Gone,
    /// The lists within are empty. Boxed, since records are moved about.
    Node(Box<TreeNode>),
    Entry(Id),
    /// Few bytes of a file.
    Bytes(ByteBuf),
    /// The bytes of a file, one piece after the other.
    Pieces(Vec<ObjectPiece>),
}

/// Bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectPiece {
    pub object: Digest,
    pub from: u32,
    pub len: u32,
}

/// A record with its key.
pub type Record = (RecordKey, RecordValue);

/// A state: the digest of its first page; none if there are no records.
pub type Root = Option<Digest>;

impl RecordKey {
    /// Of a node's own record.
    pub fn for_node(id: Id) -> RecordKey {
        RecordKey { id, part: RecordPart::Node }
    }

    /// Of the entry of that name in a directory.
    pub fn for_entry(id: Id, name: impl Into<Vec<u8>>) -> RecordKey {
        RecordKey { id, part: RecordPart::Entry(ByteBuf::from(name)) }
    }

    /// Of one block of a file's content, by its number.
    pub fn for_data(id: Id, index: u64) -> RecordKey {
        RecordKey { id, part: RecordPart::Data(index) }
    }

    /// Bytes that it takes, about.
    fn weight(&self) -> usize {
        let id = self.id.weight();
        match &self.part {
            RecordPart::Node => id + 1,
            RecordPart::Entry(name) => id + 2 + name.len(),
            RecordPart::Data(_) => id + 4,
        }
    }
}

impl Id {
    fn weight(&self) -> usize {
        match self {
            Id::Made(_) => 5,
            Id::Given(names) => 2 + names.iter().map(|n| n.len() + 2).sum::<usize>(),
        }
    }
}

impl RecordValue {
    fn weight(&self) -> usize {
        match self {
            RecordValue::Gone => 1,
            RecordValue::Node(node) => 40 + node.weight(),
            RecordValue::Entry(id) => 1 + id.weight(),
            RecordValue::Bytes(bytes) => 4 + bytes.len(),
            RecordValue::Pieces(pieces) => 2 + pieces.len() * 40,
        }
    }
}
