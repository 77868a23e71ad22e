//! Interpreters that stay between cells: running cells, parking and restoring.
//!
//! A *program with cells* exports the function `wasibox_cell` (see [`crate::snapshot`]) in addition
//! to the exports of every program. [`SessionSandbox::cell`] starts it once under a name, on the
//! memory that was prepared for all processes, and calls that function for each cell. The function
//! returns with an empty stack, so between two cells the interpreter consists of its linear memory,
//! its globals and its table of descriptors, in a Wasmer store that no thread runs.
//!
//! ```text
//!             cell(code)                    cell_changes            (a store, another machine)
//!   begins ----------------> [ lives ] ------------------------> layers, rest
//!                  ^             |  a trap, a kill, a limit             |
//!                  |             v                                      |
//!                  |           gone                                     |
//!                  +------------------------------- restore_cell <------+
//! ```
//!
//! # The parked state
//! It has two parts. One is a layer with the changes of the memory since they were last requested,
//! which [`crate::track`] finds; it lies on top of the earlier layers. The other is the rest of the
//! state, which [`wasibox_kernel::parked`] describes and restores. Each cell's process begins in
//! the session's directory; the guest decides whether to adopt it.
//!
//! A parked state belongs to one program with one initial content of its memory;
//! [`CellChange::module`] identifies both.
//!
//! # The restored state
//! An interpreter that is restored without a fork is the same interpreter: it keeps its seeds, its
//! hash secrets and its random generators. Its monotonic clock continues where it stopped, so that
//! no timeout in it expires while it is parked. A fork is reported to the guest before its next
//! cell; the guest decides which state it then renews.
//!
//! # Invariants
//! - The memory of living interpreters counts against the session's limit, as the memory of
//!   processes does.
//! - A state that is read back is as hostile as a guest: parts outside the memory are refused,
//!   globals are numbers only, and files are opened as if the guest opened them.
//! - A trap, a kill or a limit leaves the memory in the middle of an operation. The interpreter is
//!   then gone, and [`CellRun::is_gone`] says so. The last parked state can be restored.

use crate::host::{CellStart, Kernel, Left, Process, ReadyInstance};
use crate::loaded::LoadedProgram;
use crate::outcome::RunResult;
use crate::sandbox::{RunSpec, SandboxError, SessionSandbox};
use crate::snapshot::has_cells;
use crate::template::MemoryTemplate;
use crate::track::Tracker;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;
use wasibox_kernel::border::Fd;
use wasibox_kernel::layer;
use wasibox_kernel::parked::{
    self, Layers, ParkedProcess, Unreadable, module_of, park_descriptors, unpark_descriptors,
};
use wasibox_kernel::{
    BEGIN, CellOrigin, CpuUsage, Cwd, Descriptor, Descriptors, EntryPoint, FORK, GO_ON,
    OpenDescription, ProcessBirth, ProcessStart,
};
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{Errno, Loc, ProgramMark};

/// The maximum number of interpreters of a session.
pub const MAX_CELLS: usize = 16;
/// The maximum size of a value as text, in bytes; longer text is cut.
pub const MAX_VALUE: usize = 64 << 10;
/// The maximum size of a value as JSON, in bytes; a longer one is left out.
pub const MAX_JSON: usize = 1 << 20;
/// The size of an answer in the guest's memory: five little-endian numbers of four bytes each. They
/// are the status, the address and length of the value, and the address and length of the JSON;
/// address 0 means that there is none.
pub const ANSWER_LEN: usize = 20;

/// The answer of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellAnswer {
    /// The status, as of a command: 0 if the cell succeeded.
    pub status: u8,
    /// The last expression's value as text, at most [`MAX_VALUE`] bytes.
    pub value: Option<Vec<u8>>,
    /// The same as JSON, if it is plain data.
    pub json: Option<Vec<u8>>,
}

/// The result of a cell.
#[derive(Clone, Debug)]
pub struct CellRun {
    /// The result of the process, as for a command; its status is the one in the cell's answer.
    pub run: RunResult,
    pub value: Option<Vec<u8>>,
    pub json: Option<Vec<u8>>,
    /// Whether the interpreter is gone: it ended itself, was ended, or hit a limit. The next cell
    /// of this name then starts a new one, unless the old one is restored first.
    pub is_gone: bool,
}

/// The changes of an interpreter since they were last requested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellChange {
    /// The digest of the program and initial memory that the layers belong to.
    pub module: [u8; 32],
    /// The number of earlier layers that stay, counted from the first. The new layer replaces the
    /// others.
    pub keep: usize,
    /// The new layer; empty if there is none.
    pub layer: Vec<u8>,
    /// The rest of the state; for [`SessionSandbox::restore_cell`].
    pub rest: Vec<u8>,
}

