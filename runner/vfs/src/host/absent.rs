//! Without a host file system there are no mounts: these types have no values, so none of their
//! functions is ever called.

use super::{MountError, ProtectedPaths};
use crate::errno::Errno;
use crate::ops::OpenFlags;
use crate::quota::QuotaHit;
use crate::setup::MountSpec;
use crate::tree::Ino;
use box_abi::{FileKind, Stat};

/// An open file of the host: none.
#[derive(Debug)]
pub enum Handle {}

/// A host directory or file in the guest's name space: none.
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

type Done<T> = Result<T, Errno>;

/// Returns how many files this process may have open.
pub(crate) fn most_open() -> Option<u64> {
    Some(0)
}

pub(crate) fn read_at(file: &Handle, _: &mut [u8], _: u64) -> Done<usize> {
    match *file {}
}

pub(crate) fn sync(file: &Handle) -> Done<()> {
    match *file {}
}

impl HostMount {
    /// Refuses.
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

/// Methods of a type without values.
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
    stat(&[u8]) -> Done<Stat>;
    fd_stat(&Handle) -> Done<Stat>;
    read_link(&[u8]) -> Done<Vec<u8>>;
    need_writable() -> Done<()>;
    open_existing(&[u8], OpenFlags) -> Done<Handle>;
    reopen(&Handle, OpenFlags) -> Done<Handle>;
    create(&[u8], &[u8], OpenFlags, u16) -> Done<Handle>;
    mkdir(&[u8], &[u8], u16) -> Done<()>;
    remove(&[u8], &[u8], bool) -> Done<()>;
    rename((&[u8], &[u8]), (&[u8], &[u8])) -> Done<()>;
    link((&[u8], &[u8]), (&[u8], &[u8])) -> Done<()>;
    symlink(&[u8], &[u8], &[u8]) -> Done<()>;
    chmod(&[u8], u16) -> Done<()>;
    set_times(&[u8], Option<u64>, Option<u64>) -> Done<()>;
    set_fd_times(&Handle, Option<u64>, Option<u64>) -> Done<()>;
    list(&[u8]) -> Done<Vec<(Vec<u8>, u64, FileKind)>>;
    write(&Handle, u64, bool, &[u8]) -> Done<(usize, u64)>;
    set_len(&Handle, u64) -> Done<()>;
}
