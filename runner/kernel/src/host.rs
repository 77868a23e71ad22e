//! The interface to the host that runs a kernel's guests: the only way from here to an engine and
//! to the system.
//!
//! | host | engine | a process's thread |
//! |---|---|---|
//! | `wasibox-sandbox` | Wasmer, machine code made ahead of time | a thread of the host's process |
//! | `wasibox-web` | the JavaScript engine that the kernel itself runs in | a worker |
//!
//! The host is a type parameter: a kernel is compiled for its host, and a call's access to guest
//! memory is inlined.

use super::guest::Halt;
use super::job::{EntryPoint, ProcessJob, ThreadJob};
use super::memory::CallMemory;
use super::process::{CpuUsage, Process};
use std::sync::Arc;
use wasibox_vfs::{Errno, ProgramMark};

/// Runs guests. A value is one session's view of the host: the programs of its image.
pub trait Host: Sized + Send + Sync + 'static {
    /// The memory of a guest during one call.
    type Memory<'a>: CallMemory;
    /// A program that can be started.
    type Loaded: Clone + Send;
    /// The error of preparing a program.
    type Error: std::error::Error;
    /// The means of notifying a process that must end.
    type Watch: HostWatch;
    /// An interpreter between two cells.
    type Ready: Send;
    /// The answer of a cell.
    type Answer: Send;
    /// The pattern that further threads of a process are made from.
    type Pattern: Send + Sync;
    /// The places of a guest's variables of which each thread has its own copy.
    type Locals: Send + Sync;
    /// The clock of a thread's CPU time, which other threads can read.
    type Clock: Copy + Send + Sync;
    /// A guard during whose life no guest of the session runs.
    type Stopped;

    /// Makes a program ready to run, unless it is already.
    fn load_program(&self, program: ProgramMark) -> Result<Self::Loaded, Self::Error>;

    /// Returns whether processes of the program may begin with a prepared memory.
    fn has_snapshot(&self, loaded: &Self::Loaded) -> bool;

    /// Returns the bytes of memory that a process needs at its beginning.
    fn memory_needs(&self, loaded: &Self::Loaded, entry: EntryPoint) -> u64;

    /// Returns the entry point of an interpreter's processes.
    fn entry_of(ready: &Self::Ready) -> EntryPoint;

    /// Begins to run a process. Its thread calls [`Process::begin_thread`] first, and
    /// `Kernel::process_ended` last.
    fn start_job(&self, job: ProcessJob<Self>) -> std::io::Result<()>;

    /// Starts a thread of the host that runs the threads of a process given in `job`.
    fn start_thread(&self, job: ThreadJob<Self>) -> std::io::Result<()>;

    /// Returns the bytes that each thread of a process needs in addition to memory.
    fn thread_needs(pattern: &Self::Pattern) -> u64;

    /// Returns the address of the guest's list of variables of which each thread has its own copy.
    fn locals_at(pattern: &Self::Pattern) -> Option<u32>;

    /// Records the places of such variables: addresses and lengths, all of them in the memory.
    fn find_locals(
        mem: &mut Self::Memory<'_>,
        places: &[(u32, usize)],
    ) -> Result<Self::Locals, Errno>;

    /// Appends the bytes of the thread's variables to `to`. No other thread uses the memory
    /// meanwhile.
    fn save_locals(locals: &Self::Locals, to: &mut Vec<u8>);

    /// Restores the variables from `from`; missing bytes are zero. No other thread uses the memory
    /// meanwhile.
    fn restore_locals(locals: &Self::Locals, from: &[u8]);

    /// Stops all guests of the session for a moment, in order to reach one that never runs its own
    /// code.
    fn stop_guests(&self) -> Self::Stopped;

    /// Returns the clock of the calling thread's CPU time, if other threads can read it.
    fn thread_clock() -> Option<Self::Clock>;

    /// Returns the time of such a clock in nanoseconds; `None` if its thread has ended.
    fn time_of(clock: Self::Clock) -> Option<u64>;

    /// Returns the CPU time of the calling thread in nanoseconds.
    fn cpu_ns() -> u64;

    /// Returns that CPU time by kind, less exactly.
    fn thread_usage() -> CpuUsage;
}

/// Notifies a process that must end. The kernel ends waits itself; this is for guests that compute.
pub trait HostWatch: Send + Sync {
    /// Creates the watch of the process with that number.
    fn new(pid: u32) -> Self;

    /// Returns the signal that ends the process, if there is one.
    fn fatal_signal(&self) -> Option<u8>;

    /// Sets the signal that ends the process; returns false if there is one already.
    fn set_fatal(&self, signal: u8) -> bool;

    /// Returns the number of requests to end the process.
    fn end_requests(&self) -> u32;

    /// Returns whether a thread runs the process.
    fn is_running(&self) -> bool;

    /// Interrupts the process if it computes. It may be within the engine: the kernel repeats this.
    fn end_computation(&self);
}

/// A guest that has made a call.
pub trait Guest<H: Host> {
    /// Returns its process; `None` between two processes.
    fn process(&self) -> Option<Arc<Process<H>>>;

    /// Returns its memory.
    fn memory(&mut self) -> Option<H::Memory<'_>>;

    /// Calls its signal handler; returns false if it has none.
    fn handle(&mut self, process: &Arc<Process<H>>, signal: u8) -> Result<bool, Halt>;
}