/// The reason why an interpreter cannot be restored.
#[derive(Debug, thiserror::Error)]
pub enum CellError {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("it was parked with another image")]
    OtherModule,
    #[error("there are {MAX_CELLS} interpreters already")]
    TooMany,
    #[error("a part of it lies outside its memory")]
    Part,
    #[error("the memory limit is reached")]
    Memory,
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
}

/// An interpreter between two cells.
pub struct ParkedInterpreter {
    program: ProgramMark,
    left: Left,
    next_pid: u32,
    /// Its monotonic clock at `since`.
    monotonic: u64,
    since: Instant,
    is_forked: bool,
    /// The initial content of its memory.
    template: Arc<MemoryTemplate>,
    tracker: Tracker,
    /// The parts of each reported layer; `None` if no layers were requested yet.
    reported: Option<Layers>,
}

impl ParkedInterpreter {
    /// Returns the changes of the memory as [`SessionSandbox::cell_changes`] does: the number of
    /// layers that stay, and the new layer.
    fn take_changes(&mut self, whole: bool) -> (usize, Vec<u8>) {
        let ready = &self.left.ready;
        let parts = match ready.memory_place() {
            Some((base, _, size)) => {
                self.tracker.changed_parts(base, size, |n| ready.memory_part(n))
            }
            None => Vec::new(),
        };
        parked::layer_change(self.reported.get_or_insert_default(), parts, whole, |n, add| {
            if let Some((now, then)) = ready.memory_part(n).zip(self.template.part(n as usize)) {
                add(now, then);
            }
        })
    }

    /// Returns the state except the memory.
    fn rest(&mut self, sandbox: &SessionSandbox) -> Option<ParkedProcess> {
        let (atom, _) = sandbox.programs.program_identity(self.program)?;
        let (_, _, size) = self.left.ready.memory_place()?;
        let monotonic = self.monotonic();
        let left = &mut self.left;
        Some(ParkedProcess {
            atom: atom.to_owned(),
            is_prepared: left.ready.entry == EntryPoint::Cell { is_prepared: true },
            size: size as u64,
            globals: left.ready.global_values()?,
            files: park_descriptors(&left.fds, sandbox.vfs()),
            handles: left.handles,
            ignored: left.ignored,
            monotonic,
            cpu: [left.cpu.user, left.cpu.system, left.cpu_ns],
            next_pid: self.next_pid,
        })
    }

    /// Returns the present time of its monotonic clock.
    fn monotonic(&self) -> u64 {
        let passed = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.monotonic.saturating_add(passed)
    }
}

impl SessionSandbox {
    /// Runs a cell in the interpreter of that name, and starts one if there is none. `spec` is as
    /// for a command whose first argument is the program; its other arguments are ignored. A guest
    /// can read the environment and directory of `spec`; Python adopts the values that differ from
    /// the last cell's and keeps those that it has changed itself.
    ///
    /// # Errors
    /// The same as [`SessionSandbox::run`], and for a program without cells.
    pub fn cell(&self, name: &str, spec: RunSpec, code: &[u8]) -> Result<CellRun, SandboxError> {
        let taken = lock_mutex(&self.cells).remove(name);
        let is_new = taken.is_none();
        if is_new && lock_mutex(&self.cells).len() >= MAX_CELLS {
            return Err(SandboxError::Cell {
                name: name.into(),
                why: "there are too many interpreters",
            });
        }
        let mut going = CellToRun { code, name, taken, before: None };
        let ran = self.run_to_end(spec, Some(&mut going));
        let CellToRun { taken, before, .. } = going;
        // An interpreter whose cell was not begun stays as it was.
        if let Some(untouched) = taken {
            lock_mutex(&self.cells).insert(name.into(), untouched);
        }
        let (run, kernel, program) = ran?;
        let Some(left) = lock_mutex(&kernel.cells.left).take() else {
            return Ok(CellRun { run, value: None, json: None, is_gone: true });
        };
        let CellAnswer { value, json, .. } = left.answer.clone();
        let (template, tracker, reported) = match before {
            Some(kept) => kept,
            None => {
                let loaded = self.programs.get(program)?;
                let template = loaded.memory_of(left.ready.entry).clone();
                if !template.map_content() {
                    let why = "its initial memory cannot be mapped";
                    return Err(SandboxError::Cell { name: name.into(), why });
                }
                (template, tracker_of(&left.ready), None)
            }
        };
        let interpreter = ParkedInterpreter {
            program,
            left,
            next_pid: kernel.next_pid(),
            monotonic: kernel.monotonic_now(),
            since: Instant::now(),
            is_forked: false,
            template,
            tracker,
            reported,
        };
        lock_mutex(&self.cells).insert(name.into(), interpreter);
        Ok(CellRun { run, value, json, is_gone: false })
    }

