//! The node of a session's state: it exists only in a session's call, and is replaced as a whole.

mod common;

use box_abi::session::{STATE_MAX, SessionRecord, SessionWriter};
use common::{READ, ROOT_LOC, WRITE, open, read_bytes, unlimited, vfs};
use std::sync::Arc;
use wasibox_vfs::{Budget, DiskLimits, Errno, FileKind, OpenFlags, ProtectedPaths, Vfs, VfsFile};

const NODE: &str = "/.box/state";
/// Writes to the existing node.
const CHANGE: OpenFlags = OpenFlags { create: false, ..WRITE };

fn state(text: &[u8]) -> Vec<u8> {
    let mut w = SessionWriter::new();
    w.add_record(&SessionRecord::Alias { name: b"text", text });
    w.finish()
}

fn add(file: &VfsFile, bytes: &[u8]) -> Result<(), Errno> {
    file.write(0, false, bytes).map(drop)
}

#[test]
fn there_in_a_call_only() {
    let v = vfs(&[]);
    assert_eq!(v.session_state(), None);
    for how in [READ, CHANGE] {
        assert_eq!(open(&v, NODE, how).err(), Some(Errno::NOENT));
    }
    assert!(v.stat(&ROOT_LOC, NODE.as_bytes(), true).is_err());
    assert!(open(&v, NODE, WRITE).is_err(), "nobody makes it");
    v.set_state(Some(Arc::from(*b"old")));
    assert_eq!(v.stat(&ROOT_LOC, NODE.as_bytes(), true).unwrap().kind, FileKind::CharDevice);
    assert_eq!(read_bytes(&v, NODE).unwrap(), b"old");
    assert!(v.remove(&ROOT_LOC, NODE.as_bytes(), false).is_err());
    assert!(v.rename(&ROOT_LOC, NODE.as_bytes(), &ROOT_LOC, b"/tmp/x").is_err());
    assert!(open(&v, "/.box/state/x", READ).is_err());
    let late = open(&v, NODE, CHANGE).unwrap();
    add(&late, &state(b"late")).unwrap();
    v.set_state(None);
    drop(late);
    assert_eq!(v.session_state(), None);
    assert_eq!(open(&v, NODE, READ).err(), Some(Errno::NOENT));
}

#[test]
fn replaced_as_a_whole_at_the_close() {
    let v = vfs(&[]);
    v.set_state(Some(Arc::from([])));
    assert_eq!(read_bytes(&v, NODE).unwrap(), b"");
    let (one, two) = (state(b"one"), state(b"two"));
    let (first, second) = (open(&v, NODE, CHANGE).unwrap(), open(&v, NODE, CHANGE).unwrap());
    for byte in one.chunks(1) {
        add(&first, byte).unwrap();
    }
    add(&second, &two).unwrap();
    let reader = open(&v, NODE, READ).unwrap();
    drop(first);
    assert_eq!(read_bytes(&v, NODE).unwrap(), one);
    drop(second);
    assert_eq!(v.session_state().as_deref(), Some(two.as_slice()));
    // An earlier opening still reads the earlier state.
    assert_eq!(reader.read(0, &mut [0; 8]), Ok(0));
    assert_eq!(add(&reader, b"x"), Err(Errno::BADF));
    let mut part = [0; 4];
    assert_eq!(open(&v, NODE, READ).unwrap().read(2, &mut part), Ok(4));
    assert_eq!(part, two[2..6]);
    // Writing nothing, a part, too much or other bytes changes nothing.
    for bytes in [&b""[..], &two[..two.len() - 1], &[&two[..], b"x"].concat(), b"nonsense"] {
        let file = open(&v, NODE, CHANGE).unwrap();
        add(&file, bytes).unwrap();
        drop(file);
        assert_eq!(v.session_state().as_deref(), Some(two.as_slice()));
    }
}

#[test]
fn bounded_and_charged() {
    let budget = unlimited();
    let new = |b: &Arc<Budget>| {
        Vfs::new([], &[], DiskLimits::default(), b.clone(), &ProtectedPaths::default()).unwrap()
    };
    let v = new(&budget);
    let before = budget.used_bytes();
    v.set_state(Some(Arc::from([1; 1000])));
    assert_eq!(budget.used_bytes(), before + 1000);
    let file = open(&v, NODE, CHANGE).unwrap();
    let mut written = 0;
    while add(&file, &[0; 100_000]).is_ok() {
        written += 100_000;
        assert!(written <= STATE_MAX);
    }
    assert_eq!(add(&file, &[0; 100_000]), Err(Errno::FBIG));
    assert!(budget.used_bytes() >= before + 1000 + written as u64);
    drop(file);
    assert_eq!(budget.used_bytes(), before + 1000);
    let large = state(&[b'x'; 50_000]);
    let file = open(&v, NODE, CHANGE).unwrap();
    large.chunks(1000).for_each(|c| add(&file, c).unwrap());
    drop(file);
    assert_eq!(budget.used_bytes(), before + large.len() as u64);
    v.set_state(None);
    assert_eq!(budget.used_bytes(), before);

    let small = Budget::new(before + 100_000);
    let v = new(&small);
    v.set_state(Some(Arc::from([])));
    let file = open(&v, NODE, CHANGE).unwrap();
    let refused = (0..300).find_map(|_| add(&file, &[0; 1000]).err());
    assert_eq!(refused, Some(Errno::NOMEM));
}
