//! The workers that run processes.
//!
//! A worker runs one process at a time and then waits for the next one, because only the page can
//! start a worker. A worker with a live interpreter waits for the next cell of that interpreter.

use crate::calls::{has_why, set_process, take_why};
use crate::cell::{PageCellAnswer, StandingInterpreter};
use crate::ffi::{self, ProgramResult};
use crate::host::{Job, PageProgram, Process, Web};
use crate::prepare::PageTemplate;
use crate::{lock_mutex, park, slots};
use box_abi::signal;
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use wasibox_kernel::{Descriptors, EntryPoint, Halt, Host, ProcessStatus, complain_to_process};
use wasibox_vfs::{ProgramMark, Reservation};

/// The maximum number of waiting workers.
const MAX_IDLE: usize = 8;
/// The stack size in bytes of the kernel's half of a worker; the guest uses the stack of the
/// JavaScript engine.
const STACK: usize = 256 << 10;

/// The processes that run in workers, by slot.
static RUNNING: Mutex<Option<HashMap<u32, Arc<Process>>>> = Mutex::new(None);

/// A worker that waits for a job.
struct WaitingWorker {
    next: Sender<Job>,
    /// The programs that the worker has loaded, one bit each; it can run no others.
    programs: u32,
    /// The programs for which the worker has an unused instance, one bit each.
    spares: u32,
}

/// Returns a program's bit; 0 for those after the 32nd.
fn program_bit(program: ProgramMark) -> u32 {
    1u32.checked_shl(program.0).unwrap_or(0)
}

/// The waiting workers of a session.
#[derive(Default)]
pub struct IdleWorkers(Mutex<Vec<WaitingWorker>>);

impl IdleWorkers {
    /// Adds the calling worker to the waiting ones; `None` if there are enough.
    fn wait_here(&self, spares: u32) -> Option<Receiver<Job>> {
        let programs = ffi::programs();
        let mut idle = lock_mutex(&self.0);
        if idle.len() >= MAX_IDLE {
            return None;
        }
        let (next, receiver) = channel();
        idle.push(WaitingWorker { next, programs, spares });
        Some(receiver)
    }

    /// Returns whether a waiting worker can start the program at once.
    fn has_spare(&self, program: ProgramMark) -> bool {
        lock_mutex(&self.0).iter().any(|waiting| waiting.spares & program_bit(program) != 0)
    }

    /// Ends all waiting workers.
    fn let_go(&self) {
        lock_mutex(&self.0).clear();
    }

    /// Gives a job to a worker that has its program: preferably one in which it starts at once,
    /// otherwise the one that began to wait last. Returns the job if there is no such worker.
    fn hand_over(&self, job: Job) -> Option<Job> {
        let program = program_bit(job.program);
        let mut idle = lock_mutex(&self.0);
        let found = idle
            .iter()
            .rposition(|waiting| waiting.spares & program != 0)
            .or_else(|| idle.iter().rposition(|waiting| waiting.programs & program != 0));
        let thread = found.map(|n| idle.remove(n));
        drop(idle);
        match thread {
            Some(thread) => thread.next.send(job).err().map(|e| e.0),
            None => Some(job),
        }
    }
}

/// Runs a job in its interpreter's worker, in a waiting one or in a new one.
pub fn start_job(host: &Web, mut job: Job) -> std::io::Result<()> {
    job.ready = match job.ready.take() {
        Some(StandingInterpreter::Waits { next, memory, .. }) => {
            job.memory = memory;
            // The interpreter's worker waits until this sender is dropped.
            return next.send(job).map_err(|_| std::io::ErrorKind::BrokenPipe.into());
        }
        ready => ready,
    };
    if !ffi::need(job.program.0) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let Some(job) = host.idle.hand_over(job) else { return Ok(()) };
    ffi::wants(job.program.0);
    std::thread::Builder::new().stack_size(STACK).spawn(move || work_jobs(job)).map(drop)
}

/// Runs a worker: its first job, and then further ones for as long as it is needed.
fn work_jobs(first: Job) {
    let mut job = first;
    // Whether this worker has a live interpreter.
    let mut stands = false;
    loop {
        let host = job.process.kernel.host.clone();
        let program = match serve_job(job, stands) {
            WorkerRemains::Stands(next) => {
                drop(host);
                match next.recv() {
                    Ok(next) => (job, stands) = (next, true),
                    // The interpreter is no longer needed, and the page can reuse the worker.
                    Err(_) => return park::forget_running_guest(),
                }
                continue;
            }
            WorkerRemains::Ended(program) => program,
        };
        stands = false;
        // One spare instance is enough for a program with a large memory.
        let kept = park::reset_template(program)
            .filter(|t| !t.is_large() || !host.idle.has_spare(program));
        let own = if kept.is_some() { program_bit(program) } else { 0 };
        let next = host.idle.wait_here(ffi::spares() | own);
        // This is done last, so that at most the next process has to wait for it.
        park::guest_ended(kept);
        let Some(next) = next else { return };
        // A waiting worker must not keep the session alive: the wait ends with the session.
        drop(host);
        match next.recv() {
            Ok(next) => job = next,
            Err(_) => return,
        }
    }
}