    /// Returns the changes of an interpreter since the last call, and the rest of its state; with
    /// `whole`, all differences from its beginning. `None` if there is no interpreter of that name.
    pub fn cell_changes(&self, name: &str, whole: bool) -> Option<CellChange> {
        let mut cells = lock_mutex(&self.cells);
        let cell = cells.get_mut(name)?;
        let (_, digest) = self.programs.program_identity(cell.program)?;
        let loaded = self.programs.get(cell.program).ok()?;
        let module = module_of(&digest, &loaded.memory_of(cell.left.ready.entry).digest);
        let rest = cell.rest(self)?.encode();
        let (keep, layer) = cell.take_changes(whole);
        Some(CellChange { module, keep, layer, rest })
    }

    /// Restores an interpreter from all its layers, the lowest first, and the rest of its state. An
    /// interpreter that has this name already is ended. If `fork` is set, the restored interpreter
    /// is a copy of one that may still exist.
    ///
    /// # Errors
    /// If it was parked with another image, is damaged, or has no room.
    pub fn restore_cell(
        &self,
        name: &str,
        module: &[u8; 32],
        layers: &[impl AsRef<[u8]>],
        rest: &[u8],
        fork: bool,
    ) -> Result<(), CellError> {
        let rest = ParkedProcess::decode(rest)?;
        self.forget_cell(name);
        if lock_mutex(&self.cells).len() >= MAX_CELLS {
            return Err(CellError::TooMany);
        }
        let program = self.programs.program_number(&rest.atom).ok_or(CellError::OtherModule)?;
        let (_, digest) = self.programs.program_identity(program).ok_or(CellError::OtherModule)?;
        let loaded = self.programs.get(program).map_err(SandboxError::from)?;
        let entry = EntryPoint::Cell { is_prepared: rest.is_prepared };
        let has = has_cells(&loaded.module) && (loaded.snapshot.is_some() || !rest.is_prepared);
        if !has || module_of(&digest, &loaded.memory_of(entry).digest) != *module {
            return Err(CellError::OtherModule);
        }
        let template = loaded.memory_of(entry).clone();
        let mut ready = self.make(program, &loaded, entry)?;
        if !template.map_content() || !ready.grow_to(rest.size) {
            return Err(CellError::Memory);
        }
        let (base, reserved, size) = ready.memory_place().ok_or(CellError::Memory)?;
        if size as u64 != rest.size {
            return Err(CellError::Unreadable(Unreadable::Malformed));
        }
        let mut tracker = Tracker::new(base, reserved);
        let reported = lay_layers(&mut ready, layers)?;
        if !ready.set_globals(&rest.globals) {
            return Err(CellError::Unreadable(Unreadable::Malformed));
        }
        // The restored content does not count as a change.
        tracker.changed_parts(base, size, |n| ready.memory_part(n));
        let cannot = |why: Errno| match why {
            Errno::NOMEM => CellError::Memory,
            _ => CellError::Unreadable(Unreadable::Malformed),
        };
        let limit = self.policy().limits.descriptors;
        let fds =
            unpark_descriptors(&rest.files, self.vfs(), limit, &self.budget).map_err(cannot)?;
        let [user, system, cpu_ns] = rest.cpu;
        let left = Left {
            ready: Box::new(ready),
            answer: CellAnswer::default(),
            fds,
            handles: rest.handles,
            ignored: rest.ignored,
            cpu: CpuUsage { user, system },
            cpu_ns,
        };
        let interpreter = ParkedInterpreter {
            program,
            left,
            next_pid: rest.next_pid,
            monotonic: rest.monotonic,
            since: Instant::now(),
            is_forked: fork,
            template,
            tracker,
            reported: Some(reported),
        };
        lock_mutex(&self.cells).insert(name.into(), interpreter);
        Ok(())
    }

    /// Ends an interpreter; returns whether there was one. None of its code runs any more, not even
    /// its exit handlers.
    pub fn forget_cell(&self, name: &str) -> bool {
        lock_mutex(&self.cells).remove(name).is_some()
    }

    /// Returns the names of the interpreters that live.
    pub fn cells(&self) -> Vec<String> {
        lock_mutex(&self.cells).keys().cloned().collect()
    }

