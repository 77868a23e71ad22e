//! The session: an image's files and programs, and one run at a time.

use crate::cell;
use crate::heap::{self, HeapGuard};
use crate::history::{self, PageCallNote};
use crate::host::{Kernel, Web};
use crate::outcome::{self, CallEnd};
use crate::parts::PageImage;
use crate::prepare::{self, PageTemplate};
use crate::streams::{self, PageInput, PageMeter, PageOutput};
use crate::terminal::CallTerminal;
use crate::thread::IdleWorkers;
use crate::{lock_mutex, requests, slots};
use serde::Deserialize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use wasibox_image::Image;
use wasibox_image::module::{Facts, module_facts};
use wasibox_image::parts::Catalog;
use wasibox_kernel::border::Fd;
use wasibox_kernel::parked;
use wasibox_kernel::value::CellValue;
use wasibox_kernel::{
    ChildStart, Cwd, Descriptor, Descriptors, LimitHit, Limits, OpenDescription, PlacedExec,
    ProgramMatch, command_text, find_program, image_files, limit_of_quota,
};
use wasibox_protocol::{
    CallOptions, Command, End, Exec, Outcome, Refusal, RefusalKind, ScreenSize,
};
use wasibox_vfs::terminal::SlaveEnd;
use wasibox_vfs::{
    BaseFile, Budget, ChangeBounds, DiskLimits, Errno, Loc, ProgramMark, ProtectedPaths, ROOT, Vfs,
    VfsFile,
};

/// The source of the session's files and programs.
pub enum SessionSource {
    /// A whole image.
    Whole(Arc<Image>),
    /// An image's catalog: the page fetches the rest when it is needed.
    Parts(PageImage),
}

impl SessionSource {
    /// Returns its files.
    pub fn base_files(&self, names: &[String]) -> Result<Vec<BaseFile>, String> {
        let number =
            |atom: &str| names.iter().position(|n| n == atom).map(|n| ProgramMark(n as u32));
        match self {
            SessionSource::Whole(image) => {
                image_files(image, Some(&number)).map_err(|e| e.to_string())
            }
            SessionSource::Parts(parts) => Ok(parts.base_files()),
        }
    }

    /// Returns the first command name of a program.
    pub fn first_command(&self, program: ProgramMark, atom: &str) -> Option<String> {
        match self {
            SessionSource::Whole(image) => {
                image.commands().iter().find(|c| c.atom == *atom).map(|c| c.name.clone())
            }
            SessionSource::Parts(parts) => {
                let commands = &parts.catalog.commands;
                commands.iter().find(|(_, n)| *n == program.0).map(|(name, _)| name.clone())
            }
        }
    }

    /// Returns the SHA-256 of a program.
    fn digest(&self, program: ProgramMark, atom: &str) -> Option<[u8; 32]> {
        match self {
            SessionSource::Whole(image) => image.atoms().get(atom).copied(),
            SessionSource::Parts(parts) => {
                Some(parts.catalog.programs.get(program.0 as usize)?.digest)
            }
        }
    }

    fn facts(&self, program: ProgramMark, atom: &str) -> Option<Facts> {
        match self {
            SessionSource::Whole(image) => module_facts(image.atom(atom)?),
            SessionSource::Parts(parts) => module_facts(&parts.fetch_program(program)?),
        }
    }
}

/// The parts of a session.
pub struct PageSession {
    pub source: SessionSource,
    /// The names of its programs, by number, and their facts.
    pub names: Vec<String>,
    facts: Vec<OnceLock<Option<Facts>>>,
    pub vfs: Vfs,
    pub host: Arc<Web>,
    pub budget: Arc<Budget>,
    pub limits: Limits,
}

impl PageSession {
    /// Returns the number of the program with that name.
    pub fn program_number(&self, atom: &str) -> Option<ProgramMark> {
        self.names.iter().position(|n| n == atom).map(|n| ProgramMark(n as u32))
    }

    /// Returns the facts that a program's module states.
    pub fn facts(&self, program: ProgramMark) -> Option<&Facts> {
        let name = self.names.get(program.0 as usize)?;
        self.facts[program.0 as usize].get_or_init(|| self.source.facts(program, name)).as_ref()
    }

