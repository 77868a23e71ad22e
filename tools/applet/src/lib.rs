//! The applet contract: how a tool of the multicall binary is declared, called and ends.
//!
//! An applet is a function over a [`Ctx`]: its name, environment, working directory, three streams
//! and the processes it may start. The same function runs in-process inside the shell, as a spawned
//! process, and natively under `cargo test`.
//!
//! # Invariants
//! - Applets of ours touch no process globals: no `std::env`, `current_dir`, `println!`,
//!   `process::exit`. Relative operands are resolved by [`Ctx::path`].
//! - Adapters of tools that do use globals are marked [`AppletRun::Globals`] and only ever run as a
//!   process of their own.
//! - Every table entry has a one-line summary and a help text.
//!
//! | file | contents |
//! |---|---|
//! | `ctx` | [`Ctx`], [`Exit`], [`Ended`], diagnostics |
//! | `clock` | the time now, the zone of `TZ` |
//! | `stream` | [`StdInput`], [`OutStream`]: descriptors or memory behind `Read`/`Write` |
//! | `opts` | options declared once: parsing as `getopt_long(3)`, usage text, `--help` |
//! | `help` | the one layout of `--help` and `man`, sentences that tools share |
//! | `table` | [`Applet`], [`AppletTable`]: lookup by name |
//! | `program` | PATH search, `#!` lines, statuses 126 and 127 |
//! | `command` | running another command with redirected streams |
//! | `instead` | hints about commands that are not there |
//! | `condition` | the conditions of `test` and `[` |
//! | `version` | whose behaviour a tool has: the text of `--version` |
//! | `inherit` | a file that replaces another: where it is written, its mode and owner |
#![forbid(unsafe_code)]

pub mod clock;
pub mod command;
pub mod condition;
mod ctx;
mod env;
pub mod help;
mod inherit;
pub mod instead;
pub mod opts;
pub mod program;
mod stream;
mod table;
pub mod version;

pub use ctx::{Ctx, Ended, Exit};
pub use env::Env;
pub use inherit::{create_beside, inherit_metadata};
pub use stream::{InputSource, OutStream, OutputSink, StdInput};
pub use table::{Applet, AppletRun, AppletTable};