    /// Creates an instance for an interpreter that is to be restored. No code of the guest runs.
    fn make(
        &self,
        program: ProgramMark,
        loaded: &LoadedProgram,
        entry: EntryPoint,
    ) -> Result<ReadyInstance, CellError> {
        let kernel = Kernel::new(
            self.vfs().clone(),
            self.programs.clone(),
            self.policy().limits,
            self.budget.clone(),
            CellOrigin::default(),
            Arc::default(),
        );
        let none = || self.budget.reserve_bytes(0).ok_or(CellError::Memory);
        let memory = self.budget.reserve_bytes(loaded.needs(entry)).ok_or(CellError::Memory)?;
        let start = ProcessStart { program, argv: Vec::new(), env: Vec::new() };
        let cwd = Cwd::new(Loc::Tree(wasibox_vfs::tree::ROOT), b"/".to_vec());
        let fds = Descriptors::new(0);
        let (args, held) = (none()?, none()?);
        let birth = ProcessBirth { pid: 0, parent: 0, start, fds, cwd, ignored: 0, args, held };
        let process = Arc::new(Process::new(kernel, birth));
        let made = ReadyInstance::new(&process, program, entry, loaded, Some(memory));
        let mut ready = made.map_err(|_| CellError::Memory)?;
        ready.pause_cell(&process);
        Ok(ready)
    }
}

/// Applies layers to a memory with its initial content. Returns the parts of each.
fn lay_layers(ready: &mut ReadyInstance, layers: &[impl AsRef<[u8]>]) -> Result<Layers, CellError> {
    let reported =
        parked::layer_numbers(layers).ok_or(CellError::Unreadable(Unreadable::Malformed))?;
    let mut all: Vec<u32> = reported.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    for run in all.chunk_by(|a, b| a + 1 == *b) {
        if let [first, .., last] = run {
            ready.populate_parts(*first..last + 1);
        }
    }
    let mut seen = HashSet::with_capacity(all.len());
    for differs in layers.iter().rev().flat_map(|l| layer::layer_parts(l.as_ref())) {
        let differs = differs.ok_or(CellError::Unreadable(Unreadable::Malformed))?;
        let part = ready.part_mut(differs.number).ok_or(CellError::Part)?;
        if seen.insert(differs.number) {
            differs.apply_to(part);
        }
    }
    Ok(reported)
}

fn tracker_of(ready: &ReadyInstance) -> Tracker {
    let (base, reserved, _) = ready.memory_place().unwrap_or_default();
    Tracker::new(base, reserved)
}

/// A cell that is about to run.
pub struct CellToRun<'a> {
    code: &'a [u8],
    name: &'a str,
    /// The interpreter, until its process begins.
    taken: Option<ParkedInterpreter>,
    /// The parts of it that are kept while it runs.
    before: Option<(Arc<MemoryTemplate>, Tracker, Option<Layers>)>,
}

impl CellToRun<'_> {
    /// Returns the arguments of its process.
    pub fn argv(&self, argv: &[Vec<u8>]) -> Vec<Vec<u8>> {
        argv.first().into_iter().cloned().chain([self.code.to_vec()]).collect()
    }

    /// Checks that the program is the interpreter's.
    pub fn check(&self, program: ProgramMark, loaded: &LoadedProgram) -> Result<(), SandboxError> {
        let no = |why| Err(SandboxError::Cell { name: self.name.into(), why });
        if !has_cells(&loaded.module) || !loaded.template.plain {
            return no("the program runs no cells");
        }
        if self.taken.as_ref().is_some_and(|t| t.program != program) {
            return no("another program runs under this name");
        }
        Ok(())
    }

    /// Returns the state that the run continues from.
    pub fn before(&self) -> CellOrigin {
        let before = |t: &ParkedInterpreter| CellOrigin {
            monotonic: t.monotonic(),
            cpu: t.left.cpu,
            cpu_ns: t.left.cpu_ns,
            next_pid: t.next_pid,
        };
        self.taken.as_ref().map(before).unwrap_or_default()
    }

    /// Returns the number of bytes that its table of descriptors counts against the memory limit.
    pub fn table_cost(&self) -> u64 {
        self.taken.as_ref().map_or(0, |t| t.left.fds.memory_cost())
    }

    /// Returns its descriptors, with `opens` in place of the standard streams and the root
    /// directory.
    pub fn descriptors(
        &mut self,
        limit: usize,
        opens: [Arc<OpenDescription>; 4],
    ) -> Result<Descriptors, Errno> {
        let mut fds = match &mut self.taken {
            Some(t) => std::mem::replace(&mut t.left.fds, Descriptors::new(0)),
            None => Descriptors::new(limit),
        };
        for (n, open) in (0..).map(Fd).zip(opens) {
            let old = fds.set(n, Descriptor { open, cloexec: false })?;
            drop(old);
        }
        Ok(fds)
    }

    /// Returns the state that its process begins with; from here on it belongs to the run.
    pub fn start(&mut self) -> CellStart {
        let Some(t) = self.taken.take() else {
            return CellStart { ready: None, kind: BEGIN, handles: false, ignored: 0 };
        };
        let kind = if t.is_forked { FORK } else { GO_ON };
        self.before = Some((t.template, t.tracker, t.reported));
        let Left { ready, handles, ignored, .. } = t.left;
        CellStart { ready: Some(ready), kind, handles, ignored }
    }
}
