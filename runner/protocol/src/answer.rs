//! The answers to requests, and the events of a running call.

use crate::files::FileAnswer;
use crate::outcome::Outcome;

/// The answer to a [`Request`](crate::Request).
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The outcome of a command, script or cell.
    Outcome(Box<Outcome>),
    Files(FileAnswer),
    Commits(Vec<CommitSummary>),
    Commit(CommitSummary),
    /// The value of a key, if it has one.
    Value(Option<Vec<u8>>),
    /// Whether the key had a value.
    Removed(bool),
    Keys(Vec<Vec<u8>>),
    /// The changes of a workspace in git's format, and whether the text is cut.
    Diff {
        text: Vec<u8>,
        is_cut: bool,
    },
    /// Paths that match the session now, and paths that were left as they are, each with the
    /// reason.
    Applied {
        done: Vec<String>,
        left: Vec<(String, String)>,
    },
    Tools(Vec<ToolSummary>),
    /// The request was carried out, and has no other answer.
    Done,
}

/// A commit of a session's history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitSummary {
    pub number: u64,
    /// The number of the commit before it.
    pub parent: Option<u64>,
    /// The command, script or cell; `None` if it is longer than 1 MiB.
    pub command: Option<Vec<u8>>,
    pub exit_code: Option<u8>,
    /// The start of the call, in nanoseconds since the epoch.
    pub time: u64,
    /// The duration of the call in nanoseconds.
    pub duration: u64,
    pub changed_files: u32,
    pub tags: Vec<String>,
}

/// A function of the embedder that guests may call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSummary {
    pub name: String,
    pub description: String,
}

/// An event of a running call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEvent<'a> {
    /// Output of a command.
    Output { is_error: bool, bytes: &'a [u8] },
}
