//! The commits of sessions: listing, reachability and compaction.

use crate::db::{Db, to_signed, to_unsigned};
use crate::{CommitRow, SESSION, SessionRow, Store, StoreError, StoreSession, growth};
use rusqlite::OptionalExtension;
use std::collections::{HashMap, HashSet};
use wasibox_snapshot::files::walk;
use wasibox_snapshot::tree::Root;
use wasibox_snapshot::{Commit, FileTree};

/// Returns the row id of the commit with that number, among those that the session has made or
/// descends from.
pub fn find_commit(db: &Db, row: &SessionRow, number: u64) -> Result<i64, StoreError> {
    let sql = "SELECT id FROM commits WHERE session = ? AND number = ?";
    let mut own = db.0.prepare_cached(sql)?;
    if let Some(id) = own.query_row((row.id, to_signed(number)), |r| r.get(0)).optional()? {
        return Ok(id);
    }
    let sql = "WITH RECURSIVE line(id) AS (VALUES(?1), (?2) UNION
            SELECT parent FROM commits JOIN line USING(id) WHERE parent IS NOT NULL)
        SELECT id FROM commits JOIN line USING(id) WHERE number = ?3";
    let mut before = db.0.prepare_cached(sql)?;
    let found =
        before.query_row((row.tip, row.base, to_signed(number)), |r| r.get(0)).optional()?;
    found.ok_or_else(|| StoreError::NoCommit { session: row.name.clone(), number })
}

