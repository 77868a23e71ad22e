//! A commit: the state of a session after a call has returned.

use crate::blob::Blob;
use crate::delta::FileTotals;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::Root;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;
use wasibox_protocol::{FileChange, FileChangeKind};

/// The files of a session at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTree {
    pub root: Root,
    pub totals: FileTotals,
}

/// The complete state of a session between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitState {
    pub files: FileTree,
    /// The shell's state: variables, functions, options, the working directory. Only the shell
    /// interprets the bytes.
    pub shell: Blob,
    pub cells: Vec<CellRecord>,
}

/// A parked interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// The interpreter's name, for example `python`.
    pub name: String,
    /// The digest of the module that its memory belongs to. The memory fits no other module.
    pub module: Digest,
    /// The differences of its memory from the module's: layers, the lowest first, in the format of
    /// the code that parked it.
    pub memory: Vec<Blob>,
    /// Globals and open files, in the format of the same code.
    pub rest: Blob,
}

impl CellRecord {
    /// Returns all parts that are kept as values.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.memory.iter().chain([&self.rest])
    }
}

/// The record of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The command, or another description of the commit's origin.
    pub command: Blob,
    /// The command's status; `None` if the origin is not a command.
    pub exit_code: Option<u8>,
    /// The start in nanoseconds since the epoch.
    pub time: u64,
    /// The duration in nanoseconds.
    pub duration: u64,
    /// The changed files: [`ChangedPath`]s, as written by [`CallRecord::set_changed`].
    pub changed: Blob,
    /// The number of listed files.
    pub changed_count: u32,
    /// Whether the list is incomplete.
    pub changed_cut: bool,
}

/// A file or link that a call has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPath {
    pub path: ByteBuf,
    pub kind: FileChangeKind,
    /// The size in bytes after the call.
    pub size: u64,
}

impl From<&FileChange> for ChangedPath {
    fn from(change: &FileChange) -> ChangedPath {
        let path = change.path.clone().into_bytes().into();
        ChangedPath { path, kind: change.change, size: change.size }
    }
}

/// A state and its origin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// The number, counted from 1 in the order in which the session made its commits.
    pub number: u64,
    /// The number of the previous commit.
    pub parent: Option<u64>,
    pub call: CallRecord,
    pub state: CommitState,
}

/// Maximum bytes of a list of changed files.
const MAX_CHANGED: u64 = 16 << 20;

/// Maximum number of cells of a session.
const MAX_CELLS: usize = 16;

/// Maximum number of memory layers of a cell.
pub const MAX_LAYERS: usize = 256;

impl CallRecord {
    /// Stores the list of changed files.
    ///
    /// # Errors
    /// If objects cannot be written.
    pub fn set_changed(
        &mut self,
        objects: &dyn Objects,
        changed: &[ChangedPath],
        cut: bool,
    ) -> Result<(), SnapshotError> {
        let bytes =
            postcard::to_stdvec(changed).map_err(|_| SnapshotError::TooLarge("changed files"))?;
        self.changed = Blob::save_bytes(objects, &bytes)?;
        self.changed_count = u32::try_from(changed.len()).unwrap_or(u32::MAX);
        self.changed_cut = cut;
        Ok(())
    }

    /// Returns the changed files.
    ///
    /// # Errors
    /// If objects are missing or damaged.
    pub fn changed_paths(&self, objects: &dyn Objects) -> Result<Vec<ChangedPath>, SnapshotError> {
        if self.changed.is_empty() {
            return Ok(Vec::new());
        }
        let bytes = self.changed.load_bytes(objects, MAX_CHANGED)?;
        postcard::from_bytes(&bytes)
            .map_err(|_| SnapshotError::Malformed("a list of changed files"))
    }
}

impl CommitState {
    /// Returns all values apart from the files.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        std::iter::once(&self.shell).chain(self.cells.iter().flat_map(CellRecord::blobs))
    }
}

impl Commit {
    /// Returns all values apart from the files.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.state.blobs().chain([&self.call.command, &self.call.changed])
    }

    /// Encodes the commit.
    ///
    /// # Errors
    /// TooLarge if it cannot be written.
    pub fn encode(&self) -> Result<Vec<u8>, SnapshotError> {
        postcard::to_stdvec(self).map_err(|_| SnapshotError::TooLarge("a commit"))
    }

    /// Decodes a commit.
    ///
    /// # Errors
    /// If the bytes are not a commit.
    pub fn decode(bytes: &[u8]) -> Result<Commit, SnapshotError> {
        let (commit, rest) = postcard::take_from_bytes::<Commit>(bytes)
            .map_err(|_| SnapshotError::Malformed("a commit"))?;
        let cells = &commit.state.cells;
        let is_large = cells.len() > MAX_CELLS || cells.iter().any(|c| c.memory.len() > MAX_LAYERS);
        if !rest.is_empty() || is_large {
            return Err(SnapshotError::Malformed("a commit"));
        }
        if commit.number == 0 || commit.parent.is_some_and(|p| p >= commit.number) {
            return Err(SnapshotError::Malformed("a commit's number"));
        }
        commit.blobs().try_for_each(Blob::check_len)?;
        Ok(commit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the protocol's kinds keep the numbers that snapshots and stores have for them.
    #[test]
    fn kinds_of_changes_have_the_formats_numbers() {
        use FileChangeKind::{Created, Deleted, Modified};
        for (number, kind) in [(0, Created), (1, Modified), (2, Deleted)] {
            let path = ChangedPath { path: ByteBuf::from("a"), kind, size: 3 };
            assert_eq!(postcard::to_stdvec(&path).unwrap(), [1, b'a', number, 3]);
        }
    }
}
