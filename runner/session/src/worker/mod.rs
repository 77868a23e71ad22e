//! Sessions by process: the parent's half and the worker's.
//!
//! # Stages
//! 1. A [`Pool`](pool::Pool) starts workers ahead of need. A warm worker has the image open, an engine and
//!    all machine code mapped, and nothing of a session.
//! 2. A session takes one. The worker builds the session's tree and mounts from the policy, closes
//!    its jail and says which walls stand ([`serve`]).
//! 3. For each call the parent sends the command and waits, with an eye on the worker's memory
//!    and the deadline ([`link`]). The worker answers with output, with what has changed in the
//!    session ([`wasibox_vfs::delta`]), and with the outcome.
//! 4. What has changed is kept by the parent. A worker that dies loses the call that runs; the next
//!    call takes another worker, which is given the session's state first. A worker serves one session
//!    and is never used for another.
//!
//! # Invariants
//! - No secret, store or stream of the caller's is in a worker: streams are pipes that the
//!   parent copies from and to ([`pump`]).
//! - What a worker sends is bounded: each message by the channel, all output of a call by its
//!   limit, the state by the disk limit, lines about progress by number.

mod asks;
pub mod link;
pub mod message;
pub mod pool;
pub mod pump;
pub mod serve;
