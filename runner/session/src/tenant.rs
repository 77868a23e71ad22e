//! The budget that the sessions of one client have together.
//!
//! Limits of a policy bound one session, and a client has many. A [`Tenant`] bounds them together,
//! so that a client cannot take the server's memory, processors or places from the others: the
//! number of sessions that are awake ([`crate::awake`]), the memory of their workers, and the
//! weight of its running calls.
//!
//! # The processors
//! Calls of one tenant share its weight. While it runs `n` calls, each of their workers has about
//! the `n`th part of the weight of a process of niceness 0 (sched(7): each step of niceness is a
//! factor of 1.25). So a tenant with many calls gets no more of a busy machine than one with a few.
//! A call that has run for longer than [`LONG`] weighs less still, because short calls of others
//! should not wait for it. For the same reason only a call that has just begun has short turns
//! ([`wasibox_sandbox::schedule`]).
//!
//! Where the host's kernel groups processes by session (`autogroup`), the niceness of the group
//! counts, and only root may set that of a jailed worker.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use wasibox_sandbox::schedule;
use wasibox_vfs::lock_mutex;

/// The duration from which a call counts as long, and the steps of niceness that it gets then.
const LONG: Duration = Duration::from_secs(2);
const LONG_STEPS: u32 = 5;
/// The factor of weight of a step of niceness (sched(7)), and the last step.
const STEP: f64 = 1.25;
const LAST: u32 = 19;

/// The limits of the sessions of a client together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TenantLimits {
    /// Maximum number of sessions that are awake at once.
    pub awake: usize,
    /// Maximum number of bytes of memory of their workers. A call that exceeds it is ended.
    pub memory: u64,
}

/// A client with a budget for all of its sessions ([`crate::Session::set_tenant`]).
#[derive(Debug)]
pub struct Tenant {
    limits: TenantLimits,
    use_now: Mutex<TenantUse>,
}

#[derive(Debug, Default)]
struct TenantUse {
    running: usize,
    /// The memory of each worker, by process ID, when it was last looked at.
    memory: HashMap<u32, u64>,
}

impl Tenant {
    /// Makes a tenant that has no session yet.
    ///
    /// ```
    /// use wasibox::{Tenant, TenantLimits};
    ///
    /// let tenant = Tenant::new(TenantLimits { awake: 4, memory: 1 << 30 });
    /// assert_eq!(tenant.running_calls(), 0);
    /// ```
    pub fn new(limits: TenantLimits) -> Arc<Tenant> {
        Arc::new(Tenant { limits, use_now: Mutex::default() })
    }

    /// Returns the limits.
    ///
    /// ```
    /// use wasibox::{Tenant, TenantLimits};
    ///
    /// let limits = TenantLimits { awake: 4, memory: 1 << 30 };
    /// assert_eq!(Tenant::new(limits).limits(), limits);
    /// ```
    pub fn limits(&self) -> TenantLimits {
        self.limits
    }

    /// Returns the number of calls that run in its sessions now.
    ///
    /// ```
    /// use wasibox::{Tenant, TenantLimits};
    ///
    /// assert_eq!(Tenant::new(TenantLimits { awake: 4, memory: 1 << 30 }).running_calls(), 0);
    /// ```
    pub fn running_calls(&self) -> usize {
        self.lock_use().running
    }

    fn lock_use(&self) -> MutexGuard<'_, TenantUse> {
        lock_mutex(&self.use_now)
    }

    /// Records the memory of a worker. Returns whether its call must end, because all workers
    /// together exceed the limit and this one has more than the average.
    fn note_memory(&self, pid: u32, bytes: u64) -> bool {
        let mut now = self.lock_use();
        now.memory.insert(pid, bytes);
        let sum = now.memory.values().fold(0, |sum: u64, n| sum.saturating_add(*n));
        sum > self.limits.memory && bytes >= sum / now.memory.len() as u64
    }
}

