//! A program ready to run as a process, and again for the next one.
//!
//! # Why instances are used again
//! Making an instance of a 12 MB program costs far more than running a small command in it: its
//! table of function references alone is a megabyte that the engine fills anew. What a process
//! can change is its memory and its globals, and both can be put back (`template` decides for
//! which modules that is true). So a thread whose process ended well resets its instance and
//! waits, with it, for the next process of the same program. Measured on a busy machine, three
//! alternating runs each, engine's memories and an instance per process against this: a program
//! spawned and waited for 3.2 ms against 0.25, `bash -c 'echo hi | wc -c'` 7.3 ms against 0.32.
//!
//! # Invariants
//! - An instance is used again only after a normal end: no trap, no signal, no interrupt.
//! - Between two processes nothing of the first one stays reachable: its memory is dropped by
//!   the host's kernel, globals get their first values, and the store lets go of the process.

use super::guest::{Env, Halt};
use super::link;
use super::process::Process;
use super::thread::{End, complain, ended_by};
use crate::memory::{Renewable, put_here};
use crate::outcome::Status;
use crate::programs::{Code, Entry, Loaded};
use crate::template::global_name;
use std::sync::Arc;
use wasibox_vfs::Program;
use wasibox_vfs::Reservation;
use wasmer::{
    Extern, FunctionEnv, Global, Instance, InstantiationError, RuntimeError, Store, TypedFunction,
    Value,
};

/// A renewed memory that had grown beyond this is given back before its process is
/// reported as ended, so that memory in use stays within the limit.
const SMALL: usize = 16 << 20;

/// An instance with its store.
pub struct Ready {
    /// Which program it is an instance of.
    pub program: Program,
    /// Where its processes begin.
    pub entry: Entry,
    store: Store,
    env: FunctionEnv<Env>,
    function: Function,
    /// Exported globals with their first values; `None` if that is not all that can change.
    globals: Option<Vec<(Global, Value)>>,
    /// What puts memory back to its beginning, if the instance may serve again.
    reset: Option<Renewable>,
    /// Charged for its process besides memory: tables and the first part of the stack.
    held: Option<Reservation>,
    /// The last field, since fields are dropped in order.
    _code: Arc<Code>,
}

/// What a process begins with.
enum Function {
    Plain(TypedFunction<(), ()>),
    /// See [`crate::snapshot::RESUME`].
    Resume(TypedFunction<(), i32>),
}

impl Ready {
    /// Makes an instance for `process`; `memory` is reserved for its memory.
    pub fn new(
        process: &Arc<Process>,
        program: Program,
        entry: Entry,
        loaded: &Loaded,
        memory: Option<Reservation>,
    ) -> Result<Ready, End> {
        let mut store = Store::new(process.kernel.programs.engine().clone());
        let env = Env { process: Some(process.clone()), memory: None, handler: None };
        let env = FunctionEnv::new(&mut store, env);
        let imports = link::imports(&mut store, &env, &loaded.module);
        let memory = memory.or_else(|| process.kernel.budget.reserve(loaded.needs(entry)));
        let here = put_here(memory, loaded.memory_of(entry).clone());
        let instance = match Instance::new(&mut store, &loaded.module, &imports) {
            Ok(i) => i,
            Err(InstantiationError::Start(e)) => return Err(ended_by(process, e)),
            // A kill may come while the instance is made.
            Err(_) if process.fatal().is_some() => {
                let sig = process.fatal().unwrap_or(9);
                return Err(End::Status(Status::Signaled(sig)));
            }
            Err(e) => {
                let why = e.to_string();
                let memory = why.contains("memory limit");
                let text = if memory { "cannot start: the memory limit is reached" } else { &why };
                complain(process, text);
                return Err(End::Status(Status::Exited(if memory { 137 } else { 126 })));
            }
        };
        let made = here.made().filter(|_| loaded.template.reusable);
        let held = here.left();
        drop(here);
        if let Ok(memory) = instance.exports.get_memory("memory") {
            env.as_mut(&mut store).memory = Some(memory.clone());
        }
        // What WASIX's libc exports as its signal handler; used once the guest asks for it.
        if let Ok(h) = instance.exports.get_typed_function::<i32, ()>(&store, "__wasm_signal") {
            env.as_mut(&mut store).handler = Some(h);
        }
        let (exports, name) = (&instance.exports, entry.function());
        let function = match entry {
            Entry::Resume => exports.get_typed_function(&store, name).map(Function::Resume),
            _ => exports.get_typed_function(&store, name).map(Function::Plain),
        };
        let Ok(function) = function else {
            complain(process, "not a WASI command");
            return Err(End::Status(Status::Exited(126)));
        };
        let globals = loaded.template.plain.then(|| {
            let exported = instance.exports.iter().filter_map(|(name, e)| match e {
                Extern::Global(g) if name.starts_with(&global_name("")) => Some(g.clone()),
                _ => None,
            });
            exported.map(|g| (g.clone(), g.get(&mut store))).collect()
        });
        let _code = process.kernel.programs.code.clone();
        Ok(Ready { program, entry, store, env, function, globals, reset: made, held, _code })
    }

