//! The threads that run processes.
//!
//! A thread runs one process at a time. With a reusable instance it then waits for the next process
//! of its program ([`IdleThreads`]); otherwise it ends.

use super::instance::ReadyInstance;
use super::{Job, Process};
use crate::interrupt::{self, watch_process};
use crate::loaded::LoadedProgram;
use crate::programs::Programs;
use crate::stack;
use box_abi::signal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use wasibox_kernel::{
    Descriptors, EntryPoint, Halt, ProcessStatus, ProgramEnd, complain_to_process,
};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{ProgramMark, Reservation};
use wasmer::RuntimeError;
use wasmer_types::TrapCode;

/// The maximum number of threads that wait, with an instance each, for more work.
const MAX_IDLE: usize = 8;

/// The waiting threads of a session. They end when it is dropped.
#[derive(Default)]
pub struct IdleThreads(Mutex<Vec<(ProgramMark, EntryPoint, Sender<Job>)>>);

impl IdleThreads {
    /// Returns the source of the next job of this thread, unless enough threads wait already.
    fn wait_here(&self, program: ProgramMark, entry: EntryPoint) -> Option<Receiver<Job>> {
        let mut idle = lock_mutex(&self.0);
        if idle.len() >= MAX_IDLE {
            return None;
        }
        let (sender, receiver) = channel();
        idle.push((program, entry, sender));
        Some(receiver)
    }

    /// Gives a job to the thread that has waited for the shortest time, because its data are still
    /// in the caches. Returns the job if no thread waits for its program.
    fn hand_over(&self, job: Job) -> Option<Job> {
        let found = {
            let mut idle = lock_mutex(&self.0);
            let at = idle.iter().rposition(|(p, e, _)| (*p, *e) == (job.program, job.entry));
            at.map(|at| idle.remove(at).2)
        };
        match found {
            Some(thread) => thread.send(job).err().map(|e| e.0),
            None => Some(job),
        }
    }
}

/// Starts a job on a waiting thread or on a new one.
pub fn start_job(programs: &Programs, job: Job) -> std::io::Result<()> {
    let job = if job.ready.is_some() { Some(job) } else { programs.idle.hand_over(job) };
    let Some(job) = job else { return Ok(()) };
    // Host functions run on this stack; guest code has its own.
    let builder = std::thread::Builder::new().stack_size(512 << 10);
    builder.spawn(move || work_jobs(job)).map(drop)
}

/// Runs a thread until it ends.
fn work_jobs(first: Job) {
    interrupt::unblock_signals();
    stack::prepare_stack(first.process.kernel.limits.stack);
    let budget = first.process.kernel.budget.clone();
    serve_all(first);
    stack::release_stack(&budget);
}

fn serve_all(first: Job) {
    let mut job = first;
    let mut ready = None;
    loop {
        let programs = job.process.kernel.host.clone();
        let again = serve_job(job, &mut ready);
        let Some(r) = ready.as_mut().filter(|_| again) else { return };
        let Some(next) = programs.idle.wait_here(r.program, r.entry) else { return };
        // A waiting thread must not keep the session alive; the session's end also ends the wait.
        drop(programs);
        match next.recv() {
            Ok(j) => job = j,
            Err(_) => return,
        }
    }
}

/// Runs a process to its end and reports it. Returns whether the thread's instance can be used
/// again.
fn serve_job(job: Job, ready: &mut Option<ReadyInstance>) -> bool {
    // Dropped after the module and all other values of this function.
    let _code = job.process.kernel.host.code.clone();
    let Job { process, mut program, mut loaded, mut entry, memory, ready: cell } = job;
    if let Some(cell) = cell {
        *ready = Some(*cell);
    }
    process.begin_thread();
    wasibox_vfs::budget::take_refused_here();
    let killed = process.clone();
    let _stop = wasibox_vfs::stop_when(move || killed.check_alive().is_err());
    let _proc = wasibox_kernel::show_proc(&process);
    let mut memory = Some(memory);
    let mut again;
    let status = loop {
        let what = NextRun { program, entry, loaded: &loaded, memory: memory.take() };
        let watched = watch_process(&process, loaded.exception());
        let end = catch_unwind(AssertUnwindSafe(|| run_program(&process, what, ready)));
        // All its threads have left when the first one continues.
        let end = match process.threads.end_all() {
            Some(end) => Ok((end, false)),
            None => end,
        };
        process.threads.reset();
        // From here on the thread is not interrupted on behalf of this process.
        drop(watched);
        match end {
            Ok((ProgramEnd::Status(s), well)) => {
                again = well;
                break s;
            }
            Ok((ProgramEnd::Exec, _)) => {
                *ready = None;
                interrupt::forget_thrown(&process);
                program = lock_mutex(&process.start).program;
                match process.kernel.host.get(program) {
                    Ok(l) => {
                        loaded = l;
                        (entry, memory) = process.kernel.entry_of(&loaded);
                    }
                    Err(e) => {
                        complain_to_process(&process, &e.to_string());
                        again = false;
                        break ProcessStatus::Exited(126);
                    }
                }
            }
            Ok((ProgramEnd::Anew, _)) => {
                *ready = None;
                interrupt::forget_thrown(&process);
                entry = match entry {
                    EntryPoint::Cell { is_prepared: true }
                        if process.kernel.cells.may_begin_anew() =>
                    {
                        EntryPoint::Cell { is_prepared: false }
                    }
                    EntryPoint::Cell { .. } => {
                        complain_to_process(&process, "the interpreter cannot continue");
                        again = false;
                        break ProcessStatus::Exited(126);
                    }
                    _ => EntryPoint::Start,
                };
            }
            Err(_) => {
                complain_to_process(&process, "internal error of the sandbox");
                again = false;
                break ProcessStatus::Signaled(signal::ABRT);
            }
        }
    };
    if entry == EntryPoint::Prepare
        && again
        && let Some(r) = ready
    {
        *lock_mutex(&process.kernel.prepared) = r.memory_content();
        again = false;
    }
    if let EntryPoint::Cell { .. } = entry
        && again
        && let Some(r) = ready.take()
    {
        keep_interpreter(&process, r);
        again = false;
    }
    let mut renewed = false;
    match ready {
        Some(r) if again => {
            if r.let_go() {
                again = r.renew();
                renewed = true;
            }
        }
        // Its memory is given back before the end is reported.
        _ => *ready = None,
    }
    interrupt::forget_thrown(&process);
    stack::close_stack(&process.kernel.budget);
    // Readers of its pipes must see the end before a waiting parent does.
    let limit = process.kernel.limits.descriptors;
    let fds = std::mem::replace(&mut *lock_mutex(&process.fds), Descriptors::new(limit));
    drop(fds);
    process.kernel.process_ended(&process, status);
    drop(process);
    match ready {
        Some(r) if again => renewed || r.renew(),
        _ => false,
    }
}

