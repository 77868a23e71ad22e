//! A page: records, or the pages below it.

use super::{Record, RecordKey, RecordPart, RecordValue};
use crate::delta::{CHUNK, Id, MAX_TARGET, NodeContent, is_name};
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::{Objects, load_object};
use serde::{Deserialize, Serialize};

/// Approximate size in bytes at which a page is split.
pub const LARGE: usize = 12 << 10;
/// Approximate size in bytes below which a page is joined with the next one.
pub const SMALL: usize = LARGE / 4;

/// Maximum number of levels. A page has about a hundred children, so no tree that can be written
/// needs more.
pub const MAX_LEVEL: u8 = 60;

/// Maximum length in bytes of a path in the image, as in every system call.
const MAX_GIVEN: usize = 4096;

/// A page of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Page {
    Leaf(Vec<Record>),
    /// The level, which is 1 for pages above leaves, and each child with its first key.
    Branch(u8, Vec<(RecordKey, Digest)>),
}

impl Page {
    /// Returns the number of levels below the page.
    pub fn level(&self) -> u8 {
        match self {
            Page::Leaf(_) => 0,
            Page::Branch(level, _) => *level,
        }
    }

    /// Returns the first key. No page is empty.
    pub fn first_key(&self) -> Option<&RecordKey> {
        match self {
            Page::Leaf(records) => records.first().map(|r| &r.0),
            Page::Branch(_, below) => below.first().map(|r| &r.0),
        }
    }

    /// Returns the approximate size in bytes.
    pub fn weight(&self) -> usize {
        match self {
            Page::Leaf(records) => records.iter().map(record_weight).sum(),
            Page::Branch(_, below) => below.iter().map(|(key, _)| key.weight() + 32).sum(),
        }
    }

