//! Exports of files as archives, read back by independent programs.

mod common;

use common::*;
use std::path::Path;
use std::process::Command;
use wasibox_store::snapshot::export::{ImageSource, NoImage, tar_zst, write_zip};
use wasibox_store::snapshot::{FileTree, SnapshotError};
use wasibox_store::{Store, StoreSession};
use wasibox_vfs::Vfs;

struct Seventy;

impl ImageSource for Seventy {
    fn read_file(&self, path: &[serde_bytes::ByteBuf], len: u64) -> Result<Vec<u8>, SnapshotError> {
        assert_eq!(path, [b"usr".to_vec(), b"g".to_vec()]);
        Ok(vec![70_000_usize as u8; len as usize])
    }
}

fn made() -> (Store, StoreSession, Vfs) {
    let store = Store::in_memory().unwrap();
    let (s, v) = (store.create("a", None).unwrap(), session());
    let mut known = v.tree_version();
    v.mkdir(&ROOT_LOC, b"/tmp/dir", 0o750).unwrap();
    write(&v, "/tmp/dir/text", b"hello\n").unwrap();
    v.link(&ROOT_LOC, b"/tmp/dir/text", false, &ROOT_LOC, b"/tmp/zz").unwrap();
    v.symlink(b"../../etc/passwd", &ROOT_LOC, b"/tmp/dir/link").unwrap();
    v.mkfifo(&ROOT_LOC, b"/tmp/fifo", 0o600).unwrap();
    write(&v, "/tmp/gone", b"x").unwrap();
    v.remove(&ROOT_LOC, b"/tmp/gone", false).unwrap();
    // Holes, several parts, and a part that is longer than the data written to it.
    let f = open(&v, "/tmp/holes", WRITE).unwrap();
    f.write(200_000, false, &[9; 100_000]).unwrap();
    f.set_len(2_500_000).unwrap();
    // A file of the image with bytes appended.
    let append = wasibox_vfs::OpenFlags { append: true, truncate: false, ..WRITE };
    open(&v, "/usr/g", append).unwrap().write(0, true, b"more").unwrap();
    commit(&s, &v, &mut known);
    (store, s, v)
}

fn run(dir: &Path, program: &str, args: &[&str]) {
    let out = Command::new(program).args(args).current_dir(dir).output().unwrap();
    assert!(out.status.success(), "{program}: {}", String::from_utf8_lossy(&out.stderr));
}

fn same(dir: &Path, v: &Vfs) {
    for path in ["/tmp/dir/text", "/tmp/zz", "/tmp/holes", "/usr/g"] {
        let there = std::fs::read(dir.join(&path[1..])).unwrap();
        assert!(there == read(v, path).unwrap(), "{path}");
    }
    let link = std::fs::read_link(dir.join("tmp/dir/link")).unwrap();
    assert_eq!(link, Path::new("../../etc/passwd"));
    assert!(!dir.join("tmp/gone").exists());
}

fn files(s: &StoreSession) -> FileTree {
    s.state().files
}

#[test]
fn tar_reads_it() {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let (store, s, v) = made();
    let dir = tempfile::tempdir().unwrap();
    let (zst, tar) = (dir.path().join("f.tar.zst"), dir.path().join("f.tar"));
    let to = std::fs::File::create(&zst).unwrap();
    let left = store.with_objects(|o| tar_zst(o, &files(&s), &Seventy, 1 << 30, to)).unwrap();
    assert!(left.is_empty());
    // A different library from the one that wrote it unpacks it, because the `zstd` program is not
    // installed everywhere.
    let mut from =
        ruzstd::decoding::StreamingDecoder::new(std::fs::File::open(&zst).unwrap()).unwrap();
    std::io::copy(&mut from, &mut std::fs::File::create(&tar).unwrap()).unwrap();
    run(dir.path(), "tar", &["-xf", "f.tar", "--no-same-owner"]);
    same(dir.path(), &v);
    let at = |path: &str| std::fs::symlink_metadata(dir.path().join(path)).unwrap();
    assert_eq!(at("tmp/zz").ino(), at("tmp/dir/text").ino());
    assert!(at("tmp/fifo").file_type().is_fifo());
    assert_eq!(at("tmp/dir").mode() & 0o777, 0o750);
    let left =
        store.with_objects(|o| tar_zst(o, &files(&s), &NoImage, 1 << 30, std::io::sink())).unwrap();
    assert_eq!(left, [b"/usr/g"]);
    // A file may consist of holes only.
    for as_zip in [false, true] {
        let result = store.with_objects(|o| {
            if as_zip {
                write_zip(o, &files(&s), &NoImage, 1 << 20, std::io::sink())
            } else {
                tar_zst(o, &files(&s), &NoImage, 1 << 20, std::io::sink())
            }
        });
        assert!(matches!(result, Err(SnapshotError::TooLarge(_))));
    }
}

#[test]
fn unzip_reads_it() {
    let (store, s, v) = made();
    let dir = tempfile::tempdir().unwrap();
    let to = std::fs::File::create(dir.path().join("f.zip")).unwrap();
    let left = store.with_objects(|o| write_zip(o, &files(&s), &Seventy, 1 << 30, to)).unwrap();
    assert_eq!(left, [b"/tmp/fifo"]);
    // Python's `zipfile` checks sums and sizes, but does not make links.
    let program = "import os, stat, sys, zipfile, time
z = zipfile.ZipFile('f.zip')
assert z.testzip() is None
for i in z.infolist():
    mode = i.external_attr >> 16
    if stat.S_ISLNK(mode):
        os.makedirs(os.path.dirname(i.filename), exist_ok=True)
        os.symlink(z.read(i).decode(), i.filename)
    else:
        z.extract(i)
    now = time.gmtime()
    if i.filename == 'tmp/zz':
        assert i.date_time[:3] == now[:3], i.date_time
    if i.filename == 'tmp/dir/':
        assert stat.S_IMODE(mode) == 0o750, oct(mode)
";
    run(dir.path(), "python3", &["-c", program]);
    same(dir.path(), &v);
}
