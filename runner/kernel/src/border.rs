//! The types of a call's arguments. The table of calls ([`with_calls`](crate::with_calls)) makes
//! them from a guest's integers. Therefore no function that the table calls takes related numbers
//! separately, or flags as bare bits.
//!
//! The conversion checks nothing: a descriptor may be closed, and a string may lie outside of the
//! memory. The first function that uses such an argument reports the error (EBADF, EFAULT). Numbers
//! are those of preview 1 and of WASIX (`wasi/api.h` and `wasi/api_wasix.h` of wasix-libc).

use super::memory::CallMemory;
use serde::{Deserialize, Serialize};
use wasibox_vfs::Errno;

/// A descriptor by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fd(pub u32);

/// A string in the guest's memory.
#[derive(Clone, Copy, Debug)]
pub struct GuestStr {
    pub at: u32,
    pub len: u32,
}

impl GuestStr {
    /// Returns the string of `len` bytes at `at`.
    pub fn from_raw(at: u32, len: u32) -> GuestStr {
        GuestStr { at, len }
    }

    /// Copies a path: bytes without NUL, at most 4096 of them and a terminator.
    ///
    /// # Errors
    /// EFAULT, ENAMETOOLONG, EINVAL for a NUL.
    pub fn read_path<M: CallMemory>(self, mem: &M) -> Result<Vec<u8>, Errno> {
        mem.read_path(self.at, self.len)
    }
}

/// A buffer in the guest's memory for the results of a call.
#[derive(Clone, Copy, Debug)]
pub struct GuestBuf {
    pub at: u32,
    pub len: u32,
}

impl GuestBuf {
    /// Returns the buffer of `len` bytes at `at`.
    pub fn from_raw(at: u32, len: u32) -> GuestBuf {
        GuestBuf { at, len }
    }
}

/// A list in the guest's memory: its address, and the number of its entries (or of its bytes, where
/// a call takes lines of text). Address 0 means that there is no list.
#[derive(Clone, Copy, Debug)]
pub struct GuestList {
    pub at: u32,
    pub n: u32,
}

impl GuestList {
    /// Returns the list of `n` entries at `at`.
    pub fn from_raw(at: u32, n: u32) -> GuestList {
        GuestList { at, n }
    }
}

/// A path, and the directory that it begins at.
#[derive(Clone, Copy, Debug)]
pub struct PathAt {
    pub fd: Fd,
    pub path: GuestStr,
}

impl PathAt {
    /// Returns the path of `len` bytes at `path`, from the directory `fd`.
    pub fn from_raw(fd: u32, path: u32, len: u32) -> PathAt {
        PathAt { fd: Fd(fd), path: GuestStr::from_raw(path, len) }
    }
}

/// The flags for looking up the last part of a path (`lookupflags`).
#[derive(Clone, Copy, Debug)]
pub struct LookupFlags(pub u32);

impl LookupFlags {
    /// Returns whether a symbolic link at the end is followed.
    pub fn follows_links(self) -> bool {
        self.0 & 1 != 0
    }
}

/// The flags for the effects of opening a file (`oflags`).
#[derive(Clone, Copy, Debug)]
pub struct OFlags(pub u32);

impl OFlags {
    /// Returns whether a missing file is created (`creat`).
    pub fn creates_file(self) -> bool {
        self.0 & 1 != 0
    }

    /// Returns whether anything but a directory is an error (`directory`).
    pub fn is_directory(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns whether an existing file is an error (`excl`).
    pub fn is_exclusive(self) -> bool {
        self.0 & 4 != 0
    }

    /// Returns whether the file is emptied (`trunc`).
    pub fn truncates_file(self) -> bool {
        self.0 & 8 != 0
    }
}

/// The permitted uses of a descriptor (`rights`). The kernel uses two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rights(pub u64);

impl Rights {
    const READ: u64 = 1 << 1;
    const SEEK: u64 = 1 << 2;
    const TELL: u64 = 1 << 5;
    const WRITE: u64 = 1 << 6;
    /// All rights of preview 1.
    pub const ALL: Rights = Rights((1 << 30) - 1);

    /// Returns whether the right `fd_read` is set.
    pub fn can_read(self) -> bool {
        self.0 & Rights::READ != 0
    }

    /// Returns whether the right `fd_write` is set.
    pub fn can_write(self) -> bool {
        self.0 & Rights::WRITE != 0
    }

    /// Returns all rights except those that a file lacks. libc takes a character device that can
    /// neither seek nor tell for a terminal.
    pub fn for_file(read: bool, write: bool, seekable: bool) -> Rights {
        let mut bits = Rights::ALL.0;
        for (has, of) in
            [(read, Rights::READ), (write, Rights::WRITE), (seekable, Rights::SEEK | Rights::TELL)]
        {
            if !has {
                bits &= !of;
            }
        }
        Rights(bits)
    }
}

/// The flags for the reads and writes of a descriptor (`fdflags`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FdFlags(pub u16);

impl FdFlags {
    const APPEND: u16 = 1;
    const NONBLOCK: u16 = 4;

    /// Returns the flags of a descriptor that writes at the end of the file (`append`), or does not
    /// wait (`nonblock`).
    pub fn from_modes(append: bool, nonblock: bool) -> FdFlags {
        let bit = |is: bool, bit: u16| if is { bit } else { 0 };
        FdFlags(bit(append, FdFlags::APPEND) | bit(nonblock, FdFlags::NONBLOCK))
    }

