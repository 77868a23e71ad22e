//! Everything a subshell gets a copy of. A clone costs reference counts only: tables are
//! behind `Rc` and copied by the side that writes first.
//!
//! | file | what |
//! |---|---|
//! | `vars` | variables, scopes |
//! | `assign` | assignment with attributes, namerefs and side effects (on [`crate::Shell`]) |
//! | `compound` | `name=(...)` |
//! | `dynamic` | computed variables (on [`crate::Shell`]) |
//! | `options` | `set -o`, `shopt` |
//! | `traps` | trap table |
//! | `jobs` | background jobs and their statuses |
//! | `here` | what the constructs around a command change |
//! | `definition` | a function: its tree, or what becomes one when it is called |
//! | `ship` | the state as bytes, for a spawned shell |
//! | `session`, `lines` | the state as bytes, for the next call of a session |

pub mod assign;
pub(crate) mod compound;
pub mod definition;
pub mod dynamic;
pub mod hash;
pub(crate) mod here;
pub mod jobs;
mod lines;
pub mod options;
pub mod session;
pub mod ship;
pub mod traps;
pub mod vars;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use sh_expand::Str;

use crate::io::FdTable;
use definition::Definition;
use hash::FastMap;
use here::{Context, Here};
use jobs::Jobs;
use options::{Options, SetOpt};
use traps::Traps;
use vars::{Name, Vars};

/// A shell function.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FunctionDef {
    pub function: Definition,
    /// The file it was defined in (`BASH_SOURCE`).
    pub source: Str,
    pub line: u32,
    pub export: bool,
    pub readonly: bool,
    pub trace: bool,
}

/// One active call: a function or a sourced file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Frame {
    /// Function name, `source` for a file, `main` at the bottom.
    pub name: Str,
    /// The file whose code runs.
    pub source: Str,
    /// Line of the call.
    pub call_line: u32,
    /// A function call, not a sourced file.
    pub is_function: bool,
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

#[derive(Clone)]
pub struct State {
    pub vars: Vars,
    pub functions: Rc<FastMap<Name, FunctionDef>>,
    pub aliases: Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    pub options: Options,
    pub traps: Traps,
    pub jobs: Rc<Jobs>,
    pub fds: FdTable,
    /// As they were before the redirections of the commands around this one.
    pub outer_fds: Option<FdTable>,
    /// Logical working directory, absolute.
    pub cwd: Rc<PathBuf>,
    /// `pushd` stack below the current directory, top first.
    pub dirs: Rc<Vec<Vec<u8>>>,
    /// `$0`.
    pub arg0: Str,
    pub positional: Rc<Vec<Str>>,
    /// Those around all functions, in one.
    pub outer_positional: Option<Rc<Vec<Str>>>,
    /// The arguments of the calls under way that began in debugging mode (`BASH_ARGV`), behind the
    /// parameters there were when it was switched on.
    pub call_args: Rc<Vec<Rc<Vec<Str>>>>,
    /// `set` gave new positional parameters, and no function was called since: a sourced file leaves
    /// them to its caller, though it had arguments.
    pub positional_set: bool,
    /// No command with a name has run since `eval` or `.` began last: a syntax error in the text ends a POSIX shell.
    pub text_begun: bool,
    pub frames: Rc<Vec<Frame>>,
    /// A function was abandoned: `FUNCNAME` keeps its bottom until another one returns.
    pub funcname_shown: bool,
    /// Remembered command locations with hit counts (`hash`).
    pub hashed: Rc<BTreeMap<Vec<u8>, (PathBuf, u32)>>,
    pub disabled_builtins: Rc<Vec<&'static str>>,
    /// `$?`
    pub status: i32,
    pub pipe_status: PipeStatus,
    /// What `ulimit` set: soft and hard limit by letter.
    pub ulimits: Rc<BTreeMap<u8, (u64, u64)>>,
    /// `$!`
    pub last_background: Option<u32>,
    /// `$_`
    pub last_arg: Str,
    pub line: u32,
    /// `$$`: the pid of the main shell, also in subshells.
    pub shell_pid: u32,
    /// `$BASHPID`.
    pub own_pid: u32,
    /// How many subshells this one is in.
    pub subshell: u32,
    pub started: Instant,
    pub seconds_offset: i64,
    pub random: u32,
    /// A script has said what `RANDOM` goes on from.
    pub random_set: bool,
    pub getopts: GetOpts,
    pub umask: u16,
    /// What the constructs around the current command change.
    pub(crate) here: Here,
    /// The status that `exit` or `set -e` gave within the EXIT trap.
    pub trap_exit: Option<i32>,
    /// Text of the command for `BASH_COMMAND` (set while a trap action runs, or on demand).
    pub command_text: Str,
    /// The same for the outermost `eval` or `.` of this subshell: the EXIT trap shows that.
    pub outer_command: Option<Str>,
    /// The same for the outermost one of the shells around this subshell: where an error abandons
    /// commands, bash leaves that one too.
    pub outermost_command: Option<Str>,
    pub completions: Rc<BTreeMap<Vec<u8>, Vec<u8>>>,
}

impl State {
    /// What a copy becomes as the state of a subshell whose `$BASHPID` is `pid`. Taken apart without `..`: whoever adds
    /// a field decides here whether subshells have it.
    pub(crate) fn enter_subshell(&mut self, pid: u32) {
        let State {
            options,
            traps,
            jobs,
            own_pid,
            subshell,
            here,
            command_text,
            outer_command,
            outermost_command,
            // A subshell has these as they are (POSIX XCU 2.12).
            vars: _,
            functions: _,
            aliases: _,
            fds: _,
            cwd: _,
            dirs: _,
            arg0: _,
            positional: _,
            frames: _,
            hashed: _,
            disabled_builtins: _,
            status: _,
            pipe_status: _,
            ulimits: _,
            last_background: _,
            last_arg: _,
            line: _,
            shell_pid: _,
            started: _,
            seconds_offset: _,
            random: _,
            random_set: _,
            getopts: _,
            umask: _,
            completions: _,
            // The functions and redirections around it are left with it where an error abandons it.
            outer_fds: _,
            outer_positional: _,
            call_args: _,
            positional_set: _,
            text_begun: _,
            funcname_shown: _,
            // Set before it is looked at.
            trap_exit: _,
        } = self;
        traps.enter_subshell(options.has(SetOpt::ErrTrace), options.has(SetOpt::FuncTrace));
        options.put(SetOpt::Monitor, false);
        // Children are another shell's, which cannot be waited for.
        if !jobs.list.is_empty() && !jobs.foreign {
            Rc::make_mut(jobs).foreign = true;
        }
        *own_pid = pid;
        *subshell += 1;
        let outer = outer_command.take();
        let outer = outer.or_else(|| here.action.then(|| command_text.clone()));
        if outermost_command.is_none() {
            *outermost_command = outer;
        }
        *here = here.within(Context::Subshell);
    }
}
