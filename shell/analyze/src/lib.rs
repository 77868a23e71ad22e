//! The possible effects of a script, found without running any of it: the answer behind `sh
//! --analyze`, for permission prompts. The JSON form is described in `docs/analyze.md`.
//!
//! # Map
//! | file | contents |
//! |---|---|
//! | `report` | [`AnalysisReport`]: commands, files, redirections, functions, variables, unknowns, errors |
//! | `json` | the report as JSON |
//! | `walk` | the syntax tree: lists, compound commands, redirections |
//! | `word` | words: their static text, substitutions, assignments in expansions |
//! | `command` | a command line: the other command lines or texts it runs |
//! | `builtins` | builtins that take code or set variables |
//! | `wrap` | `env timeout sudo xargs find ...`: programs that run the commands in their operands |
//! | `options` | options of a command line, split from its operands |
//! | `files` | files that well-known tools read, write, delete |
//! | `sed` | files and commands named in a sed script |
//!
//! # Invariants
//! - Nothing is run, expanded or opened: the result depends on the text and the tables only.
//! - Everything that cannot be known is reported: a word that is not static text carries `dynamic`,
//!   code that was not seen is listed as an unknown. A report without unknowns means that there are
//!   none.
//! - Input is hostile: nesting of texts within texts is bounded by [`MAX_TEXTS`], the nesting of
//!   the tree by the parser.
//!
//! # Absent
//! Values of variables are not followed (`x=rm; $x` is an unknown command name), and sourced files
//! and scripts are not read.
#![forbid(unsafe_code)]

mod builtins;
mod command;
mod files;
mod json;
mod options;
pub mod report;
mod sed;
mod walk;
mod word;
mod wrap;

pub use report::AnalysisReport;

/// The maximum depth of analyzed texts within texts (`eval`, `bash -c`, traps), because the input
/// is hostile.
pub const MAX_TEXTS: u32 = 8;

/// The commands that exist where the script will run.
pub trait CommandNames {
    fn is_builtin(&self, name: &[u8]) -> bool;
    /// Returns whether it is a program of the image.
    fn is_program(&self, name: &[u8]) -> bool;
}

/// The options that the script will be read with.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnalyzeOptions {
    /// Whether the script is read as `sh` reads it.
    pub posix: bool,
    /// Whether `shopt -s extglob` is set from the start.
    pub extglob: bool,
}

/// Analyses a script.
pub fn analyze_script(
    text: &[u8],
    options: AnalyzeOptions,
    names: &dyn CommandNames,
) -> AnalysisReport {
    let mut walk = walk::ScriptWalk::new(options, names);
    walk.walk_source(text, 1);
    walk.finish_report()
}
