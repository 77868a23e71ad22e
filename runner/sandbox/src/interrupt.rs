//! Ends guests that compute, at instructions at which they hold no lock of the host.
//!
//! # Why not the engine's own interrupts
//! Compiled code calls functions of the engine (to allocate and throw an exception, to fill memory,
//! for table operations) on the guest's own stack. Wasmer's
//! `experimental-host-interrupt` abandons that stack at whatever instruction the signal arrives,
//! even within `malloc` or while a value is borrowed. Then the whole process waited for a lock that
//! was never released, and no time limit helped. A stack overflow within such a function abandoned
//! the stack in the same way, without any kill. The feature also keeps a list of running stores
//! behind locks, and a stray signal fails an assertion.
//! (docs/upstream/wasmer-exceptions-and-interrupt.md.)
//!
//! # How it is done instead
//! 1. A process with a fatal signal gets SIGUSR1 on its thread. Our handler checks whether the
//!    interrupted instruction is a guest's ([`CodeMap`]). If so, it reports a failed memory access
//!    there to the engine's fault handler, which abandons the guest's stack.
//! 2. Otherwise nothing happens, and `Watch::end` is called again by the kernel every few
//!    milliseconds, until the process has ended.
//! 3. If a process is not met in its own code for long, the session's code is stopped
//!    ([`CodeMap::stop`]), and the process faults when it returns to its code.
//! 4. Faults on guests' stacks come here first: a stack opens page by page ([`crate::stack`]), and
//!    its last part is for functions of the engine alone.
//!
//! # Invariants
//! - Handlers read atomics and thread-local cells without destructors; they neither allocate nor
//!   lock. The system calls they make are mprotect(2) and nanosleep(2).
//! - A signal that is not ours is passed to the previous handler, or ignored.

use crate::codemap::CodeMap;
use crate::host::Process;
use crate::stack;
use box_abi::signal;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, Once, OnceLock};
use wasibox_kernel::HostWatch as _;
use wasibox_vfs::lock_mutex;

/// The data about a process that signal handlers need.
pub struct ProcessWatch {
    /// The signal that ends it; 0 for none.
    fatal: AtomicU8,
    /// The number of requests to end it since that signal was set.
    end_requests: AtomicU32,
    /// The threads that run it.
    threads: Mutex<Vec<libc::pthread_t>>,
    /// Whether the session's code is stopped until this process ends.
    stops: AtomicBool,
    /// Whether the memory limit ended it.
    short: AtomicBool,
    /// Bytes charged for exceptions in its store, and for each of them.
    thrown: AtomicU64,
    each: AtomicU64,
}

thread_local! {
    /// The process that this thread runs. The cell has no destructor, because handlers read it.
    static HERE: AtomicPtr<Process> = const { AtomicPtr::new(null_mut()) };
    /// The share of this thread's store in the bytes that its process is charged for exceptions.
    static THROWN_HERE: AtomicU64 = const { AtomicU64::new(0) };
}

impl ProcessWatch {
    /// Returns whether the memory limit ended it.
    pub fn is_short(&self) -> bool {
        self.short.load(Ordering::Relaxed)
    }
}

impl wasibox_kernel::HostWatch for ProcessWatch {
    fn new(_: u32) -> ProcessWatch {
        ProcessWatch {
            fatal: AtomicU8::new(0),
            end_requests: AtomicU32::new(0),
            threads: Mutex::default(),
            stops: AtomicBool::new(false),
            short: AtomicBool::new(false),
            thrown: AtomicU64::new(0),
            each: AtomicU64::new(0),
        }
    }

    fn fatal_signal(&self) -> Option<u8> {
        match self.fatal.load(Ordering::SeqCst) {
            0 => None,
            s => Some(s),
        }
    }

    fn set_fatal(&self, sig: u8) -> bool {
        self.fatal.compare_exchange(0, sig, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    fn end_requests(&self) -> u32 {
        self.end_requests.load(Ordering::Relaxed)
    }

    fn is_running(&self) -> bool {
        !lock_mutex(&self.threads).is_empty()
    }

    fn end_computation(&self) {
        self.end_requests.fetch_add(1, Ordering::Relaxed);
        for thread in lock_mutex(&self.threads).iter() {
            // JUSTIFICATION: only this call sends a signal to one thread of the process. SAFETY:
            // the thread lives: it takes its entry out, under this lock, before it ends.
            unsafe { libc::pthread_kill(*thread, libc::SIGUSR1) };
        }
    }
}

/// Registers that the calling thread runs `process`, until the value is dropped. Exceptions of its
/// program are charged with `each` bytes.
pub fn watch_process(process: &std::sync::Arc<Process>, each: u64) -> InterruptGuard<'_> {
    process.watch.each.store(each, Ordering::Relaxed);
    // JUSTIFICATION and SAFETY: the call has no preconditions.
    let me = unsafe { libc::pthread_self() };
    lock_mutex(&process.watch.threads).push(me);
    let outer = HERE.with(|h| h.swap(std::sync::Arc::as_ptr(process).cast_mut(), Ordering::SeqCst));
    debug_assert!(outer.is_null());
    InterruptGuard(process)
}

/// A guard during whose life its process may be interrupted on this thread.
pub struct InterruptGuard<'a>(&'a Process);

