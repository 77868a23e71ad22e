//! A folder of the host beneath the session's changes: read when a guest accesses it, never
//! written.
//!
//! A file must be the same one that was listed, otherwise reading it fails (ESTALE): changes that
//! another program makes on the host are not mixed with the session's.

use crate::applier::errno_words;
use crate::changes::{self, OriginalEntry};
use crate::error::WorkspaceError;
use crate::lossy_path;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use wasibox_vfs::budget::Reservation;
use wasibox_vfs::delta::TreeVersion;
use wasibox_vfs::host::HostMount;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{
    BaseFile, BaseKind, Budget, Errno, FileKind, Folder, FolderEntry, LazyBytes, MountSpec,
    OpenFlags, ProtectedPaths, Stat,
};

/// Maximum number of unreadable paths that are reported.
const PROBLEMS: usize = 100;

/// A folder of the host for a folder of a session.
#[derive(Clone, Debug)]
pub struct Overlay {
    mount: Arc<HostMount>,
    at: String,
    problems: Arc<Mutex<Vec<(String, Errno)>>>,
}

/// Opens the folder as host mounts are opened.
pub(crate) fn mount_folder(
    dir: &Path,
    writable: bool,
    protected: &ProtectedPaths,
) -> Result<HostMount, WorkspaceError> {
    let guest = "/".to_owned();
    let spec = MountSpec { host: dir.to_owned(), guest, writable, quota: None };
    let mount = HostMount::open(&spec, 0, 0, protected)?;
    if mount.kind != FileKind::Dir {
        let source = std::io::ErrorKind::NotADirectory.into();
        return Err(WorkspaceError::Io { path: dir.to_owned(), source });
    }
    Ok(mount)
}

impl Overlay {
    /// Opens the host's folder `dir` for the folder `at` of a session, for example `/work`.
    /// `protected` paths are not shown, as in mounts.
    ///
    /// # Errors
    /// If it is not a folder that may be mounted.
    pub fn open(
        dir: &Path,
        at: &str,
        protected: &ProtectedPaths,
    ) -> Result<Overlay, WorkspaceError> {
        crate::archive::workspace_path(at)?;
        let mount = Arc::new(mount_folder(dir, false, protected)?);
        Ok(Overlay { mount, at: at.to_owned(), problems: Arc::default() })
    }

    /// Returns the folder for [`wasibox_vfs::Vfs::new`].
    ///
    /// # Errors
    /// If the host's folder is gone.
    pub fn base_folder(&self) -> Result<BaseFile, WorkspaceError> {
        let stat = self
            .mount
            .stat(b"")
            .map_err(|errno| WorkspaceError::Host { path: ".".into(), errno })?;
        let dir = OverlayDir { overlay: self.clone(), rel: Vec::new() };
        Ok(BaseFile {
            path: self.at.clone().into_bytes(),
            // The host's permission bits do not restrict a session in its own tree.
            mode: stat.mode | 0o700,
            time: stat.mtime,
            kind: BaseKind::Dir(Arc::new(dir)),
        })
    }

    /// Returns the entry that the host had at a path of the folder when the session began.
    pub fn original_at(&self, snapshot: &TreeVersion, path: &[u8]) -> OriginalEntry {
        changes::original_entry(&snapshot.original_view(&join_path(self.guest_path(), path)))
    }

    /// Returns the reason why the host's entry at a path is no longer the original one, or `None`
    /// if it still is.
    pub fn changed_since(&self, path: &[u8], was: &OriginalEntry) -> Option<&'static str> {
        is_still(&self.mount, path, was).err()
    }

    /// Returns the folder's path in the session.
    pub(crate) fn guest_path(&self) -> &[u8] {
        self.at.as_bytes()
    }

    /// Returns the paths of the host that could not be listed, with the errors.
    pub fn listing_problems(&self) -> Vec<(String, Errno)> {
        lock_mutex(&self.problems).clone()
    }

    fn note_problem(&self, path: &[u8], errno: Errno) {
        let mut problems = lock_mutex(&self.problems);
        if problems.len() < PROBLEMS {
            problems.push((lossy_path(path), errno));
        }
    }
}

