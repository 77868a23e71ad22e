//! Interpreters that stay alive between cells.
//!
//! An instance cannot leave its worker. So an interpreter keeps the worker in which it began:
//! between two cells that worker waits for the next one, which arrives through `next` of
//! [`StandingInterpreter::Waits`]. Dropping that sender ends the interpreter, after which the
//! worker is like any other. The rest of an interpreter's state ([`wasibox_kernel::CellRemains`])
//! is kept here, by name. A commit stores interpreters in the form in which the native runner parks
//! them; one that is restored from there starts in the worker of its next cell (`park`).

use crate::ffi;
use crate::history::ParkedCell;
use crate::host::{Job, PageProgram, Web};
use crate::lock_mutex;
use crate::park::{ParkChange, ParkedMemory};
use crate::prepare;
use crate::session::PageSession;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::Instant;
use wasibox_kernel::border::Fd;
use wasibox_kernel::parked::{
    self, ParkedProcess, Unreadable, park_descriptors, unpark_descriptors,
};
use wasibox_kernel::{
    BEGIN, CellOrigin, CellRemains, CellStart, CpuUsage, Descriptor, Descriptors, EntryPoint, FORK,
    GO_ON, Host, OpenDescription,
};
use wasibox_protocol::{Refusal, RefusalKind};
use wasibox_vfs::{Errno, ProgramMark, Reservation};

/// Maximum number of interpreters of a session.
const MAX_CELLS: usize = 16;
/// Maximum size in bytes of a value as text; longer ones are cut.
const MAX_VALUE: usize = 64 << 10;
/// Maximum size in bytes of a value as JSON; longer ones are left out.
const MAX_JSON: usize = 1 << 20;
/// Size of an answer in the guest's memory, in the format of `runner/sandbox/src/cell.rs`.
const ANSWER: usize = 20;

/// An interpreter between two cells.
pub enum StandingInterpreter {
    /// An interpreter that waits in a worker.
    Waits {
        /// The channel through which its worker receives the next cell.
        next: Sender<Job>,
        /// Its memory's share of the limit.
        memory: Reservation,
        is_prepared: bool,
    },
    /// An interpreter that is to be restored in a worker.
    Parked { parked: Box<ParkedMemory>, memory: Reservation },
}

impl StandingInterpreter {
    /// Returns the entry point of its processes.
    pub fn entry(&self) -> EntryPoint {
        let is_prepared = match self {
            StandingInterpreter::Waits { is_prepared, .. } => *is_prepared,
            StandingInterpreter::Parked { parked, .. } => parked.prepared.is_some(),
        };
        EntryPoint::Cell { is_prepared }
    }
}

/// The answer of a cell.
#[derive(Debug, Default)]
pub struct PageCellAnswer {
    pub status: u8,
    pub value: Option<String>,
    pub json: Option<String>,
    /// The changes of its memory, once they were requested.
    pub change: Option<ParkChange>,
}

impl PageCellAnswer {
    /// Reads the answer at address `at` of the memory of this worker's guest, which may have
    /// written anything there.
    pub fn read(at: u32) -> Option<PageCellAnswer> {
        let size = ffi::guest_size();
        let bytes = |at: u32, len: usize| {
            (at as usize).checked_add(len).filter(|end| *end <= size)?;
            let mut out = vec![0; len];
            ffi::guest_read(at, &mut out);
            Some(out)
        };
        let head = bytes(at, ANSWER)?;
        let [status, value, value_len, json, json_len] = std::array::from_fn(|n| {
            u32::from_le_bytes(head[4 * n..4 * n + 4].try_into().unwrap_or_default())
        });
        let text = |at: u32, len: u32, most: usize| {
            if at == 0 {
                return Some(None);
            }
            let out = bytes(at, (len as usize).min(most))?;
            Some(Some(String::from_utf8_lossy(&out).into_owned()))
        };
        let value = text(value, value_len, MAX_VALUE)?;
        let json = text(json, json_len, MAX_JSON)?.filter(|_| json_len as usize <= MAX_JSON);
        Some(PageCellAnswer { status: u8::try_from(status).ok()?, value, json, change: None })
    }
}

