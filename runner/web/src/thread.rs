//! The workers that run processes.
//!
//! A worker runs one process at a time and then waits for the next one: to begin one takes the page's help. One in which an
//! interpreter stands waits for that one's next cell.

use crate::calls::{set_process, take_why};
use crate::cell::{Answer, Standing};
use crate::ffi::{self, Ran};
use crate::host::{Job, Process, Web};
use crate::{lock, slots};
use std::collections::HashMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use wasibox_kernel::{Descriptors, Entry, Halt, Status, complain};
use wasibox_vfs::{Program, Reservation};

/// Workers that wait for more work.
const MAX_IDLE: usize = 8;
/// Of the kernel's half of a worker; the guest has the engine's.
const STACK: usize = 256 << 10;
const SIGKILL: u8 = 9;
const SIGABRT: u8 = 6;

/// The processes that run in workers, by slot.
static RUNNING: Mutex<Option<HashMap<u32, Arc<Process>>>> = Mutex::new(None);

/// A worker that waits.
struct Waiting {
    next: Sender<Job>,
    /// The programs that it has, a bit for each: none can be handed to it any more.
    programs: u32,
}

/// The waiting workers of a session.
#[derive(Default)]
pub struct Idle(Mutex<Vec<Waiting>>);

impl Idle {
    fn wait_here(&self) -> Option<Receiver<Job>> {
        let mut idle = lock(&self.0);
        if idle.len() >= MAX_IDLE {
            return None;
        }
        let (next, receiver) = channel();
        idle.push(Waiting { next, programs: ffi::programs() });
        Some(receiver)
    }

    /// Gives a job to the worker that began to wait last of those that have its program.
    fn hand_over(&self, job: Job) -> Option<Job> {
        let program = 1u32.checked_shl(job.program.0).unwrap_or(0);
        let mut idle = lock(&self.0);
        let found = idle.iter().rposition(|waiting| waiting.programs & program != 0);
        let thread = found.map(|n| idle.remove(n));
        drop(idle);
        match thread {
            Some(thread) => thread.next.send(job).err().map(|e| e.0),
            None => Some(job),
        }
    }
}

/// Runs a job in its interpreter's worker, in a waiting one or in a new one.
pub fn start(host: &Web, mut job: Job) -> std::io::Result<()> {
    if let Some(Standing { next, memory }) = job.ready.take() {
        job.memory = memory;
        // Its worker waits, until this is gone.
        return next.send(job).map_err(|_| std::io::ErrorKind::BrokenPipe.into());
    }
    if !ffi::need(job.program.0) {
        return Err(std::io::ErrorKind::NotFound.into());
    }
    let Some(job) = host.idle.hand_over(job) else { return Ok(()) };
    std::thread::Builder::new().stack_size(STACK).spawn(move || work(job)).map(drop)
}

/// A worker's life.
fn work(first: Job) {
    let mut job = first;
    // An interpreter is here that goes on.
    let mut stands = false;
    loop {
        let host = job.process.kernel.host.clone();
        let standing = serve(job, stands);
        stands = false;
        if let Some(next) = standing {
            drop(host);
            match next.recv() {
                Ok(next) => (job, stands) = (next, true),
                // The interpreter is not wanted any more; the page has a use for the worker.
                Err(_) => return ffi::forget_guest(),
            }
            continue;
        }
        let Some(next) = host.idle.wait_here() else { return };
        // Waiting must not keep the session alive; its end ends the wait.
        drop(host);
        match next.recv() {
            Ok(next) => job = next,
            Err(_) => return,
        }
    }
}

/// What runs next in a process.
struct Next {
    program: Program,
    entry: Entry,
    /// In the instance that is here.
    goes_on: bool,
}

