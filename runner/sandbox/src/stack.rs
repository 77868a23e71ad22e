//! The stacks on which guests' compiled code runs. Their parts are opened and charged as they are
//! used.
//!
//! The engine gives each running call a stack of the policy's size and keeps it for later calls of
//! the same thread. A guest could touch all of it without being charged: 16 MiB for each of 128
//! processes. So a thread that is to run a guest closes most of its stack; parts that are opened
//! again, in a fault handler, are charged to the session's budget first.
//!
//! ```text
//! low       low + RESERVE                 open              top
//!  |  closed: |  closed: opened in steps    |  accessible     |
//!  |  for the |  of STEP, charged           |  FIRST of it    |
//!  |  engine  |                             |  from the start |
//! ```
//!
//! Functions of the engine that compiled code calls run on this stack, too, and hold the
//! allocator's lock at times: the stack must not end within such a function. So its lowest part is
//! reserved for them. A process whose guest code gets there has a stack overflow; a process whose
//! calls of the engine get there ends once these have returned (`interrupt`).
//!
//! # Invariants
//! - [`handle_fault`] and [`open_all`] run in signal handlers: cells without destructors, atomics
//!   and mprotect(2) only.
//! - A stack with closed parts is used by its own thread only: before another thread can get it,
//!   even a thread of the embedder, it is as the engine made it ([`release_stack`]).

use std::cell::Cell;
use std::sync::Arc;
use wasibox_vfs::{Budget, Reservation};
use wasmer::sys::vm::{VMConfig, catch_traps, drain_stack_pool};

/// Bytes that are accessible from the start, and charged as a part of each process's needs.
pub const FIRST: usize = 256 << 10;
/// Bytes that are opened at a time.
const STEP: usize = 256 << 10;
/// Bytes for the engine's functions. The most demanding operation, throwing through compiled
/// frames, needs less than 16 KiB.
const RESERVE: usize = 128 << 10;
/// The smallest stack that is given.
pub const LEAST: usize = 1 << 20;
/// The maximum number of nested calls into the guest on a thread: a process and its signal
/// handlers.
const CALLS: usize = 1 + wasibox_kernel::MAX_HANDLERS;

#[derive(Clone, Copy)]
struct Stack {
    low: usize,
    /// The lowest accessible address; everything from here to `top` is accessible.
    open: usize,
    top: usize,
    charged: u64,
}

const NONE: Stack = Stack { low: 0, open: 0, top: 0, charged: 0 };

thread_local! {
    static STACKS: [Cell<Stack>; CALLS] = const { [const { Cell::new(NONE) }; CALLS] };
}

/// The meaning of a fault on a stack.
pub enum StackFault {
    /// The guest may continue.
    Opened,
    /// The budget has no room.
    Refused,
    /// The fault is in the part for the engine.
    Reserve,
}

/// Prepares the stack on which this thread will run guests, unless that has been done. `size` is
/// the stack size of the engine's configuration.
pub fn prepare_stack(size: usize) {
    STACKS.with(|s| {
        if s[0].get().top == 0 {
            s[0].set(close_most(size));
        }
    });
}

/// Prepares another stack, for a call into the guest within a call from the guest; `None` if there
/// are too many.
pub fn nested_stack(budget: &Arc<Budget>, size: usize) -> Option<StackGuard> {
    let level = STACKS.with(|s| s.iter().position(|s| s.get().top == 0))?;
    let held = budget.reserve_bytes(FIRST as u64)?;
    STACKS.with(|s| s[level].set(close_most(size)));
    Some(StackGuard { level, held, budget: budget.clone() })
}

/// A guard during whose life the engine uses a prepared stack.
pub struct StackGuard {
    level: usize,
    #[expect(dead_code, reason = "gives back when dropped")]
    held: Reservation,
    budget: Arc<Budget>,
}

impl Drop for StackGuard {
    fn drop(&mut self) {
        give_back(self.level, &self.budget);
    }
}

