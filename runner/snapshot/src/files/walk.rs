//! Walks the recorded files of a state by path. Files that are as in the image have no records and
//! are not visited, except for the directories above a recorded file.

use crate::delta::{Id, NodeContent, TreeNode};
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::read::{TreeRecords, find_record};
use crate::tree::{RecordKey, RecordPart, RecordValue, Root};
use serde_bytes::ByteBuf;
use std::collections::{BTreeMap, HashSet};

/// Maximum depth of nested directories.
const MAX_DEPTH: usize = 4096;

/// An entry with its path.
pub struct TreeEntry<'a> {
    /// The absolute path.
    pub path: &'a [u8],
    pub id: &'a Id,
    /// The node's state; `None` if it is unchanged from the image.
    pub node: Option<&'a TreeNode>,
}

/// The recorded entries of a directory by name; `None` for removed ones.
pub type Listing = BTreeMap<ByteBuf, Option<Id>>;

/// Returns the recorded entries of a directory. A directory with which the session began may have
/// other entries as well.
///
/// # Errors
/// If records cannot be read.
pub fn list_dir(objects: &dyn Objects, root: &Root, dir: &Id) -> Result<Listing, SnapshotError> {
    let mut out = Listing::new();
    let mut records = TreeRecords::from(objects, root, &RecordKey::for_entry(dir.clone(), *b""))?;
    while let Some((key, value)) = records.advance_within(dir)? {
        match (key.part, value) {
            (RecordPart::Entry(name), RecordValue::Entry(child)) => {
                drop(out.insert(name, Some(child)))
            }
            (RecordPart::Entry(name), RecordValue::Gone) => drop(out.insert(name, None)),
            _ => return Err(SnapshotError::Malformed("parts of another kind of node")),
        }
    }
    let Id::Given(path) = dir else { return Ok(out) };
    // A directory that is still where the image has it has no record as an entry; the records of
    // the nodes below it show that it is there.
    while let Some((key, _)) = records.next_record()? {
        let Id::Given(names) = key.id else { break };
        if !names.starts_with(path) || names.len() == path.len() {
            break;
        }
        let child = &names[..=path.len()];
        let name = child[path.len()].clone();
        // No name lies between a name and the same name with a zero byte appended.
        let mut after = child.to_vec();
        after[path.len()].push(0);
        out.entry(name).or_insert_with(|| Some(Id::Given(child.to_vec())));
        records.seek_key(&RecordKey::for_node(Id::Given(after)))?;
    }
    Ok(out)
}

/// Calls `visit` for every entry, directories before their contents, sorted by name.
///
/// # Errors
/// If records cannot be read, or a directory contains itself; the first error of `visit`.
pub fn walk_tree<E: From<SnapshotError>>(
    objects: &dyn Objects,
    root: &Root,
    visit: &mut dyn FnMut(TreeEntry<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut seen = HashSet::from([Id::ROOT]);
    let mut path = Vec::new();
    let mut stack = vec![(0, list_dir(objects, root, &Id::ROOT)?.into_iter())];
    while let Some((len, entries)) = stack.last_mut() {
        path.truncate(*len);
        let Some((name, child)) = entries.next() else {
            stack.pop();
            continue;
        };
        let Some(id) = child else { continue };
        path.push(b'/');
        path.extend_from_slice(&name);
        let node = match find_record(objects, root, &RecordKey::for_node(id.clone()))? {
            Some(RecordValue::Node(node)) => Some(*node),
            Some(RecordValue::Gone) => continue,
            None if matches!(id, Id::Given(_)) => None,
            _ => return Err(SnapshotError::Malformed("an entry that leads nowhere").into()),
        };
        visit(TreeEntry { path: &path, id: &id, node: node.as_ref() })?;
        if node.as_ref().is_none_or(|n| matches!(n.what, NodeContent::Dir { .. })) {
            let below = list_dir(objects, root, &id)?;
            let is_dir = node.is_some() || !below.is_empty();
            if is_dir && (stack.len() >= MAX_DEPTH || !seen.insert(id)) {
                return Err(SnapshotError::Malformed("a directory that contains itself").into());
            }
            let len = path.len();
            stack.push((len, below.into_iter()));
        }
    }
    Ok(())
}
