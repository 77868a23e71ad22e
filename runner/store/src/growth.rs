//! The limits on what a session's history and log take in the store.
//!
//! If a session has more commits than its limit, the oldest are merged into those after them until
//! the newest ones are left that are to be kept ([`StoreSession::limit_commits`]). This is one short
//! transaction, once in many calls; the space is regained in the background
//! ([`mod@crate::collector`]).
//!
//! Bytes have a limit of their own. Each commit records the number of bytes that it has added. If a session's commits together
//! exceed the limit, the oldest are merged into those after them until the newer ones take at most
//! a quarter of the limit, and objects that are no longer needed are removed. So this happens only
//! once in many calls. Tagged commits may have at most half of the limit. The log loses its oldest
//! entries, and a note about them takes their place.

use crate::db::{Db, to_signed, to_unsigned};
use crate::{CommitRow, StoreError, StoreSession};
use std::sync::MutexGuard;
use wasibox_snapshot::Commit;

/// The bytes that a commit takes in addition to its objects, and those that an entry of the log
/// takes in addition to its text.
const COMMIT: u64 = 512;
const ENTRY: u64 = 64;
/// The beginning and the end of the note about removed entries.
const NOTE: (&str, &str) = ("{\"event\":\"removed\",\"entries\":", "}");

/// The bytes that a session takes in its store, and their limits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionGrowth {
    history_limit: u64,
    audit_limit: u64,
    /// The bytes of the history after the last compaction. They may exceed the limit because of a
    /// large state.
    compacted: u64,
    /// The bytes of the history and, in the next field, of the log. Both are unknown until they are
    /// needed, and again after a failed transaction.
    history: Option<u64>,
    audit: Option<u64>,
    commits: CommitCount,
}

impl Default for SessionGrowth {
    fn default() -> SessionGrowth {
        let (history_limit, audit_limit) = (u64::MAX, u64::MAX);
        let commits = CommitCount::default();
        SessionGrowth {
            history_limit,
            audit_limit,
            compacted: 0,
            history: None,
            audit: None,
            commits,
        }
    }
}

/// The number of a session's commits, and its limit.
#[derive(Clone, Copy, Debug)]
struct CommitCount {
    keep: usize,
    most: usize,
    /// The number after the last compaction. It may exceed `keep`, because tagged commits and those
    /// that other sessions need are kept.
    compacted: usize,
    /// Unknown until it is needed, and again after a failed transaction.
    count: Option<usize>,
    /// The number of those who rely on all commits ([`StoreSession::keep_commits`]).
    holders: usize,
}

impl Default for CommitCount {
    fn default() -> CommitCount {
        CommitCount { keep: usize::MAX, most: usize::MAX, compacted: 0, count: None, holders: 0 }
    }
}

/// Returns the number of bytes that a commit takes if its objects take `objects` bytes.
pub(crate) fn commit_bytes(objects: u64) -> u64 {
    objects.saturating_add(COMMIT)
}

/// Returns the bytes of a commit with its whole state. It is an upper bound for the objects that
/// only this commit needs.
pub(crate) fn state_bytes(commit: &Commit) -> u64 {
    let blobs = commit.blobs().map(|blob| blob.len()).fold(0, u64::saturating_add);
    commit_bytes(blobs.saturating_add(commit.state.files.totals.bytes))
}

pub(crate) fn stored_bytes(db: &Db, id: i64) -> Result<u64, StoreError> {
    let mut get = db.0.prepare_cached("SELECT stored FROM commits WHERE id = ?")?;
    Ok(to_unsigned(get.query_row([id], |row| row.get(0))?))
}

pub(crate) fn set_stored_bytes(db: &Db, id: i64, bytes: u64) -> Result<(), StoreError> {
    let mut set = db.0.prepare_cached("UPDATE commits SET stored = ? WHERE id = ?")?;
    set.execute((to_signed(bytes), id))?;
    Ok(())
}

/// Checks that an entry of the log is at most 1 MiB long.
pub(crate) fn check_log_entry(entry: &str) -> Result<(), StoreError> {
    if entry.len() > 1 << 20 { Err(StoreError::TooLong) } else { Ok(()) }
}

impl StoreSession {
    /// Limits the bytes of the session's history and of its log, which are not limited by default.
    pub fn limit_growth(&self, history: u64, audit: u64) {
        let mut growth = self.lock_growth();
        (growth.history_limit, growth.audit_limit) = (history, audit);
    }

