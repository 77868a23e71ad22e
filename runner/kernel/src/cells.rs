//! Processes that run a cell and stay: their beginning and their end.
//!
//! Such a process is an interpreter with the memory, descriptors and signals that its last cell
//! left. To the guest it is one process all the time: it keeps its number, its clocks continue, and
//! the numbers of its children are not reused.

use super::descriptors::Descriptors;
use super::host::Host;
use super::process::{CpuUsage, Process};
use super::table::FIRST_PID;
use crate::lock_mutex;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use wasibox_vfs::VfsFile;

/// Before a cell: nothing to do, the interpreter continues.
pub const GO_ON: i32 = 0;
/// Before a cell: the interpreter begins.
pub const BEGIN: i32 = 1;

/// Added to one of these values if the interpreter continues as a copy of another one, so that
/// unique values must be made again.
pub const FORK: i32 = 2;

/// The state that a run continues from.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellOrigin {
    /// The monotonic clock's time at the beginning of the run, in nanoseconds.
    pub monotonic: u64,
    /// CPU time of the first process by kind.
    pub cpu: CpuUsage,
    /// The sum of that time, in nanoseconds.
    pub cpu_ns: u64,
    /// The lowest number that the next processes may have.
    pub next_pid: u32,
}

/// Additional state with which the first process begins.
pub struct CellStart<H: Host> {
    /// The interpreter; `None` if it begins.
    pub ready: Option<H::Ready>,
    /// The step before the cell: [`GO_ON`] or [`BEGIN`], or another value that host and guest agree
    /// on.
    pub kind: i32,
    pub handles: bool,
    pub ignored: u64,
}

/// The state that a staying process leaves.
pub struct CellRemains<H: Host> {
    pub ready: H::Ready,
    /// The answer of the cell.
    pub answer: H::Answer,
    pub fds: Descriptors,
    pub handles: bool,
    pub ignored: u64,
    pub cpu: CpuUsage,
    pub cpu_ns: u64,
}

/// The part of a run that concerns cells.
pub struct Cells<H: Host> {
    /// The step before the cell, or [`NONE`].
    kind: AtomicI32,
    /// The remains of the interpreter, set before the first process is reported as ended.
    pub left: Mutex<Option<CellRemains<H>>>,
}

/// The kind of a run without a cell.
const NONE: i32 = -1;

impl<H: Host> Default for Cells<H> {
    fn default() -> Cells<H> {
        Cells { kind: AtomicI32::new(NONE), left: Mutex::default() }
    }
}

impl<H: Host> Cells<H> {
    /// Returns whether the process is one that stays.
    pub fn has_process(&self, process: &Process<H>) -> bool {
        process.pid == FIRST_PID && self.origin_kind() != NONE
    }

    /// Returns the step before the cell, as set by [`Cells::set_kind`].
    pub fn origin_kind(&self) -> i32 {
        self.kind.load(Ordering::Relaxed)
    }

    /// Declares that the first process runs a cell, and the step before it.
    pub fn set_kind(&self, kind: i32) {
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// Returns whether an interpreter that did not resume may begin on the module's own memory.
    pub fn may_begin_anew(&self) -> bool {
        self.origin_kind() == BEGIN
    }

    /// Keeps the state of a process that has run its cell to the end.
    pub fn keep_process(&self, process: &Process<H>, ready: H::Ready, answer: H::Answer) {
        let fds = std::mem::replace(&mut *lock_mutex(&process.fds), Descriptors::new(8));
        let left = CellRemains {
            ready,
            answer,
            fds,
            handles: process.handles.load(Ordering::SeqCst),
            ignored: process.ignored.load(Ordering::SeqCst),
            cpu: process.cpu(),
            cpu_ns: process.cpu_ns(),
        };
        *lock_mutex(&self.left) = Some(left);
    }
}

/// Returns whether a file can be opened again by its path alone.
pub fn can_be_named(file: &VfsFile) -> bool {
    matches!(file, VfsFile::Tree(_) | VfsFile::Host { .. } | VfsFile::Device(..) | VfsFile::Meta(_))
}

/// The clocks and random bytes of a process that is being prepared, whose files have times of at
/// most [`PREPARED_AT`]. Clocks and bytes are the same in each run, so the prepared memory is the
/// same on all machines. They are therefore not secret: processes that continue from that memory
/// make their own secret values.
#[derive(Debug, Default)]
pub struct FixedClock {
    ticks: AtomicU64,
    random: AtomicU64,
}

/// The time at which programs are prepared, in nanoseconds: the first of January 2026.
pub const PREPARED_AT: u64 = 1_767_225_600 * 1_000_000_000;
/// Nanoseconds by which each reading advances the clock. So a process that waits in a polling loop
/// waits for a fixed number of readings.
const TICK: u64 = 1_000_000;

impl FixedClock {
    /// Returns the time of a clock in nanoseconds.
    pub fn fixed_time(&self, is_real: bool) -> u64 {
        let passed = TICK.wrapping_mul(self.ticks.fetch_add(1, Ordering::Relaxed));
        if is_real { PREPARED_AT + passed } else { passed }
    }

    /// Fills `out` with pseudo-random bytes (splitmix64).
    pub fn fill_random(&self, out: &mut [u8]) {
        for part in out.chunks_mut(8) {
            let n = self.random.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            let mut z = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            part.copy_from_slice(&(z ^ (z >> 31)).to_le_bytes()[..part.len()]);
        }
    }
}

/// The fixed clock of a run in which a program is prepared; unset in other runs.
pub type IsFixed = OnceLock<FixedClock>;
