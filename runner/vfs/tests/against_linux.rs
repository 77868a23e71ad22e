//! The same random operations on our tree, on a writable host mount seen through us,
//! and on a real directory by the kernel's own calls: results, error numbers and the
//! trees that remain must be equal.

mod common;

use common::*;
use rustix::fs::{self, AtFlags, Mode, OFlags};
use std::os::fd::OwnedFd;
use wasibox_vfs::{Errno, FileKind, OpenFlags, Vfs};

/// The operations, on a place for files.
trait Place {
    fn create(&self, p: &str, excl: bool, text: &str) -> Result<(), Errno>;
    fn read(&self, p: &str) -> Result<String, Errno>;
    fn mkdir(&self, p: &str) -> Result<(), Errno>;
    fn remove(&self, p: &str, dir: bool) -> Result<(), Errno>;
    fn rename(&self, a: &str, b: &str) -> Result<(), Errno>;
    fn link(&self, a: &str, b: &str) -> Result<(), Errno>;
    fn symlink(&self, target: &str, p: &str) -> Result<(), Errno>;
    fn readlink(&self, p: &str) -> Result<String, Errno>;
    fn stat(&self, p: &str, follow: bool) -> Result<String, Errno>;
    fn list(&self, p: &str) -> Result<Vec<String>, Errno>;
}

