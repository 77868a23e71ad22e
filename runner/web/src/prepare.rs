//! The initial content of a program's memory: as its module describes, or as it was after
//! preparation.
//!
//! A memory is prepared once in a page, when a parked interpreter or the page needs it. It equals
//! the native runner's bit by bit (`runner/sandbox/src/snapshot.rs`), because environment, clocks
//! and random numbers are the same. So an interpreter that was parked with one memory can be
//! restored with the other. An image in parts includes the native runner's memory, which takes less
//! time to fetch than to prepare. The page keeps it for later visits, where the program starts with
//! it at once.

use crate::ffi::{self, MemoryContent};
use crate::host::{Kernel, Web};
use crate::session::{self, PageSession};
use crate::thread::IdleWorkers;
use crate::{heap, lock_mutex};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wasibox_image::module::Facts;
use wasibox_kernel::border::Fd;
use wasibox_kernel::layer::PART;
use wasibox_kernel::parked::{self, ALIGN, PreparedHeader};
use wasibox_kernel::{
    CellOrigin, Cwd, Descriptor, Descriptors, Limits, OpenDescription, ProcessStart, ProcessStatus,
};
use wasibox_protocol::{Refusal, RefusalKind};
use wasibox_vfs::{
    Budget, DiskLimits, Errno, Loc, ProgramMark, ProtectedPaths, ROOT, Readiness, StdStream, Vfs,
    VfsFile,
};

/// The initial content of a memory.
pub struct PageTemplate {
    /// The address at which the content begins; it is surrounded by zeros.
    pub start: usize,
    pub content: Vec<u8>,
    /// The size of the memory in bytes.
    pub size: usize,
    /// The digest of the prepared memory; zeros for the module's own.
    pub digest: [u8; 32],
}

/// Number of bytes after a kept content: its address, the size of the memory, the digest.
const ABOUT: usize = 48;

impl PageTemplate {
    /// Reads the memory of this worker's guest, which has just started as its module describes. The
    /// memory is checked page by page, because most of it is an empty stack, which would otherwise
    /// be copied only to be found empty.
    pub fn of_module() -> PageTemplate {
        let size = ffi::guest_size();
        let mut page = vec![0; ALIGN];
        let Range { start, end } = parked::content_range(size / ALIGN, |n| {
            ffi::guest_read((n * ALIGN) as u32, &mut page);
            parked::is_zero(&page)
        });
        let mut content = vec![0; end - start];
        ffi::guest_read(start as u32, &mut content);
        PageTemplate { start, content, size, digest: [0; 32] }
    }

    /// Makes a template from a prepared memory.
    fn of_prepared(memory: Vec<u8>, facts: &Facts) -> PageTemplate {
        let what = PreparedHeader::from_memory(&memory, !facts.throws, true);
        // The memory is cut in place, because it is large.
        let mut content = memory;
        content.truncate(what.start + what.len);
        content.drain(..what.start);
        content.shrink_to_fit();
        let digest = what.content_digest(&content);
        PageTemplate { start: what.start, content, size: what.size, digest }
    }

    /// Makes the page keep it for later visits, in the format that [`PageTemplate::load_kept`]
    /// reads.
    fn keep(&self, program: ProgramMark) {
        let numbers = [self.start as u64, self.size as u64];
        let about = [numbers.map(u64::to_le_bytes).as_flattened(), &self.digest].concat();
        ffi::keep(program.0, &self.content, &about);
    }

    /// Returns the memory of a program that the page has kept, or the image's memory of it if
    /// `fetches` is set. The digest is trusted, because code that can write there can change the
    /// page as well.
    fn load_kept(program: ProgramMark, fetches: bool) -> Option<PageTemplate> {
        let mut content = ffi::kept(program.0, fetches)?;
        let about = content.split_off(content.len().checked_sub(ABOUT)?);
        let number = |at| usize::try_from(u64::from_le_bytes(*about[at..].first_chunk()?)).ok();
        let (start, size) = (number(0)?, number(8)?);
        let fits = start.checked_add(content.len()).is_some_and(|end| end <= size);
        let digest = *about.last_chunk()?;
        (fits && digest != [0; 32]).then_some(PageTemplate { start, content, size, digest })
    }

    /// Returns the memory in the form that is passed to JavaScript.
    pub fn content(&self) -> MemoryContent<'_> {
        let is_prepared = self.digest != [0; 32];
        MemoryContent { bytes: &self.content, at: self.start, size: self.size, is_prepared }
    }

    /// Returns whether it is so large that only few such memories are kept, by the rule of
    /// `sdk/web/worker.js`.
    pub fn is_large(&self) -> bool {
        self.size >= 32 << 20
    }

    /// Returns the part with that number.
    pub fn part(&self, number: u32) -> &[u8] {
        static ZEROS: [u8; PART] = [0; PART];
        let at = (number as usize * PART).checked_sub(self.start);
        at.and_then(|at| self.content.get(at..at + PART)).unwrap_or(&ZEROS)
    }
}

