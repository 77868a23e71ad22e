//! The next head of a session, from its rows in the cache.

use super::head::{Head, PackRef, PartRef, PublishedCommit, PublishedEntry, PublishedObject};
use super::pack::{FULL_PACK, NewPack, ObjectFacts, PackLists, make_part};
use crate::db::{Db, to_unsigned};
use crate::{CommitRow, SessionRow, StoreError, blob_of, history};
use rusqlite::OptionalExtension;
use std::collections::HashSet;
use wasibox_snapshot::{Digest, Objects, SnapshotError};

/// The most commits, and bytes of the log and of objects, that a head has in itself.
const RECENT_COMMITS: usize = 48;
const RECENT_LOG: usize = 32 << 10;
const OWN_OBJECTS: usize = 64 << 10;
/// The size in bytes at which a part is full, and the number of parts at which they are merged.
const FULL_PART: usize = 1 << 20;
const MAX_PARTS: usize = 16;

/// The rows that the parts of a head have.
#[derive(Clone, Debug, Default)]
pub struct FoldedRows {
    /// The older commits, by number and digest.
    pub commits: Vec<(u64, Digest)>,
    /// The number of older entries of the log, and the row ids of the first and the last one.
    pub entries: Option<(u64, i64, i64)>,
}

/// A head that is to be put, with the objects that must be in the bucket before it.
pub struct HeadDraft {
    pub head: Head,
    pub folded: FoldedRows,
    pub packs: Vec<NewPack>,
    pub parts: Vec<(PartRef, Vec<u8>)>,
}

impl HeadDraft {
    /// Describes a session by its rows. `touched` are the objects that the change has written or
    /// used again.
    pub fn from_rows(
        db: &Db,
        row: &SessionRow,
        before: &Head,
        folded: &FoldedRows,
        touched: &HashSet<Digest>,
        lists: &PackLists,
    ) -> Result<HeadDraft, StoreError> {
        let number = |id: i64| Ok::<_, StoreError>(CommitRow::get(db, id)?.commit.number);
        let mut draft = HeadDraft {
            head: Head {
                image: row.image,
                created: row.created,
                head: number(row.head)?,
                tip: number(row.tip)?,
                base: base_number(db, row)?,
                next: row.next,
                writes: before.writes + 1,
                tags: Vec::new(),
                values: read_values(db, row.id)?,
                ..before.clone()
            },
            folded: folded.clone(),
            packs: Vec::new(),
            parts: Vec::new(),
        };
        for (tag, id) in history::session_tags(db, row.id)? {
            draft.head.tags.push((tag, number(id)?));
        }
        draft.set_commits(db, row.id)?;
        draft.set_log(db, row.id)?;
        draft.add_objects(db, touched, lists)?;
        Ok(draft)
    }

    fn set_commits(&mut self, db: &Db, session: i64) -> Result<(), StoreError> {
        let sql = "SELECT number, digest FROM commits WHERE session = ? ORDER BY number";
        let mut all = db.0.prepare_cached(sql)?;
        let rows = all.query_map([session], |r| {
            Ok((to_unsigned(r.get(0)?), Digest::from_slice(&r.get::<_, Vec<u8>>(1)?)))
        })?;
        let mut present = Vec::new();
        for row in rows {
            let (number, digest) = row?;
            present.push((number, digest.ok_or(StoreError::Damaged("a commit"))?));
        }
        if !present.starts_with(&self.folded.commits) {
            // Old commits were removed or merged.
            self.forget_history();
        }
        let from = self.folded.commits.len();
        let mut recent = read_commits(db, session, present.get(from).map(|(number, _)| *number))?;
        if recent.len() > RECENT_COMMITS {
            if self.head.history.len() >= MAX_PARTS {
                self.forget_history();
                recent = read_commits(db, session, Some(0))?;
            }
            let size = |commit: &PublishedCommit| commit.body.len();
            self.head.history.extend(make_parts(&recent, size, &mut self.parts)?);
            self.folded.commits = present;
            recent.clear();
        }
        self.head.recent = recent;
        Ok(())
    }

    fn forget_history(&mut self) {
        self.folded.commits.clear();
        self.head.history.clear();
    }

    fn set_log(&mut self, db: &Db, session: i64) -> Result<(), StoreError> {
        let mut after = -1;
        if let Some((count, first, last)) = self.folded.entries {
            let sql = "SELECT count(*), min(id) FROM audit WHERE session = ? AND id <= ?";
            let mut get = db.0.prepare_cached(sql)?;
            let (there, begin): (i64, Option<i64>) =
                get.query_row((session, last), |r| Ok((r.get(0)?, r.get(1)?)))?;
            if to_unsigned(there) == count && begin == Some(first) {
                after = last;
            } else {
                // Old entries were removed.
                self.forget_log();
            }
        }
        let (mut recent, mut ids) = read_log(db, session, after)?;
        let size = |entry: &PublishedEntry| entry.text.len() + 16;
        if recent.iter().map(size).sum::<usize>() > RECENT_LOG {
            if self.head.log.len() >= MAX_PARTS {
                self.forget_log();
                (recent, ids) = read_log(db, session, -1)?;
            }
            self.head.log.extend(make_parts(&recent, size, &mut self.parts)?);
            if let Some((first, last)) = ids {
                let (count, first) = match self.folded.entries {
                    Some((count, first, _)) => (count + recent.len() as u64, first),
                    None => (recent.len() as u64, first),
                };
                self.folded.entries = Some((count, first, last));
            }
            recent.clear();
        }
        self.head.recent_log = recent;
        Ok(())
    }

