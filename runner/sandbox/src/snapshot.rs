//! Prepares programs once, so that each later start continues from the prepared state.
//!
//! An interpreter spends its first second on reading its library. A module may offer two exports
//! for that: [`PREPARE`] does the work that does not depend on arguments, environment, time or
//! chance, and returns; [`RESUME`] is called instead of `_start` in every later process, whose
//! memory begins as the first one's ended. If the arguments need another start than the prepared
//! one, it returns 1 before it does anything, and the process begins with `_start` after all.
//!
//! Wizer writes such a memory into the module itself. Here it stays beside the module as a
//! [`crate::template`] that is mapped copy-on-write: the same machine code serves both kinds of
//! start, the image contains neither prepared memory nor a second module, and a process pays only
//! for the pages that it touches.
//!
//! # Invariants
//! - A prepared memory depends on the image alone: it is made without mounts, with a fixed
//!   environment and empty input, within bounded time and memory, and kept under the digests of
//!   module and root file system, which are compared before it is used.
//! - It holds no secret of a later process, but every process on the machine sees the same memory:
//!   [`RESUME`] must renew everything that has to be unique (for example seeds and keys).
//! - When [`PREPARE`] returns, the guest's stack is empty, so globals have their first values.
//! - Preparing the same image gives the same memory everywhere, including a web page
//!   (`runner/web/src/prepare.rs`): clocks, times of files and random bytes are the same each time
//!   (`wasibox_kernel`'s `FixedClock`). So an interpreter's changes to that memory
//!   ([`crate::CellChange`]) can be used on another machine.

use crate::engine;
use crate::host::Kernel;
use crate::policy::Limits;
use crate::programs::{ProgramError, ProgramLibrary, Programs, base_files};
use crate::stack::drop_unused;
use crate::streams::{BytesInput, Capture, OutputMeter};
use crate::template;
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use wasibox_image::{Image, ImageError};
use wasibox_kernel::border::Fd;
use wasibox_kernel::{
    CellOrigin, Cwd, Descriptor, Descriptors, LimitHit, OpenDescription, ProcessStart,
    ProcessStatus, SpawnError,
};
use wasibox_vfs::Budget;
use wasibox_vfs::lock_mutex;
use wasibox_vfs::{DiskLimits, Errno, Loc, MountError, ProgramMark, ProtectedPaths, Vfs, VfsFile};
use wasmer::Module;

/// The export that prepares: no arguments, no results.
pub const PREPARE: &str = "wasibox_prepare";
/// The export that continues: no arguments; the result is 0 when the process has ended, and 1 if it
/// has done nothing and the process must begin with `_start`.
pub const RESUME: &str = "wasibox_resume";

/// The export of a program with cells: runs one and returns with an empty stack, see
/// [`crate::CellRun`]. The argument says which state the cell continues from (`wasibox_kernel`'s
/// `BEGIN`, `GO_ON` or `FORK`). The result is the address of an answer (`crate::cell::ANSWER_LEN`).
/// It is 0 if the program has done nothing, because it must begin without prepared memory.
pub const CELL: &str = "wasibox_cell";
/// The version of the format. It is also raised when the environment in which programs are prepared
/// changes.
const FORMAT: &str = "snapshot 3";
/// The limits of preparing: wall-clock time on a busy machine, and CPU time. The policy's time
/// limit is not used, because it is meant for commands and this is done once. CPython with its
/// packages takes 5 s and 110 MiB.
const TIMEOUT: Duration = Duration::from_secs(120);
const CPU: Duration = Duration::from_secs(30);
/// Bytes that a program may take while it is prepared.
pub const MEMORY: u64 = 256 << 20;
/// The maximum length of reported error output.
const MAX_MESSAGE: usize = 300;

