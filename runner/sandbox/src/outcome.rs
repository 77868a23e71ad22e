//! What became of a run.

use std::time::Duration;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Exited(u8),
    /// Ended by the signal of this number (Linux numbering). A trap counts as the
    /// signal a native program would have got: ILL, ABRT, FPE or SEGV.
    Signaled(u8),
}

impl Status {
    /// The number a shell reports: the exit code, or 128 plus the signal
    /// (POSIX XCU 2.8.2).
    pub fn code(self) -> u8 {
        match self {
            Status::Exited(c) => c,
            Status::Signaled(s) => s.wrapping_add(128),
        }
    }
}

/// A limit that was hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum LimitHit {
    /// The run was ended.
    Timeout,
    /// The run was ended.
    Cpu,
    /// Something that the memory limit counts was refused to a process that has failed then, or was ended because it could
    /// not be told. One that was told and has coped is not told of.
    Memory,
    /// The run was ended.
    Output,
    /// A process could not be started; its parent was told.
    Processes,
    /// A process was told that the session's files may hold no more bytes (ENOSPC).
    Disk,
    /// A process was told that there may be no more files and folders (ENOSPC).
    Inodes,
    /// A process was told that a file may not be longer (EFBIG).
    FileSize,
    /// A process was told that a mount may be added no more (ENOSPC).
    MountQuota,
    /// A process was told that there may be no more pipes (ENFILE).
    Pipes,
}

impl From<wasibox_vfs::Hit> for LimitHit {
    fn from(hit: wasibox_vfs::Hit) -> LimitHit {
        match hit {
            wasibox_vfs::Hit::Disk => LimitHit::Disk,
            wasibox_vfs::Hit::Entries => LimitHit::Inodes,
            wasibox_vfs::Hit::File => LimitHit::FileSize,
            wasibox_vfs::Hit::Mount => LimitHit::MountQuota,
            wasibox_vfs::Hit::Pipes => LimitHit::Pipes,
        }
    }
}

impl LimitHit {
    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            LimitHit::Timeout => "timeout",
            LimitHit::Cpu => "cpu",
            LimitHit::Memory => "memory",
            LimitHit::Output => "output",
            LimitHit::Processes => "processes",
            LimitHit::Disk => "disk",
            LimitHit::Inodes => "inodes",
            LimitHit::FileSize => "file_size",
            LimitHit::MountQuota => "mount_quota",
            LimitHit::Pipes => "pipes",
        }
    }
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// How the first process ended.
    pub status: Status,
    /// The first limit that ended the run, else the first that was hit at all.
    pub limit: Option<LimitHit>,
    /// Whether the run was ended from outside ([`crate::Interrupt`]).
    pub interrupted: bool,
    /// Wall-clock time.
    pub duration: Duration,
    /// CPU time of all guest processes.
    pub cpu: Duration,
    /// Most bytes of the memory limit ([`crate::Limits::memory`]) that were taken at once.
    pub peak_memory: u64,
    /// The processes that still ran when the first one had ended, and were ended by the host: the
    /// arguments of each, joined by spaces, 200 bytes at most, of the 20 that began first. Nothing if
    /// a limit or an interrupt ended the run.
    pub ended: Vec<String>,
    /// Those that go on, likewise.
    pub left: Vec<String>,
    /// Processes that could not be ended: each is a thread in a call of the host's that does not
    /// return. If there are any, the sandbox runs nothing more until they are gone
    /// ([`crate::SandboxError::Stuck`]), and only the end of the host's process ends them for sure.
    pub stuck: usize,
}
