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

pub use call::{CallOptions, Chunk, run, told};
pub use engine::{OpenMode, Opener, engine, fork};
pub use failure::{SdkFailure, SdkFailureKind};
pub use files::{export_file, read_file, request, write_file};
pub use past::{head, history, log, tags};
pub use policy::policy;
pub use threads::spawn;
pub use tools::{async_tool, tool};
pub use wasibox;
