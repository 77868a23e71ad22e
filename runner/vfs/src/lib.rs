//! The session's file system: everything that a guest can name by a path.
//!
//! # Stages
//! 1. [`Vfs::new`] builds the tree: the image's files (zero-copy from the mapped image, each
//!    directory on first access: [`base`]), `/dev`, the writable homes, and one directory per host
//!    mount.
//! 2. A path operation resolves its path once ([`walk`]) to a [`Loc`]: a node of the tree, a place
//!    below a host mount, or a device node. Symbolic links are always followed in the *guest's*
//!    name space, by this crate, never by the host.
//! 3. The operation acts on the [`Loc`] ([`ops`], `entries`); opening returns a [`VfsFile`], whose
//!    reads and writes never block: a pipe that is not ready returns [`Errno::AGAIN`] and the
//!    caller waits by [`VfsFile::watch`].
//!
//! # Invariants
//! - Nodes are immutable and reference-counted; a write copies the parts that it changes ([`tree`],
//!   [`content`]). A clone of the [`tree::NodeTree`] is a version of it that can be kept, and
//!   [`changes`] compares two of them.
//! - Every byte and every name that the guest stores is charged to the quota before it is stored
//!   ([`quota`]); past it the guest sees ENOSPC. The host memory for them, kept versions included,
//!   is held from the session's [`budget`].
//! - A host path is only ever reached from an open descriptor of its mount, with `RESOLVE_BENEATH |
//!   RESOLVE_NO_SYMLINKS` or an equivalent walk ([`host`]): `..`, symbolic links and races cannot
//!   leave the mount.
//! - The tree is never locked during a host call: a mount that hangs delays only its callers. A
//!   process that was killed leaves a long walk ([`stop`]).
//! - No operation panics on guest input.
//!
//! # Hosts
//! The crate builds for Linux and for wasm32-wasip1-threads (a browser's kernel). Without a host
//! file system, [`host::HostMount`] is a type without values: its code cannot be reached, and
//! [`Vfs::new`] refuses mounts ([`MountError::Absent`]).
//!
//! # Deliberately absent
//! Access times are not updated by reads (as with `noatime`). Ownership is single-user: every node
//! belongs to uid and gid 1000 and only the owner's mode bits count.
#![forbid(unsafe_code)]

pub mod around;
pub mod base;
pub mod bridge;
pub mod budget;
mod buffer;
pub mod changes;
pub mod content;
pub mod delta;
pub mod device;
mod entries;
pub mod errno;
mod fifos;
pub mod file;
pub mod host;
pub mod host_path;
pub mod net;
mod node;
pub mod ops;
pub mod pipe;
pub mod proc;
pub mod quota;
mod service;
mod session_state;
pub mod setup;
pub mod stop;
mod sync;
pub mod terminal;
pub mod tree;
pub mod view;
pub mod walk;

pub use base::{BaseKind, Folder, FolderEntry};
pub use box_abi::{FileKind, Stat};
pub use bridge::MetaExchange;
pub use budget::{Budget, Reservation};
pub use changes::{ChangeBounds, ChangeKind, TreeChange, TreeChanges};
pub use content::{Blob, LazyBytes};
pub use errno::Errno;
pub use file::{Readiness, StdStream, VfsFile};
pub use host::{MountError, ProtectedPaths};
pub use ops::{DirEntry, OpenFlags, OpenResult, StatResult};
pub use pipe::Pipe;
pub use proc::{ProcFile, ProcGuard, ProcNode, ProcSource, show_proc};
pub use quota::{DiskLimits, QuotaHit};
pub use service::{AnswerSlot, Asker, MAX_MESSAGE, SERVICES, Service, ServiceFile};
pub use session_state::StateFile;
pub use setup::{BaseFile, MountSpec};
pub use stop::{StopGuard, stop_when};
pub use sync::lock_mutex;
pub use tree::{Executable, Ino, ProgramMark, ROOT};
pub use view::{FileView, PathView, ViewDifference, ViewShape};
pub use walk::Loc;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The one user of a session.
pub const UID: u32 = 1000;
/// The one group of a session.
pub const GID: u32 = 1000;

/// A session's file system. Clones share it.
#[derive(Clone, Debug)]
pub struct Vfs {
    pub(crate) shared: Arc<VfsInner>,
}

#[derive(Debug)]
pub(crate) struct VfsInner {
    pub(crate) state: RwLock<tree::TreeState>,
    pub(crate) budget: Arc<Budget>,
    /// The tree as the session began.
    pub(crate) origin: Arc<delta::TreeOrigin>,
    pub(crate) mounts: Vec<host::HostMount>,
    pub(crate) host_files: host::OpenFiles,
    pub(crate) pipes: pipe::Pipes,
    pub(crate) network: net::LoopbackNetwork,
    pub(crate) terminals: terminal::Terminals,
    pub(crate) session_state: session_state::SessionState,
    pub(crate) service: service::ServedNodes,
    /// Whether `/.box/code-from-strings` is missing.
    pub(crate) forbids_code: AtomicBool,
    pub(crate) host_changes: changes::HostJournal,
    /// The directory `/proc`.
    pub(crate) proc: Ino,
    pub(crate) began: std::time::Instant,
}

impl Vfs {
    /// Locks the tree for reading. Poison is ignored: a panic under the lock is a bug of ours, the
    /// tree is consistent between statements, and a second panic in every other guest process would
    /// only hide the first.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, tree::TreeState> {
        self.shared.state.read().unwrap_or_else(|e| e.into_inner())
    }

    /// Removes the node `/.box/code-from-strings`, without which the image's JavaScript makes no
    /// code of strings. Guests can create no file in its directory, and a guest that cannot access
    /// the directory is refused as well.
    pub fn forbid_code_from_strings(&self) {
        self.shared.forbids_code.store(true, Ordering::Relaxed);
    }

    pub(crate) fn allows_code_from_strings(&self) -> bool {
        !self.shared.forbids_code.load(Ordering::Relaxed)
    }

    /// Returns the first damage of the image that was found.
    pub fn damage(&self) -> Option<String> {
        self.read().tree.base().first_damage().map(str::to_owned)
    }

    /// Returns the file limit by which an operation was refused since the last call.
    pub fn take_hit(&self) -> Option<QuotaHit> {
        let own = self.write().quota.hit.take();
        let mounts = self.shared.mounts.iter().filter_map(host::HostMount::hit);
        // No mount is skipped, because each call resets the mount's state.
        let mount = mounts.fold(None, |first: Option<QuotaHit>, hit| first.or(Some(hit)));
        let pipes = self.shared.pipes.was_full().then_some(QuotaHit::Pipes);
        own.or(mount).or(pipes)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, tree::TreeState> {
        self.shared.state.write().unwrap_or_else(|e| e.into_inner())
    }
}

/// Returns nanoseconds since the epoch.
pub fn now_ns() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
}