/// The complete state of an interpreter between two cells.
pub struct PageInterpreter {
    program: ProgramMark,
    left: CellRemains<Web>,
    next_pid: u32,
    /// The value of its monotonic clock, and the time at which it was read.
    monotonic: u64,
    since: Instant,
    is_forked: bool,
}

/// The state of an interpreter after a cell, as a commit stores it.
pub struct PageCellChange {
    /// The digest of the module that the layers fit.
    pub module: [u8; 32],
    /// The number of earlier layers that remain valid.
    pub keep: usize,
    pub layer: Vec<u8>,
    pub rest: Vec<u8>,
}

static CELLS: Mutex<BTreeMap<String, PageInterpreter>> = Mutex::new(BTreeMap::new());

/// Ends an interpreter, and returns whether it existed.
pub fn forget_interpreter(name: &str) -> bool {
    lock_mutex(&CELLS).remove(name).is_some()
}

/// A cell that is about to run. If this is dropped before the cell begins, its interpreter stays.
pub struct PendingCell {
    name: String,
    taken: Option<PageInterpreter>,
}

impl PendingCell {
    /// Takes the interpreter of that name, or prepares to start a new one.
    pub fn new(name: String) -> Result<PendingCell, Refusal> {
        let mut cells = lock_mutex(&CELLS);
        let taken = cells.remove(&name);
        if taken.is_none() && cells.len() >= MAX_CELLS {
            return Err(Refusal::new(RefusalKind::Conflict, "there are too many interpreters"));
        }
        Ok(PendingCell { name, taken })
    }

    /// Returns whether its interpreter may run that program.
    pub fn fits_program(&self, program: ProgramMark) -> bool {
        self.taken.as_ref().is_none_or(|taken| taken.program == program)
    }

    /// Returns the state from which the run continues.
    pub fn cell_origin(&self) -> CellOrigin {
        let before = |t: &PageInterpreter| CellOrigin {
            monotonic: t.monotonic_now(),
            cpu: t.left.cpu,
            cpu_ns: t.left.cpu_ns,
            next_pid: t.next_pid,
        };
        self.taken.as_ref().map(before).unwrap_or_default()
    }

    /// Returns the bytes that its descriptor table takes of the memory limit.
    pub fn table_cost(&self) -> u64 {
        self.taken.as_ref().map_or(0, |taken| taken.left.fds.memory_cost())
    }

    /// Returns its descriptors, with standard streams and root directory replaced by these.
    pub fn descriptors(
        &mut self,
        limit: usize,
        opens: [std::sync::Arc<OpenDescription>; 4],
    ) -> Result<Descriptors, Errno> {
        let mut fds = match &mut self.taken {
            Some(taken) => std::mem::replace(&mut taken.left.fds, Descriptors::new(0)),
            None => Descriptors::new(limit),
        };
        for (n, open) in (0..).map(Fd).zip(opens) {
            drop(fds.set(n, Descriptor { open, cloexec: false })?);
        }
        Ok(fds)
    }

    /// Takes the state with which its process starts.
    pub fn to_start(&mut self) -> CellStart<Web> {
        match self.taken.take() {
            None => CellStart { ready: None, kind: BEGIN, handles: false, ignored: 0 },
            Some(taken) => {
                let kind = if taken.is_forked { FORK } else { GO_ON };
                let CellRemains { ready, handles, ignored, .. } = taken.left;
                CellStart { ready: Some(ready), kind, handles, ignored }
            }
        }
    }

    /// Returns the name of its interpreter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether there is an interpreter to continue with.
    pub fn is_there(&self) -> bool {
        self.taken.is_some()
    }

