//! Sessions in a bucket, with a file as cache.
//!
//! # Stages
//! [`Store::open_remote`] opens a bucket and the cache, an ordinary store file. A session is a
//! [`head`] in the bucket. [`Remote::take`] takes it up: the head names this worker from then on,
//! and its rows are in the cache ([`rows`]). A change runs in the cache first, then [`draft`] makes
//! the next head of the rows, and putting that head is what makes the change take effect. Objects
//! are read when they are needed ([`pack`]).
//!
//! # Invariants
//! - A head is changed only by a conditional put that names the version before. So of two workers
//!   that believe they have a session, one succeeds, and the other learns it before its call is
//!   acknowledged.
//! - The objects that a head refers to are in the bucket before the head is.
//! - An answer that is lost is not a failure: the head is read again, and its bytes, which no two
//!   changes share, tell whether the change took effect.
//! - The cache is never right against the bucket. Whatever it has of a session is compared with
//!   the head when the session is taken up, and replaced where it differs.
//!
//! # Deliberately absent
//! A lock service. The heartbeats of workers only say when waiting for one is in vain; clocks that
//! differ cost a lost call, never a lost commit.

mod collect;
mod draft;
mod head;
mod heartbeat;
mod objects;
mod pack;
mod rows;
mod sessions;
mod usage;

use crate::{Store, StoreError};
use draft::FoldedRows;
use head::{Head, MAX_HEAD, PackRef, WorkerId};
use pack::PackLists;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use wasibox_bucket::{Bucket, BucketError, BucketObject, Version};
use wasibox_snapshot::Digest;

pub use collect::RemoteReport;
pub(crate) use usage::RemoteHold;

/// How a process uses a bucket of sessions.
#[derive(Clone, Copy, Debug)]
pub struct RemoteOptions {
    /// The time for which a worker's sessions stay its own after its last heartbeat, so the time
    /// after which others can take the sessions of one that has died.
    pub lease: Duration,
    /// The number of bytes of objects that the cache has after [`Store::collect_garbage`].
    pub cache_bytes: u64,
}

impl Default for RemoteOptions {
    fn default() -> RemoteOptions {
        RemoteOptions { lease: Duration::from_secs(10), cache_bytes: 4 << 30 }
    }
}

/// The number of attempts to put an object that others change, too, or without an answer.
const TRIES: usize = 8;
/// The number of sessions at which those are forgotten that are not in use.
const MAX_KNOWN: usize = 1024;
/// The most requests at a time, and of those that put packs.
const AT_ONCE: usize = 16;
const PACKS_AT_ONCE: usize = 3;

/// The bucket of a store, and the heads that are known.
pub struct Remote {
    bucket: Arc<dyn Bucket>,
    worker: WorkerId,
    lease: Duration,
    /// The sessions that were looked at.
    known: Mutex<HashMap<String, Arc<KnownSession>>>,
    lists: Mutex<PackLists>,
    /// The most bytes of objects in the cache.
    cache_bytes: u64,
    /// The number of sessions that this worker has.
    held: AtomicU64,
    /// The time, in milliseconds since the epoch, until which the last heartbeat lasts.
    until: Mutex<u64>,
}

/// A session that was looked at.
#[derive(Default)]
pub(crate) struct KnownSession {
    /// Locked by the only use of the session's head at this time.
    usage: Mutex<Usage>,
    /// The last known head. None if the bucket has no such session, or was not asked.
    present: Mutex<Option<Arc<PublishedHead>>>,
}

#[derive(Default)]
struct Usage {
    is_held: bool,
    /// Whether a change of this worker failed in between, so that the cache may be ahead of the
    /// bucket.
    is_lost: bool,
}

struct PublishedHead {
    head: Head,
    version: Version,
    /// Which rows are in parts. None if the rows were not compared with the head, because another
    /// process of this machine has the session.
    folded: Option<FoldedRows>,
}

impl KnownSession {
    fn present(&self) -> Option<Arc<PublishedHead>> {
        lock(&self.present).clone()
    }

    fn set_present(&self, head: Head, version: Version, folded: Option<FoldedRows>) {
        *lock(&self.present) = Some(Arc::new(PublishedHead { head, version, folded }));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the key of a session's head.
fn head_key(name: &str) -> String {
    format!("sessions/h{name}")
}

fn new_worker() -> Result<WorkerId, StoreError> {
    let mut id = WorkerId::default();
    getrandom::fill(&mut id).map_err(|e| StoreError::Io(std::io::Error::other(e)))?;
    Ok(id)
}

/// Returns the path of the cache of a bucket: a file in `wasibox/buckets` of `XDG_CACHE_HOME`, or of
/// `~/.cache`.
///
/// # Errors
/// Returns an error if neither is known, or the folder cannot be made.
pub fn cache_path(address: &str) -> Result<PathBuf, StoreError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let folder = base.ok_or_else(|| {
        let reason = "HOME is not set, so there is no place for a cache".to_owned();
        BucketError::Address { address: address.to_owned(), reason }
    })?;
    let folder = folder.join("wasibox/buckets");
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    let name = Digest::hash_bytes(address.trim_end_matches('/').as_bytes()).to_string();
    Ok(folder.join(format!("{}.wbx", &name[..32])))
}

impl Store {
    /// Opens the sessions of a bucket. The file `cache`, which is created if it does not exist, has
    /// what this machine has read of them; it may be removed when no process uses it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use wasibox_bucket::FolderBucket;
    /// use wasibox_store::{Store, StoreError};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let bucket = Arc::new(FolderBucket::open(&folder.path().join("bucket"))?);
    /// let one = Store::open_remote(bucket.clone(), &folder.path().join("one"))?;
    /// let session = one.create("a", None)?;
    /// session.commit(|commit| commit.set_command(b"echo hi"))?;
    ///
    /// let two = Store::open_remote(bucket, &folder.path().join("two"))?;
    /// assert!(matches!(two.session("a"), Err(StoreError::Busy { .. })));
    /// drop(session);
    /// assert_eq!(two.session("a")?.head().number, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error if the cache cannot be opened.
    pub fn open_remote(bucket: Arc<dyn Bucket>, cache: &Path) -> Result<Store, StoreError> {
        Store::open_remote_with(bucket, cache, &RemoteOptions::default())
    }

