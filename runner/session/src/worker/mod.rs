//! Sessions in processes: the parent's end and the worker's.
//!
//! # Stages
//! 1. A [`WorkerPool`](pool::WorkerPool) starts workers ahead of need. A warm worker has opened the
//!    image, started an engine and mapped all machine code, and knows nothing of a session.
//! 2. A session takes one. The worker builds the session's tree and mounts from the policy, closes
//!    its jail and reports which walls are in place ([`serve`]).
//! 3. For each call the parent sends the command and waits, while it watches the worker's memory
//!    and the deadline ([`link`]). The worker answers with output, with the changes to the session
//!    ([`wasibox_vfs::delta`]), and with the outcome.
//! 4. The parent keeps the changes. A worker that dies loses the running call; the next call takes
//!    another worker, which is first given the session's state. A worker serves one session and is
//!    never reused.
//!
//! # Invariants
//! - A worker never has a secret, a store or a stream of the caller: streams are pipes that the
//!   parent copies from and to ([`pump`]).
//! - Everything that a worker sends is bounded: each message by the channel, all output of a call
//!   by its limit, the state by the disk limit, lines about progress by number ([`bounds`]).
//! - The time for which the parent waits for a worker is bounded: the worker must read a message
//!   within [`PATIENCE`](wasibox_worker::channel::PATIENCE), and end a call by its deadline. A
//!   worker that fails to do so is ended by SIGKILL. No lock of the store is held meanwhile.

mod asks;
mod bounds;
pub mod check;
#[cfg(test)]
mod fuzz;
pub mod link;
pub mod message;
pub mod pool;
pub mod pump;
pub mod serve;