/// Checks that the host's entry at a path is the original one; the error is the reason why not.
pub(crate) fn is_still(
    mount: &HostMount,
    path: &[u8],
    was: &OriginalEntry,
) -> Result<(), &'static str> {
    let now = match mount.stat(path) {
        Ok(stat) => Some(stat),
        Err(Errno::NOENT | Errno::NOTDIR) => None,
        Err(e) => return Err(errno_words(e)),
    };
    let same = match (was, &now) {
        (OriginalEntry::Nothing, None) => true,
        (OriginalEntry::Dir, Some(s)) => s.kind == FileKind::Dir,
        (OriginalEntry::File { ino, size, mtime }, Some(s)) => {
            s.kind == FileKind::File && (s.ino, s.size, s.mtime) == (*ino, *size, *mtime)
        }
        (OriginalEntry::Link(target), Some(s)) => {
            s.kind == FileKind::Symlink
                && mount.read_link(path).is_ok_and(|t| t.as_slice() == target.as_slice())
        }
        _ => false,
    };
    match (same, was, now) {
        (true, ..) => Ok(()),
        (_, OriginalEntry::Nothing, _) => Err("the host has something of this name by now"),
        (_, _, None) => Err("it is gone on the host"),
        _ => Err("it was changed on the host meanwhile"),
    }
}

/// Returns `dir/name`.
pub(crate) fn join_path(dir: &[u8], name: &[u8]) -> Vec<u8> {
    if dir.is_empty() { name.to_vec() } else { [dir, b"/", name].concat() }
}

/// A directory of the host.
struct OverlayDir {
    overlay: Overlay,
    rel: Vec<u8>,
}

impl Folder for OverlayDir {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let mount = &self.overlay.mount;
        let listed = match mount.list(&self.rel) {
            Ok(listed) => listed,
            // The session sees an empty directory, and the error is kept for `listing_problems`.
            Err(e) => {
                self.overlay.note_problem(&self.rel, e);
                return Ok(Vec::new());
            }
        };
        let mut out = Vec::with_capacity(listed.len());
        for (name, _, _) in listed {
            let rel = join_path(&self.rel, &name);
            let stat = match mount.stat(&rel) {
                Ok(stat) => stat,
                Err(e) => {
                    self.overlay.note_problem(&rel, e);
                    continue;
                }
            };
            let kind = match stat.kind {
                FileKind::Dir => {
                    BaseKind::Dir(Arc::new(OverlayDir { overlay: self.overlay.clone(), rel }))
                }
                FileKind::File => {
                    let (mount, kept) = (mount.clone(), Mutex::default());
                    BaseKind::Lazy(Arc::new(OverlayFile { mount, rel, stat, kept }))
                }
                FileKind::Symlink => match mount.read_link(&rel) {
                    Ok(target) => BaseKind::Symlink(target),
                    Err(e) => {
                        self.overlay.note_problem(&rel, e);
                        continue;
                    }
                },
                // A pipe or a device is left out, because its use would affect the host.
                _ => continue,
            };
            out.push(FolderEntry { name, mode: stat.mode & 0o777, time: stat.mtime, kind });
        }
        Ok(out)
    }
}

/// A file of the host, as it was listed.
pub(crate) struct OverlayFile {
    mount: Arc<HostMount>,
    rel: Vec<u8>,
    pub stat: Stat,
    /// All its bytes, once it was opened for writing, so that a write does not wait for the host.
    kept: Mutex<Option<(Vec<u8>, Reservation)>>,
}

impl OverlayFile {
    /// Opens the file, if it is the one that was listed.
    fn open_listed(&self) -> Result<File, Errno> {
        let read = OpenFlags { read: true, ..OpenFlags::default() };
        let fd = self.mount.open_existing(&self.rel, read)?;
        let now = self.mount.fd_stat(&fd)?;
        let known = |s: &Stat| (s.ino, s.size, s.mtime);
        if known(&now) != known(&self.stat) {
            return Err(Errno::STALE);
        }
        Ok(File::from(fd))
    }
}

impl LazyBytes for OverlayFile {
    fn len(&self) -> u64 {
        self.stat.size
    }

    fn make_ready(&self, budget: &Arc<Budget>, whole: bool) -> Result<(), Errno> {
        let mut kept = lock_mutex(&self.kept);
        if kept.is_some() {
            return Ok(());
        }
        let file = self.open_listed()?;
        if !whole {
            return Ok(());
        }
        let held = budget.reserve_bytes(self.stat.size + 256).ok_or(Errno::NOMEM)?;
        let mut bytes = vec![0; usize::try_from(self.stat.size).map_err(|_| Errno::NOMEM)?];
        file.read_exact_at(&mut bytes, 0)?;
        *kept = Some((bytes, held));
        Ok(())
    }

    fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        if let Some((bytes, _)) = &*lock_mutex(&self.kept) {
            let rest = usize::try_from(off).ok().and_then(|off| bytes.get(off..)).unwrap_or(&[]);
            let n = rest.len().min(buf.len());
            buf[..n].copy_from_slice(&rest[..n]);
            return Ok(n);
        }
        Ok(self.open_listed()?.read_at(buf, off)?)
    }
}