impl Drop for InterruptGuard<'_> {
    fn drop(&mut self) {
        HERE.with(|h| h.store(null_mut(), Ordering::SeqCst));
        // JUSTIFICATION and SAFETY: the call has no preconditions.
        let me = unsafe { libc::pthread_self() };
        lock_mutex(&self.0.watch.threads).retain(|t| *t != me);
        if self.0.watch.stops.swap(false, Ordering::SeqCst) {
            process_code(self.0).let_run();
        }
    }
}

fn process_code(process: &Process) -> &CodeMap {
    &process.kernel.host.code.map
}

fn current_process<'a>() -> Option<&'a Process> {
    let p = HERE.with(|h| h.load(Ordering::SeqCst));
    // JUSTIFICATION: a handler has no other way to the process than a pointer. SAFETY: the pointer
    // is set while `InterruptGuard` borrows the process, on this thread, and the reference is used
    // on this thread within that time only: by a handler that interrupts it.
    unsafe { p.as_ref() }
}

/// Charges the process for an exception that a guest throws or for a trap. May run in a handler.
fn on_throw() {
    let Some(process) = current_process() else { return };
    let (watch, budget) = (&process.watch, &process.kernel.budget);
    let each = watch.each.load(Ordering::Relaxed);
    if budget.take_bytes(each) {
        watch.thrown.fetch_add(each, Ordering::Relaxed);
        THROWN_HERE.with(|t| t.fetch_add(each, Ordering::Relaxed));
    } else {
        out_of_memory(process);
    }
}

/// Returns whether there were exceptions in the store of this thread.
pub fn has_thrown_here() -> bool {
    THROWN_HERE.with(|t| t.load(Ordering::Relaxed)) > 0
}

/// Gives back the memory of exceptions in this thread's store, which is gone although its process
/// continues.
pub fn forget_thrown_here(process: &Process) {
    let bytes = THROWN_HERE.with(|t| t.swap(0, Ordering::Relaxed));
    process.watch.thrown.fetch_sub(bytes, Ordering::Relaxed);
    process.kernel.budget.give_bytes(bytes);
}

/// Gives back the memory that exceptions took, because their store is gone.
pub fn forget_thrown(process: &Process) {
    process.kernel.budget.give_bytes(take_thrown(process));
}

/// Takes the bytes that exceptions took of the budget. From now on they belong to the caller, whose
/// store has the exceptions.
pub fn take_thrown(process: &Process) -> u64 {
    THROWN_HERE.with(|t| t.store(0, Ordering::Relaxed));
    process.watch.thrown.swap(0, Ordering::Relaxed)
}

/// Ends the process because of the memory limit.
fn out_of_memory(process: &Process) {
    if process.watch.set_fatal(signal::KILL) {
        process.watch.short.store(true, Ordering::Relaxed);
    }
    // If this wake-up is lost, the next exception or the waiter's timeout makes up for it.
    process.kernel.look_again();
}

// The following code runs in signal handlers.

type Handler = extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void);

/// The earlier handlers of the signals: for SIGSEGV the engine's.
static SEGV_BEFORE: OnceLock<libc::sigaction> = OnceLock::new();
static USR1_BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

/// Installs the handlers, after the engine's. Every engine is made after this.
pub fn install_handlers() {
    static DONE: Once = Once::new();
    DONE.call_once(|| {
        wasmer::sys::vm::init_traps();
        let segv = set_handler(libc::SIGSEGV, on_fault, libc::SA_NODEFER);
        let usr1 = set_handler(libc::SIGUSR1, on_interrupt, 0);
        let _ = (SEGV_BEFORE.set(segv), USR1_BEFORE.set(usr1));
        backtrace::set_hook(on_throw);
    });
}

/// Unblocks the signals in this thread, even if its creator had blocked them.
pub fn unblock_signals() {
    // JUSTIFICATION: only this call changes signal masks. SAFETY: the set is initialised by
    // sigemptyset before it is used, and lives for the calls.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR1);
        libc::sigaddset(&mut set, libc::SIGSEGV);
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, null_mut());
    }
}

