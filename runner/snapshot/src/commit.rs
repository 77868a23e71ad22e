//! A commit: what a session was when a call had returned.

use crate::blob::Blob;
use crate::delta::FileTotals;
use crate::digest::Digest;
use crate::error::SnapshotError;
use crate::object::Objects;
use crate::tree::Root;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

/// The files of a session at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileTree {
    pub root: Root,
    pub totals: FileTotals,
}

/// All that a session is between two calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitState {
    pub files: FileTree,
    /// What the shell knows: variables, functions, options, the working directory. What the bytes
    /// mean is the shell's business.
    pub shell: Blob,
    pub cells: Vec<CellRecord>,
}

/// A parked interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellRecord {
    /// Which one: `python`.
    pub name: String,
    /// The digest of the module that its memory is of. It is of use with no other one.
    pub module: Digest,
    /// What its memory differs in from the module's: layers, the undermost first, in the form of whoever has
    /// parked it.
    pub memory: Vec<Blob>,
    /// Globals, open files, likewise.
    pub rest: Blob,
}

impl CellRecord {
    /// All of it that is kept as values.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.memory.iter().chain([&self.rest])
    }
}

/// What a call did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The command, or what else has made the commit.
    pub command: Blob,
    /// Its status; none for what is no command.
    pub exit_code: Option<u8>,
    /// When it began, in nanoseconds since the epoch.
    pub time: u64,
    /// How long it took, in nanoseconds.
    pub duration: u64,
    /// Files that it changed: [`ChangedPath`], as [`Call::set_changed`] has put them.
    pub changed: Blob,
    /// How many are listed.
    pub changed_count: u32,
    /// The list is not complete.
    pub changed_cut: bool,
}

/// How a path differs after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommitChangeKind {
    Created,
    Modified,
    Deleted,
}

/// A file or link that a call has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedPath {
    pub path: ByteBuf,
    pub kind: CommitChangeKind,
    /// Bytes after the call.
    pub size: u64,
}

/// A state and how it came to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    /// Counted from 1 in the order in which the session made them.
    pub number: u64,
    /// The number of the commit before it.
    pub parent: Option<u64>,
    pub call: CallRecord,
    pub state: CommitState,
}

/// Most bytes of a list of changed files.
const MAX_CHANGED: u64 = 16 << 20;

/// Most cells of a session.
const MAX_CELLS: usize = 16;

/// Most layers of the memory of one.
pub const MAX_LAYERS: usize = 256;

impl CallRecord {
    /// Writes down which files were changed.
    ///
    /// # Errors
    /// What keeps objects from being written.
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

    /// The files that were changed.
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
    /// All values beside the files.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        std::iter::once(&self.shell).chain(self.cells.iter().flat_map(CellRecord::blobs))
    }
}

impl Commit {
    /// All values beside the files.
    pub fn blobs(&self) -> impl Iterator<Item = &Blob> {
        self.state.blobs().chain([&self.call.command, &self.call.changed])
    }

    /// In bytes.
    ///
    /// # Errors
    /// TooLarge if it cannot be written.
    pub fn encode(&self) -> Result<Vec<u8>, SnapshotError> {
        postcard::to_stdvec(self).map_err(|_| SnapshotError::TooLarge("a commit"))
    }

    /// From bytes.
    ///
    /// # Errors
    /// If it is none.
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
