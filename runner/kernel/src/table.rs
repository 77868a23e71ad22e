//! The process table.
//!
//! | file | content |
//! |---|---|
//! | `ending` | the end of a run: its limits of time, and the processes that are left |

mod ending;

pub use ending::RunEnd;

use super::arguments;
use super::background::Background;
use super::cells::{CellOrigin, CellStart, Cells, FixedClock, IsFixed};
use super::descriptors::Descriptors;
use super::groups::{self, GroupRequest};
use super::guest::Halt;
use super::host::Host;
use super::job::{EntryPoint, ProcessJob};
use super::limits::Limits;
use super::locks::FileLocks;
use super::outcome::{LimitHit, ProcessStatus};
use super::process::{CpuUsage, Cwd, Process, ProcessBirth, ProcessStart};
use crate::lock_mutex;
use box_abi::signal;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::{Duration, Instant};
use wasibox_vfs::budget::take_refused_here;
use wasibox_vfs::terminal::TerminalSignals;
use wasibox_vfs::{Budget, Reservation};
use wasibox_vfs::{Errno, Vfs};

/// Number of the first process; its parent is said to be 1.
pub const FIRST_PID: u32 = 2;
/// The maximum number of ended processes that have not been waited for yet.
const MAX_ZOMBIES: usize = 32768;
/// Bytes that the host keeps for a process: the touched part of its thread's stack, its entry here.
pub const PROCESS_COST: u64 = 32 << 10;
/// The minimum number of bytes of a table with the standard streams.
const TABLE_COST: u64 = 4 << 10;
/// Bytes that the host keeps of an ended process until its parent waits for it.
const ZOMBIE_COST: u64 = 128;
/// The divisor of the memory limit: prepared memory is used if it takes at most that share.
pub const SNAPSHOT_SHARE: u64 = 4;

/// The state that the processes of a run share.
pub struct Kernel<H: Host> {
    pub vfs: Vfs,
    pub host: Arc<H>,
    pub limits: Limits,
    pub budget: Arc<Budget>,
    /// The time when the run began.
    epoch: Instant,
    /// The state that it continues from.
    pub before: CellOrigin,
    pub cells: Cells<H>,
    /// The clocks of a run that prepares.
    pub fixed: IsFixed,
    /// CPU time of processes that have ended.
    cpu_ns: AtomicU64,
    /// The memory of a process that was prepared
    /// ([`EntryPoint::Prepare`]).
    pub prepared: Mutex<Option<Vec<u8>>>,
    /// The processes that earlier runs of the session have left.
    background: Arc<Background<H>>,
    table: Mutex<ProcessTable<H>>,
    changed: Condvar,
}

struct ProcessTable<H: Host> {
    live: HashMap<u32, Arc<Process<H>>>,
    /// Threads of processes that have more than one.
    threads: usize,
    zombies: HashMap<u32, Zombie>,
    /// The numbers of the first process and of the next one.
    first: u32,
    next: u32,
    spawned: u64,
    root: Option<ProcessStatus>,
    /// Whether processes that the first one leaves running are to continue (`keeps`), and whether
    /// they do so now (`is_kept`).
    keeps: bool,
    is_kept: bool,
    limit: Option<LimitHit>,
    process_limit: bool,
    /// Whether a process has failed after it was refused memory.
    out_of_memory: bool,
    interrupted: bool,
}

/// A process that has ended and that its parent has not waited for.
struct Zombie {
    parent: u32,
    status: ProcessStatus,
    cpu: CpuUsage,
    _held: Option<Reservation>,
}

impl<H: Host> ProcessTable<H> {
    fn new() -> ProcessTable<H> {
        ProcessTable {
            live: HashMap::new(),
            threads: 0,
            zombies: HashMap::new(),
            first: FIRST_PID,
            next: FIRST_PID,
            spawned: 0,
            root: None,
            keeps: false,
            is_kept: false,
            limit: None,
            process_limit: false,
            out_of_memory: false,
            interrupted: false,
        }
    }

    /// Returns whether the run is over, except for ending its remaining processes.
    fn is_over(&self) -> bool {
        (self.root.is_some() && !self.keeps) || self.limit.is_some() || self.interrupted
    }

