//! The limits on the resources that a run may use.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use wasibox_vfs::DiskLimits;

/// Upper bounds for one run and all its processes together, unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time; `None` is no limit.
    pub timeout: Option<Duration>,
    /// CPU time of all processes; `None` is no limit.
    pub cpu: Option<Duration>,
    /// Bytes of host memory: all linear memories, whether touched or not, and all other memory that
    /// the host keeps because a guest asked for it ([`wasibox_vfs::Budget`]): files and names,
    /// bytes in pipes, processes with their tables, exceptions, stacks as far as they were used,
    /// arguments, directories and descriptors, listings of open directories.
    pub memory: u64,
    /// The size of the session's own file layer.
    pub disk: DiskLimits,
    /// Bytes written to standard output and error together; `None` is no limit.
    pub output: Option<u64>,
    /// Processes alive at once, and their threads beyond the first. Each of these has one thread of
    /// the host, and eight more threads may wait for future processes.
    pub processes: usize,
    /// Programs started in all: by new processes, and by `exec` in one.
    pub spawns: u64,
    /// Open descriptors of one process. Descriptors of the tree, of pipes and of devices use none
    /// of the host's.
    pub descriptors: usize,
    /// Bytes of a process's call stack. The used part counts as memory. It is at least 1 MiB; with
    /// less than 4 MiB it overflows before CPython's own recursion checks take effect.
    pub stack: usize,
}

impl Default for Limits {
    /// Returns one hour, any CPU time, 2 GiB of memory, [`DiskLimits::default`], any output, 128
    /// processes at once and 1,000,000 in all, 1024 descriptors each, 16 MiB of stack each.
    fn default() -> Limits {
        Limits {
            timeout: Some(Duration::from_secs(3600)),
            cpu: None,
            memory: 2 << 30,
            disk: DiskLimits::default(),
            output: None,
            processes: 128,
            spawns: 1_000_000,
            descriptors: 1024,
            stack: 16 << 20,
        }
    }
}
