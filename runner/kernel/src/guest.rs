//! The steps before and after every call from a guest.

use super::host::{Guest, Host};
use super::process::Process;
use super::threads::current_thread;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::Errno;

pub use super::memory::{MAX_MOVED, PART};

/// The reason why a call does not return a result.
#[derive(Debug)]
pub enum Halt {
    /// The call returns this error number.
    Errno(Errno),
    /// The process exits with this code.
    Exit(u8),
    /// The process has a fatal signal.
    Killed,
    /// The process continues as another program: its `start` was replaced.
    Exec,
    /// The thread ends; it is not the process's first.
    ThreadExit,
    /// Another thread has ended the process.
    Over,
    /// The guest's signal handler was ended by this error of the host's engine.
    Trap(Box<dyn std::error::Error + Send + Sync>),
}

impl From<Errno> for Halt {
    fn from(e: Errno) -> Halt {
        Halt::Errno(e)
    }
}

impl std::fmt::Display for Halt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Halt {}

/// Result of a call.
pub type Sys = Result<(), Halt>;

/// A call, with the calling process and its memory.
pub struct GuestCall<'a, H: Host> {
    pub process: &'a Arc<Process<H>>,
    pub mem: H::Memory<'a>,
}

/// Runs one call: stops if the process was ended, runs the guest's signal handler if a signal is
/// pending, and converts the result into the number that the guest expects.
pub fn enter_call<H: Host>(
    guest: &mut impl Guest<H>,
    call: impl FnOnce(&mut GuestCall<'_, H>) -> Sys,
) -> Result<i32, Halt> {
    let Some(process) = guest.process() else { return Err(Halt::Killed) };
    process.check_alive()?;
    process.wait_while_stopped()?;
    let result = {
        let Some(mem) = guest.memory() else { return Ok(Errno::FAULT.0.into()) };
        call(&mut GuestCall { process: &process, mem })
    };
    process.raise_due_alarm();
    process.check_alive()?;
    process.wait_while_stopped()?;
    // Only the first thread handles signals.
    if process.handles.load(Ordering::SeqCst) && current_thread() == 0 {
        run_handler(guest, &process)?;
    }
    match result {
        Ok(()) => Ok(0),
        Err(Halt::Errno(e)) => Ok(e.0.into()),
        Err(other) => Err(other),
    }
}

/// Calls the guest's handler for each pending signal. A signal is blocked while its handler runs,
/// so that a handler that raises its own signal does not call itself without end.
fn run_handler<H: Host>(guest: &mut impl Guest<H>, process: &Arc<Process<H>>) -> Result<(), Halt> {
    while let Some((signal, before)) = process.take_pending() {
        let done = guest.handle(process, signal);
        process.restore_blocked(before);
        process.check_alive()?;
        if !done? {
            return Ok(());
        }
    }
    Ok(())
}