    /// Returns whether it is over because the first process has ended by itself.
    fn is_done(&self) -> bool {
        self.root.is_some() && self.limit.is_none() && !self.interrupted
    }
}

/// The reason why a process cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError<E: std::error::Error> {
    #[error("{0}")]
    Errno(#[from] Errno),
    /// The host cannot make the program ready.
    #[error(transparent)]
    Program(E),
}

/// How `waitpid(2)` waits.
#[derive(Clone, Copy, Debug)]
pub struct ChildWait {
    pub blocks: bool,
    /// Whether children that have stopped count (WUNTRACED).
    pub sees_stops: bool,
}

/// What has happened to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildChange {
    Ended(ProcessStatus),
    Stopped(u8),
}

/// A process to be started.
pub struct ChildStart {
    /// The process that waits for it; 1 is the host.
    pub parent: u32,
    pub start: ProcessStart,
    pub fds: Descriptors,
    pub cwd: Cwd,
    /// The set of signals that it ignores, bit N for signal N.
    pub ignored: u64,
    /// The reservation that was made for it: [`PROCESS_COST`], its strings, its directory, and the
    /// table as it was before its file actions. Without it all of that is reserved at the start.
    pub held: Option<Reservation>,
}

/// The code that a new process runs, and where it begins.
struct ChildCode<H: Host> {
    loaded: H::Loaded,
    entry: EntryPoint,
    memory: Reservation,
    cell: Option<CellStart<H>>,
}

impl<H: Host> Kernel<H> {
    /// Returns a kernel without processes. `before` is the usage of earlier runs of the same
    /// interpreter, `background` runs the processes that this run leaves.
    pub fn new(
        vfs: Vfs,
        host: Arc<H>,
        limits: Limits,
        budget: Arc<Budget>,
        before: CellOrigin,
        background: Arc<Background<H>>,
    ) -> Arc<Kernel<H>> {
        let kernel = Arc::new(Kernel {
            vfs,
            host,
            limits,
            budget,
            epoch: Instant::now(),
            before,
            cells: Cells::default(),
            fixed: IsFixed::default(),
            cpu_ns: AtomicU64::new(0),
            prepared: Mutex::default(),
            background,
            table: Mutex::new(ProcessTable::new()),
            changed: Condvar::new(),
        });
        let receiver = Arc::downgrade(&kernel) as Weak<dyn TerminalSignals>;
        kernel.vfs.terminals().add_receiver(receiver);
        kernel
    }

    /// Starts a process; returns its number.
    pub fn spawn_process(
        self: &Arc<Kernel<H>>,
        child: ChildStart,
    ) -> Result<u32, SpawnError<H::Error>> {
        let loaded = self.host.load_program(child.start.program).map_err(SpawnError::Program)?;
        // The memory is reserved here, so that a refusal is an error of this call.
        let (entry, memory) = self.entry_of(&loaded);
        let memory = memory.ok_or(Errno::NOMEM)?;
        self.begin_process(child, ChildCode { loaded, entry, memory, cell: None })
    }

    /// Starts the process of a cell, which ignores the same signals as the cell before it; its
    /// remains are in `cells` afterwards.
    pub fn run_cell(
        self: &Arc<Kernel<H>>,
        child: ChildStart,
        cell: CellStart<H>,
    ) -> Result<u32, SpawnError<H::Error>> {
        let loaded = self.host.load_program(child.start.program).map_err(SpawnError::Program)?;
        let (entry, memory) = match &cell.ready {
            Some(ready) => (H::entry_of(ready), self.budget.reserve_bytes(0)),
            None => {
                let (entry, memory) = self.entry_of(&loaded);
                (EntryPoint::Cell { is_prepared: entry == EntryPoint::Resume }, memory)
            }
        };
        let memory = memory.ok_or(Errno::NOMEM)?;
        self.cells.set_kind(cell.kind);
        let child = ChildStart { ignored: cell.ignored, ..child };
        self.begin_process(child, ChildCode { loaded, entry, memory, cell: Some(cell) })
    }

