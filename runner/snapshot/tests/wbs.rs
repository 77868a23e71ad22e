//! Snapshots: written, read, and refused.

use serde_bytes::ByteBuf;
use wasibox_snapshot::delta::{Delta, FileTotals, Id, NodeChange, NodeContent, TreeNode};
use wasibox_snapshot::files::{TreeWriter, emit_changes};
use wasibox_snapshot::wbs::{SnapshotContents, SnapshotLimits, read, write};
use wasibox_snapshot::{
    Blob, CallRecord, CellRecord, Commit, CommitState, Digest, FileTree, MemoryObjects,
    SnapshotError,
};

fn node(what: NodeContent) -> NodeChange {
    let nlink = if matches!(what, NodeContent::Dir { .. }) { 2 } else { 1 };
    NodeChange::Is(TreeNode { mode: 0o644, nlink, atime: 1, mtime: 2, ctime: 3, what })
}

fn file(len: usize, put: Vec<(u64, ByteBuf)>) -> NodeChange {
    node(NodeContent::File { len: len as u64, base: None, program: None, put, gone: Vec::new() })
}

fn dir(parent: Id, put: &[(&str, u64)]) -> NodeChange {
    let put = put.iter().map(|(name, n)| (name.as_bytes().to_vec().into(), Id::Made(*n))).collect();
    node(NodeContent::Dir { parent, put, gone: Vec::new(), hidden: Vec::new() })
}

fn tmp() -> Id {
    Id::Given(vec![b"tmp".to_vec().into()])
}

fn written(
    objects: &MemoryObjects,
    nodes: Vec<(Id, NodeChange)>,
) -> Result<FileTree, SnapshotError> {
    let made = 10;
    let mut writer = TreeWriter::new(objects, FileTree::default());
    let totals = FileTotals { made, bytes: 1000, entries: 10 };
    writer.add_delta(Delta { totals, nodes })?;
    writer.finish()
}

fn noise(n: usize) -> Vec<u8> {
    let mut x = 12345_u64;
    let step = |_| {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 56) as u8
    };
    (0..n).map(step).collect()
}

fn session(objects: &MemoryObjects, size: usize) -> SnapshotContents {
    let bytes = noise(size);
    let parts: Vec<_> = bytes.chunks(1 << 16).map(ByteBuf::from).enumerate().collect();
    let parts = parts.into_iter().map(|(n, bytes)| (n as u64, bytes)).collect();
    let files = written(
        objects,
        vec![
            (Id::Made(0), file(size, parts)),
            (Id::Made(1), file(5, vec![(0, ByteBuf::from(*b"hello"))])),
            (Id::Made(2), node(NodeContent::Symlink(ByteBuf::from(*b"../../etc/passwd")))),
            (Id::Made(3), dir(tmp(), &[("b", 1), ("c", 2)])),
            (tmp(), dir(Id::ROOT, &[("a", 0), ("d", 3)])),
        ],
    )
    .unwrap();
    let cell = CellRecord {
        name: "python".into(),
        module: Digest([7; 32]),
        memory: vec![
            Blob::save_bytes(objects, &noise(3000)).unwrap(),
            Blob::save_bytes(objects, b"above").unwrap(),
        ],

        rest: Blob::save_bytes(objects, &noise(3000)).unwrap(),
    };
    let state =
        CommitState { files, shell: Blob::save_bytes(objects, b"x=1").unwrap(), cells: vec![cell] };
    let command = Blob::save_bytes(objects, b"echo hello > b").unwrap();
    let call =
        CallRecord { command, exit_code: Some(0), time: 5, duration: 6, ..CallRecord::default() };
    let first = Commit { number: 1, ..Commit::default() };
    let second = Commit { number: 2, parent: Some(1), call, state };
    SnapshotContents {
        image: Some(Digest([9; 32])),
        commits: vec![first, second],
        head: 2,
        tags: vec![("start".into(), 1)],
        values: vec![(b"key".to_vec().into(), Blob::save_bytes(objects, b"value").unwrap())],
    }
}

fn exported(objects: &MemoryObjects, contents: &SnapshotContents) -> Vec<u8> {
    let mut out = Vec::new();
    write(objects, contents, &mut out).unwrap();
    out
}

fn taken(bytes: &[u8]) -> Result<(SnapshotContents, MemoryObjects), SnapshotError> {
    let objects = MemoryObjects::default();
    let contents = read(bytes, &SnapshotLimits::default(), &objects)?;
    Ok((contents, objects))
}