/// The program that runs next in a process.
struct NextProgram {
    program: ProgramMark,
    loaded: PageProgram,
    entry: EntryPoint,
    /// Whether it continues in the existing instance.
    continues: bool,
}

impl NextProgram {
    /// Returns the prepared memory with which it starts, if it starts with one.
    fn prepared(&self) -> Option<&Arc<PageTemplate>> {
        let is = matches!(self.entry, EntryPoint::Resume | EntryPoint::Cell { is_prepared: true });
        self.loaded.0.as_ref().filter(|_| is)
    }
}

/// The end of a program, as its process sees it.
enum ProgramAftermath {
    Status(ProcessStatus),
    /// The process continues as another program, or from another memory.
    Next(NextProgram),
    /// There is no room for the program.
    Full,
}

/// The part of a process that stays in its worker.
enum WorkerRemains {
    /// A live interpreter, and the channel of its next cell.
    Stands(Receiver<Job>),
    /// The guest of an ended process, with its program.
    Ended(ProgramMark),
}

/// Runs a process to its end and reports it.
fn serve_job(job: Job, mut continues: bool) -> WorkerRemains {
    let Job { process, program, loaded, entry, memory, ready } = job;
    process.begin_thread();
    wasibox_vfs::budget::take_refused_here();
    let killed = process.clone();
    let _stop = wasibox_vfs::stop_when(move || killed.check_alive().is_err());
    let _proc = wasibox_kernel::show_proc(&process);
    let Some((slot, generation)) = slots::take_slot() else {
        // All slots are taken, which is the maximum number of processes.
        complain_to_process(&process, "there is no worker for it");
        finish_process(&process, ProcessStatus::Exited(126));
        return WorkerRemains::Ended(program);
    };
    lock_mutex(&RUNNING).get_or_insert_default().insert(slot, process.clone());
    process.watch.runs_at(slot, generation);
    set_process(Some(process.clone()));
    let mut memory = Some(memory);
    let mut is_there = true;
    if let Some(StandingInterpreter::Parked { parked, memory: held }) = ready {
        memory = Some(held);
        (continues, is_there) = (true, park::restore_parked(*parked));
    }
    let mut next = NextProgram { program, loaded, entry, continues };
    let mut answer = None;
    let status = loop {
        if let Some(signal) = process.fatal_signal() {
            break ProcessStatus::Signaled(signal);
        }
        let ran =
            if is_there { run(&process, &next, (slot, generation)) } else { ProgramResult::Cannot };
        match program_aftermath(&process, &next, ran, &mut answer) {
            ProgramAftermath::Status(status) => break status,
            ProgramAftermath::Next(another) => {
                park::guest_ended(park::reset_template(next.program));
                next = another;
            }
            ProgramAftermath::Full => break full_status(&process),
        }
        // The old memory's share is released first.
        drop(memory.take());
        memory = process
            .kernel
            .budget
            .reserve_bytes(process.kernel.host.memory_needs(&next.loaded, next.entry));
        if memory.is_none() {
            break full_status(&process);
        }
    };
    set_process(None);
    process.watch.runs_nowhere();
    lock_mutex(&RUNNING).get_or_insert_default().remove(&slot);
    slots::give_slot(None);
    let standing = keep_interpreter(&process, next.entry, answer, memory);
    finish_process(&process, status);
    standing.map_or(WorkerRemains::Ended(next.program), WorkerRemains::Stands)
}

/// Runs a program, or a cell of it, in this worker.
fn run(process: &Process, next: &NextProgram, place: (u32, u32)) -> ProgramResult {
    let kind = process.kernel.cell_kind();
    let begin = || park::begin_program(next.program, next.prepared(), next.entry);
    if !next.continues && !begin() {
        // JavaScript engines allow a few hundred memories. Those of ended guests count until their
        // worker collects garbage, which a waiting worker does not do.
        process.kernel.host.idle.let_go();
        ffi::make_room();
        if !begin() {
            return ProgramResult::Cannot;
        }
    }
    slots::to_guest();
    let ran = ffi::run(next.entry, kind, place);
    // If a call of the kernel has trapped, its locks are still locked, so nothing in the session
    // can be relied upon.
    assert!(!slots::is_in_kernel() || has_why(), "a call of the kernel has ended by {ran:?}");
    slots::to_kernel();
    ran
}

