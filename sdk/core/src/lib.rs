//! What packages for other languages share: the crate `wasibox` behind calls that take and give texts of JSON, bytes
//! and numbers, so that each language has the same words and the same mistakes.
//!
//! | what | file |
//! |---|---|
//! | why something was not done, with a kind that becomes an exception's class | `failure` |
//! | an engine of its options | `engine` |
//! | a policy of what a program says, and of a policy file | `policy` |
//! | a call: its options, its streams as they come | `call` |
//! | whole files, requests about files | `files` |
//! | a session's past, its log | `past` |
//! | functions of the program's that guests may call | `tools` |
//! | threads on which calls wait | `threads` |
//!
//! # Deliberately absent
//! Anything that knows of a language's objects or loops.
#![forbid(unsafe_code)]

mod call;
mod engine;
mod failure;
mod files;
mod past;
mod policy;
mod threads;
mod tools;

pub use call::{CallOptions, Chunk, outcome_parts, run};
pub use engine::{OpenMode, Opener, engine_from_options, fork_session};
pub use failure::{SdkFailure, SdkFailureKind};
pub use files::{export_file, read_file, run_request, write_file};
pub use past::{head_number, session_history, session_log, session_tags};
pub use policy::policy_from;
pub use threads::spawn_job;
pub use tools::{async_tool, host_tool};
pub use wasibox;
