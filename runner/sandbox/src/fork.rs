//! Makes a copy of this process, so that a worker that has everything loaded can make others like
//! it.
//!
//! The copy is a child of this process's *parent* (clone(2), `CLONE_PARENT`), which waits for it
//! and ends it like a child that it started itself. Loaded memory is shared until it is written to.

use std::io;

/// The side of a fork on which the call returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkSide {
    /// The calling process, with the process ID of the copy.
    Original(u32),
    Copy,
}

/// Copies this process, which must have one thread, because others would be missing in the copy
/// while their locks stay held.
///
/// The copy has the original's descriptors; its parent-death signal is unset and its session is the
/// original's (fork(2)).
///
/// # Errors
/// If the process has more than one thread, if their number is unknown because there is no `/proc`,
/// or if the host's kernel cannot make a process.
pub fn fork_sibling() -> io::Result<ForkSide> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other("a process with threads cannot be copied"));
    }
    let mut id: *mut libc::c_void = std::ptr::null_mut();
    // JUSTIFICATION: C's fork makes only children of the calling process, and the kernel's call has
    // no safe wrapper. SAFETY: with one thread, which is this one, no lock is held by another
    // thread and no other thread is missing in the copy. No memory is shared (no CLONE_VM) and no
    // stack is given, so both processes continue here. The C library keeps the thread's number at
    // the address that PR_GET_TID_ADDRESS returns, because it has passed that address to
    // set_tid_address(2). The kernel writes the copy's number to that address in the copy's memory,
    // as it does for the library's own fork. If the kernel does not report the address, the copy
    // keeps the original's number, which is harmless because this process makes no call for which
    // the library uses the number of its first thread.
    let made = unsafe {
        libc::prctl(libc::PR_GET_TID_ADDRESS, &raw mut id);
        let known = libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID;
        let flags = libc::CLONE_PARENT | libc::SIGCHLD | if id.is_null() { 0 } else { known };
        clone(flags as libc::c_ulong, id)
    };
    match made {
        0 => Ok(ForkSide::Copy),
        1.. => Ok(ForkSide::Original(made as u32)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Calls clone(2), whose arguments are in a different order on some machines.
///
/// # Safety
/// The same as for clone(2) without CLONE_VM. If the flags ask for a thread's number, `id` is a
/// place for it.
unsafe fn clone(flags: libc::c_ulong, id: *mut libc::c_void) -> libc::c_long {
    let none = std::ptr::null_mut::<libc::c_void>();
    // JUSTIFICATION, SAFETY: the caller's.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        return libc::syscall(libc::SYS_clone, flags, none, none, id, none);
        #[cfg(not(target_arch = "x86_64"))]
        return libc::syscall(libc::SYS_clone, flags, none, none, none, id);
    }
}