    /// Returns whether each write goes to the end of the file.
    pub fn is_append(self) -> bool {
        self.0 & FdFlags::APPEND != 0
    }

    /// Returns whether a read or write that would wait fails with EAGAIN.
    pub fn is_nonblock(self) -> bool {
        self.0 & FdFlags::NONBLOCK != 0
    }
}

impl From<u32> for FdFlags {
    /// Converts the flags of a call; bits that preview 1 does not define are dropped.
    fn from(bits: u32) -> FdFlags {
        FdFlags(bits as u16)
    }
}

/// Whether a descriptor is closed when its process begins another program (`fdflagsext`).
#[derive(Clone, Copy, Debug)]
pub struct CloseOnExec(pub bool);

impl From<u32> for CloseOnExec {
    fn from(bits: u32) -> CloseOnExec {
        CloseOnExec(bits & 1 != 0)
    }
}

/// The arguments for opening a file.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    pub lookup: LookupFlags,
    pub oflags: OFlags,
    pub rights: Rights,
    pub fdflags: FdFlags,
}

impl Opening {
    /// Converts the four numbers of `path_open`.
    pub fn from_raw(lookup: u32, oflags: u32, rights: u64, fdflags: u32) -> Opening {
        Opening {
            lookup: LookupFlags(lookup),
            oflags: OFlags(oflags),
            rights: Rights(rights),
            fdflags: fdflags.into(),
        }
    }
}

/// The times of a `set_times` call, in nanoseconds since the epoch; `flags` say which of them are
/// set, and to which value.
#[derive(Clone, Copy, Debug)]
pub struct SetTimes {
    pub atime: u64,
    pub mtime: u64,
    pub flags: u32,
}

impl SetTimes {
    /// Returns the access and the modification time, each only if it is to be set. Bits 1 and 2 of
    /// the flags set the access time to the given or the present time, bits 4 and 8 the
    /// modification time.
    ///
    /// # Errors
    /// EINVAL if both a given and the present time are asked for.
    pub fn times(self) -> Result<(Option<u64>, Option<u64>), Errno> {
        if self.flags & 3 == 3 || self.flags & 12 == 12 {
            return Err(Errno::INVAL);
        }
        let is = |bit: u32| self.flags & bit != 0;
        let pick = |given: u32, now: u32, t: u64| match (is(given), is(now)) {
            (true, _) => Some(t),
            (_, true) => Some(wasibox_vfs::now_ns()),
            _ => None,
        };
        Ok((pick(1, 2, self.atime), pick(4, 8, self.mtime)))
    }
}

/// A program to begin: its name, its strings, and the directories to search.
#[derive(Clone, Copy, Debug)]
pub struct ProgramRequest {
    pub name: GuestStr,
    pub args: GuestList,
    /// The environment, or the caller's own if the address is 0.
    pub env: GuestList,
    /// Whether a name without a slash is searched for along `path`.
    pub search: bool,
    /// Directories separated by colons, or the default ones if the address is 0.
    pub path: GuestStr,
}

/// The differences of a new process from its parent.
#[derive(Clone, Copy, Debug)]
pub struct ProcessChanges {
    /// Operations on descriptors and the directory.
    pub files: GuestList,
    /// Pairs of signal and disposition.
    pub signals: GuestList,
}

/// The kind of socket to create (`socket(2)`).
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    pub family: u32,
    pub kind: u32,
    pub protocol: u32,
}

/// The buffers of a socket's call and its flags (`riflags`, `siflags`).
#[derive(Clone, Copy, Debug)]
pub struct SocketTransfer {
    pub vectors: GuestList,
    pub flags: u32,
}

impl SocketTransfer {
    /// Returns the `n` buffers that are listed at `iovs`, and the flags of the call.
    pub fn from_raw(iovs: u32, n: u32, flags: u32) -> SocketTransfer {
        SocketTransfer { vectors: GuestList::from_raw(iovs, n), flags }
    }
}

/// The addresses at which a receiving call stores the number of bytes and its flags.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveResult {
    pub count: u32,
    pub flags: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_those_that_a_file_has() {
        let r = Rights::for_file(true, false, true);
        assert!(r.can_read() && !r.can_write());
        assert_eq!(Rights::for_file(true, true, true), Rights::ALL);
        assert_eq!(Rights::for_file(true, true, false).0 & 0b10_0100, 0);
    }

    #[test]
    fn unknown_bits_of_flags_are_left_out() {
        assert_eq!(FdFlags::from(0xffff_0000), FdFlags(0));
        let flags = FdFlags::from(0x1_0005);
        assert!(flags.is_append() && flags.is_nonblock());
        assert_eq!(FdFlags::from_modes(true, true), FdFlags(5));
    }

    #[test]
    fn a_time_is_given_or_the_present_one() {
        let times = |flags| SetTimes { atime: 1, mtime: 2, flags }.times();
        assert_eq!(times(0), Ok((None, None)));
        assert_eq!(times(5), Ok((Some(1), Some(2))));
        assert_eq!(times(3), Err(Errno::INVAL));
        assert_eq!(times(12), Err(Errno::INVAL));
        assert!(times(8).is_ok_and(|(a, m)| a.is_none() && m.is_some_and(|m| m > 2)));
    }
}
