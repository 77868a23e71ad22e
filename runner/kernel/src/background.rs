//! Processes that continue after the run in which they began. They continue until they end, or
//! until their session is parked, closed or moved to another of its states.
//!
//! Each run has a [`Kernel`] with a table of processes. If a run's first process has ended and the
//! others are to be kept, the kernel stays here with a thread that watches it: limits of CPU time
//! still hold, and processes that must end are ended as at the end of a run. Later runs of the
//! session see these processes: `ps` lists them, `kill` reaches them, and their numbers are not
//! reused. No later run waits for them, because their parent is gone.

use super::host::Host;
use super::process::Process;
use super::table::Kernel;
use crate::lock_mutex;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The runs of a session that have left processes.
pub struct Background<H: Host> {
    kept: Mutex<Vec<Arc<Kernel<H>>>>,
    fewer: Condvar,
}

/// The time that processes have to end once they were interrupted.
const END: Duration = Duration::from_secs(3);

impl<H: Host> Default for Background<H> {
    fn default() -> Background<H> {
        Background { kept: Mutex::default(), fewer: Condvar::new() }
    }
}

impl<H: Host> Background<H> {
    /// Keeps a run until its processes have ended.
    pub fn keep_run(self: &Arc<Background<H>>, kernel: Arc<Kernel<H>>) {
        lock_mutex(&self.kept).push(kernel.clone());
        let all = self.clone();
        let watch = {
            let kernel = kernel.clone();
            move || {
                kernel.watch_kept();
                lock_mutex(&all.kept).retain(|k| !Arc::ptr_eq(k, &kernel));
                all.fewer.notify_all();
            }
        };
        if std::thread::Builder::new().stack_size(128 << 10).spawn(watch).is_err() {
            // Without a thread no limit would be checked, so the run is ended here.
            kernel.interrupt_run();
            kernel.watch_kept();
            lock_mutex(&self.kept).retain(|k| !Arc::ptr_eq(k, &kernel));
        }
    }

    /// Ends all runs; returns whether they ended in time.
    pub fn end_all(&self) -> bool {
        let until = Instant::now() + END;
        let mut kept = lock_mutex(&self.kept);
        kept.iter().for_each(|k| k.interrupt_run());
        while !kept.is_empty() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            kept = self.fewer.wait_timeout(kept, left).unwrap_or_else(|e| e.into_inner()).0;
        }
        true
    }

    fn all_runs(&self) -> Vec<Arc<Kernel<H>>> {
        lock_mutex(&self.kept).clone()
    }

    /// Returns the living processes.
    pub fn processes(&self) -> Vec<Arc<Process<H>>> {
        self.all_runs().iter().flat_map(|k| k.living_processes()).collect()
    }

    /// Returns the number of living processes and of their threads beyond the first.
    pub fn alive_count(&self) -> usize {
        self.all_runs().iter().map(|k| k.alive_count()).sum()
    }

    /// Returns the lowest number that a new process may have.
    pub fn next_pid(&self) -> u32 {
        self.all_runs().iter().map(|k| k.next_pid()).max().unwrap_or(0)
    }
}
