//! The sessions of a bucket: listing, forking and removing them.

use super::head::Head;
use super::rows::WholeHead;
use super::{AT_ONCE, Remote, head_key, in_parallel, lock};
use crate::{Store, StoreError, check_name, now_nanos};
use std::collections::HashSet;
use std::sync::Mutex;

impl Remote {
    /// Creates copies of a session: all of them, or none.
    pub(crate) fn fork_many(
        &self,
        store: &Store,
        name: &str,
        at: Option<u64>,
        new: &[&str],
    ) -> Result<(), StoreError> {
        self.refresh(store, name)?;
        let source = self.known(name).present();
        let source = source.ok_or_else(|| StoreError::NoSession(name.to_owned()))?.head.clone();
        let at = at.unwrap_or(source.head);
        let whole = WholeHead::read(&*self.bucket, &source)?;
        let (recent, number) = whole
            .line_to(at)
            .ok_or_else(|| StoreError::NoCommit { session: name.to_owned(), number: at })?;
        let head = Head {
            created: now_nanos(),
            head: number,
            tip: number,
            base: Some(number),
            next: number + 1,
            history: Vec::new(),
            recent,
            tags: Vec::new(),
            log: Vec::new(),
            recent_log: Vec::new(),
            is_released: true,
            owner: self.worker,
            fence: 0,
            writes: 0,
            ..source
        };
        let made = Mutex::new(Vec::new());
        let done = in_parallel(new, AT_ONCE, |new| {
            let version = self.put_head(new, &head, None)?;
            version.ok_or_else(|| StoreError::Exists((*new).to_owned()))?;
            lock(&made).push(*new);
            Ok(())
        });
        if done.is_err() {
            lock(&made).iter().try_for_each(|new| self.bucket.delete(&head_key(new)))?;
        }
        done
    }

    /// Removes a session that this worker has.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StoreError> {
        let known = self.known(name);
        let mut usage = lock(&known.usage);
        let lost = || StoreError::Lost(name.to_owned());
        let present = known.present().filter(|_| !usage.is_lost).ok_or_else(lost)?;
        // Makes sure that it is still this worker's. Others then leave it alone for the time of a
        // lease, which is longer than a request may take.
        let head = Head { writes: present.head.writes + 1, ..present.head.clone() };
        self.put_head(name, &head, Some(&present.version))?.ok_or_else(lost)?;
        self.bucket.delete(&head_key(name))?;
        usage.is_lost = true;
        *lock(&known.present) = None;
        Ok(())
    }

    /// Returns the names of all sessions.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        let listed = self.bucket.list("sessions/")?;
        let names = listed.iter().filter_map(|info| info.key.strip_prefix("sessions/h"));
        Ok(names.filter(|name| check_name(name).is_ok()).map(str::to_owned).collect())
    }

    /// Makes the rows of all sessions those of the bucket.
    pub(crate) fn refresh_all(&self, store: &Store) -> Result<(), StoreError> {
        let names = self.names()?;
        in_parallel(&names, AT_ONCE, |name| match self.refresh(store, name) {
            // A session that is damaged must not hide the others; looking at it names the damage.
            Err(StoreError::NoSession(_) | StoreError::Damaged(_) | StoreError::Snapshot(_)) => {
                Ok(())
            }
            done => done,
        })?;
        let there: HashSet<&String> = names.iter().collect();
        let cached: Vec<String> = store.read_with(|db| {
            let mut all = db.0.prepare_cached("SELECT name FROM sessions")?;
            let names = all.query_map([], |row| row.get(0))?;
            Ok(names.collect::<Result<_, _>>()?)
        })?;
        for name in cached.iter().filter(|name| !there.contains(name)) {
            self.refresh(store, name)?;
        }
        Ok(())
    }
}
