//! Execution of the shell language: the state, the walker over the syntax tree, and the builtins.
//!
//! # Map
//! | folder or file | contents |
//! |---|---|
//! | [`shell`] | [`Shell`]: state, messages, [`shell::Unwind`] |
//! | [`run`] | source text, command after command |
//! | `walk/` | one file per construct |
//! | `command/` | running a command name: function, builtin, program |
//! | [`builtin`] | one file per builtin |
//! | [`state`] | the state that a subshell copies: variables, options, traps, jobs |
//! | [`io`] | descriptors as the script sees them |
//! | `redirect`, `process_sub` | redirections, `<( )` and `>( )` |
//! | `signals`, `trap` | signals that arrived, actions of traps |
//! | `prompt`, `xtrace` | prompt strings, `set -x` |
//! | [`budget`] | limits |
//! | `expand_env` | the shell as expansion sees it |
//!
//! # Invariants
//! - No globals: a shell is a value; several may live in one process.
//! - Nothing forks. Code that must run beside the shell goes to a spawned shell with the state as
//!   bytes; all other code runs here on a copy of the state.
//! - Every recursion passes `check_depth`; every loop passes `tick` or `loop_tick`.
//! - Descriptors of the process stay where they are; the script's numbers are a table.
#![forbid(unsafe_code)]

pub mod budget;
pub mod builtin;
mod clock;
mod command;
mod control;
mod expand_env;
mod history;
pub mod interactive;
pub mod io;
mod process_sub;
mod prompt;
mod redirect;
pub mod run;
pub mod shell;
mod signals;
pub mod state;
mod trap;
mod verdict;
mod walk;
mod xtrace;

pub use shell::{Flow, Shell, ShellStart, Unwind};

/// First argument of a spawned shell, followed by the descriptor that it reads its state from.
pub const STATE_OPTION: &str = "--box-state=";