fn told(objects: &MemoryObjects, files: &FileTree) -> Vec<Delta> {
    let mut out = Vec::new();
    let mut emit = |delta| {
        out.push(delta);
        Ok::<_, SnapshotError>(())
    };
    emit_changes(objects, &FileTree::default(), files, &mut emit).unwrap();
    out
}

#[test]
fn a_snapshot_holds_all_and_is_the_same_each_time() {
    let objects = MemoryObjects::default();
    let contents = session(&objects, 700_000);
    let bytes = exported(&objects, &contents);
    let (again, others) = taken(&bytes).unwrap();
    assert_eq!(again, contents);
    let head = &contents.commits[1].state;
    assert_eq!(told(&others, &head.files), told(&objects, &head.files));
    assert_eq!(head.cells[0].rest.load_bytes(&others, 5000).unwrap(), noise(3000));
    assert_eq!(head.cells[0].memory[0].load_bytes(&others, 5000).unwrap(), noise(3000));
    assert_eq!(exported(&others, &again), bytes);
}

#[test]
fn a_flipped_byte_anywhere_is_noticed() {
    let objects = MemoryObjects::default();
    let bytes = exported(&objects, &session(&objects, 2000));
    for at in 0..bytes.len() {
        for bit in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            assert!(taken(&damaged).is_err(), "byte {at}");
        }
        assert!(taken(&bytes[..at]).is_err(), "{at} bytes");
    }
    let longer = [&bytes[..], b"x"].concat();
    assert!(matches!(taken(&longer), Err(SnapshotError::Damaged(_))));
}

/// Returns the file with a matching digest, as an attacker would write it.
fn sealed(mut body: Vec<u8>, frames: u64) -> Vec<u8> {
    let digest = Digest::hash_bytes(&body);
    let end = postcard::to_stdvec(&(frames, digest)).unwrap();
    frame(&mut body, 3, false, end.len() as u32, &end);
    body
}

