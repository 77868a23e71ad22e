//! Opens a zip: any bytes, or a valid one with some bytes changed. Unless the zip is refused,
//! listing it must succeed, reading a file must succeed or return an error, and the zip that is
//! saved from it must be accepted.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::fs::File;
use std::io::{Cursor, Write};
use std::sync::LazyLock;
use wasibox_fuzz::patched;
use wasibox_vfs::{BaseFile, Budget, DiskLimits, Errno, Loc, ProtectedPaths, Vfs, ViewShape};
use wasibox_workspace::{Archive, KeepBase, WorkspaceError, ZipLimits};
use zip::write::SimpleFileOptions;

static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut z = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let how = SimpleFileOptions::default().unix_permissions(0o644);
    z.start_file("a", how).unwrap();
    z.write_all(&b"hello world ".repeat(20)).unwrap();
    z.start_file("d/b", how.compression_method(zip::CompressionMethod::Stored)).unwrap();
    z.write_all(b"stored").unwrap();
    z.add_directory("d/e", how).unwrap();
    z.add_symlink("d/l", "../a", how).unwrap();
    z.start_file("large", how.large_file(true)).unwrap();
    z.write_all(b"64").unwrap();
    z.start_file(".wasibox/history", how).unwrap();
    z.write_all(b"past").unwrap();
    z.set_comment("c").unwrap();
    z.finish().unwrap().into_inner()
});

/// The same zip, saved after changes together with the files that the session began with
/// ([`KeepBase::Present`]).
static KEPT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let archive = Archive::open(file(&GOOD), &LIMITS).unwrap();
    let vfs = session(archive.base_folder("/work").unwrap());
    let root = Loc::Tree(wasibox_vfs::ROOT);
    vfs.rename(&root, b"/work/a", &root, b"/work/d/a").unwrap();
    vfs.remove(&root, b"/work/large", false).unwrap();
    let mut out = Cursor::new(Vec::new());
    archive.write(&vfs.tree_version(), "/work", &[], KeepBase::Present, &mut out).unwrap();
    out.into_inner()
});

fn session(base: BaseFile) -> Vfs {
    let (limits, budget) = (DiskLimits::default(), Budget::new(8 << 20));
    Vfs::new([base], &[], limits, budget, &ProtectedPaths::default()).unwrap()
}

/// Reads everything in the session's tree.
fn look(vfs: &Vfs) {
    vfs.tree_version()
        .each_below::<Errno>(b"/work", &mut |path, seen| {
            assert!(!path.starts_with(b".wasibox"));
            if let ViewShape::File(f) = seen.shape {
                let mut bytes = vec![0; f.len() as usize];
                let _ = f.read(0, &mut bytes);
            }
            Ok(())
        })
        .unwrap();
}

const LIMITS: ZipLimits =
    ZipLimits { entries: 1000, directory: 1 << 20, file: 1 << 20, total: 4 << 20 };

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile_in("/dev/shm").or_else(|_| tempfile::tempfile()).unwrap();
    file.write_all(bytes).unwrap();
    file
}

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = match how % 3 {
        0 => rest.to_vec(),
        1 => patched(&GOOD, rest),
        _ => patched(&KEPT, rest),
    };
    let Ok(archive) = Archive::open(file(&bytes), &LIMITS) else { return };
    let _ = archive.hidden_file("history", 1 << 20);
    if let Some(base) = archive.original_folder("/work").unwrap() {
        look(&session(base));
    }
    let vfs = session(archive.base_folder("/work").unwrap());
    look(&vfs);
    let snapshot = vfs.tree_version();
    let mut out = Cursor::new(Vec::new());
    match archive.write(&snapshot, "/work", &[("history", b"new")], KeepBase::Present, &mut out) {
        Ok(_) => {
            let again = Archive::open(file(out.get_ref()), &LIMITS).unwrap();
            assert!(again.original_folder("/work").unwrap().is_some());
            assert_eq!(again.hidden_file("history", 100).unwrap().as_deref(), Some(&b"new"[..]));
        }
        // A damaged file had to be read, because it could not be copied in packed form.
        Err(WorkspaceError::Session { .. } | WorkspaceError::Write(_)) => {}
        Err(e) => panic!("{e}"),
    }
});