fn set_handler(signal: c_int, handler: Handler, flags: c_int) -> libc::sigaction {
    // JUSTIFICATION: only this call installs handlers. SAFETY: all-zero is a valid sigaction; both
    // live for the calls. The handler does only things that are allowed in a handler, see the
    // invariants above.
    unsafe {
        let mut new: libc::sigaction = std::mem::zeroed();
        let mut old: libc::sigaction = std::mem::zeroed();
        new.sa_sigaction = handler as *const () as usize;
        // The handler runs on the stack that the engine sets up for each thread, because the
        // guest's may be full.
        new.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | flags;
        libc::sigemptyset(&mut new.sa_mask);
        libc::sigaction(signal, &new, &mut old);
        old
    }
}

/// Calls the handler that was installed before ours, if it is a function.
fn pass_on(
    before: &OnceLock<libc::sigaction>,
    signal: c_int,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
) {
    let Some(before) = before.get() else { return };
    let f = before.sa_sigaction;
    if f == libc::SIG_DFL || f == libc::SIG_IGN {
        return;
    }
    // JUSTIFICATION: the system returns handlers as numbers. SAFETY: it is the address of a handler
    // that was installed with these flags, which say which of the two forms it has; the arguments
    // are the system's own, or `interrupt_here`'s.
    unsafe {
        if before.sa_flags & libc::SA_SIGINFO != 0 {
            std::mem::transmute::<usize, Handler>(f)(signal, info, context);
        } else {
            std::mem::transmute::<usize, extern "C" fn(c_int)>(f)(signal);
        }
    }
}

/// Lets the engine abandon the guest's stack, as if an access to address 0 had failed.
fn interrupt_here(context: *mut c_void) {
    // JUSTIFICATION: a made-up siginfo is needed.
    // SAFETY: all-zero is a valid siginfo_t; its fault address is 0.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    info.si_signo = libc::SIGSEGV;
    pass_on(&SEGV_BEFORE, libc::SIGSEGV, &mut info, context);
}

/// Handles SIGUSR1: ends the process of this thread if it must end and runs its own code.
extern "C" fn on_interrupt(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    let Some(process) = current_process() else {
        return pass_on(&USR1_BEFORE, signal, info, context);
    };
    // SAFETY: the system passes the interrupted context.
    let pc = unsafe { program_counter(context) };
    if process.fatal_signal().is_some() && process_code(process).has(pc) {
        interrupt_here(context);
    }
}

/// Handles SIGSEGV: opens more of the guest's stack, handles stopped code, or leaves the fault to
/// the engine.
extern "C" fn on_fault(signal: c_int, info: *mut libc::siginfo_t, context: *mut c_void) {
    if let Some(process) = current_process() {
        // SAFETY: the system passes the fault's address and the interrupted context.
        let (address, pc) = unsafe { ((*info).si_addr() as usize, program_counter(context)) };
        let code = process_code(process);
        if pc == address && code.has(pc) {
            // The guest has returned to stopped code.
            while process.fatal_signal().is_none() {
                if !code.is_stopped() {
                    // A stop on another thread may have overtaken the last `let_run`.
                    code.enforce();
                    return;
                }
                pause_thread();
            }
        } else if let Some(fault) = stack::handle_fault(address, &process.kernel.budget) {
            match fault {
                stack::StackFault::Opened => return,
                stack::StackFault::Refused => {
                    out_of_memory(process);
                    if !code.has(pc) {
                        // The process is not ended here, but when it returns to its own code.
                        stack::open_all();
                        stop_until_end(process);
                        return;
                    }
                }
                stack::StackFault::Reserve if !code.has(pc) => {
                    // A function of the engine needs this part. The guest's stack has overflowed
                    // nevertheless.
                    process.watch.set_fatal(signal::SEGV);
                    stack::open_all();
                    stop_until_end(process);
                    return;
                }
                stack::StackFault::Reserve => {}
            }
        }
    }
    pass_on(&SEGV_BEFORE, signal, info, context);
}

/// Makes the process end when it returns to its own code.
fn stop_until_end(process: &Process) {
    if !process.watch.stops.swap(true, Ordering::SeqCst) {
        process_code(process).stop();
    }
}

fn pause_thread() {
    let t = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
    // JUSTIFICATION: rustix's form may retry and is not documented for handlers.
    // SAFETY: nanosleep reads the value only.
    unsafe { libc::nanosleep(&t, null_mut()) };
}

/// Returns the interrupted instruction.
///
/// # Safety
/// `context` must be the pointer that the system passed to a handler.
unsafe fn program_counter(context: *mut c_void) -> usize {
    // SAFETY: the caller's promise: it is a ucontext_t.
    let context = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return context.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    return context.pc as usize;
}