struct Ours(Vfs, &'static str);

impl Ours {
    fn at(&self, p: &str) -> String {
        format!("{}/{p}", self.1)
    }
}

impl Place for Ours {
    fn create(&self, p: &str, excl: bool, text: &str) -> Result<(), Errno> {
        let how = OpenFlags { excl, read: false, ..WRITE };
        open(&self.0, &self.at(p), how)?.write(0, false, text.as_bytes()).map(drop)
    }
    fn read(&self, p: &str) -> Result<String, Errno> {
        read(&self.0, &self.at(p))
    }
    fn mkdir(&self, p: &str) -> Result<(), Errno> {
        self.0.mkdir(&ROOT_LOC, self.at(p).as_bytes(), 0o755)
    }
    fn remove(&self, p: &str, dir: bool) -> Result<(), Errno> {
        self.0.remove(&ROOT_LOC, self.at(p).as_bytes(), dir)
    }
    fn rename(&self, a: &str, b: &str) -> Result<(), Errno> {
        self.0.rename(&ROOT_LOC, self.at(a).as_bytes(), &ROOT_LOC, self.at(b).as_bytes())
    }
    fn link(&self, a: &str, b: &str) -> Result<(), Errno> {
        self.0.link(&ROOT_LOC, self.at(a).as_bytes(), false, &ROOT_LOC, self.at(b).as_bytes())
    }
    fn symlink(&self, target: &str, p: &str) -> Result<(), Errno> {
        self.0.symlink(target.as_bytes(), &ROOT_LOC, self.at(p).as_bytes())
    }
    fn readlink(&self, p: &str) -> Result<String, Errno> {
        let t = self.0.read_link(&ROOT_LOC, self.at(p).as_bytes())?;
        Ok(String::from_utf8(t).unwrap())
    }
    fn stat(&self, p: &str, follow: bool) -> Result<String, Errno> {
        let s = self.0.stat(&ROOT_LOC, self.at(p).as_bytes(), follow)?;
        Ok(told(s.kind, s.size, s.nlink))
    }
    fn list(&self, p: &str) -> Result<Vec<String>, Errno> {
        names(&self.0, &self.at(p))
    }
}

struct Linux(OwnedFd);

impl Place for Linux {
    fn create(&self, p: &str, excl: bool, text: &str) -> Result<(), Errno> {
        let mut flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        if excl {
            flags |= OFlags::EXCL;
        }
        let fd = fs::openat(&self.0, p, flags, Mode::from_raw_mode(0o644))?;
        Ok(rustix::io::write(fd, text.as_bytes()).map(drop)?)
    }
    fn read(&self, p: &str) -> Result<String, Errno> {
        let fd = fs::openat(&self.0, p, OFlags::RDONLY, Mode::empty())?;
        let mut b = vec![0; 1 << 16];
        let n = rustix::io::read(fd, &mut b)?;
        Ok(String::from_utf8_lossy(&b[..n]).into_owned())
    }
    fn mkdir(&self, p: &str) -> Result<(), Errno> {
        Ok(fs::mkdirat(&self.0, p, Mode::from_raw_mode(0o755))?)
    }
    fn remove(&self, p: &str, dir: bool) -> Result<(), Errno> {
        let flags = if dir { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        Ok(fs::unlinkat(&self.0, p, flags)?)
    }
    fn rename(&self, a: &str, b: &str) -> Result<(), Errno> {
        Ok(fs::renameat(&self.0, a, &self.0, b)?)
    }
    fn link(&self, a: &str, b: &str) -> Result<(), Errno> {
        Ok(fs::linkat(&self.0, a, &self.0, b, AtFlags::empty())?)
    }
    fn symlink(&self, target: &str, p: &str) -> Result<(), Errno> {
        Ok(fs::symlinkat(target, &self.0, p)?)
    }
    fn readlink(&self, p: &str) -> Result<String, Errno> {
        Ok(fs::readlinkat(&self.0, p, Vec::new())?.into_string().unwrap())
    }
    fn stat(&self, p: &str, follow: bool) -> Result<String, Errno> {
        let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let s = fs::statat(&self.0, p, flags)?;
        let kind = FileKind::from_bits((s.st_mode >> 12) as u8).unwrap();
        Ok(told(kind, s.st_size as u64, s.st_nlink as u32))
    }
    fn list(&self, p: &str) -> Result<Vec<String>, Errno> {
        let fd = fs::openat(&self.0, p, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty())?;
        let mut out: Vec<String> = fs::Dir::new(fd)?
            .map(|e| e.unwrap().file_name().to_str().unwrap().to_owned())
            .filter(|n| n != "." && n != "..")
            .collect();
        out.sort();
        Ok(out)
    }
}

/// Returns the result of `stat`. Sizes of directories depend on the file system; so do their link
/// counts on some (btrfs, overlays), so another test compares them on ours.
fn told(kind: FileKind, size: u64, nlink: u32) -> String {
    if kind == FileKind::Dir { "dir".into() } else { format!("{kind:?} {size} {nlink}") }
}

struct Random(u64);

impl Random {
    fn next(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    /// Returns a path of one to three short names, sometimes with redundant dots and slashes. The
    /// path never leads above the top, where a chroot and a directory differ.
    fn path(&mut self) -> String {
        const NAMES: &[&str] = &["a", "b", "c", "d", "a", "b", "."];
        let mut out = NAMES[self.next(6)].to_owned();
        for _ in 0..self.next(3) {
            out = format!("{out}/{}", NAMES[self.next(7)]);
        }
        match self.next(12) {
            0 => out + "/",
            1 => out.replace('/', "//"),
            2 => format!("{out}/.."),
            3 => format!("{out}/../{}", NAMES[self.next(6)]),
            _ => out,
        }
    }

    fn target(&mut self) -> String {
        ["a", "b", "c/d", "../a", "d", "a/b", ".", "nowhere"][self.next(8)].to_owned()
    }
}

/// Runs one step; returns its result.
fn step(p: &dyn Place, r: &mut Random) -> (String, String) {
    let (a, b) = (r.path(), r.path());
    let excl = r.next(4) == 0;
    let text = "x".repeat(r.next(40));
    let target = r.target();
    let show = |r: Result<(), Errno>| format!("{r:?}");
    match r.next(13) {
        0 | 1 => (format!("mkdir {a}"), show(p.mkdir(&a))),
        2 | 3 => (format!("create {a} {excl} {}", text.len()), show(p.create(&a, excl, &text))),
        4 => (format!("unlink {a}"), show(p.remove(&a, false))),
        5 => (format!("rmdir {a}"), show(p.remove(&a, true))),
        6 | 7 => (format!("rename {a} {b}"), show(p.rename(&a, &b))),
        8 => (format!("link {a} {b}"), show(p.link(&a, &b))),
        9 => (format!("symlink {target} {a}"), show(p.symlink(&target, &a))),
        10 => (format!("readlink {a}"), format!("{:?}", p.readlink(&a))),
        11 => (format!("stat {a} {excl}"), format!("{:?} {:?}", p.stat(&a, excl), p.read(&a))),
        _ => (format!("list {a}"), format!("{:?}", p.list(&a))),
    }
}

/// A directory so deep that no link to `..` reaches the top, where the two differ.
const DEEP: &str = "p/p/p/p/p/p/p/p";

fn compare(ours: impl Fn(&std::path::Path) -> Ours, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let tmp = tempfile::tempdir().unwrap();
        let (seen, real) = (tmp.path().join("seen"), tmp.path().join("real"));
        std::fs::create_dir_all(seen.join(DEEP)).unwrap();
        std::fs::create_dir_all(real.join(DEEP)).unwrap();
        let ours = ours(&seen);
        let dir = OFlags::RDONLY | OFlags::DIRECTORY;
        let linux = Linux(fs::open(real.join(DEEP), dir, Mode::empty()).unwrap());
        let (mut r1, mut r2) = (Random(seed), Random(seed));
        let mut log = Vec::new();
        for _ in 0..300 {
            let (what, a) = step(&ours, &mut r1);
            let (_, b) = step(&linux, &mut r2);
            log.push(format!("{what} = {b}"));
            assert_eq!(a, b, "seed {seed}:\n{}", log.join("\n"));
        }
    }
}

#[test]
fn the_tree_behaves_as_linux_does() {
    let ours = |_: &std::path::Path| {
        let v = vfs(&[]);
        let mut at = "/tmp".to_owned();
        for part in DEEP.split('/') {
            at = format!("{at}/{part}");
            v.mkdir(&ROOT_LOC, at.as_bytes(), 0o755).unwrap();
        }
        Ours(v, "/tmp/p/p/p/p/p/p/p/p")
    };
    compare(ours, 0..150);
}

#[test]
fn a_writable_mount_behaves_as_linux_does() {
    compare(|dir| Ours(vfs(&[mount(dir, "/m", true)]), "/m/p/p/p/p/p/p/p/p"), 1000..1060);
}
