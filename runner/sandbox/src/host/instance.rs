//! Instances of programs, each of which can run one process after another.
//!
//! # Why instances are used again
//! Making an instance of a 12 MB program costs far more than running a small command in it: its
//! table of function references alone is a megabyte that the engine fills each time. A process can
//! change its memory and its globals, and both can be reset (`template` decides for which modules
//! that is true). So a thread whose process ended normally resets its instance and waits with it
//! for the next process of the same program. Measured on a busy machine in three alternating runs
//! each, with the engine's memories and an instance per process, and with this module: spawning a
//! program and waiting for it took 3.2 ms and 0.25 ms,
//! `bash -c 'echo hi | wc -c'` 7.3 ms and 0.32 ms.
//!
//! # Invariants
//! - An instance is used again only after a normal end: no trap, no signal, no interrupt.
//! - Between two processes nothing of the first one stays reachable: its memory is dropped by the
//!   host's kernel, globals get their first values, and the store drops the process.

use super::guest::StoreEnv;
use super::second::ThreadPattern;
use super::thread::ended_by;
use super::{Process, link};
use crate::cell::{ANSWER_LEN, CellAnswer, MAX_JSON, MAX_VALUE};
use crate::interrupt::take_thrown;
use crate::loaded::LoadedProgram;
use crate::memory::{NextMemoryGuard, RenewableMemory, put_here};
use crate::programs::{CodeHolder, function_of};
use crate::template::{ALIGN, global_name};
use crate::track::PART;
use box_abi::signal;
use rustix::mm;
use std::ops::Range;
use std::sync::Arc;
use wasibox_kernel::call_thread::START;
use wasibox_kernel::{
    EntryPoint, GO_ON, Halt, LOCALS, ProcessStatus, ProgramEnd, complain_to_process,
};
use wasibox_vfs::ProgramMark;
use wasibox_vfs::{Budget, Reservation};
use wasmer::{
    Extern, FunctionEnv, Global, Instance, InstantiationError, RuntimeError, Store, TypedFunction,
    Value,
};

/// The size in bytes of a memory above which it is reset before the end of its process is reported,
/// so that memory in use stays within the limit.
const SMALL: usize = 16 << 20;

/// An instance with its store.
pub struct ReadyInstance {
    /// The program of the instance.
    pub program: ProgramMark,
    /// The entry point of its processes.
    pub entry: EntryPoint,
    store: Store,
    env: FunctionEnv<StoreEnv>,
    function: EntryFunction,
    /// Exported globals with their first values; `None` if processes can change more than these.
    globals: Option<Vec<(Global, Value)>>,
    /// The memory to reset, if the instance may be used again.
    reset: Option<RenewableMemory>,
    /// The memory of a cell program.
    memory: Option<RenewableMemory>,
    /// The pattern for its process's further threads, if it may have any.
    pattern: Option<Arc<ThreadPattern>>,
    /// The charge of exceptions in its store, if its process has ended.
    thrown: ExceptionCharge,
    /// The charge for its process in addition to memory: tables and the first part of the stack.
    held: Option<Reservation>,
    /// The answer of the last cell.
    answer: Option<CellAnswer>,
    /// The last field, because fields are dropped in order and the code must outlive the instance.
    _code: Arc<CodeHolder>,
}

// JUSTIFICATION: an interpreter between two cells belongs to no thread and runs on another one
// next. SAFETY: the engine's store is not `Send` because it consists of raw pointers, all into
// memory that it owns itself, and because users of the store may put values of theirs into it: we
// put in `StoreEnv`, which is `Send` (the compiler checks it for each import), and no handler. The
// engine's data per thread (the context of a running call, its stack, its trap handlers) exist only
// during a call, which needs exclusive access to the value (`&mut`).
unsafe impl Send for ReadyInstance {}

/// The function that a process begins with.
enum EntryFunction {
    Plain(TypedFunction<(), ()>),
    /// See [`crate::snapshot::RESUME`].
    Resume(TypedFunction<(), i32>),
    /// See [`crate::snapshot::CELL`].
    Cell(TypedFunction<i32, i32>),
}