fn frame(out: &mut Vec<u8>, kind: u8, compressed: bool, len: u32, bytes: &[u8]) {
    out.extend([kind, u8::from(compressed)]);
    out.extend(len.to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out.extend(bytes);
}

/// Returns the frames of a file: kind, whether compressed, length, bytes.
fn frames(bytes: &[u8]) -> Vec<(u8, bool, u32, Vec<u8>)> {
    let (mut out, mut at) = (Vec::new(), 10);
    while at < bytes.len() {
        let four = |n: usize| u32::from_le_bytes(bytes[at + n..at + n + 4].try_into().unwrap());
        let (len, stored) = (four(2), four(6) as usize);
        let own = bytes[at + 10..at + 10 + stored].to_vec();
        out.push((bytes[at], bytes[at + 1] == 1, len, own));
        at += 10 + stored;
    }
    out.pop();
    out
}

fn built(frames: &[(u8, bool, u32, Vec<u8>)]) -> Vec<u8> {
    let mut body = b"\x89WBS\r\n\x1a\n\x01\x00".to_vec();
    frames.iter().for_each(|(kind, c, len, bytes)| frame(&mut body, *kind, *c, *len, bytes));
    sealed(body, frames.len() as u64)
}

#[test]
fn frames_that_are_doubled_missing_or_in_another_order_are_refused() {
    let objects = MemoryObjects::default();
    let bytes = exported(&objects, &session(&objects, 2000));
    let all = frames(&bytes);
    assert_eq!(built(&all), bytes);
    for n in 0..all.len() {
        let mut without = all.clone();
        without.remove(n);
        // A key-value or a tag may be missing.
        let optional = all[n].0 == 1 && n > 2;
        assert!(optional || taken(&built(&without)).is_err(), "without {n}");
        let mut twice = all.clone();
        twice.insert(n, all[n].clone());
        assert!(taken(&built(&twice)).is_err(), "{n} twice");
    }
    let mut last_first = all.clone();
    last_first.rotate_right(1);
    assert!(taken(&built(&last_first)).is_err());
    let mut more = all;
    more.push((2, false, 4, b"more".to_vec()));
    assert!(matches!(
        taken(&built(&more)),
        Err(SnapshotError::Damaged("objects that nothing refers to"))
    ));
}

#[test]
fn bombs_and_long_lengths_are_refused_within_bounds() {
    let objects = MemoryObjects::default();
    let all = frames(&exported(&objects, &session(&objects, 2000)));
    // 1 MiB of zeros takes a few dozen bytes; with the stated length, or more than is allowed.
    let bomb = wasibox_snapshot::StoredObject::new(&vec![0; 1 << 20]).unwrap();
    assert!(bomb.compressed && bomb.bytes.len() < 200);
    for len in [10, 1 << 20, (1 << 20) + 1, u32::MAX] {
        let mut with = all.clone();
        with.push((2, true, len, bomb.bytes.clone()));
        assert!(taken(&built(&with)).is_err(), "{len}");
    }
    // The stated length of a missing frame takes no memory either.
    let mut body = b"\x89WBS\r\n\x1a\n\x01\x00".to_vec();
    frame(&mut body, 1, false, 1 << 20, &[]);
    assert!(taken(&body).is_err());
    let limits = SnapshotLimits { bytes: 1000, ..SnapshotLimits::default() };
    let bytes = exported(&objects, &session(&objects, 2000));
    let result = read(&bytes[..], &limits, &MemoryObjects::default());
    assert!(matches!(result, Err(SnapshotError::TooLarge(_))));
    let limits = SnapshotLimits { items: 2, ..SnapshotLimits::default() };
    let result = read(&bytes[..], &limits, &MemoryObjects::default());
    assert!(matches!(result, Err(SnapshotError::TooLarge(_))));
    let limits = SnapshotLimits { manifest: 2000, ..SnapshotLimits::default() };
    let result = read(&bytes[..], &limits, &MemoryObjects::default());
    assert!(matches!(result, Err(SnapshotError::TooLarge("the manifest"))));
    assert!(matches!(taken(b"PK\x03\x04 something else"), Err(SnapshotError::NotASnapshot)));
    let mut newer = bytes;
    newer[8] = 2;
    assert!(matches!(taken(&newer), Err(SnapshotError::Version(2))));
}

/// Checks a session with these files.
fn of(nodes: Vec<(Id, NodeChange)>) -> Result<(), SnapshotError> {
    let objects = MemoryObjects::default();
    let files = written(&objects, nodes)?;
    let state = CommitState { files, ..CommitState::default() };
    let commit = Commit { number: 1, state, ..Commit::default() };
    let contents =
        SnapshotContents { commits: vec![commit], head: 1, ..SnapshotContents::default() };
    taken(&exported(&objects, &contents)).map(drop)
}

#[test]
fn files_that_no_session_has_are_refused() {
    let hello = || file(5, vec![(0, ByteBuf::from(*b"hello"))]);
    let refused = |nodes| assert!(matches!(of(nodes), Err(SnapshotError::Malformed(_))));
    of(vec![(Id::Made(1), hello()), (tmp(), dir(Id::ROOT, &[("a", 1)]))]).unwrap();
    // An entry that leads nowhere, two names but one link, a node that was not made.
    refused(vec![(tmp(), dir(Id::ROOT, &[("a", 1)]))]);
    refused(vec![(Id::Made(1), hello()), (tmp(), dir(Id::ROOT, &[("a", 1), ("b", 1)]))]);
    refused(vec![(Id::Made(11), hello()), (tmp(), dir(Id::ROOT, &[("a", 11)]))]);
    // Parts of no node, beyond the end, of another kind.
    refused(vec![
        (Id::Made(1), file(5, vec![(1, ByteBuf::from(*b"x"))])),
        (tmp(), dir(Id::ROOT, &[("a", 1)])),
    ]);
    // Directories: with two names, elsewhere, within themselves.
    refused(vec![(Id::Made(1), dir(tmp(), &[])), (tmp(), dir(Id::ROOT, &[("a", 1), ("b", 1)]))]);
    refused(vec![(Id::Made(1), dir(Id::ROOT, &[])), (tmp(), dir(Id::ROOT, &[("a", 1)]))]);
    refused(vec![
        (Id::Made(1), dir(Id::Made(2), &[("x", 2)])),
        (Id::Made(2), dir(Id::Made(1), &[("x", 1)])),
    ]);
    refused(vec![(Id::Made(1), dir(tmp(), &[])), (tmp(), dir(Id::Made(1), &[("a", 1)]))]);
    // Names, a target.
    for name in ["..", ".", "", "a/b", "a\0b"] {
        refused(vec![(Id::Made(1), hello()), (tmp(), dir(Id::ROOT, &[(name, 1)]))]);
    }
    let link = node(NodeContent::Symlink(ByteBuf::new()));
    refused(vec![(Id::Made(1), link), (tmp(), dir(Id::ROOT, &[("a", 1)]))]);
}
