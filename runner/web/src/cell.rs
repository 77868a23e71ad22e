//! Interpreters that stay between cells.
//!
//! An instance cannot leave its worker. So an interpreter keeps the one that it began in: between two cells that worker
//! waits for the next one, which comes by [`Standing::next`]. Whoever drops that ends the interpreter, and the worker is
//! as any other one. All else that is one's ([`wasibox_kernel::CellRemains`]) lies here, by name. A commit has them as the native
//! runner parks them; one that comes back from there does so in the worker of its next cell (`park`).

use crate::ffi;
use crate::history::ParkedCell;
use crate::host::{Job, PageProgram, Web};
use crate::lock_mutex;
use crate::outcome::{FailureKind, PageFailure};
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
use wasibox_vfs::{Errno, ProgramMark, Reservation};

/// Most interpreters of a session.
const MAX_CELLS: usize = 16;
/// Most bytes of a value as text; what is longer is cut.
const MAX_VALUE: usize = 64 << 10;
/// Most bytes of a value as JSON; there is none that would be longer.
const MAX_JSON: usize = 1 << 20;
/// An answer in the guest's memory, as `runner/sandbox/src/cell.rs` has it.
const ANSWER: usize = 20;

/// An interpreter between two cells.
pub enum StandingInterpreter {
    /// It stands in a worker.
    Waits {
        /// Where that hears of the next one.
        next: Sender<Job>,
        /// Its memory's share of the limit.
        memory: Reservation,
        is_prepared: bool,
    },
    /// It is to come back in one.
    Parked { parked: Box<ParkedMemory>, memory: Reservation },
}

impl StandingInterpreter {
    /// Where its processes begin.
    pub fn entry(&self) -> EntryPoint {
        let is_prepared = match self {
            StandingInterpreter::Waits { is_prepared, .. } => *is_prepared,
            StandingInterpreter::Parked { parked, .. } => parked.prepared.is_some(),
        };
        EntryPoint::Cell { is_prepared }
    }
}

/// What a cell has answered.
#[derive(Debug, Default)]
pub struct PageCellAnswer {
    pub status: u8,
    pub value: Option<String>,
    pub json: Option<String>,
    /// What it has changed in its memory, once that was asked for.
    pub change: Option<ParkChange>,
}

impl PageCellAnswer {
    /// Reads the answer that lies there in the memory of this worker's guest, whose it is to write.
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

/// All that an interpreter is between two cells.
pub struct PageInterpreter {
    program: ProgramMark,
    left: CellRemains<Web>,
    next_pid: u32,
    /// What its monotonic clock showed, and when.
    monotonic: u64,
    since: Instant,
    is_forked: bool,
}

/// What a commit has of an interpreter after a cell.
pub struct PageCellChange {
    /// What the layers are of use with.
    pub module: [u8; 32],
    /// How many of the layers before it stay.
    pub keep: usize,
    pub layer: Vec<u8>,
    pub rest: Vec<u8>,
}

static CELLS: Mutex<BTreeMap<String, PageInterpreter>> = Mutex::new(BTreeMap::new());

/// Ends an interpreter; says whether there was one.
pub fn forget_interpreter(name: &str) -> bool {
    lock_mutex(&CELLS).remove(name).is_some()
}

/// A cell that is about to run. Dropped before it has begun, its interpreter stays.
pub struct PendingCell {
    name: String,
    taken: Option<PageInterpreter>,
}

impl PendingCell {
    /// Takes the interpreter of that name, or one that begins.
    pub fn new(name: String) -> Result<PendingCell, PageFailure> {
        let mut cells = lock_mutex(&CELLS);
        let taken = cells.remove(&name);
        if taken.is_none() && cells.len() >= MAX_CELLS {
            return Err(PageFailure::new(FailureKind::Conflict, "there are too many interpreters"));
        }
        Ok(PendingCell { name, taken })
    }

    /// Whether its interpreter may run that program.
    pub fn fits_program(&self, program: ProgramMark) -> bool {
        self.taken.as_ref().is_none_or(|taken| taken.program == program)
    }

    /// What the run goes on from.
    pub fn cell_origin(&self) -> CellOrigin {
        let before = |t: &PageInterpreter| CellOrigin {
            monotonic: t.monotonic_now(),
            cpu: t.left.cpu,
            cpu_ns: t.left.cpu_ns,
            next_pid: t.next_pid,
        };
        self.taken.as_ref().map(before).unwrap_or_default()
    }

    /// What its table of descriptors takes of the memory limit.
    pub fn table_cost(&self) -> u64 {
        self.taken.as_ref().map_or(0, |taken| taken.left.fds.memory_cost())
    }

    /// Its descriptors with these in place of the standard streams and the root directory.
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

    /// What its process begins with.
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

    /// The name of its interpreter.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether there is an interpreter to go on with.
    pub fn is_there(&self) -> bool {
        self.taken.is_some()
    }

    /// Takes the interpreter that a commit has; with `is_fork` it is a copy of one that goes on elsewhere.
    pub fn restore_from(
        &mut self,
        session: &PageSession,
        cell: ParkedCell,
        is_forked: bool,
    ) -> Result<(), PageFailure> {
        let cannot = |why: &dyn std::fmt::Display| {
            let text = format!("the interpreter '{}' cannot come back: {why}", self.name);
            PageFailure::new(FailureKind::Conflict, text)
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
        let told = parked::layer_numbers(&cell.layers).ok_or_else(malformed)?;
        let size = usize::try_from(rest.size).map_err(|_| malformed())?;
        // Its stack is empty, so that they are what they were in the beginning.
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
        let parked = Box::new(ParkedMemory { program, prepared, size, layers: cell.layers, told });
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

    /// Keeps what the run has left; what the cell has answered, or `None` if its interpreter did not stay. With what of it a
    /// commit has.
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
    /// What its monotonic clock shows now.
    fn monotonic_now(&self) -> u64 {
        let passed = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.monotonic.saturating_add(passed)
    }
}
