//! Random sequences of operations on files, commits, undo, redo, restore, fork, export and import,
//! compared with a simple model of the expected state.
//!
//! WASIBOX_SEQUENCES sets their number (10,000 are the long form), WASIBOX_SEED the first seed.

mod common;

use common::*;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use wasibox_bucket::FolderBucket;
use wasibox_store::{SnapshotLimits, Store, StoreError, StoreSession};
use wasibox_vfs::Vfs;
use wasibox_vfs::delta::TreeVersion;

type Dump = Vec<String>;

/// The expected state of a session.
#[derive(Clone)]
struct Model {
    /// The commits by number, each with its parent and its files.
    commits: BTreeMap<u64, (Option<u64>, Dump)>,
    head: u64,
    tip: u64,
    next: u64,
    tags: BTreeMap<String, u64>,
    values: BTreeMap<Vec<u8>, Vec<u8>>,
}

struct Live {
    session: StoreSession,
    vfs: Vfs,
    known: TreeVersion,
    model: Model,
    forked: bool,
}

impl Live {
    fn new(session: StoreSession, model: Model) -> Live {
        let vfs = restored(&session);
        let live = Live { session, known: vfs.tree_version(), vfs, model, forked: false };
        live.compare();
        live
    }

    fn compare(&self) {
        let want = &self.model.commits[&self.model.head];
        let head = self.session.head();
        assert_eq!((head.number, head.parent), (self.model.head, want.0));
        assert_eq!(dump(&self.vfs), want.1);
    }

    fn commit(&mut self) {
        let before = self.session.head().number;
        let commit = commit(&self.session, &self.vfs, &mut self.known);
        let m = &mut self.model;
        assert_eq!((commit.number, commit.parent), (m.next, Some(before)));
        m.commits.insert(m.next, (Some(m.head), dump(&self.vfs)));
        (m.head, m.tip, m.next) = (m.next, m.next, m.next + 1);
    }

    /// Moves to another commit by `step`; the model must be there already.
    fn go(
        &mut self,
        step: impl FnOnce(&StoreSession) -> Result<wasibox_store::snapshot::Commit, StoreError>,
    ) {
        let old = self.session.state().files;
        let new = step(&self.session).unwrap().state.files;
        apply(&self.session, &self.vfs, &old, &new);
        self.known = self.vfs.tree_version();
        self.compare();
        assert_eq!(dump(&restored(&self.session)), self.model.commits[&self.model.head].1);
    }

    fn some_commit(&self, random: &mut Random) -> u64 {
        let all: Vec<u64> = self.model.commits.keys().copied().collect();
        all[random.below(all.len() as u64) as usize]
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(16) {
            0..7 => {
                (0..random.below(12)).for_each(|_| _ = random.act(&self.vfs));
                self.commit();
            }
            7 | 8 => match self.model.commits[&self.model.head].0 {
                Some(parent) => {
                    self.model.head = parent;
                    self.go(StoreSession::undo);
                }
                None => assert!(matches!(self.session.undo(), Err(StoreError::Nothing(_)))),
            },
            9 => {
                let mut at = self.model.tip;
                while at != self.model.head && self.model.commits[&at].0 != Some(self.model.head) {
                    at = self.model.commits[&at].0.unwrap();
                }
                if at == self.model.head {
                    assert!(matches!(self.session.redo(), Err(StoreError::Nothing(_))));
                } else {
                    self.model.head = at;
                    self.go(StoreSession::redo);
                }
            }
            10 => {
                let number = self.some_commit(random);
                let m = &mut self.model;
                let files = m.commits[&number].1.clone();
                m.commits.insert(m.next, (Some(m.head), files));
                (m.head, m.tip, m.next) = (m.next, m.next, m.next + 1);
                self.go(|s| s.restore(number));
            }
            11 => {
                let number = self.some_commit(random);
                self.session.tag("tag", number).unwrap();
                self.model.tags.insert("tag".into(), number);
            }
            12 => {
                let (key, value) =
                    (vec![random.below(3) as u8], vec![7; random.below(3000) as usize]);
                self.session.set_value(&key, &value).unwrap();
                self.model.values.insert(key, value);
            }
            13 => drop(self.session.store().collect_garbage().unwrap()),
            14 if self.forked => {}
            14 => self.compact(random.below(5) as usize),
            // No transaction fails here, because rolling back would keep the commits that tags and
            // forks need.
            _ if self.forked || self.model.tags.values().any(|n| *n > self.model.head) => {}
            _ => {
                self.commit();
                let (before, model) = (self.model.head, self.model.clone());
                for _ in 0..random.below(3) {
                    (0..5).for_each(|_| _ = random.act(&self.vfs));
                    self.commit();
                }
                let next = self.model.next;
                self.model = Model { next, ..model };
                self.model.commits.retain(|n, _| *n <= before);
                self.go(|s| s.roll_back(before));
            }
        }
    }

    fn compact(&mut self, keep: usize) {
        self.session.compact(keep).unwrap();
        let m = &mut self.model;
        m.tip = m.head;
        let mut kept: Vec<u64> = m.tags.values().copied().collect();
        let mut at = Some(m.head);
        for _ in 0..keep.max(1) {
            let Some(n) = at else { break };
            kept.push(n);
            at = m.commits[&n].0;
        }
        let all = m.commits.clone();
        m.commits.retain(|n, _| kept.contains(n));
        for (parent, _) in m.commits.values_mut() {
            while parent.is_some_and(|n| !kept.contains(&n)) {
                *parent = all[&parent.unwrap()].0;
            }
        }
        self.compare();
    }