/// Finds the stack that the engine will use for this thread's next call, and closes most of it.
fn close_most(size: usize) -> Stack {
    let page = rustix::param::page_size();
    let size = size.max(LEAST).next_multiple_of(page);
    let config = VMConfig { wasm_stack_size: Some(size) };
    let probe = || {
        let here = 0u8;
        std::hint::black_box(&here) as *const u8 as usize
    };
    // JUSTIFICATION: the engine does not report where its stacks are. It keeps a thread's last one
    // for the thread's next call, so a call that asks for the address of a local finds it. SAFETY:
    // the closure has nothing to drop and does not trap.
    let Ok(within) = (unsafe { catch_traps(None, &config, probe) }) else { return NONE };
    // The closure's frames take less than a page, so this is where the stack begins; if they ever
    // took more, `low` would still lie above the guard page.
    let top = within.next_multiple_of(page);
    let low = top - size + page;
    let stack = Stack { low, open: top - FIRST, top, charged: 0 };
    if protect_pages(low, stack.open, false) && protect_pages(stack.open, top, true) {
        stack
    } else {
        NONE
    }
}

fn protect_pages(from: usize, to: usize, open: bool) -> bool {
    let access = if open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
    // JUSTIFICATION: only the system changes the protection of pages; this may run in a signal
    // handler. SAFETY: the range lies within a stack of this thread, above its guard page. The
    // closed part is not in use: it lies below all frames.
    unsafe { libc::mprotect(from as *mut _, to - from, access) == 0 }
}

/// Checks whether `address` is a closed part of a stack of this thread, and opens it if the budget
/// has room. Called in a signal handler.
pub fn handle_fault(address: usize, budget: &Budget) -> Option<StackFault> {
    STACKS.with(|s| {
        let cell = s.iter().find(|s| (s.get().low..s.get().open).contains(&address))?;
        let mut stack = cell.get();
        let floor = stack.low + RESERVE;
        if address < floor {
            return Some(StackFault::Reserve);
        }
        let to = (address / STEP * STEP).max(floor);
        let bytes = (stack.open - to) as u64;
        if !budget.take_bytes(bytes) {
            return Some(StackFault::Refused);
        }
        stack.charged += bytes;
        if !protect_pages(to, stack.open, true) {
            budget.give_bytes(bytes);
            return Some(StackFault::Refused);
        }
        stack.open = to;
        cell.set(stack);
        Some(StackFault::Opened)
    })
}

/// Opens the whole stack, for a process that ends as soon as a function of the engine has returned.
/// Called in a signal handler.
pub fn open_all() {
    STACKS.with(|s| {
        for cell in s {
            let mut stack = cell.get();
            if stack.low < stack.open && protect_pages(stack.low, stack.open, true) {
                stack.open = stack.low;
                cell.set(stack);
            }
        }
    });
}

/// Gives back the parts that a process has opened. Its thread may then run another process.
pub fn close_stack(budget: &Budget) {
    STACKS.with(|s| s[0].set(closed_stack(s[0].get(), budget)));
}

/// Returns the stack with only its first part open.
fn closed_stack(mut stack: Stack, budget: &Budget) -> Stack {
    let first = stack.top - FIRST.min(stack.top);
    if stack.open < first {
        // JUSTIFICATION: only the system can drop pages.
        // SAFETY: the range lies within this thread's stack and below all frames: no guest
        // runs. A later touch finds zeros.
        unsafe { libc::madvise(stack.open as *mut _, first - stack.open, libc::MADV_DONTNEED) };
        protect_pages(stack.open, first, false);
        budget.give_bytes(std::mem::take(&mut stack.charged));
        stack.open = first;
    }
    stack
}

/// Restores a stack to the state in which the engine made it, with the opened parts dropped.
fn give_back(level: usize, budget: &Budget) {
    let stack = closed_stack(STACKS.with(|s| s[level].replace(NONE)), budget);
    if stack.low < stack.open {
        protect_pages(stack.low, stack.open, true);
    }
}

/// Restores the stack of a thread that runs no more guests. Must be called because other threads
/// will get the stack.
pub fn release_stack(budget: &Budget) {
    give_back(0, budget);
}

/// Unmaps the stacks that no thread has at present, because the engine would keep them for ever.
/// Called after each run. (Called after each process, it slowed down a start of Python by a tenth,
/// which is 0.5 ms.)
pub fn drop_unused() {
    drain_stack_pool();
}