    /// Loads a page, and checks everything that can be checked for a single page.
    ///
    /// # Errors
    /// If it is missing, damaged or not a page.
    pub fn load(objects: &dyn Objects, digest: &Digest) -> Result<Page, SnapshotError> {
        Page::decode(&load_object(objects, digest)?)
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Page, SnapshotError> {
        let (page, rest) = postcard::take_from_bytes::<Page>(bytes)
            .map_err(|_| SnapshotError::Malformed("a page"))?;
        if !rest.is_empty() {
            return Err(SnapshotError::Malformed("a page"));
        }
        page.check()?;
        Ok(page)
    }

    /// Stores the page.
    ///
    /// # Errors
    /// If the page cannot be written; [`SnapshotError::Malformed`] if it could not be read again.
    /// This is checked because the data comes from a process that a guest may have taken over.
    pub fn save(&self, objects: &dyn Objects) -> Result<Digest, SnapshotError> {
        self.check()?;
        let bytes = postcard::to_stdvec(self).map_err(|_| SnapshotError::Malformed("a page"))?;
        objects.save_object(&bytes)
    }

    fn check(&self) -> Result<(), SnapshotError> {
        let ascending = match self {
            Page::Leaf(records) => records.windows(2).all(|w| w[0].0 < w[1].0),
            Page::Branch(_, below) => below.windows(2).all(|w| w[0].0 < w[1].0),
        };
        if !ascending {
            return Err(SnapshotError::Malformed("records out of order"));
        }
        match self {
            Page::Leaf(records) if records.is_empty() => {
                Err(SnapshotError::Malformed("an empty page"))
            }
            Page::Leaf(records) => records.iter().try_for_each(check_record),
            Page::Branch(1..=MAX_LEVEL, below) if !below.is_empty() => Ok(()),
            Page::Branch(..) => Err(SnapshotError::Malformed("a page above none")),
        }
    }
}

fn record_weight((key, value): &Record) -> usize {
    key.weight() + value.weight()
}

/// Checks whether a record can belong to a session.
fn check_record((key, value): &Record) -> Result<(), SnapshotError> {
    let bad = |what| Err(SnapshotError::Malformed(what));
    check_id(&key.id)?;
    match (&key.part, value) {
        (RecordPart::Node, RecordValue::Gone) if matches!(key.id, Id::Given(_)) => Ok(()),
        (RecordPart::Node, RecordValue::Node(node)) => {
            if node.mode > 0o7777 {
                return bad("permission bits");
            }
            if node.weight() != 0 && !matches!(node.what, NodeContent::Symlink(_)) {
                return bad("a node with contents");
            }
            match &node.what {
                NodeContent::Dir { parent, .. } => check_id(parent),
                NodeContent::File { len, .. } if *len > i64::MAX as u64 => bad("a file's length"),
                NodeContent::Symlink(t) if t.is_empty() || t.len() > MAX_TARGET => {
                    bad("a link's target")
                }
                NodeContent::Same if matches!(key.id, Id::Made(_)) => bad("a device that was made"),
                _ => Ok(()),
            }
        }
        (RecordPart::Entry(name), _) if !is_name(name) => bad("a name"),
        (RecordPart::Entry(_), RecordValue::Gone) if matches!(key.id, Id::Given(_)) => Ok(()),
        (RecordPart::Entry(_), RecordValue::Entry(child)) => check_id(child),
        (RecordPart::Data(_), RecordValue::Bytes(bytes)) if bytes.len() as u64 <= CHUNK => Ok(()),
        (RecordPart::Data(_), RecordValue::Pieces(pieces)) => {
            let len: u64 = pieces.iter().map(|p| u64::from(p.len)).sum();
            if len <= CHUNK { Ok(()) } else { bad("a part of a file") }
        }
        _ => bad("a record"),
    }
}

fn check_id(id: &Id) -> Result<(), SnapshotError> {
    match id {
        Id::Made(n) if *n >= 1 << 32 => Err(SnapshotError::Malformed("a node's number")),
        Id::Given(names) if !names.iter().all(|n| is_name(n)) => {
            Err(SnapshotError::Malformed("a name"))
        }
        Id::Given(names) if names.iter().map(|n| n.len() + 1).sum::<usize>() > MAX_GIVEN => {
            Err(SnapshotError::Malformed("a path"))
        }
        _ => Ok(()),
    }
}

/// Distributes items of one level over pages that are not too large and, if possible, not too
/// small.
pub(crate) fn split_pages<T>(
    items: Vec<T>,
    least: usize,
    weight: impl Fn(&T) -> usize,
) -> Vec<Vec<T>> {
    let total: usize = items.iter().map(&weight).sum();
    let most = total / total.div_ceil(LARGE).max(1);
    let (mut out, mut page, mut size) = (Vec::new(), Vec::new(), 0);
    let mut left = items.len();
    for item in items {
        size += weight(&item);
        page.push(item);
        left -= 1;
        if size >= most && page.len() >= least && left >= least {
            out.push(std::mem::take(&mut page));
            size = 0;
        }
    }
    if !page.is_empty() {
        out.push(page);
    }
    out
}

impl Page {
    /// Splits the page into pages of the right size.
    pub(crate) fn split(self) -> Vec<Page> {
        match self {
            Page::Leaf(records) => {
                split_pages(records, 1, record_weight).into_iter().map(Page::Leaf).collect()
            }
            Page::Branch(level, below) => {
                let parts = split_pages(below, 2, |(key, _)| key.weight() + 32);
                parts.into_iter().map(|below| Page::Branch(level, below)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_bytes::ByteBuf;

    #[test]
    fn what_no_session_has_is_refused() {
        let made = Id::Made(3);
        let named = |names: &[&[u8]]| Id::Given(names.iter().map(|n| ByteBuf::from(*n)).collect());
        let bad = |key: RecordKey, value: RecordValue| {
            let bytes = postcard::to_stdvec(&Page::Leaf(vec![(key, value)])).unwrap();
            assert!(matches!(Page::decode(&bytes), Err(SnapshotError::Malformed(_))));
        };
        for name in [&b""[..], b".", b"..", b"a/b", b"a\0", &[b'x'; 256]] {
            bad(RecordKey::for_entry(made.clone(), name), RecordValue::Entry(Id::Made(4)));
            bad(
                RecordKey::for_entry(named(&[b"tmp", name]), *b"x"),
                RecordValue::Entry(Id::Made(4)),
            );
            bad(RecordKey::for_entry(made.clone(), *b"x"), RecordValue::Entry(named(&[name])));
        }
        bad(RecordKey::for_node(made.clone()), RecordValue::Gone);
        bad(RecordKey::for_node(Id::Made(1 << 32)), RecordValue::Gone);
        bad(RecordKey::for_entry(made.clone(), *b"x"), RecordValue::Gone);
        bad(RecordKey::for_entry(made.clone(), *b"x"), RecordValue::Bytes(ByteBuf::new()));
        bad(
            RecordKey::for_data(made.clone(), 0),
            RecordValue::Bytes(ByteBuf::from(vec![0; CHUNK as usize + 1])),
        );
        let piece = super::super::ObjectPiece { object: Digest([0; 32]), from: 0, len: 40_000 };
        bad(RecordKey::for_data(made.clone(), 0), RecordValue::Pieces(vec![piece; 2]));
        let twice = vec![(RecordKey::for_data(made, 1), RecordValue::Pieces(vec![piece])); 2];
        let bytes = postcard::to_stdvec(&Page::Leaf(twice)).unwrap();
        assert!(matches!(
            Page::decode(&bytes),
            Err(SnapshotError::Malformed("records out of order"))
        ));
        let empty = postcard::to_stdvec(&Page::Leaf(Vec::new())).unwrap();
        assert!(Page::decode(&empty).is_err());
    }
}
