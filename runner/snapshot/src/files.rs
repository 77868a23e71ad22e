//! Converts a session's changes to a state ([`TreeWriter`]), and states to changes
//! ([`emit_changes`]).

pub mod check;
mod part;
pub mod walk;

use crate::commit::FileTree;
use crate::delta::{CHUNK, Delta, Id, NodeChange, NodeContent, TreeNode};
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::edit::{Edits, edit_tree};
use crate::tree::read::{Differences, TreeRecords, find_record};
use crate::tree::{Record, RecordKey, RecordPart, RecordValue, Root};
use part::{Loader, PartRun};
use serde_bytes::ByteBuf;

/// Number of collected records after which they are written.
const BATCH: usize = 1 << 15;

/// Bytes of content and names after which a delta is continued in the next one.
const PART: usize = 1 << 20;

/// A writer that makes a state from another one and the changes after it.
pub struct TreeWriter<'a> {
    objects: &'a dyn Objects,
    files: FileTree,
    edits: Edits,
    run: PartRun,
    /// The records of the state before the edits.
    known: Option<TreeRecords<'a>>,
}

impl<'a> TreeWriter<'a> {
    /// Makes a writer that starts with a state.
    pub fn new(objects: &'a dyn Objects, files: FileTree) -> TreeWriter<'a> {
        TreeWriter { objects, files, edits: Edits::new(), run: PartRun::default(), known: None }
    }

    /// Adds changes. A delta that both removes and writes a node removes it first.
    ///
    /// # Errors
    /// If objects cannot be read or written, or the changes do not fit the session.
    pub fn add_delta(&mut self, delta: Delta) -> Result<(), SnapshotError> {
        self.files.totals = delta.totals;
        let (written, mut removed): (Vec<_>, Vec<_>) =
            delta.nodes.into_iter().partition(|(_, change)| matches!(change, NodeChange::Is(_)));
        // If a delta both removes and writes a node, the removal comes first. The removed nodes are
        // sorted, because then one walk through the tree's records finds all of theirs.
        removed.sort_by(|(a, _), (b, _)| a.cmp(b));
        removed.dedup_by(|(a, _), (b, _)| a == b);
        for (id, change) in removed {
            self.forget_node(&id)?;
            if change == NodeChange::Gone && matches!(id, Id::Given(_)) {
                self.edits.insert(RecordKey::for_node(id), Some(RecordValue::Gone));
            }
            self.write_full_batch()?;
        }
        for (id, change) in written {
            if let NodeChange::Is(node) = change {
                self.write_node(id, node)?;
            }
            self.write_full_batch()?;
        }
        Ok(())
    }

    fn write_full_batch(&mut self) -> Result<(), SnapshotError> {
        if self.edits.len() > BATCH { self.write() } else { Ok(()) }
    }

    /// Returns the new state.
    ///
    /// # Errors
    /// The same as [`TreeWriter::add_delta`].
    pub fn finish(mut self) -> Result<FileTree, SnapshotError> {
        self.run.end(self.objects, &mut self.edits)?;
        self.write()?;
        Ok(self.files)
    }

    fn write(&mut self) -> Result<(), SnapshotError> {
        let edits = std::mem::take(&mut self.edits);
        self.known = None;
        self.files.root = edit_tree(self.objects, &self.files.root, edits)?;
        Ok(())
    }

    /// Removes all records of a node.
    fn forget_node(&mut self, id: &Id) -> Result<(), SnapshotError> {
        self.run.end(self.objects, &mut self.edits)?;
        let first = RecordKey::for_node(id.clone());
        let known = self.edits.range(first.clone()..).take_while(|(key, _)| key.id == *id);
        let known: Vec<RecordKey> = known.map(|(key, _)| key.clone()).collect();
        self.edits.extend(known.into_iter().map(|key| (key, None)));
        let mut records = match self.known.take().filter(|records| records.is_before(&first)) {
            Some(records) => records,
            None => TreeRecords::new(self.objects, &self.files.root)?,
        };
        records.seek_key(&first)?;
        while let Some((key, _)) = records.advance_within(id)? {
            self.edits.insert(key, None);
        }
        self.known = Some(records);
        Ok(())
    }

    fn write_node(&mut self, id: Id, mut node: TreeNode) -> Result<(), SnapshotError> {
        match &mut node.what {
            NodeContent::Dir { put, gone, hidden, .. } => {
                for name in gone.drain(..) {
                    self.edits.insert(RecordKey::for_entry(id.clone(), name.into_vec()), None);
                }
                for name in hidden.drain(..) {
                    self.edits.insert(
                        RecordKey::for_entry(id.clone(), name.into_vec()),
                        Some(RecordValue::Gone),
                    );
                }
                for (name, child) in put.drain(..) {
                    self.edits.insert(
                        RecordKey::for_entry(id.clone(), name.into_vec()),
                        Some(RecordValue::Entry(child)),
                    );
                }
            }
            NodeContent::File { put, gone, .. } => {
                if !gone.is_empty() {
                    self.run.end(self.objects, &mut self.edits)?;
                }
                for index in gone.drain(..) {
                    self.edits.insert(RecordKey::for_data(id.clone(), index), None);
                }
                for (index, bytes) in put.drain(..) {
                    self.run.add(self.objects, &mut self.edits, &id, index, &bytes)?;
                }
            }
            NodeContent::Symlink(_) | NodeContent::Fifo | NodeContent::Same => {}
        }
        self.edits.insert(RecordKey::for_node(id), Some(RecordValue::Node(Box::new(node))));
        Ok(())
    }
}

/// Emits the changes that turn the files `old` into the files `new`. If `old` is the empty state,
/// the changes start from the files of a new session. The cost is proportional to the difference,
/// plus all of each directory of the image in which something differs.
///
/// # Errors
/// If objects cannot be read; the first error of `emit`.
pub fn emit_changes<E: From<SnapshotError>>(
    objects: &dyn Objects,
    old: &FileTree,
    new: &FileTree,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<(), E> {
    emit_differences(objects, old, new, Loader::new(objects), emit).map(drop)
}

/// Does [`emit_changes`] for a new session and a damaged store: the bytes of missing or damaged
/// objects become zeros. Returns the files that contain any.
///
/// # Errors
/// The same as [`emit_changes`], except for such objects.
pub fn salvage_changes<E: From<SnapshotError>>(
    objects: &dyn Objects,
    files: &FileTree,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<Vec<Id>, E> {
    emit_differences(objects, &FileTree::default(), files, Loader::new_forgiving(objects), emit)
}

fn emit_differences<E: From<SnapshotError>>(
    objects: &dyn Objects,
    old: &FileTree,
    new: &FileTree,
    loader: Loader<'_>,
    emit: &mut dyn FnMut(Delta) -> Result<(), E>,
) -> Result<Vec<Id>, E> {
    let delta = Delta { totals: new.totals, nodes: Vec::new() };
    let records = TreeRecords::new(objects, &new.root)?;
    let lost = Vec::new();
    let mut teller = DeltaEmitter { new: &new.root, records, loader, lost, delta, size: 0, emit };
    let mut all = Differences::new(objects, &old.root, &new.root)?;
    let mut next = all.next_difference()?;
    while let Some((key, before, after)) = next {
        let id = key.id.clone();
        if matches!(id, Id::Given(_)) {
            next = all.next_difference()?;
            while next.as_ref().is_some_and(|(key, ..)| key.id == id) {
                next = all.next_difference()?;
            }
            teller.emit_given(id, old.root.is_some())?;
            continue;
        }
        let mut node = Vec::new();
        let head = if key.part == RecordPart::Node {
            after
        } else {
            node.push((key.part, before, after));
            find_record(objects, teller.new, &RecordKey::for_node(id.clone()))?
        };
        // Its parts follow. A large file has many of them, so they are emitted as they are read.
        let mut state = teller.begin_node(id.clone(), head)?;
        loop {
            for (part, _, after) in node.drain(..) {
                state = teller.emit_part(state, part, after)?;
            }
            next = all.next_difference()?;
            match next.take_if(|(key, ..)| key.id == id) {
                Some((key, before, after)) => node.push((key.part, before, after)),
                None => break,
            }
        }
        teller.end_node(state)?;
    }
    if teller.delta.nodes.is_empty() && old == new {
        return Ok(teller.lost);
    }
    teller.flush()?;
    Ok(teller.lost)
}

/// A node that is being emitted.
struct NodeInProgress {
    id: Id,
    /// The node's state; `None` if it was removed.
    node: Option<TreeNode>,
}

struct DeltaEmitter<'a, E> {
    new: &'a Root,
    records: TreeRecords<'a>,
    loader: Loader<'a>,
    /// Files with bytes that could not be read.
    lost: Vec<Id>,
    delta: Delta,
    size: usize,
    emit: &'a mut dyn FnMut(Delta) -> Result<(), E>,
}

impl<E: From<SnapshotError>> DeltaEmitter<'_, E> {
    /// Emits a node that the session began with: first its initial state, then all known changes.
    fn emit_given(&mut self, id: Id, again: bool) -> Result<(), E> {
        if again {
            self.push(id.clone(), NodeChange::Given, 0)?;
        }
        // Nodes are visited in order.
        self.records.seek_key(&RecordKey::for_node(id.clone()))?;
        let Some((key, value)) = self.records.advance_within(&id)? else { return Ok(()) };
        if key.part != RecordPart::Node {
            return Err(SnapshotError::Malformed("parts of no node").into());
        }
        let mut state = self.begin_node(id.clone(), Some(value))?;
        while let Some((key, value)) = self.records.advance_within(&id)? {
            state = self.emit_part(state, key.part, Some(value))?;
        }
        self.end_node(state)
    }

    fn begin_node(&mut self, id: Id, head: Option<RecordValue>) -> Result<NodeInProgress, E> {
        match head {
            Some(RecordValue::Node(node)) => Ok(NodeInProgress { id, node: Some(*node) }),
            Some(RecordValue::Gone) | None => Ok(NodeInProgress { id, node: None }),
            Some(_) => Err(SnapshotError::Malformed("a record").into()),
        }
    }

    fn emit_part(
        &mut self,
        mut state: NodeInProgress,
        part: RecordPart,
        value: Option<RecordValue>,
    ) -> Result<NodeInProgress, E> {
        // The parts of a removed node may only be removed as well.
        let Some(node) = &mut state.node else {
            let gone = value.is_none();
            return if gone {
                Ok(state)
            } else {
                Err(SnapshotError::Malformed("parts of no node").into())
            };
        };
        match (&mut node.what, part, value) {
            (NodeContent::Dir { gone, .. }, RecordPart::Entry(name), None) => gone.push(name),
            (NodeContent::Dir { hidden, .. }, RecordPart::Entry(name), Some(RecordValue::Gone)) => {
                hidden.push(name)
            }
            (
                NodeContent::Dir { put, .. },
                RecordPart::Entry(name),
                Some(RecordValue::Entry(child)),
            ) => {
                put.push((name, child));
            }
            (NodeContent::File { gone, .. }, RecordPart::Data(index), None) => gone.push(index),
            (NodeContent::File { put, .. }, RecordPart::Data(index), Some(value)) => {
                put.push((index, ByteBuf::from(self.loader.load_part(value)?)));
                if std::mem::take(&mut self.loader.forgave) && self.lost.last() != Some(&state.id) {
                    self.lost.push(state.id.clone());
                }
            }
            // The removed parts belonged to the node's previous kind.
            (_, _, None) => {}
            _ => return Err(SnapshotError::Malformed("parts of another kind of node").into()),
        }
        if node.what_is_large() {
            let rest = node.without_lists();
            let full = std::mem::replace(node, rest);
            let size = full.weight();
            self.push(state.id.clone(), NodeChange::Is(full), size)?;
        }
        Ok(state)
    }

    fn end_node(&mut self, state: NodeInProgress) -> Result<(), E> {
        let (change, size) = match state.node {
            Some(node) => {
                let size = node.weight();
                (NodeChange::Is(node), size)
            }
            None => (NodeChange::Gone, 0),
        };
        self.push(state.id, change, size)
    }

    fn push(&mut self, id: Id, change: NodeChange, size: usize) -> Result<(), E> {
        self.delta.nodes.push((id, change));
        self.size += size + 64;
        if self.size > PART { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), E> {
        self.size = 0;
        let nodes = std::mem::take(&mut self.delta.nodes);
        (self.emit)(Delta { totals: self.delta.totals, nodes })
    }
}

impl TreeNode {
    /// Returns whether enough was collected to emit. It is called after each part, so it must be
    /// cheap.
    fn what_is_large(&self) -> bool {
        match &self.what {
            NodeContent::Dir { put, gone, hidden, .. } => {
                put.len() + gone.len() + hidden.len() >= PART / 256
            }
            NodeContent::File { put, gone, .. } => {
                put.len() >= PART / CHUNK as usize || gone.len() >= PART / 16
            }
            _ => false,
        }
    }

    fn without_lists(&self) -> TreeNode {
        let what = match &self.what {
            NodeContent::Dir { parent, .. } => {
                let parent = parent.clone();
                NodeContent::Dir { parent, put: Vec::new(), gone: Vec::new(), hidden: Vec::new() }
            }
            NodeContent::File { len, base, program, .. } => {
                let (len, base, program) = (*len, *base, *program);
                NodeContent::File { len, base, program, put: Vec::new(), gone: Vec::new() }
            }
            what => what.clone(),
        };
        TreeNode { what, ..*self }
    }
}

/// Returns the bytes of a file starting at `from`: written bytes on top of those of the image,
/// which are `image`. The result is shorter than `most` at the end of the file.
///
/// # Errors
/// If objects cannot be read.
pub fn read(
    objects: &dyn Objects,
    root: &Root,
    id: &Id,
    node: &TreeNode,
    from: u64,
    most: usize,
    image: &[u8],
) -> Result<Vec<u8>, SnapshotError> {
    let NodeContent::File { len, .. } = &node.what else {
        return Err(SnapshotError::Malformed("not a file"));
    };
    let size = len.saturating_sub(from).min(most as u64) as usize;
    let mut out = vec![0; size];
    let visible = usize::try_from(from).ok().and_then(|from| image.get(from..)).unwrap_or_default();
    let n = visible.len().min(size);
    out[..n].copy_from_slice(&visible[..n]);
    let mut loader = Loader::new(objects);
    let mut records =
        TreeRecords::from(objects, root, &RecordKey::for_data(id.clone(), from / CHUNK))?;
    while let Some((RecordKey { part: RecordPart::Data(index), .. }, value)) =
        records.advance_within(id)?
    {
        let begin = index.saturating_mul(CHUNK);
        if begin >= from + size as u64 {
            break;
        }
        let mut bytes = loader.load_part(value)?;
        // A part hides all of the image's bytes at its place.
        bytes.resize(CHUNK as usize, 0);
        let skip = from.saturating_sub(begin) as usize;
        let at = begin.saturating_sub(from) as usize;
        let n = (bytes.len() - skip).min(size - at);
        out[at..at + n].copy_from_slice(&bytes[skip..skip + n]);
    }
    Ok(out)
}

/// Returns the node with that name; `None` if no record has it.
///
/// # Errors
/// If objects cannot be read.
pub fn find_node(
    objects: &dyn Objects,
    root: &Root,
    id: &Id,
) -> Result<Option<Record>, SnapshotError> {
    let key = RecordKey::for_node(id.clone());
    Ok(find_record(objects, root, &key)?.map(|value| (key, value)))
}
