//! Processes that continue after the run in which they began. They continue until they end, or
//! until their session is parked, closed or moved to another of its states.
//!
//! Each run has a [`Kernel`] with a table of processes. If a run's first process has ended and the
//! others are to be kept, the kernel stays here with a thread that watches it: limits of CPU time
//! still hold, and processes that must end are ended as at the end of a run. Later runs of the
//! session see these processes: `ps` lists them, `kill` reaches them, and their numbers are not
//! reused. No later run waits for them, because their parent is gone.
//!
//! A detached run is here from its beginning ([`Background::begin_detached`]): other runs of the
//! session begin and end meanwhile. All of them number their processes together.

use super::host::Host;
use super::locks::FileLocks;
use super::process::Process;
use super::table::{Kernel, RunEnd};
use crate::lock_mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// The runs of a session that have left processes.
pub struct Background<H: Host> {
    kept: Mutex<Vec<Arc<Kernel<H>>>>,
    fewer: Condvar,
    /// The highest number of a process while there are such runs, otherwise 0.
    highest: AtomicU32,
    /// The number that the next detached run begins with, at least. It only grows, because a client
    /// may ask for a process of such a run after its end.
    next: AtomicU32,
    /// The locks of files, of all runs.
    pub(super) locks: FileLocks,
}

/// The time that processes have to end once they were interrupted.
const END: Duration = Duration::from_secs(3);

impl<H: Host> Default for Background<H> {
    fn default() -> Background<H> {
        let (kept, highest, next, locks) = Default::default();
        Background { kept, fewer: Condvar::new(), highest, next, locks }
    }
}

impl<H: Host> Background<H> {
    /// Keeps a run until its processes have ended.
    pub fn keep_run(self: &Arc<Background<H>>, kernel: Arc<Kernel<H>>) {
        self.watch_run(kernel, |kernel| kernel.watch_kept());
    }

    /// Keeps a run whose first process has just begun, after [`Kernel::detach`]. `ended` is called
    /// when that process has ended; processes that it leaves behind continue.
    pub fn begin_detached(
        self: &Arc<Background<H>>,
        kernel: Arc<Kernel<H>>,
        ended: impl FnOnce(RunEnd) + Send + 'static,
    ) {
        let all = self.clone();
        self.watch_run(kernel, move |kernel| {
            let end = kernel.finish_run();
            all.next.fetch_max(kernel.next_pid(), Ordering::Relaxed);
            ended(end);
            if kernel.is_kept() {
                kernel.watch_kept();
                all.next.fetch_max(kernel.next_pid(), Ordering::Relaxed);
            }
        });
    }

    /// Returns the number that a detached run begins with, at least.
    pub fn next_detached(&self) -> u32 {
        self.next.load(Ordering::Relaxed).max(self.next_pid())
    }

    fn watch_run(
        self: &Arc<Background<H>>,
        kernel: Arc<Kernel<H>>,
        watch: impl FnOnce(&Kernel<H>) + Send + 'static,
    ) {
        lock_mutex(&self.kept).push(kernel.clone());
        self.highest.fetch_max(kernel.next_pid().saturating_sub(1), Ordering::Relaxed);
        let all = self.clone();
        // The thread takes the work from here, because without a thread it is done here.
        let work = Arc::new(Mutex::new(Some(move || {
            watch(&kernel);
            let mut kept = lock_mutex(&all.kept);
            kept.retain(|k| !Arc::ptr_eq(k, &kernel));
            if kept.is_empty() {
                all.highest.store(0, Ordering::Relaxed);
            }
            drop(kept);
            all.fewer.notify_all();
        })));
        let theirs = work.clone();
        let run = move || {
            let work = lock_mutex(&theirs).take();
            work.into_iter().for_each(|work| work());
        };
        if std::thread::Builder::new().stack_size(128 << 10).spawn(run).is_err() {
            // Without a thread no limit would be checked, so the runs are ended here.
            self.all_runs().iter().for_each(|k| k.interrupt_run());
            let work = lock_mutex(&work).take();
            work.into_iter().for_each(|work| work());
        }
    }

    /// Returns the number of a new process: `next`, or a higher one if another run has used that
    /// number.
    pub fn take_pid(&self, next: u32) -> Option<u32> {
        let take = |highest: u32| match highest {
            // No other run numbers processes now.
            0 => None,
            u32::MAX => None,
            _ => Some(next.max(highest + 1)),
        };
        match self.highest.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
            Ok(highest) => Some(next.max(highest + 1)),
            Err(u32::MAX) => None,
            Err(_) => Some(next),
        }
    }

    /// Sends a signal to a living process. If it is the first one of a detached run, all processes
    /// of the run receive the signal, as those of a terminal's job do. Returns whether there is
    /// such a process.
    pub fn send_signal(&self, pid: u32, sig: u8) -> bool {
        let runs = self.all_runs();
        if let Some(run) = runs.iter().find(|k| k.is_led_by(pid)) {
            run.signal_all(sig);
            return true;
        }
        let mut all = runs.iter().flat_map(|k| k.living_processes());
        let found = all.find(|p| p.pid == pid);
        found.inspect(|p| p.deliver_signal(sig)).is_some()
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

    /// Returns the words of a living process's command, with spaces between them.
    pub fn command_of(&self, pid: u32) -> Option<Vec<u8>> {
        let process = self.processes().into_iter().find(|process| process.pid == pid)?;
        let start = lock_mutex(&process.start);
        Some(start.argv.join(&b' '))
    }

    /// Returns the number of living processes and of their threads beyond the first.
    pub fn alive_count(&self) -> usize {
        self.all_runs().iter().map(|k| k.alive_count()).sum()
    }

    /// Returns the same number without the processes of `kernel`.
    pub fn alive_beside(&self, kernel: &Kernel<H>) -> usize {
        let others = self.all_runs().into_iter().filter(|k| !std::ptr::eq(&**k, kernel));
        others.map(|k| k.alive_count()).sum()
    }

    /// Returns the lowest number that a new process may have.
    pub fn next_pid(&self) -> u32 {
        self.all_runs().iter().map(|k| k.next_pid()).max().unwrap_or(0)
    }
}
