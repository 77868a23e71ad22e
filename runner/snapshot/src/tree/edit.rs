//! Applies changes to a stored tree of records.

use super::page::{Page, SMALL};
use super::{Record, RecordKey, RecordValue, Root};
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::Objects;
use std::collections::BTreeMap;

/// The changes: records to set, or to remove (`None`).
pub type Edits = BTreeMap<RecordKey, Option<RecordValue>>;

/// Returns the root of the tree with the changes applied.
///
/// # Errors
/// If pages cannot be read or written.
pub fn edit_tree(objects: &dyn Objects, root: &Root, edits: Edits) -> Result<Root, SnapshotError> {
    if edits.is_empty() {
        return Ok(*root);
    }
    let edits: Vec<_> = edits.into_iter().collect();
    let mut pages = match root {
        Some(root) => change_page(objects, Page::load(objects, root)?, edits)?,
        None => Page::Leaf(edits.into_iter().filter_map(|(k, v)| Some((k, v?))).collect()).split(),
    };
    while pages.len() > 1 {
        let level = pages[0].level() + 1;
        pages = Page::Branch(level, save_pages(objects, pages)?).split();
    }
    let Some(mut top) = pages.pop() else { return Ok(None) };
    // Drops levels of a tall tree that are no longer needed.
    loop {
        match top {
            Page::Branch(_, ref below) if below.len() == 1 => {
                top = Page::load(objects, &below[0].1)?
            }
            top => return top.save(objects).map(Some),
        }
    }
}

fn save_pages(
    objects: &dyn Objects,
    pages: Vec<Page>,
) -> Result<Vec<(RecordKey, Digest)>, SnapshotError> {
    let save = |page: Page| {
        let first = page.first_key().cloned().ok_or(SnapshotError::Malformed("an empty page"))?;
        Ok((first, page.save(objects)?))
    };
    pages.into_iter().map(save).collect()
}

/// A child page: as stored, or changed.
enum ChildPage {
    Kept(RecordKey, Digest),
    New(Page),
}

impl ChildPage {
    fn load_page(self, objects: &dyn Objects) -> Result<Page, SnapshotError> {
        match self {
            ChildPage::Kept(_, digest) => Page::load(objects, &digest),
            ChildPage::New(page) => Ok(page),
        }
    }
}

/// Applies changes to a page, and splits the result into pages of the right size. There are none if
/// no record remains.
fn change_page(
    objects: &dyn Objects,
    page: Page,
    edits: Vec<(RecordKey, Option<RecordValue>)>,
) -> Result<Vec<Page>, SnapshotError> {
    let (level, below) = match page {
        Page::Leaf(records) => return Ok(Page::Leaf(merge_records(records, edits)).split()),
        Page::Branch(level, below) => (level, below),
    };
    let mut edits = edits.into_iter().peekable();
    let mut out: Vec<ChildPage> = Vec::new();
    let mut all = below.into_iter().peekable();
    while let Some((key, digest)) = all.next() {
        let end = all.peek().map(|(key, _)| key);
        let mut own = Vec::new();
        while let Some(edit) = edits.next_if(|(key, _)| end.is_none_or(|end| key < end)) {
            own.push(edit);
        }
        if own.is_empty() {
            out.push(ChildPage::Kept(key, digest));
            continue;
        }
        let page = Page::load(objects, &digest)?;
        if page.level() + 1 != level {
            return Err(SnapshotError::Malformed("levels of pages"));
        }
        out.extend(change_page(objects, page, own)?.into_iter().map(ChildPage::New));
    }
    let out = join_pages(objects, out)?;
    let mut refs = Vec::with_capacity(out.len());
    for below in out {
        match below {
            ChildPage::Kept(key, digest) => refs.push((key, digest)),
            ChildPage::New(page) => refs.extend(save_pages(objects, vec![page])?),
        }
    }
    Ok(Page::Branch(level, refs).split())
}

/// Joins small new pages with a neighbour.
fn join_pages(
    objects: &dyn Objects,
    pages: Vec<ChildPage>,
) -> Result<Vec<ChildPage>, SnapshotError> {
    let small = |b: &ChildPage| matches!(b, ChildPage::New(page) if page.weight() < SMALL || is_lonely(page));
    let mut out: Vec<ChildPage> = Vec::with_capacity(pages.len());
    for page in pages {
        match out.pop() {
            Some(before) if small(&before) || small(&page) => {
                let both = match (before.load_page(objects)?, page.load_page(objects)?) {
                    (Page::Leaf(a), Page::Leaf(b)) => Page::Leaf([a, b].concat()),
                    (Page::Branch(l, a), Page::Branch(m, b)) if l == m => {
                        Page::Branch(l, [a, b].concat())
                    }
                    _ => return Err(SnapshotError::Malformed("levels of pages")),
                };
                out.extend(both.split().into_iter().map(ChildPage::New));
            }
            before => {
                out.extend(before);
                out.push(page);
            }
        }
    }
    Ok(out)
}

/// Returns whether a page has only one child, which makes it useless beside others.
fn is_lonely(page: &Page) -> bool {
    matches!(page, Page::Branch(_, below) if below.len() < 2)
}

fn merge_records(
    records: Vec<Record>,
    edits: Vec<(RecordKey, Option<RecordValue>)>,
) -> Vec<Record> {
    let mut out = Vec::with_capacity(records.len() + edits.len());
    let mut records = records.into_iter().peekable();
    for (key, value) in edits {
        while let Some(record) = records.next_if(|r| r.0 < key) {
            out.push(record);
        }
        records.next_if(|r| r.0 == key);
        out.extend(value.map(|v| (key, v)));
    }
    out.extend(records);
    out
}
