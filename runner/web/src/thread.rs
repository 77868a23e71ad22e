//! The workers that run processes.
//!
//! A worker runs one process at a time and then waits for the next one: to begin one takes the page's help. One in which an
//! interpreter stands waits for that one's next cell.

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

/// Workers that wait for more work.
const MAX_IDLE: usize = 8;
/// Of the kernel's half of a worker; the guest has the engine's.
const STACK: usize = 256 << 10;

/// The processes that run in workers, by slot.
static RUNNING: Mutex<Option<HashMap<u32, Arc<Process>>>> = Mutex::new(None);

/// A worker that waits.
struct WaitingWorker {
    next: Sender<Job>,
    /// The programs that it has, a bit for each: none can be handed to it any more.
    programs: u32,
    /// Those that begin there without the cost of an instance.
    spares: u32,
}

/// A program's bit; there is none for those after the 32nd.
fn program_bit(program: ProgramMark) -> u32 {
    1u32.checked_shl(program.0).unwrap_or(0)
}

/// The waiting workers of a session.
#[derive(Default)]
pub struct IdleWorkers(Mutex<Vec<WaitingWorker>>);

impl IdleWorkers {
    /// The calling worker waits; `None` if enough others do.
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

    /// Whether a worker waits where a program begins at once.
    fn has_spare(&self, program: ProgramMark) -> bool {
        lock_mutex(&self.0).iter().any(|waiting| waiting.spares & program_bit(program) != 0)
    }

    /// Lets them all go.
    fn let_go(&self) {
        lock_mutex(&self.0).clear();
    }

    /// Gives a job to a worker that has its program: one where that begins at once, else the one that began to wait last.
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
            // Its worker waits, until this is gone.
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

/// A worker's life.
fn work_jobs(first: Job) {
    let mut job = first;
    // An interpreter is here that goes on.
    let mut stands = false;
    loop {
        let host = job.process.kernel.host.clone();
        let program = match serve_job(job, stands) {
            WorkerRemains::Stands(next) => {
                drop(host);
                match next.recv() {
                    Ok(next) => (job, stands) = (next, true),
                    // The interpreter is not wanted any more; the page has a use for the worker.
                    Err(_) => return park::forget_running_guest(),
                }
                continue;
            }
            WorkerRemains::Ended(program) => program,
        };
        stands = false;
        // Of each program with a large memory one is enough.
        let kept = park::reset_template(program)
            .filter(|t| !t.is_large() || !host.idle.has_spare(program));
        let own = if kept.is_some() { program_bit(program) } else { 0 };
        let next = host.idle.wait_here(ffi::spares() | own);
        // Nobody waits for this; the next process does so at most.
        park::guest_ended(kept);
        let Some(next) = next else { return };
        // Waiting must not keep the session alive; its end ends the wait.
        drop(host);
        match next.recv() {
            Ok(next) => job = next,
            Err(_) => return,
        }
    }
}

/// What runs next in a process.
struct NextProgram {
    program: ProgramMark,
    loaded: PageProgram,
    entry: EntryPoint,
    /// In the instance that is here.
    goes_on: bool,
}

impl NextProgram {
    /// The prepared memory that it begins with, if it does.
    fn prepared(&self) -> Option<&Arc<PageTemplate>> {
        let is = matches!(self.entry, EntryPoint::Resume | EntryPoint::Cell { is_prepared: true });
        self.loaded.0.as_ref().filter(|_| is)
    }
}

/// How a program has ended, for its process.
enum ProgramAftermath {
    Status(ProcessStatus),
    /// It goes on as another program, or from another memory.
    Next(NextProgram),
    /// Out of room.
    Full,
}

/// What a process leaves in its worker.
enum WorkerRemains {
    /// An interpreter, and where its next cell comes from.
    Stands(Receiver<Job>),
    /// The guest of an ended process, of that program.
    Ended(ProgramMark),
}

/// Runs a process to its end and reports it.
fn serve_job(job: Job, mut goes_on: bool) -> WorkerRemains {
    let Job { process, program, loaded, entry, memory, ready } = job;
    process.begin_thread();
    wasibox_vfs::budget::take_refused_here();
    let killed = process.clone();
    let _stop = wasibox_vfs::stop_when(move || killed.check_alive().is_err());
    let Some((slot, generation)) = slots::take_slot() else {
        // There are as many as processes may be.
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
        (goes_on, is_there) = (true, park::restore_parked(*parked));
    }
    let mut next = NextProgram { program, loaded, entry, goes_on };
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
        // The old one's is given back first.
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
    if !next.goes_on && !begin() {
        // Engines have room for some hundred memories, and those that ended guests had take it up until their worker's
        // collector comes by; which it does not in a worker that waits.
        process.kernel.host.idle.let_go();
        ffi::make_room();
        if !begin() {
            return ProgramResult::Cannot;
        }
    }
    slots::to_guest();
    let ran = ffi::run(next.entry, kind, place);
    // A call that has trapped by itself has left locked what it had locked: nothing of the session can be relied upon.
    assert!(!slots::is_in_kernel() || has_why(), "a call of the kernel has ended by {ran:?}");
    slots::to_kernel();
    ran
}

/// What comes after a program that has ended so; what its cell has answered is left in `answer`.
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

/// A program that a process goes on as.
fn begin_at(process: &Process, program: ProgramMark, entry: EntryPoint) -> ProgramAftermath {
    match process.kernel.host.load_program(program) {
        Ok(loaded) => {
            ProgramAftermath::Next(NextProgram { program, loaded, entry, goes_on: false })
        }
        Err(_) => ProgramAftermath::Full,
    }
}

fn full_status(process: &Process) -> ProcessStatus {
    complain_to_process(process, "cannot start: the memory limit is reached");
    ProcessStatus::Exited(137)
}

/// Keeps the interpreter that has answered.
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

/// Closes what the process has and reports its end.
fn finish_process(process: &Arc<Process>, status: ProcessStatus) {
    // Readers of its pipes must see the end before a waiting parent does.
    let limit = process.kernel.limits.descriptors;
    drop(std::mem::replace(&mut *lock_mutex(&process.fds), Descriptors::new(limit)));
    process.kernel.process_ended(process, status);
}

/// Tells the end of a process whose worker was terminated in its guest's code.
pub fn reap_process(slot: u32) {
    let Some(process) = lock_mutex(&RUNNING).get_or_insert_default().remove(&slot) else { return };
    process.watch.runs_nowhere();
    slots::give_slot(Some(slot));
    let signal = process.fatal_signal().unwrap_or(signal::KILL);
    finish_process(&process, ProcessStatus::Signaled(signal));
}
