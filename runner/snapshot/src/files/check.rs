//! Whether a state can be a session's: what no single page tells.

use crate::commit::Files;
use crate::delta::{CHUNK, Id, What};
use crate::error::Error;
use crate::object::Objects;
use crate::tree::read::Records;
use crate::tree::{Key, Part, Value};
use std::collections::HashMap;

/// What is known of a node so far.
#[derive(Default)]
struct Known {
    /// Whether there is a record of the node itself.
    here: bool,
    links: u32,
    names: u32,
    /// Of a directory: where it says that it is.
    parent: Option<Id>,
    /// Where an entry leads to it.
    found: Option<Id>,
}

/// Checks the records of a state against each other: numbers were given, entries lead to nodes,
/// parts lie within their files, names and links are as many, directories are in one place and
/// not in themselves. It takes memory for each node.
///
/// # Errors
/// Malformed, or if records cannot be read.
pub fn check(objects: &dyn Objects, files: &Files) -> Result<(), Error> {
    let bad = |what| Err(Error::Malformed(what));
    let mut nodes: HashMap<Id, Known> = HashMap::new();
    let mut records = Records::new(objects, &files.root)?;
    let mut at: Option<(Id, Option<What>)> = None;
    while let Some((Key { id, part }, value)) = records.advance()? {
        if matches!(id, Id::Made(n) if n >= files.totals.made) {
            return bad("a node that was not made");
        }
        let what = at.as_ref().filter(|(of, _)| *of == id).map(|(_, what)| what);
        match (part, value, what) {
            (Part::Node, Value::Gone, None) => at = Some((id, None)),
            (Part::Node, Value::Node(node), None) => {
                let known = nodes.entry(id.clone()).or_default();
                (known.here, known.links) = (true, node.nlink);
                if let What::Dir { parent, .. } = &node.what {
                    known.parent = Some(parent.clone());
                }
                at = Some((id, Some(node.what)));
            }
            (Part::Entry(_), Value::Gone, Some(Some(What::Dir { .. }))) => {}
            (Part::Entry(_), Value::Entry(child), Some(Some(What::Dir { .. }))) => {
                let known = nodes.entry(child).or_default();
                known.names = known.names.saturating_add(1);
                known.found = Some(id);
            }
            (Part::Data(index), value, Some(Some(What::File { len, .. }))) => {
                let end = match value {
                    Value::Bytes(bytes) => bytes.len() as u64,
                    Value::Pieces(pieces) => pieces.iter().map(|p| u64::from(p.len)).sum(),
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
    loops(&nodes)
}

/// Whether going up from each directory ends at the root.
fn loops(nodes: &HashMap<Id, Known>) -> Result<(), Error> {
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
                (None, Id::Made(_)) => return Err(Error::Malformed("a directory in no directory")),
            };
            if way.len() > 2 * nodes.len() + 4096 {
                return Err(Error::Malformed("a directory that is in itself"));
            }
            way.push(std::mem::replace(&mut up, next));
        }
        fine.extend(way.into_iter().filter(|id| *id != Id::ROOT).map(|id| (id, ())));
    }
    Ok(())
}
