//! Runs an image's programs in a sandbox.
//!
//! # Stages
//! 1. A [`Policy`] says what the guest may have; [`Policy::default`] grants nothing.
//! 2. [`SessionSandbox::new`] builds the session's file system from the image and the policy's
//!    mounts, and an engine with the policy's memory limit. No program is loaded yet.
//! 3. [`SessionSandbox::run`] starts a command. Its program's machine code comes from the artifact
//!    store ([`artifact`]), compiled there if this is the first time on this machine. The command
//!    and everything that it spawns run under the kernel (`wasibox_kernel`).
//! 4. The run ends when the first process ends, or when a limit ends it; every other process is
//!    ended with it. [`RunResult`] is the result.
//!
//! # Prepared memories
//! A program that takes long to begin may export a function that prepares its memory, and one that
//! continues from there (`snapshot`). Its memory is prepared once per machine.
//!
//! # Cells
//! A program may also export a function that runs a piece of code and returns with an empty stack:
//! an interpreter that stays ([`SessionSandbox::cell`]). Between two calls it is memory, globals
//! and descriptors, which can be stored and restored, here or elsewhere.
//!
//! # The kernel
//! WASI preview 1 and the calls of WASIX that a shell needs are implemented by `wasibox_kernel`,
//! whose host is this crate (`host`), with plain host functions of the engine, not with the
//! `wasmer-wasix` crate. The reasons are properties of wasmer-wasix 0.705: its descriptors share
//! one cached handle per *path* (two opens of one device are one object, a file that is unlinked
//! and created again keeps the old file's size), names must be UTF-8, its pipes are unbounded,
//! guest input reaches `unimplemented!` and `assert!`, and exec of an image hashes it again.
//! Measured with the same small guest, here and there: spawn and join 0.07 ms and 0.33 to 0.5 ms,
//! 500 MB through a pipeline of three 0.34 s and 1.2 s, creating a file 4 us and 36 us; `echo` as a
//! whole process takes 4 ms here. The imports and their layout are WASIX's, so the same modules run
//! under Wasmer too.
//!
//! # Invariants
//! - This is the only crate that names the engine's types, and the only host crate with `unsafe`.
//! - Each guest process has its own memory while it lives, and each of its threads has a thread of
//!   the host and a store. Only one thread of a process runs guest code at a time
//!   (`wasibox_kernel`). All memories of a run, and all other memory that it makes the host keep,
//!   share one budget (`memory`, `stack`). Thread, store and memory may serve another process of
//!   the same program later, after a reset.
//! - A guest is ended between two instructions of its own code, never within a function of the
//!   engine or of the host (`interrupt`); the interrupt is repeated until the process has ended.
//! - A guest that waits is a parked thread, which a kill wakes.
//! - A trap ends only its process, with the signal that a native program would get.

pub mod artifact;
mod cell;
mod codemap;
mod compile;
mod detached;
mod engine;
pub mod expose;
pub mod fork;
pub mod heap;
mod hidden;
mod host;
mod host_tools;
mod interrupt;
pub mod key;
mod linear;
mod loaded;
mod memory;
mod missing;
pub mod outcome;
pub mod policy;
mod programs;
pub mod relay;
mod sandbox;
pub mod schedule;
pub mod screen;
mod snapshot;
mod stack;
pub mod streams;
mod template;
pub mod terminal;
pub mod track;
mod trusted;
pub mod watchdog;

pub use cell::{CellAnswer, CellChange, CellError, CellRun, MAX_CELLS};
pub use detached::{ProcessSignals, TerminalRun};
pub use host_tools::HostToolPolicy;
pub use outcome::{LimitHit, ProcessStatus, RunResult};
pub use policy::{
    GrowthLimits, Limits, NetworkLimits, NetworkPolicy, Policy, Workspace, WorkspaceKind,
};
pub use programs::{ProgramError, compile_all, compile_program};
pub use sandbox::{
    PreparedImage, RunSpec, SandboxError, SandboxInterrupt, SessionSandbox, image_files,
    protected_paths,
};
pub use wasibox_kernel::{PlacedExec, command_text, value};
pub use wasibox_vfs::{
    ChangeKind, DiskLimits, MountError, MountSpec, StdStream, TreeChange, TreeChanges,
};
