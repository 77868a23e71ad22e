//! The ends of processes, and the limits that end them.

use wasibox_protocol::End;
pub use wasibox_protocol::LimitHit;
use wasibox_vfs::QuotaHit;

/// The end of a process, as its parent sees it.
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

impl From<ProcessStatus> for End {
    fn from(status: ProcessStatus) -> End {
        match status {
            ProcessStatus::Exited(code) => End::Exited(code),
            ProcessStatus::Signaled(signal) => End::Signaled(signal),
        }
    }
}

/// Returns the limit of a run that a quota of its files belongs to.
pub fn limit_of_quota(hit: QuotaHit) -> LimitHit {
    match hit {
        QuotaHit::Disk => LimitHit::Disk,
        QuotaHit::Entries => LimitHit::Inodes,
        QuotaHit::File => LimitHit::FileSize,
        QuotaHit::Mount => LimitHit::MountQuota,
        QuotaHit::Pipes => LimitHit::Pipes,
    }
}