/// Returns the next step of the process after its program has ended with `ran`. The answer of a
/// cell is stored in `answer`.
fn program_aftermath(
    process: &Process,
    next: &NextProgram,
    ran: ProgramResult,
    answer: &mut Option<PageCellAnswer>,
) -> ProgramAftermath {
    let killed = || {
        ProgramAftermath::Status(ProcessStatus::Signaled(
            process.fatal_signal().unwrap_or(signal::KILL),
        ))
    };
    match (take_why(), ran) {
        (Some(Halt::Exec), _) => {
            let program = lock_mutex(&process.start).program;
            begin_at(process, program, EntryPoint::Start)
        }
        (Some(Halt::Exit(code)), _) => ProgramAftermath::Status(ProcessStatus::Exited(code)),
        (Some(Halt::Killed | Halt::Over), _) => killed(),
        (_, ProgramResult::Cannot) => ProgramAftermath::Full,
        (_, _) if process.fatal_signal().is_some() => killed(),
        (_, ProgramResult::Trap(signal)) => {
            complain_to_process(
                process,
                if signal == signal::ABRT { "aborted" } else { "ended by a trap" },
            );
            ProgramAftermath::Status(ProcessStatus::Signaled(signal))
        }
        (_, ProgramResult::Returned(n)) => match next.entry {
            EntryPoint::Start => ProgramAftermath::Status(ProcessStatus::Exited(0)),
            EntryPoint::Prepare => {
                let mut memory = vec![0; ffi::guest_size()];
                ffi::guest_read(0, &mut memory);
                *lock_mutex(&process.kernel.prepared) = Some(memory);
                ProgramAftermath::Status(ProcessStatus::Exited(0))
            }
            EntryPoint::Resume if n == 0 => ProgramAftermath::Status(ProcessStatus::Exited(0)),
            EntryPoint::Resume => begin_at(process, next.program, EntryPoint::Start),
            EntryPoint::Cell { .. } if n == 0 && process.kernel.cells.may_begin_anew() => {
                begin_at(process, next.program, EntryPoint::Cell { is_prepared: false })
            }
            EntryPoint::Cell { .. } => {
                *answer = PageCellAnswer::read(n).filter(|_| n != 0);
                ProgramAftermath::Status(match answer {
                    Some(answer) => ProcessStatus::Exited(answer.status),
                    None => {
                        complain_to_process(process, "the cell's answer is damaged");
                        ProcessStatus::Signaled(signal::ABRT)
                    }
                })
            }
        },
    }
}

/// Loads the program as which a process continues.
fn begin_at(process: &Process, program: ProgramMark, entry: EntryPoint) -> ProgramAftermath {
    match process.kernel.host.load_program(program) {
        Ok(loaded) => {
            ProgramAftermath::Next(NextProgram { program, loaded, entry, continues: false })
        }
        Err(_) => ProgramAftermath::Full,
    }
}

fn full_status(process: &Process) -> ProcessStatus {
    complain_to_process(process, "cannot start: the memory limit is reached");
    ProcessStatus::Exited(137)
}

/// Keeps the interpreter of a cell that has answered, and returns the channel of its next cell.
fn keep_interpreter(
    process: &Process,
    entry: EntryPoint,
    answer: Option<PageCellAnswer>,
    memory: Option<Reservation>,
) -> Option<Receiver<Job>> {
    let (answer, memory) = answer.zip(memory)?;
    let answer = PageCellAnswer { change: Some(park::take_change()?), ..answer };
    let (next, here) = channel();
    let is_prepared = entry == EntryPoint::Cell { is_prepared: true };
    process.kernel.cells.keep_process(
        process,
        StandingInterpreter::Waits { next, memory, is_prepared },
        answer,
    );
    Some(here)
}

/// Closes the process's resources and reports its end.
fn finish_process(process: &Arc<Process>, status: ProcessStatus) {
    // Readers of its pipes must see the end before a waiting parent does.
    let limit = process.kernel.limits.descriptors;
    drop(std::mem::replace(&mut *lock_mutex(&process.fds), Descriptors::new(limit)));
    process.kernel.process_ended(process, status);
}

/// Reports the end of a process whose worker was terminated in its guest's code.
pub fn reap_process(slot: u32) {
    let Some(process) = lock_mutex(&RUNNING).get_or_insert_default().remove(&slot) else { return };
    process.watch.runs_nowhere();
    slots::give_slot(Some(slot));
    let signal = process.fatal_signal().unwrap_or(signal::KILL);
    finish_process(&process, ProcessStatus::Signaled(signal));
}
