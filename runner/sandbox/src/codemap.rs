//! The addresses of a session's machine code, and a way to stop all of it at once.
//!
//! Guests may be ended between two instructions of their own code only: within the engine's
//! functions that such code calls, the allocator's lock or the unwinder's state may be held
//! (`interrupt`). So a signal handler asks here whether the interrupted instruction is a guest's.
//!
//! Code that spends all its time in one long function of the engine (`memory.fill` over gigabytes)
//! would hardly ever be interrupted in its own code. For this case, all code of the session can be
//! *stopped*: it is made not executable, and a thread that returns to it faults there. A process
//! that must end then ends; the others wait in the handler until the code runs again.
//!
//! # Invariants
//! - Handlers call [`CodeMap::has`], [`CodeMap::stop`] and [`CodeMap::let_run`]: these neither
//!   allocate nor lock.
//! - The code stays readable while it is stopped: the unwinder may read it.

use std::sync::atomic::{AtomicUsize, Ordering};
use wasmer::Module;

/// The code of each program of a session.
pub struct CodeMap {
    programs: Box<[CodeRange]>,
    /// The number of stops in effect.
    stops: AtomicUsize,
    page: usize,
}

/// Functions of a module: empty until it is loaded, then the same until its code is unmapped.
struct CodeRange {
    start: AtomicUsize,
    end: AtomicUsize,
}

impl CodeRange {
    fn get(&self) -> (usize, usize) {
        let start = self.start.load(Ordering::Acquire);
        (start, self.end.load(Ordering::Relaxed))
    }
}

impl CodeMap {
    /// Creates a map for `programs` programs, none of which is loaded yet.
    pub fn new(programs: usize) -> CodeMap {
        let empty = || CodeRange { start: AtomicUsize::new(usize::MAX), end: AtomicUsize::new(0) };
        CodeMap {
            programs: (0..programs).map(|_| empty()).collect(),
            stops: AtomicUsize::new(0),
            page: rustix::param::page_size(),
        }
    }

    /// Adds a loaded module. The addresses come from the engine's list of the module's functions.
    /// The mappings of the process would show them, too, but reading them takes longer the more
    /// sessions there are.
    pub fn add(&self, program: usize, module: &Module) {
        let (Some(range), Some(artifact)) = (self.programs.get(program), module.sys_artifact())
        else {
            return;
        };
        let functions = artifact.finished_functions().values().map(|f| f.0 as usize);
        let calls = artifact.finished_function_call_trampolines().values();
        let calls = calls.map(|t| *t as *const () as usize).max().unwrap_or(0);
        let Some((first, last)) = functions.fold(None, |r: Option<(usize, usize)>, f| match r {
            Some((a, b)) => Some((a.min(f), b.max(f))),
            None => Some((f, f)),
        }) else {
            return;
        };
        let end = if calls > last {
            calls
        } else {
            let sizes = artifact.finished_function_extents().unwrap_or_default();
            sizes.iter().map(|(_, e)| e.ptr.0 as usize + e.length).max().unwrap_or(last)
        };
        range.end.store(end, Ordering::Relaxed);
        range.start.store(first, Ordering::Release);
    }

    /// Forgets everything, because the code is about to be unmapped.
    pub fn clear(&self) {
        for r in &self.programs {
            r.start.store(usize::MAX, Ordering::Release);
            r.end.store(0, Ordering::Relaxed);
        }
    }

    /// Returns whether an address lies in the code of a guest.
    pub fn has(&self, address: usize) -> bool {
        self.programs.iter().any(|r| {
            let (start, end) = r.get();
            (start..end).contains(&address)
        })
    }

    /// Stops all code until [`CodeMap::let_run`] has been called as often as this function. A
    /// caller that waits for the effect must call it repeatedly, because a concurrent `let_run` may
    /// overtake it.
    pub fn stop(&self) {
        self.stops.fetch_add(1, Ordering::SeqCst);
        self.enforce();
    }

    /// Undoes one call of [`CodeMap::stop`].
    pub fn let_run(&self) {
        if self.stops.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.enforce();
        }
    }

    /// Returns whether the code is stopped.
    pub fn is_stopped(&self) -> bool {
        self.stops.load(Ordering::SeqCst) > 0
    }

    /// Returns the pages of the code loaded so far: from an address to before another one.
    pub fn pages(&self) -> Vec<(usize, usize)> {
        self.ranges().collect()
    }

    fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        let loaded = self.programs.iter().map(CodeRange::get).filter(|(start, end)| start < end);
        loaded.map(|(start, end)| (start / self.page * self.page, end.next_multiple_of(self.page)))
    }

    /// Sets the protection of the pages: executable unless the code is stopped.
    pub fn enforce(&self) {
        let run = if self.is_stopped() { 0 } else { libc::PROT_EXEC };
        for (from, to) in self.ranges() {
            let length = to - from;
            // JUSTIFICATION: only the system changes the protection of pages, and rustix's form of
            // the call has checks that may not be allowed in a signal handler, where this may run.
            // SAFETY: the pages hold code of this session's modules, which the engine mapped as
            // readable and executable and keeps while they are listed here. They never become
            // writable. A thread that executes them meanwhile faults and is handled in `interrupt`.
            unsafe { libc::mprotect(from as *mut _, length, libc::PROT_READ | run) };
        }
    }
}
