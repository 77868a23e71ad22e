//! The state that every subshell gets a copy of. A clone only increments reference counts, because
//! tables are in an `Rc` and are copied by the first shell that changes them.
//!
//! | file | contents |
//! |---|---|
//! | `vars` | variables, scopes |
//! | `assign` | assignment with attributes, namerefs and side effects (on [`crate::Shell`]) |
//! | `compound` | `name=(...)` |
//! | `dynamic` | computed variables (on [`crate::Shell`]) |
//! | `initial` | the variables that a shell starts with (on [`crate::Shell`]) |
//! | `computed` | the state behind `SECONDS` and `RANDOM` |
//! | `params` | `$0` and the positional parameters |
//! | `calls` | active calls of functions and sourced files |
//! | `command_text` | `BASH_COMMAND` |
//! | `commands` | remembered programs, disabled builtins |
//! | `dirs` | the working directory and the directory stack |
//! | `ids` | process numbers |
//! | `options` | `set -o`, `shopt` |
//! | `traps` | trap table |
//! | `jobs` | background jobs and their statuses |
//! | `here` | the effect of the constructs around a command |
//! | `definition` | a function: its tree, or the source that is parsed when it is called |
//! | `ship` | the state as bytes, for a spawned shell |
//! | `session`, `lines` | the state as bytes, for the next call of a session |

pub mod assign;
pub mod calls;
pub mod command_text;
pub mod commands;
pub(crate) mod compound;
pub mod computed;
pub mod definition;
pub mod dirs;
pub mod dynamic;
pub mod hash;
pub(crate) mod here;
pub mod ids;
pub mod initial;
pub mod jobs;
mod lines;
pub mod options;
pub mod params;
pub mod session;
pub mod ship;
pub mod traps;
pub mod vars;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use box_sys::Pid;
use serde::{Deserialize, Serialize};
use sh_expand::{Attributes, Str};

use crate::builtin::completion::CompletionSpec;
use crate::io::FdTable;
use calls::Calls;
use command_text::CommandText;
use commands::Commands;
use computed::{RandomVariable, SecondsVariable};
use definition::FunctionDefinition;
use dirs::Dirs;
use hash::FastMap;
use here::{CommandContext, ContextSummary};
use ids::Ids;
use jobs::Jobs;
use options::{SetOpt, ShellOptions};
use params::PositionalParams;
use traps::Traps;
use vars::{Name, Vars};

/// A shell function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDef {
    pub function: FunctionDefinition,
    /// The file it was defined in (`BASH_SOURCE`).
    pub source: Str,
    pub line: u32,
    /// The attributes, of which exported, readonly and traced apply to functions.
    pub attrs: Attributes,
}

/// The status of the last pipeline's stages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum PipeStatus {
    One(i32),
    Many(Rc<Vec<i32>>),
}

/// Progress of `getopts` within one word.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct GetOpts {
    pub index: usize,
    pub offset: usize,
}

/// The state that a subshell has a copy of. A shell that is spawned for a subshell receives all
/// fields that are not skipped; [`ship::decode_state`] gives the reasons.
#[derive(Clone, Serialize, Deserialize)]
pub struct ShellState {
    pub vars: Vars,
    pub functions: Rc<FastMap<Name, FunctionDef>>,
    pub aliases: Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    pub options: ShellOptions,
    pub traps: Traps,
    #[serde(skip)]
    pub jobs: Jobs,
    #[serde(skip)]
    pub fds: FdTable,
    pub dirs: Dirs,
    pub params: PositionalParams,
    pub calls: Calls,
    pub commands: Commands,
    /// `$?`
    pub status: i32,
    pub pipe_status: PipeStatus,
    /// `$_`
    pub last_arg: Str,
    pub line: u32,
    pub ids: Ids,
    pub seconds: SecondsVariable,
    #[serde(skip)]
    pub random: RandomVariable,
    pub getopts: GetOpts,
    pub umask: u16,
    /// The effect of the constructs around the current command.
    pub(crate) here: ContextSummary,
    /// `BASH_COMMAND`
    pub command: CommandText,
    /// The soft and hard limits set by `ulimit`, by letter.
    ulimits: Rc<BTreeMap<u8, (u64, u64)>>,
    /// The specifications set by `complete`, by command.
    #[serde(skip)]
    completions: Rc<BTreeMap<Vec<u8>, CompletionSpec>>,
}

impl ShellState {
    /// Returns the state of a shell that is the process `pid`, before it has read its environment.
    pub(crate) fn new(
        pid: Pid,
        params: PositionalParams,
        cwd: PathBuf,
        fds: FdTable,
    ) -> ShellState {
        ShellState {
            vars: Vars::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            options: ShellOptions::default(),
            traps: Traps::default(),
            jobs: Jobs::default(),
            fds,
            dirs: Dirs::new(cwd),
            params,
            calls: Calls::default(),
            commands: Commands::default(),
            status: 0,
            pipe_status: PipeStatus::One(0),
            last_arg: Str::default(),
            line: 0,
            ids: Ids::new(pid),
            seconds: SecondsVariable::begin(),
            random: RandomVariable::default(),
            getopts: GetOpts::default(),
            umask: box_sys::meta::umask(),
            here: ContextSummary::default(),
            command: CommandText::default(),
            ulimits: Rc::default(),
            completions: Rc::default(),
        }
    }

    /// Turns a copy into the state of a subshell whose `$BASHPID` is `pid`. The pattern has no
    /// `..`, so that a new field does not compile until this code handles it.
    pub(crate) fn enter_subshell(&mut self, pid: Pid) {
        let ShellState {
            options,
            traps,
            jobs,
            ids,
            here,
            command: _,
            // A subshell keeps these unchanged (POSIX XCU 2.12).
            vars: _,
            functions: _,
            aliases: _,
            fds: _,
            dirs: _,
            params: _,
            calls: _,
            commands: _,
            status: _,
            pipe_status: _,
            last_arg: _,
            line: _,
            seconds: _,
            random: _,
            getopts: _,
            umask: _,
            ulimits: _,
            completions: _,
        } = self;
        traps.enter_subshell(options.has_set(SetOpt::ErrTrace), options.has_set(SetOpt::FuncTrace));
        options.switch_set(SetOpt::Monitor, false);
        // The children belong to another shell and cannot be waited for.
        jobs.enter_subshell();
        ids.enter_subshell(pid);
        *here = here.within_context(CommandContext::Subshell);
    }

    /// Returns the soft and hard limits set by `ulimit`, by letter.
    pub(crate) fn user_limits(&self) -> &BTreeMap<u8, (u64, u64)> {
        &self.ulimits
    }

    /// Sets a soft and a hard limit.
    pub(crate) fn set_ulimit(&mut self, letter: u8, limit: (u64, u64)) {
        Rc::make_mut(&mut self.ulimits).insert(letter, limit);
    }

    /// Returns the specifications set by `complete`, by command.
    pub(crate) fn completions(&self) -> &BTreeMap<Vec<u8>, CompletionSpec> {
        &self.completions
    }

    /// Returns the specifications set by `complete`, mutably.
    pub(crate) fn completions_mut(&mut self) -> &mut BTreeMap<Vec<u8>, CompletionSpec> {
        Rc::make_mut(&mut self.completions)
    }
}
