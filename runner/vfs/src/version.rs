//! Versions of a session's files, and the names of the nodes that it began with.

use crate::base;
use crate::tree::{DirEntries, Ino, Inode, NodeKind, NodeTree, ROOT};
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use wasibox_snapshot::delta::Id;

/// The files of a session at one time. Making one costs next to nothing.
#[derive(Clone, Debug)]
pub struct TreeVersion {
    pub(crate) tree: NodeTree,
    pub(crate) origin: Arc<TreeOrigin>,
    pub(crate) bytes: u64,
    pub(crate) entries: u64,
}

impl TreeVersion {
    /// Returns the bytes and entries that the disk quota has counted.
    pub fn quota(&self) -> (u64, u64) {
        (self.bytes, self.entries)
    }
}

/// The tree with which a session began, and the names of its nodes.
#[derive(Debug)]
pub(crate) struct TreeOrigin {
    pub(crate) tree: NodeTree,
    /// The places of the tree's nodes that are not in the image's layer.
    places: OnceLock<HashMap<Ino, (Ino, ByteBuf)>>,
}

impl TreeOrigin {
    pub(crate) fn new(tree: NodeTree) -> Arc<TreeOrigin> {
        Arc::new(TreeOrigin { tree, places: OnceLock::new() })
    }

    fn node_places(&self) -> &HashMap<Ino, (Ino, ByteBuf)> {
        self.places.get_or_init(|| {
            let (mut out, mut todo) = (HashMap::new(), vec![ROOT]);
            while let Some(dir) = todo.pop() {
                for (name, ino) in self.original_entries(dir).into_iter().flat_map(|e| e.iter()) {
                    if *ino < base::FIRST && !out.contains_key(ino) {
                        out.insert(*ino, (dir, ByteBuf::from(&**name)));
                        todo.push(*ino);
                    }
                }
            }
            out
        })
    }

    /// Returns a node's id; `None` if it is an initial node that has no name.
    pub(crate) fn id_of(&self, ino: Ino) -> Option<Id> {
        let first = self.tree.next_number();
        if (first..base::FIRST).contains(&ino) {
            return Some(Id::Made(ino - first));
        }
        let (mut names, mut at) = (Vec::new(), ino);
        while at != ROOT {
            let (dir, name) = if at >= base::FIRST {
                let dir = self.tree.base().parent_of(at)?;
                let (name, _) = self.original_entries(dir)?.iter().find(|(_, i)| **i == at)?;
                (dir, ByteBuf::from(&**name))
            } else {
                self.node_places().get(&at)?.clone()
            };
            names.push(name);
            at = dir;
        }
        names.reverse();
        Some(Id::Given(names))
    }

    /// Returns the node of that id.
    pub(crate) fn ino_of(&self, id: &Id) -> Option<Ino> {
        match id {
            Id::Made(n) => self.tree.next_number().checked_add(*n).filter(|ino| *ino < base::FIRST),
            Id::Given(names) => {
                let mut at = ROOT;
                for name in names {
                    at = *self.original_entries(at)?.get(name.as_slice())?;
                }
                Some(at)
            }
        }
    }

    /// Returns the initial entries of the directory of that id.
    pub(crate) fn entries_of(&self, id: &Id) -> Option<&DirEntries> {
        if matches!(id, Id::Made(_)) { None } else { self.original_entries(self.ino_of(id)?) }
    }

    /// Returns a node that the session began with.
    pub(crate) fn original_node(&self, ino: Ino) -> Option<&Arc<Inode>> {
        if ino >= base::FIRST { self.tree.base().get(ino) } else { self.tree.get(ino) }
    }

    pub(crate) fn original_entries(&self, dir: Ino) -> Option<&DirEntries> {
        match &self.original_node(dir)?.kind {
            NodeKind::Dir { entries, .. } => Some(entries),
            _ => None,
        }
    }
}
