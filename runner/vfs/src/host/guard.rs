//! The parts of the host that a mount must not show, even if the host has placed them inside the
//! mounted folder.
//!
//! There are two kinds: files of the runner itself ([`ProtectedPaths`]: the image, and the folder
//! of machine code, which the host runs without further checks), and file systems whose files act
//! on the host when they are read or written (`/proc`, `/sys`, `/dev`).
//!
//! A directory can be reached under several names. So protected files are identified by device and
//! number, and a walk checks each directory on its way. The checks are necessary only where a
//! protected file can be: in a mount that contains it in the same file system, which the kernel's
//! table of mounts shows, or behind another mount of the host, which one call can refuse to enter.

use super::{ProtectedPaths, system};
use rustix::fs::{self, Mode, OFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// A file or directory, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ident {
    pub dev: u64,
    pub ino: u64,
}

impl Ident {
    /// Returns the identity of a file from its metadata.
    #[allow(clippy::unnecessary_cast)]
    pub fn from_stat(s: &fs::Stat) -> Ident {
        // Signed on some systems; it is only compared.
        Ident { dev: s.st_dev as u64, ino: s.st_ino }
    }

    fn from_path(path: &Path) -> Option<Ident> {
        fs::stat(path).ok().map(|s| Ident::from_stat(&s))
    }
}

/// The files that one mount hides.
#[derive(Debug, Default)]
pub(crate) struct MountGuard {
    hidden: Vec<Ident>,
    /// The same files by name, in directories of this mount, because they may be created later.
    named: Vec<(Ident, Vec<u8>)>,
    /// Directories above them, which must keep their names.
    pinned: Vec<Ident>,
    /// Whether a protected file may be below, so that every directory on the way must be checked.
    pub every_step: bool,
}

impl MountGuard {
    /// Finds the files of `protected` that a mount of the host path `host`, opened as `root`, must
    /// hide. Fails with the protected path if the mount is that path or lies in it.
    pub fn new(
        host: &Path,
        root: &OwnedFd,
        protected: &ProtectedPaths,
    ) -> Result<MountGuard, PathBuf> {
        let mut guard = MountGuard::default();
        if protected.paths.is_empty() {
            return Ok(guard);
        }
        guard.every_step = system::LOOK_ALWAYS;
        let table = Mounts::read();
        let host = real_path(host);
        let above = root_ancestors(root);
        for path in &protected.paths {
            let path = real_path(path);
            let ident = Ident::from_path(&path);
            let within = path_inside(&table, &host, &path).is_some()
                || ident.is_some_and(|i| above.contains(&i));
            if within {
                return Err(path);
            }
            guard.hidden.extend(ident);
            let Some(below) = path_inside(&table, &path, &host) else { continue };
            guard.every_step = true;
            // The mount may have other names for the directories above; their numbers are the same.
            // Of path components that do not exist yet, the first is hidden.
            let mut at = path.as_path();
            let mut named = false;
            for _ in below.components() {
                let (Some(up), Some(name)) = (at.parent(), at.file_name()) else { break };
                if let Some(ident) = Ident::from_path(up) {
                    if !named {
                        guard.named.push((ident, name.as_bytes().to_vec()));
                    }
                    named = true;
                    guard.pinned.push(ident);
                }
                at = up;
            }
        }
        Ok(guard)
    }

    /// Returns whether the file or directory is protected.
    pub fn is_hidden(&self, ident: Ident) -> bool {
        self.hidden.contains(&ident)
    }

    /// Returns whether that name in that directory is protected, even if it does not exist.
    pub fn hides_name(&self, dir: Ident, name: &[u8]) -> bool {
        self.named.iter().any(|(d, n)| *d == dir && system::same_name(n, name))
    }

    /// Returns whether the directory must keep its name.
    pub fn is_pinned(&self, ident: Ident) -> bool {
        self.pinned.contains(&ident)
    }
}

/// Returns the directories from `root` upwards, itself included.
fn root_ancestors(root: &OwnedFd) -> Vec<Ident> {
    let mut out = Vec::new();
    let Ok(stat) = fs::fstat(root) else { return out };
    out.push(Ident::from_stat(&stat));
    let flags = system::REACH | OFlags::CLOEXEC;
    let mut at = fs::openat(root, "..", flags, Mode::empty()).ok();
    while let Some(dir) = at.take() {
        let Ok(stat) = fs::fstat(&dir) else { break };
        let ident = Ident::from_stat(&stat);
        if out.contains(&ident) {
            break;
        }
        out.push(ident);
        at = fs::openat(&dir, "..", flags, Mode::empty()).ok();
    }
    out
}

/// Returns the path without links and dots, as far as it exists.
fn real_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.into());
    let mut rest = Vec::new();
    let mut at = path.as_path();
    loop {
        if let Ok(real) = at.canonicalize() {
            return rest.iter().rev().fold(real, |p, name| p.join(name));
        }
        let (Some(up), Some(name)) = (at.parent(), at.file_name()) else { return path };
        rest.push(name.to_owned());
        at = up;
    }
}

