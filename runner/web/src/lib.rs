//! The kernel as a module: the same processes, files and system calls as natively, in a page or in Node.
//!
//! # How it runs
//! One instance per worker, all on one shared memory: that is what threads of wasm32-wasip1-threads are. A guest is an
//! instance with a memory of its own in the worker of its process; its imports are this module's exports. Whatever
//! only JavaScript can do comes in by the imports of `ffi`, which `sdk/web` implements.
//!
//! ```text
//!  page:    makes all workers, hears of threads that begin, of output, of guests to be ended
//!  worker:  kernel thread -> host.run -> guest._start -> kernel exports -> host.guest_read ...
//! ```
//!
//! # Ends
//! A guest that exits, is killed or replaced within a call ends by a trap of the kernel's export: guests can catch what
//! JavaScript throws, but no trap. Before it, everything of the call was dropped (`calls`). One that computes is
//! ended from outside (`slots`): its worker is terminated while it runs guest code, when it has nothing of the kernel
//! locked, and another worker tells its end.
//!
//! # Deliberately absent, so far
//! Threads of guests (`thread_spawn_v2` answers ENOTSUP), mounts of a host.
#![cfg(target_family = "wasm")]
#![deny(unsafe_code)]

mod calls;
mod cell;
mod changes;
#[allow(unsafe_code)] // imports, exports, memory that crosses
mod ffi;
mod files;
#[allow(unsafe_code)] // the allocator
mod heap;
mod history;
mod host;
mod journal;
mod memory;
mod outcome;
mod park;
mod parts;
mod past;
mod prepare;
mod requests;
mod session;
mod slots;
mod streams;
mod thread;

use std::sync::{Mutex, MutexGuard};

/// Locks; a panic ends the module, so that no lock is ever poisoned.
fn lock_mutex<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
