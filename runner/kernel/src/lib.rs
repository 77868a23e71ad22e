//! The kernel: processes, descriptors and system calls of a run's guests.
//!
//! It implements WASI preview 1, and those calls of WASIX that a shell needs, over the session's
//! file system (`wasibox_vfs`). A [`Host`] runs the guests' code: the kernel knows neither an
//! engine nor an operating system, has no `unsafe`, and builds for Linux and for
//! wasm32-wasip1-threads.
//!
//! | file | content |
//! |---|---|
//! | `host` | the interface to the host |
//! | `memory` | a guest's memory, as calls see it |
//! | `job` | the jobs that a host runs, and their ends |
//! | `table` | the process table: starting, ending, waiting, signals |
//! | `groups` | process groups, sessions, the list of processes |
//! | `process` | one process: arguments, descriptors, directory, pending signals |
//! | `descriptors` | open file descriptions and the table of numbers |
//! | `files` | the files that a session begins with |
//! | `cells` | processes that stay between two cells |
//! | `parked`, `layer` | such processes as bytes: their state and their memory |
//! | `threads` | the threads of a process: which one runs, which ones wait |
//! | `second` | the beginning of threads other than the first |
//! | `guest` | the steps before and after every call |
//! | `calls` | the table of calls by name |
//! | `border` | the types of a call's arguments: descriptors, strings, flags |
//! | `call_fd`, `call_path`, `call_poll`, `call_misc` | WASI preview 1 |
//! | `locks` | locks of files: `flock`, and record locks of `fcntl` |
//! | `timer` | the interval timer of a process |
//! | `call_proc` | WASIX: spawn, wait, signal, pipe, dup, directory |
//! | `call_sock` | sockets of the session's own loopback |
//! | `call_terminal`, `terminals` | terminals: waiting, job control, requests; groups, stopping |
//! | `call_thread` | WASIX: threads, futexes |
//! | `background` | processes that continue from run to run |
//! | `arguments`, `search` | a program's strings, and the search for its file |
//! | `limits`, `outcome` | the limits of a run, and the ends of processes |
//!
//! Blocking calls all have one shape: register the thread with the object that can change, try, and
//! park. A kill or a signal unparks the thread, which tries again. The process's other threads run
//! meanwhile ([`Process::park_thread`], [`Process::wait_for`]); guest memory is only seen within
//! closures that do not wait ([`CallMemory`]).
#![forbid(unsafe_code)]

mod arguments;
mod background;
pub mod border;
pub mod call_fd;
pub mod call_misc;
pub mod call_path;
pub mod call_poll;
pub mod call_proc;
pub mod call_sock;
mod call_terminal;
pub mod call_thread;
mod calls;
mod cells;
mod descriptors;
mod files;
mod groups;
mod guest;
mod host;
mod job;
pub mod layer;
mod limits;
mod locks;
mod memory;
mod outcome;
pub mod parked;
mod placed;
mod proc_files;
mod process;
mod search;
mod second;
mod table;
mod terminals;
mod threads;
pub mod timer;
pub mod value;

pub use background::Background;
pub use calls::CALLS;
pub use cells::{BEGIN, CellOrigin, CellRemains, CellStart, FORK, GO_ON, can_be_named};
pub use descriptors::{Descriptor, Descriptors, OpenDescription, ROOT_FD};
pub use files::image_files;
pub use guest::{GuestCall, Halt, MAX_MOVED, PART, Sys, enter_call};
pub use host::{Guest, Host, HostWatch};
pub use job::{EntryPoint, ProcessJob, ProgramEnd, ThreadJob, ThreadTask, complain_to_process};
pub use limits::Limits;
pub use memory::CallMemory;
pub use outcome::{LimitHit, ProcessStatus, limit_of_quota};
pub use placed::{PlacedExec, command_text};
pub use proc_files::show_proc;
pub use process::{CpuUsage, Cwd, MAX_HANDLERS, Process, ProcessBirth, ProcessStart};
pub use search::{ProgramMatch, find_program};
pub use table::{ChildStart, FIRST_PID, Kernel, PROCESS_COST, RunEnd, SNAPSHOT_SHARE, SpawnError};
pub use threads::{LOCALS, Threads, current_thread};

use wasibox_vfs::lock_mutex;