/// A worker of a tenant, which counts as its memory until this is dropped.
pub struct TenantWorker {
    tenant: Arc<Tenant>,
    pid: u32,
    /// The niceness that the worker has, and whether its turns are short, once they are known.
    weight: Option<(u32, bool)>,
}

impl TenantWorker {
    /// Makes the entry of a worker that runs nothing yet.
    pub fn new(tenant: Arc<Tenant>, pid: u32) -> TenantWorker {
        TenantWorker { tenant, pid, weight: None }
    }

    /// Counts a call that begins, until [`TenantWorker::end_call`].
    pub fn begin_call(&mut self) {
        self.tenant.lock_use().running += 1;
        self.set_weight(Duration::ZERO);
    }

    /// Counts the call as ended.
    pub fn end_call(&mut self) {
        self.tenant.lock_use().running -= 1;
    }

    /// Looks at the worker of a running call, which has run for `time`, and sets its weight.
    /// Returns whether the call must end because of its memory.
    pub fn look(&mut self, time: Duration, memory: u64) -> bool {
        self.set_weight(time);
        self.tenant.note_memory(self.pid, memory)
    }

    fn set_weight(&mut self, time: Duration) {
        let weight = (niceness(self.tenant.running_calls(), time), time.is_zero());
        if self.weight != Some(weight) && set_weight(self.pid, weight.0, weight.1) {
            self.weight = Some(weight);
        }
    }
}

impl Drop for TenantWorker {
    fn drop(&mut self) {
        self.tenant.lock_use().memory.remove(&self.pid);
    }
}

/// Returns the niceness of a worker whose tenant runs `running` calls.
fn niceness(running: usize, time: Duration) -> u32 {
    let shared = (running.max(1) as f64).log(STEP).round() as u32;
    let more = if time >= LONG { LONG_STEPS } else { 0 };
    (shared + more).min(LAST)
}

/// Sets the niceness of a process with all of its threads, and of its group where the host's kernel
/// has such groups, and whether the threads have short turns. Returns false if the niceness could
/// not be set.
fn set_weight(pid: u32, nice: u32, has_short_turns: bool) -> bool {
    // The group's niceness is what counts if there is a group; without one the file is missing.
    let group = fs::write(format!("/proc/{pid}/autogroup"), nice.to_string());
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    let numbers = threads.flatten().filter_map(|t| t.file_name().to_str()?.parse::<i32>().ok());
    let turn = has_short_turns.then_some(schedule::SHORT_TURN);
    let set =
        numbers.filter(|thread| !schedule::set_weight(*thread, nice as i32, turn)).count() == 0;
    group.is_ok() || set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_tenant_share_a_weight() {
        let weight = |nice: u32| STEP.powi(-(nice as i32));
        for running in 1..=32 {
            let sum = running as f64 * weight(niceness(running, Duration::ZERO));
            assert!((0.8..1.25).contains(&sum), "{running} calls weigh {sum}");
            assert!(niceness(running, LONG) > niceness(running, Duration::ZERO));
        }
        assert_eq!((niceness(0, Duration::ZERO), niceness(10_000, LONG)), (0, LAST));
    }

    #[test]
    fn workers_share_the_memory() {
        let tenant = Tenant::new(TenantLimits { awake: 9, memory: 100 });
        assert!(!tenant.note_memory(1, 60) && !tenant.note_memory(2, 40));
        // The one that is above the average ends.
        assert!(!tenant.note_memory(2, 41) && tenant.note_memory(1, 60));
        let worker = TenantWorker::new(tenant.clone(), 1);
        drop(worker);
        assert!(!tenant.note_memory(2, 100) && tenant.note_memory(2, 101));
    }

    #[test]
    fn the_niceness_of_a_process_can_be_set() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = child.id();
        assert!(set_weight(pid, 3, true) && set_weight(pid, 3, false));
        let pid = rustix::process::Pid::from_raw(pid as i32);
        let nice = rustix::process::getpriority_process(pid);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(nice, Ok(3));
    }
}
