//! The location of a file, and its metadata.

use crate::node::Ino;
use box_abi::Stat;

/// The number that the inode of `/dev/pts/0` has.
pub(crate) const TERMINAL_INO: u64 = 1 << 20;
/// Linux's `PATH_MAX`.
pub(crate) const MAX_PATH: usize = 4096;

/// The location of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loc {
    /// A node of the tree.
    Tree(Ino),
    /// A path below host mount N, without leading slash, symbolic links or dots; empty for the
    /// mount's root.
    Host(usize, Vec<u8>),
    /// The directory of a named pipe below `/.box`.
    PipeDir(Vec<u8>),
    /// An end of a named pipe below `/.box`; true for the writing end.
    PipeEnd(Vec<u8>, bool),
    /// The device node with the state of a session.
    State,
    /// A node by which guests send requests to the host, by its number.
    Service(usize),
    /// The caller's descriptor of that number.
    Descriptor(u32),
    /// The terminal `/dev/pts/N`.
    Terminal(u32),
    /// A file below `/proc`, by its path from there.
    Proc(Vec<u8>),
}

/// The result of a request for metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatResult {
    Stat(Stat),
    /// The path stands for the caller's own descriptor of that number.
    Descriptor(u32),
}
