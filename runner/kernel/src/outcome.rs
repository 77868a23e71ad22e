//! The ends of processes, and the limits that end them.

/// The end of a process, as its parent learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessStatus {
    Exited(u8),
    /// Ended by the signal of this number (Linux numbering). A trap counts as the
    /// signal a native program would have got: ILL, ABRT, FPE or SEGV.
    Signaled(u8),
}

impl ProcessStatus {
    /// Returns the number that a shell reports: the exit code, or 128 plus the signal (POSIX XCU
    /// 2.8.2).
    pub fn code(self) -> u8 {
        match self {
            ProcessStatus::Exited(c) => c,
            ProcessStatus::Signaled(s) => s.wrapping_add(128),
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
    /// A process was refused memory and then failed, or was ended because the refusal could not be
    /// reported to it. A process that handles the refusal is not counted.
    Memory,
    /// The run was ended.
    Output,
    /// A process could not be started; its parent got an error.
    Processes,
    /// A process got ENOSPC because the session's files may hold no more bytes.
    Disk,
    /// A process got ENOSPC because there may be no more files and folders.
    Inodes,
    /// A process got EFBIG because a file may not be longer.
    FileSize,
    /// A process got ENOSPC because no more may be added to a mount.
    MountQuota,
    /// A process got ENFILE because there may be no more pipes.
    Pipes,
}

impl From<wasibox_vfs::QuotaHit> for LimitHit {
    fn from(hit: wasibox_vfs::QuotaHit) -> LimitHit {
        match hit {
            wasibox_vfs::QuotaHit::Disk => LimitHit::Disk,
            wasibox_vfs::QuotaHit::Entries => LimitHit::Inodes,
            wasibox_vfs::QuotaHit::File => LimitHit::FileSize,
            wasibox_vfs::QuotaHit::Mount => LimitHit::MountQuota,
            wasibox_vfs::QuotaHit::Pipes => LimitHit::Pipes,
        }
    }
}

impl LimitHit {
    /// Returns a word for it.
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
