//! The second wall: a process that gives up all it does not need, and how its parent speaks to it.
//!
//! The sandbox is the first wall: a guest is WebAssembly and sees the host only through our
//! system calls. A fault in those, or in the engine, would be a fault in the process that has
//! them. So a session runs in a *worker*, a process of its own, and before the first instruction
//! of a guest the worker closes its [`jail`]: what is left to a guest that has broken out of
//! the first wall is its own session.
//!
//! | module | what |
//! |---|---|
//! | [`jail`] | no new privileges, Landlock, limits, the order of closing |
//! | [`filter`] | which system calls are left, by seccomp |
//! | [`cgroup`] | memory and processes bounded by the host's kernel, where it lets us |
//! | [`channel`] | typed messages and descriptors over a socket pair |
//! | [`child`] | starting, watching and ending the worker |
//!
//! # Invariants
//! - The jail closes while the process has one thread: Landlock binds the calling thread and what
//!   it starts.
//! - A wall that the host does not have is reported in [`jail::Walls`], never passed over.
//! - What a worker sends is hostile: lengths are checked before memory is taken for them.
//!
//! # Deliberately absent
//! Name spaces (user, mount, network): many hosts forbid them to unprivileged processes, and
//! without file system, sockets and exec there is nothing they would hide.
#![forbid(unsafe_code)]

pub mod cgroup;
pub mod channel;
pub mod child;
pub mod filter;
pub mod jail;
