//! Sessions in a bucket: several workers, faults of the bucket, and the state after them.
//!
//! WASIBOX_BUCKET is the address of another bucket than a folder for the test of many workers, for
//! example `s3://bucket/prefix`; WASIBOX_COMMANDS is the number of commands that it acknowledges.

mod common;

use common::*;
use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use wasibox_bucket::{Bucket, BucketError, BucketObject, FolderBucket, ObjectInfo, Version};
use wasibox_store::snapshot::Digest;
use wasibox_store::{RemoteOptions, Store, StoreError, StoreSession};

/// A bucket whose requests fail at times, before or after they have taken effect.
#[derive(Debug)]
struct FaultyBucket {
    inner: Arc<dyn Bucket>,
    /// One request in this many fails; 0 if none does.
    one_in: AtomicU64,
    random: AtomicU64,
    /// Whether heartbeats fail, and whether heads cannot be put.
    is_silent: AtomicBool,
    is_read_only: AtomicBool,
}

impl FaultyBucket {
    fn new(inner: Arc<dyn Bucket>, one_in: u64, seed: u64) -> Arc<FaultyBucket> {
        let (one_in, random) = (AtomicU64::new(one_in), AtomicU64::new(seed));
        let (is_silent, is_read_only) = (AtomicBool::new(false), AtomicBool::new(false));
        Arc::new(FaultyBucket { inner, one_in, random, is_silent, is_read_only })
    }

    fn has_fault(&self) -> bool {
        let one_in = self.one_in.load(Ordering::SeqCst);
        let n = self.random.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::SeqCst);
        let n = (n ^ (n >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33;
        one_in > 0 && n.is_multiple_of(one_in)
    }

    fn request<T>(
        &self,
        key: &str,
        act: impl FnOnce() -> Result<T, BucketError>,
    ) -> Result<T, BucketError> {
        let fault = || BucketError::Failed { key: key.into(), reason: "a fault".into() };
        if self.has_fault() {
            return Err(fault());
        }
        let done = act()?;
        if self.has_fault() { Err(fault()) } else { Ok(done) }
    }
}

impl Bucket for FaultyBucket {
    fn get(&self, key: &str, limit: u64) -> Result<Option<BucketObject>, BucketError> {
        self.request(key, || self.inner.get(key, limit))
    }

