//! Locks of files by the kernel of the session. The standard library has those of other hosts
//! (`File::try_lock`), and none for WASI.

use std::fs::File;
use std::io;

pub use box_abi::lock::LockKind;
use box_abi::lock::WholeLock;
use box_abi::terminal::{TerminalOperation, TerminalRequest};

use crate::backend::terminal_call;

/// Acquires, changes or releases the lock of an open file without waiting (`flock(2)`). Returns
/// `None` if the system has no locks, and whether the lock was free otherwise.
pub fn try_lock(file: &File, kind: LockKind) -> io::Result<Option<bool>> {
    let argument = WholeLock { kind, waits: false }.encode();
    let operation = TerminalOperation::LockFile;
    match terminal_call(file, &TerminalRequest { operation, number: 0, argument: &argument }) {
        Ok(_) => Ok(Some(true)),
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Ok(Some(false)),
        Err(e) if e.raw_os_error() == Some(libc::ENOTTY) => Ok(None),
        Err(e) => Err(e),
    }
}