    /// Does the same as [`Store::open_remote`] with these options.
    ///
    /// # Errors
    /// The same as [`Store::open_remote`].
    pub fn open_remote_with(
        bucket: Arc<dyn Bucket>,
        cache: &Path,
        options: &RemoteOptions,
    ) -> Result<Store, StoreError> {
        let remote = Remote {
            bucket,
            worker: new_worker()?,
            lease: options.lease,
            known: Mutex::default(),
            lists: Mutex::default(),
            cache_bytes: options.cache_bytes,
            held: AtomicU64::new(0),
            until: Mutex::default(),
        };
        Store::open_cache(cache, remote)
    }

    /// Returns whether the sessions are in a bucket.
    pub fn has_bucket(&self) -> bool {
        self.remote().is_some()
    }

    pub(crate) fn remote(&self) -> Option<&Remote> {
        self.shared.remote.as_ref()
    }

    /// Makes the rows of a session those of the bucket, unless this process has the session.
    pub(crate) fn refresh(&self, name: &str) -> Result<(), StoreError> {
        match self.remote() {
            Some(remote) => remote.refresh(self, name),
            None => Ok(()),
        }
    }
}

impl Remote {
    /// Returns what is known of a session. It stays known while the value is in use.
    pub(crate) fn known(&self, name: &str) -> Arc<KnownSession> {
        let mut all = lock(&self.known);
        if all.len() >= MAX_KNOWN {
            all.retain(|_, known| Arc::strong_count(known) > 1);
            let packs = |known: &Arc<KnownSession>| Some(known.present()?.head.packs.clone());
            let left: HashSet<PackRef> = all.values().filter_map(packs).flatten().collect();
            lock(&self.lists).retain(|pack| left.contains(pack));
        }
        all.entry(name.to_owned()).or_default().clone()
    }

    pub(crate) fn cache_bytes(&self) -> u64 {
        self.cache_bytes
    }

    /// Puts an object that has no versions. A request without an answer is repeated.
    fn put_object(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.bucket.put(key, bytes) {
                Err(BucketError::Failed { .. }) if tries < TRIES => {}
                done => return Ok(done?),
            }
        }
    }

    /// Reads a head with its version.
    fn read_head(&self, name: &str) -> Result<Option<(Head, Version)>, StoreError> {
        let Some(BucketObject { bytes, version }) = self.bucket.get(&head_key(name), MAX_HEAD)?
        else {
            return Ok(None);
        };
        Ok(Some((Head::decode(&bytes)?, version)))
    }

    /// Puts a head if the present one has the version `expected`. Returns `None` if it has another
    /// one.
    fn put_head(
        &self,
        name: &str,
        head: &Head,
        expected: Option<&Version>,
    ) -> Result<Option<Version>, StoreError> {
        let (key, bytes) = (head_key(name), head.encode()?);
        let mut failure = None;
        for _ in 0..TRIES {
            match self.bucket.put_if(&key, &bytes, expected) {
                Ok(version) => return Ok(Some(version)),
                // Perhaps by this request, if its first answer was lost.
                Err(BucketError::Changed(_)) => failure = None,
                Err(e @ BucketError::Failed { .. }) => failure = Some(e),
                Err(e) => return Err(e.into()),
            }
            let present = match self.bucket.get(&key, MAX_HEAD) {
                Ok(present) => present,
                Err(e) => {
                    failure = Some(e);
                    continue;
                }
            };
            match present {
                Some(present) if present.bytes == bytes => return Ok(Some(present.version)),
                present if present.as_ref().map(|p| &p.version) != expected => return Ok(None),
                _ => {}
            }
        }
        Err(failure.unwrap_or(BucketError::Changed(key)).into())
    }
}

/// Calls `act` for each item, `most` at a time. Returns the first error.
fn in_parallel<T: Sync>(
    items: &[T],
    most: usize,
    act: impl Fn(&T) -> Result<(), StoreError> + Sync,
) -> Result<(), StoreError> {
    if let [one] = items {
        return act(one);
    }
    let next = AtomicU64::new(0);
    let work = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::SeqCst) as usize) {
            act(item)?;
        }
        Ok(())
    };
    std::thread::scope(|threads| {
        let workers: Vec<_> = (0..items.len().min(most)).map(|_| threads.spawn(work)).collect();
        let panicked = |_| StoreError::Damaged("a request ended without an answer");
        workers.into_iter().try_for_each(|worker| worker.join().map_err(panicked)?)
    })
}

/// Returns the age of a listed object, by this machine's clock.
fn age_of(modified: SystemTime) -> Duration {
    SystemTime::now().duration_since(modified).unwrap_or_default()
}