    fn forget_log(&mut self) {
        self.folded.entries = None;
        self.head.log.clear();
    }

    /// Adds the objects of a change that neither the head nor its packs have, and moves objects
    /// into packs when the head has too many.
    fn add_objects(
        &mut self,
        db: &Db,
        touched: &HashSet<Digest>,
        lists: &PackLists,
    ) -> Result<(), StoreError> {
        let own: HashSet<Digest> = self.head.objects.iter().map(|object| object.digest).collect();
        let packs: HashSet<PackRef> = self.head.packs.iter().copied().collect();
        let mut all: Vec<ObjectFacts> = self.head.objects.iter().map(ObjectFacts::of).collect();
        let mut new = Vec::new();
        for digest in touched {
            let is_packed = lists.find_pack(digest).is_some_and(|pack| packs.contains(&pack));
            if !own.contains(digest) && !is_packed {
                all.push(ObjectFacts::read(db, digest)?);
                new.push(*digest);
            }
        }
        if all.iter().map(ObjectFacts::size).sum::<usize>() <= OWN_OBJECTS {
            for digest in new {
                let object = db.get(&digest)?.ok_or(SnapshotError::Missing(digest))?;
                self.head.objects.push(PublishedObject::new(digest, object));
            }
            return Ok(());
        }
        let own = std::mem::take(&mut self.head.objects);
        for objects in split(&all, FULL_PACK, ObjectFacts::size) {
            let pack = NewPack::new(objects, own.iter().cloned())?;
            self.head.packs.push(pack.name);
            self.packs.push(pack);
        }
        Ok(())
    }
}

/// Returns the number of the commit that a session was forked at, if the commit is kept.
fn base_number(db: &Db, row: &SessionRow) -> Result<Option<u64>, StoreError> {
    let sql = "SELECT number FROM commits WHERE id = ? AND session = ?";
    let mut get = db.0.prepare_cached(sql)?;
    Ok(get.query_row([row.base, row.id], |r| r.get(0)).optional()?.map(to_unsigned))
}

fn read_commits(
    db: &Db,
    session: i64,
    from: Option<u64>,
) -> Result<Vec<PublishedCommit>, StoreError> {
    let Some(from) = from else { return Ok(Vec::new()) };
    let sql = "SELECT body, stored FROM commits WHERE session = ? AND number >= ? ORDER BY number";
    let mut some = db.0.prepare_cached(sql)?;
    let rows = some.query_map((session, crate::db::to_signed(from)), |r| {
        Ok(PublishedCommit { body: r.get::<_, Vec<u8>>(0)?.into(), stored: to_unsigned(r.get(1)?) })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Entries of a log, with the row ids of the first and the last one.
type LogRows = (Vec<PublishedEntry>, Option<(i64, i64)>);

fn read_log(db: &Db, session: i64, after: i64) -> Result<LogRows, StoreError> {
    let sql = "SELECT id, time, entry FROM audit WHERE session = ? AND id > ? ORDER BY id";
    let mut some = db.0.prepare_cached(sql)?;
    let mut rows = some.query([session, after])?;
    let (mut entries, mut ids) = (Vec::new(), None);
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        ids = Some((ids.map_or(id, |(first, _)| first), id));
        entries.push(PublishedEntry { time: to_unsigned(row.get(1)?), text: row.get(2)? });
    }
    Ok((entries, ids))
}

fn read_values(
    db: &Db,
    session: i64,
) -> Result<Vec<(serde_bytes::ByteBuf, wasibox_snapshot::Blob)>, StoreError> {
    let sql = "SELECT key, value FROM kv WHERE session = ? ORDER BY key";
    let mut all = db.0.prepare_cached(sql)?;
    let mut rows = all.query([session])?;
    let mut values = Vec::new();
    while let Some(row) = rows.next()? {
        values.push((row.get::<_, Vec<u8>>(0)?.into(), blob_of(&row.get::<_, Vec<u8>>(1)?)?));
    }
    Ok(values)
}

/// Splits a list into pieces of about `full` bytes.
fn split<T>(mut list: &[T], full: usize, size: impl Fn(&T) -> usize) -> Vec<&[T]> {
    let mut pieces = Vec::new();
    while !list.is_empty() {
        let mut sum = 0;
        let fits = list.iter().take_while(|item| {
            sum += size(item);
            sum <= full
        });
        let count = fits.count().max(1);
        let (piece, rest) = list.split_at(count);
        pieces.push(piece);
        list = rest;
    }
    pieces
}

/// Makes parts of a list, and returns their names.
fn make_parts<T: serde::Serialize>(
    list: &[T],
    size: impl Fn(&T) -> usize,
    parts: &mut Vec<(PartRef, Vec<u8>)>,
) -> Result<Vec<PartRef>, StoreError> {
    let mut names = Vec::new();
    for piece in split(list, FULL_PART, size) {
        let (part, bytes) = make_part(&piece)?;
        names.push(part);
        parts.push((part, bytes));
    }
    Ok(names)
}