    /// Reserves the memory of a process with a table of that cost, except its linear memory.
    pub fn reserve_start(
        &self,
        start: &ProcessStart,
        cwd: &Cwd,
        table: u64,
    ) -> Option<Reservation> {
        let strings = arguments::strings_cost(start.argv.iter().chain(&start.env));
        self.budget
            .reserve_bytes(PROCESS_COST + table.max(TABLE_COST) + cwd.memory_cost() + strings)
    }

    /// Returns the time of the monotonic clock, in nanoseconds.
    pub fn monotonic_now(&self) -> u64 {
        let passed = u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.before.monotonic.saturating_add(passed)
    }

    /// Returns the step before the cell.
    pub fn cell_kind(&self) -> i32 {
        self.cells.origin_kind()
    }

    /// Returns the number that the next process would have.
    pub fn next_pid(&self) -> u32 {
        lock_mutex(&self.table).next
    }

    /// Returns the entry point of a process of that program, and the reservation of its memory, if
    /// there is room.
    pub fn entry_of(&self, loaded: &H::Loaded) -> (EntryPoint, Option<Reservation>) {
        // If memory is short, prepared memory must not take the room that the program's work needs.
        let roomy = |n: u64| n <= self.budget.limit() / SNAPSHOT_SHARE && self.budget.has_room(n);
        let resumes = self.host.has_snapshot(loaded)
            && roomy(self.host.memory_needs(loaded, EntryPoint::Resume));
        let entry = if resumes { EntryPoint::Resume } else { EntryPoint::Start };
        (entry, self.budget.reserve_bytes(self.host.memory_needs(loaded, entry)))
    }

    /// Starts a process that is to be prepared; afterwards its memory is in `prepared`.
    pub fn start_prepared(
        self: &Arc<Kernel<H>>,
        start: ProcessStart,
        fds: Descriptors,
        cwd: Cwd,
    ) -> Result<u32, SpawnError<H::Error>> {
        let loaded = self.host.load_program(start.program).map_err(SpawnError::Program)?;
        let memory = self
            .budget
            .reserve_bytes(self.host.memory_needs(&loaded, EntryPoint::Prepare))
            .ok_or(Errno::NOMEM)?;
        let _ = self.fixed.set(FixedClock::default());
        let child = ChildStart { parent: 1, start, fds, cwd, ignored: 0, held: None };
        self.begin_process(
            child,
            ChildCode { loaded, entry: EntryPoint::Prepare, memory, cell: None },
        )
    }

    fn begin_process(
        self: &Arc<Kernel<H>>,
        child: ChildStart,
        code: ChildCode<H>,
    ) -> Result<u32, SpawnError<H::Error>> {
        let ChildStart { parent, start, mut fds, mut cwd, ignored, held } = child;
        let ChildCode { loaded, entry, memory, cell } = code;
        let program = start.program;
        let (wish, start) = GroupRequest::take(start);
        let (table, path) = (fds.memory_cost(), cwd.memory_cost());
        let mut args =
            held.map_or_else(|| self.budget.reserve_bytes(0), Some).ok_or(Errno::NOMEM)?;
        let strings = arguments::strings_cost(start.argv.iter().chain(&start.env));
        // A script's interpreter may have added arguments, and file actions may have added
        // descriptors.
        let all = PROCESS_COST + table + path + strings;
        if all > args.bytes() && !args.grow_by(all - args.bytes()) {
            return Err(Errno::NOMEM.into());
        }
        let mut part = |n: u64| args.split_off(n).ok_or(Errno::NOMEM);
        let own = part(PROCESS_COST)?;
        fds.hold_reservation(part(table)?);
        cwd.held = part(path)?.into();
        // They are counted before this kernel is locked, because counting locks the other kernels
        // in the same way.
        let others = self.background.alive_beside(self);
        let process = {
            let mut t = lock_mutex(&self.table);
            if t.is_over() {
                return Err(Errno::AGAIN.into());
            }
            let full = t.live.len() + t.threads + others >= self.limits.processes
                || t.spawned >= self.limits.spawns
                || t.zombies.len() >= MAX_ZOMBIES;
            if full {
                t.process_limit = true;
                return Err(Errno::AGAIN.into());
            }
            let pid = if t.spawned == 0 && t.first == FIRST_PID {
                FIRST_PID
            } else {
                self.background.take_pid(t.next).ok_or(Errno::AGAIN)?
            };
            if t.spawned == 0 {
                t.first = pid;
            }
            t.next = pid.checked_add(1).ok_or(Errno::AGAIN)?.max(self.before.next_pid);
            t.spawned += 1;
            let birth = ProcessBirth { pid, parent, start, fds, cwd, ignored, args, held: own };
            let p = Arc::new(Process::new(self.clone(), birth));
            p.handles.store(cell.as_ref().is_some_and(|c| c.handles), Ordering::SeqCst);
            let is_unreaped = |pid| t.zombies.get(&pid).is_some_and(|z| z.parent == parent);
            *lock_mutex(&p.membership) = wish.membership(pid, parent, &t.live, is_unreaped);
            t.live.insert(pid, p.clone());
            p
        };
        process.take_terminal();
        if wish == GroupRequest::Foreground {
            process.take_foreground();
        }
        let pid = process.pid;
        let ready = cell.and_then(|c| c.ready);
        let job = ProcessJob { process, program, loaded, entry, memory, ready };
        if self.host.start_job(job).is_err() {
            // Dropped after the lock is released, because closing a terminal sends signals.
            let gone = {
                let mut t = lock_mutex(&self.table);
                t.process_limit = true;
                t.live.remove(&pid)
            };
            drop(gone);
            return Err(Errno::AGAIN.into());
        }
        Ok(pid)
    }