/// Keeps an interpreter whose cell has ended.
fn keep_interpreter(process: &Process, mut ready: ReadyInstance) {
    let Some(answer) = ready.take_answer() else { return };
    ready.pause_cell(process);
    process.kernel.cells.keep_process(process, Box::new(ready), answer);
}

/// The program that a process runs next.
struct NextRun<'a> {
    program: ProgramMark,
    entry: EntryPoint,
    loaded: &'a LoadedProgram,
    memory: Option<Reservation>,
}

/// Runs a program in the thread's instance, or in a new one.
fn run_program(
    process: &Arc<Process>,
    what: NextRun<'_>,
    ready: &mut Option<ReadyInstance>,
) -> (ProgramEnd, bool) {
    let NextRun { program, entry, loaded, memory } = what;
    let fits = |r: &&mut ReadyInstance| (r.program, r.entry) == (program, entry);
    let memory = match (ready.as_mut().filter(fits), memory) {
        (Some(r), _) if matches!(entry, EntryPoint::Cell { .. }) => {
            r.attach_cell(process);
            return r.run(process);
        }
        (Some(r), Some(memory)) => {
            if r.take_on(process, memory) {
                return r.run(process);
            }
            None
        }
        (_, memory) => memory,
    };
    *ready = None;
    match ReadyInstance::new(process, program, entry, loaded, memory) {
        Ok(r) => ready.insert(r).run(process),
        Err(end) => (end, false),
    }
}

/// Converts an error that ended the guest's code.
pub fn ended_by(process: &Process, e: RuntimeError) -> ProgramEnd {
    let killed = || {
        if process.watch.is_short() {
            complain_to_process(process, "ended: the memory limit is reached");
        }
        ProgramEnd::Status(ProcessStatus::Signaled(process.fatal_signal().unwrap_or(signal::KILL)))
    };
    match e.downcast_ref::<Halt>() {
        Some(Halt::Exit(code)) => return ProgramEnd::Status(ProcessStatus::Exited(*code)),
        Some(Halt::Killed) => return killed(),
        Some(Halt::Exec) => return ProgramEnd::Exec,
        Some(Halt::Trap(inner)) => {
            if let Some(inner) = inner.downcast_ref::<RuntimeError>() {
                return ended_by(process, inner.clone());
            }
        }
        // The end that another thread has caused replaces this status.
        Some(Halt::Over) => return ProgramEnd::Status(ProcessStatus::Signaled(signal::KILL)),
        Some(Halt::Errno(_) | Halt::ThreadExit) | None => {}
    }
    // An interrupt during an access to memory looks like a trap there.
    if process.fatal_signal().is_some() {
        return killed();
    }
    let (sig, text) = match e.clone().to_trap() {
        Some(TrapCode::StackOverflow) => (signal::SEGV, "stack overflow"),
        Some(
            TrapCode::HeapAccessOutOfBounds | TrapCode::HeapMisaligned | TrapCode::UnalignedAtomic,
        ) => {
            // A guest's own stack grows down to address 0 and then out of its memory.
            (signal::SEGV, "memory access out of bounds (stack overflow or bad pointer)")
        }
        Some(TrapCode::IntegerDivisionByZero) => (signal::FPE, "division by zero"),
        Some(TrapCode::IntegerOverflow | TrapCode::BadConversionToInteger) => {
            (signal::FPE, "integer overflow")
        }
        Some(
            TrapCode::IndirectCallToNull
            | TrapCode::BadSignature
            | TrapCode::TableAccessOutOfBounds,
        ) => (signal::ILL, "bad indirect call"),
        // The code of `abort` and of a Rust panic; they have reported the reason themselves.
        Some(TrapCode::UnreachableCodeReached) => (signal::ABRT, "aborted"),
        Some(TrapCode::UncaughtException | TrapCode::UninitializedExnRef) => {
            (signal::ABRT, "uncaught exception")
        }
        _ if e.is_exception() => (signal::ABRT, "uncaught exception"),
        _ => (signal::ABRT, "ended by an error of the engine"),
    };
    complain_to_process(process, text);
    ProgramEnd::Status(ProcessStatus::Signaled(sig))
}