    /// Returns the digest that a parked interpreter of the program requires if it began with the
    /// memory `prepared`, or with the module's own memory if that is `None`.
    pub fn module_of(
        &self,
        program: ProgramMark,
        prepared: Option<&PageTemplate>,
    ) -> Option<[u8; 32]> {
        let module = self.source.digest(program, self.names.get(program.0 as usize)?)?;
        Some(parked::module_of(&module, &prepared.map_or([0; 32], |t| t.digest)))
    }
}

/// Returns the session, once its image is open.
pub fn get() -> Result<&'static PageSession, Refusal> {
    SESSION.get().ok_or_else(|| Refusal::new(RefusalKind::Internal, "there is no session"))
}

static SESSION: OnceLock<PageSession> = OnceLock::new();
/// The kernel of the current run.
static KERNEL: Mutex<Option<Arc<Kernel>>> = Mutex::new(None);
/// The answer of the last export.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The part of a request that asks for the preparation of the programs instead of a call.
#[derive(Deserialize)]
struct PreparePart {
    #[serde(default)]
    prepare: bool,
}

/// A request for a call on a terminal.
#[derive(Deserialize)]
struct TerminalCall {
    terminal: ScreenSize,
    call: CallOptions,
}

/// A call whose parts were resolved.
struct PendingCall {
    /// The note for the history.
    note: PageCallNote,
    argv: Vec<Vec<u8>>,
    cell: Option<cell::PendingCell>,
    env: Vec<Vec<u8>>,
    cwd: Vec<u8>,
}

impl PendingCall {
    /// Resolves the command and its environment, which continues from the session's shell.
    fn new(exec: Exec, vfs: &Vfs) -> Result<PendingCall, Refusal> {
        let cell = match &exec.command {
            Command::Cell { language, code } => Some((language.interpreter(), code.clone())),
            Command::Program(_) | Command::Script(_) => None,
        };
        let note = PageCallNote {
            command: command_text(&exec.command),
            cell: cell.as_ref().map(|(name, _)| *name),
            ..PageCallNote::default()
        };
        let state = vfs.session_state().unwrap_or_default();
        let mut placed = PlacedExec::new(exec, Some(&state));
        if let Some(state) = placed.state_after(&state) {
            vfs.set_state(Some(state.into()));
        }
        let (mut argv, env, cwd) = (placed.argv(), placed.environment(), placed.directory());
        let cell = match cell {
            Some((name, code)) => {
                argv.push(code);
                Some(cell::PendingCell::new(name.into())?)
            }
            None => None,
        };
        Ok(PendingCall { note, argv, cell, env, cwd })
    }
}

/// The memory limit in bytes for all guests, as natively. An engine may provide less.
const MEMORY: u64 = 2 << 30;

/// Keeps bytes as the answer that the page reads, and returns their number.
pub fn keep_answer(bytes: impl Into<Vec<u8>>) -> usize {
    let mut answer = lock_mutex(&ANSWER);
    *answer = bytes.into();
    answer.len()
}

/// Returns the address of the answer.
pub fn answer_at() -> *const u8 {
    lock_mutex(&ANSWER).as_ptr()
}

/// Returns the session's files.
pub fn session_vfs() -> Result<&'static Vfs, Refusal> {
    get().map(|s| &s.vfs)
}

/// Allows guests to make requests, by rules in JSON.
pub fn allow_network(policy: &[u8]) -> Result<(), Refusal> {
    let session = get()?;
    requests::allow_requests(policy, &session.vfs, &session.budget)
}

/// Returns the name of a program.
pub fn program_name(number: u32) -> Option<&'static str> {
    SESSION.get()?.names.get(number as usize).map(String::as_str)
}

/// Returns a program's bytes.
pub fn program_bytes(number: u32) -> Option<&'static [u8]> {
    let session = SESSION.get()?;
    match &session.source {
        SessionSource::Whole(image) => image.atom(session.names.get(number as usize)?),
        SessionSource::Parts(_) => None,
    }
}