    /// Counts a program that a process begins in place of its own.
    pub fn count_program(&self) -> Result<(), Errno> {
        let mut t = lock_mutex(&self.table);
        if t.spawned >= self.limits.spawns {
            t.process_limit = true;
            return Err(Errno::AGAIN);
        }
        t.spawned += 1;
        Ok(())
    }

    /// Returns the locks of the session's files.
    pub fn file_locks(&self) -> &FileLocks {
        &self.background.locks
    }

    /// Records the end of a process; called on its thread, after its descriptors were closed.
    pub fn process_ended(&self, process: &Process<H>, status: ProcessStatus) {
        self.file_locks().release_process(process.pid);
        let cpu = process.cpu().add_usage(*lock_mutex(&process.children_cpu));
        let is_starved = (take_refused_here() || process.threads.starved.load(Ordering::Relaxed))
            && status != ProcessStatus::Exited(0);
        if lock_mutex(&process.membership).session == process.pid {
            self.vfs.terminals().session_ended(process.pid);
        }
        let mut t = lock_mutex(&self.table);
        // The time is added under the lock, so that a sum counts the process as running or as
        // ended, never as both.
        self.cpu_ns.fetch_add(process.own_cpu_ns(), Ordering::Relaxed);
        t.out_of_memory |= is_starved;
        t.live.remove(&process.pid);
        t.zombies.retain(|_, z| z.parent != process.pid);
        if process.pid == t.first {
            t.root = Some(status);
        }
        if let Some(parent) = t.live.get(&process.parent).cloned() {
            let held = lock_mutex(&process.held).split_off(ZOMBIE_COST);
            let zombie = Zombie { parent: parent.pid, status, cpu, _held: held };
            t.zombies.insert(process.pid, zombie);
            drop(t);
            parent.deliver_signal(signal::CHLD);
            parent.wake_up();
        }
        self.changed.notify_all();
    }

