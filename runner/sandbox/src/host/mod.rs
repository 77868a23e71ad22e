//! The kernel's host: Wasmer, and threads of this process.
//!
//! | file | content |
//! |---|---|
//! | `thread` | the threads that run processes, and those that wait for the next one |
//! | `second` | the threads that run a process's further threads |
//! | `instance` | a program ready to run: made, run, reset |
//! | `guest` | guest memory and the guest's signal handler, for calls |
//! | `link` | the imports by name |
//! | `locals` | the variables of which each thread of a guest has its own copy |
//! | `clock` | CPU time of threads |
//! | `stopped` | all code of a session stopped for a moment |

mod clock;
mod guest;
mod instance;
mod link;
mod locals;
mod second;
mod stopped;
#[cfg(test)]
mod tests;
mod thread;

pub use instance::ReadyInstance;
pub use thread::IdleThreads;

use crate::cell::CellAnswer;
use crate::interrupt::ProcessWatch;
use crate::loaded::LoadedProgram;
use crate::programs::{ProgramError, Programs};
use guest::CallMemoryView;
use locals::HostLocals;
use second::ThreadPattern;
use stopped::CodeStopGuard;
use wasibox_kernel::{CpuUsage, EntryPoint, Host};
use wasibox_vfs::{Errno, ProgramMark};

/// The kernel of a run, over Wasmer.
pub type Kernel = wasibox_kernel::Kernel<Programs>;
/// A process of a run, over Wasmer.
pub type Process = wasibox_kernel::Process<Programs>;
/// The runs of a session that have left processes; see [`wasibox_kernel::Background`].
pub type Background = wasibox_kernel::Background<Programs>;
/// The state with which the process of a cell begins; see [`wasibox_kernel::CellStart`].
pub type CellStart = wasibox_kernel::CellStart<Programs>;
/// The state that the process of a cell leaves; see [`wasibox_kernel::CellRemains`].
pub type Left = wasibox_kernel::CellRemains<Programs>;
type Job = wasibox_kernel::ProcessJob<Programs>;
type ThreadJob = wasibox_kernel::ThreadJob<Programs>;

impl Host for Programs {
    type Memory<'a> = CallMemoryView<'a>;
    type Loaded = LoadedProgram;
    type Error = ProgramError;
    type Watch = ProcessWatch;
    type Ready = Box<ReadyInstance>;
    type Answer = CellAnswer;
    type Pattern = ThreadPattern;
    type Locals = HostLocals;
    type Clock = libc::clockid_t;
    type Stopped = CodeStopGuard;

    fn load_program(&self, program: ProgramMark) -> Result<LoadedProgram, ProgramError> {
        self.get(program)
    }

    fn has_snapshot(&self, loaded: &LoadedProgram) -> bool {
        loaded.snapshot.is_some() && !self.are_fresh()
    }

    fn memory_needs(&self, loaded: &LoadedProgram, entry: EntryPoint) -> u64 {
        loaded.needs(entry)
    }

    fn entry_of(ready: &Box<ReadyInstance>) -> EntryPoint {
        ready.entry
    }

    fn start_job(&self, job: Job) -> std::io::Result<()> {
        thread::start_job(self, job)
    }

    fn start_thread(&self, job: ThreadJob) -> std::io::Result<()> {
        second::start_thread(job)
    }

    fn thread_needs(pattern: &ThreadPattern) -> u64 {
        pattern.loaded.besides_memory()
    }

    fn locals_at(pattern: &ThreadPattern) -> Option<u32> {
        pattern.locals
    }

    fn find_locals(
        mem: &mut CallMemoryView<'_>,
        places: &[(u32, usize)],
    ) -> Result<HostLocals, Errno> {
        Ok(HostLocals::new(mem, places))
    }

    fn save_locals(locals: &HostLocals, to: &mut Vec<u8>) {
        locals.save_bytes(to);
    }

    fn restore_locals(locals: &HostLocals, from: &[u8]) {
        locals.restore_bytes(from);
    }

    fn stop_guests(&self) -> CodeStopGuard {
        CodeStopGuard::new(self)
    }

    fn thread_clock() -> Option<libc::clockid_t> {
        clock::of_thread()
    }

    fn time_of(clock: libc::clockid_t) -> Option<u64> {
        clock::time_of(clock)
    }

    fn cpu_ns() -> u64 {
        clock::cpu_ns()
    }

    fn thread_usage() -> CpuUsage {
        clock::thread_usage()
    }
}
