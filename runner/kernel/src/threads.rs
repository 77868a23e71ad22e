//! The threads of one process.
//!
//! Each thread has its own stack, globals and table of functions (an instance in a store, on a
//! thread of the host: `second`), and all share one linear memory. **Only one of them runs guest
//! code at a time**: the one with the *baton*. A thread that waits for the host lays it down first,
//! and takes it up again before the guest's memory is touched ([`Threads::run_others`]). So neither
//! guests nor this kernel need atomic operations: between two waits a thread is alone with the
//! memory, like a process with one thread.
//!
//! ```text
//!            spawn                         wait of the host: park
//!   (start) -------> queue --- baton ---> runs ----------------> away
//!                      ^                   |  futex_wait           |
//!                      |                   v                       |
//!                      +----- wake ------ sleeps                   |
//!                      +-------------------------------------------+
//! ```
//!
//! No thread asks a computing thread for the baton: it offers the baton by `sched_yield`. Calls
//! that sometimes wait also offer it: `poll_oneoff` always, reads and writes of pipes and sockets
//! after a while ([`Threads::share_baton`]). Others never do, so that guests may rely on them.
//!
//! # Ends
//! The end of a process ends all of its threads. The thread that detects it has the baton, so that
//! all others wait: they are woken, find [`Threads::is_over`] true, and leave their guest code one
//! after another. The first thread, which is the one that began with the process, leaves last and
//! reports the end ([`Threads::end_all`]).
//!
//! # Variables of a thread
//! Guests are compiled without thread-local storage. So a guest's export [`LOCALS`] lists the
//! variables of which every thread has its own copy; they are exchanged with the baton.
//!
//! # Invariants
//! - If no thread has the baton, the queue for it is empty.
//! - The state's lock is the last one that is taken: nothing else is locked, and no guest memory is
//!   allocated, while it is held.
//! - The first thread has number 0, is never taken out, and holds the baton while there are no
//!   others.

use super::host::Host;
use super::job::{ProgramEnd, ThreadTask};
use super::memory::CallMemory;
use super::process::CpuUsage;
use crate::lock_mutex;
use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Thread;
use std::time::{Duration, Instant};
use wasibox_vfs::Errno;

/// The exported variable that lists the variables of which each thread has its own copy: a number
/// of pairs, and as many pairs of address and length. A new thread finds zeros.
pub const LOCALS: &str = "wasibox_thread_locals";
/// The maximum number of pairs, and the maximum number of bytes in all.
const MAX_LOCALS: u32 = 64;
const MAX_LOCAL_BYTES: usize = 4096;
/// The maximum number of threads of the host that wait, with an instance each, for the process's
/// next thread.
const MAX_IDLE: usize = 4;
/// The interval at which threads that must leave are woken again.
const AGAIN: Duration = Duration::from_millis(10);
/// The time for which a thread that reads and writes without waiting may keep others from running:
/// CPython's own switch interval.
const SHARE: Duration = Duration::from_millis(5);

thread_local! {
    /// The number that this thread of the host has among the threads of its process.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

/// Returns the calling thread's number in its process; 0 is the first one.
pub fn current_thread() -> u32 {
    NUMBER.get()
}

/// Sets the number that [`current_thread`] returns.
pub fn set_current(number: u32) {
    NUMBER.set(number);
}

/// The event that a thread sleeps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SleepEvent {
    /// A wake-up of that address.
    Futex(u32),
    /// The end of that thread.
    End(u32),
}

/// A guest's variables of which each thread has its own copy.
struct ThreadLocals<H: Host> {
    found: H::Locals,
    /// Bytes of all of them.
    bytes: usize,
}

struct ThreadState<H: Host> {
    /// Signalled when the thread gets the baton.
    turn: Arc<Condvar>,
    /// The thread of the host, for waits in which it is parked.
    thread: Option<Thread>,
    /// The values of its variables while it does not run.
    locals: Vec<u8>,
    sleeps: Option<SleepEvent>,
    /// Whether the event that it sleeps for has come.
    woken: bool,
    /// The clock of its CPU time, and its reading when the thread began.
    clock: Option<(H::Clock, u64)>,
}

