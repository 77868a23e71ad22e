//! The common core of the packages for other languages. It offers the crate `wasibox` by functions
//! that take and return JSON texts, bytes and numbers, so all languages have the same terms and the
//! same errors.
//!
//! | topic | file |
//! |---|---|
//! | an engine from options | `engine` |
//! | a policy from data, and from a policy file | `policy` |
//! | a call: its options, its streams as they are written | `call` |
//! | requests as JSON, whole files | `files` |
//! | a session's log | `past` |
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
pub use engine::{OpenMode, Opener, engine_from_options, fork_session, fork_sessions};
pub use files::{apply_request, apply_until, export_file, expose_port, read_file, write_file};
pub use past::session_log;
pub use policy::policy_from;
pub use threads::spawn_job;
pub use tools::{async_tool, host_tool};
pub use wasibox;
pub use wasibox::lock_mutex;
pub use wasibox::{Refusal, RefusalKind};
