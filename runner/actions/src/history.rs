//! `history`, `snapshot`, `undo`, `redo`, `restore`: the session's history.

use crate::exec::ClientCall;
use crate::machine::Machine;
use crate::tool::{ToolAction, ToolResult};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::Write;
use wasibox::diff::{find_differences, text};
use wasibox::store;
use wasibox::store::snapshot::Commit;
use wasibox::value::shorten_text;
use wasibox::{
    Answer, CommitReport, CommitSummary, Error, HistoryRequest, Request, Session, Streams,
};
use wasibox::{Refusal, RefusalKind};

/// The number of commits that are listed by default, and at most.
const LISTED: usize = 20;
const MOST_LISTED: usize = 500;
/// The maximum number of bytes of a command that are shown.
const COMMAND: u64 = 300;
/// The maximum number of bytes of a difference.
const DIFFERENCE: usize = 64 << 10;

/// The arguments of `history`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryArgs {
    /// Commits to list, the last ones; 20 by default.
    #[serde(default)]
    limit: Option<u32>,
    /// The commit whose changes to files are shown, as a diff.
    #[serde(default)]
    commit: Option<u64>,
}

/// The answer to `history`.
#[derive(Serialize, JsonSchema)]
pub struct HistoryAnswer {
    /// The session's current commit.
    commit: u64,
    commits: Vec<CommitReport>,
    /// The changes of the commit that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// The diff is cut.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl ToolAction for HistoryArgs {
    type Answer = HistoryAnswer;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<HistoryAnswer>, Refusal> {
        let session = call.session()?;
        let head = session.head()?.number;
        let last = self.limit.map_or(LISTED, |n| n as usize).min(MOST_LISTED);
        let commits = list_commits(&session, Some(last))?.into_iter().map(commit_report);
        let mut past = HistoryAnswer {
            commit: head,
            commits: commits.collect(),
            diff: None,
            truncated: false,
        };
        if let Some(number) = self.commit {
            let parent = commit_of(&session.history()?, number)?.parent;
            let machine = call.client.space().machine();
            let (shown, cut) = diff_commits(machine, &session, parent, number, DIFFERENCE)?;
            (past.diff, past.truncated) = (Some(shown), cut);
        }
        let text = in_words(&past);
        Ok(ToolResult::new(past, text))
    }
}

fn commit_of(all: &[Commit], number: u64) -> Result<&Commit, Refusal> {
    let found = all.iter().find(|c| c.number == number);
    found.ok_or_else(|| Refusal::new(RefusalKind::Missing, format!("there is no commit {number}")))
}

fn list_commits(session: &Session, last: Option<usize>) -> Result<Vec<CommitSummary>, Refusal> {
    let request = Request::History(HistoryRequest::List { last });
    match session.apply(request, Streams::default())? {
        Answer::Commits(commits) => Ok(commits),
        _ => Err(Refusal::mismatch()),
    }
}

/// Returns a commit as clients read it, with a command of bounded length.
fn commit_report(commit: CommitSummary) -> CommitReport {
    let command = shorten_text(commit.command.as_deref().unwrap_or(b"[long]"), COMMAND).0;
    CommitReport::from(CommitSummary { command: Some(command.into()), ..commit })
}

fn in_words(past: &HistoryAnswer) -> String {
    if let Some(diff) = &past.diff {
        let note = if past.truncated { "\n[the diff is cut]" } else { "" };
        let none = if diff.is_empty() { "[no file was changed]" } else { "" };
        return format!("{diff}{none}{note}");
    }
    let line = |e: &CommitReport| {
        let mark = if e.number == past.commit { '*' } else { ' ' };
        let status = e.exit_code.map_or(String::new(), |n| format!(" [{n}]"));
        let names: String = e.tags.iter().map(|n| format!(" <{n}>")).collect();
        let first = e.command.lines().next().unwrap_or_default();
        format!("{mark}{}{names}{status} {first} ({} files)\n", e.number, e.changed_files)
    };
    past.commits.iter().map(line).collect()
}

/// Returns the differences between two commits of a session, as git shows them: at most `most`
/// bytes, and whether there is more. Without an older commit everything is new.
///
/// # Errors
/// If there are no such commits.
pub fn diff_commits(
    machine: &Machine,
    session: &Session,
    old: Option<u64>,
    new: u64,
    most: usize,
) -> Result<(String, bool), Refusal> {
    let (store, name) = (session.store()?, session.name()?);
    let files = |n| store.commit(&name, n).map(|c| c.state.files);
    let (old, new) = (old.map(files).transpose()?.unwrap_or_default(), files(new)?);
    let begun = store.session_info(&name)?.image;
    let is_ours = begun.is_none_or(|digest| digest == machine.engine().digest());
    let image = is_ours.then(|| machine.image_files()).transpose()?;
    let mut out = DiffBuffer { bytes: Vec::new(), most };
    let done = find_differences(&store, &old, &new, image.as_ref(), &mut |d| {
        text::write_unified(&d, &mut out)
    });
    let is_cut = match done {
        Ok(()) => false,
        Err(Error::Streams(e)) if e.kind() == std::io::ErrorKind::StorageFull => true,
        Err(e) => return Err(e.into()),
    };
    Ok((String::from_utf8_lossy(&out.bytes).into_owned(), is_cut))
}

