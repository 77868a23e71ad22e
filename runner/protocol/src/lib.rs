//! The protocol of a session as data: requests, their answers, and the reasons for refusing them.
//!
//! ```
//! use wasibox_protocol::{CallOptions, Exec, Request, RequestFault};
//!
//! let options: CallOptions = serde_json::from_str(r#"{"script": "ls", "cwd": "tmp"}"#).unwrap();
//! let request = Request::Exec(options.into_exec(Vec::new()).unwrap());
//! assert_eq!(request.check(), Err(RequestFault::Directory("tmp".into())));
//! assert_eq!(Request::Exec(Exec::script("ls /tmp")).check(), Ok(()));
//! ```
//!
//! Doors (the command line, MCP, HTTP, the packages, the page) translate their own forms to a
//! [`Request`], and an [`Answer`] back to those forms. None of them decides whether a request is
//! valid. The session checks each request once, by [`Request::check`], before anything runs.
//!
//! | topic | file |
//! |---|---|
//! | requests: commands, scripts, cells; history, values, workspace | `request` |
//! | a call as JSON objects describe it | `options` |
//! | checks of requests | `check` |
//! | the end of a call: [`Outcome`], [`End`], [`LimitHit`]; the files that it changed | `outcome` |
//! | answers to requests; events of a running call | `answer` |
//! | processes that continue from call to call | `process` |
//! | refusals, for clients: kinds, texts | `refusal` |
//! | requests about files, their answers and errors | `files` |
//!
//! # Invariants
//! - Every type is plain data without a handle. Requests and outcomes serialise in JSON and in
//!   binary form.
//! - Bytes that guests or callers give stay bytes; JSON replaces those that are not text.
//! - A cause is a variant with its data. Its text is made in `Display` only, and nothing decides by
//!   that text.
//!
//! # Deliberately absent
//! Engines, descriptors, operating systems: the crate builds for browsers. The names that a door
//! gives to fields of its own.
#![forbid(unsafe_code)]

mod answer;
mod check;
pub mod files;
mod options;
mod outcome;
mod process;
mod refusal;
mod request;

pub use answer::{Answer, CallEvent, CommitReport, CommitSummary, PortSummary, ToolSummary};
pub use check::{MAX_COMMAND, MAX_WORDS, OWN_KEYS, RequestFault, checked_seconds, is_own_key};
pub use options::CallOptions;
pub use outcome::{End, FileChange, FileChangeKind, LimitHit, Outcome};
pub use process::{
    KEPT_OUTPUT, MAX_READ, MAX_WAIT, ProcessKill, ProcessOutput, ProcessRead, ProcessReport,
    ProcessRequest, ProcessStart, ProcessStatus, ProcessWrite, READ_OUTPUT, ScreenSize,
    checked_wait,
};
pub use refusal::{Refusal, RefusalKind};
pub use request::{
    CAPTURE, Command, Exec, HistoryRequest, Input, JAVASCRIPT, Language, Output, PYTHON, Request,
    ValueRequest, WorkspaceRequest,
};
