//! Everything that a guest needs from the system beyond `std`: processes, pipes, descriptor
//! duplication, metadata. It is the only guest crate with FFI and `unsafe`.
//!
//! | file | contents |
//! |---|---|
//! | `process` | [`Processes`]: spawn, wait, kill, pipe, as a trait so that effects can be passed in |
//! | `wasix` | the trait over WASIX calls (module `wasix_32v1`), wasm32 only |
//! | `native` | the trait over POSIX, for running and testing the same tools on a host |
//! | `preview1` | substitutes where there is no WASIX: descriptor renumbering and spool files |
//! | `fake` | a scripted double for unit tests |
//! | `files` | [`FileSystem`]: opening, listing, removing by name, also as a trait |
//! | `meta` | mode bits, owners, links, times; by a device node, `std` or a fallback |
//! | `names` | user and group names |
//! | `events` | caught signals, interruptible waits, CPU times |
//! | `net` | connections on the loopback |
//! | `errno` | error texts as `strerror(3)` gives them |
//! | `empty_path` | the empty path reaches the kernel as it is, wasm32 only |
//! | `heap` | where the allocator gets memory from, wasm32 only |
//! | `path` | byte strings to paths and back, their parts |
//! | `stdio` | ownership of descriptors 0, 1, 2 and of those inherited from a parent shell |
//!
//! # Invariants
//! - No other guest crate names an extern function or uses `unsafe`.
//! - A spawned process sees exactly the descriptors listed in its [`SpawnSpec`]: the backend
//!   closes all others, so that a pipe's reader sees end of file when its writers end.
//! - Nothing here reads or changes the process's working directory except [`initial_cwd`]
//!   and [`enter_cwd`], which only `main` calls.

#[cfg(all(target_os = "wasi", feature = "empty-path"))]
mod empty_path;
pub mod errno;
pub mod events;
pub mod fake;
mod files;
#[cfg(target_os = "wasi")]
mod heap;
pub mod lock;
pub mod meta;
mod names;
pub mod net;
pub mod path;
pub mod preview1;
mod process;
mod stdio;
pub mod terminal;

#[cfg(unix)]
#[path = "native.rs"]
mod backend;
#[cfg(target_os = "wasi")]
#[path = "wasix.rs"]
mod backend;

pub use backend::{Os, enter_cwd, initial_cwd};
pub use box_abi::{
    FileKind, PIPE_CAPACITY, PIPE_DIR, PROCESSES, PROGRAM_VARIABLE, SOCKETS, SYSTEM, Stat,
    TASK_VARIABLE, UMASK_VARIABLE, Uname,
};
pub use box_abi::{http, kv, session, tools};
pub use errno::error_text;
pub use files::{FileSystem, FolderItem};
pub use names::AccountNames;
pub use process::{ChildChange, NewGroup, Pid, Processes, SpawnSpec, WaitStatus, signal};
pub use stdio::{
    INHERITED_FDS, InheritedDescriptors, ignore_empty_locale_variables, is_terminal,
    take_inherited, terminal_size,
};

/// Returns the size in bytes of the stack that the engine keeps for a process, measured in frames
/// of optimised code; `None` if the host does not report it.
pub fn engine_stack() -> Option<usize> {
    std::fs::read_to_string(box_abi::STACK).ok()?.parse().ok()
}