/// An instance with its store.
pub struct GuestInstance {
    pub store: Store,
    pub env: FunctionEnv<StoreEnv>,
    pub instance: Instance,
    /// The globals that can change.
    pub globals: Vec<Global>,
    pub here: NextMemoryGuard,
}

/// Makes an instance for a thread of `process`, with the memory that `put` has prepared for it.
pub fn instantiate_guest(
    process: &Arc<Process>,
    loaded: &LoadedProgram,
    put: impl FnOnce() -> NextMemoryGuard,
) -> Result<GuestInstance, ProgramEnd> {
    let mut store = Store::new(process.kernel.host.engine().clone());
    let env = StoreEnv { process: Some(process.clone()), memory: None, handler: None };
    let env = FunctionEnv::new(&mut store, env);
    let imports = link::module_imports(&mut store, &env, &loaded.module);
    let here = put();
    let instance = match Instance::new(&mut store, &loaded.module, &imports) {
        Ok(i) => i,
        Err(InstantiationError::Start(e)) => return Err(ended_by(process, e)),
        // A kill may come while the instance is made.
        Err(_) if process.fatal_signal().is_some() => {
            let sig = process.fatal_signal().unwrap_or(signal::KILL);
            return Err(ProgramEnd::Status(ProcessStatus::Signaled(sig)));
        }
        Err(e) => {
            let (text, status) = if here.is_refused() {
                ("cannot start: the memory limit is reached".to_owned(), 137)
            } else {
                (e.to_string(), 126)
            };
            complain_to_process(process, &text);
            return Err(ProgramEnd::Status(ProcessStatus::Exited(status)));
        }
    };
    if let Ok(memory) = instance.exports.get_memory("memory") {
        env.as_mut(&mut store).memory = Some(memory.clone());
    }
    let globals = instance.exports.iter().filter_map(|(name, e)| match e {
        Extern::Global(g) if name.starts_with(&global_name("")) => Some(g.clone()),
        _ => None,
    });
    let globals = globals.collect();
    Ok(GuestInstance { store, env, instance, globals, here })
}

/// Returns the pattern for further threads of a process. `None` if memory is being prepared for
/// later processes, or if an instance has changeable state in addition to memory and globals,
/// because each thread would then have its own copy of that state.
fn thread_pattern(
    store: &mut Store,
    instance: &Instance,
    entry: EntryPoint,
    loaded: &LoadedProgram,
    memory: &RenewableMemory,
) -> Option<Arc<ThreadPattern>> {
    instance.exports.get_function(START).ok()?;
    if !loaded.template.plain || entry == EntryPoint::Prepare {
        return None;
    }
    let locals = instance.exports.get_global(LOCALS).ok();
    let locals = locals.and_then(|g| match g.get(store) {
        Value::I32(at) => Some(at as u32),
        _ => None,
    });
    Some(Arc::new(ThreadPattern { loaded: loaded.clone(), memory: memory.share(), locals }))
}

/// The charge of exceptions, given back when their store is gone.
#[derive(Default)]
struct ExceptionCharge(Option<(Arc<Budget>, u64)>);

impl Drop for ExceptionCharge {
    fn drop(&mut self) {
        if let Some((budget, bytes)) = &self.0 {
            budget.give_bytes(*bytes);
        }
    }
}

/// The end of a call of an instance's function.
enum EntryResult {
    Ended,
    /// The program must start from its beginning.
    Declined,
    /// A cell's answer is at this address.
    Answered(u32),
}

/// The state of a cell program in addition to memory: a value for each global.
pub type Globals = Vec<u64>;

