//! Files by name, as the shell uses them: a trait, so that effects can be passed in. It returns
//! open files, which are read and written without the trait.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::path;

/// An entry of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderItem {
    /// The bytes of the name.
    pub name: Vec<u8>,
    /// Whether it is a directory; `None` for a symbolic link and where the system does not report
    /// the kind.
    pub is_dir: Option<bool>,
}

/// The file system that this program uses. Methods that are not overridden use the process's.
pub trait FileSystem {
    /// Opens a file.
    ///
    /// # Errors
    /// Those of `open(2)`.
    fn open(&self, path: &Path, how: &OpenOptions) -> io::Result<File> {
        how.open(path)
    }

    /// Reads a whole file of at most `limit` bytes, because `/dev/zero` has no end.
    ///
    /// # Errors
    /// Those of `open(2)` and `read(2)`, and an error for a longer file.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenOptions::new().read(true))?;
        let mut out = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut out)?;
        if out.len() as u64 > limit {
            return Err(io::Error::other("File too large"));
        }
        Ok(out)
    }

    /// Returns the entries of a directory, in no particular order.
    ///
    /// # Errors
    /// Those of `opendir(3)`.
    fn read_dir(&self, dir: &Path) -> io::Result<Vec<FolderItem>> {
        let entry = |e: std::fs::DirEntry| {
            let kind = e.file_type().ok().filter(|t| !t.is_symlink());
            FolderItem {
                name: path::os_bytes(&e.file_name()).to_vec(),
                is_dir: kind.map(|t| t.is_dir()),
            }
        };
        Ok(std::fs::read_dir(dir)?.flatten().map(entry).collect())
    }

    /// Removes a file.
    ///
    /// # Errors
    /// Those of `unlink(2)`.
    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    /// Returns the path without symbolic links, `.` and `..`.
    ///
    /// # Errors
    /// Those of `realpath(3)`.
    fn real_path(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::canonicalize(path)
    }
}
