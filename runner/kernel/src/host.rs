//! What runs the guests of a kernel: the one way from here to an engine and to the system.
//!
//! | host | engine | a process's thread |
//! |---|---|---|
//! | `wasibox-sandbox` | Wasmer, machine code made ahead of time | a thread of the host's process |
//! | `wasibox-web` | the JavaScript engine that the kernel itself runs in | a worker |
//!
//! All of it is static: a kernel is compiled for its host, and a call's access to guest memory is inlined.

use super::guest::Halt;
use super::job::{EntryPoint, ProcessJob, ThreadJob};
use super::memory::CallMemory;
use super::process::{CpuUsage, Process};
use std::sync::Arc;
use wasibox_vfs::{Errno, ProgramMark};

/// Runs guests. A value is what one session has of it: the programs of its image.
pub trait Host: Sized + Send + Sync + 'static {
    /// The memory of a guest during one call.
    type Memory<'a>: CallMemory;
    /// A program that can be begun.
    type Loaded: Clone + Send;
    /// Why a program cannot be made ready.
    type Error: std::error::Error;
    /// How a process that is to end is made to notice.
    type Watch: HostWatch;
    /// An interpreter between two cells.
    type Ready: Send;
    /// What a cell answers.
    type Answer: Send;
    /// What a process's further threads are made of.
    type Pattern: Send + Sync;
    /// Where variables of a guest lie that each of its threads has for itself.
    type Locals: Send + Sync;
    /// The clock of a thread's CPU time, as other threads may ask it.
    type Clock: Copy + Send + Sync;
    /// While it lives, no guest of the session runs.
    type Stopped;

    /// Makes a program ready, if it is not yet.
    fn load_program(&self, program: ProgramMark) -> Result<Self::Loaded, Self::Error>;

    /// Whether processes of the program may begin with a memory that was prepared.
    fn has_snapshot(&self, loaded: &Self::Loaded) -> bool;

    /// Bytes that a process has from the beginning which begins there.
    fn memory_needs(&self, loaded: &Self::Loaded, entry: EntryPoint) -> u64;

    /// Where the processes of an interpreter begin.
    fn entry_of(ready: &Self::Ready) -> EntryPoint;

    /// Begins to run a process. Its thread calls [`Process::begin_thread`] first, and `Kernel::process_ended` last.
    fn start_job(&self, job: ProcessJob<Self>) -> std::io::Result<()>;

    /// Begins to run the threads of a process that come to `job`.
    fn start_thread(&self, job: ThreadJob<Self>) -> std::io::Result<()>;

    /// Bytes that each thread of a process has besides memory.
    fn thread_needs(pattern: &Self::Pattern) -> u64;

    /// The address of the guest's list of variables that each thread has for itself.
    fn locals_at(pattern: &Self::Pattern) -> Option<u32>;

    /// Notes where such variables lie: addresses and lengths, all of them in the memory.
    fn find_locals(
        mem: &mut Self::Memory<'_>,
        places: &[(u32, usize)],
    ) -> Result<Self::Locals, Errno>;

    /// Appends the bytes of the thread's variables to `to`. The caller's thread is alone with the memory.
    fn save_locals(locals: &Self::Locals, to: &mut Vec<u8>);

    /// Puts them back; zeros where there is nothing. The caller's thread is alone with the memory.
    fn restore_locals(locals: &Self::Locals, from: &[u8]);

    /// Stops all guests of the session for a moment, for one that is not met in its own code.
    fn stop_guests(&self) -> Self::Stopped;

    /// The clock of the calling thread's CPU time, if others can ask it.
    fn thread_clock() -> Option<Self::Clock>;

    /// What such a clock shows, in nanoseconds; `None` if its thread is no more.
    fn time_of(clock: Self::Clock) -> Option<u64>;

    /// CPU time of the calling thread in nanoseconds.
    fn cpu_ns() -> u64;

    /// The same by kind of time, less exact.
    fn thread_usage() -> CpuUsage;
}

/// How a process that is to end is made to notice. Waits are the kernel's to end; this is for guests that compute.
pub trait HostWatch: Send + Sync {
    /// Of the process with that number.
    fn new(pid: u32) -> Self;

    /// The signal that ends the process, if one does.
    fn fatal_signal(&self) -> Option<u8>;

    /// Sets the signal that ends it; false if there is one already.
    fn set_fatal(&self, signal: u8) -> bool;

    /// How often it was told to end.
    fn told_count(&self) -> u32;

    /// Whether a thread runs it.
    fn is_running(&self) -> bool;

    /// Interrupts it if it computes. It may be within the engine: the kernel repeats this.
    fn end_computation(&self);
}

/// A guest that has made a call.
pub trait Guest<H: Host> {
    /// Its process; `None` between two of them.
    fn process(&self) -> Option<Arc<Process<H>>>;

    /// Its memory.
    fn memory(&mut self) -> Option<H::Memory<'_>>;

    /// Calls its signal handler; false if it has none.
    fn handle(&mut self, process: &Arc<Process<H>>, signal: u8) -> Result<bool, Halt>;
}
