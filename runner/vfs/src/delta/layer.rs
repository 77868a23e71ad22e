//! The sum of deltas.

use super::{Delta, FileTotals, Id, NodeChange, NodeContent, PART, TreeNode};
use serde_bytes::ByteBuf;
use std::collections::{BTreeMap, BTreeSet};

/// All differences from a new session. It belongs to the process that keeps the session. It
/// interprets deltas only as far as is necessary to add them, because they come from the worker,
/// which a guest may have taken over.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    totals: FileTotals,
    nodes: BTreeMap<Id, Option<NodeSum>>,
    size: u64,
}

/// A node with the sum of its parts.
#[derive(Clone, Debug)]
struct NodeSum {
    /// The node without its names and chunks.
    node: TreeNode,
    entries: BTreeMap<ByteBuf, Id>,
    gone_entries: BTreeSet<ByteBuf>,
    chunks: BTreeMap<u64, ByteBuf>,
    /// The bytes that the lists take, kept up to date because a node may come in many parts.
    lists: u64,
}

/// The bytes that a node takes apart from the names and contents in its lists.
const NODE: u64 = 256;

impl Layer {
    /// Returns the approximate bytes of memory that it takes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Adds a delta. Returns false if the layer would take more than `limit` bytes; it must then be
    /// discarded.
    pub fn add_delta(&mut self, delta: Delta, limit: u64) -> bool {
        self.totals = delta.totals;
        for (id, change) in delta.nodes {
            let known = self.nodes.remove(&id).inspect(|sum| self.size -= sum_cost(sum));
            let sum = match change {
                NodeChange::Given => continue,
                NodeChange::Gone => None,
                NodeChange::Is(node) => Some(NodeSum::sum_node(node, known.flatten())),
            };
            self.size += sum_cost(&sum);
            self.nodes.insert(id, sum);
        }
        self.size <= limit
    }

    /// Calls `emit` with everything, in parts that [`crate::Vfs::restore_delta`] takes.
    ///
    /// # Errors
    /// The first error of `emit`.
    pub fn emit_parts<E>(&self, emit: &mut dyn FnMut(Delta) -> Result<(), E>) -> Result<(), E> {
        let mut nodes = Vec::new();
        let mut size = 0;
        let mut flush =
            |nodes: &mut Vec<_>| emit(Delta { totals: self.totals, nodes: std::mem::take(nodes) });
        for (id, sum) in &self.nodes {
            let parts = match sum {
                None => vec![NodeChange::Gone],
                Some(sum) => sum.parts().into_iter().map(NodeChange::Is).collect(),
            };
            for part in parts {
                size += 64;
                if let NodeChange::Is(node) = &part {
                    size += node.weight();
                }
                nodes.push((id.clone(), part));
                if size > PART {
                    flush(&mut nodes)?;
                    size = 0;
                }
            }
        }
        if nodes.is_empty() { Ok(()) } else { flush(&mut nodes) }
    }
}

fn sum_cost(sum: &Option<NodeSum>) -> u64 {
    NODE + sum.as_ref().map_or(0, |sum| sum.lists)
}

/// Returns the bytes that a name in a list of a directory takes.
fn name_cost(name: &ByteBuf) -> u64 {
    name.len() as u64 + 96
}

/// Returns the bytes that a part of a file takes.
fn chunk_cost(bytes: &ByteBuf) -> u64 {
    bytes.len() as u64 + 64
}

impl NodeSum {
    /// Applies a change to the known state of a node.
    fn sum_node(mut node: TreeNode, known: Option<NodeSum>) -> NodeSum {
        let same_kind = |k: &NodeSum| {
            std::mem::discriminant(&k.node.what) == std::mem::discriminant(&node.what)
        };
        let (mut entries, mut gone_entries, mut chunks, mut lists) = match known.filter(same_kind) {
            Some(k) => (k.entries, k.gone_entries, k.chunks, k.lists),
            None => Default::default(),
        };
        match &mut node.what {
            NodeContent::Dir { put, gone, hidden, .. } => {
                for name in gone.drain(..) {
                    lists -= entries.remove(&name).map_or(0, |_| name_cost(&name));
                }
                for name in hidden.drain(..) {
                    lists -= entries.remove(&name).map_or(0, |_| name_cost(&name));
                    let cost = name_cost(&name);
                    lists += if gone_entries.insert(name) { cost } else { 0 };
                }
                for (name, id) in put.drain(..) {
                    let cost = name_cost(&name);
                    lists += entries.insert(name, id).map_or(cost, |_| 0);
                }
            }
            NodeContent::File { put, gone, .. } => {
                for index in gone.drain(..) {
                    lists -= chunks.remove(&index).map_or(0, |bytes| chunk_cost(&bytes));
                }
                for (index, bytes) in put.drain(..) {
                    lists += chunk_cost(&bytes);
                    lists -= chunks.insert(index, bytes).map_or(0, |old| chunk_cost(&old));
                }
            }
            _ => {}
        }
        NodeSum { node, entries, gone_entries, chunks, lists }
    }

    /// Returns the node in parts of bounded weight.
    fn parts(&self) -> Vec<TreeNode> {
        let with = |what| TreeNode { what, ..self.node.clone() };
        let mut out = Vec::new();
        match &self.node.what {
            NodeContent::Dir { parent, .. } => {
                let mut all = self.entries.iter().peekable();
                let mut hidden: Vec<ByteBuf> = self.gone_entries.iter().cloned().collect();
                loop {
                    let put = all.by_ref().take(PART / 512);
                    let put = put.map(|(name, id)| (name.clone(), id.clone())).collect();
                    let (hidden, gone) = (std::mem::take(&mut hidden), Vec::new());
                    out.push(with(NodeContent::Dir { parent: parent.clone(), put, gone, hidden }));
                    if all.peek().is_none() {
                        break;
                    }
                }
            }
            NodeContent::File { len, base, program, .. } => {
                let (len, base, program) = (*len, *base, *program);
                let mut all = self.chunks.iter().peekable();
                loop {
                    let put = all.by_ref().take(PART / crate::content::CHUNK as usize);
                    let put = put.map(|(index, bytes)| (*index, bytes.clone())).collect();
                    out.push(with(NodeContent::File { len, base, program, put, gone: Vec::new() }));
                    if all.peek().is_none() {
                        break;
                    }
                }
            }
            _ => out.push(self.node.clone()),
        }
        out
    }
}
