//! `session ...` and `shell`.

use super::grants::{CallArgs, GrantArgs, WorkspaceArg};
use super::stored::{ImageArg, StoreArg};
use clap::{Args, Subcommand};
use std::ffi::OsString;

const EXEC: &str = "\
SCRIPT runs in the session's shell, which goes on with the variables, functions, options and the
directory of the script before. A command after -- runs without a shell, in the shell's directory
and with its exported variables. A call that ends makes a commit: `history`, `undo`.

Ctrl-C ends the call, with status 130; the session goes on. Statuses are those of `runner exec`.

Mounts, limits and variables hold for this call. None of them is stored, so a store or snapshot that
came from elsewhere grants nothing.

Examples:
  runner session exec --store work.wbx a 'cd /tmp; export A=1; f() { echo \"f $A\"; }'
  runner session exec --store work.wbx a 'pwd; f'
  runner session exec --store work.wbx --json a -- python3 -c 'print(6*7)'
  runner session exec --store work.wbx --input data.csv a 'wc -l /mnt/input/data.csv'";

// A session of a store.
#[derive(Args)]
pub struct SessionNameArgs {
    #[command(flatten)]
    pub store: StoreArg,
    /// The session
    #[arg(value_name = "NAME")]
    pub name: String,
}

#[derive(Subcommand)]
#[command(about = "Make, use and look at sessions that are kept in a store")]
pub enum SessionCommand {
    /// Make a session, and print its name
    #[command(
        after_help = "Example:\n  runner session create --store work.wbx --image image.webc a"
    )]
    Create {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Run a script or a command in a session
    Exec(Box<SessionExec>),
    /// Run a cell in a session's Python interpreter, which keeps its state
    Python(Box<SessionPython>),
    /// Run a cell in a session's JavaScript interpreter, which stays
    Javascript(Box<SessionJavascript>),
    /// End a session's interpreters; the next cell starts a new one
    Reset {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// List the sessions of a store
    List {
        #[command(flatten)]
        store: StoreArg,
        /// Print a JSON list
        #[arg(long)]
        json: bool,
    },
    /// Show everything about a session, or about one of its commits
    #[command(after_help = "Examples:\n  runner session show --store work.wbx a\n  \
        runner session show --store work.wbx a 3")]
    Show {
        #[command(flatten)]
        named: SessionNameArgs,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
        /// The commit
        #[arg(value_name = "N")]
        number: Option<u64>,
    },
    /// Delete sessions
    Rm {
        #[command(flatten)]
        store: StoreArg,
        /// The sessions
        #[arg(value_name = "NAME", required = true)]
        names: Vec<String>,
    },
    /// List a session's commits; * marks the current one, - an undone one
    History {
        #[command(flatten)]
        named: SessionNameArgs,
        /// Print a JSON list
        #[arg(long)]
        json: bool,
    },
    /// Compare the files of two commits, as diff -u does
    #[command(
        after_help = "Needs the session's image for the bytes that a changed file of the image had, and\n\
        to know what a removed one was. Without it these are named and not shown.\n\n\
        Example:\n  runner session diff --store work.wbx a 2 4 | less"
    )]
    Diff {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        /// Print only paths and how they changed
        #[arg(long)]
        names: bool,
        /// The older commit
        #[arg(value_name = "A")]
        old: u64,
        /// The newer commit; by default the current one
        #[arg(value_name = "B")]
        new: Option<u64>,
    },
    /// Go back to the previous commit
    Undo {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Go forward again
    Redo {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        #[command(flatten)]
        workspace: WorkspaceArg,
    },
    /// Restore everything as it was at a commit, as a new commit
    Restore {
        #[command(flatten)]
        named: SessionNameArgs,
        #[command(flatten)]
        image: ImageArg,
        #[command(flatten)]
        workspace: WorkspaceArg,
        /// The commit
        #[arg(value_name = "N")]
        number: u64,
    },
    /// Make a second session with the present state of one, or with its state at a commit
    #[command(
        after_help = "Examples:\n  runner session fork --store work.wbx a b\n  runner session fork --store work.wbx --count 100 a try"
    )]
    Fork {
        /// Make COUNT sessions: NEW-1, NEW-2 and so on
        #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
        count: Option<u32>,
        #[command(flatten)]
        named: SessionNameArgs,
        /// The new session
        #[arg(value_name = "NEW")]
        new: String,
        /// The commit
        #[arg(value_name = "N")]
        number: Option<u64>,
    },
    /// Show a session's changes to its host folder, or apply them
    #[command(subcommand)]
    Workspace(WorkspaceCommand),
    /// Name a commit, or list the names
    Tag {
        #[command(flatten)]
        named: SessionNameArgs,
        /// The commit's name
        #[arg(value_name = "TAG")]
        tag: Option<String>,
        /// The commit; by default the current one
        #[arg(value_name = "N")]
        number: Option<u64>,
    },
    /// Forget the name of a commit
    Untag {
        #[command(flatten)]
        named: SessionNameArgs,
        /// The commit's name
        #[arg(value_name = "TAG")]
        tag: String,
    },
    /// Print a session's log, one JSON object per line
    Log {
        #[command(flatten)]
        named: SessionNameArgs,
    },
    /// Remove all commits but the last N and those with tags
    Compact {
        #[command(flatten)]
        named: SessionNameArgs,
        /// Number of commits that are kept
        #[arg(long, value_name = "N", default_value_t = 1)]
        keep: usize,
    },
    /// Remove data that no session needs, and give its space back
    Gc {
        #[command(flatten)]
        store: StoreArg,
    },
    /// Check whether a store is complete; if not, list the losses and exit with status 1
    Check {
        #[command(flatten)]
        store: StoreArg,
    },
}

