//! The kernel's host: the JavaScript engine, and a worker for each process.

use crate::cell::{PageCellAnswer, StandingInterpreter};
use crate::ffi;
use crate::memory::GuestMemory;
use crate::prepare::{self, PageTemplate};
use crate::thread::{self, IdleWorkers};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;
use wasibox_kernel::{CpuUsage, EntryPoint, Host};
use wasibox_vfs::{Errno, ProgramMark};

/// The kernel of a run.
pub type Kernel = wasibox_kernel::Kernel<Web>;
/// A process of a run.
pub type Process = wasibox_kernel::Process<Web>;
/// A process to run.
pub type Job = wasibox_kernel::ProcessJob<Web>;

/// A type without values, for features that do not exist here.
#[derive(Clone, Copy)]
pub enum Never {}

/// The programs of a session.
pub struct Web {
    /// The number of programs.
    pub programs: usize,
    /// Workers that wait for a process.
    pub idle: IdleWorkers,
}

/// The assumed initial memory in bytes of a program whose module was not inspected yet: only the
/// engine knows the real size, and does not charge it.
const BEGINS_WITH: u64 = 1 << 20;

/// A program, with its memory if it was prepared.
#[derive(Clone)]
pub struct PageProgram(pub Option<Arc<PageTemplate>>);

/// The error that the image has no such program.
#[derive(Debug)]
pub struct NoProgram;

impl std::fmt::Display for NoProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no such program")
    }
}

impl std::error::Error for NoProgram {}

impl Host for Web {
    type Memory<'a> = GuestMemory;
    type Loaded = PageProgram;
    type Error = NoProgram;
    type Watch = PageProcessWatch;
    type Ready = StandingInterpreter;
    type Answer = PageCellAnswer;
    type Pattern = Never;
    type Locals = Never;
    type Clock = Never;
    type Stopped = ();

    fn load_program(&self, program: ProgramMark) -> Result<PageProgram, NoProgram> {
        let is_there = (program.0 as usize) < self.programs;
        is_there.then(|| PageProgram(prepare::prepared_ever(program))).ok_or(NoProgram)
    }

    fn has_snapshot(&self, loaded: &PageProgram) -> bool {
        loaded.0.is_some()
    }

    fn memory_needs(&self, loaded: &PageProgram, entry: EntryPoint) -> u64 {
        let prepared = match entry {
            EntryPoint::Resume | EntryPoint::Cell { is_prepared: true } => loaded.0.as_ref(),
            _ => None,
        };
        BEGINS_WITH + prepared.map_or(0, |template| template.size as u64)
    }

    fn entry_of(ready: &StandingInterpreter) -> EntryPoint {
        ready.entry()
    }

    fn start_job(&self, job: Job) -> std::io::Result<()> {
        thread::start_job(self, job)
    }

    fn start_thread(&self, job: wasibox_kernel::ThreadJob<Web>) -> std::io::Result<()> {
        match *job.pattern {}
    }

    fn thread_needs(pattern: &Never) -> u64 {
        match *pattern {}
    }

    fn locals_at(pattern: &Never) -> Option<u32> {
        match *pattern {}
    }

    fn find_locals(_: &mut GuestMemory, _: &[(u32, usize)]) -> Result<Never, Errno> {
        Err(Errno::NOTSUP)
    }

    fn save_locals(locals: &Never, _: &mut Vec<u8>) {
        match *locals {}
    }

    fn restore_locals(locals: &Never, _: &[u8]) {
        match *locals {}
    }

    fn stop_guests(&self) {}

    fn thread_clock() -> Option<Never> {
        None
    }

    fn time_of(clock: Never) -> Option<u64> {
        match clock {}
    }

    /// Returns the elapsed time, because engines do not report a worker's CPU time, which cannot be
    /// more.
    fn cpu_ns() -> u64 {
        thread_local!(static BEGAN: Instant = Instant::now());
        BEGAN.with(|began| u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn thread_usage() -> CpuUsage {
        CpuUsage { user: Web::cpu_ns(), system: 0 }
    }
}

/// The means of stopping a process: the page terminates its worker.
pub struct PageProcessWatch {
    fatal: AtomicU8,
    end_requests: AtomicU32,
    /// Slot and generation of its worker, or [`NOWHERE`].
    place: AtomicU64,
}

const NOWHERE: u64 = u64::MAX;
/// Of this many requests to stop a guest, only one is sent to the page, because the page takes a
/// moment to act.
const EACH: u32 = 8;

impl PageProcessWatch {
    /// Records the place at which its guest now runs.
    pub fn runs_at(&self, slot: u32, generation: u32) {
        self.place.store(u64::from(generation) << 32 | u64::from(slot), Ordering::SeqCst);
    }

    /// Records that no worker runs its guest any longer.
    pub fn runs_nowhere(&self) {
        self.place.store(NOWHERE, Ordering::SeqCst);
    }

    /// Returns the slot of its worker.
    pub fn slot(&self) -> Option<u32> {
        let place = self.place.load(Ordering::SeqCst);
        (place != NOWHERE).then_some(place as u32)
    }
}

impl wasibox_kernel::HostWatch for PageProcessWatch {
    fn new(_: u32) -> PageProcessWatch {
        PageProcessWatch {
            fatal: AtomicU8::new(0),
            end_requests: AtomicU32::new(0),
            place: AtomicU64::new(NOWHERE),
        }
    }

    fn fatal_signal(&self) -> Option<u8> {
        match self.fatal.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(signal),
        }
    }

    fn set_fatal(&self, signal: u8) -> bool {
        self.fatal.compare_exchange(0, signal, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Returns 0, so that the kernel never stops all guests at once: the page can end a guest
    /// without that.
    fn end_requests(&self) -> u32 {
        0
    }

    fn is_running(&self) -> bool {
        self.slot().is_some()
    }

    fn end_computation(&self) {
        let requests = self.end_requests.fetch_add(1, Ordering::Relaxed);
        let place = self.place.load(Ordering::SeqCst);
        if place != NOWHERE && requests.is_multiple_of(EACH) {
            ffi::interrupt(place as u32, (place >> 32) as u32);
        }
    }
}
