//! The end of a run: its limits of time, and the processes that are left.

use super::{Kernel, ProcessTable};
use crate::groups;
use crate::host::{Host, HostWatch};
use crate::lock_mutex;
use crate::outcome::{LimitHit, ProcessStatus};
use crate::process::Process;
use box_abi::signal;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

/// The time for which the kernel waits for processes that must end before it gives them up; their
/// threads then end with the host's process.
const REAP: Duration = Duration::from_secs(2);
/// The shortest time between two checks of the CPU time of processes: a run exceeds its limit by at
/// most this on each processor. A run that waits just below its limit is checked this often.
const CPU_LOOK: Duration = Duration::from_millis(10);
/// The interval at which a process that must end is signalled again.
const AGAIN: Duration = Duration::from_millis(2);
/// The longest time between two checks of the table.
const PULSE: Duration = Duration::from_millis(250);
/// The time for which processes may continue when the first one has ended. Those that end by
/// themselves within it, such as `<(sort file)` after all was read, are not reported.
const GRACE: Duration = Duration::from_millis(5);
/// The number of signals after which a process that still runs is assumed to spend its time in long
/// functions of the engine.
const STUBBORN: u32 = 8;

/// The end of a run.
pub struct RunEnd {
    /// The status of the first process.
    pub status: ProcessStatus,
    pub limit: Option<LimitHit>,
    pub interrupted: bool,
    /// CPU time of all processes.
    pub cpu: Duration,
    /// Processes that still ran when the first process had ended, and were ended.
    pub ended: Vec<String>,
    /// Processes that continue.
    pub left: Vec<String>,
    /// The number of processes that did not end although they were signalled.
    pub stuck: usize,
}

impl<H: Host> Kernel<H> {
    /// Waits for the first process to end or be ended, then ends all others, unless they are to
    /// continue (the caller then calls [`Background::keep_run`]).
    pub fn finish_run(&self) -> RunEnd {
        let deadline = self.limits.timeout.and_then(|t| self.epoch.checked_add(t));
        let mut t = self.wait_over(deadline);
        let grace = Instant::now() + GRACE;
        while !t.live.is_empty() && t.is_done() {
            let left = grace.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            t = self.changed.wait_timeout(t, left).unwrap_or_else(|e| e.into_inner()).0;
        }
        let names = if t.is_done() { groups::process_names(&t.live) } else { Vec::new() };
        t.is_kept = t.keeps && t.is_done() && !t.live.is_empty();
        let (ended, left) = if t.is_kept { (Vec::new(), names) } else { (names, Vec::new()) };
        let t = if t.is_kept { t } else { self.end_all(t) };
        let soft = (t.out_of_memory.then_some(LimitHit::Memory))
            .or(t.process_limit.then_some(LimitHit::Processes));
        RunEnd {
            status: t.root.unwrap_or(ProcessStatus::Signaled(signal::KILL)),
            limit: t.limit.or(soft),
            interrupted: t.interrupted,
            cpu: self.cpu_time(&t),
            ended,
            stuck: if t.is_kept { 0 } else { t.live.len() },
            left,
        }
    }

    /// Watches the remaining processes of a run until all have ended.
    pub fn watch_kept(&self) {
        drop(self.end_all(self.wait_over(None)));
    }

    /// Waits until the run is over, except for ending its remaining processes.
    fn wait_over(&self, deadline: Option<Instant>) -> MutexGuard<'_, ProcessTable<H>> {
        let processors = match self.limits.cpu {
            Some(_) => std::thread::available_parallelism().map_or(1, |n| n.get()),
            None => 1,
        };
        let mut t = lock_mutex(&self.table);
        while !(t.is_over() || if t.is_kept { t.live.is_empty() } else { t.root.is_some() }) {
            // From here on, each ending process is signalled until it has ended, regardless of the
            // first sender.
            let ending: Vec<_> =
                t.live.values().filter(|p| p.fatal_signal().is_some()).cloned().collect();
            let stopped = self.interrupt_again(&ending);
            let mut pause = if ending.is_empty() { PULSE } else { AGAIN };
            if let Some(d) = deadline {
                let left = d.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    t.limit = Some(LimitHit::Timeout);
                    break;
                }
                pause = pause.min(left);
            }
            if let Some(limit) = self.limits.cpu {
                let left = limit.saturating_sub(self.cpu_time(&t));
                if left.is_zero() {
                    t.limit = Some(LimitHit::Cpu);
                    break;
                }
                // The limit cannot be reached before that time.
                let busy = processors.min(self.limits.processes).max(1);
                pause = pause.min((left / u32::try_from(busy).unwrap_or(u32::MAX)).max(CPU_LOOK));
            }
            t = self.changed.wait_timeout(t, pause).unwrap_or_else(|e| e.into_inner()).0;
            drop(stopped);
        }
        t
    }

    /// Ends all living processes.
    fn end_all<'a>(
        &'a self,
        mut t: MutexGuard<'a, ProcessTable<H>>,
    ) -> MutexGuard<'a, ProcessTable<H>> {
        // No process is started any more, so their number can only fall.
        t.keeps = false;
        let give_up = Instant::now() + REAP;
        let mut stopped = None;
        while !t.live.is_empty() && Instant::now() < give_up {
            let all: Vec<Arc<Process<H>>> = t.live.values().cloned().collect();
            drop(t);
            for p in &all {
                p.deliver_signal(signal::KILL);
            }
            // No other process has to run, so the code stays stopped until all have ended.
            stopped = stopped.or(self.interrupt_again(&all));
            t = lock_mutex(&self.table);
            if !t.live.is_empty() {
                t = self.changed.wait_timeout(t, AGAIN).unwrap_or_else(|e| e.into_inner()).0;
            }
        }
        drop(stopped);
        if !t.live.is_empty() {
            self.insist_elsewhere(t.live.values().cloned().collect());
        }
        t
    }

    /// Returns the CPU time of all processes, including those that run.
    fn cpu_time(&self, t: &ProcessTable<H>) -> Duration {
        // A process in the table has its thread: `process_ended` removes it on that thread.
        let running: u64 = t.live.values().map(|p| p.running_cpu_ns()).sum();
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed).saturating_add(running))
    }

    /// Interrupts processes that must end. If one was signalled too often in vain, stops all code
    /// of the session for a moment, unless that was done just before, because other processes need
    /// to run.
    fn interrupt_again(&self, ending: &[Arc<Process<H>>]) -> Option<H::Stopped> {
        for p in ending {
            p.end();
        }
        let requests = ending.iter().map(|p| p.watch.end_requests()).max().unwrap_or(0);
        let stop = requests >= STUBBORN && requests.is_multiple_of(4);
        stop.then(|| self.host.stop_guests())
    }

    /// Continues to interrupt processes that did not end in time; some wait for the host itself.
    fn insist_elsewhere(&self, mut left: Vec<Arc<Process<H>>>) {
        // Without such a thread they end at their next call.
        let _ = std::thread::Builder::new().stack_size(128 << 10).spawn(move || {
            while !left.is_empty() {
                left.retain(|p| p.is_running());
                for p in &left {
                    p.end();
                }
                std::thread::sleep(PULSE);
            }
        });
    }
}