    fn get_range(&self, key: &str, start: u64, len: u64) -> Result<Vec<u8>, BucketError> {
        self.request(key, || self.inner.get_range(key, start, len))
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError> {
        if key.starts_with("workers/") && self.is_silent.load(Ordering::SeqCst) {
            return Err(BucketError::Failed { key: key.into(), reason: "silent".into() });
        }
        self.request(key, || self.inner.put(key, bytes))
    }

    fn put_if(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<Version, BucketError> {
        if self.is_read_only.load(Ordering::SeqCst) {
            return Err(BucketError::Failed { key: key.into(), reason: "read-only".into() });
        }
        self.request(key, || self.inner.put_if(key, bytes, expected))
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError> {
        self.request(prefix, || self.inner.list(prefix))
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.request(key, || self.inner.delete(key))
    }
}

/// Returns the digest of the object of a long text.
fn blob_digest(text: &str) -> Digest {
    Digest::hash_bytes(text.as_bytes())
}

fn folder(dir: &TempDir) -> Arc<dyn Bucket> {
    Arc::new(FolderBucket::open(&dir.path().join("bucket")).unwrap())
}

fn options(lease: u64) -> RemoteOptions {
    RemoteOptions { lease: Duration::from_millis(lease), ..RemoteOptions::default() }
}

fn worker(bucket: Arc<dyn Bucket>, cache: &Path, lease: u64) -> Store {
    Store::open_remote_with(bucket, cache, &options(lease)).unwrap()
}

/// Commits a command, and returns the commit's number.
fn command(s: &StoreSession, text: &str) -> Result<u64, StoreError> {
    Ok(s.commit(|c| c.set_command(text.as_bytes()))?.number)
}

/// Returns the commands of a session's current line, the oldest first.
fn commands(store: &Store, name: &str) -> Vec<String> {
    let all: HashMap<u64, _> =
        store.history(name).unwrap().into_iter().map(|c| (c.number, c)).collect();
    let mut at = Some(store.session_info(name).unwrap().head);
    let mut line = Vec::new();
    while let Some(commit) = at.map(|number| &all[&number]) {
        let text = commit.call.command.load_bytes(store, 1 << 20).unwrap();
        line.push(String::from_utf8(text).unwrap());
        at = commit.parent;
    }
    line.reverse();
    line
}

#[test]
fn many_workers_lose_and_double_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = match std::env::var("WASIBOX_BUCKET") {
        Ok(address) => wasibox_bucket::open_bucket(&address).unwrap(),
        Err(_) => folder(&dir),
    };
    let enough = std::env::var("WASIBOX_COMMANDS").map_or(60, |n| n.parse().unwrap());
    let prefix = format!("s{}", std::process::id());
    let names: Vec<String> = (0..3).map(|n| format!("{prefix}-{n}")).collect();
    let maker = worker(bucket.clone(), &dir.path().join("maker"), 300);
    names.iter().for_each(|name| drop(maker.create(name, None).unwrap()));
    drop(maker);
    // By session and worker: the commands that were sent, and those that were acknowledged.
    let sent: Mutex<Vec<(String, String)>> = Mutex::default();
    let done: Mutex<Vec<(String, String)>> = Mutex::default();
    let busy = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for n in 0..4_u64 {
            let (names, sent, done, busy) = (&names, &sent, &done, &busy);
            let (bucket, cache) = (bucket.clone(), dir.path().join(format!("cache-{n}")));
            threads.spawn(move || {
                let (mut random, mut count) = (Random(n), 0);
                while done.lock().unwrap().len() < enough {
                    // A new worker, as after a crash; its cache may be ahead of the bucket.
                    let faulty = FaultyBucket::new(bucket.clone(), 40, random.below(1 << 40));
                    let opened = Store::open_remote_with(faulty.clone(), &cache, &options(300));
                    let store = opened.unwrap();
                    for _ in 0..random.below(6) + 1 {
                        let name = &names[random.below(names.len() as u64) as usize];
                        let session = match store.session(name) {
                            Ok(session) => session,
                            Err(StoreError::Busy { .. }) => {
                                busy.fetch_add(1, Ordering::SeqCst);
                                std::thread::sleep(Duration::from_millis(5));
                                continue;
                            }
                            Err(StoreError::Bucket(_)) => continue,
                            Err(e) => panic!("{e}"),
                        };
                        for _ in 0..random.below(5) + 1 {
                            count += 1;
                            let text = format!("{n}-{count} {}", "x".repeat(count % 3000));
                            sent.lock().unwrap().push((name.clone(), text.clone()));
                            match command(&session, &text) {
                                Ok(_) => done.lock().unwrap().push((name.clone(), text)),
                                Err(StoreError::Bucket(_) | StoreError::Lost(_)) => break,
                                Err(e) => panic!("{e}"),
                            }
                        }
                        if random.below(4) == 0 {
                            // A worker that is killed sends nothing any more.
                            faulty.is_silent.store(true, Ordering::SeqCst);
                            std::mem::forget(session);
                            break;
                        }
                    }
                }
            });
        }
    });
    let reader = worker(bucket, &dir.path().join("reader"), 300);
    let (sent, done) = (sent.into_inner().unwrap(), done.into_inner().unwrap());
    for name in &names {
        let mut counts: HashMap<String, u32> = HashMap::new();
        commands(&reader, name).into_iter().for_each(|c| *counts.entry(c).or_default() += 1);
        let of = |list: &[(String, String)]| {
            list.iter().filter(|(n, _)| n == name).map(|(_, c)| c.clone()).collect::<Vec<_>>()
        };
        for text in of(&done) {
            assert_eq!(counts.get(&text), Some(&1), "{name}: {text:.9} was acknowledged");
        }
        for text in of(&sent) {
            assert!(counts.remove(&text).is_none_or(|n| n == 1), "{name}: {text:.9} is doubled");
        }
        // The first commit is left.
        assert_eq!(counts.into_keys().collect::<Vec<_>>(), [""]);
    }
    println!("{} of {} acknowledged, {busy:?} times busy", done.len(), sent.len());
}

#[test]
fn a_worker_that_is_late_learns_it_before_its_call_is_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let first = FaultyBucket::new(folder(&dir), 0, 1);
    let one = worker(first.clone(), &dir.path().join("one"), 2000);
    let two = worker(folder(&dir), &dir.path().join("two"), 2000);
    let held = one.create("a", None).unwrap();
    command(&held, "1").unwrap();
    assert!(matches!(two.session("a"), Err(StoreError::Busy { .. })));
    first.is_silent.store(true, Ordering::SeqCst);
    std::thread::sleep(Duration::from_millis(2500));
    let taken = two.session("a").unwrap();
    command(&taken, "2").unwrap();
    for _ in 0..2 {
        assert!(matches!(command(&held, "late"), Err(StoreError::Lost(_))));
    }
    assert!(matches!(held.undo(), Err(StoreError::Lost(_))));
    drop(held);
    command(&taken, "3").unwrap();
    drop(taken);
    first.is_silent.store(false, Ordering::SeqCst);
    let again = one.session("a").unwrap();
    command(&again, "4").unwrap();
    assert_eq!(commands(&one, "a"), ["", "1", "2", "3", "4"]);
    assert_eq!(commands(&two, "a"), ["", "1", "2", "3", "4"]);
}

