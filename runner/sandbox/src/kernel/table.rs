//! The process table.

use super::descriptors::Descriptors;
use super::guest::Halt;
use super::process::{Cpu, Cwd, Process, Start};
use super::thread::{self, Job};
use crate::lock;
use crate::outcome::{LimitHit, Status};
use crate::policy::Limits;
use crate::programs::{Entry, Loaded, ProgramError, Programs};
use crate::streams::Meter;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};
use wasibox_vfs::{Budget, Reservation};
use wasibox_vfs::{Errno, Vfs};

/// Number of the first process; its parent is said to be 1.
const FIRST_PID: u32 = 2;
/// Most ended processes that nobody has waited for yet.
const MAX_ZOMBIES: usize = 32768;
/// How long ended processes are waited for before they are given up; their threads
/// then end with the host process.
const REAP: Duration = Duration::from_secs(2);
/// A snapshot is used if its memory is at most this part of the limit.
const SNAPSHOT_SHARE: u64 = 4;

/// What the processes of a run share.
pub struct Kernel {
    pub vfs: Vfs,
    pub programs: Arc<Programs>,
    pub limits: Limits,
    pub budget: Arc<Budget>,
    pub meter: Arc<Meter>,
    /// Zero of the monotonic clock.
    pub epoch: Instant,
    pub cpu_ns: AtomicU64,
    /// The memory of a process that was prepared ([`Entry::Prepare`]).
    pub prepared: Mutex<Option<Vec<u8>>>,
    /// Directory entries that open directories hold.
    pub listed: Arc<AtomicUsize>,
    table: Mutex<Table>,
    changed: Condvar,
}

#[derive(Default)]
struct Table {
    live: HashMap<u32, Arc<Process>>,
    /// Ended, not waited for: parent, status, CPU time.
    zombies: HashMap<u32, (u32, Status, Cpu)>,
    next: u32,
    spawned: u64,
    root: Option<Status>,
    limit: Option<LimitHit>,
    process_limit: bool,
    interrupted: bool,
}

