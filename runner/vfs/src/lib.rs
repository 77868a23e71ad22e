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
mod journal;
mod loc;
pub mod net;
mod node;
mod open_flags;
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
mod version;
mod vfs;
pub mod view;
pub mod walk;

pub use base::{BaseKind, Folder, FolderEntry};
pub use box_abi::{FileKind, Stat};
pub use bridge::MetaExchange;
pub use budget::{Budget, Reservation};
pub use buffer::Readiness;
pub use changes::{TreeChange, TreeChanges};
pub use content::{Blob, LazyBytes};
pub use errno::Errno;
pub use file::{StdStream, VfsFile};
pub use host::{MountError, MountSpec, ProtectedPaths};
pub use journal::{ChangeBounds, ChangeKind};
pub use loc::{Loc, StatResult};
pub use node::{GID, UID, now_ns};
pub use open_flags::OpenFlags;
pub use ops::{DirEntry, OpenResult};
pub use pipe::Pipe;
pub use proc::{ProcFile, ProcGuard, ProcNode, ProcSource, show_proc};
pub use quota::{DiskLimits, QuotaHit};
pub use service::{AnswerSlot, Asker, MAX_MESSAGE, SERVICES, Service, ServiceFile};
pub use session_state::StateFile;
pub use setup::BaseFile;
pub use stop::{StopGuard, stop_when};
pub use sync::lock_mutex;
pub use tree::{Executable, Ino, ProgramMark, ROOT};
pub use vfs::Vfs;
pub use view::{FileView, PathView, ViewDifference, ViewShape};
