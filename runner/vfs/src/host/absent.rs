//! The types of host mounts on a platform without a host file system. They have no values, so their
//! methods are never called; [`HostMount::open`] always fails.

use super::{MountError, MountSpec, ProtectedPaths};
use crate::errno::Errno;
use crate::node::Ino;
use crate::open_flags::OpenFlags;
use crate::quota::QuotaHit;
use box_abi::{FileKind, Stat};

/// An open file of the host; a type without values.
#[derive(Debug)]
pub enum Handle {}

/// A host directory or file in the guest's name space; a type without values.
#[derive(Debug)]
pub struct HostMount {
    /// The file type of the mount's root.
    pub kind: FileKind,
    /// Whether the guest may change files below it.
    pub writable: bool,
    /// The node that the mount is attached to.
    pub at: Ino,
    never: Handle,
}

type MountResult<T> = Result<T, Errno>;

/// Returns the maximum number of files that this process may have open.
pub(crate) fn most_open() -> Option<u64> {
    Some(0)
}

pub(crate) fn read_at(file: &Handle, _: &mut [u8], _: u64) -> MountResult<usize> {
    match *file {}
}

pub(crate) fn sync(file: &Handle) -> MountResult<()> {
    match *file {}
}

impl HostMount {
    /// Returns [`MountError::Absent`].
    pub fn open(
        spec: &MountSpec,
        _: Ino,
        _: usize,
        _: &ProtectedPaths,
    ) -> Result<HostMount, MountError> {
        Err(MountError::Absent { host: spec.host.clone() })
    }

    pub(crate) fn cap_length(&mut self, _: u64) {
        match self.never {}
    }
}

/// Defines methods of [`HostMount`] that cannot be called, because the type has no values.
macro_rules! never {
    ($($name:ident($($arg:ty),*) -> $result:ty;)*) => {
        impl HostMount {
            $(pub(crate) fn $name(&self, $(_: $arg),*) -> $result {
                match self.never {}
            })*
        }
    };
}

never! {
    hit() -> Option<QuotaHit>;
    stat(&[u8]) -> MountResult<Stat>;
    fd_stat(&Handle) -> MountResult<Stat>;
    read_link(&[u8]) -> MountResult<Vec<u8>>;
    need_writable() -> MountResult<()>;
    open_existing(&[u8], OpenFlags) -> MountResult<Handle>;
    reopen(&Handle, OpenFlags) -> MountResult<Handle>;
    create(&[u8], &[u8], OpenFlags, u16) -> MountResult<Handle>;
    mkdir(&[u8], &[u8], u16) -> MountResult<()>;
    remove(&[u8], &[u8], bool) -> MountResult<()>;
    rename((&[u8], &[u8]), (&[u8], &[u8])) -> MountResult<()>;
    link((&[u8], &[u8]), (&[u8], &[u8])) -> MountResult<()>;
    symlink(&[u8], &[u8], &[u8]) -> MountResult<()>;
    chmod(&[u8], u16) -> MountResult<()>;
    set_times(&[u8], Option<u64>, Option<u64>) -> MountResult<()>;
    set_fd_times(&Handle, Option<u64>, Option<u64>) -> MountResult<()>;
    list(&[u8]) -> MountResult<Vec<(Vec<u8>, u64, FileKind)>>;
    write(&Handle, u64, bool, &[u8]) -> MountResult<(usize, u64)>;
    set_len(&Handle, u64) -> MountResult<()>;
}
