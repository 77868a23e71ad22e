//! The kernel as a WebAssembly module: the same processes, files and system calls as natively, in a
//! page or in Node.
//!
//! # How it runs
//! There is one instance per worker, and all share one memory, as threads of wasm32-wasip1-threads
//! do. A guest is an instance with its own memory in the worker of its process; its imports are
//! this module's exports. Everything that only JavaScript can do is imported in `ffi` and
//! implemented by `sdk/web`.
//!
//! ```text
//!  page:    makes all workers, hears of threads that begin, of output, of guests to be ended
//!  worker:  kernel thread -> host.run -> guest._start -> kernel exports -> host.guest_read ...
//! ```
//!
//! # Ends
//! A guest that exits, is killed or replaced during a call is ended by a trap in the kernel's
//! export, because guests can catch a JavaScript exception but not a trap. All values of the call
//! were dropped before (`calls`). A guest that computes is ended from outside (`slots`): its worker
//! is terminated while it runs guest code, when it holds none of the kernel's locks, and another
//! worker reports its end.
//!
//! # Deliberately absent, so far
//! Threads of guests (`thread_spawn_v2` answers ENOTSUP), mounts of a host.
#![cfg(target_family = "wasm")]
#![deny(unsafe_code)]

mod calls;
mod cell;
mod changes;
#[allow(unsafe_code)] // imports, exports, memory shared with JavaScript
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
mod terminal;
mod thread;

use wasibox_vfs::lock_mutex;
