//! The thread of the host that runs a guest's second and further threads.
//!
//! It has an instance of the process's module, whose memory is the process's ([`share_here`]).
//! Making an instance takes milliseconds for a large program, so the thread then waits with it for
//! the process's next thread, like the threads that run processes (`thread`); it ends with the
//! process at the latest.

use super::guest::StoreEnv;
use super::instance::instantiate_guest;
use super::thread::ended_by;
use super::{Process, ThreadJob};
use crate::interrupt::{self, forget_thrown_here, has_thrown_here, watch_process};
use crate::loaded::LoadedProgram;
use crate::memory::{RenewableMemory, share_here};
use crate::stack;
use box_abi::signal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use wasibox_kernel::call_thread::START;
use wasibox_kernel::{Halt, ProcessStatus, ProgramEnd, ThreadTask, complain_to_process};
use wasibox_vfs::budget::take_refused_here;
use wasmer::{FunctionEnv, Global, Store, TypedFunction, Value};

/// The pattern for a process's further threads.
pub struct ThreadPattern {
    pub loaded: LoadedProgram,
    /// The process's memory.
    pub memory: RenewableMemory,
    /// The address of the guest's list of variables of which each thread has its own copy
    /// ([`wasibox_kernel::LOCALS`]).
    pub locals: Option<u32>,
}

struct SecondThread {
    store: Store,
    _env: FunctionEnv<StoreEnv>,
    start: TypedFunction<(i32, i32), ()>,
    globals: Vec<(Global, Value)>,
}

/// Starts a thread of the host for threads of a process.
pub fn start_thread(job: ThreadJob) -> std::io::Result<()> {
    // As for processes: host functions run on this stack, guest code has its own.
    let builder = std::thread::Builder::new().stack_size(512 << 10);
    builder.spawn(move || run_thread(job)).map(drop)
}

/// Runs a thread of the host until it ends.
fn run_thread(host: ThreadJob) {
    let process = host.process.clone();
    let budget = process.kernel.budget.clone();
    // Dropped after the module and everything made from it.
    let code = process.kernel.host.code.clone();
    interrupt::unblock_signals();
    stack::prepare_stack(process.kernel.limits.stack);
    take_refused_here();
    {
        let ended = process.clone();
        let _stop = wasibox_vfs::stop_when(move || ended.check_alive().is_err());
        let _proc = wasibox_kernel::show_proc(&process);
        serve_all(host);
    }
    stack::release_stack(&budget);
    drop(code);
    if take_refused_here() {
        process.threads.starved.store(true, Ordering::Relaxed);
    }
    // The process may end from here on: only its thread count is still used.
    process.threads.host_gone();
}

fn serve_all(host: ThreadJob) {
    let ThreadJob { process, .. } = &host;
    let threads = &process.threads;
    let mut second = None;
    let mut task = ThreadTask { ..host.task };
    loop {
        // Other threads run meanwhile, because this does not touch the memory.
        let made = match second.take() {
            Some(second) => Ok(second),
            None => catch_unwind(AssertUnwindSafe(|| SecondThread::new(&host)))
                .unwrap_or_else(|_| Err(internal_end(process))),
        };
        threads.begin(task.number);
        let end = match made {
            Ok(_) if process.check_alive().is_err() => None,
            Ok(made) => run(&host, second.insert(made), &task),
            Err(end) => Some(end),
        };
        let is_well = end.is_none() && process.check_alive().is_ok() && !has_thrown_here();
        stack::close_stack(&process.kernel.budget);
        if !is_well {
            second = None;
            forget_thrown_here(process);
        }
        let (sender, next) = channel();
        let waits = is_well && threads.wait_here(sender);
        threads.leave(task.number, end);
        if !waits {
            return;
        }
        match next.recv() {
            Ok(next) => task = next,
            Err(_) => return,
        }
    }
}

fn internal_end(process: &Process) -> ProgramEnd {
    complain_to_process(process, "internal error of the sandbox");
    ProgramEnd::Status(ProcessStatus::Signaled(signal::ABRT))
}

/// Runs a thread to its end; returns its effect on the process.
fn run(host: &ThreadJob, second: &mut SecondThread, task: &ThreadTask) -> Option<ProgramEnd> {
    let process = &host.process;
    let tid = process.thread_id(task.number);
    let called = {
        let _watched = watch_process(process, host.pattern.loaded.exception());
        let begin = || {
            for (global, first) in &second.globals {
                global.set(&mut second.store, first.clone())?;
            }
            second.start.call(&mut second.store, tid as i32, task.argument as i32)
        };
        catch_unwind(AssertUnwindSafe(begin))
    };
    let error = match called {
        Ok(Ok(())) => return None,
        Ok(Err(error)) => error,
        Err(_) => return Some(internal_end(process)),
    };
    match error.downcast_ref::<Halt>() {
        Some(Halt::ThreadExit | Halt::Over | Halt::Killed) => None,
        _ if process.check_alive().is_err() => None,
        _ => Some(ended_by(process, error)),
    }
}

impl SecondThread {
    fn new(host: &ThreadJob) -> Result<SecondThread, ProgramEnd> {
        let process = &host.process;
        let put = || share_here(&host.pattern.memory);
        let made = instantiate_guest(process, &host.pattern.loaded, put)?;
        let (mut store, _env) = (made.store, made.env);
        let Ok(start) = made.instance.exports.get_typed_function(&store, START) else {
            complain_to_process(process, "cannot run its thread");
            return Err(ProgramEnd::Status(ProcessStatus::Exited(126)));
        };
        let globals = made.globals.into_iter().map(|g| (g.clone(), g.get(&mut store))).collect();
        Ok(SecondThread { store, _env, start, globals })
    }
}
