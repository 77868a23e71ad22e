//! The second wall: a process that gives up every privilege it does not need, and its communication
//! with its parent.
//!
//! The sandbox is the first wall: a guest is WebAssembly and sees the host only through the
//! sandbox's system calls. A fault in those, or in the engine, would compromise the process that
//! contains them. So a session runs in a *worker*, a process of its own, which closes its [`jail`]
//! before the first instruction of a guest. A guest that has broken out of the first wall can then
//! reach only its own session.
//!
//! | module | contents |
//! |---|---|
//! | [`jail`] | no new privileges, Landlock, limits, the order of closing |
//! | [`privileges`] | giving up capabilities and root |
//! | [`descriptors`] | the check of what is still open |
//! | [`filter`] | the allowed system calls, by seccomp |
//! | [`cgroup`] | limits on memory and processes by the host's kernel, where it permits them |
//! | [`channel`] | typed messages and descriptors over a socket pair |
//! | [`child`] | starting, watching and ending the worker |
//!
//! # Invariants
//! - The jail closes while the process has one thread, because Landlock binds the calling thread
//!   and the threads it starts.
//! - A wall that the host does not support is reported in [`jail::Walls`], never ignored.
//! - A copy of a worker has no descriptor of the worker that it was copied from: the list of open
//!   descriptors is checked before the jail closes.
//! - A worker's messages are hostile: lengths are checked before memory is allocated for them.
//! - A pair of sockets is bound to one process: the kernel names the sender of each message, and
//!   the parent accepts no other.
//! - A worker that does not read a message in time is lost; the parent never waits for ever.
//!
//! # Deliberately absent
//! - Namespaces for users, mounts, processes and networks; [`privileges`] says why. Those for the
//!   host's name, queues and control groups are made where the host allows it.
//! - `PR_SET_MDWE` (prctl(2)), because interrupts switch machine code between executable and not
//!   executable in place, which it forbids. The filter of system calls keeps all other memory from
//!   becoming executable.
#![forbid(unsafe_code)]

pub mod cgroup;
pub mod channel;
pub mod child;
pub mod descriptors;
pub mod filter;
pub mod jail;
pub mod privileges;