    /// Limits the number of the session's commits, which is not limited by default: when there are
    /// more than `most`, the newest `keep` stay, and those that are tagged or that other sessions
    /// need. `usize::MAX` is no limit.
    pub fn limit_commits(&self, keep: usize, most: usize) {
        let commits = &mut self.lock_growth().commits;
        (commits.keep, commits.most) = (keep.clamp(1, most.max(1)), most);
    }

    /// Suspends the limit of commits until [`StoreSession::release_commits`] was called as often as this,
    /// for a caller that will return to a commit of now after any number of further ones. The limit
    /// of bytes still holds.
    pub fn keep_commits(&self) {
        self.lock_growth().commits.holders += 1;
    }

    /// Reverts one call of [`StoreSession::keep_commits`].
    pub fn release_commits(&self) {
        let commits = &mut self.lock_growth().commits;
        commits.holders = commits.holders.saturating_sub(1);
    }

    pub(crate) fn lock_growth(&self) -> MutexGuard<'_, SessionGrowth> {
        self.growth.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Returns the number of bytes that the session's commits have added to the store, and the
    /// number of bytes of its log.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn growth(&self) -> Result<(u64, u64), StoreError> {
        let db = self.store().lock_db();
        Ok((self.history_bytes(&db)?, self.audit_bytes(&db)?))
    }

    fn history_bytes(&self, db: &Db) -> Result<u64, StoreError> {
        let mut growth = self.lock_growth();
        if let Some(known) = growth.history {
            return Ok(known);
        }
        let sql = "SELECT CAST(total(stored) AS INTEGER) FROM commits WHERE session = ?";
        let bytes = to_unsigned(db.0.prepare_cached(sql)?.query_row([self.id()], |r| r.get(0))?);
        growth.history = Some(bytes);
        Ok(bytes)
    }

    fn audit_bytes(&self, db: &Db) -> Result<u64, StoreError> {
        let mut growth = self.lock_growth();
        if let Some(known) = growth.audit {
            return Ok(known);
        }
        let sql = "SELECT CAST(total(length(entry) + ?) AS INTEGER) FROM audit WHERE session = ?";
        let mut get = db.0.prepare_cached(sql)?;
        let bytes = to_unsigned(get.query_row((to_signed(ENTRY), self.id()), |r| r.get(0))?);
        growth.audit = Some(bytes);
        Ok(bytes)
    }

    /// Forgets the known numbers of bytes and commits, because a transaction has failed or has
    /// removed commits.
    pub(crate) fn forget_growth(&self) {
        let mut growth = self.lock_growth();
        (growth.history, growth.audit, growth.commits.count) = (None, None, None);
    }

    /// Counts a new commit. Compacts the history if it exceeds a limit.
    pub(crate) fn count_commit(&self, bytes: u64) -> Result<(), StoreError> {
        self.count_number()?;
        self.count_bytes(bytes)
    }

    /// Counts a new commit, and compacts the history if there are too many.
    fn count_number(&self) -> Result<(), StoreError> {
        let keep = {
            let db = self.store().lock_db();
            let commits = self.lock_growth().commits;
            let count = match commits.count {
                Some(known) => known + 1,
                None if commits.most == usize::MAX => return Ok(()),
                None => self.count_own_commits(&db)?,
            };
            self.lock_growth().commits.count = Some(count);
            // Commits that cannot be removed must not cause a compaction at each call.
            let most =
                commits.most.max(commits.compacted.saturating_add(commits.most - commits.keep));
            if count <= most || commits.holders > 0 {
                return Ok(());
            }
            commits.keep
        };
        let removed = self.compact(keep)?;
        let left = self.count_own_commits(&self.store().lock_db())?;
        {
            let commits = &mut self.lock_growth().commits;
            (commits.compacted, commits.count) = (left, Some(left));
        }
        if removed > 0 {
            self.store().collect_soon();
        }
        Ok(())
    }

    fn count_own_commits(&self, db: &Db) -> Result<usize, StoreError> {
        let sql = "SELECT count(*) FROM commits WHERE session = ?";
        let count: i64 = db.0.prepare_cached(sql)?.query_row([self.id()], |r| r.get(0))?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Counts the bytes of a new commit. Compacts the history if it exceeds the limit of bytes, and
    /// has grown by a quarter of the limit since the last compaction.
    fn count_bytes(&self, bytes: u64) -> Result<(), StoreError> {
        let keep = {
            let db = self.store().lock_db();
            let limit = {
                let mut growth = self.lock_growth();
                // An unknown number stays unknown, because the row of the new commit will be
                // counted with the others.
                growth.history = growth.history.map(|known| known.saturating_add(bytes));
                growth.history_limit.max(growth.compacted.saturating_add(growth.history_limit / 4))
            };
            if limit == u64::MAX || self.history_bytes(&db)? <= limit {
                return Ok(());
            }
            let most = self.lock_growth().history_limit / 4;
            self.newest_within(&db, most)?
        };
        self.compact(keep)?;
        self.store().collect_garbage()?;
        let left = self.growth()?.0;
        self.lock_growth().compacted = left;
        Ok(())
    }

    /// Returns the number of newest commits that have at most `most` bytes together, but at least
    /// 1.
    fn newest_within(&self, db: &Db, most: u64) -> Result<usize, StoreError> {
        let mut at = Some(self.row(db)?.head);
        let (mut count, mut sum) = (0, 0u64);
        while let Some(id) = at {
            sum = sum.saturating_add(stored_bytes(db, id)?);
            if count > 0 && sum > most {
                break;
            }
            count += 1;
            at = CommitRow::get(db, id)?.parent;
        }
        Ok(count)
    }

    /// Checks that the tagged commits, including the commit `target`, have at most half of the
    /// limit.
    pub(crate) fn check_tagged(&self, db: &Db, target: i64) -> Result<(), StoreError> {
        let limit = self.lock_growth().history_limit / 2;
        let mut sum = stored_bytes(db, target)?;
        for (_, id) in crate::history::session_tags(db, self.id())? {
            sum = sum.saturating_add(if id == target { 0 } else { stored_bytes(db, id)? });
        }
        if sum > limit { Err(StoreError::HistoryFull(limit)) } else { Ok(()) }
    }

    /// Adds an entry to the log. The oldest entries are removed if it would exceed its limit.
    pub(crate) fn log(&self, db: &Db, entry: &str) -> Result<(), StoreError> {
        check_log_entry(entry)?;
        let before = self.audit_bytes(db)?;
        let sql = "INSERT INTO audit(session, time, entry) VALUES(?, ?, ?)";
        let now = to_signed(crate::now_nanos());
        db.0.prepare_cached(sql)?.execute((self.id(), now, entry))?;
        let bytes = before.saturating_add(entry.len() as u64 + ENTRY);
        self.lock_growth().audit = Some(bytes);
        let limit = self.lock_growth().audit_limit;
        if bytes > limit { self.cut_log(db, bytes - limit / 4 * 3) } else { Ok(()) }
    }

    /// Removes the oldest entries of the log until at least `bytes` bytes are removed, and puts a
    /// note in their place.
    fn cut_log(&self, db: &Db, bytes: u64) -> Result<(), StoreError> {
        let (mut last, mut count, mut removed) = (None, 0u64, 0u64);
        {
            let sql = "SELECT id, entry FROM audit WHERE session = ? ORDER BY id";
            let mut all = db.0.prepare_cached(sql)?;
            let mut rows = all.query([self.id()])?;
            while removed < bytes
                && let Some(row) = rows.next()?
            {
                let entry: String = row.get(1)?;
                removed += entry.len() as u64 + ENTRY;
                let earlier = entry.strip_prefix(NOTE.0).and_then(|e| e.strip_suffix(NOTE.1));
                count += earlier.and_then(|n| n.parse().ok()).unwrap_or(1);
                last = Some(row.get::<_, i64>(0)?);
            }
        }
        let Some(last) = last else { return Ok(()) };
        db.0.prepare_cached("DELETE FROM audit WHERE session = ? AND id <= ?")?
            .execute((self.id(), last))?;
        let note = format!("{}{count}{}", NOTE.0, NOTE.1);
        let sql = "INSERT INTO audit(id, session, time, entry) VALUES(?, ?, ?, ?)";
        let now = to_signed(crate::now_nanos());
        db.0.prepare_cached(sql)?.execute((last, self.id(), now, note))?;
        self.lock_growth().audit = None;
        Ok(())
    }
}
