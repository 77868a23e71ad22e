//! The image's layer: directories that are listed on first access.

mod common;

use common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use wasibox_vfs::ChangeKind::*;
use wasibox_vfs::{
    BaseFile, BaseKind, ChangeBounds, ChangeKind, DiskLimits, Errno, Folder, FolderEntry,
    OpenFlags, Vfs,
};

/// `depth` levels of directories `a` and `b`, each with a file `f` that holds its path.
struct Deep {
    path: String,
    depth: usize,
    listed: Arc<AtomicUsize>,
}

impl Folder for Deep {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        self.listed.fetch_add(1, Ordering::Relaxed);
        let entry = |name: &str, mode, kind| FolderEntry { name: name.into(), mode, time: 5, kind };
        let text = Arc::new(self.path.clone().into_bytes());
        let mut out = vec![entry("f", 0o644, BaseKind::File { bytes: text, program: None })];
        for name in ["a", "b"].iter().filter(|_| self.depth > 0) {
            let (path, listed) = (format!("{}/{name}", self.path), self.listed.clone());
            let folder = Deep { path, depth: self.depth - 1, listed };
            out.push(entry(name, 0o755, BaseKind::Dir(Arc::new(folder))));
        }
        Ok(out)
    }
}

fn at(path: &str, folder: impl Folder + 'static) -> BaseFile {
    BaseFile { path: path.into(), mode: 0o755, time: 5, kind: BaseKind::Dir(Arc::new(folder)) }
}

fn deep(depth: usize) -> (Vfs, Arc<AtomicUsize>) {
    let listed = Arc::new(AtomicUsize::new(0));
    let folder = Deep { path: "/usr".into(), depth, listed: listed.clone() };
    (
        Vfs::new(
            [at("/usr", folder)],
            &[],
            DiskLimits::default(),
            unlimited(),
            &ProtectedPaths::default(),
        )
        .unwrap(),
        listed,
    )
}

fn changes(v: &Vfs, mark: &wasibox_vfs::changes::ChangeMark) -> Vec<(String, ChangeKind)> {
    let text = |path| String::from_utf8(path).unwrap();
    v.changes_since(mark, &ChangeBounds::default())
        .list
        .into_iter()
        .map(|c| (text(c.path), c.kind))
        .collect()
}

#[test]
fn a_directory_is_listed_once_and_only_if_looked_into() {
    let (v, listed) = deep(40);
    let begun = listed.load(Ordering::Relaxed);
    assert_eq!(read(&v, "/usr/a/b/a/f").unwrap(), "/usr/a/b/a");
    assert_eq!(listed.load(Ordering::Relaxed), begun + 3);
    assert_eq!(read(&v, "/usr/a/b/a/f").unwrap(), "/usr/a/b/a");
    assert_eq!(listed.load(Ordering::Relaxed), begun + 3);
    assert_eq!(names(&v, "/usr/a/b").unwrap(), ["a", "b", "f"]);
    assert_eq!(listed.load(Ordering::Relaxed), begun + 3, "its directories are not looked into");
    // The session's own directories are still there.
    write(&v, "/usr/bin/tool", "x").unwrap();
    let stat = |path: &str| v.stat(&ROOT_LOC, path.as_bytes(), true).unwrap();
    assert_eq!((stat("/usr/a").nlink, stat("/usr/a").mode, stat("/usr/a").mtime), (4, 0o755, 5));
    assert_ne!(stat("/usr/a").ino, stat("/usr/b").ino);
}

#[test]
fn only_what_was_changed_is_compared() {
    let (v, listed) = deep(40);
    read(&v, "/usr/b/b/f").unwrap();
    let mark = v.mark_state();
    let begun = listed.load(Ordering::Relaxed);
    assert_eq!(changes(&v, &mark), []);
    write(&v, "/usr/a/a/f", "other").unwrap();
    write(&v, "/usr/a/a/new", "new").unwrap();
    v.remove(&ROOT_LOC, b"/usr/b/b/f", false).unwrap();
    v.chmod(&ROOT_LOC, b"/usr/b/f", 0o600).unwrap();
    assert_eq!(
        changes(&v, &mark),
        [
            ("/usr/a/a/f".into(), Modified),
            ("/usr/a/a/new".into(), Created),
            ("/usr/b/b/f".into(), Deleted)
        ]
    );
    assert_eq!(listed.load(Ordering::Relaxed), begun + 2, "/usr/a and /usr/a/a, nothing else");
    // A file that was changed before a mark is found when it changes again.
    let mark = v.mark_state();
    write(&v, "/usr/a/a/new", "newer").unwrap();
    assert_eq!(changes(&v, &mark), [("/usr/a/a/new".into(), Modified)]);
}

#[test]
fn what_was_moved_is_gone_and_there() {
    let (v, _) = deep(2);
    let mark = v.mark_state();
    v.rename(&ROOT_LOC, b"/usr/a", &ROOT_LOC, b"/usr/b/moved").unwrap();
    let moved = ["a/f", "b/f", "f"];
    let mut expected: Vec<(String, ChangeKind)> = Vec::new();
    expected.extend(moved.iter().map(|f| (format!("/usr/a/{f}"), Deleted)));
    expected.extend(moved.iter().map(|f| (format!("/usr/b/moved/{f}"), Created)));
    assert_eq!(changes(&v, &mark), expected);
    let mark = v.mark_state();
    let f = open(&v, "/usr/b/moved/a/f", OpenFlags { write: true, ..READ }).unwrap();
    f.write(0, false, b"!").unwrap();
    assert_eq!(changes(&v, &mark), [("/usr/b/moved/a/f".into(), Modified)]);
    assert_eq!(read(&v, "/usr/b/moved/a/f").unwrap(), "!usr/a/a");
}

/// A directory whose only entry is itself, or which cannot be read.
struct Loop(bool);

impl Folder for Loop {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        if self.0 {
            return Err("the image is damaged".into());
        }
        let kind = |bad| BaseKind::Dir(Arc::new(Loop(bad)));
        let entry = |name: &str, bad| FolderEntry {
            name: name.into(),
            mode: 0o755,
            time: 0,
            kind: kind(bad),
        };
        Ok(vec![entry("usr", false), entry("usr", false), entry("bad", true), entry("..", true)])
    }
}

#[test]
fn a_damaged_layer_ends_nothing_and_is_reported() {
    let v = Vfs::new(
        [at("/usr", Loop(false))],
        &[],
        DiskLimits::default(),
        unlimited(),
        &ProtectedPaths::default(),
    )
    .unwrap();
    let deep = format!("{}/f", "/usr".repeat(200));
    assert_eq!(read(&v, &deep), Err(Errno::NOENT));
    assert_eq!(v.damage(), None);
    assert_eq!(read(&v, "/usr/usr/bad/f"), Err(Errno::ACCES));
    assert_eq!(v.damage().as_deref(), Some("the image is damaged"));
}