    /// Takes the interpreter of a commit; with `is_fork` it is a copy of one that continues
    /// elsewhere.
    pub fn restore_from(
        &mut self,
        session: &PageSession,
        cell: ParkedCell,
        is_forked: bool,
    ) -> Result<(), Refusal> {
        let cannot = |why: &dyn std::fmt::Display| {
            let text = format!("the interpreter '{}' cannot be restored: {why}", self.name);
            Refusal::new(RefusalKind::Conflict, text)
        };
        let rest = ParkedProcess::decode(&cell.rest).map_err(|e| cannot(&e))?;
        let other = || cannot(&"it was parked with another image");
        let program = session.program_number(&rest.atom).ok_or_else(other)?;
        let facts = session.facts(program).filter(|f| f.has_cells).ok_or_else(other)?;
        if rest.is_prepared {
            prepare::prepare_program(session, program)?;
        }
        let prepared = prepare::prepared_template(program).filter(|_| rest.is_prepared);
        if session.module_of(program, prepared.as_deref()) != Some(cell.module) {
            return Err(other());
        }
        let malformed = || cannot(&Unreadable::Malformed);
        let reported = parked::layer_numbers(&cell.layers).ok_or_else(malformed)?;
        let size = usize::try_from(rest.size).map_err(|_| malformed())?;
        // Its stack is empty, so the globals have their initial values.
        if rest.globals != facts.globals {
            return Err(malformed());
        }
        let full = || cannot(&"the memory limit is reached");
        let limit = session.limits.descriptors;
        let fds = unpark_descriptors(&rest.files, &session.vfs, limit, &session.budget)
            .map_err(|_| full())?;
        let entry = EntryPoint::Cell { is_prepared: rest.is_prepared };
        let needs = session.host.memory_needs(&PageProgram(prepared.clone()), entry);
        let memory = session.budget.reserve_bytes(needs).ok_or_else(full)?;
        let parked =
            Box::new(ParkedMemory { program, prepared, size, layers: cell.layers, reported });
        let [user, system, cpu_ns] = rest.cpu;
        let left = CellRemains {
            ready: StandingInterpreter::Parked { parked, memory },
            answer: PageCellAnswer::default(),
            fds,
            handles: rest.handles,
            ignored: rest.ignored,
            cpu: CpuUsage { user, system },
            cpu_ns,
        };
        self.taken = Some(PageInterpreter {
            program,
            left,
            next_pid: rest.next_pid,
            monotonic: rest.monotonic,
            since: Instant::now(),
            is_forked,
        });
        Ok(())
    }

    /// Keeps the state that the run has left. Returns the change for the commit, and the cell's
    /// answer, or `None` if its interpreter did not stay alive.
    pub fn end_run(
        mut self,
        session: &PageSession,
        program: ProgramMark,
        kernel: &crate::host::Kernel,
    ) -> Option<(PageCellAnswer, PageCellChange)> {
        let mut left = lock_mutex(&kernel.cells.left).take()?;
        let mut answer = std::mem::take(&mut left.answer);
        let ParkChange { keep, layer, size, is_prepared } = answer.change.take()?;
        let monotonic = kernel.monotonic_now();
        let prepared = prepare::prepared_template(program).filter(|_| is_prepared);
        let rest = ParkedProcess {
            atom: session.names.get(program.0 as usize)?.clone(),
            is_prepared,
            size: size as u64,
            globals: session.facts(program)?.globals.clone(),
            files: park_descriptors(&left.fds, &session.vfs),
            handles: left.handles,
            ignored: left.ignored,
            monotonic,
            cpu: [left.cpu.user, left.cpu.system, left.cpu_ns],
            next_pid: kernel.next_pid(),
        };
        let change = PageCellChange {
            module: session.module_of(program, prepared.as_deref())?,
            keep,
            layer,
            rest: rest.encode(),
        };
        let interpreter = PageInterpreter {
            program,
            left,
            next_pid: kernel.next_pid(),
            monotonic,
            since: Instant::now(),
            is_forked: false,
        };
        lock_mutex(&CELLS).insert(std::mem::take(&mut self.name), interpreter);
        Some((answer, change))
    }
}

impl Drop for PendingCell {
    fn drop(&mut self) {
        if let Some(untouched) = self.taken.take() {
            lock_mutex(&CELLS).insert(std::mem::take(&mut self.name), untouched);
        }
    }
}

impl PageInterpreter {
    /// Returns the current value of its monotonic clock.
    fn monotonic_now(&self) -> u64 {
        let passed = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.monotonic.saturating_add(passed)
    }
}
