//! The embedding API: sessions in which commands of an image run.
//!
//! ```no_run
//! use wasibox::{Engine, Exec, Policy};
//!
//! let engine = Engine::open("image.webc".as_ref())?;
//! let session = engine.session(Policy::default())?;
//! assert_eq!(session.exec("echo hi | wc -c")?.stdout, b"3\n");
//! session.exec("cd /tmp; export NAME=value")?;
//! let outcome = session.exec(Exec::new(["printenv", "NAME", "PWD"]))?;
//! assert_eq!(outcome.stdout, b"value\n/tmp\n");
//! session.python("x = 41")?;
//! assert_eq!(session.python("x + 1")?.value.as_deref(), Some("42"));
//! session.undo()?;
//! # Ok::<(), wasibox::Error>(())
//! ```
//!
//! An [`Engine`] is an image and everything that its sessions share. A [`Session`] is data: files,
//! the shell's state, live interpreters, and the history of all of these, in memory or in a store
//! ([`Engine::store`]). While a session is in use it has a process of its own behind a second wall,
//! or threads ([`Isolation`]). Every entrance (this crate, the command line, MCP, HTTP) makes a
//! [`Request`] and gets an [`Answer`] ([`Session::apply`], which is the only place where requests
//! are checked). The calls of a session run one after another.
//!
//! [`Sandbox::builder`] makes one session and an engine for it. With the feature `tokio`,
//! `wasibox::tokio` has sessions whose methods are futures.
//!
//! Sessions in processes need a program that serves as the worker: `runner`, or the embedder's own
//! program, if it calls [`worker_main`] when its first argument is [`WORKER_ARGUMENT`].
//!
//! # Stages
//! `session` checks and takes a request, `awake` finds a place for it, `live` runs it (in a
//! `worker`, or in a sandbox of this process), `kept` makes a commit of its changes.
//!
//! [`tools`] are the embedder's functions that guests may call.
//!
//! # Deliberately absent
//! Limits and mounts in a store, because data from elsewhere must not grant rights.
#![forbid(unsafe_code)]

mod awake;
mod builder;
pub mod bundle;
mod control;
pub mod diff;
mod engine;
mod error;
mod expose;
mod history;
mod kept;
mod live;
mod local;
pub mod policy;
mod processes;
mod refusal;
mod requests;
mod run;
mod session;
mod spawned;
mod tenant;
#[cfg(feature = "tokio")]
pub mod tokio;
pub mod tools;
mod values;
mod walls;
mod worker;
mod workspace;

pub use builder::{Builder, Sandbox};
pub use control::Interrupt;
pub use engine::{Engine, EngineOptions, Isolation, Sessions};
pub use error::{Error, ProcessFault, WorkspaceMismatch};
pub use expose::ExposedPort;
pub use processes::{FollowedOutput, ProcessFollower};
pub use requests::parse_policy as bridge_policy;
pub use run::InheritedStreams;
pub use session::{Cancel, Session, Streams};
pub use spawned::{
    ProcessEnd, ProcessEndReader, SpawnedProcess, TerminalKeyboard, TerminalProcess, TerminalSize,
};
pub use tenant::{Tenant, TenantLimits};
pub use tools::{HostTool, ToolContext, ToolDefinitionError, ToolError};
pub use wasibox_files as files;
pub use wasibox_image::{Image, ImageDir, ImageError};
pub use wasibox_protocol::{
    Answer, CAPTURE, CallEvent, CallOptions, Command, CommitReport, CommitSummary, End, Exec,
    FileChange, FileChangeKind, HistoryRequest, Input, JAVASCRIPT, Language, LimitHit, Outcome,
    Output, PYTHON, PortSummary, ProcessKill, ProcessOutput, ProcessRead, ProcessReport,
    ProcessRequest, ProcessStart, ProcessStatus, ProcessWrite, Refusal, RefusalKind, Request,
    RequestFault, ScreenSize, ToolSummary, ValueRequest, WorkspaceRequest, checked_seconds,
};
pub use wasibox_sandbox::artifact::default_dir as default_artifact_dir;
pub use wasibox_sandbox::heap::use_huge_pages;
pub use wasibox_sandbox::schedule::use_short_turns;
pub use wasibox_sandbox::{
    DiskLimits, HostToolPolicy, Limits, MountSpec, NetworkLimits, NetworkPolicy, Policy,
    SandboxError, Workspace, WorkspaceKind, compile_all, compile_program,
};
pub use wasibox_sandbox::{screen, terminal, value, watchdog};
pub use wasibox_store as store;
pub use wasibox_vfs::around::HOME;
#[doc(hidden)]
pub use wasibox_vfs::lock_mutex;
pub use wasibox_worker::child::ARGUMENT as WORKER_ARGUMENT;
pub use wasibox_worker::jail::{Wall, Walls};
pub use wasibox_workspace::{ApplyReport, Diff, WorkspaceError};
pub use worker::check::check_snapshot;
pub use worker::pool::{PoolOptions, WorkerPool, probe_walls};
#[doc(hidden)]
pub use worker::serve::main_with_hole as worker_main_with_hole;
pub use worker::serve::{ignore_file_size_signal, main as worker_main};
pub use workspace::{KEY as WORKSPACE_KEY, workspace_of};
