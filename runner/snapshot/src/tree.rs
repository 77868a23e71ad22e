//! The stored form of the session's tree: one sorted map of records, kept in pages that are
//! objects.
//!
//! The tree of a session (`wasibox-vfs`) is a table of numbered nodes, and a directory maps names
//! to numbers. Each record encodes a node, an entry of a directory, or a part of a file. The map is
//! a B-tree whose pages refer to each other by digest. This has several consequences. A state is a
//! single digest. States share their common pages. A change costs the pages that it touches plus
//! one page per level above them, however deep the changed file lies and however many names a
//! directory has. A state is changed by making a new one.
//!
//! # Stages
//! [`page`] defines and checks a page, [`edit`] makes a state from another one, [`read`] iterates
//! over the records of a state, or over those in which two states differ.
//!
//! # Deliberately absent
//! Directories that refer to their children by digest, as in Git: renaming a directory or changing
//! a file with two names would need an index from nodes to names beside the tree, and a changed
//! file would cost all directories above it. Unchanged files and directories of the image have no
//! records.

pub mod edit;
pub mod page;
pub mod read;

use crate::delta::{Id, TreeNode};
use crate::digest::Digest;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// The key of a record. Keys are ordered as in the map.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordKey {
    pub id: Id,
    pub part: RecordPart,
}

/// The kind of a node's record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum RecordPart {
    /// The node itself.
    Node,
    /// An entry of a directory.
    Entry(ByteBuf),
    /// The part of a file with this number. Each part except the last has [`crate::delta::CHUNK`]
    /// bytes.
    Data(u64),
}

/// The value of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RecordValue {
    /// A node or an entry that the session began with was removed.
    Gone,
    /// The state of a node, whose lists are empty. Boxed, because records are moved often.
    Node(Box<TreeNode>),
    Entry(Id),
    /// A few bytes of a file, in place.
    Bytes(ByteBuf),
    /// The bytes of a file as consecutive pieces.
    Pieces(Vec<ObjectPiece>),
}

/// A range of bytes of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObjectPiece {
    pub object: Digest,
    pub from: u32,
    pub len: u32,
}

/// A record with its key.
pub type Record = (RecordKey, RecordValue);

/// A state: the digest of its root page; `None` if there are no records.
pub type Root = Option<Digest>;

impl RecordKey {
    /// Returns the key of a node's own record.
    pub fn for_node(id: Id) -> RecordKey {
        RecordKey { id, part: RecordPart::Node }
    }

    /// Returns the key of a directory's entry with that name.
    pub fn for_entry(id: Id, name: impl Into<Vec<u8>>) -> RecordKey {
        RecordKey { id, part: RecordPart::Entry(ByteBuf::from(name)) }
    }

    /// Returns the key of a part of a file's content, by its number.
    pub fn for_data(id: Id, index: u64) -> RecordKey {
        RecordKey { id, part: RecordPart::Data(index) }
    }

    /// Returns the approximate size in bytes.
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