impl ReadyInstance {
    /// Makes an instance for `process`; `memory` is reserved for its memory.
    pub fn new(
        process: &Arc<Process>,
        program: ProgramMark,
        entry: EntryPoint,
        loaded: &LoadedProgram,
        memory: Option<Reservation>,
    ) -> Result<ReadyInstance, ProgramEnd> {
        let memory = memory.or_else(|| process.kernel.budget.reserve_bytes(loaded.needs(entry)));
        let put = || put_here(&process.kernel.budget, memory, loaded.memory_of(entry).clone());
        let GuestInstance { mut store, env, instance, globals, here } =
            instantiate_guest(process, loaded, put)?;
        let made = here.made();
        let pattern =
            made.as_ref().and_then(|m| thread_pattern(&mut store, &instance, entry, loaded, m));
        let (made, memory) = match entry {
            EntryPoint::Cell { .. } => (None, made),
            _ => (made.filter(|_| loaded.template.reusable), None),
        };
        let held = here.left();
        drop(here);
        // WASIX's libc exports this as its signal handler; it is used once the guest asks for it.
        if let Ok(h) = instance.exports.get_typed_function::<i32, ()>(&store, "__wasm_signal") {
            env.as_mut(&mut store).handler = Some(h);
        }
        let (exports, name) = (&instance.exports, function_of(entry));
        let function = match entry {
            EntryPoint::Resume => {
                exports.get_typed_function(&store, name).map(EntryFunction::Resume)
            }
            EntryPoint::Cell { .. } => {
                exports.get_typed_function(&store, name).map(EntryFunction::Cell)
            }
            _ => exports.get_typed_function(&store, name).map(EntryFunction::Plain),
        };
        let Ok(function) = function else {
            complain_to_process(process, "not a WASI command");
            return Err(ProgramEnd::Status(ProcessStatus::Exited(126)));
        };
        let globals = loaded
            .template
            .plain
            .then(|| globals.into_iter().map(|g| (g.clone(), g.get(&mut store))).collect());
        let _code = process.kernel.host.code.clone();
        let thrown = ExceptionCharge::default();
        let (reset, answer) = (made, None);
        #[rustfmt::skip]
        let ready = ReadyInstance { program, entry, store, env, function, globals, reset, memory, pattern, thrown, held, answer, _code };
        Ok(ready)
    }

    /// Attaches the instance to a process in which a cell is to run.
    pub fn attach_cell(&mut self, process: &Arc<Process>) {
        self.env.as_mut(&mut self.store).process = Some(process.clone());
    }

    /// Attaches the instance to a process, after [`ReadyInstance::renew`]. Returns false if the
    /// reservation does not fit this memory.
    pub fn take_on(&mut self, process: &Arc<Process>, mut memory: Reservation) -> bool {
        let Some(reset) = &self.reset else { return false };
        if !reset.charge(&mut memory) {
            return false;
        }
        self.held = Some(memory);
        self.env.as_mut(&mut self.store).process = Some(process.clone());
        true
    }

    /// Runs the process to its end; returns how it ended, and whether the instance may be used
    /// again or its memory kept.
    pub fn run(&mut self, process: &Arc<Process>) -> (ProgramEnd, bool) {
        process.threads.may_be(self.pattern.clone());
        let (end, well) = match process.fatal_signal() {
            Some(sig) => (ProgramEnd::Status(ProcessStatus::Signaled(sig)), false),
            None => match self.call_entry() {
                Ok(EntryResult::Ended) => (ProgramEnd::Status(ProcessStatus::Exited(0)), true),
                Ok(EntryResult::Declined) => (ProgramEnd::Anew, false),
                Ok(EntryResult::Answered(at)) => match self.answer_at(at) {
                    Some(answer) => {
                        let status = ProcessStatus::Exited(answer.status);
                        self.answer = Some(answer);
                        (ProgramEnd::Status(status), true)
                    }
                    None => {
                        complain_to_process(process, "the cell's answer is damaged");
                        (ProgramEnd::Status(ProcessStatus::Signaled(signal::ABRT)), false)
                    }
                },
                Err(e) => {
                    let well = matches!(e.downcast_ref::<Halt>(), Some(Halt::Exit(_)));
                    (ended_by(process, e), well)
                }
            },
        };
        let wanted = match self.entry {
            EntryPoint::Start | EntryPoint::Resume => self.reset.is_some(),
            EntryPoint::Prepare => true,
            EntryPoint::Cell { .. } => self.answer.is_some(),
        };
        let again = well && wanted && process.fatal_signal().is_none();
        (end, again)
    }