struct ThreadGroupState<H: Host> {
    holder: Option<u32>,
    /// The time when the holder got the baton.
    since: Option<Instant>,
    queue: VecDeque<u32>,
    members: HashMap<u32, ThreadState<H>>,
    sleepers: HashMap<SleepEvent, VecDeque<u32>>,
    locals: Option<Arc<ThreadLocals<H>>>,
    /// The number of the thread that began last.
    last: u32,
    /// The end of the process, if another thread than the first one ended it.
    end: Option<ProgramEnd>,
    /// Threads of the host that wait for work.
    idle: Vec<Sender<ThreadTask>>,
    /// All threads of the host but the first one's.
    hosts: usize,
    /// CPU time of threads that have ended.
    past: CpuUsage,
}

/// The threads of a process; see the module's documentation.
pub struct Threads<H: Host> {
    /// Whether there are, or were, other threads than the first one.
    many: AtomicBool,
    /// Whether all threads but the first one must leave.
    over: AtomicBool,
    /// Whether a thread has failed after it was refused memory.
    pub starved: AtomicBool,
    past_ns: AtomicU64,
    state: Mutex<ThreadGroupState<H>>,
    fewer: Condvar,
    /// The pattern that threads are made from; `None` before the process runs, and if its program
    /// cannot have any.
    pattern: Mutex<Option<Arc<H::Pattern>>>,
}

impl<H: Host> Default for ThreadGroupState<H> {
    fn default() -> ThreadGroupState<H> {
        ThreadGroupState {
            holder: None,
            since: None,
            queue: VecDeque::new(),
            members: HashMap::new(),
            sleepers: HashMap::new(),
            locals: None,
            last: 0,
            end: None,
            idle: Vec::new(),
            hosts: 0,
            past: CpuUsage::default(),
        }
    }
}

impl<H: Host> Default for Threads<H> {
    fn default() -> Threads<H> {
        Threads {
            many: AtomicBool::new(false),
            over: AtomicBool::new(false),
            starved: AtomicBool::new(false),
            past_ns: AtomicU64::new(0),
            state: Mutex::default(),
            fewer: Condvar::new(),
            pattern: Mutex::default(),
        }
    }
}

impl<H: Host> ThreadGroupState<H> {
    /// Takes the baton from its holder, which waits or ends from now on.
    fn lay_down(&mut self) {
        if let Some(me) = self.holder.take()
            && let (Some(locals), Some(member)) = (&self.locals, self.members.get_mut(&me))
        {
            H::save_locals(&locals.found, &mut member.locals);
        }
        self.pass_baton();
    }

    /// Gives the free baton to the next thread in the queue.
    fn pass_baton(&mut self) {
        while self.holder.is_none()
            && let Some(next) = self.queue.pop_front()
        {
            let Some(member) = self.members.get(&next) else { continue };
            member.turn.notify_one();
            self.take_baton(next);
        }
    }

    /// Makes a thread the holder of the free baton.
    fn take_baton(&mut self, number: u32) {
        self.holder = Some(number);
        self.since = Some(Instant::now());
        if let (Some(locals), Some(member)) = (&self.locals, self.members.get(&number)) {
            H::restore_locals(&locals.found, &member.locals);
        }
    }

    /// Puts a thread into the queue for the baton.
    fn queue_up(&mut self, number: u32) {
        self.queue.push_back(number);
        self.pass_baton();
    }

    /// Ends a thread's sleep.
    fn rouse(&mut self, number: u32, woken: bool) {
        let Some(member) = self.members.get_mut(&number) else { return };
        let Some(event) = member.sleeps.take() else { return };
        member.woken = woken;
        if let Some(list) = self.sleepers.get_mut(&event) {
            list.retain(|n| *n != number);
            if list.is_empty() {
                self.sleepers.remove(&event);
            }
        }
        self.queue_up(number);
    }

    /// Wakes at most `most` threads that sleep for an event and returns their number.
    fn wake_sleepers(&mut self, event: SleepEvent, most: usize) -> usize {
        let list = self.sleepers.get(&event).into_iter().flatten().take(most);
        let all: Vec<u32> = list.copied().collect();
        all.iter().for_each(|n| self.rouse(*n, true));
        all.len()
    }
}