#[test]
fn processes_of_one_machine_share_a_cache() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let one = worker(folder(&dir), &cache, 10_000);
    let session = one.create("a", None).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                // Each time as a process that has read nothing so far.
                let two = worker(folder(&dir), &cache, 10_000);
                assert_eq!(two.sessions().unwrap().len(), 1);
                two.export("a", true, std::io::sink()).unwrap();
                assert!(matches!(two.session("a"), Err(StoreError::Busy { .. })));
            }
        });
        let text = |n: u32| format!("{n} {}", "x".repeat(3000));
        let done: Result<Vec<u64>, _> = (0..60).map(|n| command(&session, &text(n))).collect();
        is_over.store(true, Ordering::SeqCst);
        done.unwrap();
    });
    drop(session);
    let fresh = worker(folder(&dir), &dir.path().join("fresh"), 10_000);
    assert_eq!(commands(&fresh, "a").len(), 61);
    assert_eq!(commands(&one, "a"), commands(&fresh, "a"));
}

#[test]
fn a_change_that_another_process_could_not_publish_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let one = worker(folder(&dir), &cache, 10_000);
    let held = one.create("a", None).unwrap();
    command(&held, "1").unwrap();
    drop(held);
    let faulty = FaultyBucket::new(folder(&dir), 0, 1);
    let two = worker(faulty.clone(), &cache, 10_000);
    let held = two.session("a").unwrap();
    faulty.is_read_only.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        assert!(command(&held, "refused").is_err());
        assert!(held.set_value(b"key", b"refused").is_err());
    }
    faulty.is_read_only.store(false, Ordering::SeqCst);
    // The session is given back, although the other worker is alive.
    drop(held);
    let held = one.session("a").unwrap();
    command(&held, "2").unwrap();
    assert_eq!((commands(&one, "a"), held.value(b"key").unwrap()), (commands(&two, "a"), None));
    assert_eq!(commands(&one, "a"), ["", "1", "2"]);
}

#[test]
fn an_answer_that_is_lost_is_not_a_failure() {
    let dir = tempfile::tempdir().unwrap();
    let faulty = FaultyBucket::new(folder(&dir), 0, 7);
    let store = worker(faulty.clone(), &dir.path().join("cache"), 10_000);
    let session = store.create("a", None).unwrap();
    faulty.one_in.store(4, Ordering::SeqCst);
    let done = (0..200).filter(|n| command(&session, &n.to_string()).is_ok()).count();
    faulty.one_in.store(0, Ordering::SeqCst);
    // Only eight faults in a row end the use of a session.
    assert_eq!(done, 200);
    assert_eq!(commands(&store, "a").len(), 201);
}