    fn call_entry(&mut self) -> Result<EntryResult, RuntimeError> {
        let declined = |n: i32| if n == 0 { EntryResult::Ended } else { EntryResult::Declined };
        match &self.function {
            EntryFunction::Plain(f) => f.call(&mut self.store).map(|()| EntryResult::Ended),
            EntryFunction::Resume(f) => f.call(&mut self.store).map(declined),
            EntryFunction::Cell(f) => {
                self.answer = None;
                let env = self.env.as_ref(&self.store);
                let kind = env.process.as_ref().map_or(GO_ON, |p| p.kernel.cell_kind());
                match f.call(&mut self.store, kind)? {
                    0 => Ok(EntryResult::Declined),
                    at => Ok(EntryResult::Answered(at as u32)),
                }
            }
        }
    }

    /// Reads a cell's answer, which the guest may write as it likes.
    fn answer_at(&self, at: u32) -> Option<CellAnswer> {
        let memory = self.env.as_ref(&self.store).memory.as_ref()?;
        let view = memory.view(&self.store);
        let mut head = [0; ANSWER_LEN];
        view.read(at.into(), &mut head).ok()?;
        let [status, value, value_len, json, json_len] = std::array::from_fn(|n| {
            u32::from_le_bytes(head[4 * n..4 * n + 4].try_into().unwrap_or_default())
        });
        let text = |at: u32, len: u32, most: usize| {
            if at == 0 {
                return Some(None);
            }
            let mut out = vec![0; (len as usize).min(most)];
            view.read(at.into(), &mut out).ok()?;
            Some(Some(out))
        };
        let value = text(value, value_len, MAX_VALUE)?;
        let json = text(json, json_len, MAX_JSON)?.filter(|_| json_len as usize <= MAX_JSON);
        Some(CellAnswer { status: u8::try_from(status).ok()?, value, json })
    }

    /// Takes the answer of the last cell.
    pub fn take_answer(&mut self) -> Option<CellAnswer> {
        self.answer.take()
    }

    /// Detaches the instance from the process of a cell, and keeps the charge of its exceptions.
    pub fn pause_cell(&mut self, process: &Process) {
        self.env.as_mut(&mut self.store).process = None;
        let more = take_thrown(process);
        let (_, bytes) = self.thrown.0.get_or_insert((process.kernel.budget.clone(), 0));
        *bytes += more;
    }

    /// Returns the place of its memory: the address, the reserved bytes, and its size.
    pub fn memory_place(&self) -> Option<(usize, usize, usize)> {
        let memory = self.memory.as_ref()?;
        let (base, reserved) = memory.place();
        Some((base, reserved, memory.size()))
    }

    /// Returns the part of its memory with that number; parts have [`PART`] bytes.
    pub fn memory_part(&self, number: u32) -> Option<&[u8]> {
        let at = self.part_at(number)?;
        // JUSTIFICATION: the engine's safe copy goes byte by byte, 3 us for a part. SAFETY: it lies
        // in the memory. `&self` borrows the store, so that while the slice lives no code of the
        // guest runs and the memory does not grow; and it is not shared.
        Some(unsafe { std::slice::from_raw_parts(at.cast_const(), PART) })
    }

    /// Returns the same part, but mutable.
    pub fn part_mut(&mut self, number: u32) -> Option<&mut [u8]> {
        let at = self.part_at(number)?;
        // JUSTIFICATION, SAFETY: as for `memory_part`; `&mut self` makes the slice the only one.
        Some(unsafe { std::slice::from_raw_parts_mut(at, PART) })
    }

    /// Makes the system create pages for parts that are about to be written to: one call, instead
    /// of two faults for each of them.
    pub fn populate_parts(&mut self, parts: Range<u32>) {
        let Some(last) = parts.end.checked_sub(1) else { return };
        let (Some(at), Some(_)) = (self.part_at(parts.start), self.part_at(last)) else { return };
        let len = parts.len() * PART;
        // JUSTIFICATION: only the system makes pages. SAFETY: the range lies in the memory, and its
        // content stays. If the system cannot, the pages are made when they are written to.
        let _ = unsafe { mm::madvise(at.cast(), len, mm::Advice::LinuxPopulateWrite) };
    }