/// The kernel's table of mounts: device, path within it, and the path where it is attached.
struct Mounts(Vec<(Vec<u8>, PathBuf, PathBuf)>);

impl Mounts {
    fn read() -> Option<Mounts> {
        let text = std::fs::read("/proc/self/mountinfo").ok()?;
        let line = |l: &[u8]| {
            let mut words = l.split(|b| *b == b' ').skip(2);
            let (dev, root, at) = (words.next()?, words.next()?, words.next()?);
            Some((dev.to_vec(), unescape_mount(root), unescape_mount(at)))
        };
        Some(Mounts(text.split(|b| *b == b'\n').filter_map(line).collect()))
    }

    /// Returns the device of a path, and the path within that device's file system.
    fn mount_origin(&self, path: &Path) -> Option<(&[u8], PathBuf)> {
        let found = self.0.iter().enumerate().filter(|(_, (.., at))| path.starts_with(at));
        let (_, (dev, root, at)) =
            found.max_by_key(|(i, (.., at))| (at.components().count(), *i))?;
        Some((dev, root.join(path.strip_prefix(at).ok()?)))
    }
}

/// Decodes `\040` and similar escapes.
fn unescape_mount(word: &[u8]) -> PathBuf {
    let mut out = Vec::new();
    let mut rest = word;
    while let Some((b, more)) = rest.split_first() {
        let code = (*b == b'\\' && more.len() >= 3)
            .then(|| std::str::from_utf8(&more[..3]).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(code.unwrap_or(*b));
        rest = if code.is_some() { &more[3..] } else { more };
    }
    std::ffi::OsString::from_vec(out).into()
}

/// Returns the path from directory `dir` to `path` if `path` is in it or equal to it, under any
/// name.
fn path_inside(table: &Option<Mounts>, path: &Path, dir: &Path) -> Option<PathBuf> {
    if let Ok(rest) = path.strip_prefix(dir) {
        return Some(rest.into());
    }
    let Some(table) = table else { return by_number(path, dir) };
    let ((a, path), (b, dir)) = (table.mount_origin(path)?, table.mount_origin(dir)?);
    (a == b).then(|| path.strip_prefix(&dir).ok().map(Path::to_path_buf)).flatten()
}

/// Does the same as [`path_inside`] without a table: finds the first directory above `path` that is
/// `dir`, under any name.
fn by_number(path: &Path, dir: &Path) -> Option<PathBuf> {
    let wanted = Ident::from_path(dir)?;
    let found = path.ancestors().find(|above| Ident::from_path(above) == Some(wanted))?;
    path.strip_prefix(found).ok().map(Path::to_path_buf)
}

/// Returns whether the file system of an open file of device `dev` belongs to the kernel.
pub(crate) fn is_kernels(fd: impl AsFd, dev: u64) -> bool {
    system::is_kernels(fd) || is_kernels_device(dev)
}

/// Returns whether that is the device of `/dev`, which on Linux has the type of a tmpfs.
pub(crate) fn is_kernels_device(dev: u64) -> bool {
    let device = |path: &str| Ident::from_path(Path::new(path)).map(|ident| ident.dev);
    device("/dev").is_some_and(|d| d == dev && device("/").is_some_and(|root| root != d))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_found_under_another_name() {
        let m = |dev: &str, root: &str, at: &str| (dev.into(), root.into(), at.into());
        let table = Some(Mounts(vec![
            m("8:1", "/", "/"),
            m("8:2", "/", "/home"),
            m("8:2", "/u/.cache", "/var/cache"),
            m("8:1", "/srv", "/mnt/a b"),
        ]));
        let inside = |p: &str, d: &str| path_inside(&table, Path::new(p), Path::new(d));
        assert_eq!(inside("/var/cache/w", "/home/u"), Some(".cache/w".into()));
        assert_eq!(inside("/home/u/.cache/w/k", "/var/cache/w"), Some("k".into()));
        assert_eq!(inside("/srv/x", "/mnt/a b"), Some("x".into()));
        assert_eq!(inside("/home/v", "/var/cache"), None);
        assert_eq!(inside("/home/u", "/home/u"), Some("".into()));
        assert_eq!(unescape_mount(br"/mnt/a\040b"), PathBuf::from("/mnt/a b"));
    }

    #[test]
    fn without_a_table_directories_are_known_by_number() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tmp.path().join("home/cache")).unwrap();
        let (home, other) = (tmp.path().join("home"), tmp.path().join("other"));
        std::os::unix::fs::symlink(&home, &other).unwrap();
        assert_eq!(path_inside(&None, &home.join("cache/key"), &other), Some("cache/key".into()));
        assert_eq!(path_inside(&None, &home, &other), Some("".into()));
        assert_eq!(path_inside(&None, tmp.path(), &other), None);
        assert_eq!(path_inside(&None, &home.join("x"), &home.join("cache")), None);
    }
}
