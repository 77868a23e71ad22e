//! A session's changes written down, and taken up by a new session.

mod common;

use common::*;
use std::convert::Infallible;
use std::sync::Arc;
use wasibox_vfs::delta::{Change, Delta, Id, Layer, Totals, between};
use wasibox_vfs::{
    BaseFile, BaseKind, DiskLimits, Errno, FileKind, Folder, FolderEntry, OpenFlags, Vfs,
};

/// `depth` levels of directories `a` and `b`, each with files `f` of 100 bytes and `g` of 70,000.
struct Deep(usize);

impl Folder for Deep {
    fn list(&self) -> Result<Vec<FolderEntry>, String> {
        let entry = |name: &str, mode, kind| FolderEntry { name: name.into(), mode, time: 5, kind };
        let file = |n: usize| BaseKind::File { bytes: Arc::new(vec![n as u8; n]), program: None };
        let mut out = vec![entry("f", 0o644, file(100)), entry("g", 0o600, file(70_000))];
        for name in ["a", "b"].iter().filter(|_| self.0 > 0) {
            out.push(entry(name, 0o755, BaseKind::Dir(Arc::new(Deep(self.0 - 1)))));
        }
        Ok(out)
    }
}

fn session() -> Vfs {
    let kind = BaseKind::Dir(Arc::new(Deep(3)));
    let usr = BaseFile { path: b"/usr".to_vec(), mode: 0o755, time: 5, kind };
    let kind = BaseKind::File { bytes: Arc::new(b"program".to_vec()), program: None };
    let sh = BaseFile { path: b"/bin/sh".to_vec(), mode: 0o755, time: 5, kind };
    Vfs::new([usr, sh], &[], DiskLimits::default(), unlimited(), &Protected::default()).unwrap()
}

/// Through the form in which it is sent.
fn sent(delta: Delta) -> Delta {
    let text = serde_json::to_vec(&delta).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn restored(layer: &Layer) -> Vfs {
    let v = session();
    let Ok(()) = layer.parts::<Infallible>(&mut |part| {
        v.restore(sent(part)).unwrap();
        Ok(())
    });
    v
}

const BEGINNING: &[&str] = &[
    "/bin",
    "/etc",
    "/home",
    "/home/user",
    "/output",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/local",
    "/usr/local/bin",
    "/var",
    "/var/tmp",
];

/// Everything that can be told of the files, by path.
fn dump(v: &Vfs) -> Vec<String> {
    let mut out = Vec::new();
    let mut todo = vec![String::new()];
    while let Some(dir) = todo.pop() {
        for name in names(v, &format!("{dir}/.")).unwrap_or_default() {
            let path = format!("{dir}/{name}");
            if ["/dev", "/proc"].contains(&path.as_str()) {
                continue;
            }
            let s = v.stat(&ROOT_LOC, path.as_bytes(), false).unwrap();
            let what = match s.kind {
                FileKind::Dir => {
                    todo.push(path.clone());
                    String::new()
                }
                FileKind::File => format!("{:x}", digest(&read(v, &path).unwrap_or_default())),
                FileKind::Symlink => format!("{:?}", v.read_link(&ROOT_LOC, path.as_bytes())),
                _ => String::new(),
            };
            // Directories that a session begins with were made when it did.
            let own = BEGINNING.contains(&path.as_str());
            let (mode, times) =
                (s.mode, if own { Default::default() } else { (s.atime, s.mtime, s.ctime) });
            out.push(format!(
                "{path} {:?} {mode:o} {} {} {times:?} {what}",
                s.kind, s.nlink, s.size
            ));
        }
    }
    out.sort();
    out
}

fn digest(text: &str) -> u64 {
    text.bytes().fold(14695981039346656037, |h, b| (h ^ u64::from(b)).wrapping_mul(1099511628211))
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }

    fn path(&mut self) -> String {
        const NAMES: &[&str] = &["a", "b", "f", "g", "x", "y"];
        let top = ["/tmp", "/usr", "/home/user", "/usr/a", "/bin"][self.below(5) as usize];
        let mut path = top.to_owned();
        for _ in 0..=self.below(3) {
            path.push('/');
            path.push_str(NAMES[self.below(6) as usize]);
        }
        path
    }

    /// Does something; most of it is refused for one reason or other.
    fn act(&mut self, v: &Vfs) -> Result<(), Errno> {
        let (one, two) = (self.path(), self.path());
        let (a, b) = (one.as_bytes(), two.as_bytes());
        match self.below(12) {
            0..3 => {
                let truncate = self.below(2) == 0;
                let how = OpenFlags { truncate, ..WRITE };
                let file = open(v, &one, how)?;
                let bytes = vec![self.below(256) as u8; self.below(80_000) as usize];
                file.write(self.below(100_000), false, &bytes).map(drop)
            }
            3 => open(v, &one, OpenFlags { truncate: false, create: false, ..WRITE })?
                .set_len(self.below(100_000)),
            4 => v.mkdir(&ROOT_LOC, a, 0o755),
            5 => v.remove(&ROOT_LOC, a, false),
            6 => v.remove(&ROOT_LOC, a, true),
            7 => v.rename(&ROOT_LOC, a, &ROOT_LOC, b),
            8 => v.link(&ROOT_LOC, a, false, &ROOT_LOC, b),
            9 => v.symlink(b, &ROOT_LOC, a),
            10 => v.chmod(&ROOT_LOC, a, 0o700 | self.below(64) as u16),
            _ => v.mkfifo(&ROOT_LOC, a, 0o600),
        }
    }
}

