//! Interpreters that stay between cells.
//!
//! An instance cannot leave its worker. So an interpreter keeps the one that it began in: between two cells that worker
//! waits for the next one, which comes by [`Standing::next`]. Whoever drops that ends the interpreter, and the worker is
//! as any other one. All else that is one's ([`wasibox_kernel::Left`]) lies here, by name.

use crate::ffi;
use crate::host::{Job, Web};
use crate::lock;
use crate::outcome::{Failure, Kind};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::Sender;
use std::time::Instant;
use wasibox_kernel::{
    BEGIN, Before, CellStart, Descriptor, Descriptors, Entry, GO_ON, Left, OpenFile,
};
use wasibox_vfs::{Errno, Program, Reservation};

/// Most interpreters of a session.
const MAX_CELLS: usize = 16;
/// Most bytes of a value as text; what is longer is cut.
const MAX_VALUE: usize = 64 << 10;
/// Most bytes of a value as JSON; there is none that would be longer.
const MAX_JSON: usize = 1 << 20;
/// An answer in the guest's memory, as `runner/sandbox/src/cell.rs` has it.
const ANSWER: usize = 20;

/// An interpreter between two cells.
pub struct Standing {
    /// Where its worker hears of the next one.
    pub next: Sender<Job>,
    /// Its memory's share of the limit.
    pub memory: Reservation,
}

impl Standing {
    /// Where its processes begin.
    pub const ENTRY: Entry = Entry::Cell { is_prepared: false };
}

/// What a cell has answered.
#[derive(Debug, Default)]
pub struct Answer {
    pub status: u8,
    pub value: Option<String>,
    pub json: Option<String>,
}

impl Answer {
    /// Reads the answer that lies there in the memory of this worker's guest, whose it is to write.
    pub fn read(at: u32) -> Option<Answer> {
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
        Some(Answer { status: u8::try_from(status).ok()?, value, json })
    }
}

/// All that an interpreter is between two cells.
pub struct Interpreter {
    program: Program,
    left: Left<Web>,
    next_pid: u32,
    /// What its monotonic clock showed, and when.
    monotonic: u64,
    since: Instant,
}

static CELLS: Mutex<BTreeMap<String, Interpreter>> = Mutex::new(BTreeMap::new());

/// Ends an interpreter; says whether there was one.
pub fn forget(name: &str) -> bool {
    lock(&CELLS).remove(name).is_some()
}

/// A cell that is about to run. Dropped before it has begun, its interpreter stays.
pub struct Going {
    name: String,
    taken: Option<Interpreter>,
}

impl Going {
    /// Takes the interpreter of that name, or one that begins.
    pub fn new(name: String) -> Result<Going, Failure> {
        let mut cells = lock(&CELLS);
        let taken = cells.remove(&name);
        if taken.is_none() && cells.len() >= MAX_CELLS {
            return Err(Failure::new(Kind::Conflict, "there are too many interpreters"));
        }
        Ok(Going { name, taken })
    }

    /// Whether its interpreter may run that program.
    pub fn fits(&self, program: Program) -> bool {
        self.taken.as_ref().is_none_or(|taken| taken.program == program)
    }

    /// What the run goes on from.
    pub fn before(&self) -> Before {
        let before = |t: &Interpreter| Before {
            monotonic: t.monotonic(),
            cpu: t.left.cpu,
            cpu_ns: t.left.cpu_ns,
            next_pid: t.next_pid,
        };
        self.taken.as_ref().map(before).unwrap_or_default()
    }

    /// What its table of descriptors takes of the memory limit.
    pub fn table_cost(&self) -> u64 {
        self.taken.as_ref().map_or(0, |taken| taken.left.fds.cost())
    }

    /// Its descriptors with these in place of the standard streams and the root directory.
    pub fn descriptors(
        &mut self,
        limit: usize,
        opens: [std::sync::Arc<OpenFile>; 4],
    ) -> Result<Descriptors, Errno> {
        let mut fds = match &mut self.taken {
            Some(taken) => std::mem::replace(&mut taken.left.fds, Descriptors::new(0)),
            None => Descriptors::new(limit),
        };
        for (n, open) in (0..).zip(opens) {
            drop(fds.set(n, Descriptor { open, cloexec: false })?);
        }
        Ok(fds)
    }

    /// What its process begins with.
    pub fn start(&mut self) -> CellStart<Web> {
        match self.taken.take() {
            None => CellStart { ready: None, kind: BEGIN, handles: false, ignored: 0 },
            Some(taken) => {
                let Left { ready, handles, ignored, .. } = taken.left;
                CellStart { ready: Some(ready), kind: GO_ON, handles, ignored }
            }
        }
    }

    /// Keeps what the run has left; what the cell has answered, or `None` if its interpreter did not stay.
    pub fn end(mut self, program: Program, kernel: &crate::host::Kernel) -> Option<Answer> {
        let mut left = lock(&kernel.cells.left).take()?;
        let answer = std::mem::take(&mut left.answer);
        let interpreter = Interpreter {
            program,
            left,
            next_pid: kernel.next_pid(),
            monotonic: kernel.monotonic(),
            since: Instant::now(),
        };
        lock(&CELLS).insert(std::mem::take(&mut self.name), interpreter);
        Some(answer)
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        if let Some(untouched) = self.taken.take() {
            lock(&CELLS).insert(std::mem::take(&mut self.name), untouched);
        }
    }
}

impl Interpreter {
    /// What its monotonic clock shows now.
    fn monotonic(&self) -> u64 {
        let passed = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.monotonic.saturating_add(passed)
    }
}
