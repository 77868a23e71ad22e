//! Checks whether a state can be a session's, beyond the checks of a single page.

use crate::commit::FileTree;
use crate::delta::{CHUNK, Id, NodeContent};
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::read::TreeRecords;
use crate::tree::{RecordKey, RecordPart, RecordValue};
use serde_bytes::ByteBuf;
use std::collections::{HashMap, HashSet};

/// The facts known about a node so far.
#[derive(Default)]
struct NodeCheck {
    /// Whether there is a record of the node itself.
    here: bool,
    links: u32,
    names: u32,
    /// For a directory: the parent that it names.
    parent: Option<Id>,
    /// The directory that contains an entry for it.
    found: Option<Id>,
}

/// Checks the records of a state against each other: numbers were assigned, entries lead to nodes,
/// parts lie within their files, link counts match the names, directories have one place and do not
/// contain themselves. Needs memory for each node.
///
/// # Errors
/// [`SnapshotError::Malformed`], [`SnapshotError::TooLarge`], or the error of reading the records.
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

/// The maximum number of names that are compared on the ways to the root. Without it, a file of a
/// few kilobytes that has directories of very long initial paths would take minutes. A session of
/// 200,000 nodes at a depth of 20 needs four million.
const MAX_NAMES_COMPARED: usize = 1 << 26;

/// A node, without a copy of its initial path.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum NodeRef<'a> {
    Given(&'a [ByteBuf]),
    Made(u64),
}

impl<'a> From<&'a Id> for NodeRef<'a> {
    fn from(id: &'a Id) -> NodeRef<'a> {
        match id {
            Id::Given(names) => NodeRef::Given(names),
            Id::Made(number) => NodeRef::Made(*number),
        }
    }
}

/// Checks that the path upwards from each directory ends at the root. The memory is linear in the
/// number of directories and the depth of one, and the work is bounded.
fn check_loops(nodes: &HashMap<Id, NodeCheck>) -> Result<(), SnapshotError> {
    let parents: HashMap<NodeRef<'_>, NodeRef<'_>> = nodes
        .iter()
        .filter_map(|(id, known)| Some((id.into(), known.parent.as_ref()?.into())))
        .collect();
    let mut fine = HashSet::from([NodeRef::Given(&[])]);
    let mut compared = 0;
    for (id, parent) in &parents {
        let (mut way, mut up) = (vec![*id], *parent);
        while !fine.contains(&up) {
            compared += if let NodeRef::Given(names) = up { names.len() } else { 1 };
            if compared > MAX_NAMES_COMPARED {
                return Err(SnapshotError::TooLarge("the depth of the directories"));
            }
            if way.len() > 2 * nodes.len() + 4096 {
                return Err(SnapshotError::Malformed("a directory that contains itself"));
            }
            let next = match (parents.get(&up), up) {
                (Some(parent), _) => *parent,
                (None, NodeRef::Given(names)) => {
                    NodeRef::Given(names.split_last().map_or(&[], |(_, dir)| dir))
                }
                (None, NodeRef::Made(_)) => {
                    return Err(SnapshotError::Malformed("a directory in no directory"));
                }
            };
            way.push(std::mem::replace(&mut up, next));
        }
        fine.extend(way);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(names: usize, last: usize) -> Id {
        let mut path = vec![ByteBuf::from("a"); names];
        path.push(ByteBuf::from(last.to_string()));
        Id::Given(path)
    }

    fn directories(parents: impl IntoIterator<Item = (Id, Id)>) -> HashMap<Id, NodeCheck> {
        let node = |(id, parent)| (id, NodeCheck { parent: Some(parent), ..NodeCheck::default() });
        parents.into_iter().map(node).collect()
    }

    #[test]
    fn directories_end_at_the_root() {
        let fine =
            [(Id::Made(1), Id::ROOT), (Id::Made(2), Id::Made(1)), (given(9, 1), given(8, 1))];
        assert!(check_loops(&directories(fine)).is_ok());
        let circle = [(Id::Made(1), Id::Made(2)), (Id::Made(2), Id::Made(1))];
        assert!(check_loops(&directories(circle)).is_err());
        let nowhere = [(Id::Made(1), Id::Made(2))];
        assert!(check_loops(&directories(nowhere)).is_err());
    }

    /// Each directory has a different parent, so no path to the root is part of one that is already
    /// known.
    #[test]
    fn the_work_for_deep_directories_is_bounded() {
        let deep = |n: usize| {
            let mut path = vec![ByteBuf::from(n.to_string())];
            path.extend(vec![ByteBuf::from("a"); 2000]);
            Id::Given(path)
        };
        let all = (0..100).map(|n| (Id::Made(n as u64), deep(n)));
        assert!(matches!(check_loops(&directories(all)), Err(SnapshotError::TooLarge(_))));
    }
}