#[test]
fn a_new_session_takes_up_what_another_one_did() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let mut v = session();
        let mut known = v.snapshot();
        let mut layer = Layer::default();
        for step in 0..40 {
            for _ in 0..random.below(12) {
                let _ = random.act(&v);
            }
            let now = v.snapshot();
            let Ok(()) = between::<Infallible>(&known, &now, &mut |part| {
                assert!(layer.add(sent(part), u64::MAX));
                Ok(())
            });
            known = now;
            if random.below(4) == 0 {
                let other = restored(&layer);
                assert_eq!(dump(&other), dump(&v), "seed {seed}, step {step}");
                assert_eq!(other.snapshot().quota(), v.snapshot().quota());
                v = other;
                known = v.snapshot();
            }
        }
    }
}

#[test]
fn what_is_told_grows_with_what_was_changed() {
    let v = session();
    for n in 0..2000 {
        write(&v, &format!("/tmp/{n}"), "x").unwrap();
    }
    write(&v, "/tmp/large", &"l".repeat(3 << 20)).unwrap();
    let known = v.snapshot();
    let told = |v: &Vfs| {
        let mut bytes = 0;
        let Ok(()) = between::<Infallible>(&known, &v.snapshot(), &mut |part| {
            bytes += serde_json::to_vec(&part).unwrap().len();
            Ok(())
        });
        bytes
    };
    assert_eq!(told(&v), 0);
    let file = open(&v, "/tmp/large", OpenFlags { truncate: false, ..WRITE }).unwrap();
    file.write(1 << 20, false, b"changed").unwrap();
    let bytes = told(&v);
    // One chunk of 64 KiB; JSON writes four characters a byte at most.
    assert!(bytes > 64 << 10 && bytes < 5 * (64 << 10), "{bytes}");
}

#[test]
fn a_delta_of_another_session_or_a_damaged_one_is_refused() {
    let v = session();
    write(&v, "/tmp/a", "text").unwrap();
    let mut parts = Vec::new();
    let Ok(()) = between::<Infallible>(&session().snapshot(), &v.snapshot(), &mut |part| {
        parts.push(part);
        Ok(())
    });
    let text = serde_json::to_string(&parts[0]).unwrap();
    let changed = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        assert_ne!(text, serde_json::to_string(&parts[0]).unwrap(), "{from}: {text}");
        session().restore(serde_json::from_str(&text).unwrap())
    };
    assert_eq!(changed("\"made\":", "\"made\":99999999999"), Err(Errno::INVAL));
    assert_eq!(changed("\"made\":1", "\"made\":0"), Err(Errno::INVAL));
    assert_eq!(changed("\"bytes\":", "\"bytes\":99999999999"), Err(Errno::NOSPC));
    assert_eq!(changed("\"put\":[[0,", "\"put\":[[7,"), Err(Errno::INVAL));
    assert_eq!(changed("{\"Made\":", "{\"Made\":4294967296"), Err(Errno::INVAL));
    for name in ["[46,46]", "[46]", "[]", "[97,0]", "[97,47]"] {
        assert_eq!(changed("[[97],{\"Made\"", &format!("[{name},{{\"Made\"")), Err(Errno::INVAL));
    }
}

