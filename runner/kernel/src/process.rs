//! One process.

use super::cells::CellOrigin;
use super::descriptors::Descriptors;
use super::guest::Halt;
use super::host::{Host, HostWatch};
use super::table::{FIRST_PID, Kernel};
use super::threads::{Threads, current_thread};
use super::timer::IntervalTimer;
use crate::lock_mutex;
use box_abi::signal;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};
use wasibox_vfs::{Budget, Reservation};
use wasibox_vfs::{Errno, Loc, ProgramMark, VfsFile};

/// CPU time in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct CpuUsage {
    pub user: u64,
    pub system: u64,
}

impl CpuUsage {
    /// Returns the sum; at most `u64::MAX`.
    pub fn add_usage(self, other: CpuUsage) -> CpuUsage {
        CpuUsage {
            user: self.user.saturating_add(other.user),
            system: self.system.saturating_add(other.system),
        }
    }

    /// Returns the difference; at least 0.
    pub fn subtract_usage(self, other: CpuUsage) -> CpuUsage {
        CpuUsage {
            user: self.user.saturating_sub(other.user),
            system: self.system.saturating_sub(other.system),
        }
    }
}

/// The program that a process runs: set when it starts, replaced by exec.
#[derive(Clone, Debug)]
pub struct ProcessStart {
    pub program: ProgramMark,
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value` strings.
    pub env: Vec<Vec<u8>>,
}

/// Bytes of the memory limit that belong to a value. A copy of the value has none until it takes
/// its own.
#[derive(Debug, Default)]
pub struct Charge(Option<Reservation>);

impl Clone for Charge {
    fn clone(&self) -> Charge {
        Charge(None)
    }
}

impl From<Reservation> for Charge {
    fn from(r: Reservation) -> Charge {
        Charge(Some(r))
    }
}

impl Charge {
    /// Takes bytes; ENOMEM if the budget has no room.
    pub fn take_bytes(budget: &Arc<Budget>, bytes: u64) -> Result<Charge, Errno> {
        budget.reserve_bytes(bytes).map(Charge::from).ok_or(Errno::NOMEM)
    }

    /// Takes `bytes` more; ENOMEM if the budget has no room. Does nothing without a reservation.
    pub fn grow_by(&mut self, bytes: u64) -> Result<(), Errno> {
        let had = self.0.as_mut().is_none_or(|r| r.grow_by(bytes));
        if had { Ok(()) } else { Err(Errno::NOMEM) }
    }
}

/// The working directory.
#[derive(Clone, Debug)]
pub struct Cwd {
    pub loc: Loc,
    /// Absolute path.
    pub path: Vec<u8>,
    pub held: Charge,
}

impl Cwd {
    /// Creates a directory without a charge.
    pub fn new(loc: Loc, path: Vec<u8>) -> Cwd {
        Cwd { loc, path, held: Charge::default() }
    }

    /// Returns the bytes that it takes of the memory limit: below a mount the location is also a
    /// path.
    pub fn memory_cost(&self) -> u64 {
        2 * self.path.len() as u64
    }
}

/// The group and session of a process, each by the number of the process that began it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    pub group: u32,
    pub session: u32,
}

/// Signals that end no process by default.
const IGNORED_BY_DEFAULT: &[u8] = &[signal::CHLD, signal::CONT, signal::URG, signal::WINCH];
/// Signals that stop a process by default.
const STOPPING_BY_DEFAULT: &[u8] = &[signal::STOP, signal::TSTP, signal::TTIN, signal::TTOU];
/// Maximum number of nested calls of the signal handler. Each uses its own part of the guest's
/// stack and of the host's, so that the guest must not choose their number.
pub const MAX_HANDLERS: usize = 4;

/// A process, alive until its thread has ended.
pub struct Process<H: Host> {
    pub pid: u32,
    pub parent: u32,
    pub kernel: Arc<Kernel<H>>,
    pub start: Mutex<ProcessStart>,
    pub fds: Mutex<Descriptors>,
    pub cwd: Mutex<Cwd>,
    pub membership: Mutex<Membership>,
    /// Whether the guest has a signal handler.
    pub handles: AtomicBool,
    /// Bit N: the handler takes signal N.
    caught: AtomicU64,
    /// Bit N: signal N is ignored.
    pub ignored: AtomicU64,
    /// Whether it has asked which signals it ignores, and has not set them since.
    pub(super) knows_ignored: AtomicBool,
    /// Whether it is stopped, and the signal that its parent has not seen yet.
    pub(super) stopped: AtomicBool,
    pub(super) stop_report: AtomicU8,
    /// Whether a write to a pipe without a reader raises SIGPIPE in addition to the error.
    pub dies_of_pipe: AtomicBool,
    /// Bit N: signal N is pending for the handler.
    pending: AtomicU64,
    /// Bit N: the handler runs for signal N, which stays pending meanwhile (`sa_mask` of
    /// `sigaction(2)`). Only the process's own thread changes it.
    blocked: AtomicU64,
    /// Its timer (`setitimer(2)`).
    pub timer: IntervalTimer,
    /// The signal that ends the process, and the way to notify it.
    pub watch: H::Watch,
    /// Its threads, if it has more than the first one.
    pub threads: Threads<H>,
    thread: OnceLock<Thread>,
    /// CPU time of its thread when it began.
    cpu_begin: AtomicU64,
    /// The clock of that time.
    clock: OnceLock<H::Clock>,
    usage_begin: Mutex<CpuUsage>,
    /// CPU time of the children it waited for, and of theirs.
    pub children_cpu: Mutex<CpuUsage>,
    /// Charge for its arguments and environment.
    pub args: Mutex<Reservation>,
    /// Charge for its other memory in the host, and for its remains when it has ended.
    pub held: Mutex<Reservation>,
}

/// The parts that a process begins with.
pub struct ProcessBirth {
    pub pid: u32,
    pub parent: u32,
    pub start: ProcessStart,
    pub fds: Descriptors,
    pub cwd: Cwd,
    /// The set of signals that it ignores, bit N for signal N.
    pub ignored: u64,
    /// Charge for its arguments and environment.
    pub args: Reservation,
    /// Charge for its other memory in the host.
    pub held: Reservation,
}

impl<H: Host> Process<H> {
    /// Creates a process that does not run yet.
    pub fn new(kernel: Arc<Kernel<H>>, birth: ProcessBirth) -> Process<H> {
        let ProcessBirth { pid, parent, start, fds, cwd, ignored, args, held } = birth;
        Process {
            pid,
            parent,
            kernel,
            start: Mutex::new(start),
            fds: Mutex::new(fds),
            cwd: Mutex::new(cwd),
            membership: Mutex::default(),
            handles: AtomicBool::new(false),
            caught: AtomicU64::new(u64::MAX),
            ignored: AtomicU64::new(ignored),
            knows_ignored: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            stop_report: AtomicU8::new(0),
            dies_of_pipe: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            timer: IntervalTimer::default(),
            watch: H::Watch::new(pid),
            threads: Threads::default(),
            thread: OnceLock::new(),
            cpu_begin: AtomicU64::new(0),
            clock: OnceLock::new(),
            usage_begin: Mutex::default(),
            children_cpu: Mutex::default(),
            args: Mutex::new(args),
            held: Mutex::new(held),
        }
    }

    /// Registers the thread that runs the process; must be called first on it.
    pub fn begin_thread(&self) {
        let _ = self.thread.set(std::thread::current());
        self.cpu_begin.store(H::cpu_ns(), Ordering::Relaxed);
        *lock_mutex(&self.usage_begin) = H::thread_usage();
        if let Some(clock) = H::thread_clock() {
            let _ = self.clock.set(clock);
        }
    }

    /// Returns the CPU time so far in nanoseconds, for other threads. Only valid while the process
    /// is in the table: afterwards its thread may have ended, and its clock may belong to another
    /// thread.
    pub fn running_cpu_ns(&self) -> u64 {
        if self.kernel.limits.cpu.is_none() {
            return 0;
        }
        self.first_cpu_ns().saturating_add(self.threads.cpu_ns())
    }

    /// Returns the CPU time of its first thread, for other threads.
    fn first_cpu_ns(&self) -> u64 {
        let now = self.clock.get().and_then(|clock| H::time_of(*clock)).unwrap_or(0);
        now.saturating_sub(self.cpu_begin.load(Ordering::Relaxed))
    }

    /// Returns the CPU time of the calling thread, which must belong to the process, in
    /// nanoseconds.
    pub fn thread_cpu_ns(&self) -> u64 {
        if current_thread() == 0 {
            let first = H::cpu_ns().saturating_sub(self.cpu_begin.load(Ordering::Relaxed));
            return first.saturating_add(self.cell_origin().cpu_ns);
        }
        self.threads.own_cpu_ns()
    }

    /// Returns the CPU time of the process and of the cells before, in nanoseconds; called on one
    /// of its threads.
    pub fn cpu_ns(&self) -> u64 {
        self.own_cpu_ns().saturating_add(self.cell_origin().cpu_ns)
    }

    /// Returns the time of [`Process::cpu_ns`] without the cells before.
    pub fn own_cpu_ns(&self) -> u64 {
        let first = match current_thread() {
            0 => H::cpu_ns().saturating_sub(self.cpu_begin.load(Ordering::Relaxed)),
            _ => self.first_cpu_ns(),
        };
        first.saturating_add(self.threads.cpu_ns())
    }

    /// Returns the time of [`Process::cpu_ns`] by kind, less exactly.
    pub fn cpu(&self) -> CpuUsage {
        let first = match current_thread() {
            0 => H::thread_usage().subtract_usage(*lock_mutex(&self.usage_begin)),
            _ => CpuUsage { user: self.first_cpu_ns(), system: 0 },
        };
        // The other threads' time is not divided by kind.
        let others = CpuUsage { user: self.threads.cpu_ns(), system: 0 };
        first.add_usage(others).add_usage(self.cell_origin().cpu)
    }

    /// Returns the state that it continues from.
    fn cell_origin(&self) -> CellOrigin {
        if self.pid == FIRST_PID { self.kernel.before } else { CellOrigin::default() }
    }

    /// Makes a waiting process check for signals, and for its end.
    pub fn wake_up(&self) {
        if let Some(t) = self.thread.get() {
            t.unpark();
        }
        // The first thread checks for signals; an end concerns all.
        self.threads.look(self.fatal_signal().is_some());
    }

    /// Returns the number of one of its threads, as the guest knows it.
    pub fn thread_id(&self, number: u32) -> u32 {
        self.pid.wrapping_add(number)
    }

    /// Ends all threads but the calling one, which must be the first.
    pub fn end_others(&self) -> Result<(), Halt> {
        if current_thread() != 0 {
            return Err(Errno::PERM.into());
        }
        match self.threads.end_all() {
            // One of the other threads has just ended the process.
            Some(end) => {
                self.threads.put_end(end);
                Err(Halt::Over)
            }
            None => self.check_wait(),
        }
    }

    /// Returns the signal that ends the process, if there is one.
    pub fn fatal_signal(&self) -> Option<u8> {
        self.watch.fatal_signal()
    }

    /// Returns the mask of permission bits for new files, which its environment sets.
    pub fn umask(&self) -> u16 {
        let prefix = [box_abi::UMASK_VARIABLE.as_bytes(), b"="].concat();
        let start = lock_mutex(&self.start);
        let text = start.env.iter().rev().find_map(|e| e.strip_prefix(prefix.as_slice()));
        text.and_then(|t| std::str::from_utf8(t).ok())
            .and_then(|t| u16::from_str_radix(t, 8).ok())
            .map_or(box_abi::DEFAULT_UMASK, |m| m & 0o777)
    }

    /// Returns whether its handler decides about ignored signals, too. A program that knows those it
    /// was born with, and sets none, has its own table of them; it may catch some by now.
    pub fn judges_ignored(&self) -> bool {
        self.knows_ignored.load(Ordering::SeqCst) && self.handles.load(Ordering::SeqCst)
    }

    /// Delivers a signal (POSIX 2.4.3 default actions).
    pub fn deliver_signal(&self, sig: u8) {
        // A handler receives every signal except these, which would only interrupt calls of
        // programs that do not expect them. A process learns of its children's ends by waiting.
        const NEVER_HANDLED: &[u8] = &[signal::CHLD, signal::STOP];
        let bit = signal::signal_bit(sig);
        if sig == signal::CONT {
            self.resume();
        }
        if sig != signal::KILL {
            let is_ignored = self.ignored.load(Ordering::SeqCst) & bit != 0;
            if is_ignored && !self.judges_ignored() {
                return;
            }
            if self.handler_takes(bit) && !NEVER_HANDLED.contains(&sig) {
                self.pending.fetch_or(bit, Ordering::SeqCst);
                // The handler may have been removed in the meantime; then no other code checks the
                // bit.
                let lost = !self.handler_takes(bit)
                    && self.pending.fetch_and(!bit, Ordering::SeqCst) & bit != 0;
                if !lost {
                    self.wake_up();
                    return;
                }
            }
            if is_ignored || IGNORED_BY_DEFAULT.contains(&sig) {
                return;
            }
            if STOPPING_BY_DEFAULT.contains(&sig) {
                return self.stop(sig);
            }
        }
        let first = self.watch.set_fatal(sig);
        self.end();
        if first {
            self.kernel.is_ending();
        }
    }

    /// Makes a process notice its fatal signal: wakes it if it waits, interrupts it if it computes.
    /// An interrupt may reach it within the engine, so the kernel repeats this.
    pub fn end(&self) {
        self.wake_up();
        self.watch.end_computation();
    }

    /// Returns whether a thread runs it.
    pub fn is_running(&self) -> bool {
        self.watch.is_running()
    }

    /// Returns whether a signal is pending for which the handler may be called now.
    fn has_deliverable(&self) -> bool {
        self.pending.load(Ordering::SeqCst) & !self.blocked.load(Ordering::SeqCst) != 0
    }

    /// Takes one pending signal for the handler, and blocks it. The second number is for
    /// [`Process::restore_blocked`] when the handler is done.
    pub fn take_pending(&self) -> Option<(u8, u64)> {
        let blocked = self.blocked.load(Ordering::SeqCst);
        let waiting = self.pending.load(Ordering::SeqCst) & !blocked;
        if waiting == 0 {
            return None;
        }
        let sig = waiting.trailing_zeros() as u8;
        self.pending.fetch_and(!(1 << sig), Ordering::SeqCst);
        let with = blocked | 1 << sig;
        let all = with.count_ones() as usize >= MAX_HANDLERS;
        self.blocked.store(if all { u64::MAX } else { with }, Ordering::SeqCst);
        Some((sig, blocked))
    }

    /// Restores the signals that were blocked before a handler ran.
    pub fn restore_blocked(&self, before: u64) {
        self.blocked.store(before, Ordering::SeqCst);
    }

    /// Sets or removes the guest's handler. Without one, pending signals have their default effect.
    pub fn set_handler(&self, on: bool) {
        self.handles.store(on, Ordering::SeqCst);
        if !on {
            self.deliver_again(u64::MAX);
        }
    }

    /// Sets the signals that the handler takes; pending ones that it no longer takes have their
    /// default effect.
    pub fn set_caught(&self, caught: u64) {
        self.caught.store(caught, Ordering::SeqCst);
        self.deliver_again(!caught);
    }

    /// Returns whether the handler takes the signal of this bit.
    fn handler_takes(&self, bit: u64) -> bool {
        self.handles.load(Ordering::SeqCst) && self.caught.load(Ordering::SeqCst) & bit != 0
    }

    /// Delivers the pending signals of a set as if they had just arrived.
    fn deliver_again(&self, set: u64) {
        let mut waiting = self.pending.fetch_and(!set, Ordering::SeqCst) & set;
        while waiting != 0 {
            let sig = waiting.trailing_zeros() as u8;
            waiting &= waiting - 1;
            self.deliver_signal(sig);
        }
    }

    /// Fails if the process was ended by a signal or by another thread.
    pub fn check_alive(&self) -> Result<(), Halt> {
        if self.fatal_signal().is_some() {
            Err(Halt::Killed)
        } else if self.threads.is_over() {
            Err(Halt::Over)
        } else {
            Ok(())
        }
    }

    /// Fails if a call that waits must stop waiting: the error ends the process, or is EINTR so
    /// that the handler runs.
    pub fn check_wait(&self) -> Result<(), Halt> {
        self.raise_due_alarm();
        self.check_alive()?;
        self.wait_while_stopped()?;
        if current_thread() == 0 && self.has_deliverable() {
            return Err(Errno::INTR.into());
        }
        Ok(())
    }

    /// Parks until woken, at most until `deadline` or the timer's time; other threads of the process
    /// run meanwhile. The
    /// caller has registered the current thread with the objects that it waits for, and checks them
    /// again afterwards.
    pub fn park_thread(&self, deadline: Option<Instant>) -> Result<(), Halt> {
        self.check_wait()?;
        let away = self.threads.run_others();
        match deadline.into_iter().chain(self.timer.next()).min() {
            None => std::thread::park(),
            Some(d) => std::thread::park_timeout(d.saturating_duration_since(Instant::now())),
        }
        drop(away);
        self.check_wait()
    }

    /// Waits until `file` may be read (or written); EAGAIN if a socket has waited as long as it
    /// may.
    pub fn wait_for(&self, file: &VfsFile, write: bool) -> Result<(), Halt> {
        if let VfsFile::Stream(s) = file {
            // A kill interrupts the wait with a signal, or the wait ends soon by itself.
            let away = self.threads.run_others();
            s.wait_ready(write, Duration::from_millis(50));
            drop(away);
            return self.check_wait();
        }
        let patience = match file {
            VfsFile::Socket(s) => s.wait_limit(write),
            _ => None,
        };
        let deadline = patience.and_then(|time| Instant::now().checked_add(time));
        loop {
            file.watch(&std::thread::current());
            if file.ready(write).is_some() {
                return self.check_wait();
            }
            self.park_thread(deadline)?;
            match deadline {
                // A caller without a limit checks again by itself.
                None => return Ok(()),
                Some(end) if Instant::now() >= end && file.ready(write).is_none() => {
                    return Err(Errno::AGAIN.into());
                }
                Some(_) => {}
            }
        }
    }
}