/// Opens the image of the session, whose guests have a stack of `stack` bytes.
pub fn boot_session(image: Vec<u8>, stack: usize) -> Result<(), String> {
    let image = Arc::new(Image::from_bytes("the image", image).map_err(|e| e.to_string())?);
    let names = image.atoms().keys().cloned().collect();
    let identity = image.identity();
    begin_session(SessionSource::Whole(image), names, identity, stack)
}

/// Opens an image of which only the catalog is here: the page fetches the rest when it is needed.
pub fn boot_parts(catalog: &[u8], stack: usize) -> Result<(), String> {
    let catalog = Catalog::decode(catalog).map_err(|e| e.to_string())?;
    let names = catalog.programs.iter().map(|program| program.name.clone()).collect();
    let identity = catalog.identity;
    begin_session(SessionSource::Parts(PageImage::new(catalog)), names, identity, stack)
}

fn begin_session(
    source: SessionSource,
    names: Vec<String>,
    identity: [u8; 32],
    stack: usize,
) -> Result<(), String> {
    let base = source.base_files(&names)?;
    let limits = Limits { processes: slots::SLOTS, memory: MEMORY, stack, ..Limits::default() };
    let budget = Budget::with_host_check(limits.memory, heap::has_room);
    let vfs =
        Vfs::new(base, &[], DiskLimits::default(), budget.clone(), &ProtectedPaths::default());
    let vfs = vfs.map_err(|e| e.to_string())?;
    // The shell's state, which is empty at first.
    vfs.set_state(Some(Arc::from([])));
    history::begin_history(&vfs, identity);
    let host = Arc::new(Web { programs: names.len(), idle: IdleWorkers::default() });
    let facts = names.iter().map(|_| OnceLock::new()).collect();
    let session = PageSession { source, names, facts, vfs, host, budget, limits };
    SESSION.set(session).map_err(|_| "there is a session already".to_owned())
}

/// Runs a command to its end, and returns the result as JSON, a [`CallEnd`].
pub fn run(asked: &[u8]) -> Vec<u8> {
    let is_preparation = serde_json::from_slice(asked).is_ok_and(|part: PreparePart| part.prepare);
    let ran = if is_preparation {
        prepare::prepare_all().map(|()| Outcome::default())
    } else {
        read_call(asked).and_then(|(exec, size)| {
            prepare::call_begins();
            let ran = run_command(exec, size);
            prepare::call_ended();
            ran
        })
    };
    outcome::to_json(&match ran {
        Ok(outcome) => CallEnd::Outcome(Box::new(outcome)),
        Err(failure) => CallEnd::Failed(failure),
    })
}

/// Returns the call that a page describes, if it is valid, and the size of its terminal.
fn read_call(asked: &[u8]) -> Result<(Exec, Option<ScreenSize>), Refusal> {
    let (options, size) = match serde_json::from_slice::<TerminalCall>(asked) {
        Ok(TerminalCall { terminal, call }) => (call, Some(terminal)),
        Err(_) => (serde_json::from_slice(asked)?, None),
    };
    let mut exec = options.into_exec(Vec::new())?;
    exec.check()?;
    if size.is_some() {
        if matches!(exec.command, Command::Cell { .. }) {
            return Err(Refusal::new(RefusalKind::Invalid, "a cell has no terminal"));
        }
        if !exec.env.iter().any(|(name, _)| name == b"TERM") {
            exec.env.push((b"TERM".to_vec(), b"xterm-256color".to_vec()));
        }
    }
    Ok((exec, size))
}

/// Time limit of the search for changed files.
const COMPARING: Duration = Duration::from_secs(1);

/// Begins a call, which may add to the session.
///
/// # Errors
/// If almost no memory is left for it.
fn begin_bounded() -> Result<HeapGuard, Refusal> {
    if heap::is_full() {
        let why = "the session has used up its memory, mostly for its history: export it without the history, and import it again";
        return Err(Refusal::new(RefusalKind::Conflict, why));
    }
    Ok(heap::begin_guard())
}

