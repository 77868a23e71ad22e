//! A zip as a workspace in one process: it is read, and saved after each call that has changed it.

use crate::archive::{Archive, ZipLimits};
use crate::error::WorkspaceError;
use crate::kept::KeepBase;
use crate::target::{self, FileLock, ReplacementFile, Stamp};
use crate::write::ZipReport;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wasibox_vfs::delta::TreeVersion;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{BaseFile, Vfs};

/// A zip that is a folder of a session.
#[derive(Debug)]
pub struct ZipWorkspace {
    path: PathBuf,
    at: String,
    archive: Arc<Archive>,
    /// The file that is in place now, locked against other sessions, and its stamp.
    now: Mutex<(FileLock, Stamp)>,
}

impl ZipWorkspace {
    /// Opens the zip at `path` for the folder `at`, for example `/work`; with `create` an empty one
    /// is created if it does not exist.
    ///
    /// # Errors
    /// If it is not a valid zip, cannot be read, or is in use by another session.
    pub fn open(
        path: &Path,
        at: &str,
        create: bool,
        limits: &ZipLimits,
    ) -> Result<ZipWorkspace, WorkspaceError> {
        if create && std::fs::symlink_metadata(path).is_err() {
            drop(target::create_empty(path, limits)?);
        }
        let (path, file, archive) = target::open_zip(path, limits)?;
        let stamp = Stamp::from_metadata(&file.metadata().map_err(WorkspaceError::io(&path))?);
        crate::archive::workspace_path(at)?;
        Ok(ZipWorkspace { path, at: at.to_owned(), archive, now: Mutex::new((file, stamp)) })
    }

    /// Returns the folder for [`Vfs::new`].
    ///
    /// # Errors
    /// It never fails, because [`ZipWorkspace::open`] has checked the path.
    pub fn base_folder(&self) -> Result<BaseFile, WorkspaceError> {
        self.archive.base_folder(&self.at)
    }

    /// Returns the folder with which the first session began: see [`Archive::original_folder`].
    ///
    /// # Errors
    /// It never fails, because [`ZipWorkspace::open`] has checked the path.
    pub fn original_folder(&self) -> Result<Option<BaseFile>, WorkspaceError> {
        self.archive.original_folder(&self.at)
    }

    /// Returns the zip as it was when the session began.
    pub fn archive(&self) -> &Arc<Archive> {
        &self.archive
    }

    /// Returns the zip's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a file of the host's folder in the zip, as it was when the session began.
    ///
    /// # Errors
    /// If it is larger than `most` or damaged.
    pub fn hidden_file(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, WorkspaceError> {
        self.archive.hidden_file(name, most)
    }

    /// Replaces the zip by the folder's current state. It is on the disk when this returns.
    ///
    /// # Errors
    /// If it cannot be written, or another program has changed it; the zip is then unchanged.
    pub fn save(
        &self,
        vfs: &Vfs,
        hidden: &[(&str, &[u8])],
        keep: KeepBase,
    ) -> Result<ZipReport, WorkspaceError> {
        self.save_snapshot(&vfs.tree_version(), hidden, keep)
    }

    /// Does the same as [`ZipWorkspace::save`] for an earlier state of the files.
    ///
    /// # Errors
    /// The same as [`ZipWorkspace::save`].
    pub fn save_snapshot(
        &self,
        snapshot: &TreeVersion,
        hidden: &[(&str, &[u8])],
        keep: KeepBase,
    ) -> Result<ZipReport, WorkspaceError> {
        let mut now = lock_mutex(&self.now);
        let mut target = ReplacementFile::begin(&self.path)?;
        let buffered = std::io::BufWriter::with_capacity(1 << 20, &mut target);
        let saved = self.archive.write(snapshot, &self.at, hidden, keep, buffered)?;
        let file = target.commit_over(self.archive.limits(), 0o644, Some(now.1))?;
        let stamp = Stamp::from_metadata(&file.metadata().map_err(WorkspaceError::io(&self.path))?);
        *now = (file, stamp);
        Ok(saved)
    }
}