    fn history(&self) {
        let store = self.session.store();
        let name = self.session.name();
        let got = store.history(name).unwrap().into_iter().map(|c| (c.number, c.parent));
        let want = self.model.commits.iter().map(|(n, (parent, _))| (*n, *parent));
        assert_eq!(got.collect::<Vec<_>>(), want.collect::<Vec<_>>());
        let tags: BTreeMap<_, _> = store.tags(name).unwrap().into_iter().collect();
        assert_eq!(tags, self.model.tags);
        for (key, value) in &self.model.values {
            assert_eq!(self.session.value(key).unwrap().as_ref(), Some(value));
        }
    }
}

/// Where the sessions of a sequence are.
enum Place {
    Memory,
    File(PathBuf),
    /// A bucket in a folder, with a cache beside it.
    Bucket(PathBuf),
}

impl Place {
    fn open(&self, cache: &str) -> Store {
        match self {
            Place::Memory => Store::in_memory(),
            Place::File(path) => Store::open(path),
            Place::Bucket(path) => {
                let bucket = FolderBucket::open(path).unwrap();
                Store::open_remote(Arc::new(bucket), &path.with_extension(cache))
            }
        }
        .unwrap()
    }
}

fn sequence(seed: u64, place: &Place) {
    let mut random = Random(seed);
    let store = place.open("first");
    let first = store.create("s0", None).unwrap();
    let beginning = (None, dump(&session()));
    let model = Model {
        commits: BTreeMap::from([(1, beginning)]),
        head: 1,
        tip: 1,
        next: 2,
        tags: BTreeMap::new(),
        values: BTreeMap::new(),
    };
    let mut live = vec![Live::new(first, model)];
    for n in 0..random.below(30) + 5 {
        let at = random.below(live.len() as u64) as usize;
        let (name, store) = (format!("s{}", n + 1), live[at].session.store().clone());
        match random.below(12) {
            // A fork shares the history up to its commit, so the model's source must not be
            // compacted.
            0 if live.len() < 4 => {
                let source = &live[at];
                let number = source.some_commit(&mut random);
                let fork = store.fork(source.session.name(), Some(number), &name).unwrap();
                let mut model = source.model.clone();
                live[at].forked = true;
                let mut line = Vec::new();
                let mut up = Some(number);
                while let Some(n) = up {
                    line.push(n);
                    up = model.commits[&n].0;
                }
                model.commits.retain(|n, _| line.contains(n));
                (model.head, model.tip, model.next) = (number, number, number + 1);
                model.tags.clear();
                live.push(Live { forked: true, ..Live::new(fork, model) });
            }
            1 if live.len() < 4 => {
                let source = &live[at];
                let all = random.below(2) == 0;
                let mut bytes = Vec::new();
                store.export(source.session.name(), all, &mut bytes).unwrap();
                let other =
                    if random.below(2) == 0 { store.clone() } else { Store::in_memory().unwrap() };
                other.import(&name, &bytes[..], &SnapshotLimits::default()).unwrap();
                let mut again = Vec::new();
                other.export(&name, all, &mut again).unwrap();
                assert!(again == bytes);
                let mut model = source.model.clone();
                let head = model.head;
                model.tip = head;
                if !all {
                    model.commits.retain(|n, _| *n == head);
                    model.commits.values_mut().for_each(|c| c.0 = None);
                    model.tags.retain(|_, n| *n == head);
                }
                let numbers: Vec<u64> = model.commits.keys().copied().collect();
                model.next = numbers.iter().max().unwrap() + 1;
                live.push(Live::new(other.session(&name).unwrap(), model));
            }
            _ => live[at].step(&mut random),
        }
        live[at].history();
    }
    for l in &live {
        let report = l.session.store().check().unwrap();
        assert!(report.is_whole(), "{report:?}");
    }
    if let Place::Bucket(_) = place {
        let models: Vec<_> =
            live.into_iter().map(|l| (l.session.name().to_owned(), l.model)).collect();
        // Another worker, which has read nothing so far, finds the same.
        let other = place.open("second");
        let there = other.sessions().unwrap();
        for (name, model) in models {
            if there.iter().any(|info| info.name == name) {
                Live::new(other.session(&name).unwrap(), model).history();
            }
        }
    }
}

#[test]
fn sequences_agree_with_the_model() {
    let number = |name, or| std::env::var(name).map_or(or, |n| n.parse().unwrap());
    let (count, from) = (number("WASIBOX_SEQUENCES", 40), number("WASIBOX_SEED", 0));
    let dir = tempfile::tempdir().unwrap();
    for seed in from..from + count {
        let path = dir.path().join(format!("{seed}.wbx"));
        let place = match seed % 10 {
            0 => Place::File(path),
            1..=3 => Place::Bucket(path),
            _ => Place::Memory,
        };
        let run = || sequence(seed, &place);
        if std::panic::catch_unwind(run).is_err() {
            panic!("WASIBOX_SEED={seed} WASIBOX_SEQUENCES=1");
        }
    }
}
