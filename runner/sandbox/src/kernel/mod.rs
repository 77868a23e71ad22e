//! Processes, descriptors and system calls for a run's guests.
//!
//! | file | what |
//! |---|---|
//! | `table` | the process table: starting, ending, waiting, signals |
//! | `groups` | process groups, sessions, the list of processes |
//! | `process` | one process: arguments, descriptors, directory, pending signals |
//! | `descriptors` | open file descriptions and the table of numbers |
//! | `thread` | the threads that run processes, and those that wait for the next one |
//! | `cells` | processes that stay between two cells |
//! | `threads` | the threads of a process: who may run, who waits |
//! | `second` | the host's threads that run them |
//! | `instance` | a program ready to run: made, run, put back to its beginning |
//! | `guest` | guest memory, and what surrounds every call |
//! | `link` | the imports by name |
//! | `call_fd`, `call_path`, `call_poll`, `call_misc` | WASI preview 1 |
//! | `call_proc` | WASIX: spawn, wait, signal, pipe, dup, directory |
//! | `call_sock` | sockets of the session's own loopback |
//! | `call_thread` | WASIX: threads, futexes |
//! | `background` | processes that go on from run to run |
//! | `arguments`, `search` | what a program begins with, and where it is found |
//!
//! Blocking calls all have one shape: register the thread with what can change, try,
//! and park. A kill or a signal unparks the thread, which looks again. The process's other threads run
//! meanwhile ([`Process::park`], [`Process::wait_for`]); so no slice of guest memory is kept over a wait.

mod arguments;
mod background;
mod call_fd;
mod call_misc;
mod call_path;
mod call_poll;
mod call_proc;
mod call_sock;
mod call_thread;
mod cells;
mod descriptors;
mod groups;
mod guest;
mod instance;
mod link;
mod process;
mod search;
mod second;
mod stopped;
mod table;
mod thread;
mod threads;

pub use background::Background;
pub use cells::{Before, CellStart, Left};
pub use descriptors::{Descriptor, Descriptors, OpenFile, ROOT_FD};
pub use instance::{Globals, Ready};
pub use link::CALLS;
pub use process::{Cpu, Cwd, MAX_HANDLERS, Process, Start};
pub use search::find_program;
pub use table::{FIRST_PID, Kernel, SNAPSHOT_SHARE, SpawnError};
pub use thread::Idle;