/// The reason why a memory cannot be prepared.
#[derive(Debug, thiserror::Error)]
pub enum PreparedMemoryError {
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Mount(#[from] MountError),
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{0}")]
    Errno(#[from] Errno),
    #[error("preparing it reached a limit ({})", .0.name())]
    Limit(LimitHit),
    #[error("preparing it ended with {status:?}: {said}")]
    Ended { status: ProcessStatus, said: String },
    #[error("its memory is too large, or it keeps state elsewhere")]
    Unfit,
}

/// Returns whether a module offers both exports.
pub fn can_be_made(module: &Module) -> bool {
    let has = |name: &str| module.exports().functions().any(|e| e.name() == name);
    has(PREPARE) && has(RESUME)
}

/// Returns whether a module offers cells.
pub fn has_cells(module: &Module) -> bool {
    module.exports().functions().any(|e| e.name() == CELL)
}

/// Returns the name under which the prepared memory of a module is stored, from its digest and that
/// of the root file system beside it.
pub fn snapshot_key(module: &[u8; 32], tree: &str) -> String {
    let mut h = Sha256::new_with_prefix(FORMAT);
    h.update(engine::engine_identity());
    h.update(module);
    h.update(tree);
    h.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

/// Prepares a program of the image in a given number of bytes of memory; returns the prepared
/// memory as the content of a template file.
///
/// # Errors
/// If the image is damaged, or the program cannot be prepared.
pub fn make_snapshot(
    image: &Arc<Image>,
    artifacts: Option<PathBuf>,
    program: ProgramMark,
    memory: u64,
) -> Result<Vec<u8>, PreparedMemoryError> {
    image.check_tree()?;
    let limits = Limits { timeout: Some(TIMEOUT), cpu: Some(CPU), memory, ..Limits::default() };
    let budget = Budget::new(limits.memory);
    let library = ProgramLibrary::new(image.clone(), limits.stack, artifacts, Arc::new(|_| {}));
    let programs = Arc::new(Programs::new(Arc::new(library), memory, true));
    let base = base_files(image, &programs)?;
    let vfs =
        Vfs::new(base, &[], DiskLimits::default(), budget.clone(), &ProtectedPaths::default())?;
    let meter = OutputMeter::new(None);
    let (out, err) = (Capture::new(meter.clone()), Capture::new(meter.clone()));
    let mut fds = Descriptors::new(limits.descriptors);
    for open in [
        OpenDescription::new(VfsFile::Stream(BytesInput::new(Vec::new())), true, false),
        OpenDescription::new(VfsFile::Stream(out), false, true),
        OpenDescription::new(VfsFile::Stream(err.clone()), false, true),
        OpenDescription::root(&vfs)?,
    ] {
        fds.add_descriptor(Descriptor { open, cloexec: false }, Fd(0))?;
    }
    let root = Loc::Tree(wasibox_vfs::tree::ROOT);
    let (loc, path) = vfs.chdir(&root, b"/")?;
    let name = image.commands().iter().find(|c| programs.program_number(&c.atom) == Some(program));
    let name = name.map_or("program", |c| &c.name);
    let start = ProcessStart {
        program,
        argv: vec![name.into()],
        env: [b"HOME=/home/user".as_slice(), b"PATH=/usr/local/bin:/usr/bin:/bin"]
            .map(<[u8]>::to_vec)
            .into(),
    };
    let template = programs.get(program)?.template;
    let kernel = Kernel::new(vfs, programs, limits, budget, CellOrigin::default(), Arc::default());
    kernel.start_prepared(start, fds, Cwd::new(loc, path)).map_err(|e| match e {
        SpawnError::Errno(e) => PreparedMemoryError::Errno(e),
        SpawnError::Program(e) => PreparedMemoryError::Program(e),
    })?;
    let end = kernel.finish_run();
    drop_unused();
    let (status, limit) = (end.status, end.limit);
    let memory = lock_mutex(&kernel.prepared).take();
    match (status, memory) {
        (ProcessStatus::Exited(0), Some(memory)) => {
            template::of_memory(&memory, &template).ok_or(PreparedMemoryError::Unfit)
        }
        (ProcessStatus::Exited(0), _) => Err(PreparedMemoryError::Unfit),
        _ if limit.is_some() => Err(PreparedMemoryError::Limit(limit.unwrap_or(LimitHit::Timeout))),
        _ => {
            let said = String::from_utf8_lossy(&err.take_output()).trim().replace('\n', "; ");
            let said = said
                .chars()
                .rev()
                .take(MAX_MESSAGE)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .collect();
            Err(PreparedMemoryError::Ended { status, said })
        }
    }
}
