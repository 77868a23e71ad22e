//! Iterates over the records of a state, and over those in which two states differ.

use super::page::Page;
use super::{Record, RecordKey, RecordValue, Root};
use crate::delta::Id;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::Objects;

/// The next item of a state: a page that was not read yet, or a record.
enum ReadItem {
    Page(RecordKey, u8, Digest),
    Record(Record),
}

impl ReadItem {
    fn key(&self) -> &RecordKey {
        match self {
            ReadItem::Page(key, ..) | ReadItem::Record((key, _)) => key,
        }
    }
}

/// An iterator over the records of a state, in order. It holds one page of each level.
pub struct TreeRecords<'a> {
    objects: &'a dyn Objects,
    /// A stack: the last item comes next.
    todo: Vec<ReadItem>,
    sought: Option<RecordKey>,
}

impl<'a> TreeRecords<'a> {
    /// Returns an iterator over all records.
    ///
    /// # Errors
    /// If the root page cannot be read.
    pub fn new(objects: &'a dyn Objects, root: &Root) -> Result<TreeRecords<'a>, SnapshotError> {
        let mut records = TreeRecords { objects, todo: Vec::new(), sought: None };
        if let Some(root) = root {
            records.push(Page::load(objects, root)?)?;
        }
        Ok(records)
    }

    /// Returns an iterator over the records from `key` on.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub fn from(
        objects: &'a dyn Objects,
        root: &Root,
        key: &RecordKey,
    ) -> Result<TreeRecords<'a>, SnapshotError> {
        let mut records = TreeRecords::new(objects, root)?;
        records.seek_key(key)?;
        Ok(records)
    }

    /// Skips the records before `key` without reading their pages.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub fn seek_key(&mut self, key: &RecordKey) -> Result<(), SnapshotError> {
        self.sought = Some(key.clone());
        while let [.., next] = self.todo.as_slice() {
            match next {
                ReadItem::Record((k, _)) if k < key => drop(self.todo.pop()),
                ReadItem::Record(_) => break,
                ReadItem::Page(k, ..) if k >= key => break,
                ReadItem::Page(..) => match self.todo.as_slice() {
                    [.., after, _] if after.key() <= key => drop(self.todo.pop()),
                    _ => self.open_page()?,
                },
            }
        }
        Ok(())
    }

    /// Returns whether only keys before `key` were sought so far.
    pub fn is_before(&self, key: &RecordKey) -> bool {
        self.sought.as_ref().is_none_or(|sought| sought < key)
    }

    fn push(&mut self, page: Page) -> Result<(), SnapshotError> {
        // A single page is sorted, as was checked.
        let last = match &page {
            Page::Leaf(records) => records.last().map(|r| &r.0),
            Page::Branch(_, below) => below.last().map(|r| &r.0),
        };
        if self.todo.last().is_some_and(|next| last >= Some(next.key())) {
            return Err(SnapshotError::Malformed("records out of order"));
        }
        match page {
            Page::Leaf(records) => {
                self.todo.extend(records.into_iter().rev().map(ReadItem::Record))
            }
            Page::Branch(level, below) => {
                let below = below.into_iter().rev();
                self.todo.extend(below.map(|(key, digest)| ReadItem::Page(key, level - 1, digest)));
            }
        }
        Ok(())
    }

    /// Reads the next page.
    fn open_page(&mut self) -> Result<(), SnapshotError> {
        if let Some(ReadItem::Page(key, level, digest)) = self.todo.pop() {
            let page = Page::load(self.objects, &digest)?;
            if page.level() != level || page.first_key() != Some(&key) {
                return Err(SnapshotError::Malformed("pages that do not fit each other"));
            }
            self.push(page)?;
        }
        Ok(())
    }

    fn is_page(&self) -> bool {
        matches!(self.todo.last(), Some(ReadItem::Page(..)))
    }

    /// Returns the next record.
    ///
    /// # Errors
    /// If a page cannot be read, or pages are out of order.
    pub fn next_record(&mut self) -> Result<Option<Record>, SnapshotError> {
        while self.is_page() {
            self.open_page()?;
        }
        match self.todo.pop() {
            Some(ReadItem::Record(record)) => Ok(Some(record)),
            _ => Ok(None),
        }
    }

    /// Returns the next record if it belongs to that node.
    ///
    /// # Errors
    /// The same as [`TreeRecords::next_record`].
    pub fn advance_within(&mut self, id: &Id) -> Result<Option<Record>, SnapshotError> {
        while self.is_page() {
            self.open_page()?;
        }
        match self.todo.last() {
            Some(ReadItem::Record((key, _))) if key.id == *id => self.next_record(),
            _ => Ok(None),
        }
    }
}