/// Reads the list at `at` of the variables of which each thread has its own copy.
fn find_locals<H: Host>(
    mem: &mut H::Memory<'_>,
    at: Option<u32>,
) -> Result<Arc<ThreadLocals<H>>, Errno> {
    let mut all = Vec::new();
    let mut bytes = 0usize;
    let count = match at {
        Some(at) => mem.read_u32(at)?,
        None => 0,
    };
    if count > MAX_LOCALS {
        return Err(Errno::INVAL);
    }
    for n in 0..count {
        let pair = at.and_then(|at| at.checked_add(4 + 8 * n)).ok_or(Errno::FAULT)?;
        let b: [u8; 8] = mem.read_array(pair)?;
        let b = u64::from_le_bytes(b);
        let (from, len) = (b as u32, (b >> 32) as usize);
        bytes = bytes.saturating_add(len);
        if bytes > MAX_LOCAL_BYTES {
            return Err(Errno::INVAL);
        }
        mem.check_range(from, len)?;
        all.push((from, len));
    }
    Ok(Arc::new(ThreadLocals { found: H::find_locals(mem, &all)?, bytes }))
}

impl<H: Host> Threads<H> {
    fn lock_state(&self) -> MutexGuard<'_, ThreadGroupState<H>> {
        lock_mutex(&self.state)
    }

    /// Sets the pattern from which threads are made.
    pub fn may_be(&self, pattern: Option<Arc<H::Pattern>>) {
        *lock_mutex(&self.pattern) = pattern;
    }

    /// Returns the pattern that [`Threads::may_be`] has set.
    pub fn thread_pattern(&self) -> Option<Arc<H::Pattern>> {
        lock_mutex(&self.pattern).clone()
    }

    fn is_many(&self) -> bool {
        self.many.load(Ordering::SeqCst)
    }

    /// Returns the number of the process's threads.
    pub fn count(&self) -> usize {
        if self.is_many() { self.lock_state().members.len().max(1) } else { 1 }
    }

    /// Returns whether all threads must leave. This includes the first one, unless it has set this
    /// itself.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::SeqCst)
    }

    /// Lets others run while the caller waits for something of the host. It has the baton again
    /// when the value is dropped.
    pub fn run_others(&self) -> BatonReturn<'_, H> {
        if !self.is_many() {
            return BatonReturn(None);
        }
        self.lock_state().lay_down();
        BatonReturn(Some(self))
    }

    /// Waits for the baton. The caller is neither in the queue nor asleep.
    fn come_back<'a>(
        &'a self,
        mut s: MutexGuard<'a, ThreadGroupState<H>>,
        me: u32,
    ) -> MutexGuard<'a, ThreadGroupState<H>> {
        if s.holder.is_none() {
            s.take_baton(me);
            return s;
        }
        s.queue_up(me);
        self.wait_for_turn(s, me)
    }

    /// Waits for the baton. The caller is in the queue, or has it.
    fn wait_for_turn<'a>(
        &'a self,
        mut s: MutexGuard<'a, ThreadGroupState<H>>,
        me: u32,
    ) -> MutexGuard<'a, ThreadGroupState<H>> {
        let Some(turn) = s.members.get(&me).map(|m| m.turn.clone()) else { return s };
        while s.holder != Some(me) {
            s = turn.wait(s).unwrap_or_else(|e| e.into_inner());
        }
        s
    }

    /// Lets other threads run first, if any queue for the baton; returns false if there are no
    /// others.
    pub fn offer_baton(&self) -> bool {
        if !self.is_many() {
            return false;
        }
        let mut s = self.lock_state();
        if !s.queue.is_empty() {
            s.lay_down();
            drop(self.come_back(s, current_thread()));
        }
        true
    }

    /// Lets other threads run first if they have waited for long, because a thread whose calls
    /// never wait, such as one that always finds something to read, would keep the baton for ever.
    pub fn share_baton(&self) {
        if !self.is_many() {
            return;
        }
        let mut s = self.lock_state();
        if !s.queue.is_empty() && s.since.is_none_or(|since| since.elapsed() >= SHARE) {
            s.lay_down();
            drop(self.come_back(s, current_thread()));
        }
    }

    /// Sleeps until the event or the time `until`, and returns whether the event came. The sleep
    /// also ends when the thread must check for signals. Returns `None` if the process has only one
    /// thread, because no other could cause the event.
    pub fn sleep_for(&self, event: SleepEvent, until: Option<Instant>) -> Option<bool> {
        if !self.is_many() {
            return None;
        }
        let me = current_thread();
        let mut s = self.lock_state();
        if let SleepEvent::End(other) = event
            && !s.members.contains_key(&other)
        {
            return Some(true);
        }
        let member = s.members.get_mut(&me)?;
        (member.sleeps, member.woken) = (Some(event), false);
        let turn = member.turn.clone();
        s.sleepers.entry(event).or_default().push_back(me);
        s.lay_down();
        while s.holder != Some(me) {
            let asleep = s.members.get(&me).is_some_and(|m| m.sleeps.is_some());
            let left =
                until.filter(|_| asleep).map(|u| u.saturating_duration_since(Instant::now()));
            s = match left {
                Some(Duration::ZERO) => {
                    s.rouse(me, false);
                    s
                }
                Some(left) => turn.wait_timeout(s, left).unwrap_or_else(|e| e.into_inner()).0,
                None => turn.wait(s).unwrap_or_else(|e| e.into_inner()),
            };
        }
        s.members.get(&me).map(|m| m.woken)
    }

    /// Wakes at most `most` threads that sleep for the event and returns their number.
    pub fn wake_sleepers(&self, event: SleepEvent, most: usize) -> usize {
        if self.is_many() { self.lock_state().wake_sleepers(event, most) } else { 0 }
    }

    /// Makes threads check again for their events: all of them, or the first one alone.
    pub fn look(&self, all: bool) {
        if !self.is_many() {
            return;
        }
        let mut s = self.lock_state();
        let numbers: Vec<u32> = s.members.keys().copied().filter(|n| all || *n == 0).collect();
        for n in numbers {
            s.rouse(n, false);
        }
        s.members.values().filter_map(|m| m.thread.as_ref()).for_each(Thread::unpark);
    }

    /// Adds a thread, which queues for the baton; returns its number and the host's thread that
    /// runs it, either an idle one or a new one. `locals` is the address of the guest's list.
    pub fn add(
        &self,
        mem: &mut H::Memory<'_>,
        locals: Option<u32>,
    ) -> Result<(u32, Option<Sender<ThreadTask>>), Errno> {
        let mut s = self.lock_state();
        if s.members.is_empty() {
            let locals = find_locals::<H>(mem, locals)?;
            let first = ThreadState {
                thread: Some(std::thread::current()),
                ..ThreadState::new(locals.bytes)
            };
            s.members.insert(0, first);
            s.locals = Some(locals);
            s.holder = Some(0);
            self.many.store(true, Ordering::SeqCst);
        }
        let number = s.last.checked_add(1).filter(|n| *n < 1 << 28).ok_or(Errno::AGAIN)?;
        s.last = number;
        let bytes = s.locals.as_ref().map_or(0, |l| l.bytes);
        s.members.insert(number, ThreadState::new(bytes));
        let idle = s.idle.pop();
        if idle.is_none() {
            s.hosts += 1;
        }
        Ok((number, idle))
    }

    /// Takes back a thread that could not be started, and its thread of the host.
    pub fn take_back(&self, number: u32) {
        let mut s = self.lock_state();
        s.members.remove(&number);
        s.hosts -= 1;
        self.fewer.notify_all();
    }

    /// Begins a thread on the calling thread of the host: returns when it has the baton.
    pub fn begin(&self, number: u32) {
        set_current(number);
        let mut s = self.lock_state();
        if let Some(m) = s.members.get_mut(&number) {
            m.thread = Some(std::thread::current());
            m.clock = H::thread_clock().map(|c| (c, H::time_of(c).unwrap_or(0)));
        }
        drop(self.come_back(s, number));
    }

    /// Ends a thread, which has the baton. `end` is its effect on the process.
    pub fn leave(&self, number: u32, end: Option<ProgramEnd>) {
        let mut s = self.lock_state();
        if let Some(m) = s.members.remove(&number) {
            let ns = m
                .clock
                .map_or(0, |(clock, from)| H::time_of(clock).map_or(0, |t| t.saturating_sub(from)));
            self.past_ns.fetch_add(ns, Ordering::Relaxed);
            s.past = s.past.add_usage(CpuUsage { user: ns, system: 0 });
        }
        set_current(0);
        if let Some(end) = end {
            s.end.get_or_insert(end);
            self.over.store(true, Ordering::SeqCst);
        }
        s.wake_sleepers(SleepEvent::End(number), usize::MAX);
        if s.holder == Some(number) {
            s.holder = None;
        }
        s.pass_baton();
        drop(s);
        if self.is_over() {
            self.look(true);
        }
    }

    /// Registers the source of the next task of this thread of the host; returns false if enough
    /// threads wait already.
    pub fn wait_here(&self, sender: Sender<ThreadTask>) -> bool {
        let mut s = self.lock_state();
        let waits = s.idle.len() < MAX_IDLE && !self.is_over();
        if waits {
            s.idle.push(sender);
        }
        waits
    }

    /// Records one more thread of the host.
    pub fn host_comes(&self) {
        self.lock_state().hosts += 1;
    }

    /// Records that a thread of the host has ended and released its resources.
    pub fn host_gone(&self) {
        self.lock_state().hosts -= 1;
        self.fewer.notify_all();
    }

    /// Ends all threads but the first one, which calls this and waits until they have left. Returns
    /// how the process ended, if one of them ended it.
    pub fn end_all(&self) -> Option<ProgramEnd> {
        if !self.is_many() {
            return None;
        }
        self.over.store(true, Ordering::SeqCst);
        let mut s = self.lock_state();
        if s.holder == Some(0) {
            s.lay_down();
        }
        while s.hosts > 0 {
            // Threads that wait for work end then.
            s.idle.clear();
            drop(s);
            self.look(true);
            s = self.lock_state();
            if s.hosts > 0 {
                s = self.fewer.wait_timeout(s, AGAIN).unwrap_or_else(|e| e.into_inner()).0;
            }
        }
        s = self.come_back(s, 0);
        self.over.store(false, Ordering::SeqCst);
        s.end.take()
    }

    /// Puts back the end that [`Threads::end_all`] has reported.
    pub fn put_end(&self, end: ProgramEnd) {
        self.lock_state().end = Some(end);
    }

    /// Forgets all of a process's threads, after they have left.
    pub fn reset(&self) {
        *lock_mutex(&self.pattern) = None;
        let mut s = self.lock_state();
        let past = s.past;
        *s = ThreadGroupState { past, ..ThreadGroupState::default() };
        self.many.store(false, Ordering::SeqCst);
    }

    /// Returns the CPU time in nanoseconds of the calling thread, which is not the first one.
    pub fn own_cpu_ns(&self) -> u64 {
        let s = self.lock_state();
        let member = s.members.get(&current_thread());
        let clock = member.and_then(|m| m.clock);
        clock.map_or(0, |(clock, from)| H::time_of(clock).map_or(0, |t| t.saturating_sub(from)))
    }

    /// Returns the CPU time in nanoseconds of all threads but the first one.
    pub fn cpu_ns(&self) -> u64 {
        let past = self.past_ns.load(Ordering::Relaxed);
        if !self.is_many() {
            return past;
        }
        let s = self.lock_state();
        let running = s.members.values().filter_map(|m| m.clock);
        let running =
            running.map(|(clock, from)| H::time_of(clock).map_or(0, |t| t.saturating_sub(from)));
        running.fold(self.past_ns.load(Ordering::Relaxed), u64::saturating_add)
    }
}

impl<H: Host> ThreadState<H> {
    fn new(bytes: usize) -> ThreadState<H> {
        ThreadState {
            turn: Arc::default(),
            thread: None,
            locals: vec![0; bytes],
            sleeps: None,
            woken: false,
            clock: None,
        }
    }
}

/// The guard of [`Threads::run_others`]: other threads run until it is dropped.
pub struct BatonReturn<'a, H: Host>(Option<&'a Threads<H>>);

impl<H: Host> Drop for BatonReturn<'_, H> {
    fn drop(&mut self) {
        if let Some(threads) = self.0 {
            drop(threads.come_back(threads.lock_state(), current_thread()));
        }
    }
}
