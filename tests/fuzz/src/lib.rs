//! Functions that several targets share.
#![forbid(unsafe_code)]

use serde_bytes::ByteBuf;
use wasibox_snapshot::delta::{Delta, FileTotals, Id, NodeChange, NodeContent, TreeNode};
use wasibox_snapshot::files::TreeWriter;
use wasibox_snapshot::wbs::SnapshotContents;
use wasibox_snapshot::{
    Blob, CallRecord, CellRecord, Commit, CommitState, Digest, FileTree, MemoryObjects,
};

/// Returns the bytes with some of them changed. Every five bytes of `patches` are a position and a
/// value.
pub fn patched(bytes: &[u8], patches: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for patch in patches.chunks_exact(5) {
        let at = u32::from_le_bytes([patch[0], patch[1], patch[2], patch[3]]) as usize;
        let len = out.len();
        out[at % len] = patch[4];
    }
    out
}

/// Returns a small session that contains each kind of content.
pub fn session(objects: &MemoryObjects) -> SnapshotContents {
    let node = |what, nlink| {
        NodeChange::Is(TreeNode { mode: 0o644, nlink, atime: 1, mtime: 2, ctime: 3, what })
    };
    let file =
        |len, base, put| NodeContent::File { len, base, program: None, put, gone: Vec::new() };
    let name = |text: &str| ByteBuf::from(text.as_bytes());
    let tmp = Id::Given(vec![name("tmp")]);
    let put = |all: &[(&str, u64)]| all.iter().map(|(n, i)| (name(n), Id::Made(*i))).collect();
    let large: Vec<u8> =
        (0..3000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let nodes = vec![
        (Id::Given(vec![name("usr"), name("f")]), node(file(9, Some(5), vec![]), 1)),
        (Id::Given(vec![name("usr"), name("gone")]), NodeChange::Gone),
        (Id::Made(0), node(file(3000, None, vec![(0, ByteBuf::from(large))]), 2)),
        (Id::Made(1), node(file(5, None, vec![(0, name("hello"))]), 1)),
        (Id::Made(2), node(NodeContent::Symlink(name("../../etc/passwd")), 1)),
        (Id::Made(3), node(NodeContent::Fifo, 1)),
        (
            Id::Made(4),
            node(
                NodeContent::Dir {
                    parent: tmp.clone(),
                    put: put(&[("c", 0), ("d", 2)]),
                    gone: vec![],
                    hidden: vec![],
                },
                2,
            ),
        ),
        (
            tmp,
            node(
                NodeContent::Dir {
                    parent: Id::ROOT,
                    put: put(&[("a", 0), ("b", 1), ("e", 3), ("f", 4)]),
                    gone: vec![],
                    hidden: vec![name("x")],
                },
                3,
            ),
        ),
    ];
    let mut writer = TreeWriter::new(objects, FileTree::default());
    let totals = FileTotals { made: 5, bytes: 5000, entries: 6 };
    writer.add_delta(Delta { totals, nodes }).unwrap();
    let cell = CellRecord {
        name: "python".into(),
        module: Digest([7; 32]),
        memory: vec![
            Blob::save_bytes(objects, &[1; 2000]).unwrap(),
            Blob::save_bytes(objects, b"above").unwrap(),
        ],

        rest: Blob::save_bytes(objects, b"globals").unwrap(),
    };
    let state = CommitState {
        files: writer.finish().unwrap(),
        shell: Blob::save_bytes(objects, &[b's'; 2000]).unwrap(),
        cells: vec![cell],
    };
    let call = CallRecord {
        command: Blob::save_bytes(objects, b"true").unwrap(),
        ..CallRecord::default()
    };
    let first = Commit { number: 1, ..Commit::default() };
    let second = Commit { number: 2, parent: Some(1), call, state };
    SnapshotContents {
        image: Some(Digest([9; 32])),
        commits: vec![first, second],
        head: 2,
        tags: vec![("tag".into(), 1)],
        values: vec![(name("key"), Blob::save_bytes(objects, b"value").unwrap())],
    }
}