/// The initial memory of prepared programs, by program.
static PREPARED: Mutex<BTreeMap<u32, Arc<PageTemplate>>> = Mutex::new(BTreeMap::new());
static OF_MODULE: Mutex<BTreeMap<u32, Arc<PageTemplate>>> = Mutex::new(BTreeMap::new());

/// Returns a program's prepared memory, if it was made.
pub fn prepared_template(program: ProgramMark) -> Option<Arc<PageTemplate>> {
    lock_mutex(&PREPARED).get(&program.0).cloned()
}

/// Returns the initial memory of a program that was not prepared. The first call reads the memory
/// from this worker's guest, which has just started.
pub fn of_module(program: ProgramMark) -> Arc<PageTemplate> {
    let mut all = lock_mutex(&OF_MODULE);
    all.entry(program.0).or_insert_with(|| Arc::new(PageTemplate::of_module())).clone()
}

/// Returns the initial memory of a program that was not prepared, once it has been read.
pub fn known_of_module(program: ProgramMark) -> Option<Arc<PageTemplate>> {
    lock_mutex(&OF_MODULE).get(&program.0).cloned()
}

/// Programs for which the page was asked for a kept memory.
static ASKED: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Returns a program's prepared memory, if it was made in this visit, or in an earlier one and
/// background preparation is on.
pub fn prepared_ever(program: ProgramMark) -> Option<Arc<PageTemplate>> {
    if BY_ITSELF.load(Ordering::Relaxed) {
        // The page is asked only once. Other callers do not wait for its answer.
        if lock_mutex(&ASKED).insert(program.0) {
            take_kept(program, false);
        }
    }
    prepared_template(program)
}

/// Takes the memory of a program that the page has kept, or the image's memory of it if `fetches`
/// is set.
fn take_kept(program: ProgramMark, fetches: bool) {
    if prepared_template(program).is_none()
        && heap::free_room() > 2 * MEMORY
        && let Some(template) = PageTemplate::load_kept(program, fetches)
    {
        lock_mutex(&PREPARED).entry(program.0).or_insert_with(|| Arc::new(template));
    }
}

/// The number of times that each program has started with the memory that its module describes.
static BEGUN: Mutex<BTreeMap<u32, u32>> = Mutex::new(BTreeMap::new());
/// Programs that were prepared in the background, or are about to be.
static TAKEN: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
/// Number of starts after which a program's prepared memory is fetched from the image. If the image
/// has none, the program is prepared once there has been no call for [`MOMENT`], or after
/// [`VERY_OFTEN`] starts.
const OFTEN: u32 = 2;
const MOMENT: Duration = Duration::from_millis(300);
/// Number of starts after which a program is prepared even while calls run.
const VERY_OFTEN: u32 = 24;

static BY_ITSELF: AtomicBool = AtomicBool::new(false);
/// The number of calls that have begun, and of those that have ended.
static CALLS: AtomicU32 = AtomicU32::new(0);
static ENDED: AtomicU32 = AtomicU32::new(0);

/// Turns on the background preparation of programs that start often.
pub fn by_itself() {
    BY_ITSELF.store(true, Ordering::Relaxed);
}

/// Counts a start of a program with the memory that its module describes. Programs that often start
/// in this way are prepared.
pub fn program_begins(program: ProgramMark) {
    let mut begun = lock_mutex(&BEGUN);
    let count = begun.entry(program.0).or_default();
    *count = count.saturating_add(1);
}

/// Counts the beginning of a call.
pub fn call_begins() {
    CALLS.fetch_add(1, Ordering::Relaxed);
}

/// Counts the end of a call. Programs that start often are fetched, or prepared while no call runs,
/// and finally even while calls run.
pub fn call_ended() {
    ENDED.fetch_add(1, Ordering::Relaxed);
    if !BY_ITSELF.load(Ordering::Relaxed) {
        return;
    }
    let mut taken = lock_mutex(&TAKEN);
    for (program, count) in &*lock_mutex(&BEGUN) {
        if *count >= OFTEN && taken.insert(*program) {
            let program = ProgramMark(*program);
            // A failure to start the worker is ignored, because nothing depends on it.
            let _ = std::thread::Builder::new()
                .stack_size(STACK)
                .spawn(move || in_the_background(program));
        }
    }
}

/// Fetches a program's prepared memory, or prepares it once no call runs or the program has started
/// often.
fn in_the_background(program: ProgramMark) {
    take_kept(program, true);
    while prepared_template(program).is_none() {
        let calls = CALLS.load(Ordering::Relaxed);
        let nobody_calls =
            || CALLS.load(Ordering::Relaxed) == calls && ENDED.load(Ordering::Relaxed) == calls;
        std::thread::sleep(MOMENT);
        let count = lock_mutex(&BEGUN).get(&program.0).copied().unwrap_or(0);
        if nobody_calls() || count >= VERY_OFTEN {
            break;
        }
    }
    if let Err(failure) = session::get().and_then(|session| prepare_program(session, program)) {
        eprintln!("{}", failure.text);
    }
}

