//! Checks whether a state can be a session's, beyond the checks of a single page.

use crate::commit::FileTree;
use crate::delta::{CHUNK, Id, NodeContent};
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::read::TreeRecords;
use crate::tree::{RecordKey, RecordPart, RecordValue};
use std::collections::HashMap;

/// The facts known about a node so far.
#[derive(Default)]
struct NodeCheck {
    /// Whether there is a record of the node itself.
    here: bool,
    links: u32,
    names: u32,
    /// For a directory: the parent that it names.
    parent: Option<Id>,
    /// The directory in which an entry leads to it.
    found: Option<Id>,
}

/// Checks the records of a state against each other: numbers were assigned, entries lead to nodes,
/// parts lie within their files, link counts match the names, directories have one place and do not
/// contain themselves. Needs memory for each node.
///
/// # Errors
/// Malformed, or if records cannot be read.
pub fn check_records(objects: &dyn Objects, files: &FileTree) -> Result<(), SnapshotError> {
    let bad = |what| Err(SnapshotError::Malformed(what));
    let mut nodes: HashMap<Id, NodeCheck> = HashMap::new();
    let mut records = TreeRecords::new(objects, &files.root)?;
    let mut at: Option<(Id, Option<NodeContent>)> = None;
    while let Some((RecordKey { id, part }, value)) = records.next_record()? {
        if matches!(id, Id::Made(n) if n >= files.totals.made) {
            return bad("a node that was not made");
        }
        let what = at.as_ref().filter(|(of, _)| *of == id).map(|(_, what)| what);
        match (part, value, what) {
            (RecordPart::Node, RecordValue::Gone, None) => at = Some((id, None)),
            (RecordPart::Node, RecordValue::Node(node), None) => {
                let known = nodes.entry(id.clone()).or_default();
                (known.here, known.links) = (true, node.nlink);
                if let NodeContent::Dir { parent, .. } = &node.what {
                    known.parent = Some(parent.clone());
                }
                at = Some((id, Some(node.what)));
            }
            (RecordPart::Entry(_), RecordValue::Gone, Some(Some(NodeContent::Dir { .. }))) => {}
            (
                RecordPart::Entry(_),
                RecordValue::Entry(child),
                Some(Some(NodeContent::Dir { .. })),
            ) => {
                let known = nodes.entry(child).or_default();
                known.names = known.names.saturating_add(1);
                known.found = Some(id);
            }
            (RecordPart::Data(index), value, Some(Some(NodeContent::File { len, .. }))) => {
                let end = match value {
                    RecordValue::Bytes(bytes) => bytes.len() as u64,
                    RecordValue::Pieces(pieces) => pieces.iter().map(|p| u64::from(p.len)).sum(),
                    _ => return bad("a part of a file"),
                };
                let end = index.checked_mul(CHUNK).and_then(|begin| begin.checked_add(end));
                if end.is_none_or(|end| end > *len.max(&(index * CHUNK))) {
                    return bad("a part behind the end of its file");
                }
            }
            _ => return bad("parts of another kind of node"),
        }
    }
    for (id, known) in &nodes {
        match (id, &known.parent) {
            (Id::Made(_), _) if !known.here => return bad("an entry that leads nowhere"),
            (Id::Made(_), Some(parent)) if known.found.as_ref() != Some(parent) => {
                return bad("a directory that is elsewhere");
            }
            (_, Some(_)) if known.names > 1 => return bad("a directory with two names"),
            (Id::Made(_), None) if known.names != known.links => return bad("a count of links"),
            _ => {}
        }
    }
    check_loops(&nodes)
}

/// Checks that the path upwards from each directory ends at the root.
fn check_loops(nodes: &HashMap<Id, NodeCheck>) -> Result<(), SnapshotError> {
    let mut fine: HashMap<Id, ()> = HashMap::from([(Id::ROOT, ())]);
    let dirs = nodes.iter().filter_map(|(id, known)| Some((id, known.parent.as_ref()?)));
    for (id, parent) in dirs {
        let (mut way, mut up) = (vec![id.clone()], parent.clone());
        while !fine.contains_key(&up) {
            let next = match (nodes.get(&up).and_then(|known| known.parent.as_ref()), &up) {
                (Some(parent), _) => parent.clone(),
                (None, Id::Given(names)) => {
                    Id::Given(names.split_last().map_or(Vec::new(), |(_, dir)| dir.to_vec()))
                }
                (None, Id::Made(_)) => {
                    return Err(SnapshotError::Malformed("a directory in no directory"));
                }
            };
            if way.len() > 2 * nodes.len() + 4096 {
                return Err(SnapshotError::Malformed("a directory that is in itself"));
            }
            way.push(std::mem::replace(&mut up, next));
        }
        fine.extend(way.into_iter().filter(|id| *id != Id::ROOT).map(|id| (id, ())));
    }
    Ok(())
}