/// Why a process cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("{0}")]
    Errno(#[from] Errno),
    #[error(transparent)]
    Program(#[from] ProgramError),
}

impl Kernel {
    pub fn new(
        vfs: Vfs,
        programs: Arc<Programs>,
        limits: Limits,
        budget: Arc<Budget>,
        meter: Arc<Meter>,
    ) -> Arc<Kernel> {
        Arc::new(Kernel {
            vfs,
            programs,
            limits,
            budget,
            meter,
            epoch: Instant::now(),
            cpu_ns: AtomicU64::new(0),
            prepared: Mutex::default(),
            listed: Arc::default(),
            table: Mutex::new(Table { next: FIRST_PID, ..Table::default() }),
            changed: Condvar::new(),
        })
    }

    /// Starts a process; returns its number.
    pub fn spawn(
        self: &Arc<Kernel>,
        parent: u32,
        start: Start,
        fds: Descriptors,
        cwd: Cwd,
        ignored: u64,
    ) -> Result<u32, SpawnError> {
        let loaded = self.programs.get(start.program)?;
        // Taken now, so that the caller learns of a refusal.
        let (entry, memory) = self.entry(&loaded);
        let memory = memory.ok_or(Errno::NOMEM)?;
        self.begin(parent, start, loaded, entry, memory, fds, cwd, ignored)
    }

    /// Where a process of that program begins, and its memory, if that can be had.
    pub fn entry(&self, loaded: &Loaded) -> (Entry, Option<Reservation>) {
        // Where memory is short, a snapshot must not take what the work needs.
        let roomy = |n: u64| n <= self.budget.limit() / SNAPSHOT_SHARE && self.budget.has_room(n);
        let entry = match &loaded.snapshot {
            Some(_) if roomy(loaded.needs(Entry::Resume)) => Entry::Resume,
            _ => Entry::Start,
        };
        (entry, self.budget.reserve(loaded.needs(entry)))
    }

    /// Starts a process that is to be prepared; afterwards its memory is in `prepared`.
    pub fn prepare(
        self: &Arc<Kernel>,
        start: Start,
        fds: Descriptors,
        cwd: Cwd,
    ) -> Result<u32, SpawnError> {
        let loaded = self.programs.get(start.program)?;
        let memory = self.budget.reserve(loaded.needs(Entry::Prepare)).ok_or(Errno::NOMEM)?;
        self.begin(1, start, loaded, Entry::Prepare, memory, fds, cwd, 0)
    }

    #[allow(clippy::too_many_arguments)] // all that a process has
    fn begin(
        self: &Arc<Kernel>,
        parent: u32,
        start: Start,
        loaded: Loaded,
        entry: Entry,
        memory: Reservation,
        fds: Descriptors,
        cwd: Cwd,
        ignored: u64,
    ) -> Result<u32, SpawnError> {
        let program = start.program;
        let strings = start.argv.iter().chain(&start.env);
        let args: usize = strings.map(|s| s.len() + 64).sum();
        let args = self.budget.reserve(args as u64).ok_or(Errno::NOMEM)?;
        let process = {
            let mut t = lock(&self.table);
            let full = t.live.len() >= self.limits.processes
                || t.spawned >= self.limits.spawns
                || t.zombies.len() >= MAX_ZOMBIES;
            if full {
                t.process_limit = true;
                return Err(Errno::AGAIN.into());
            }
            if t.limit.is_some() || t.interrupted {
                return Err(Errno::AGAIN.into());
            }
            let pid = t.next;
            t.next = t.next.checked_add(1).ok_or(Errno::AGAIN)?;
            t.spawned += 1;
            let p =
                Arc::new(Process::new(pid, parent, self.clone(), start, fds, cwd, ignored, args));
            t.live.insert(pid, p.clone());
            p
        };
        let pid = process.pid;
        if thread::start(&self.programs, Job { process, program, loaded, entry, memory }).is_err() {
            let mut t = lock(&self.table);
            t.live.remove(&pid);
            t.process_limit = true;
            return Err(Errno::AGAIN.into());
        }
        Ok(pid)
    }

    /// Takes note that a process has ended; called on its thread, after its
    /// descriptors were closed.
    pub fn ended(&self, process: &Process, status: Status) {
        let cpu = process.cpu().plus(*lock(&process.children_cpu));
        let mut t = lock(&self.table);
        t.live.remove(&process.pid);
        t.zombies.retain(|_, (parent, ..)| *parent != process.pid);
        if process.pid == FIRST_PID {
            t.root = Some(status);
        }
        if let Some(parent) = t.live.get(&process.parent).cloned() {
            t.zombies.insert(process.pid, (parent.pid, status, cpu));
            drop(t);
            parent.signal(17);
            parent.wake();
        }
        self.changed.notify_all();
    }

    /// `waitpid(2)` for one child or any. `Ok(None)`: it still runs and `block` is off.
    pub fn wait(
        &self,
        me: &Process,
        which: Option<u32>,
        block: bool,
    ) -> Result<Option<(u32, Status)>, Halt> {
        loop {
            {
                let mut t = lock(&self.table);
                let mine =
                    |pid: &u32, parent: u32| parent == me.pid && which.is_none_or(|w| w == *pid);
                let found = t
                    .zombies
                    .iter()
                    .find(|(pid, (parent, ..))| mine(pid, *parent))
                    .map(|(p, _)| *p);
                if let Some(pid) = found
                    && let Some((_, status, cpu)) = t.zombies.remove(&pid)
                {
                    drop(t);
                    let mut sum = lock(&me.children_cpu);
                    *sum = sum.plus(cpu);
                    return Ok(Some((pid, status)));
                }
                if !t.live.values().any(|p| mine(&p.pid, p.parent)) {
                    return Err(Errno::CHILD.into());
                }
            }
            if !block {
                return Ok(None);
            }
            me.park(None)?;
        }
    }

    /// `kill(2)`; process 0 means all, a negative number the process and its descendants
    /// (there are no process groups; a job's members descend from its leader).
    pub fn signal(&self, pid: u32, sig: u8) -> Result<(), Errno> {
        if sig > 63 {
            return Err(Errno::INVAL);
        }
        let targets: Vec<Arc<Process>> = {
            let t = lock(&self.table);
            match pid {
                0 => t.live.values().cloned().collect(),
                _ if (pid as i32) < 0 => {
                    let mut found: Vec<Arc<Process>> =
                        t.live.get(&pid.wrapping_neg()).cloned().into_iter().collect();
                    let mut at = 0;
                    while let Some(parent) = found.get(at).map(|p| p.pid) {
                        at += 1;
                        found.extend(t.live.values().filter(|p| p.parent == parent).cloned());
                    }
                    if found.is_empty() && !t.zombies.contains_key(&pid.wrapping_neg()) {
                        return Err(Errno::SRCH);
                    }
                    found
                }
                _ => match t.live.get(&pid) {
                    Some(p) => vec![p.clone()],
                    None if t.zombies.contains_key(&pid) => Vec::new(),
                    None => return Err(Errno::SRCH),
                },
            }
        };
        if sig != 0 {
            for p in targets {
                p.signal(sig);
            }
        }
        Ok(())
    }

    /// The parent of a living process.
    pub fn parent_of(&self, pid: u32) -> Option<u32> {
        lock(&self.table).live.get(&pid).map(|p| p.parent)
    }

    /// Ends the run because of a limit.
    pub fn hit(&self, limit: LimitHit) {
        lock(&self.table).limit.get_or_insert(limit);
        self.changed.notify_all();
    }

    /// Ends the run from outside.
    pub fn interrupt(&self) {
        lock(&self.table).interrupted = true;
        self.changed.notify_all();
    }

    /// Waits for the first process to end or be ended, then ends all others. Returns
    /// its status, the limit, and whether the run was interrupted.
    pub fn finish(&self) -> (Status, Option<LimitHit>, bool) {
        let deadline = self.limits.timeout.map(|t| self.epoch + t);
        let mut t = lock(&self.table);
        while t.root.is_none() && t.limit.is_none() && !t.interrupted {
            t = match deadline {
                None => self.changed.wait(t).unwrap_or_else(|e| e.into_inner()),
                Some(d) => {
                    let left = d.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        t.limit = Some(LimitHit::Timeout);
                        break;
                    }
                    self.changed.wait_timeout(t, left).unwrap_or_else(|e| e.into_inner()).0
                }
            };
        }
        let give_up = Instant::now() + REAP;
        while !t.live.is_empty() && Instant::now() < give_up {
            let all: Vec<Arc<Process>> = t.live.values().cloned().collect();
            drop(t);
            for p in &all {
                p.signal(9);
                p.end();
            }
            t = lock(&self.table);
            if !t.live.is_empty() {
                let pause = Duration::from_millis(2);
                t = self.changed.wait_timeout(t, pause).unwrap_or_else(|e| e.into_inner()).0;
            }
        }
        let soft = (self.budget.refused().then_some(LimitHit::Memory))
            .or(t.process_limit.then_some(LimitHit::Processes));
        let status = t.root.unwrap_or(Status::Signaled(9));
        (status, t.limit.or(soft), t.interrupted)
    }

    /// Counts the CPU time of a process that has ended; called on its thread.
    pub fn add_cpu(&self, process: &Process) {
        self.cpu_ns.fetch_add(process.cpu_ns(), Ordering::Relaxed);
    }
}

/// CPU time of the calling thread in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}
