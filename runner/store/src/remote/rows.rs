//! The rows of a session in the cache, from a head in the bucket.

use super::draft::FoldedRows;
use super::head::{CommitList, Head, PublishedCommit, PublishedEntry};
use super::pack::read_part;
use crate::db::{Db, to_signed, to_unsigned};
use crate::{SessionRow, Store, StoreError};
use rusqlite::OptionalExtension;
use std::collections::HashMap;
use wasibox_bucket::Bucket;
use wasibox_snapshot::Digest;

/// A head with its parts.
pub struct WholeHead {
    commits: CommitList,
    /// The number of commits and of entries that are in parts.
    old_commits: usize,
    old_entries: usize,
    log: Vec<PublishedEntry>,
}

impl WholeHead {
    /// Reads the parts of a head.
    pub fn read(bucket: &dyn Bucket, head: &Head) -> Result<WholeHead, StoreError> {
        let (mut commits, mut log) = (Vec::<PublishedCommit>::new(), Vec::new());
        for part in &head.history {
            commits.extend(read_part::<Vec<PublishedCommit>>(bucket, part)?);
        }
        for part in &head.log {
            log.extend(read_part::<Vec<PublishedEntry>>(bucket, part)?);
        }
        let (old_commits, old_entries) = (commits.len(), log.len());
        commits.extend_from_slice(&head.recent);
        log.extend_from_slice(&head.recent_log);
        let commits = CommitList::check(head, commits)?;
        Ok(WholeHead { commits, old_commits, old_entries, log })
    }

    /// Makes the rows of a session those of its head, and returns which of them are in parts.
    pub fn write(&self, db: &Db, name: &str, head: &Head) -> Result<FoldedRows, StoreError> {
        let id = match SessionRow::find_by_name(db, name) {
            Ok(row) => row.id,
            Err(StoreError::NoSession(_)) => Store::add_session(db, name, head.image, head.next)?,
            Err(e) => return Err(e),
        };
        let places = self.write_commits(db, id)?;
        let place = |number: &u64| places.get(number).copied().unwrap_or(0);
        let sql =
            "UPDATE sessions SET image = ?, created = ?, head = ?, tip = ?, base = ?, next = ?
            WHERE id = ?";
        db.0.prepare_cached(sql)?.execute((
            head.image.as_ref().map(|d| &d.0[..]),
            to_signed(head.created),
            place(&head.head),
            place(&head.tip),
            head.base.as_ref().map_or(0, place),
            to_signed(head.next),
            id,
        ))?;
        for table in ["tags", "kv", "staged"] {
            db.0.execute(&format!("DELETE FROM {table} WHERE session = ?"), [id])?;
        }
        for (tag, number) in &head.tags {
            let mut add = db.0.prepare_cached("INSERT INTO tags VALUES(?, ?, ?)")?;
            add.execute((id, tag, place(number)))?;
        }
        for (key, value) in &head.values {
            let value = postcard::to_stdvec(value).map_err(|_| StoreError::TooLong)?;
            let mut add = db.0.prepare_cached("INSERT OR REPLACE INTO kv VALUES(?, ?, ?)")?;
            add.execute((id, &key[..], value))?;
        }
        db.put_checked(head.objects.iter().map(|object| (object.digest, object.to_stored())))?;
        let entries = self.write_log(db, id)?;
        let old = &self.commits.0[..self.old_commits];
        let digest = |body: &[u8]| Digest::hash_bytes(body);
        let commits = old.iter().map(|(c, entry)| (c.number, digest(&entry.body))).collect();
        Ok(FoldedRows { commits, entries })
    }

