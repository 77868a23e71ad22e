//! The answers to requests, and the events of a running call.

use crate::files::{FileAnswer, FileBytes};
use crate::outcome::Outcome;
use crate::process::{ProcessOutput, ProcessReport};
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The answer to a [`Request`](crate::Request). In JSON an answer has no name, because the request
/// determines its form.
///
/// ```
/// use wasibox_protocol::Answer;
///
/// let answer = Answer::Keys(vec![b"a".to_vec()]);
/// assert_eq!(serde_json::to_string(&answer).unwrap(), r#"["a"]"#);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The outcome of a command, script or cell.
    Outcome(Box<Outcome>),
    Files(FileAnswer),
    Commits(Vec<CommitSummary>),
    Commit(CommitSummary),
    /// The names of commits, each with the commit's number.
    Tags(BTreeMap<String, u64>),
    /// The value of a key, if it has one.
    Value(Option<FileBytes>),
    /// Whether the key had a value.
    Removed(bool),
    Keys(#[serde(serialize_with = "serialize_texts")] Vec<Vec<u8>>),
    /// The changes of a workspace in git's format, and whether the text is cut.
    Diff {
        #[serde(serialize_with = "serialize_text")]
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
    Ports(Vec<PortSummary>),
    Process(ProcessReport),
    ProcessOutput(Box<ProcessOutput>),
    Processes(Vec<ProcessReport>),
    /// The request was carried out, and has no other answer.
    Done,
}

fn serialize_text<S: Serializer>(text: &[u8], s: S) -> Result<S::Ok, S::Error> {
    s.serialize_str(&String::from_utf8_lossy(text))
}

fn serialize_texts<S: Serializer>(texts: &[Vec<u8>], s: S) -> Result<S::Ok, S::Error> {
    s.collect_seq(texts.iter().map(|text| String::from_utf8_lossy(text)))
}

/// A commit of a session's history. In JSON it is a [`CommitReport`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(into = "CommitReport")]
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
    /// The processes that a move to the commit has ended, each with its number and command.
    pub ended: Vec<String>,
}

/// Maximum bytes of a command in a [`CommitReport`].
const REPORTED_COMMAND: usize = 64 << 10;

/// A commit in JSON, as the packages and the page get it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitReport {
    pub number: u64,
    /// The number of the commit before it.
    pub parent: Option<u64>,
    /// The command, script or cell; of a long one the beginning.
    pub command: String,
    pub exit_code: Option<u8>,
    /// The start of the call, in seconds since the epoch.
    pub time: f64,
    /// The duration of the call in seconds.
    pub duration: f64,
    /// The number of files that the call has changed.
    pub changed_files: u32,
    /// The names that the commit was given.
    pub tags: Vec<String>,
    /// The processes that a move to the commit has ended, each with its number and command.
    pub ended: Vec<String>,
}

impl From<CommitSummary> for CommitReport {
    fn from(commit: CommitSummary) -> CommitReport {
        let command = commit.command.as_deref().unwrap_or_default();
        let shown = &command[..command.len().min(REPORTED_COMMAND)];
        CommitReport {
            number: commit.number,
            parent: commit.parent,
            command: String::from_utf8_lossy(shown).into_owned(),
            exit_code: commit.exit_code,
            time: commit.time as f64 / 1e9,
            duration: commit.duration as f64 / 1e9,
            changed_files: commit.changed_files,
            tags: commit.tags,
            ended: commit.ended,
        }
    }
}

/// A function of the embedder that guests may call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolSummary {
    pub name: String,
    pub description: String,
}

/// A port at which a program of the session listens for connections (TCP).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PortSummary {
    pub port: u16,
    /// The address at which it listens, `0.0.0.0` or `::` for all of the session's.
    pub address: String,
    /// The number of the process that made it listen.
    pub pid: u32,
    /// The beginning of that process's command; `null` if it has ended, or belongs to a call that
    /// runs.
    pub command: Option<String>,
}

/// An event of a running call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEvent<'a> {
    /// Output of a command.
    Output { is_error: bool, bytes: &'a [u8] },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HistoryRequest, Request, WorkspaceRequest};
    use serde_json::{Value, json};

    #[test]
    fn requests_are_read_from_json() {
        let read = |text: Value| serde_json::from_value::<Request>(text).unwrap();
        assert_eq!(read(json!({"history": "undo"})), Request::History(HistoryRequest::Undo));
        let restore = Request::History(HistoryRequest::Restore(3));
        assert_eq!(read(json!({"history": {"restore": 3}})), restore);
        let list = Request::History(HistoryRequest::List { last: None });
        assert_eq!(read(json!({"history": {"list": {"last": null}}})), list);
        let diff = Request::Workspace(WorkspaceRequest::Diff(vec!["a".into()]));
        assert_eq!(read(json!({"workspace": {"diff": ["a"]}})), diff);
        assert_eq!(read(json!("reset")), Request::Reset);
        assert!(serde_json::from_value::<Request>(json!({"history": "forget"})).is_err());
    }

    #[test]
    fn answers_are_written_as_json() {
        let written = |answer: Answer| serde_json::to_value(answer).unwrap();
        assert_eq!(written(Answer::Done), Value::Null);
        assert_eq!(written(Answer::Tags([("a".into(), 2)].into())), json!({"a": 2}));
        assert_eq!(written(Answer::Value(Some(FileBytes(b"a\xff".to_vec())))), json!("Yf8="));
        let diff = Answer::Diff { text: b"a\xff".to_vec(), is_cut: true };
        assert_eq!(written(diff), json!({"text": "a\u{fffd}", "is_cut": true}));
        let left = vec![("a".into(), "changed".into())];
        let applied = written(Answer::Applied { done: vec!["b".into()], left });
        assert_eq!(applied, json!({"done": ["b"], "left": [["a", "changed"]]}));
        let summary = CommitSummary {
            number: 2,
            command: Some(b"ls".to_vec()),
            time: 1_500_000_000,
            ..CommitSummary::default()
        };
        let commit = written(Answer::Commit(summary));
        assert_eq!((&commit["number"], &commit["command"]), (&json!(2), &json!("ls")));
        assert_eq!((&commit["time"], &commit["exit_code"]), (&json!(1.5), &Value::Null));
    }
}
