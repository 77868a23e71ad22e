//! Journals: grown record by record, torn at every byte, damaged.

use serde_bytes::ByteBuf;
use std::collections::BTreeMap;
use wasibox_snapshot::delta::{Delta, FileTotals, Id, NodeChange, NodeContent, TreeNode};
use wasibox_snapshot::files::{self, TreeWriter};
use wasibox_snapshot::journal::{JournalContents, JournalState, SessionJournal, replay_journal};
use wasibox_snapshot::{
    Blob, CallRecord, Commit, CommitState, Digest, FileTree, MemoryObjects, SnapshotError,
};

/// A session to which calls are added, and its file.
#[derive(Default)]
struct Session {
    objects: MemoryObjects,
    commits: BTreeMap<u64, Commit>,
    head: u64,
    tags: BTreeMap<String, u64>,
    values: Vec<(ByteBuf, Blob)>,
    journal: SessionJournal,
    file: Vec<u8>,
}

fn node(what: NodeContent) -> NodeChange {
    NodeChange::Is(TreeNode { mode: 0o644, nlink: 1, atime: 1, mtime: 2, ctime: 3, what })
}

/// Returns the change by which `/n` becomes a file with these bytes.
fn file(n: u64, bytes: &[u8]) -> Delta {
    let put = bytes.chunks(1 << 16).zip(0..).map(|(part, n)| (n, ByteBuf::from(part))).collect();
    let file = NodeContent::File {
        len: bytes.len() as u64,
        base: None,
        program: None,
        put,
        gone: Vec::new(),
    };
    let name = ByteBuf::from(n.to_string());
    let root = NodeContent::Dir {
        parent: Id::ROOT,
        put: vec![(name, Id::Made(n))],
        gone: Vec::new(),
        hidden: Vec::new(),
    };
    let totals = FileTotals { made: n + 1, bytes: 0, entries: 0 };
    Delta { totals, nodes: vec![(Id::Made(n), node(file)), (Id::ROOT, node(root))] }
}

impl Session {
    /// Adds a call that makes a file.
    fn call(&mut self, bytes: &[u8]) {
        let before = self.commits.get(&self.head).map(|c| c.state.clone()).unwrap_or_default();
        let number = self.commits.len() as u64 + 1;
        let mut writer = TreeWriter::new(&self.objects, before.files);
        writer.add_delta(file(number, bytes)).unwrap();
        let state = CommitState { files: writer.finish().unwrap(), ..before };
        let command = Blob::save_bytes(&self.objects, &vec![b'x'; 2000 * number as usize]).unwrap();
        let call = CallRecord { command, ..CallRecord::default() };
        let parent = Some(self.head).filter(|n| *n > 0);
        self.commits.insert(number, Commit { number, parent, call, state });
        self.head = number;
    }

    /// Appends the changes to the file.
    fn keep(&mut self) -> usize {
        let Session { objects, commits, head, tags, values, journal, .. } = self;
        let image = Some(Digest([9; 32]));
        let tip = commits.len() as u64;
        let now = JournalState { image, commits, head: *head, tip, tags, values };
        let record = journal.next_record(objects, &now).unwrap();
        self.file.extend(&record);
        record.len()
    }

    /// Checks that the contents that were read equal the session's current state.
    fn same(&self, read: &JournalContents, objects: &MemoryObjects) {
        let JournalContents { contents, tip, .. } = read;
        assert_eq!(contents.commits, self.commits.values().cloned().collect::<Vec<_>>());
        assert_eq!((contents.head, *tip), (self.head, self.commits.len() as u64));
        assert_eq!(contents.tags, self.tags.clone().into_iter().collect::<Vec<_>>());
        assert_eq!(contents.values, self.values);
        let state =
            |c: &Commit| (c.state.files, c.call.command.load_bytes(objects, 1 << 20).unwrap());
        for commit in &contents.commits {
            let (files, command) = state(commit);
            assert_eq!(command.len(), 2000 * commit.number as usize);
            let count = |objects: &MemoryObjects| {
                let mut all = Vec::new();
                files::emit_changes::<SnapshotError>(
                    objects,
                    &FileTree::default(),
                    &files,
                    &mut |part| {
                        all.push(part);
                        Ok(())
                    },
                )
                .unwrap();
                all
            };
            assert_eq!(count(objects), count(&self.objects));
        }
    }
}

fn noise(n: usize) -> Vec<u8> {
    let mut x = 12345_u64;
    let step = |_| {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 56) as u8
    };
    (0..n).map(step).collect()
}