fn run_command(exec: Exec, size: Option<ScreenSize>) -> Result<Outcome, Refusal> {
    let session = get()?;
    let _bounded = begin_bounded()?;
    let PageSession { vfs, budget, limits, .. } = session;
    let (begun, time) = (Instant::now(), wasibox_vfs::now_ns());
    let mark = exec.list_files.then(|| vfs.mark_state());
    budget.take_report();
    vfs.take_hit();
    requests::start_call();
    let asked = exec.capture_limit();
    let limit = limits.output.map_or(asked, |most| most.min(asked));
    let meter = Arc::new(PageMeter::new(Some(limit)));
    let mut going = PendingCall::new(exec, vfs)?;
    let terminal = size.map(|size| CallTerminal::open(vfs, size)).transpose();
    let (terminal, slave) = terminal
        .map_err(|e| Refusal::new(RefusalKind::Limit, format!("no terminal: {}", e.text())))?
        .unzip();
    let ran = begin_command(session, &mut going, &meter, slave).map(|(kernel, program)| {
        let end = kernel.finish_run();
        (kernel, program, end)
    });
    if let Some(terminal) = terminal {
        terminal.end();
    }
    let (kernel, program, end) = ran?;
    requests::end_call();
    vfs.command_ended();
    *lock_mutex(&KERNEL) = None;
    let ended = going.cell.map(|cell| cell.end_run(session, program, &kernel));
    let bounds =
        ChangeBounds { deadline: Some(Instant::now() + COMPARING), ..ChangeBounds::default() };
    let changes = mark.map(|mark| vfs.changes_since(&mark, &bounds)).unwrap_or_default();
    let put_back = matches!(ended, Some(None));
    let (answer, cell) = ended.flatten().unzip();
    let answer = answer.unwrap_or_default();
    let value = CellValue::new(answer.value, answer.json).bounded(limit);
    let mut outcome = Outcome {
        duration_ms: begun.elapsed().as_secs_f64() * 1e3,
        cpu_ms: end.cpu.as_secs_f64() * 1e3,
        peak_memory: budget.take_report().0,
        limit_hit: end.limit.or(vfs.take_hit().map(limit_of_quota)),
        truncated: meter.is_over(),
        files_truncated: changes.truncated,
        files: wasibox_files::describe_changes(vfs, changes.list),
        value: value.text,
        value_json: value.json,
        value_bytes: value.bytes,
        ended: end.ended,
        put_back,
        ..Outcome::from_end(End::of_run(end.status.into(), end.limit, end.interrupted))
    };
    let duration = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let note = PageCallNote { time, duration, ..going.note };
    let commit =
        history::with_history(|history| history.keep_call(vfs, &note, Some(&outcome), cell));
    outcome.commit = Some(commit?);
    Ok(outcome)
}

/// Finds a command: a name along `PATH`, or a path.
fn find_command(vfs: &Vfs, going: &PendingCall, cwd: &Loc) -> Result<ProgramMatch, Refusal> {
    let name = going.argv.first().cloned().unwrap_or_default();
    let path = going.env.iter().find_map(|e| e.strip_prefix(b"PATH=".as_slice()));
    let candidates: Vec<Vec<u8>> = match (name.contains(&b'/'), path) {
        (true, _) | (false, None) => vec![name.clone()],
        (false, Some(path)) => {
            path.split(|b| *b == b':').map(|dir| [dir, b"/", &name].concat()).collect()
        }
    };
    for candidate in candidates {
        match find_program(vfs, cwd, &candidate) {
            Ok(found) => return Ok(found),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(e) => return Err(cannot_run(&name, e)),
        }
    }
    let name = String::from_utf8_lossy(&name);
    Err(Refusal::new(RefusalKind::Missing, format!("{name}: command not found")))
}

fn cannot_run(name: &[u8], why: Errno) -> Refusal {
    let name = String::from_utf8_lossy(name);
    let why = if why == Errno::NOEXEC { "cannot execute binary file" } else { why.text() };
    let refusal = Refusal::new(RefusalKind::Internal, format!("{name}: {why}"));
    Refusal { code: Some("EACCES".into()), ..refusal }
}

