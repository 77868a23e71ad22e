//! The session: an image's files and programs, and one run at a time.

use crate::host::{Kernel, Web};
use crate::streams::{self, Input, Meter, Output};
use crate::thread::Idle;
use crate::{lock, slots};
use std::sync::{Arc, Mutex, OnceLock};
use wasibox_image::Image;
use wasibox_kernel::{
    Before, Cwd, Descriptor, Descriptors, LimitHit, Limits, OpenFile, Start, find_program,
    image_files,
};
use wasibox_vfs::{Budget, DiskLimits, Errno, File, Loc, Program, Protected, ROOT, Vfs};

struct Session {
    image: Arc<Image>,
    names: Vec<String>,
    vfs: Vfs,
    host: Arc<Web>,
    budget: Arc<Budget>,
    limits: Limits,
}

static SESSION: OnceLock<Session> = OnceLock::new();
/// The run.
static KERNEL: Mutex<Option<Arc<Kernel>>> = Mutex::new(None);
/// What the last export has answered with.
static ANSWER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// A command to run.
pub struct Command {
    pub argv: Vec<Vec<u8>>,
    pub env: Vec<Vec<u8>>,
    /// The directory that it begins in.
    pub cwd: Vec<u8>,
}

/// Bytes of memory for all that guests have, as natively. What an engine really gives may be less.
const MEMORY: u64 = 2 << 30;
/// What a program begins with, as far as nobody has looked: its module says it to the engine, which charges nothing.
const BEGINS_WITH: u64 = 1 << 20;

/// Keeps bytes for the page; their number.
pub fn answer(bytes: impl Into<Vec<u8>>) -> usize {
    let mut answer = lock(&ANSWER);
    *answer = bytes.into();
    answer.len()
}

/// Where they lie.
pub fn answer_at() -> *const u8 {
    lock(&ANSWER).as_ptr()
}

/// The session's files.
pub fn vfs() -> Option<&'static Vfs> {
    SESSION.get().map(|s| &s.vfs)
}

/// The name of a program.
pub fn program_name(number: u32) -> Option<&'static str> {
    SESSION.get()?.names.get(number as usize).map(String::as_str)
}

/// A program's bytes.
pub fn program(number: u32) -> Option<&'static [u8]> {
    let session = SESSION.get()?;
    session.image.atom(session.names.get(number as usize)?)
}

/// Opens the image of the session, whose guests have a stack of so many bytes.
pub fn boot(image: Vec<u8>, stack: usize) -> Result<(), String> {
    let image = Arc::new(Image::from_bytes("the image", image).map_err(|e| e.to_string())?);
    let limits = Limits { processes: slots::SLOTS, memory: MEMORY, stack, ..Limits::default() };
    let budget = Budget::new(limits.memory);
    let names: Vec<String> = image.atoms().keys().cloned().collect();
    let number = |atom: &str| names.iter().position(|n| n == atom).map(|n| Program(n as u32));
    let base = image_files(&image, Some(&number)).map_err(|e| e.to_string())?;
    let vfs = Vfs::new(base, &[], DiskLimits::default(), budget.clone(), &Protected::default());
    let vfs = vfs.map_err(|e| e.to_string())?;
    let begins_with = vec![BEGINS_WITH; names.len()];
    let host = Arc::new(Web { begins_with, idle: Idle::default() });
    let session = Session { image, names, vfs, host, budget, limits };
    SESSION.set(session).map_err(|_| "there is a session already".to_owned())
}

/// Runs a command to its end: its status as a shell reports it, with [`LIMIT`] if a limit has ended it, [`INTERRUPTED`] if
/// the page has; negative if it could not be started: 125 where its directory is none, 127 where it was not found, else 126.
pub fn run(command: Command) -> i32 {
    let Some(session) = SESSION.get() else { return -126 };
    let Ok((loc, cwd)) = session.vfs.chdir(&Loc::Tree(ROOT), &command.cwd) else { return -125 };
    match begin(session, command, Cwd::new(loc, cwd)) {
        Err(Errno::NOENT) => -127,
        Err(_) => -126,
        Ok(kernel) => {
            let end = kernel.finish();
            session.vfs.command_ended();
            *lock(&KERNEL) = None;
            let ended_it =
                |limit| matches!(limit, LimitHit::Timeout | LimitHit::Cpu | LimitHit::Output);
            let mut code = i32::from(end.status.code());
            if end.limit.is_some_and(ended_it) {
                code |= LIMIT;
            }
            if end.interrupted {
                code |= INTERRUPTED;
            }
            code
        }
    }
}

const LIMIT: i32 = 1 << 8;
const INTERRUPTED: i32 = 1 << 9;

fn begin(session: &Session, command: Command, cwd: Cwd) -> Result<Arc<Kernel>, Errno> {
    let Session { vfs, limits, budget, .. } = session;
    let Command { argv, env, .. } = command;
    let name = argv.first().ok_or(Errno::INVAL)?;
    let name = match name.contains(&b'/') {
        true => name.clone(),
        false => [b"/usr/bin/", name.as_slice()].concat(),
    };
    let (program, argv) = find_program(vfs, &cwd.loc, &name, argv)?;
    let meter = Arc::new(Meter::new(limits.output));
    let output = |stream| File::Stream(Arc::new(Output { stream, meter: meter.clone() }));
    let opens = [
        OpenFile::new(File::Stream(Arc::new(Input)), true, false),
        OpenFile::new(output(1), false, true),
        OpenFile::new(output(2), false, true),
        OpenFile::root(vfs)?,
    ];
    let mut fds = Descriptors::new(limits.descriptors);
    for open in opens {
        fds.add(Descriptor { open, cloexec: false }, 0)?;
    }
    let kernel = Kernel::new(
        vfs.clone(),
        session.host.clone(),
        *limits,
        budget.clone(),
        Before::default(),
        Arc::default(),
    );
    *lock(&KERNEL) = Some(kernel.clone());
    let start = Start { program, argv, env };
    match kernel.spawn(1, start, fds, cwd, 0, None) {
        Ok(_) => Ok(kernel),
        Err(wasibox_kernel::SpawnError::Errno(e)) => Err(e),
        Err(wasibox_kernel::SpawnError::Program(_)) => Err(Errno::NOEXEC),
    }
}

/// Forgets the input of the run before: a run's may come before it begins.
pub fn expect() {
    streams::begin();
}

/// Ends the run.
pub fn interrupt(by_timeout: bool) {
    let kernel = lock(&KERNEL).clone();
    match kernel {
        Some(kernel) if by_timeout => kernel.hit(LimitHit::Timeout),
        Some(kernel) => kernel.interrupt(),
        None => {}
    }
}
