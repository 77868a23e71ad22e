//! The errors of workspaces.

use std::path::PathBuf;
use wasibox_vfs::{Errno, MountError};

/// The reason why a workspace cannot be opened or saved.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    /// The file is not a zip, or is damaged.
    #[error("not a zip that can be read: {0}")]
    Malformed(String),
    #[error("the zip's entry '{name}' is refused: {why}")]
    Entry { name: String, why: &'static str },
    #[error("{what} {have}, but at most {most} are allowed")]
    TooLarge { what: &'static str, have: u64, most: u64 },
    #[error("{path} is in use by another session")]
    Busy { path: PathBuf },
    #[error("{path} was changed by another program since it was read; that version is kept")]
    Conflict { path: PathBuf },
    #[error("a workspace must be at an absolute path below the root, without `.` and `..`: {0}")]
    Place(String),
    #[error(transparent)]
    Folder(#[from] MountError),
    /// A file of the session cannot be read.
    #[error("cannot read {path} in the session: {errno}")]
    Session { path: String, errno: Errno },
    #[error("cannot write {path} in the folder: {errno}")]
    Host { path: String, errno: Errno },
    #[error("cannot write the zip: {0}")]
    Write(String),
    /// Operations that no session of this program emits, so the worker is hostile.
    #[error("invalid operations: {0}")]
    Operations(&'static str),
}

impl WorkspaceError {
    pub(crate) fn io(path: &std::path::Path) -> impl Fn(std::io::Error) -> WorkspaceError + '_ {
        move |source| WorkspaceError::Io { path: path.to_owned(), source }
    }
}

impl From<Errno> for WorkspaceError {
    fn from(errno: Errno) -> WorkspaceError {
        WorkspaceError::Session { path: "the workspace".to_owned(), errno }
    }
}

impl From<zip::result::ZipError> for WorkspaceError {
    fn from(e: zip::result::ZipError) -> WorkspaceError {
        WorkspaceError::Malformed(e.to_string())
    }
}
