//! The applet contract: how a tool of the multicall binary is declared, called and ends.
//!
//! An applet is a function over a [`Ctx`]: its name, environment, working directory, three streams
//! and the processes it may start. The same function runs in-process inside the shell, as a spawned
//! process, and natively under `cargo test`.
//!
//! # Invariants
//! - Our own applets use no state of the process: no `std::env`, `current_dir`, `println!` or
//!   `process::exit`. Relative operands are resolved by [`Ctx::path`].
//! - Adapters of tools that use such state are marked [`AppletRun::Globals`] and always run in a
//!   process of their own.
//! - Every table entry has a one-line summary and a help text.
//!
//! | file | contents |
//! |---|---|
//! | `ctx` | [`Ctx`], [`Exit`], [`Ended`], diagnostics |
//! | `clock` | the current time, the zone of `TZ` |
//! | `stream` | [`StdInput`], [`OutStream`]: descriptors or memory behind `Read`/`Write` |
//! | `opts` | options declared once: parsing as `getopt_long(3)`, usage text, `--help` |
//! | `help` | the layout that `--help` and `man` share, and the sentences that tools share |
//! | `table` | [`Applet`], [`AppletTable`]: lookup by name |
//! | `program` | PATH search, `#!` lines, statuses 126 and 127 |
//! | `command` | running another command with redirected streams |
//! | `instead` | hints about commands that do not exist |
//! | `similar` | commands with a similar name |
//! | `condition` | the conditions of `test` and `[` |
//! | `version` | the text of `--version`: the program whose behaviour a tool imitates |
//! | `inherit` | a file that replaces another one: its place, mode and owner |
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
pub mod similar;
mod stream;
mod table;
pub mod version;

pub use ctx::{Ctx, Ended, Exit};
pub use env::Env;
pub use inherit::{create_beside, inherit_metadata};
pub use stream::{InputSource, OutStream, OutputSink, StdInput};
pub use table::{Applet, AppletRun, AppletTable};
