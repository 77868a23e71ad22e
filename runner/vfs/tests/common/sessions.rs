//! Sessions on a small image, random operations on them, and a description of their whole state.

use super::*;
use wasibox_vfs::{BaseFile, BaseKind, FileKind, Folder, FolderEntry};

/// `depth` levels of directories `a` and `b`, each with files `f` of 100 bytes and `g` of 70,000.
pub struct Deep(pub usize);

impl Folder for Deep {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let entry = |name: &str, mode, kind| FolderEntry { name: name.into(), mode, time: 5, kind };
        let file = |n: usize| BaseKind::File { bytes: Arc::new(vec![n as u8; n]), program: None };
        let mut out = vec![entry("f", 0o644, file(100)), entry("g", 0o600, file(70_000))];
        for name in ["a", "b"].iter().filter(|_| self.0 > 0) {
            out.push(entry(name, 0o755, BaseKind::Dir(Arc::new(Deep(self.0 - 1)))));
        }
        Ok(out)
    }
}

/// Returns the files of the image.
pub fn image() -> [BaseFile; 2] {
    let kind = BaseKind::Dir(Arc::new(Deep(3)));
    let usr = BaseFile { path: b"/usr".to_vec(), mode: 0o755, time: 5, kind };
    let kind = BaseKind::File { bytes: Arc::new(b"program".to_vec()), program: None };
    [usr, BaseFile { path: b"/bin/sh".to_vec(), mode: 0o755, time: 5, kind }]
}

/// Directories that a session has from its beginning, although its image lacks them.
const BEGINNING: &[&str] = &[
    "/bin",
    "/etc",
    "/home",
    "/home/user",
    "/mnt",
    "/mnt/input",
    "/output",
    "/tmp",
    "/usr",
    "/usr/bin",
    "/usr/local",
    "/usr/local/bin",
    "/var",
    "/var/tmp",
];

/// Describes all files, by path.
pub fn dump(v: &Vfs) -> Vec<String> {
    let mut out = vec![format!("{:?}", v.tree_version().quota())];
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
                FileKind::File => {
                    format!("{:x}", digest(&read_bytes(v, &path).unwrap_or_default()))
                }
                FileKind::Symlink => format!("{:?}", v.read_link(&ROOT_LOC, path.as_bytes())),
                _ => String::new(),
            };
            // The directories that a session begins with have the time at which it began.
            let own = BEGINNING.contains(&path.as_str());
            let times = if own { Default::default() } else { (s.atime, s.mtime, s.ctime) };
            let (kind, mode) = (s.kind, s.mode);
            out.push(format!("{path} {kind:?} {mode:o} {} {} {times:?} {what}", s.nlink, s.size));
        }
    }
    out.sort();
    out
}

fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(14695981039346656037, |h, b| (h ^ u64::from(*b)).wrapping_mul(1099511628211))
}

pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
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

    /// Performs a random operation; most of them are refused.
    pub fn act(&mut self, v: &Vfs) -> Result<(), Errno> {
        let (one, two) = (self.path(), self.path());
        let (a, b) = (one.as_bytes(), two.as_bytes());
        match self.below(12) {
            0..3 => {
                let truncate = self.below(2) == 0;
                let file = open(v, &one, OpenFlags { truncate, ..WRITE })?;
                let size = [100, 3000, 200_000][self.below(3) as usize];
                let bytes = vec![self.below(256) as u8; self.below(size) as usize];
                file.write(self.below(size), false, &bytes).map(drop)
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