    /// Does `waitpid(2)` for one child or any; `Ok(None)` if it still runs and `block` is false.
    pub fn wait_child(
        &self,
        me: &Process<H>,
        which: Option<u32>,
        wait: ChildWait,
    ) -> Result<Option<(u32, ChildChange)>, Halt> {
        loop {
            {
                let mut t = lock_mutex(&self.table);
                let mine =
                    |pid: u32, parent: u32| parent == me.pid && which.is_none_or(|w| w == pid);
                let found = match which {
                    Some(pid) => t.zombies.get(&pid).filter(|z| mine(pid, z.parent)).map(|_| pid),
                    None => t.zombies.iter().find(|(p, z)| mine(**p, z.parent)).map(|(p, _)| *p),
                };
                if let Some(pid) = found
                    && let Some(Zombie { status, cpu, .. }) = t.zombies.remove(&pid)
                {
                    drop(t);
                    let mut sum = lock_mutex(&me.children_cpu);
                    *sum = sum.add_usage(cpu);
                    return Ok(Some((pid, ChildChange::Ended(status))));
                }
                let mut children = t.live.values().filter(|p| mine(p.pid, p.parent)).peekable();
                if children.peek().is_none() {
                    return Err(Errno::CHILD.into());
                }
                if wait.sees_stops
                    && let Some(stop) = children.find_map(|p| Some((p.pid, p.take_stop()?)))
                {
                    return Ok(Some((stop.0, ChildChange::Stopped(stop.1))));
                }
            }
            if !wait.blocks {
                return Ok(None);
            }
            me.park_thread(None)?;
        }
    }

    /// `kill(2)` by process `me`: 0 means the process group of `me`, -1 all other processes, and -N
    /// the group N. If N is the number of a process that leads no group, -N means this process and
    /// its descendants.
    pub fn send_signal(&self, me: &Process<H>, pid: u32, sig: u8) -> Result<(), Errno> {
        if sig > 63 {
            return Err(Errno::INVAL);
        }
        // The lock is not held while the members are examined, because the caller is one of them.
        let own = lock_mutex(&me.membership).group;
        let others = match pid as i32 {
            0 => Vec::new(),
            _ => self.background.processes(),
        };
        let others = others.iter().filter(|p| !std::ptr::eq(&*p.kernel, self));
        let of_group =
            |leader: u32| others.clone().filter(move |p| lock_mutex(&p.membership).group == leader);
        let mut targets: Vec<Arc<Process<H>>> = {
            let t = lock_mutex(&self.table);
            let leader = pid.wrapping_neg();
            match pid as i32 {
                0 => groups::group_members(&t.live, own),
                -1 => t.live.values().chain(others).filter(|p| p.pid != me.pid).cloned().collect(),
                ..0 => {
                    let mut found = groups::group_members(&t.live, leader);
                    if found.is_empty() {
                        found = groups::descendants_of(&t.live, leader);
                    }
                    if found.is_empty() {
                        found = of_group(leader).cloned().collect();
                    }
                    if found.is_empty() && !t.zombies.contains_key(&leader) {
                        return Err(Errno::SRCH);
                    }
                    found
                }
                _ => match t.live.get(&pid) {
                    Some(p) => vec![p.clone()],
                    // Its parent may not have waited for it yet, as shells do between commands. To
                    // other processes it is gone, as in a shell that collects children on SIGCHLD.
                    None if t.zombies.get(&pid).is_some_and(|z| z.parent == me.pid) => Vec::new(),
                    None => match others.clone().find(|p| p.pid == pid) {
                        Some(p) => vec![p.clone()],
                        None => return Err(Errno::SRCH),
                    },
                },
            }
        };
        if sig != 0 {
            // Parents first: a parent whose child dies of the signal must receive it before it
            // continues.
            targets.sort_by_key(|p| p.pid);
            for p in targets {
                p.deliver_signal(sig);
            }
        }
        Ok(())
    }

    /// Returns the list of living processes for the guest ([`box_abi::PROCESSES`]), at most `room`
    /// bytes.
    pub fn list_processes(&self, room: usize) -> Vec<u8> {
        groups::list_processes(self.all_processes(), room)
    }

    /// Returns the living processes, and those of earlier runs that continue.
    pub fn all_processes(&self) -> Vec<Arc<Process<H>>> {
        let mut all = self.living_processes();
        for p in self.background.processes() {
            if !std::ptr::eq(&*p.kernel, self) {
                all.push(p);
            }
        }
        all
    }

    /// Returns the CPU time of the processes that have ended.
    pub fn ended_cpu(&self) -> Duration {
        Duration::from_nanos(self.cpu_ns.load(Ordering::Relaxed))
    }

    /// Returns the living processes.
    pub fn living_processes(&self) -> Vec<Arc<Process<H>>> {
        lock_mutex(&self.table).live.values().cloned().collect()
    }