#[test]
fn over_another_image_or_other_mounts_what_can_be_is_taken_up() {
    let v = session();
    let beginning = v.snapshot();
    write(&v, "/tmp/a", "text").unwrap();
    write(&v, "/usr/a/new", "new").unwrap();
    write(&v, "/usr/f", "replaced").unwrap();
    let append = OpenFlags { truncate: false, append: true, ..WRITE };
    open(&v, "/usr/g", append).unwrap().write(0, true, b"more").unwrap();
    v.rename(&ROOT_LOC, b"/usr/b", &ROOT_LOC, b"/tmp/b").unwrap();
    let mut parts = Vec::new();
    let Ok(()) = between::<Infallible>(&beginning, &v.snapshot(), &mut |part| {
        parts.push(part);
        Ok(())
    });
    let with = |base: Vec<BaseFile>, mounts: &[_]| {
        Vfs::new(base, mounts, DiskLimits::default(), unlimited(), &Protected::default()).unwrap()
    };
    let bare = with(vec![], &[]);
    assert_eq!(bare.restore(parts[0].clone()), Err(Errno::INVAL));
    let (bare, mut lost) = (with(vec![], &[]), Vec::new());
    parts.iter().for_each(|p| bare.restore_elsewhere(p.clone(), &mut lost).unwrap());
    lost.sort();
    lost.dedup();
    assert_eq!(read(&bare, "/tmp/a").unwrap(), "text");
    let lost: Vec<_> = lost.iter().map(|p| String::from_utf8_lossy(p)).collect();
    assert_eq!(lost, ["/usr/a", "/usr/b", "/usr/f", "/usr/g"]);
    // The numbers of nodes are others where there are more mounts.
    let host = tempfile::tempdir().unwrap();
    let kind = BaseKind::Dir(Arc::new(Deep(3)));
    let usr = BaseFile { path: b"/usr".to_vec(), mode: 0o755, time: 5, kind };
    let mounted = with(vec![usr], &[mount(host.path(), "/mnt/one/two", false)]);
    parts.iter().for_each(|p| mounted.restore(p.clone()).unwrap());
    assert_eq!(read(&mounted, "/usr/g").unwrap(), read(&v, "/usr/g").unwrap());
    assert_eq!(read(&mounted, "/usr/f").unwrap(), "replaced");
    assert_eq!(names(&mounted, "/tmp/b").unwrap(), names(&v, "/tmp/b").unwrap());
    assert!(read(&mounted, "/usr/b/f").is_err());
}

#[test]
fn what_a_session_began_with_can_be_put_back() {
    let v = session();
    let given = |names: &[&str]| {
        let names = names.iter().map(|n| n.as_bytes().to_vec().into()).collect();
        (Id::Given(names), Change::Given)
    };
    let before = dump(&v);
    write(&v, "/usr/f", "replaced").unwrap();
    v.remove(&ROOT_LOC, b"/usr/g", false).unwrap();
    write(&v, "/usr/a/new", "new").unwrap();
    assert_ne!(dump(&v), before);
    let nodes =
        vec![given(&["usr"]), given(&["usr", "f"]), given(&["usr", "g"]), given(&["usr", "a"])];
    v.restore(Delta { totals: Default::default(), nodes }).unwrap();
    assert_eq!(dump(&v), before);
    let made = vec![(Id::Made(0), Change::Given)];
    assert_eq!(
        v.restore(Delta { totals: Totals { made: 1, ..Default::default() }, nodes: made }),
        Err(Errno::INVAL)
    );
}

#[test]
fn a_layer_has_a_limit() {
    let v = session();
    let known = v.snapshot();
    write(&v, "/tmp/a", &"l".repeat(300_000)).unwrap();
    let mut layer = Layer::default();
    let Ok(()) = between::<Infallible>(&known, &v.snapshot(), &mut |part| {
        assert!(!layer.add(part, 200_000));
        Ok(())
    });
    assert!(layer.size() > 300_000);
}
