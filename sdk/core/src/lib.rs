//! The common core of the packages for other languages. It offers the crate `wasibox` by functions
//! that take and return JSON texts, bytes and numbers, so all languages have the same terms and the
//! same errors.
//!
//! | topic | file |
//! |---|---|
//! | engines and sessions from options | `engine` |
//! | a policy from data and from a policy file | `policy` |
//! | a call: its options, and its output as it is written | `call` |
//! | whole files, snapshots and file requests | `files` |
//! | a session's history and log | `past` |
//! | the program's functions that guests may call | `tools` |
//! | threads on which calls block | `threads` |
//!
//! # Deliberately absent
//! Code that depends on a language's objects or event loop.
#![forbid(unsafe_code)]

mod call;
mod engine;
mod files;
mod past;
mod policy;
mod threads;
mod tools;

pub use call::{Chunk, outcome_parts, parse_call, run};
pub use engine::{OpenMode, Opener, engine_from_options, fork_session};
pub use files::{export_file, read_file, run_request, write_file};
pub use past::{head_number, session_history, session_log, session_tags};
pub use policy::policy_from;
pub use threads::spawn_job;
pub use tools::{async_tool, host_tool};
pub use wasibox;
pub use wasibox::lock_mutex;
pub use wasibox::{Refusal, RefusalKind};
