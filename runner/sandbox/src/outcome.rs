//! The result of a run.

use std::time::Duration;
pub use wasibox_kernel::{LimitHit, ProcessStatus};

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunResult {
    /// The end of the first process.
    pub status: ProcessStatus,
    /// The limit that ended the run, or the first one that was hit.
    pub limit: Option<LimitHit>,
    /// Whether the run was ended from outside ([`crate::SandboxInterrupt`]).
    pub interrupted: bool,
    /// Wall-clock time.
    pub duration: Duration,
    /// CPU time of all guest processes.
    pub cpu: Duration,
    /// The largest memory in bytes that counted against [`crate::Limits::memory`] at any time.
    pub peak_memory: u64,
    /// The processes that still ran when the first one had ended, and were ended by the host: for
    /// the 20 that began first, the arguments, joined by spaces and cut to 200 bytes. Empty if a
    /// limit or an interrupt ended the run.
    pub ended: Vec<String>,
    /// The processes that continue, in the same form.
    pub left: Vec<String>,
    /// Processes that could not be ended: each is a thread in a call of the host's that does not
    /// return. If there are any, the sandbox runs nothing more until they are gone
    /// ([`crate::SandboxError::Stuck`]), and only the end of the host's process certainly ends
    /// them.
    pub stuck: usize,
}
