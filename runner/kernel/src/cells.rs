//! Processes that run a cell and stay: what they begin with, what they leave.
//!
//! Such a process is an interpreter whose memory, descriptors and signals are those that the
//! last one of it left. To the guest it is one process all the time: it has the same number, its clocks
//! go on, the numbers of its children do not come again.

use super::descriptors::Descriptors;
use super::host::Host;
use super::process::{CpuUsage, Process};
use super::table::FIRST_PID;
use crate::lock_mutex;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use wasibox_vfs::VfsFile;

/// Before a cell: nothing, the interpreter goes on.
pub const GO_ON: i32 = 0;
/// Before a cell: the interpreter begins.
pub const BEGIN: i32 = 1;

/// Beside these: it goes on as a copy of another one, so that what must be unique is made anew.
pub const FORK: i32 = 2;

/// What a run goes on from.
#[derive(Clone, Copy, Debug, Default)]
pub struct CellOrigin {
    /// What its monotonic clock shows at its beginning, in nanoseconds.
    pub monotonic: u64,
    /// CPU time of the first process by kind.
    pub cpu: CpuUsage,
    /// The same in sum, in nanoseconds.
    pub cpu_ns: u64,
    /// The lowest number that its next processes may have.
    pub next_pid: u32,
}

/// What the first process has besides the usual.
pub struct CellStart<H: Host> {
    /// The interpreter; `None` if it begins.
    pub ready: Option<H::Ready>,
    /// What comes before the cell: [`GO_ON`] or [`BEGIN`], or what else host and guest know.
    pub kind: i32,
    pub handles: bool,
    pub ignored: u64,
}

/// What it leaves if it stays.
pub struct CellRemains<H: Host> {
    pub ready: H::Ready,
    /// What the cell has answered.
    pub answer: H::Answer,
    pub fds: Descriptors,
    pub handles: bool,
    pub ignored: u64,
    pub cpu: CpuUsage,
    pub cpu_ns: u64,
}

/// The part of a run that is for cells.
pub struct Cells<H: Host> {
    /// What comes before the cell, or [`NONE`].
    kind: AtomicI32,
    /// Set before the first process is reported as ended.
    pub left: Mutex<Option<CellRemains<H>>>,
}

/// The run has no cell.
const NONE: i32 = -1;

impl<H: Host> Default for Cells<H> {
    fn default() -> Cells<H> {
        Cells { kind: AtomicI32::new(NONE), left: Mutex::default() }
    }
}

impl<H: Host> Cells<H> {
    /// Whether the process is one that stays.
    pub fn has_process(&self, process: &Process<H>) -> bool {
        process.pid == FIRST_PID && self.origin_kind() != NONE
    }

    /// What comes before the cell, as [`Cells::set_kind`] was told.
    pub fn origin_kind(&self) -> i32 {
        self.kind.load(Ordering::Relaxed)
    }

    /// Says that the first process runs a cell, and what comes before it.
    pub fn set_kind(&self, kind: i32) {
        self.kind.store(kind, Ordering::Relaxed);
    }

    /// Whether the interpreter that has declined may begin on the module's own memory.
    pub fn may_begin_anew(&self) -> bool {
        self.origin_kind() == BEGIN
    }

    /// Keeps what a process leaves, which has run its cell to the end.
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

/// Whether a path is all that it takes to have a file again.
pub fn can_be_named(file: &VfsFile) -> bool {
    matches!(file, VfsFile::Tree(_) | VfsFile::Host { .. } | VfsFile::Device(..) | VfsFile::Meta(_))
}

/// Clocks and chance of a process that is prepared, and times of files ([`PREPARED_AT`] at most): the same in each, so that its memory is the same
/// on all machines. Not secret, therefore; what must be is made by the processes that go on from there.
#[derive(Debug, Default)]
pub struct FixedClock {
    ticks: AtomicU64,
    random: AtomicU64,
}

/// When programs are prepared, in nanoseconds: the first of January 2026.
pub const PREPARED_AT: u64 = 1_767_225_600 * 1_000_000_000;
/// What a look at a clock takes. Whoever waits by looking waits for as many looks.
const TICK: u64 = 1_000_000;

impl FixedClock {
    /// The time of a clock.
    pub fn fixed_time(&self, is_real: bool) -> u64 {
        let passed = TICK.wrapping_mul(self.ticks.fetch_add(1, Ordering::Relaxed));
        if is_real { PREPARED_AT + passed } else { passed }
    }

    /// Bytes as of chance (splitmix64).
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

/// Set in the run of a process that is prepared.
pub type IsFixed = OnceLock<FixedClock>;
