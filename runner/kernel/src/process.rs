//! One process.

use super::cells::CellOrigin;
use super::descriptors::Descriptors;
use super::guest::Halt;
use super::host::{Host, HostWatch};
use super::table::{FIRST_PID, Kernel};
use super::threads::{Threads, current_thread};
use crate::lock_mutex;
use box_abi::signal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
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
    /// The sum; at most `u64::MAX`.
    pub fn add_usage(self, other: CpuUsage) -> CpuUsage {
        CpuUsage {
            user: self.user.saturating_add(other.user),
            system: self.system.saturating_add(other.system),
        }
    }

    /// What is left without `other`; at least nothing.
    pub fn subtract_usage(self, other: CpuUsage) -> CpuUsage {
        CpuUsage {
            user: self.user.saturating_sub(other.user),
            system: self.system.saturating_sub(other.system),
        }
    }
}

/// What a process runs: set when it starts, replaced by exec.
#[derive(Clone, Debug)]
pub struct ProcessStart {
    pub program: ProgramMark,
    pub argv: Vec<Vec<u8>>,
    /// `NAME=value` strings.
    pub env: Vec<Vec<u8>>,
}

/// Bytes of the memory limit that belong to a value; a copy of the value has none until it takes
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
    /// Takes bytes, or ENOMEM.
    pub fn take_bytes(budget: &Arc<Budget>, bytes: u64) -> Result<Charge, Errno> {
        budget.reserve_bytes(bytes).map(Charge::from).ok_or(Errno::NOMEM)
    }

    /// Takes `bytes` more, or ENOMEM. A charge that nobody has made pays for nothing.
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
    /// A directory that nobody has been charged for.
    pub fn new(loc: Loc, path: Vec<u8>) -> Cwd {
        Cwd { loc, path, held: Charge::default() }
    }

    /// What it takes of the memory limit: the place is a path, too, below a mount.
    pub fn memory_cost(&self) -> u64 {
        2 * self.path.len() as u64
    }
}

/// The process group and session a process is in, each by the number of the process that began it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Membership {
    pub group: u32,
    pub session: u32,
}

/// Signals that end nobody where they are neither handled nor ignored. Stopping is not done here.
const IGNORED_BY_DEFAULT: &[u8] = &[
    signal::CHLD,
    signal::CONT,
    signal::STOP,
    signal::TSTP,
    signal::TTIN,
    signal::TTOU,
    signal::URG,
    signal::WINCH,
];
/// Most calls of the signal handler within each other. Each has a stack of the guest's and a
/// piece of the host's to itself, so that their number must not be the guest's choice.
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
    /// The guest has a signal handler.
    pub handles: AtomicBool,
    /// Bit N: signal N is ignored.
    pub ignored: AtomicU64,
    /// A write to a pipe that nobody reads is a SIGPIPE, besides the error.
    pub dies_of_pipe: AtomicBool,
    /// Bit N: signal N waits for the handler.
    pending: AtomicU64,
    /// Bit N: the handler runs for signal N, which waits meanwhile (`sa_mask` of
    /// `sigaction(2)`). Only the process's own thread changes it.
    blocked: AtomicU64,
    /// The signal that ends the process, and how it is made to notice.
    pub watch: H::Watch,
    /// Its threads, where it has others than the first one.
    pub threads: Threads<H>,
    thread: OnceLock<Thread>,
    /// CPU time of its thread when it began.
    cpu_begin: AtomicU64,
    /// The clock of that time.
    clock: OnceLock<H::Clock>,
    usage_begin: Mutex<CpuUsage>,
    /// CPU time of the children it waited for, and of theirs.
    pub children_cpu: Mutex<CpuUsage>,
    /// What its arguments and environment take of the memory limit.
    pub args: Mutex<Reservation>,
    /// What the host keeps for it besides, and of it when it has ended.
    pub held: Mutex<Reservation>,
}

/// What a process begins with.
pub struct ProcessBirth {
    pub pid: u32,
    pub parent: u32,
    pub start: ProcessStart,
    pub fds: Descriptors,
    pub cwd: Cwd,
    /// The set of signals that it ignores, bit N for signal N.
    pub ignored: u64,
    /// What its arguments and environment take of the memory limit.
    pub args: Reservation,
    /// What the host keeps for it besides.
    pub held: Reservation,
}

