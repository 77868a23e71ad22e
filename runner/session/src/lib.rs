//! The embedding API: sessions in which commands of an image run.
//!
//! ```no_run
//! use wasibox::{Action, Exec, Policy, Session};
//!
//! let session = Session::open("image.webc".as_ref(), Policy::default())?;
//! let outcome = session.apply(Action::Exec(Exec::new(["sh", "-c", "echo hi | wc -c"])))?;
//! assert_eq!(outcome.stdout, b"3\n");
//! # Ok::<(), wasibox::Error>(())
//! ```
//!
//! Every entrance (this crate, the command line, later MCP and HTTP) turns what it
//! was asked into one [`Action`] on a [`Session`]. A session is an image, a [`Policy`]
//! and the files its commands leave; it runs one command at a time.
//!
//! A session runs in a process of its own, behind a second wall ([`Session::open`], and [`Pool`]
//! for several), or in the embedder's process ([`Session::with`]). For the former a
//! program must be at hand that serves as its process: `runner`, or the embedder's own, if it calls
//! [`worker_main`] when its first argument is [`WORKER_ARGUMENT`].
//!
//! # Deliberately absent
//! Stored sessions, snapshots and the network bridge are to come; an `Action`
//! variant will be added for each.
#![forbid(unsafe_code)]

mod action;
mod files;
mod outcome;
mod run;
mod session;
mod worker;

pub use action::{Action, Exec, Input, Output};
pub use outcome::{FileChange, FileChangeKind, Outcome};
pub use session::{Error, Interrupt, Session};
pub use wasibox_image::{Image, ImageError};
pub use wasibox_sandbox::artifact::default_dir as default_artifact_dir;
pub use wasibox_sandbox::heap::use_huge_pages;
pub use wasibox_sandbox::watchdog;
pub use wasibox_sandbox::{
    DiskLimits, LimitHit, Limits, MountSpec, Policy, SandboxError, compile_all,
};
pub use wasibox_worker::child::ARGUMENT as WORKER_ARGUMENT;
pub use wasibox_worker::jail::{Wall, Walls};
pub use worker::pool::{Pool, PoolOptions, probe};
#[doc(hidden)]
pub use worker::serve::main_with_hole as worker_main_with_hole;
pub use worker::serve::{ignore_file_size_signal, main as worker_main};