#[test]
fn old_commits_and_entries_are_in_parts_and_large_objects_in_packs() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = folder(&dir);
    let one = worker(bucket.clone(), &dir.path().join("one"), 10_000);
    let session = one.create("a", None).unwrap();
    let vfs = common::session();
    let mut known = vfs.tree_version();
    let mut random = Random(3);
    for n in 0..300_u32 {
        if n % 20 == 0 {
            let bytes: Vec<u8> = (0..40_000).map(|_| random.below(256) as u8).collect();
            write(&vfs, &format!("/tmp/f{n}"), &bytes).unwrap();
            common::commit(&session, &vfs, &mut known);
        }
        command(&session, &n.to_string()).unwrap();
        session.add_log_entry(&format!("{{\"n\":{n},\"text\":\"{}\"}}", "y".repeat(500))).unwrap();
    }
    session.set_value(b"key", &[7; 5000]).unwrap();
    session.tag("here", 100).unwrap();
    assert!(bucket.list("parts/").unwrap().len() >= 4);
    assert!(bucket.list("packs/").unwrap().len() >= 4);
    let head = bucket.get("sessions/ha", 1 << 20).unwrap().unwrap().bytes.len();
    assert!(head < 200_000, "{head} bytes");
    drop(session);

    let two = worker(bucket, &dir.path().join("two"), 10_000);
    let session = two.session("a").unwrap();
    assert_eq!(dump(&restored(&session)), dump(&vfs));
    assert_eq!(commands(&two, "a").len(), 316);
    assert_eq!(session.value(b"key").unwrap(), Some(vec![7; 5000]));
    assert_eq!(two.tags("a").unwrap(), [("here".to_owned(), 100)]);
    let mut entries = Vec::new();
    let mut each = |_, entry: &str| {
        entries.push(entry.to_owned());
        Ok(())
    };
    two.audit("a", &mut each).unwrap();
    assert_eq!(entries.len(), 300);
    assert!(entries[299].starts_with("{\"n\":299,"));
    assert!(two.check().unwrap().is_whole());
}

#[test]
fn a_cache_that_was_trimmed_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = folder(&dir);
    let options = RemoteOptions { cache_bytes: 0, ..RemoteOptions::default() };
    let store = Store::open_remote_with(bucket, &dir.path().join("cache"), &options).unwrap();
    let session = store.create("a", None).unwrap();
    let vfs = common::session();
    let mut known = vfs.tree_version();
    write(&vfs, "/tmp/large", &(0..400_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<_>>())
        .unwrap();
    write(&vfs, "/tmp/small", b"small").unwrap();
    common::commit(&session, &vfs, &mut known);
    let gone = store.collect_garbage().unwrap();
    assert!(gone.objects > 5, "{gone:?}");
    assert_eq!(dump(&restored(&session)), dump(&vfs));
    store.collect_garbage().unwrap();
    write(&vfs, "/tmp/more", b"more").unwrap();
    common::commit(&session, &vfs, &mut known);
    assert_eq!(dump(&restored(&session)), dump(&vfs));
}

#[test]
fn garbage_goes_after_two_collections_and_forks_keep_theirs() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = folder(&dir);
    let store = worker(bucket.clone(), &dir.path().join("cache"), 10_000);
    let vfs = common::session();
    let mut known = vfs.tree_version();
    let session = store.create("a", None).unwrap();
    let mut random = Random(5);
    let bytes: Vec<u8> = (0..300_000).map(|_| random.below(256) as u8).collect();
    write(&vfs, "/tmp/f", &bytes).unwrap();
    common::commit(&session, &vfs, &mut known);
    drop(session);
    drop(store.fork("a", None, "b").unwrap());
    let packs = bucket.list("packs/").unwrap().len();
    assert!(packs > 0);
    store.remove("a").unwrap();
    let none = Duration::ZERO;
    for _ in 0..3 {
        assert_eq!(store.collect_remote_garbage_after(none).unwrap().removed, 0);
    }
    let other = worker(bucket.clone(), &dir.path().join("other"), 10_000);
    assert_eq!(dump(&restored(&other.session("b").unwrap())), dump(&vfs));
    store.remove("b").unwrap();
    assert!(store.sessions().unwrap().is_empty());
    assert_eq!(store.collect_remote_garbage_after(none).unwrap().listed, packs);
    let report = store.collect_remote_garbage_after(none).unwrap();
    assert_eq!((report.removed, report.listed), (packs, 0));
    assert!(report.bytes >= 300_000);
    assert_eq!(bucket.list("packs/").unwrap().len(), 0);
}