// A session over a folder of the host.
#[derive(Args)]
pub struct WorkspaceSessionArgs {
    #[command(flatten)]
    pub named: SessionNameArgs,
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub workspace: WorkspaceArg,
    /// Parts of the folder, with everything below; by default the whole folder
    #[arg(value_name = "PATH")]
    pub paths: Vec<String>,
}

#[derive(Subcommand)]
#[command(
    about = "Look at what a session has changed of a host folder that it works over, or bring it back"
)]
pub enum WorkspaceCommand {
    /// Print the session's changes, as git does
    #[command(
        after_help = "Example:\n  runner session workspace diff --store work.wbx --workspace project a src | less"
    )]
    Diff(WorkspaceSessionArgs),
    /// Apply the changes to the folder; the session can run nothing after that
    #[command(
        after_help = "Example:\n  runner session workspace apply --store work.wbx --workspace project a src/main.py"
    )]
    Apply(WorkspaceSessionArgs),
}

/// Run a script or a command in a session
#[derive(Args)]
#[command(after_help = EXEC, override_usage = "runner session exec [OPTIONS] NAME SCRIPT\n       runner session exec [OPTIONS] NAME -- COMMAND [ARGS...]")]
pub struct SessionExec {
    #[command(flatten)]
    pub named: SessionNameArgs,
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub grants: GrantArgs,
    #[command(flatten)]
    pub call: CallArgs,
    /// A script for the session's shell
    #[arg(value_name = "SCRIPT", required_unless_present = "argv")]
    pub script: Option<OsString>,
    /// A command
    #[arg(value_name = "COMMAND", last = true, conflicts_with = "script")]
    pub argv: Vec<OsString>,
}

const PYTHON: &str = "\
Variables, imports, functions, open files and figures stay for the next cell. The value of the last
expression is printed; plt.show() saves figures to /output. A mistake ends the cell with status 1 and
a traceback; sys.exit() ends the cell, not the interpreter. A cell that was ended by a limit or by
Ctrl-C changes nothing: the next one goes on from before it.

Examples:
  runner session python --store work.wbx a 'x = 41'
  runner session python --store work.wbx a 'x + 1'
  runner session python --store work.wbx a - < analysis.py";

/// Run a cell in a session's Python interpreter, which keeps its state
#[derive(Args)]
#[command(after_help = PYTHON)]
pub struct SessionPython {
    #[command(flatten)]
    pub cell: CellArgs,
}

const JAVASCRIPT: &str = "\
Variables, functions, classes, modules and open files stay for the next cell; let, const and class may
declare a name again. await and import are allowed outside of functions. The value of the last
expression is printed. A mistake ends the cell with status 1; process.exit() ends the cell, not the
interpreter. A cell ends when what it has begun has ended: timers, children, requests; intervals and
servers go on while the next cell runs.

Examples:
  runner session javascript --store work.wbx a 'let x = 41'
  runner session javascript --store work.wbx a 'x + 1'
  runner session javascript --store work.wbx a - < analysis.js";

/// Run a cell in a session's JavaScript interpreter, which stays
#[derive(Args)]
#[command(after_help = JAVASCRIPT)]
pub struct SessionJavascript {
    #[command(flatten)]
    pub cell: CellArgs,
}

/// A cell.
#[derive(Args)]
pub struct CellArgs {
    #[command(flatten)]
    pub named: SessionNameArgs,
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub grants: GrantArgs,
    #[command(flatten)]
    pub call: CallArgs,
    /// The code; - for standard input
    #[arg(value_name = "CODE", allow_hyphen_values = true)]
    pub code: OsString,
}

const SHELL: &str = "\
Without NAME, the session is a new one that is gone when the shell ends. Lines are edited as with
readline; Tab completes commands and paths, Ctrl-C ends what runs, Ctrl-D leaves. `exit` leaves, too.
If standard input is no terminal, commands are read from it; they have no input of their own then.

Examples:
  runner shell --image image.webc
  runner shell --store work.wbx a";

/// A shell for a person at a terminal
#[derive(Args)]
#[command(after_help = SHELL)]
pub struct ShellArgs {
    #[command(flatten)]
    pub store: StoreArg,
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub grants: GrantArgs,
    /// Pass everything to the terminal, not text and colours only
    #[arg(long)]
    pub raw: bool,
    /// A session of the store
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}