/// Starts a command, and returns its kernel and its program.
fn begin_command(
    session: &PageSession,
    going: &mut PendingCall,
    meter: &Arc<PageMeter>,
    slave: Option<SlaveEnd>,
) -> Result<(Arc<Kernel>, ProgramMark), Refusal> {
    let PageSession { vfs, limits, budget, .. } = session;
    let (loc, cwd) = vfs.chdir(&Loc::Tree(ROOT), &going.cwd).map_err(|e| {
        let cwd = String::from_utf8_lossy(&going.cwd);
        Refusal::new(RefusalKind::Conflict, format!("{cwd}: {}", e.text()))
    })?;
    let found = find_command(vfs, going, &loc)?;
    let program = found.program;
    let name = going.argv.first().cloned().unwrap_or_default();
    let cannot = |why: Errno| cannot_run(&name, why);
    if let Some(cell) = going.cell.as_mut().filter(|cell| !cell.is_there())
        && let Some((parked, is_fork)) = history::with_history(|h| h.parked_cell(cell.name()))?
    {
        cell.restore_from(session, parked, is_fork)?;
    }
    if going.cell.as_ref().is_some_and(|cell| !cell.fits_program(program)) {
        return Err(Refusal::new(RefusalKind::Conflict, "another program runs under this name"));
    }
    let output = |stream| VfsFile::Stream(Arc::new(PageOutput { stream, meter: meter.clone() }));
    let root = OpenDescription::root(vfs).map_err(cannot)?;
    let opens = match slave {
        Some(slave) => {
            let open = OpenDescription::new(VfsFile::Slave(slave), true, true);
            [open.clone(), open.clone(), open, root]
        }
        None => [
            OpenDescription::new(VfsFile::Stream(Arc::new(PageInput)), true, false),
            OpenDescription::new(output(1), false, true),
            OpenDescription::new(output(2), false, true),
            root,
        ],
    };
    let before = going.cell.as_ref().map(cell::PendingCell::cell_origin).unwrap_or_default();
    let kernel = Kernel::new(
        vfs.clone(),
        session.host.clone(),
        *limits,
        budget.clone(),
        before,
        Arc::default(),
    );
    let env = std::mem::take(&mut going.env);
    let start = found.to_start(vfs, going.argv.clone(), env);
    let cwd = Cwd::new(loc, cwd);
    *lock_mutex(&KERNEL) = Some(kernel.clone());
    let spawned = match &mut going.cell {
        None => {
            let mut fds = Descriptors::new(limits.descriptors);
            for open in opens {
                fds.add_descriptor(Descriptor { open, cloexec: false }, Fd(0)).map_err(cannot)?;
            }
            kernel.spawn_process(ChildStart { parent: 1, start, fds, cwd, ignored: 0, held: None })
        }
        Some(cell) => {
            let held = kernel.reserve_start(&start, &cwd, cell.table_cost());
            let held = held.ok_or_else(|| cannot(Errno::NOMEM))?;
            let fds = cell.descriptors(limits.descriptors, opens).map_err(cannot)?;
            let held = Some(held);
            let child = ChildStart { parent: 1, start, fds, cwd, ignored: 0, held };
            kernel.run_cell(child, cell.to_start())
        }
    };
    match spawned {
        Ok(_) => Ok((kernel, program)),
        Err(wasibox_kernel::SpawnError::Errno(e)) => Err(cannot(e)),
        Err(wasibox_kernel::SpawnError::Program(_)) => Err(cannot(Errno::NOEXEC)),
    }
}

/// Forgets the input of the last run. This is called before the next run begins, because that run's
/// input may arrive earlier.
pub fn expect_input() {
    streams::begin_input();
}

/// Ends the run.
pub fn interrupt_run(by_timeout: bool) {
    let kernel = lock_mutex(&KERNEL).clone();
    match kernel {
        Some(kernel) if by_timeout => kernel.hit_limit(LimitHit::Timeout),
        Some(kernel) => kernel.interrupt_run(),
        None => {}
    }
}
