//! Replaces a file at once: the new one is written beside it, flushed, checked, and renamed.

use crate::archive::{Archive, ZipLimits};
use crate::error::WorkspaceError;
use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The identity of a file that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    dev: u64,
    ino: u64,
    len: u64,
    changed: (i64, i64),
}

impl Stamp {
    /// Returns the stamp that identifies a file and its version.
    pub fn from_metadata(file: &std::fs::Metadata) -> Stamp {
        let changed = (file.mtime(), file.mtime_nsec());
        Stamp { dev: file.dev(), ino: file.ino(), len: file.len(), changed }
    }
}

/// A file that is locked against other sessions.
///
/// The lock is released explicitly instead of only by closing the file, because a process that
/// another thread starts meanwhile has a copy of the descriptor until it executes its program, and
/// would hold the lock for as long.
#[derive(Debug)]
pub struct FileLock(File);

impl FileLock {
    fn new(file: File, path: &Path) -> Result<FileLock, WorkspaceError> {
        match file.try_lock() {
            Ok(()) => Ok(FileLock(file)),
            Err(TryLockError::WouldBlock) => Err(WorkspaceError::Busy { path: path.to_owned() }),
            // The file system has no locks.
            Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                Ok(FileLock(file))
            }
            Err(TryLockError::Error(e)) => Err(WorkspaceError::io(path)(e)),
        }
    }
}

impl Deref for FileLock {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // A failure is ignored, because without locks there is nothing to release.
        let _ = self.0.unlock();
    }
}

/// A new file beside the one that it will replace. It is removed unless it is put in place.
#[derive(Debug)]
pub struct ReplacementFile {
    path: PathBuf,
    temporary: PathBuf,
    file: Option<File>,
}

impl ReplacementFile {
    /// Begins a new file for `path`, which need not exist; symbolic links are not followed.
    ///
    /// # Errors
    /// If its folder cannot be written.
    pub fn begin(path: &Path) -> Result<ReplacementFile, WorkspaceError> {
        let dir = parent_folder(path);
        let name = path.file_name().unwrap_or_default();
        for _ in 0..100 {
            let mut random = [0; 8];
            getrandom::fill(&mut random)
                .map_err(|e| WorkspaceError::io(path)(io::Error::other(e.to_string())))?;
            let mut temporary = OsString::from(".");
            temporary.push(name);
            temporary.push(format!(".{:016x}.new", u64::from_le_bytes(random)));
            let temporary = dir.join(temporary);
            let mut how = OpenOptions::new();
            how.read(true).write(true).create_new(true).mode(0o600);
            match how.open(&temporary) {
                Ok(file) => {
                    return Ok(ReplacementFile {
                        path: path.to_owned(),
                        temporary,
                        file: Some(file),
                    });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(WorkspaceError::io(&temporary)(e)),
            }
        }
        Err(WorkspaceError::io(path)(io::ErrorKind::AlreadyExists.into()))
    }

    fn take_file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::other("the file is in its place already"))
    }

    /// Puts the file in place, if it is a zip within the limits. Its permission bits are those of
    /// the file that it replaces, or `bits`. The file is on the disk when this returns.
    ///
    /// # Errors
    /// If it is not a valid zip, or cannot be written; the old file is then unchanged.
    pub fn put_in_place(self, limits: &ZipLimits, bits: u32) -> Result<FileLock, WorkspaceError> {
        self.commit_over(limits, bits, None)
    }

    /// Does the same as [`ReplacementFile::put_in_place`], if the replaced file still has that
    /// stamp.
    pub(crate) fn commit_over(
        mut self,
        limits: &ZipLimits,
        bits: u32,
        over: Option<Stamp>,
    ) -> Result<FileLock, WorkspaceError> {
        let file =
            self.file.take().ok_or(WorkspaceError::Operations("a file twice in its place"))?;
        let temporary = self.temporary.clone();
        let wrong = WorkspaceError::io(&temporary);
        let again = file.try_clone().map_err(&wrong)?;
        Archive::open(again, limits)?;
        let old = std::fs::symlink_metadata(&self.path).ok().filter(|m| m.is_file());
        if over.is_some() && old.as_ref().map(Stamp::from_metadata) != over {
            return Err(WorkspaceError::Conflict { path: self.path.clone() });
        }
        let bits = old.map_or(bits, |m| m.mode()) & 0o777;
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(bits);
        file.set_permissions(permissions).map_err(&wrong)?;
        file.sync_all().map_err(&wrong)?;
        let file = FileLock::new(file, &self.path)?;
        std::fs::rename(&self.temporary, &self.path).map_err(&wrong)?;
        self.temporary = PathBuf::new();
        let dir = parent_folder(&self.path);
        File::open(dir).and_then(|d| d.sync_all()).map_err(WorkspaceError::io(dir))?;
        Ok(file)
    }
}

/// Returns the folder that contains a path.
fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(dir) if !dir.as_os_str().is_empty() => dir,
        _ => Path::new("."),
    }
}

impl Write for ReplacementFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take_file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.take_file()?.flush()
    }
}

impl Read for ReplacementFile {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.take_file()?.read(out)
    }
}

impl Seek for ReplacementFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.take_file()?.seek(to)
    }
}

impl Drop for ReplacementFile {
    fn drop(&mut self) {
        if !self.temporary.as_os_str().is_empty() {
            let _ = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Creates an empty zip.
pub(crate) fn create_empty(path: &Path, limits: &ZipLimits) -> Result<FileLock, WorkspaceError> {
    let mut target = ReplacementFile::begin(path)?;
    let end = [b"PK\x05\x06".as_slice(), &[0; 18]].concat();
    target.write_all(&end).map_err(WorkspaceError::io(path))?;
    target.put_in_place(limits, 0o644)
}

/// Opens the file of a zip for reading.
///
/// # Errors
/// If it cannot be opened or is no regular file.
pub fn open_zip_file(path: &Path) -> Result<File, WorkspaceError> {
    let wrong = WorkspaceError::io(path);
    // Opening must not wait if the path is a named pipe.
    let mut how = OpenOptions::new();
    how.read(true).custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    let file = how.open(path).map_err(&wrong)?;
    if !file.metadata().map_err(&wrong)?.is_file() {
        return Err(WorkspaceError::Malformed("it is no regular file".into()));
    }
    Ok(file)
}

/// Opens a zip by the user's path; links in it are followed.
pub(crate) fn open_zip(
    path: &Path,
    limits: &ZipLimits,
) -> Result<(PathBuf, FileLock, Arc<Archive>), WorkspaceError> {
    let wrong = WorkspaceError::io(path);
    let path = std::fs::canonicalize(path).map_err(&wrong)?;
    let file = FileLock::new(open_zip_file(&path)?, &path)?;
    let archive = Archive::open(file.try_clone().map_err(&wrong)?, limits)?;
    Ok((path, file, archive))
}
