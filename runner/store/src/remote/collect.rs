//! Removal of objects of a bucket that no session needs.
//!
//! A worker refers to a new object only from a head that it puts within seconds, so an object that
//! no head has named for [`GRACE`] is garbage. Two collections decide together: the first lists
//! what it finds unneeded, in the bucket; a later one, at least [`GRACE`] after that, removes what
//! is on the list and still unneeded. An object that is named again in between, for example by a
//! fork, stays.

use super::head::{PackRef, decode, encode};
use super::heartbeat::now_millis;
use super::pack::{pack_key, part_key};
use super::{AT_ONCE, Remote, age_of, in_parallel, lock};
use crate::db::{Db, to_unsigned};
use crate::{GcReport, Store, StoreError};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashSet};
use std::sync::Mutex;
use std::time::Duration;

/// The time for which an object that no head names is kept.
const GRACE: Duration = Duration::from_secs(3600);
/// The number of objects that are removed from the cache at once.
const TRIMMED: i64 = 1024;
/// The key of the list of unneeded objects, and the largest one in bytes.
const LIST: &str = "garbage/list";
const MAX_LIST: u64 = 64 << 20;

/// The objects that a collection found unneeded.
#[derive(Default, Serialize, Deserialize)]
struct GarbageList {
    /// In milliseconds since the epoch.
    time: u64,
    keys: BTreeSet<String>,
}

/// The result of a collection of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteReport {
    /// The number of objects that were removed, and their size in bytes.
    pub removed: usize,
    pub bytes: u64,
    /// The number of objects that a later collection removes, unless they are needed by then.
    pub listed: usize,
}

impl Store {
    /// Removes objects of the bucket that no session has needed for an hour. Does nothing in a
    /// store without a bucket. Sessions may be in use meanwhile.
    ///
    /// # Errors
    /// The same as [`Store::collect_remote_garbage_after`].
    pub fn collect_remote_garbage(&self) -> Result<RemoteReport, StoreError> {
        self.collect_remote_garbage_after(GRACE)
    }

    /// Removes objects of the bucket that no session has needed for the time `grace`. It must be
    /// longer than any worker takes for a commit.
    ///
    /// # Errors
    /// Returns an error if the bucket fails, or a session is damaged. Nothing is removed then,
    /// because the needed objects cannot be determined.
    pub fn collect_remote_garbage_after(
        &self,
        grace: Duration,
    ) -> Result<RemoteReport, StoreError> {
        self.remote().map_or(Ok(RemoteReport::default()), |remote| remote.collect(grace))
    }
}

impl Remote {
    fn collect(&self, grace: Duration) -> Result<RemoteReport, StoreError> {
        // Listed before the heads are read, so that an object that is new to a head is not among
        // them.
        let mut found = self.bucket.list("packs/")?;
        found.extend(self.bucket.list("parts/")?);
        let needed = Mutex::new(HashSet::<String>::new());
        let names = self.names()?;
        in_parallel(&names, AT_ONCE, |name| {
            let Some((head, _)) = self.read_head(name)? else { return Ok(()) };
            let parts = head.history.iter().chain(&head.log).map(part_key);
            let keys: Vec<String> = head.packs.iter().map(pack_key).chain(parts).collect();
            lock(&needed).extend(keys);
            Ok(())
        })?;
        let needed = lock(&needed);
        let before: GarbageList = match self.bucket.get(LIST, MAX_LIST)? {
            Some(found) => decode(&found.bytes)?,
            None => GarbageList::default(),
        };
        let grace_millis = u64::try_from(grace.as_millis()).unwrap_or(u64::MAX);
        let is_due = before.time.saturating_add(grace_millis) <= now_millis();
        let (mut report, mut left, mut gone) =
            (RemoteReport::default(), BTreeSet::new(), Vec::new());
        for info in found {
            if needed.contains(&info.key) || age_of(info.modified) < grace {
                continue;
            }
            if is_due && before.keys.contains(&info.key) {
                report.removed += 1;
                report.bytes += info.len;
                gone.push(info.key);
            } else {
                left.insert(info.key);
            }
        }
        report.listed = left.len();
        in_parallel(&gone, AT_ONCE, |key| Ok(self.bucket.delete(key)?))?;
        // A list that is not due yet keeps its time, so that frequent collections end, too.
        let list = if is_due {
            GarbageList { time: now_millis(), keys: left }
        } else {
            let keys = before.keys.intersection(&left).cloned().collect();
            GarbageList { time: before.time, keys }
        };
        self.bucket.put(LIST, &encode(&list)?)?;
        self.forget_dead_workers(grace)?;
        let known: HashSet<PackRef> = lock(&self.known)
            .values()
            .filter_map(|known| known.present())
            .flat_map(|present| present.head.packs.clone())
            .collect();
        lock(&self.lists).retain(|pack| known.contains(pack));
        Ok(report)
    }

    /// Removes the heartbeats of workers that ended long ago.
    fn forget_dead_workers(&self, grace: Duration) -> Result<(), StoreError> {
        for info in self.bucket.list("workers/")? {
            if age_of(info.modified) > grace.max(self.lease * AT_ONCE as u32) {
                self.bucket.delete(&info.key)?;
            }
        }
        Ok(())
    }
}

impl Remote {
    /// Removes the oldest objects of the cache until it has at most `most` bytes of them. They are
    /// read from the bucket when they are needed again.
    pub fn trim_cache(store: &Store, most: u64) -> Result<GcReport, StoreError> {
        let mut gone = GcReport::default();
        loop {
            let removed = store.transaction(|db| trim_some(db, most))?;
            gone.objects += removed.objects;
            gone.bytes += removed.bytes;
            if removed.objects == 0 {
                return Ok(gone);
            }
        }
    }
}

/// Removes some of the oldest objects of a cache, unless it has at most `most` bytes of objects.
/// Those that are on their way into the bucket stay.
fn trim_some(db: &Db, most: u64) -> Result<GcReport, StoreError> {
    let sql = "SELECT CAST(total(length(bytes)) AS INTEGER) FROM objects";
    let size = to_unsigned(db.0.query_row(sql, [], |row| row.get(0))?);
    let mut gone = GcReport::default();
    let sql = "SELECT id, length(bytes) FROM objects
        WHERE digest NOT IN (SELECT digest FROM staged) ORDER BY id LIMIT ?";
    let mut oldest = db.0.prepare_cached(sql)?;
    let mut rows = oldest.query([TRIMMED])?;
    while let Some(row) = rows.next()?
        && size.saturating_sub(gone.bytes) > most
    {
        let id: i64 = row.get(0)?;
        db.0.prepare_cached("DELETE FROM objects WHERE id = ?")?.execute([id])?;
        gone.objects += 1;
        gone.bytes += to_unsigned(row.get(1)?);
    }
    Ok(gone)
}
