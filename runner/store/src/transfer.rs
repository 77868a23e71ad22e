//! Export of sessions to snapshots, and import from them.

use crate::{CommitRow, SessionRow, Store, StoreError, blob_of, history};
use std::collections::HashMap;
use std::io::{Read, Write};
use wasibox_snapshot::Commit;
use wasibox_snapshot::wbs::{self, SnapshotContents, SnapshotLimits};

impl Store {
    /// Writes a session as a snapshot: its current state, or all of its history with its tags. The
    /// session may be in use.
    ///
    /// # Errors
    /// Returns an error if there is no such session, the store is damaged, or `to` cannot be
    /// written.
    pub fn export(&self, name: &str, all: bool, to: impl Write) -> Result<(), StoreError> {
        let db = self.lock_db();
        // So that everything stays readable until the export ends.
        let _reading = db.0.unchecked_transaction()?;
        let row = SessionRow::find_by_name(&db, name)?;
        let places = if all { history::all_commits(&db, &row)? } else { vec![row.head] };
        let mut commits = Vec::new();
        for id in &places {
            let row = CommitRow::get(&db, *id)?;
            let parent =
                row.commit.parent.filter(|_| row.parent.is_some_and(|p| places.contains(&p)));
            commits.push(Commit { parent, ..row.commit });
        }
        let head = CommitRow::get(&db, row.head)?.commit.number;
        let mut tags = Vec::new();
        for (tag, id) in
            history::session_tags(&db, row.id)?.into_iter().filter(|(_, id)| places.contains(id))
        {
            tags.push((tag, CommitRow::get(&db, id)?.commit.number));
        }
        let mut values = Vec::new();
        let mut rows =
            db.0.prepare_cached("SELECT key, value FROM kv WHERE session = ? ORDER BY key")?;
        let mut rows = rows.query([row.id])?;
        while let Some(row) = rows.next()? {
            values.push((row.get::<_, Vec<u8>>(0)?.into(), blob_of(&row.get::<_, Vec<u8>>(1)?)?));
        }
        let contents = SnapshotContents { image: row.image, commits, head, tags, values };
        Ok(wbs::write(&*db, &contents, to)?)
    }

    /// Creates a session from a snapshot. On an error nothing is created.
    ///
    /// # Errors
    /// Returns an error if a session with that name exists, or if the input is damaged, not a
    /// snapshot, or larger than the limits.
    pub fn import(
        &self,
        name: &str,
        from: impl Read,
        limits: &SnapshotLimits,
    ) -> Result<(), StoreError> {
        crate::check_name(name)?;
        self.transaction(|db| {
            let contents = wbs::read(from, limits, db)?;
            let next = contents.commits.iter().map(|c| c.number).max().unwrap_or(0);
            let next = next.checked_add(1).filter(|n| i64::try_from(*n).is_ok());
            let next = next.ok_or(StoreError::Damaged("a commit's number"))?;
            let id = Store::add_session(db, name, contents.image, next)?;
            let mut places: HashMap<u64, i64> = HashMap::new();
            for commit in &contents.commits {
                let parent = commit.parent.and_then(|n| places.get(&n).copied());
                places.insert(commit.number, CommitRow::add(db, id, parent, commit)?);
            }
            let place =
                |n: &u64| places.get(n).copied().ok_or(StoreError::Damaged("a commit is missing"));
            let head = place(&contents.head)?;
            Store::set_head(db, id, head, head)?;
            for (tag, number) in &contents.tags {
                crate::check_name(tag)?;
                db.0.execute("INSERT INTO tags VALUES(?, ?, ?)", (id, tag, place(number)?))?;
            }
            for (key, value) in contents.values {
                let value = postcard::to_stdvec(&value).map_err(|_| StoreError::TooLong)?;
                if key.len() > crate::MAX_KEY {
                    return Err(StoreError::TooLong);
                }
                db.0.execute("INSERT INTO kv VALUES(?, ?, ?)", (id, key.into_vec(), value))?;
            }
            Ok(())
        })
    }
}
