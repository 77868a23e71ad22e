//! Zips and snapshots from elsewhere, which a jailed process reads first.

use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::time::Instant;
use wasibox::store::SnapshotLimits;
use wasibox::store::snapshot::StoredObject;
use wasibox::{Error, Isolation, Policy, Workspace};
use wasibox_sessions::*;

/// The peak of this process's memory in bytes (proc(5), `VmHWM`).
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse::<u64>().unwrap() << 10
}

/// Returns a snapshot with tags whose names have a megabyte each and compress well.
fn bomb(tags: usize) -> Vec<u8> {
    let mut out = b"\x89WBS\r\n\x1a\n\x01\x00".to_vec();
    let mut frame = |kind: u8, object: &StoredObject| {
        out.extend([kind, u8::from(object.compressed)]);
        out.extend(object.len.to_le_bytes());
        out.extend((object.bytes.len() as u32).to_le_bytes());
        out.extend(&object.bytes);
    };
    // postcard: a variant's number, then its fields; lengths are written in groups of seven bits.
    frame(1, &StoredObject::new(&[0, 0, 1]).unwrap());
    for n in 0..tags {
        let name = format!("{n:08}{}", "a".repeat((1 << 20) - 100));
        let mut item = vec![2];
        let mut len = name.len();
        while len >= 0x80 {
            item.push(len as u8 | 0x80);
            len >>= 7;
        }
        item.push(len as u8);
        item.extend(name.as_bytes());
        item.push(1);
        frame(1, &StoredObject::new(&item).unwrap());
    }
    out
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.rewind().unwrap();
    file
}

#[test]
fn a_bomb_takes_no_memory_of_this_process() {
    let bomb = bomb(900);
    assert!(bomb.len() < 300_000, "{}", bomb.len());
    let runner = dist().join("runner");
    // Limits as loose as no caller's, so that only the memory of the jailed process is left.
    let loose = SnapshotLimits { bytes: 1 << 40, items: 1 << 30, manifest: usize::MAX };
    let before = peak_memory();
    let error = wasibox::check_snapshot(&runner, &file_of(&bomb), &loose).unwrap_err();
    assert!(error.to_string().contains("MiB of memory"), "{error}");
    let limits = SnapshotLimits::default();
    let error = wasibox::check_snapshot(&runner, &file_of(&bomb), &limits).unwrap_err();
    assert!(matches!(&error, Error::Foreign(why) if why.contains("manifest")), "{error}");
    assert!(peak_memory() - before < 64 << 20);
}

#[test]
fn sound_files_pass_and_others_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let engine = engine(Isolation::Process);
    let store = engine.store(&dir.path().join("w.wbx")).unwrap();
    let mut snapshot = Vec::new();
    drop(store.create("a", policy()).unwrap());
    store.store().export("a", true, &mut snapshot).unwrap();
    let mut times = Vec::new();
    for _ in 0..9 {
        let begun = Instant::now();
        engine.check_snapshot(&file_of(&snapshot), &SnapshotLimits::default()).unwrap();
        times.push(begun.elapsed());
    }
    times.sort();
    eprintln!("reading a small snapshot in a jail takes {:?}", times[4]);
    let copy = store.import("b", &*snapshot, policy()).unwrap();
    assert_eq!(copy.head().unwrap().number, 1);
    snapshot[20] ^= 1;
    let refused = store.import("c", &*snapshot, policy());
    assert!(matches!(refused, Err(Error::Foreign(_))), "{:?}", refused.err());
    let zip = dir.path().join("w.zip");
    let with = |zip: &Path| Policy { workspace: Some(Workspace::of(zip)), ..policy() };
    let s = engine.session(with(&zip)).unwrap();
    assert_eq!(sh(&s, "echo 1 > /work/a"), "");
    drop(s);
    assert_eq!(sh(&engine.session(with(&zip)).unwrap(), "cat /work/a"), "1\n");
    let mut bytes = std::fs::read(&zip).unwrap();
    bytes.truncate(bytes.len() / 2);
    std::fs::write(&zip, bytes).unwrap();
    let refused = engine.session(with(&zip));
    assert!(matches!(refused, Err(Error::Foreign(_))), "{:?}", refused.err());
}
