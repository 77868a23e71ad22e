//! `jq`: the language of jq 1.8 with its command line.
//!
//! | folder, file | contents |
//! |---|---|
//! | `value` | values: order, paths, objects, numbers |
//! | `json` | reading JSON text incrementally, writing it |
//! | `lang` | lexer, parser, syntax tree |
//! | `machine` | compiler and backtracking machine |
//! | `builtins` | built-in functions, native and in jq (`defs.jq`) |
//! | `program` | loading a program with its modules |
//! | `options` | the command line |
//! | `input` | documents from files and standard input |
//! | `run` | the loop over inputs and its exit statuses |
//!
//! Absent: `--debug-dump-disasm` and similar options.
#![forbid(unsafe_code)]

mod builtins;
mod input;
mod json;
mod lang;
mod machine;
mod options;
mod program;
mod run;
mod value;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[Applet::new("jq", run::run, "filter and transform JSON")];