/// Runs a process to its end and reports it. Where its next cell comes from, if it is an interpreter that stays.
fn serve(job: Job, goes_on: bool) -> Option<Receiver<Job>> {
    let Job { process, program, entry, memory, .. } = job;
    process.begin();
    wasibox_vfs::budget::take_refused_here();
    let killed = process.clone();
    let _stop = wasibox_vfs::stop_when(move || killed.alive().is_err());
    let Some((slot, generation)) = slots::take() else {
        // There are as many as processes may be.
        complain(&process, "there is no worker for it");
        finish(&process, Status::Exited(126));
        return None;
    };
    lock(&RUNNING).get_or_insert_default().insert(slot, process.clone());
    process.watch.runs_at(slot, generation);
    set_process(Some(process.clone()));
    let mut memory = Some(memory);
    let mut next = Next { program, entry, goes_on };
    let mut answer = None;
    let status = loop {
        if let Some(signal) = process.fatal() {
            break Status::Signaled(signal);
        }
        let ran = run(&process, &next, (slot, generation));
        if let Ran::Answered(at) = ran
            && process.fatal().is_none()
        {
            answer = Answer::read(at);
            break match &answer {
                Some(answer) => Status::Exited(answer.status),
                None => {
                    complain(&process, "the cell's answer is damaged");
                    Status::Signaled(SIGABRT)
                }
            };
        }
        match ended(&process, ran) {
            Some(status) => break status,
            None => {
                let program = lock(&process.start).program;
                next = Next { program, entry: Entry::Start, goes_on: false };
                ffi::forget_guest();
                memory = anew(&process, program, memory.take());
                if memory.is_none() {
                    complain(&process, "cannot start: the memory limit is reached");
                    break Status::Exited(137);
                }
            }
        }
    };
    set_process(None);
    process.watch.runs_nowhere();
    lock(&RUNNING).get_or_insert_default().remove(&slot);
    slots::give(None);
    let standing = keep(&process, answer, memory);
    if standing.is_none() {
        ffi::forget_guest();
    }
    finish(&process, status);
    standing
}

/// Runs a program, or a cell of it, in this worker.
fn run(process: &Process, next: &Next, place: (u32, u32)) -> Ran {
    slots::to_guest();
    let ran = match next.entry {
        Entry::Cell { .. } => {
            let kind = process.kernel.cell_kind() as u32;
            ffi::run_cell(next.program.0, place, kind, next.goes_on)
        }
        _ => ffi::run(next.program.0, place),
    };
    slots::to_kernel();
    ran
}

/// The memory of the program that a process has begun instead of its own.
fn anew(process: &Process, program: Program, old: Option<Reservation>) -> Option<Reservation> {
    drop(old);
    let kernel = &process.kernel;
    kernel.budget.reserve(*kernel.host.begins_with.get(program.0 as usize)?)
}

/// Keeps the interpreter that has answered.
fn keep(
    process: &Process,
    answer: Option<Answer>,
    memory: Option<Reservation>,
) -> Option<Receiver<Job>> {
    let (answer, memory) = answer.zip(memory)?;
    let (next, here) = channel();
    process.kernel.cells.keep(process, Standing { next, memory }, answer);
    Some(here)
}

/// What the end of its program means for a process; `None` if it goes on as another one.
fn ended(process: &Process, ran: Ran) -> Option<Status> {
    let killed = || Status::Signaled(process.fatal().unwrap_or(SIGKILL));
    let status = match (take_why(), ran) {
        (Some(Halt::Exec), _) => return None,
        (Some(Halt::Exit(code)), _) => Status::Exited(code),
        (Some(Halt::Killed | Halt::Over), _) => killed(),
        (_, Ran::Returned) => Status::Exited(0),
        // By a signal that came as it ended.
        (_, Ran::Answered(_)) => killed(),
        (_, Ran::Cannot) => {
            complain(process, "cannot start: the memory limit is reached");
            Status::Exited(137)
        }
        (_, Ran::Trap(_)) if process.fatal().is_some() => killed(),
        (_, Ran::Trap(signal)) => {
            complain(process, if signal == SIGABRT { "aborted" } else { "ended by a trap" });
            Status::Signaled(signal)
        }
    };
    Some(status)
}

/// Closes what the process has and reports its end.
fn finish(process: &Arc<Process>, status: Status) {
    // Readers of its pipes must see the end before a waiting parent does.
    let limit = process.kernel.limits.descriptors;
    drop(std::mem::replace(&mut *lock(&process.fds), Descriptors::new(limit)));
    process.kernel.ended(process, status);
}

/// Tells the end of a process whose worker was terminated in its guest's code.
pub fn reap(slot: u32) {
    let Some(process) = lock(&RUNNING).get_or_insert_default().remove(&slot) else { return };
    process.watch.runs_nowhere();
    slots::give(Some(slot));
    let signal = process.fatal().unwrap_or(SIGKILL);
    finish(&process, Status::Signaled(signal));
}