/// Returns the row ids of all commits that are reachable from sessions and tags.
pub fn reachable_commits(db: &Db) -> Result<HashSet<i64>, StoreError> {
    // A session's own commits stay reachable even if an undo was followed by new commits.
    let sql = "WITH RECURSIVE needed(id) AS (
            SELECT head FROM sessions UNION SELECT tip FROM sessions
            UNION SELECT base FROM sessions
            UNION SELECT target FROM tags
            UNION SELECT c.id FROM commits c JOIN sessions s ON c.session = s.id
            UNION SELECT parent FROM commits JOIN needed USING(id) WHERE parent IS NOT NULL)
        SELECT id FROM needed WHERE id > 0";
    let mut all = db.0.prepare_cached(sql)?;
    let ids = all.query_map([], |r| r.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns those of the commits `among` that other sessions or their tags need, or the commits
/// `also`. `among` must have all commits of `session`, or all after one of them, and those of
/// their ancestors that may be removed.
///
/// The time depends on `among` and on the number of sessions, not on the commits of the others,
/// because the store is locked meanwhile.
pub fn needed_by_others(
    db: &Db,
    session: i64,
    among: &[i64],
    also: impl IntoIterator<Item = i64>,
) -> Result<HashSet<i64>, StoreError> {
    let within: HashSet<i64> = among.iter().copied().collect();
    let range = (session, among.iter().min(), among.iter().max());
    let sql = "SELECT head FROM sessions WHERE id <> ?1 AND head BETWEEN ?2 AND ?3
        UNION ALL SELECT tip FROM sessions WHERE id <> ?1 AND tip BETWEEN ?2 AND ?3
        UNION ALL SELECT base FROM sessions WHERE id <> ?1 AND base BETWEEN ?2 AND ?3
        UNION ALL SELECT target FROM tags WHERE session <> ?1 AND target BETWEEN ?2 AND ?3";
    let mut all = db.0.prepare_cached(sql)?;
    let mut todo = all.query_map(range, |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    todo.extend(also);
    // Commits of a session that was removed are not needed for themselves, but another one can
    // descend from them.
    let sql = "SELECT c.parent, c.session <> ?2 AND c.session IN (SELECT id FROM sessions)
        FROM commits c WHERE c.id = ?1";
    let mut one = db.0.prepare_cached(sql)?;
    let mut children = db.0.prepare_cached("SELECT id FROM commits WHERE parent = ?")?;
    let mut parents = HashMap::new();
    for id in among {
        let (parent, is_foreign): (Option<i64>, bool) =
            one.query_row([*id, session], |r| Ok((r.get(0)?, r.get(1)?)))?;
        parents.insert(*id, parent);
        let children = children.query_map([id], |r| r.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        if is_foreign || children.iter().any(|child| !within.contains(child)) {
            todo.push(*id);
        }
    }
    let mut needed = HashSet::new();
    while let Some(id) = todo.pop() {
        if let Some(parent) = parents.get(&id)
            && needed.insert(id)
        {
            todo.extend(parent);
        }
    }
    Ok(needed)
}

/// Returns the row ids of the commits that a session has made or descends from, the oldest first.
pub fn all_commits(db: &Db, row: &SessionRow) -> Result<Vec<i64>, StoreError> {
    let sql = "WITH RECURSIVE line(id) AS (VALUES(?1), (?2) UNION
            SELECT id FROM commits WHERE session = ?3 UNION
            SELECT parent FROM commits JOIN line USING(id) WHERE parent IS NOT NULL)
        SELECT id FROM commits JOIN line USING(id) ORDER BY number, id";
    let mut all = db.0.prepare_cached(sql)?;
    let ids = all.query_map([row.tip, row.base, row.id], |r| r.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the row ids of the commits that a session has made after the one with that number.
pub fn commits_after(db: &Db, session: i64, number: u64) -> Result<Vec<i64>, StoreError> {
    let sql = "SELECT id FROM commits WHERE session = ? AND number > ?";
    let mut all = db.0.prepare_cached(sql)?;
    let ids = all.query_map((session, to_signed(number)), |r| r.get(0))?;
    Ok(ids.collect::<Result<_, _>>()?)
}

/// Returns the tags of a session with the row ids of their commits.
pub fn session_tags(db: &Db, session: i64) -> Result<Vec<(String, i64)>, StoreError> {
    let sql = "SELECT name, target FROM tags WHERE session = ? ORDER BY name";
    let mut all = db.0.prepare_cached(sql)?;
    let rows = all.query_map([session], |r| Ok((r.get(0)?, r.get(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The bytes that the sessions of one owner take in a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerGrowth {
    /// The part of the sessions' names before the first dot; empty if they have none.
    pub owner: String,
    /// The number of bytes that their commits have added; `audit` is that of their logs.
    pub history: u64,
    pub audit: u64,
}

impl Store {
    /// Returns the number of bytes of the histories and of the logs, by owner.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn growth_by_owner(&self) -> Result<Vec<OwnerGrowth>, StoreError> {
        self.read_with(|db| {
        let sql = "SELECT CASE instr(name, '.') WHEN 0 THEN '' ELSE substr(name, 1, instr(name, '.') - 1) END,
                CAST(total((SELECT total(stored) FROM commits WHERE session = s.id)) AS INTEGER),
                CAST(total((SELECT total(octet_length(entry)) FROM audit WHERE session = s.id)) AS INTEGER)
            FROM sessions s GROUP BY 1 ORDER BY 1";
        let mut all = db.0.prepare_cached(sql)?;
        let rows = all.query_map([], |row| {
            let (history, audit) = (to_unsigned(row.get(1)?), to_unsigned(row.get(2)?));
            Ok(OwnerGrowth { owner: row.get(0)?, history, audit })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
        })
    }

    /// Returns all commits of a session, the oldest first, including those that were undone.
    ///
    /// # Errors
    /// Returns an error if there is no such session.
    pub fn history(&self, name: &str) -> Result<Vec<Commit>, StoreError> {
        self.refresh(name)?;
        self.read_with(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let all = all_commits(db, &row)?;
            all.into_iter().map(|id| Ok(CommitRow::get(db, id)?.commit)).collect()
        })
    }

    /// Returns a commit of a session.
    ///
    /// # Errors
    /// Returns an error if there is no such session or commit.
    pub fn commit(&self, name: &str, number: u64) -> Result<Commit, StoreError> {
        self.refresh(name)?;
        let db = self.lock_db();
        let row = SessionRow::find_by_name(&db, name)?;
        let id = find_commit(&db, &row, number)?;
        Ok(CommitRow::get(&db, id)?.commit)
    }

    /// Returns a session's tags and the numbers of their commits.
    ///
    /// # Errors
    /// Returns an error if there is no such session.
    pub fn tags(&self, name: &str) -> Result<Vec<(String, u64)>, StoreError> {
        self.refresh(name)?;
        self.read_with(|db| {
            let row = SessionRow::find_by_name(db, name)?;
            let tags = session_tags(db, row.id)?.into_iter();
            tags.map(|(tag, id)| Ok((tag, CommitRow::get(db, id)?.commit.number))).collect()
        })
    }

    /// Calls `act` with the objects of the store, for example to read files of a commit.
    pub fn with_objects<T>(&self, act: impl FnOnce(&dyn wasibox_snapshot::Objects) -> T) -> T {
        act(self)
    }

    /// Calls `visit` for the files of a commit by path, as [`walk::walk_tree`] does.
    ///
    /// # Errors
    /// Returns an error if the store is damaged, or the first error of `visit`.
    pub fn walk(
        &self,
        files: &FileTree,
        visit: &mut dyn FnMut(walk::TreeEntry<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let root: &Root = &files.root;
        walk::walk_tree(self, root, visit)
    }
}

impl StoreSession {
    /// Removes all commits except the last `keep` ones up to the head, tagged ones and those that
    /// other sessions need. The changes of a removed commit become part of the one after it.
    /// Nothing can be redone afterwards. Returns the number of removed commits.
    ///
    /// # Errors
    /// Returns an error if the store cannot be written.
    pub fn compact(&self, keep: usize) -> Result<usize, StoreError> {
        let (gone, head) = self.change(|db| {
            let sql = format!("{SESSION} WHERE id = ?");
            let row = db.0.query_row(&sql, [self.id()], SessionRow::from_row)?;
            let before = all_commits(db, &row)?;
            let others = needed_by_others(db, row.id, &before, [])?;
            let mut kept: HashSet<i64> =
                session_tags(db, row.id)?.into_iter().map(|(_, id)| id).collect();
            let mut at = Some(row.head);
            for _ in 0..keep.max(1) {
                let Some(id) = at else { break };
                kept.insert(id);
                at = CommitRow::get(db, id)?.parent;
            }
            for id in kept.difference(&others) {
                let commit = CommitRow::get(db, *id)?;
                let mut parent = commit.parent;
                let (mut number, mut merged) = (None, growth::stored_bytes(db, *id)?);
                while let Some(id) = parent {
                    let before = CommitRow::get(db, id)?;
                    if kept.contains(&id) || others.contains(&id) {
                        number = Some(before.commit.number);
                        break;
                    }
                    merged = merged.saturating_add(growth::stored_bytes(db, id)?);
                    parent = before.parent;
                }
                // The parts of merged commits that are still needed belong to this one's state, so
                // its size is the bound.
                growth::set_stored_bytes(db, *id, merged.min(growth::state_bytes(&commit.commit)))?;
                if parent != commit.parent {
                    let body = Commit { parent: number, ..commit.commit }.encode()?;
                    let sql = "UPDATE commits SET parent = ?, digest = ?, body = ? WHERE id = ?";
                    db.0.execute(
                        sql,
                        (parent, wasibox_snapshot::Digest::hash_bytes(&body).0, body, id),
                    )?;
                }
            }
            // The commit at which the session was forked stays its base if that commit is kept for
            // another reason.
            let is_kept = kept.contains(&row.base) || others.contains(&row.base);
            let base = if is_kept { row.base } else { 0 };
            let sql = "UPDATE sessions SET tip = head, base = ? WHERE id = ?";
            db.0.execute(sql, [base, row.id])?;
            let mut gone = 0;
            for id in before.iter().filter(|id| !kept.contains(id) && !others.contains(id)) {
                gone += db.0.execute("DELETE FROM commits WHERE id = ?", [id])?;
            }
            Ok::<_, StoreError>((gone, CommitRow::get(db, row.head)?.commit))
        })?;
        self.set_head(head);
        self.forget_growth();
        Ok(gone)
    }
}
