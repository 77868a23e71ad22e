//! Reads a snapshot: any bytes, or a valid one with some bytes changed and a matching digest.
//! Unless the snapshot is refused, it must be possible to read all of it and to write it again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use wasibox_fuzz::{patched, session};
use wasibox_snapshot::export::{NoImage, write_tar, write_zip};
use wasibox_snapshot::files::emit_changes;
use wasibox_snapshot::wbs::{SnapshotLimits, read, write};
use wasibox_snapshot::{Digest, FileTree, MemoryObjects, SnapshotError};

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let objects = MemoryObjects::default();
    let mut out = Vec::new();
    write(&objects, &session(&objects), &mut out).unwrap();
    out
});

/// The number of bytes of the last frame: its header, the number of frames, and the digest.
const END: usize = 10 + 1 + 32;

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = match how % 2 {
        0 => rest.to_vec(),
        _ => {
            let mut bytes = patched(&GOOD, rest);
            let body = bytes.len() - END;
            let digest = Digest::hash_bytes(&bytes[..body]);
            bytes[body + END - 32..].copy_from_slice(&digest.0);
            bytes
        }
    };
    let objects = MemoryObjects::default();
    let limits = SnapshotLimits { bytes: 64 << 20, items: 1000, manifest: 64 << 20 };
    let Ok(contents) = read(&bytes[..], &limits, &objects) else { return };
    for commit in &contents.commits {
        let files = &commit.state.files;
        // No object may be missing, because reading the snapshot has checked that.
        emit_changes(&objects, &FileTree::default(), files, &mut |_| Ok::<_, SnapshotError>(()))
            .unwrap();
        let _ = write_tar(&objects, files, &NoImage, 1 << 20, std::io::sink());
        let _ = write_zip(&objects, files, &NoImage, 1 << 20, std::io::sink());
        let _ = commit.call.changed_paths(&objects);
    }
    write(&objects, &contents, std::io::sink()).unwrap();
});