fn reread(file: &[u8]) -> (Result<JournalContents, SnapshotError>, MemoryObjects) {
    let objects = MemoryObjects::default();
    (replay_journal(file, &objects), objects)
}

#[test]
fn a_session_is_what_its_records_say() {
    let mut s = Session::default();
    for n in 0..20 {
        s.call(&noise(3000 * n));
        if n == 5 {
            s.tags.insert("a".into(), 3);
            let value = Blob::save_bytes(&s.objects, &noise(5000)).unwrap();
            s.values.push((ByteBuf::from(*b"key"), value));
        }
        assert!(s.keep() > 0);
        assert_eq!(s.keep(), 0, "nothing is new");
        let (read, objects) = reread(&s.file);
        let read = read.unwrap();
        assert_eq!(read.whole, s.file.len());
        s.same(&read, &objects);
        // The reader continues with the journal.
        (s.journal, s.objects) = (read.journal, objects);
    }
    s.head = 4;
    s.tags.insert("a".into(), 4);
    let small = s.keep();
    assert!(small < 200, "{small} bytes for what has no objects");
    let (read, objects) = reread(&s.file);
    s.same(&read.unwrap(), &objects);
}

#[test]
fn a_record_has_what_is_new_only() {
    let mut s = Session::default();
    s.call(&noise(1 << 20));
    let first = s.keep();
    s.call(b"small");
    let second = s.keep();
    assert!(first > 1 << 20 && second < 20_000, "{first}, then {second}");
}

#[test]
fn a_torn_end_is_left_out() {
    let mut s = Session::default();
    s.call(b"one");
    s.keep();
    let whole = s.file.clone();
    let (first, _) = reread(&whole);
    let first = first.unwrap().contents;
    s.call(&noise(5000));
    s.keep();
    for at in whole.len()..s.file.len() {
        let (read, _) = reread(&s.file[..at]);
        let read = read.unwrap();
        assert_eq!((read.whole, &read.contents), (whole.len(), &first), "cut at {at}");
        // The file has its length, but not all of its bytes.
        let mut holes = s.file.clone();
        holes[at..].fill(0);
        let (read, _) = reread(&holes);
        assert_eq!(read.unwrap().contents, first, "zeros from {at}");
    }
    // The first bytes are missing, but later ones are there.
    let mut late = s.file.clone();
    late[whole.len()..whole.len() + 100].fill(0);
    assert_eq!(reread(&late).0.unwrap().contents, first);
    for at in 0..whole.len() {
        let (read, _) = reread(&whole[..at]);
        let read = read.unwrap();
        assert!(read.whole == 0 && read.contents.commits.is_empty(), "cut at {at}");
    }
}

#[test]
fn what_goes_on_after_a_torn_end_is_whole() {
    let mut s = Session::default();
    s.call(b"one");
    s.keep();
    let whole = s.file.len();
    let before = (s.commits.clone(), s.head);
    s.call(b"lost");
    s.keep();
    s.file.truncate(s.file.len() - 1);
    let (read, objects) = reread(&s.file);
    let read = read.unwrap();
    s.file.truncate(read.whole);
    assert_eq!(s.file.len(), whole);
    (s.journal, s.objects) = (read.journal, objects);
    (s.commits, s.head) = before;
    s.call(b"two");
    s.keep();
    let (read, objects) = reread(&s.file);
    s.same(&read.unwrap(), &objects);
}

#[test]
fn damage_is_reported() {
    let mut s = Session::default();
    s.call(b"one");
    s.keep();
    let first = s.file.len();
    s.call(b"two");
    s.keep();
    // In the first record: the records after it were complete, and would be lost.
    for at in 10..first {
        let mut file = s.file.clone();
        file[at] ^= 1;
        match reread(&file).0 {
            Err(SnapshotError::Damaged(_)) => {}
            // A length beyond the end looks as if the rest was still to come.
            Ok(read) => assert!((10..14).contains(&at) && read.whole == 0, "byte {at}"),
            Err(e) => panic!("byte {at}: {e}"),
        }
    }
    let other = |at: usize, byte| {
        let mut file = s.file.clone();
        file[at] = byte;
        reread(&file).0.unwrap_err()
    };
    assert!(matches!(other(0, b'x'), SnapshotError::NotASnapshot));
    assert!(matches!(other(8, 2), SnapshotError::Version(2)));
    assert!(matches!(reread(b"text").0, Err(SnapshotError::NotASnapshot)));
    // Records in a different order.
    let swapped = [&s.file[..10], &s.file[first..], &s.file[10..first]].concat();
    assert!(matches!(reread(&swapped).0, Err(SnapshotError::Damaged(_))));
}
