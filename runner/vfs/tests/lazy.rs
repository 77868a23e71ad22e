//! Files whose bytes are fetched on demand: when they are fetched, and the errors if they cannot
//! be.

mod common;

use common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasibox_vfs::{
    BaseFile, BaseKind, Budget, DiskLimits, Errno, Folder, FolderEntry, LazyBytes, ProgramMark,
    Vfs, ViewShape, delta,
};

/// Bytes that count the reads, and fail on request.
struct Bytes {
    bytes: Vec<u8>,
    fail: Option<Errno>,
    ready: AtomicUsize,
    reads: AtomicUsize,
}

impl Bytes {
    fn new(bytes: Vec<u8>, fail: Option<Errno>) -> Arc<Bytes> {
        Arc::new(Bytes { bytes, fail, ready: AtomicUsize::new(0), reads: AtomicUsize::new(0) })
    }
}

impl LazyBytes for Bytes {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn make_ready(&self, _: &Arc<Budget>, _: bool) -> Result<(), Errno> {
        self.ready.fetch_add(1, Ordering::Relaxed);
        self.fail.map_or(Ok(()), Err)
    }

    fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if let Some(e) = self.fail {
            return Err(e);
        }
        // Each read returns only some of the bytes.
        let rest = &self.bytes[(off as usize).min(self.bytes.len())..];
        let n = rest.len().min(buf.len()).min(50_000);
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

struct Dir(Vec<(&'static str, Arc<Bytes>)>);

impl Folder for Dir {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let entry = |(name, bytes): &(&str, Arc<Bytes>)| FolderEntry {
            name: name.as_bytes().to_vec(),
            mode: 0o644,
            time: 7,
            kind: BaseKind::Lazy(bytes.clone()),
        };
        Ok(self.0.iter().map(entry).collect())
    }
}

fn with(files: &[(&'static str, &Arc<Bytes>)]) -> Vfs {
    let dir = Dir(files.iter().map(|(n, b)| (*n, (*b).clone())).collect());
    let kind = BaseKind::Dir(Arc::new(dir));
    let base = BaseFile { path: b"/work".to_vec(), mode: 0o755, time: 0, kind };
    Vfs::new([base], &[], DiskLimits::default(), unlimited(), &ProtectedPaths::default()).unwrap()
}

const RW: wasibox_vfs::OpenFlags = wasibox_vfs::OpenFlags { write: true, ..READ };

#[test]
fn bytes_are_fetched_when_a_file_is_opened() {
    let all: Vec<u8> = (0..200_000u32).map(|i| (i * 7) as u8).collect();
    let a = Bytes::new(all.clone(), None);
    let v = with(&[("a", &a)]);
    let count = |b: &Bytes| (b.ready.load(Ordering::Relaxed), b.reads.load(Ordering::Relaxed));
    assert_eq!(v.stat(&ROOT_LOC, b"/work/a", true).unwrap().size, 200_000);
    assert_eq!(names(&v, "/work").unwrap(), ["a"]);
    assert_eq!(count(&a), (0, 0));
    assert_eq!(read_bytes(&v, "/work/a").unwrap(), all);
    assert_eq!(count(&a).0, 1);
    // A file that is overwritten whole is not fetched.
    write(&v, "/work/a", "new").unwrap();
    let reads = count(&a);
    assert_eq!(read(&v, "/work/a").unwrap(), "new");
    assert_eq!(count(&a), reads);
}

#[test]
fn writes_keep_what_is_around_them() {
    let mut want: Vec<u8> = (0..200_000u32).map(|i| (i * 7) as u8).collect();
    let a = Bytes::new(want.clone(), None);
    let v = with(&[("a", &a)]);
    let f = open(&v, "/work/a", RW).unwrap();
    for (at, len) in [(100, 5), (65_530, 20), (131_072, 65_536), (199_990, 30)] {
        f.write(at, false, &vec![1; len]).unwrap();
        want.resize(want.len().max(at as usize + len), 0);
        want[at as usize..at as usize + len].fill(1);
    }
    f.set_len(200_005).unwrap();
    want.truncate(200_005);
    assert_eq!(read_bytes(&v, "/work/a").unwrap(), want);
}

#[test]
fn what_cannot_be_had_is_an_error_and_changes_nothing() {
    let bad = Bytes::new(vec![1; 1000], Some(Errno::IO));
    let v = with(&[("bad", &bad)]);
    assert_eq!(read(&v, "/work/bad"), Err(Errno::IO));
    assert_eq!(open(&v, "/work/bad", RW).map(drop), Err(Errno::IO));
    assert_eq!(v.executable_kind(&ROOT_LOC, b"/work/bad", 10), Err(Errno::ACCES));
    v.chmod(&ROOT_LOC, b"/work/bad", 0o755).unwrap();
    assert_eq!(v.executable_kind(&ROOT_LOC, b"/work/bad", 10), Err(Errno::IO));
    // No byte of the old content is needed.
    write(&v, "/work/bad", "good").unwrap();
    assert_eq!(read(&v, "/work/bad").unwrap(), "good");
    // A caller without permission is refused, and nothing is fetched.
    let other = Bytes::new(vec![1; 10], None);
    let v = with(&[("other", &other)]);
    v.chmod(&ROOT_LOC, b"/work/other", 0o200).unwrap();
    assert_eq!(read(&v, "/work/other"), Err(Errno::ACCES));
    assert_eq!(other.ready.load(Ordering::Relaxed), 0);
}

#[test]
fn changes_are_reported_and_applied() {
    let a = Bytes::new((0..100_000u32).map(|i| i as u8).collect(), None);
    let make = || with(&[("a", &a), ("b", &a)]);
    let v = make();
    let before = v.tree_version();
    open(&v, "/work/a", RW).unwrap().write(5, false, b"hello").unwrap();
    v.rename(&ROOT_LOC, b"/work/b", &ROOT_LOC, b"/work/c").unwrap();
    let again = make();
    delta::emit_between(&before, &v.tree_version(), &mut |d| again.restore_delta(d)).unwrap();
    assert_eq!(read_bytes(&again, "/work/a").unwrap(), read_bytes(&v, "/work/a").unwrap());
    assert_eq!(names(&again, "/work").unwrap(), ["a", "c"]);
}

#[test]
fn a_snapshot_is_gone_through_and_compared() {
    let a = Bytes::new(b"one".to_vec(), None);
    let v = with(&[("a", &a), ("gone", &a), ("same", &a)]);
    v.mkdir(&ROOT_LOC, b"/work/d", 0o755).unwrap();
    write(&v, "/work/d/new", "new").unwrap();
    write(&v, "/work/a", "two").unwrap();
    v.remove(&ROOT_LOC, b"/work/gone", false).unwrap();
    v.symlink(b"a", &ROOT_LOC, b"/work/l").unwrap();
    v.chmod(&ROOT_LOC, b"/work/same", 0o600).unwrap();
    let snapshot = v.tree_version();
    write(&v, "/work/later", "").unwrap();
    let text = |p: &[u8]| String::from_utf8(p.to_vec()).unwrap();
    let mut seen = Vec::new();
    snapshot
        .each_below::<Errno>(b"/work", &mut |path, s| {
            let what = match s.shape {
                ViewShape::Dir => "dir".to_owned(),
                ViewShape::File(f) => {
                    let mut b = vec![0; 10];
                    let n = f.read(0, &mut b)?;
                    format!(
                        "{}{}",
                        text(&b[..n]),
                        if f.untouched_bytes().is_some() { "=" } else { "" }
                    )
                }
                ViewShape::Symlink(t) => format!("-> {}", text(t)),
                ViewShape::Other => "?".to_owned(),
            };
            seen.push(format!("{}: {what}", text(path)));
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, ["a: two", "d: dir", "d/new: new", "l: -> a", "same: one="]);
    let mut differs = Vec::new();
    snapshot
        .for_each_difference::<Errno>(b"/work", &mut |path, d| {
            let side = |s: bool| if s { "+" } else { "-" };
            differs.push(format!(
                "{}{}{}",
                text(path),
                side(d.old.is_some()),
                side(d.new.is_some())
            ));
            Ok(())
        })
        .unwrap();
    assert_eq!(differs, ["a++", "d-+", "d/new-+", "gone+-", "l-+", "same++"]);
    assert_eq!(snapshot.each_below::<Errno>(b"/nowhere", &mut |_, _| Ok(())), Err(Errno::NOENT));
}

#[test]
fn a_program_is_known_before_its_bytes_are() {
    let bytes = Bytes::new(vec![1; 1000], Some(Errno::IO));
    let kind = BaseKind::LazyProgram(bytes.clone(), ProgramMark(3));
    let base = BaseFile { path: b"/bin/x".to_vec(), mode: 0o755, time: 0, kind };
    let v = Vfs::new([base], &[], DiskLimits::default(), unlimited(), &ProtectedPaths::default());
    let v = v.unwrap();
    assert_eq!(
        v.executable_kind(&ROOT_LOC, b"/bin/x", 10),
        Ok(program_file(Some(ProgramMark(3)), "x", ""))
    );
    assert_eq!(v.stat(&ROOT_LOC, b"/bin/x", true).unwrap().size, 1000);
    assert_eq!(bytes.ready.load(Ordering::Relaxed), 0);
    assert_eq!(read(&v, "/bin/x"), Err(Errno::IO));
}
