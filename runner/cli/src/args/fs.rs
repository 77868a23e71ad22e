//! `fs ...`

use super::grants::WorkspaceArg;
use super::session::SessionNameArgs;
use super::stored::ImageArg;
use clap::{Args, Subcommand};
use std::path::PathBuf;

// The session whose files are used.
#[derive(Args)]
pub struct FsSessionArgs {
    #[command(flatten)]
    pub named: SessionNameArgs,
    #[command(flatten)]
    pub image: ImageArg,
    #[command(flatten)]
    pub workspace: WorkspaceArg,
    /// Print the answer as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Subcommand)]
#[command(about = "Read, change and search a session's files, without running anything in it")]
pub enum FsCommand {
    /// Print a file
    #[command(after_help = "Examples:\n  runner fs read --store work.wbx a /tmp/n.txt\n  \
        runner fs read --store work.wbx --lines --offset 100 --limit 20 a main.py")]
    Read {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Number the lines
        #[arg(long)]
        lines: bool,
        /// Begin at this line; a negative number counts from the end
        #[arg(long, value_name = "N", allow_hyphen_values = true, requires = "lines")]
        offset: Option<i64>,
        /// Print at most this many lines
        #[arg(long, value_name = "N", requires = "lines")]
        limit: Option<u64>,
        /// The file
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Write a file, and the folders above it
    #[command(
        after_help = "Examples:\n  runner fs write --store work.wbx a note.txt 'some text'\n  \
        runner fs write --store work.wbx a data.bin - < data.bin"
    )]
    Write {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Append to the file
        #[arg(long)]
        append: bool,
        /// The file
        #[arg(value_name = "PATH")]
        path: String,
        /// The new content; - for standard input
        #[arg(value_name = "TEXT", allow_hyphen_values = true)]
        text: String,
    },
    /// Replace a text that occurs once in a file
    #[command(after_help = "Example:\n  runner fs edit --store work.wbx a main.py 'x = 1' 'x = 2'")]
    Edit {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Replace every occurrence
        #[arg(long)]
        all: bool,
        /// The file
        #[arg(value_name = "PATH")]
        path: String,
        /// The text to replace
        #[arg(value_name = "OLD", allow_hyphen_values = true)]
        old: String,
        /// The new text
        #[arg(value_name = "NEW", allow_hyphen_values = true)]
        new: String,
    },
    /// Apply a unified diff from standard input or a file of this host
    Patch {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Number of leading components to strip from the paths
        #[arg(short = 'p', long, value_name = "N")]
        strip: Option<u32>,
        /// Only print what would be done
        #[arg(long)]
        dry_run: bool,
        /// The diff
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// List a folder
    Ls {
        #[command(flatten)]
        of: FsSessionArgs,
        /// List folders below it down to this depth
        #[arg(long, value_name = "N")]
        depth: Option<u32>,
        /// The folder
        #[arg(value_name = "PATH", default_value = ".")]
        path: String,
    },
    /// Find files by a pattern, in which ** matches any number of folders
    Glob {
        #[command(flatten)]
        of: FsSessionArgs,
        /// List the newest files first
        #[arg(long)]
        newest: bool,
        /// The pattern
        #[arg(value_name = "PATTERN")]
        pattern: String,
        /// The folder to search
        #[arg(value_name = "PATH", default_value = ".")]
        path: String,
    },
    /// Find lines by a regular expression
    Grep {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Take the pattern as text, not as a regular expression
        #[arg(short = 'F', long)]
        literal: bool,
        /// Ignore case
        #[arg(short, long)]
        ignore_case: bool,
        /// Lines of context around each match
        #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
        context: u32,
        /// Search only files whose names match this pattern
        #[arg(long, value_name = "GLOB")]
        include: Vec<String>,
        /// The pattern
        #[arg(value_name = "PATTERN", allow_hyphen_values = true)]
        pattern: String,
        /// The folder to search
        #[arg(value_name = "PATH", default_value = ".")]
        path: String,
    },
    /// Show the type, size, mode and time of a file
    Stat {
        #[command(flatten)]
        of: FsSessionArgs,
        /// The file
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Delete a file or folder
    Rm {
        #[command(flatten)]
        of: FsSessionArgs,
        /// Delete a folder with its contents
        #[arg(short, long)]
        recursive: bool,
        /// The file
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Rename a file or folder
    Mv {
        #[command(flatten)]
        of: FsSessionArgs,
        /// The file
        #[arg(value_name = "FROM")]
        from: String,
        /// The new path
        #[arg(value_name = "TO")]
        to: String,
    },
    /// Make a folder, and the folders above it
    Mkdir {
        #[command(flatten)]
        of: FsSessionArgs,
        /// The folder
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Copy a file of this host into the session
    Upload {
        #[command(flatten)]
        of: FsSessionArgs,
        /// The host's file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// The session's path
        #[arg(value_name = "PATH")]
        path: String,
    },
    /// Copy a file of the session to this host
    Download {
        #[command(flatten)]
        of: FsSessionArgs,
        /// The session's file
        #[arg(value_name = "PATH")]
        path: String,
        /// The path on this host
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

impl FsCommand {
    /// Returns the session whose files are used.
    pub fn session_of(&self) -> &FsSessionArgs {
        match self {
            FsCommand::Read { of, .. }
            | FsCommand::Write { of, .. }
            | FsCommand::Edit { of, .. }
            | FsCommand::Patch { of, .. }
            | FsCommand::Ls { of, .. }
            | FsCommand::Glob { of, .. }
            | FsCommand::Grep { of, .. }
            | FsCommand::Stat { of, .. }
            | FsCommand::Rm { of, .. }
            | FsCommand::Mv { of, .. }
            | FsCommand::Mkdir { of, .. }
            | FsCommand::Upload { of, .. }
            | FsCommand::Download { of, .. } => of,
        }
    }
}
