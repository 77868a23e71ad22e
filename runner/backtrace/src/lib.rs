//! A stand-in for the `backtrace` crate that captures nothing. The workspace's manifest patches it
//! in.
//!
//! Wasmer alone uses that crate here, and takes a backtrace of the guest's stack whenever the guest
//! throws an exception, traps or is interrupted. We show none of these backtraces, and taking them
//! is dangerous:
//! - An exception keeps its backtrace until its process ends, and a frame takes tens of bytes: a
//!   guest that throws at the bottom of a deep recursion could make the host keep megabytes per
//!   exception, outside of every limit.
//! - The handler that interrupts a guest takes one, too. The unwinder allocates, which a signal
//!   handler must not do: if the thread was allocating when it was interrupted, as it does when a
//!   guest throws, it holds the allocator's lock and the whole process waits for ever.
//!
//! Only the functions that Wasmer 7.5 calls exist. A capture calls the [hook](set_hook) instead,
//! with which the sandbox counts the exceptions of its guests.
#![forbid(unsafe_code)]

use std::ffi::c_void;
use std::sync::OnceLock;

static HOOK: OnceLock<fn()> = OnceLock::new();

/// Sets the function that is called on the capturing thread in place of every capture. Later calls
/// have no effect.
///
/// The hook may run in a signal handler: it must neither allocate nor wait.
pub fn set_hook(hook: fn()) {
    let _ = HOOK.set(hook);
}

/// A backtrace without frames.
#[derive(Clone, Debug, Default)]
pub struct Backtrace(());

impl Backtrace {
    /// Calls the hook; captures nothing.
    pub fn new_unresolved() -> Backtrace {
        if let Some(hook) = HOOK.get() {
            hook();
        }
        Backtrace(())
    }

    /// Returns no frames.
    pub fn frames(&self) -> &[BacktraceFrame] {
        &[]
    }
}

impl From<Vec<BacktraceFrame>> for Backtrace {
    fn from(_: Vec<BacktraceFrame>) -> Backtrace {
        Backtrace(())
    }
}

/// A frame of a backtrace; there are none.
#[derive(Clone, Debug)]
pub enum BacktraceFrame {}

impl BacktraceFrame {
    /// Returns the address of the frame's instruction.
    pub fn ip(&self) -> *mut c_void {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn captures_call_the_hook_and_have_no_frames() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        set_hook(|| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        assert!(Backtrace::new_unresolved().frames().is_empty());
        assert!(Backtrace::from(Vec::new()).frames().is_empty());
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }
}
