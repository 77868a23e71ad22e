//! `jq`: the language by the jaq crates, the command line, output and missing functions ours.
//!
//! | file | what |
//! |---|---|
//! | `options` | the command line of jq 1.8 |
//! | `program` | loading and compiling a filter, with its modules and messages |
//! | `functions` | functions and definitions that jaq lacks or words differently |
//! | `defs.jq` | the part of them written in jq |
//! | `input` | documents from files and standard input, `--raw-input`, `--seq`, `--stream` |
//! | `output` | values as jq prints them: numbers, indentation, colours |
//! | `run` | the loop over inputs and its exit statuses |
#![forbid(unsafe_code)]

mod functions;
mod input;
mod options;
mod output;
mod program;
mod run;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[Applet::new("jq", run::run, "filter and transform JSON")];
