//! The changes of a session as data, so that they can be kept without the process of the session,
//! and restored in another one.
//!
//! A [`Delta`] lists the nodes that differ between two [`TreeVersion`]s of one session. New nodes
//! are identified by number, initial ones by their original place. [`emit_between`] skips the parts
//! that the two versions' tables share, so its cost depends on the changes, not on the size of the
//! session. A [`Layer`] adds deltas up: it holds all differences from a new session of the same
//! image, and [`Vfs::restore_delta`] applies them to such a session.
//!
//! # Deliberately absent
//! State that exists only while processes run: open files without a name, bytes in pipes, named
//! pipes on host mounts. Between two calls of a session there are no processes. Initial directories
//! have the time at which this session began, until the guest changes them.

mod layer;
mod restore;

pub use layer::Layer;
pub use restore::Lost;
pub use wasibox_snapshot::delta::{Delta, FileTotals, Id, NodeChange, NodeContent, TreeNode};

use crate::content::FileContent;
use crate::tree::{Ino, Inode, NodeKind};
pub use crate::version::TreeVersion;
use crate::vfs::Vfs;
use serde_bytes::ByteBuf;

/// Bytes of content and names after which a new delta begins.
const PART: usize = 1 << 20;

impl Vfs {
    /// Returns the present files.
    pub fn tree_version(&self) -> TreeVersion {
        let st = self.read();
        TreeVersion {
            tree: st.tree.clone(),
            origin: self.shared.origin.clone(),
            bytes: st.quota.bytes,
            entries: st.quota.entries,
        }
    }
}

/// Calls `emit` with all differences, in parts that must be applied in order.
///
/// # Errors
/// The first error of `emit`.
pub fn emit_between<E>(
    old: &TreeVersion,
    new: &TreeVersion,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<(), E> {
    if new.tree.is_same(&old.tree) {
        return Ok(());
    }
    let mut parts = DeltaParts { new, old, nodes: Vec::new(), size: 0, emit };
    for ino in new.tree.differing_nodes(&old.tree) {
        parts.add_node(ino)?;
    }
    parts.flush()
}

/// Collects nodes until a part is full.
struct DeltaParts<'a, E> {
    old: &'a TreeVersion,
    new: &'a TreeVersion,
    nodes: Vec<(Id, NodeChange)>,
    size: usize,
    emit: &'a mut dyn FnMut(Delta) -> Result<(), E>,
}

impl<E> DeltaParts<'_, E> {
    fn add_node(&mut self, ino: Ino) -> Result<(), E> {
        // A node without an id is not reachable by name either.
        let Some(id) = self.new.origin.id_of(ino) else { return Ok(()) };
        let Some(node) = self.new.tree.get(ino).cloned() else {
            return self.push(id, NodeChange::Gone, 16);
        };
        let old = self.old.tree.get(ino).cloned();
        match &node.kind {
            NodeKind::Dir { .. } => self.add_dir(id, &node, old.as_deref()),
            NodeKind::File { content, program } => {
                let before = match old.as_deref().map(|n| &n.kind) {
                    Some(NodeKind::File { content, .. }) => content.clone(),
                    _ => FileContent::default(),
                };
                self.add_file(id, &node, content, program.map(|p| p.0), &before)
            }
            NodeKind::Symlink(target) => {
                let size = target.len();
                self.push(
                    id,
                    NodeChange::Is(describe_inode(
                        &node,
                        NodeContent::Symlink(ByteBuf::from(&**target)),
                    )),
                    size,
                )
            }
            NodeKind::Fifo(_) => {
                self.push(id, NodeChange::Is(describe_inode(&node, NodeContent::Fifo)), 0)
            }
            _ => self.push(id, NodeChange::Is(describe_inode(&node, NodeContent::Same)), 0),
        }
    }

    fn add_dir(&mut self, id: Id, node: &Inode, old: Option<&Inode>) -> Result<(), E> {
        let NodeKind::Dir { parent, entries } = &node.kind else { return Ok(()) };
        let Some(parent) = self.new.origin.id_of(*parent) else { return Ok(()) };
        let none = Default::default();
        let before = match old.map(|n| &n.kind) {
            Some(NodeKind::Dir { entries, .. }) => entries,
            _ => &none,
        };
        let begun = self.new.origin.entries_of(&id);
        let gone = before.keys().filter(|name| !entries.contains_key(*name));
        let gone = gone.map(|name| ByteBuf::from(&**name));
        let (hidden, gone): (Vec<_>, Vec<_>) =
            gone.partition(|name| begun.is_some_and(|b| b.contains_key(name.as_slice())));
        let mut size: usize = gone.iter().chain(&hidden).map(|name| name.len() + 16).sum();
        let what =
            |put, (gone, hidden)| NodeContent::Dir { parent: parent.clone(), put, gone, hidden };
        let mut put = Vec::new();
        let mut gone = Some((gone, hidden));
        for (name, child) in entries.iter().filter(|(name, i)| before.get(*name) != Some(*i)) {
            let Some(child) = self.new.origin.id_of(*child) else { continue };
            size += name.len() + 32;
            put.push((ByteBuf::from(&**name), child));
            if size > PART {
                let full = what(std::mem::take(&mut put), gone.take().unwrap_or_default());
                self.push(id.clone(), NodeChange::Is(describe_inode(node, full)), size)?;
                size = 0;
            }
        }
        let rest = what(put, gone.unwrap_or_default());
        self.push(id, NodeChange::Is(describe_inode(node, rest)), size)
    }

    fn add_file(
        &mut self,
        id: Id,
        node: &Inode,
        content: &FileContent,
        program: Option<u32>,
        before: &FileContent,
    ) -> Result<(), E> {
        let (changed, gone) = content.chunks_since(before);
        let (len, base) = (content.len(), content.base_visible());
        let mut size = gone.len() * 8;
        let mut gone = Some(gone);
        let mut put = Vec::new();
        for index in changed {
            let bytes = content.written_chunk(index).unwrap_or_default();
            size += bytes.len() + 16;
            put.push((index, ByteBuf::from(bytes)));
            if size > PART {
                let (put, gone) = (std::mem::take(&mut put), gone.take().unwrap_or_default());
                let full = NodeContent::File { len, base, program, put, gone };
                self.push(id.clone(), NodeChange::Is(describe_inode(node, full)), size)?;
                size = 0;
            }
        }
        let gone = gone.unwrap_or_default();
        let rest = NodeContent::File { len, base, program, put, gone };
        self.push(id, NodeChange::Is(describe_inode(node, rest)), size)
    }

    fn push(&mut self, id: Id, node: NodeChange, size: usize) -> Result<(), E> {
        self.nodes.push((id, node));
        self.size += size + 64;
        if self.size > PART { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), E> {
        self.size = 0;
        let totals = FileTotals {
            made: self.new.tree.next_number() - self.new.origin.tree.next_number(),
            bytes: self.new.bytes,
            entries: self.new.entries,
        };
        (self.emit)(Delta { totals, nodes: std::mem::take(&mut self.nodes) })
    }
}

fn describe_inode(n: &Inode, what: NodeContent) -> TreeNode {
    TreeNode { mode: n.mode, nlink: n.nlink, atime: n.atime, mtime: n.mtime, ctime: n.ctime, what }
}