    /// Returns the address of that part, if all of it lies in the memory.
    fn part_at(&self, number: u32) -> Option<*mut u8> {
        let memory = self.env.as_ref(&self.store).memory.as_ref()?;
        let view = memory.view(&self.store);
        let at = u64::from(number) * PART as u64;
        let fits = at + PART as u64 <= view.data_size();
        // JUSTIFICATION: an address within the memory, for the slices above.
        // SAFETY: it lies in the memory's one allocation.
        fits.then(|| unsafe { view.data_ptr().add(at as usize) })
    }

    /// Grows its memory to at least `size` bytes; returns false if the limit does not allow it.
    pub fn grow_to(&mut self, size: u64) -> bool {
        let Some(memory) = self.env.as_ref(&self.store).memory.clone() else { return false };
        let now = memory.view(&self.store).data_size();
        let Ok(more) = u32::try_from(size.saturating_sub(now) / ALIGN as u64) else { return false };
        more == 0 || memory.grow(&mut self.store, more).is_ok()
    }

    /// Returns the values of its globals; `None` if processes can change more than these.
    pub fn global_values(&mut self) -> Option<Globals> {
        let bits = |value| match value {
            Value::I32(n) => Some(u64::from(n as u32)),
            Value::I64(n) => Some(n as u64),
            Value::F32(x) => Some(u64::from(x.to_bits())),
            Value::F64(x) => Some(x.to_bits()),
            _ => None,
        };
        let all = self.globals.as_ref()?.iter();
        all.map(|(g, _)| bits(g.get(&mut self.store))).collect()
    }

    /// Sets its globals; returns false if the values belong to another program.
    pub fn set_globals(&mut self, values: &[u64]) -> bool {
        let Some(globals) = self.globals.as_ref().filter(|g| g.len() == values.len()) else {
            return false;
        };
        globals.iter().zip(values).all(|((g, first), bits)| {
            let narrow = u32::try_from(*bits);
            let value = match (first, narrow) {
                (Value::I32(_), Ok(n)) => Value::I32(n as i32),
                (Value::F32(_), Ok(n)) => Value::F32(f32::from_bits(n)),
                (Value::I64(_), _) => Value::I64(*bits as i64),
                (Value::F64(_), _) => Value::F64(f64::from_bits(*bits)),
                _ => return false,
            };
            g.set(&mut self.store, value).is_ok()
        })
    }

    /// Returns the present content of its memory, if it has no other changed state.
    pub fn memory_content(&mut self) -> Option<Vec<u8>> {
        let first = |(g, v): &(Global, Value)| g.get(&mut self.store) == *v;
        if !self.globals.as_ref()?.iter().all(first) {
            return None;
        }
        let memory = self.env.as_ref(&self.store).memory.clone()?;
        memory.view(&self.store).copy_to_vec().ok()
    }

    /// Detaches the instance from its process. Returns true if [`ReadyInstance::renew`] must be
    /// called before the end of the process is reported.
    pub fn let_go(&mut self) -> bool {
        self.env.as_mut(&mut self.store).process = None;
        self.held = None;
        self.reset.as_ref().is_some_and(|r| r.size() > SMALL)
    }

    /// Resets the instance to its initial state; returns false if that failed.
    pub fn renew(&mut self) -> bool {
        let Some(reset) = &self.reset else { return false };
        // JUSTIFICATION: see `RenewableMemory::renew`. SAFETY: the store is ours and runs nothing;
        // views of the memory live within one call of the guest only (`guest::CallMemoryView`).
        if unsafe { reset.renew() }.is_err() {
            return false;
        }
        self.globals.iter().flatten().all(|(g, v)| g.set(&mut self.store, v.clone()).is_ok())
    }
}