    /// Returns whether its first process has ended while the processes that it left still run.
    pub fn is_kept(&self) -> bool {
        lock_mutex(&self.table).is_kept
    }

    fn has_process(&self, pid: u32) -> bool {
        lock_mutex(&self.table).live.contains_key(&pid)
    }

    /// Returns the parent of one of its processes as others see it: 1 if the run is over and left
    /// the process.
    pub fn parent_seen(&self, parent: u32) -> u32 {
        if self.is_kept() && !self.has_process(parent) { 1 } else { parent }
    }

    /// Returns a living process, or one of an earlier run that continues.
    pub fn find_process(&self, pid: u32) -> Option<Arc<Process<H>>> {
        let others = || self.background.processes().into_iter().find(|p| p.pid == pid);
        let found = lock_mutex(&self.table).live.get(&pid).cloned();
        found.or_else(others)
    }

    /// Returns the parent of a living process.
    pub fn parent_of(&self, pid: u32) -> Option<u32> {
        self.find_process(pid).map(|p| p.kernel.parent_seen(p.parent))
    }

    /// Ends the run because of a limit.
    pub fn hit_limit(&self, limit: LimitHit) {
        lock_mutex(&self.table).limit.get_or_insert(limit);
        self.changed.notify_all();
    }

    /// Ends the run from outside.
    pub fn interrupt_run(&self) {
        lock_mutex(&self.table).interrupted = true;
        self.changed.notify_all();
    }

    /// Returns whether the run was ended from outside.
    pub fn is_interrupted(&self) -> bool {
        lock_mutex(&self.table).interrupted
    }

    /// If the first process ends by itself, lets the processes that it leaves behind continue. This
    /// is called before the first process begins, because processes may start others at any time.
    pub fn keep_background(&self) {
        lock_mutex(&self.table).keeps = true;
    }

    /// Makes this a run beside others, before its first process begins: that process gets a number
    /// that no other process has, and those that it leaves behind continue.
    pub fn detach(&self) {
        let next = self.background.next_detached().max(FIRST_PID + 1);
        let mut t = lock_mutex(&self.table);
        (t.keeps, t.first, t.next) = (true, next, next);
    }

    /// Returns whether `pid` is the first process of this run, and still alive.
    pub fn is_led_by(&self, pid: u32) -> bool {
        let t = lock_mutex(&self.table);
        t.first == pid && t.live.contains_key(&pid)
    }

    /// Sends a signal to all living processes, parents first.
    pub fn signal_all(&self, sig: u8) {
        let mut all = self.living_processes();
        all.sort_unstable_by_key(|p| p.pid);
        all.iter().for_each(|p| p.deliver_signal(sig));
        self.changed.notify_all();
    }

    /// Returns the number of living processes and of their threads beyond the first.
    pub fn alive_count(&self) -> usize {
        let t = lock_mutex(&self.table);
        t.live.len() + t.threads
    }

    /// Admits one more thread of a process, which counts like a process as long as the value lives.
    pub fn admit_thread(self: &Arc<Kernel<H>>) -> Result<ThreadAdmission<H>, Errno> {
        let others = self.background.alive_beside(self);
        let mut t = lock_mutex(&self.table);
        if t.is_over() || t.live.len() + t.threads + others >= self.limits.processes {
            t.process_limit |= !t.is_over();
            return Err(Errno::AGAIN);
        }
        t.threads += 1;
        Ok(ThreadAdmission(self.clone()))
    }

    /// Makes the kernel check for processes that must end.
    pub fn is_ending(&self) {
        drop(lock_mutex(&self.table));
        self.changed.notify_all();
    }

    /// Does the same as [`Kernel::is_ending`] in a signal handler, which must not lock. The kernel
    /// may notice this only at its next look at the table.
    pub fn look_again(&self) {
        self.changed.notify_all();
    }
}

/// An admitted thread, see [`Kernel::admit_thread`].
pub struct ThreadAdmission<H: Host>(Arc<Kernel<H>>);

impl<H: Host> Drop for ThreadAdmission<H> {
    fn drop(&mut self) {
        lock_mutex(&self.0.table).threads -= 1;
    }
}
