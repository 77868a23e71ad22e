//! The kernel's host: Wasmer, and threads of this process.
//!
//! | file | what |
//! |---|---|
//! | `thread` | the threads that run processes, and those that wait for the next one |
//! | `second` | those that run a process's further threads |
//! | `instance` | a program ready to run: made, run, put back to its beginning |
//! | `guest` | guest memory and the guest's signal handler, for calls |
//! | `link` | the imports by name |
//! | `locals` | what each thread of a guest has for itself |
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

pub use instance::Ready;
pub use thread::Idle;

use crate::cell::Answer;
use crate::interrupt::Watch;
use crate::loaded::Loaded;
use crate::programs::{ProgramError, Programs};
use guest::Mem;
use locals::Locals;
use second::Pattern;
use stopped::Stopped;
use wasibox_kernel::{Cpu, Entry, Host};
use wasibox_vfs::{Errno, Program};

/// The kernel of a run, over Wasmer.
pub type Kernel = wasibox_kernel::Kernel<Programs>;
/// One of its processes.
pub type Process = wasibox_kernel::Process<Programs>;
/// See [`wasibox_kernel::Background`].
pub type Background = wasibox_kernel::Background<Programs>;
/// See [`wasibox_kernel::CellStart`].
pub type CellStart = wasibox_kernel::CellStart<Programs>;
/// See [`wasibox_kernel::Left`].
pub type Left = wasibox_kernel::Left<Programs>;
type Job = wasibox_kernel::Job<Programs>;
type ThreadJob = wasibox_kernel::ThreadJob<Programs>;

impl Host for Programs {
    type Memory<'a> = Mem<'a>;
    type Loaded = Loaded;
    type Error = ProgramError;
    type Watch = Watch;
    type Ready = Box<Ready>;
    type Answer = Answer;
    type Pattern = Pattern;
    type Locals = Locals;
    type Clock = libc::clockid_t;
    type Stopped = Stopped;

    fn load(&self, program: Program) -> Result<Loaded, ProgramError> {
        self.get(program)
    }

    fn has_snapshot(&self, loaded: &Loaded) -> bool {
        loaded.snapshot.is_some() && !self.are_fresh()
    }

    fn needs(&self, loaded: &Loaded, entry: Entry) -> u64 {
        loaded.needs(entry)
    }

    fn entry_of(ready: &Box<Ready>) -> Entry {
        ready.entry
    }

    fn start(&self, job: Job) -> std::io::Result<()> {
        thread::start(self, job)
    }

    fn start_thread(&self, job: ThreadJob) -> std::io::Result<()> {
        second::start(job)
    }

    fn thread_needs(pattern: &Pattern) -> u64 {
        pattern.loaded.besides_memory()
    }

    fn locals_at(pattern: &Pattern) -> Option<u32> {
        pattern.locals
    }

    fn locals(mem: &mut Mem<'_>, places: &[(u32, usize)]) -> Result<Locals, Errno> {
        Ok(Locals::new(mem, places))
    }

    fn save(locals: &Locals, to: &mut Vec<u8>) {
        locals.save(to);
    }

    fn restore(locals: &Locals, from: &[u8]) {
        locals.restore(from);
    }

    fn stop(&self) -> Stopped {
        Stopped::new(self)
    }

    fn clock() -> Option<libc::clockid_t> {
        clock::of_thread()
    }

    fn time_of(clock: libc::clockid_t) -> Option<u64> {
        clock::time_of(clock)
    }

    fn cpu_ns() -> u64 {
        clock::cpu_ns()
    }

    fn usage() -> Cpu {
        clock::usage()
    }
}