/// The stack size of the preparing thread.
const STACK: usize = 256 << 10;
/// The time limit of a preparation, as in `runner/sandbox/src/snapshot.rs`.
const TIMEOUT: Duration = Duration::from_secs(120);
const MEMORY: u64 = 256 << 20;
/// Maximum bytes of a preparation's output that are reported.
const MAX_MESSAGE: usize = 300;

fn cannot_prepare(why: impl std::fmt::Display) -> Refusal {
    Refusal::new(RefusalKind::Internal, format!("a program cannot be prepared: {why}"))
}

/// Prepares all programs that can be prepared and are not yet.
pub fn prepare_all() -> Result<(), Refusal> {
    let session = session::get()?;
    (0..session.names.len()).try_for_each(|n| prepare_program(session, ProgramMark(n as u32)))
}

/// Prepares a program, if necessary.
pub fn prepare_program(session: &PageSession, program: ProgramMark) -> Result<(), Refusal> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = lock_mutex(&ONE_AT_A_TIME);
    let Some(facts) = session.facts(program).filter(|f| f.can_be_prepared) else { return Ok(()) };
    take_kept(program, true);
    // A session with little room does without prepared memory.
    if prepared_template(program).is_some() || heap::free_room() < 2 * MEMORY {
        return Ok(());
    }
    let memory = run(session, program)?;
    let template = Arc::new(PageTemplate::of_prepared(memory, facts));
    lock_mutex(&PREPARED).insert(program.0, Arc::clone(&template));
    template.keep(program);
    Ok(())
}

/// Returns the memory of the program after preparation. Its whole environment is the native one,
/// including the stack's size.
fn run(session: &PageSession, program: ProgramMark) -> Result<Vec<u8>, Refusal> {
    let limits = Limits { timeout: Some(TIMEOUT), memory: MEMORY, ..Limits::default() };
    let budget = Budget::new(limits.memory);
    let vfs = prepare_files(session, &budget).map_err(cannot_prepare)?;
    let errno = |e: Errno| cannot_prepare(e.text());
    let mut fds = Descriptors::new(limits.descriptors);
    let said = Arc::new(PreparationOutput::default());
    let stream = || VfsFile::Stream(said.clone());
    for open in [
        OpenDescription::new(stream(), true, false),
        OpenDescription::new(stream(), false, true),
        OpenDescription::new(stream(), false, true),
        OpenDescription::root(&vfs).map_err(errno)?,
    ] {
        fds.add_descriptor(Descriptor { open, cloexec: false }, Fd(0)).map_err(errno)?;
    }
    let (loc, path) = vfs.chdir(&Loc::Tree(ROOT), b"/").map_err(errno)?;
    let atom = &session.names[program.0 as usize];
    let name = session.source.first_command(program, atom);
    let start = ProcessStart {
        program,
        argv: vec![name.map_or_else(|| b"program".to_vec(), String::into_bytes)],
        env: [b"HOME=/home/user".as_slice(), b"PATH=/usr/local/bin:/usr/bin:/bin"]
            .map(<[u8]>::to_vec)
            .into(),
    };
    let host = Arc::new(Web { programs: session.names.len(), idle: IdleWorkers::default() });
    let kernel: Arc<Kernel> =
        Kernel::new(vfs, host, limits, budget, CellOrigin::default(), Arc::default());
    kernel.start_prepared(start, fds, Cwd::new(loc, path)).map_err(cannot_prepare)?;
    let end = kernel.finish_run();
    let memory = lock_mutex(&kernel.prepared).take();
    let said = || String::from_utf8_lossy(&lock_mutex(&said.0)).into_owned();
    memory.filter(|_| end.status == ProcessStatus::Exited(0)).ok_or_else(|| cannot_prepare(said()))
}

fn prepare_files(session: &PageSession, budget: &Arc<Budget>) -> Result<Vfs, String> {
    let base = session.source.base_files(&session.names)?;
    let vfs =
        Vfs::new(base, &[], DiskLimits::default(), budget.clone(), &ProtectedPaths::default());
    vfs.map_err(|e| e.to_string())
}

/// The standard streams of a preparation: an empty input, and output that is reported if it fails.
#[derive(Debug, Default)]
struct PreparationOutput(Mutex<Vec<u8>>);

impl StdStream for PreparationOutput {
    fn read(&self, _: &mut [u8]) -> Result<usize, Errno> {
        Ok(0)
    }

    fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        let mut said = lock_mutex(&self.0);
        let room = MAX_MESSAGE.saturating_sub(said.len()).min(data.len());
        said.extend(&data[..room]);
        Ok(data.len())
    }

    fn readiness_of(&self, write: bool) -> Option<Readiness> {
        let bytes = if write { u64::from(u16::MAX) } else { 0 };
        Some(Readiness { bytes, hangup: !write })
    }

    fn wait_ready(&self, _: bool, _: Duration) {}
}