    /// Takes a process on, after [`Ready::renew`]. False if its reservation is not for this memory.
    pub fn take_on(&mut self, process: &Arc<Process>, mut memory: Reservation) -> bool {
        let Some(reset) = &self.reset else { return false };
        if !reset.charge(&mut memory) {
            return false;
        }
        self.held = Some(memory);
        self.env.as_mut(&mut self.store).process = Some(process.clone());
        true
    }

    /// Runs the process to its end; whether the instance may be used again, or its memory kept.
    pub fn run(&mut self, process: &Arc<Process>) -> (End, bool) {
        let (end, well) = match process.fatal() {
            Some(sig) => (End::Status(Status::Signaled(sig)), false),
            None => match self.call() {
                Ok(0) => (End::Status(Status::Exited(0)), true),
                Ok(_) => (End::Anew, false),
                Err(e) => {
                    let well = matches!(e.downcast_ref::<Halt>(), Some(Halt::Exit(_)));
                    (ended_by(process, e), well)
                }
            },
        };
        let wanted = self.reset.is_some() || self.entry == Entry::Prepare;
        let again = well && wanted && process.fatal().is_none();
        (end, again)
    }

    /// 0 if the process has ended, another number if it wants its beginning.
    fn call(&mut self) -> Result<i32, RuntimeError> {
        match &self.function {
            Function::Plain(f) => f.call(&mut self.store).map(|()| 0),
            Function::Resume(f) => f.call(&mut self.store),
        }
    }

    /// What its memory holds now, if that is all that has changed.
    pub fn content(&mut self) -> Option<Vec<u8>> {
        let first = |(g, v): &(Global, Value)| g.get(&mut self.store) == *v;
        if !self.globals.as_ref()?.iter().all(first) {
            return None;
        }
        let memory = self.env.as_ref(&self.store).memory.clone()?;
        memory.view(&self.store).copy_to_vec().ok()
    }

    /// Lets go of the process. True if [`Ready::renew`] must come before its end is told.
    pub fn let_go(&mut self) -> bool {
        self.env.as_mut(&mut self.store).process = None;
        self.held = None;
        self.reset.as_ref().is_some_and(|r| r.size() > SMALL)
    }

    /// Puts the instance back to its beginning; false if that failed.
    pub fn renew(&mut self) -> bool {
        let Some(reset) = &self.reset else { return false };
        // JUSTIFICATION: see `Renewable::renew`.
        // SAFETY: the store is ours and runs nothing; views of the memory live within one call of
        // the guest only (`guest::Mem`).
        if unsafe { reset.renew() }.is_err() {
            return false;
        }
        self.globals.iter().flatten().all(|(g, v)| g.set(&mut self.store, v.clone()).is_ok())
    }
}
