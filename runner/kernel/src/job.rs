//! The jobs that a host runs, and their ends.

use super::border::Fd;
use super::host::Host;
use super::outcome::ProcessStatus;
use super::process::Process;
use super::table::ThreadAdmission;
use crate::lock_mutex;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wasibox_vfs::{ProgramMark, Reservation};

/// The beginning of a process: the function that is called, and the content of its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// The program starts from its beginning.
    Start,
    /// The program resumes from its prepared memory.
    Resume,
    /// The program starts from its beginning, to prepare its memory.
    Prepare,
    /// The program runs a cell. Its initial memory is the prepared memory or the module's.
    Cell { is_prepared: bool },
}

/// A process to run.
pub struct ProcessJob<H: Host> {
    pub process: Arc<Process<H>>,
    pub program: ProgramMark,
    pub loaded: H::Loaded,
    pub entry: EntryPoint,
    /// The reservation for the module's memory.
    pub memory: Reservation,
    /// The interpreter whose cell it runs.
    pub ready: Option<H::Ready>,
}

/// The end of a process's program.
pub enum ProgramEnd {
    Status(ProcessStatus),
    Exec,
    /// The program declined to resume from its prepared memory, so it must start from its
    /// beginning.
    Anew,
}

/// A thread of a process to run.
pub struct ThreadTask {
    pub number: u32,
    /// The guest's argument, which is passed on.
    pub argument: u32,
}

/// The data of a thread of the host, which runs threads of a process until it ends.
pub struct ThreadJob<H: Host> {
    pub process: Arc<Process<H>>,
    pub pattern: Arc<H::Pattern>,
    /// The first task.
    pub task: ThreadTask,
    pub(crate) _held: Reservation,
    pub(crate) _admitted: ThreadAdmission<H>,
}

/// Writes a line to the process's standard error, if that does not block.
pub fn complain_to_process<H: Host>(process: &Process<H>, text: &str) {
    let name = lock_mutex(&process.start).argv.first().cloned().unwrap_or_default();
    let name = name.rsplit(|b| *b == b'/').next().unwrap_or(&[]).to_vec();
    let line = [&name, b": ".as_slice(), text.as_bytes(), b"\n"].concat();
    let open = lock_mutex(&process.fds).get(Fd(2)).map(|d| d.open.clone());
    if let Ok(open) = open
        && open.write
    {
        let append = open.append.load(Ordering::Relaxed);
        if let Ok((_, next)) = open.file.write(open.offset(), append, &line) {
            open.set_offset(next);
        }
    }
}