impl<H: Host> Process<H> {
    /// A process that does not run yet.
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
            ignored: AtomicU64::new(ignored),
            dies_of_pipe: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
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

    /// Called first on the thread that runs the process.
    pub fn begin_thread(&self) {
        let _ = self.thread.set(std::thread::current());
        self.cpu_begin.store(H::cpu_ns(), Ordering::Relaxed);
        *lock_mutex(&self.usage_begin) = H::thread_usage();
        if let Some(clock) = H::thread_clock() {
            let _ = self.clock.set(clock);
        }
    }

    /// CPU time in nanoseconds so far, asked from another thread. Only while the process is in the
    /// table: afterwards its thread may be gone, and its clock another's.
    pub fn running_cpu_ns(&self) -> u64 {
        if self.kernel.limits.cpu.is_none() {
            return 0;
        }
        self.first_cpu_ns().saturating_add(self.threads.cpu_ns())
    }

    /// CPU time of its first thread, asked from another one.
    fn first_cpu_ns(&self) -> u64 {
        let now = self.clock.get().and_then(|clock| H::time_of(*clock)).unwrap_or(0);
        now.saturating_sub(self.cpu_begin.load(Ordering::Relaxed))
    }

    /// CPU time of the calling thread, which is one of its, in nanoseconds.
    pub fn thread_cpu_ns(&self) -> u64 {
        if current_thread() == 0 {
            let first = H::cpu_ns().saturating_sub(self.cpu_begin.load(Ordering::Relaxed));
            return first.saturating_add(self.cell_origin().cpu_ns);
        }
        self.threads.own_cpu_ns()
    }

    /// CPU time of the process in nanoseconds, with that of the cells before; called on a thread of it.
    pub fn cpu_ns(&self) -> u64 {
        self.own_cpu_ns().saturating_add(self.cell_origin().cpu_ns)
    }

    /// The same without the cells before.
    pub fn own_cpu_ns(&self) -> u64 {
        let first = match current_thread() {
            0 => H::cpu_ns().saturating_sub(self.cpu_begin.load(Ordering::Relaxed)),
            _ => self.first_cpu_ns(),
        };
        first.saturating_add(self.threads.cpu_ns())
    }

    /// As [`Process::cpu_ns`] by kind of time, less exact.
    pub fn cpu(&self) -> CpuUsage {
        let first = match current_thread() {
            0 => H::thread_usage().subtract_usage(*lock_mutex(&self.usage_begin)),
            _ => CpuUsage { user: self.first_cpu_ns(), system: 0 },
        };
        // Of the others the kind is not asked.
        let others = CpuUsage { user: self.threads.cpu_ns(), system: 0 };
        first.add_usage(others).add_usage(self.cell_origin().cpu)
    }

    /// What it goes on from.
    fn cell_origin(&self) -> CellOrigin {
        if self.pid == FIRST_PID { self.kernel.before } else { CellOrigin::default() }
    }

    /// Has the process look for signals, and for its end, if it waits.
    pub fn wake_up(&self) {
        if let Some(t) = self.thread.get() {
            t.unpark();
        }
        // The first thread looks for signals; an end concerns all.
        self.threads.look(self.fatal_signal().is_some());
    }

    /// The number of one of its threads, as the guest knows it.
    pub fn thread_id(&self, number: u32) -> u32 {
        self.pid.wrapping_add(number)
    }

    /// Ends all threads but the calling one, which must be the first.
    pub fn end_others(&self) -> Result<(), Halt> {
        if current_thread() != 0 {
            return Err(Errno::PERM.into());
        }
        match self.threads.end_all() {
            // One of them has ended the process just before.
            Some(end) => {
                self.threads.put_end(end);
                Err(Halt::Over)
            }
            None => self.check_wait(),
        }
    }

    /// The signal that ends the process, if one does.
    pub fn fatal_signal(&self) -> Option<u8> {
        self.watch.fatal_signal()
    }

    /// The mask of permission bits for what it creates: told by its environment.
    pub fn umask(&self) -> u16 {
        let prefix = [box_abi::UMASK_VARIABLE.as_bytes(), b"="].concat();
        let start = lock_mutex(&self.start);
        let text = start.env.iter().rev().find_map(|e| e.strip_prefix(prefix.as_slice()));
        text.and_then(|t| std::str::from_utf8(t).ok())
            .and_then(|t| u16::from_str_radix(t, 8).ok())
            .map_or(box_abi::DEFAULT_UMASK, |m| m & 0o777)
    }