    /// Writes the commits, apart from those at the beginning that are there already. Returns their
    /// row ids by number.
    fn write_commits(&self, db: &Db, session: i64) -> Result<HashMap<u64, i64>, StoreError> {
        let sql = "SELECT id, digest FROM commits WHERE session = ? ORDER BY number";
        let mut all = db.0.prepare_cached(sql)?;
        let rows = all.query_map([session], |r| Ok((r.get::<_, i64>(0)?, r.get::<_, Vec<u8>>(1)?)));
        let present = rows?.collect::<Result<Vec<_>, _>>()?;
        let is_same = |((_, digest), (_, entry)): &(&(i64, Vec<u8>), &(_, PublishedCommit))| {
            digest[..] == Digest::hash_bytes(&entry.body).0
        };
        let same = present.iter().zip(&self.commits.0).take_while(is_same).count();
        for (id, _) in &present[same..] {
            db.0.prepare_cached("DELETE FROM commits WHERE id = ?")?.execute([id])?;
        }
        let mut places = HashMap::new();
        for (at, (commit, entry)) in self.commits.0.iter().enumerate() {
            let id = match present.get(at).filter(|_| at < same) {
                Some((id, _)) => *id,
                None => {
                    let sql = "INSERT INTO commits(session, number, parent, digest, body, stored)
                        VALUES(?, ?, ?, ?, ?, ?)";
                    db.0.prepare_cached(sql)?.insert((
                        session,
                        to_signed(commit.number),
                        commit.parent.and_then(|parent| places.get(&parent)),
                        Digest::hash_bytes(&entry.body).0,
                        &entry.body[..],
                        to_signed(entry.stored),
                    ))?
                }
            };
            places.insert(commit.number, id);
        }
        Ok(places)
    }

    /// Writes the log unless it is there already, and returns which entries are in parts.
    fn write_log(&self, db: &Db, session: i64) -> Result<Option<(u64, i64, i64)>, StoreError> {
        let mut ids = Vec::new();
        {
            let sql = "SELECT id, time, entry FROM audit WHERE session = ? ORDER BY id";
            let mut all = db.0.prepare_cached(sql)?;
            let mut rows = all.query([session])?;
            while let Some(row) = rows.next()? {
                let entry = PublishedEntry { time: to_unsigned(row.get(1)?), text: row.get(2)? };
                if self.log.get(ids.len()) != Some(&entry) {
                    break;
                }
                ids.push(row.get::<_, i64>(0)?);
            }
        }
        let last = ids.last().copied().unwrap_or(-1);
        db.0.execute("DELETE FROM audit WHERE session = ? AND id > ?", (session, last))?;
        for entry in &self.log[ids.len()..] {
            let sql = "INSERT INTO audit(session, time, entry) VALUES(?, ?, ?)";
            let mut add = db.0.prepare_cached(sql)?;
            ids.push(add.insert((session, to_signed(entry.time), &entry.text))?);
        }
        let old = &ids[..self.old_entries];
        Ok(old.first().zip(old.last()).map(|(first, last)| (old.len() as u64, *first, *last)))
    }
}

/// Removes the rows of a session that the bucket no longer has.
pub fn forget_rows(db: &Db, name: &str) -> Result<(), StoreError> {
    let sql = "SELECT id FROM sessions WHERE name = ?";
    let id: Option<i64> = db.0.query_row(sql, [name], |row| row.get(0)).optional()?;
    let Some(id) = id else { return Ok(()) };
    for table in ["tags", "kv", "audit", "staged", "commits"] {
        db.0.execute(&format!("DELETE FROM {table} WHERE session = ?"), [id])?;
    }
    db.0.execute("DELETE FROM sessions WHERE id = ?", [id])?;
    Ok(())
}

impl WholeHead {
    /// Returns the commits that lead to the one with that number, it included, and its number.
    pub fn line_to(&self, number: u64) -> Option<(Vec<PublishedCommit>, u64)> {
        let mut wanted = Some(number);
        let mut line = Vec::new();
        for (commit, entry) in self.commits.0.iter().rev() {
            if Some(commit.number) == wanted {
                wanted = commit.parent;
                line.push(entry.clone());
            }
        }
        line.reverse();
        if line.is_empty() { None } else { Some((line, number)) }
    }
}