/// A writer that takes a given number of bytes and no more.
struct DiffBuffer {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for DiffBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match bytes.len().min(self.most - self.bytes.len()) {
            0 if !bytes.is_empty() => Err(std::io::ErrorKind::StorageFull.into()),
            n => {
                self.bytes.extend_from_slice(&bytes[..n]);
                Ok(n)
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The position of the session in its history.
#[derive(Serialize, JsonSchema)]
pub struct HistoryPosition {
    commit: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The processes that the move has ended, each with its number and command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ended: Vec<String>,
}

impl HistoryPosition {
    fn position_at(commit: CommitSummary, what: &str) -> ToolResult<HistoryPosition> {
        let CommitSummary { number, ended, .. } = commit;
        let mut text = format!("{what} commit {number}");
        if !ended.is_empty() {
            text += &format!("; this has ended processes: {}", ended.join("; "));
        }
        ToolResult::new(HistoryPosition { commit: number, name: None, ended }, text)
    }
}

/// Moves a session in its history, and returns the commit that it is at then.
fn move_session(session: &Session, request: HistoryRequest) -> Result<CommitSummary, Error> {
    match session.apply(Request::History(request), Streams::default())? {
        Answer::Commit(commit) => Ok(commit),
        _ => Err(Error::Refused(Refusal::mismatch().text)),
    }
}

/// The arguments of `snapshot`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SnapshotArgs {
    /// Letters, digits, `.`, `_` and `-`.
    name: String,
}

impl ToolAction for SnapshotArgs {
    type Answer = HistoryPosition;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<HistoryPosition>, Refusal> {
        let session = call.session()?;
        let commit = session.head()?.number;
        let tag = HistoryRequest::Tag { name: self.name.clone(), number: commit };
        session.apply(Request::History(tag), Streams::default())?;
        let text = format!("commit {commit} is '{}'", self.name);
        Ok(ToolResult::new(
            HistoryPosition { commit, name: Some(self.name), ended: Vec::new() },
            text,
        ))
    }
}

/// The arguments of `undo`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    /// Calls to undo, 1 by default.
    #[serde(default)]
    steps: Option<u32>,
}

impl ToolAction for Undo {
    type Answer = HistoryPosition;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<HistoryPosition>, Refusal> {
        let session = call.session()?;
        let mut commit = move_session(&session, HistoryRequest::Undo)?;
        for _ in 1..self.steps.unwrap_or(1) {
            match move_session(&session, HistoryRequest::Undo) {
                Ok(further) => commit = CommitSummary { ended: commit.ended, ..further },
                // There is no commit before the first one.
                Err(Error::Store(store::StoreError::Nothing(_))) => break,
                Err(e) => return Err(e.into()),
            }
        }
        Ok(HistoryPosition::position_at(commit, "back at"))
    }
}

/// The arguments of `redo`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Redo {}

impl ToolAction for Redo {
    type Answer = HistoryPosition;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<HistoryPosition>, Refusal> {
        let commit = move_session(&*call.session()?, HistoryRequest::Redo)?;
        Ok(HistoryPosition::position_at(commit, "forward at"))
    }
}

/// The arguments of `restore`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Restore {
    /// Its number, or the name that `snapshot` gave it.
    commit: NumberOrName,
}

/// A commit.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum NumberOrName {
    Number(u64),
    Name(String),
}

impl ToolAction for Restore {
    type Answer = HistoryPosition;

    fn run_action(self, call: &ClientCall<'_>) -> Result<ToolResult<HistoryPosition>, Refusal> {
        let session = call.session()?;
        let number = match self.commit {
            NumberOrName::Number(number) => number,
            NumberOrName::Name(name) => match name.parse() {
                Ok(number) => number,
                Err(_) => {
                    let found = session.tags()?.into_iter().find(|(tag, _)| *tag == name);
                    found.ok_or(store::StoreError::NoTag(name))?.1
                }
            },
        };
        let commit = move_session(&session, HistoryRequest::Restore(number))?;
        Ok(HistoryPosition::position_at(commit, &format!("all is as it was at {number}, by")))
    }
}