/// Returns the record with that key.
///
/// # Errors
/// If a page cannot be read.
pub fn find_record(
    objects: &dyn Objects,
    root: &Root,
    key: &RecordKey,
) -> Result<Option<RecordValue>, SnapshotError> {
    let Some(root) = root else { return Ok(None) };
    let (mut page, mut level) = (Page::load(objects, root)?, None);
    loop {
        if level.is_some_and(|l| l != page.level()) {
            return Err(SnapshotError::Malformed("levels of pages"));
        }
        match page {
            Page::Leaf(mut records) => {
                let at = records.binary_search_by(|r| r.0.cmp(key));
                return Ok(at.ok().map(|at| records.swap_remove(at).1));
            }
            Page::Branch(l, below) => {
                let at = below.partition_point(|(first, _)| first <= key);
                let Some((_, digest)) = at.checked_sub(1).map(|at| &below[at]) else {
                    return Ok(None);
                };
                level = Some(l - 1);
                page = Page::load(objects, digest)?;
            }
        }
    }
}

/// A record that differs between two states: its key, the old and the new value.
pub type Difference = (RecordKey, Option<RecordValue>, Option<RecordValue>);

/// The records that differ between two states, in order. Shared pages are not read.
pub struct Differences<'a> {
    old: TreeRecords<'a>,
    new: TreeRecords<'a>,
}

impl<'a> Differences<'a> {
    /// Returns an iterator over the differences.
    ///
    /// # Errors
    /// If the root pages cannot be read.
    pub fn new(
        objects: &'a dyn Objects,
        old: &Root,
        new: &Root,
    ) -> Result<Differences<'a>, SnapshotError> {
        let (old, new) = if old == new { (&None, &None) } else { (old, new) };
        let (old, new) = (TreeRecords::new(objects, old)?, TreeRecords::new(objects, new)?);
        Ok(Differences { old, new })
    }

    /// Returns the next difference.
    ///
    /// # Errors
    /// If a page cannot be read.
    pub fn next_difference(&mut self) -> Result<Option<Difference>, SnapshotError> {
        loop {
            let (old, new) = (&mut self.old, &mut self.new);
            match (old.todo.last(), new.todo.last()) {
                (None, None) => return Ok(None),
                (Some(ReadItem::Page(_, _, a)), Some(ReadItem::Page(_, _, b))) if a == b => {
                    old.todo.pop();
                    new.todo.pop();
                }
                (Some(ReadItem::Page(k, l, _)), Some(ReadItem::Page(m, n, _))) => {
                    // The page of the higher level is opened first, because the other one may be
                    // below it; on the same level, the first one.
                    match l.cmp(n).reverse().then(k.cmp(m)) {
                        std::cmp::Ordering::Greater => new.open_page()?,
                        _ => old.open_page()?,
                    }
                }
                (Some(a), b) if b.is_none_or(|b| a.key() < b.key()) => {
                    if old.is_page() {
                        old.open_page()?;
                    } else if let Some((key, value)) = old.next_record()? {
                        return Ok(Some((key, Some(value), None)));
                    }
                }
                (a, Some(b)) if a.is_none_or(|a| b.key() < a.key()) => {
                    if new.is_page() {
                        new.open_page()?;
                    } else if let Some((key, value)) = new.next_record()? {
                        return Ok(Some((key, None, Some(value))));
                    }
                }
                _ if old.is_page() => old.open_page()?,
                _ if new.is_page() => new.open_page()?,
                _ => {
                    let (a, b) = (old.next_record()?, new.next_record()?);
                    if let (Some((key, a)), Some((_, b))) = (a, b)
                        && a != b
                    {
                        return Ok(Some((key, Some(a), Some(b))));
                    }
                }
            }
        }
    }
}