#[test]
fn damage_in_the_bucket_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let bucket = folder(&dir);
    let store = worker(bucket.clone(), &dir.path().join("one"), 10_000);
    for name in ["a", "b"] {
        let session = store.create(name, None).unwrap();
        (0..100).for_each(|n| assert!(command(&session, &n.to_string()).is_ok()));
    }
    let head = bucket.get("sessions/ha", 1 << 20).unwrap().unwrap().bytes;
    let other = worker(bucket.clone(), &dir.path().join("two"), 10_000);
    for at in [0, 8, 9, 30, head.len() / 2, head.len() - 1] {
        let mut damaged = head.clone();
        damaged[at] ^= 0x55;
        bucket.put("sessions/ha", &damaged).unwrap();
        // Some bytes are texts and times, which nothing contradicts.
        match other.session("a") {
            Ok(session) => assert!(command(&session, "continues").is_ok()),
            Err(StoreError::Damaged(_) | StoreError::Snapshot(_) | StoreError::Busy { .. }) => {}
            Err(e) => panic!("{e}"),
        }
        assert_eq!(other.session_info("b").unwrap().head, 101);
    }
    for torn in [&head[..0], &head[..head.len() / 2], b"{\"not\":\"a head\"}"] {
        bucket.put("sessions/ha", torn).unwrap();
        assert!(matches!(other.session("a"), Err(StoreError::Damaged(_))));
        assert_eq!(other.sessions().unwrap().last().unwrap().name, "b");
    }
    bucket.put("sessions/ha", &head).unwrap();
    // An object under another's digest is not taken into the cache.
    let session = store.session("b").unwrap();
    command(&session, &"z".repeat(5000)).unwrap();
    drop(session);
    let mut damaged = bucket.get("sessions/hb", 1 << 20).unwrap().unwrap().bytes;
    let z = blob_digest(&"z".repeat(5000));
    let at = damaged.windows(32).rposition(|bytes| bytes == z.0).unwrap();
    damaged[at + 40] ^= 0x55;
    bucket.put("sessions/hc", &damaged).unwrap();
    let fourth = worker(bucket.clone(), &dir.path().join("four"), 10_000);
    fourth.session_info("c").unwrap();
    assert_eq!(commands(&fourth, "b").len(), 102);
    for part in bucket.list("parts/").unwrap() {
        bucket.put(&part.key, b"\x89WBH\r\n\x1a\x01\0").unwrap();
    }
    let fresh = worker(bucket, &dir.path().join("three"), 10_000);
    assert!(matches!(fresh.session("a"), Err(StoreError::Damaged(_) | StoreError::Bucket(_))));
}

#[test]
fn a_name_is_taken_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let made: usize = std::thread::scope(|threads| {
        let all: Vec<_> = (0..6)
            .map(|n| {
                let (bucket, cache) = (folder(&dir), dir.path().join(format!("c{n}")));
                threads.spawn(move || match worker(bucket, &cache, 10_000).create("a", None) {
                    Ok(session) => command(&session, "mine").map(|_| 1).unwrap(),
                    Err(StoreError::Exists(_) | StoreError::Busy { .. }) => 0,
                    Err(e) => panic!("{e}"),
                })
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(made, 1);
    let store = worker(folder(&dir), &dir.path().join("c"), 10_000);
    assert_eq!(commands(&store, "a"), ["", "mine"]);
    store.fork_many("a", None, &["b", "c"]).unwrap();
    assert!(matches!(store.fork_many("a", None, &["d", "b"]), Err(StoreError::Exists(_))));
    let names: Vec<_> = store.sessions().unwrap().into_iter().map(|info| info.name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}