    /// Delivers a signal (POSIX 2.4.3 default actions; stopping is not supported).
    pub fn deliver_signal(&self, sig: u8) {
        // A handler is for all signals; these would only interrupt calls of programs that
        // do not expect it. Who has children notices their ends by waiting.
        const NEVER_HANDLED: &[u8] = &[signal::CHLD, signal::STOP];
        let bit = signal::signal_bit(sig);
        if sig != signal::KILL {
            if self.ignored.load(Ordering::SeqCst) & bit != 0 {
                return;
            }
            if self.handles.load(Ordering::SeqCst) && !NEVER_HANDLED.contains(&sig) {
                self.pending.fetch_or(bit, Ordering::SeqCst);
                // It may have lost its handler meanwhile; then nobody else looks at the bit.
                let lost = !self.handles.load(Ordering::SeqCst)
                    && self.pending.fetch_and(!bit, Ordering::SeqCst) & bit != 0;
                if !lost {
                    self.wake_up();
                    return;
                }
            }
            if IGNORED_BY_DEFAULT.contains(&sig) {
                return;
            }
        }
        let first = self.watch.set_fatal(sig);
        self.end();
        if first {
            self.kernel.is_ending();
        }
    }

    /// Makes a process with a fatal signal notice it: wakes it if it waits, interrupts
    /// it if it computes. An interrupt may meet it within the engine, so the kernel repeats this.
    pub fn end(&self) {
        self.wake_up();
        self.watch.end_computation();
    }

    /// Whether a thread runs it.
    pub fn is_running(&self) -> bool {
        self.watch.is_running()
    }

    /// Whether a signal waits that the handler may be called for now.
    fn has_deliverable(&self) -> bool {
        self.pending.load(Ordering::SeqCst) & !self.blocked.load(Ordering::SeqCst) != 0
    }

    /// Takes one signal that the handler is to be called for, and blocks it. The second number
    /// is for [`Process::restore_blocked`] when the handler is done.
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

    /// Puts back the signals that were blocked before a handler ran.
    pub fn restore_blocked(&self, before: u64) {
        self.blocked.store(before, Ordering::SeqCst);
    }

    /// The guest has a handler from now on, or none. Without one, signals that waited for it
    /// do what they do by default.
    pub fn set_handler(&self, on: bool) {
        self.handles.store(on, Ordering::SeqCst);
        if !on {
            let mut waiting = self.pending.swap(0, Ordering::SeqCst);
            while waiting != 0 {
                let sig = waiting.trailing_zeros() as u8;
                waiting &= waiting - 1;
                self.deliver_signal(sig);
            }
        }
    }

    /// The process goes on only if no signal has ended it.
    pub fn check_alive(&self) -> Result<(), Halt> {
        if self.fatal_signal().is_some() {
            Err(Halt::Killed)
        } else if self.threads.is_over() {
            Err(Halt::Over)
        } else {
            Ok(())
        }
    }

    /// Whether a call that waits must stop waiting: it ends the process, or returns
    /// EINTR so that the handler runs.
    pub fn check_wait(&self) -> Result<(), Halt> {
        self.check_alive()?;
        if current_thread() == 0 && self.has_deliverable() {
            return Err(Errno::INTR.into());
        }
        Ok(())
    }

    /// Parks until woken, at most until `deadline`; other threads of the process run meanwhile. The caller has registered the
    /// current thread with whatever it waits for and looks again afterwards.
    pub fn park_thread(&self, deadline: Option<Instant>) -> Result<(), Halt> {
        self.check_wait()?;
        let away = self.threads.run_others();
        match deadline {
            None => std::thread::park(),
            Some(d) => std::thread::park_timeout(d.saturating_duration_since(Instant::now())),
        }
        drop(away);
        self.check_wait()
    }

    /// Waits until `file` may be read (or written); EAGAIN if a socket has waited as long as it may.
    pub fn wait_for(&self, file: &VfsFile, write: bool) -> Result<(), Halt> {
        if let VfsFile::Stream(s) = file {
            // A kill interrupts the wait by a signal, or it ends soon by itself.
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
                // Who waits without a limit looks again by itself.
                None => return Ok(()),
                Some(end) if Instant::now() >= end && file.ready(write).is_none() => {
                    return Err(Errno::AGAIN.into());
                }
                Some(_) => {}
            }
        }
    }
}
