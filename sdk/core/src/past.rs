//! Returns a session's history, tags and log, mostly as JSON.

use serde_json::{Value, json};
use wasibox::Refusal;
use wasibox::{Answer, CommitSummary, HistoryRequest, Request, Session, Streams};

/// The maximum number of bytes of a command in the history.
const COMMAND: usize = 64 << 10;

/// Returns all commits as JSON, the oldest first.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_history(session: &Session) -> Result<String, Refusal> {
    let request = Request::History(HistoryRequest::List { last: None });
    let Answer::Commits(all) = session.apply(request, Streams::default())? else {
        return Err(Refusal::mismatch());
    };
    Ok(all.iter().map(commit_json).collect::<Value>().to_string())
}

/// Returns the number of the current commit.
///
/// # Errors
/// Returns an error if the session has no history.
pub fn head_number(session: &Session) -> Result<u64, Refusal> {
    Ok(session.head()?.number)
}

/// Returns the tags, each with the number of its commit.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_tags(session: &Session) -> Result<Vec<(String, u64)>, Refusal> {
    Ok(session.tags()?)
}

/// Returns the log as JSON, the oldest entry first. Each entry is an object with a time in
/// nanoseconds since the epoch.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_log(session: &Session) -> Result<String, Refusal> {
    let mut all = Vec::new();
    session.audit(&mut |time, entry| {
        let mut entry: Value = serde_json::from_str(entry).unwrap_or(Value::Null);
        if let Value::Object(entry) = &mut entry {
            entry.insert("time".to_owned(), time.into());
        }
        all.push(entry);
    })?;
    Ok(Value::Array(all).to_string())
}

fn commit_json(commit: &CommitSummary) -> Value {
    let command = commit.command.as_deref().unwrap_or_default();
    json!({
        "number": commit.number,
        "parent": commit.parent,
        "command": String::from_utf8_lossy(&command[..command.len().min(COMMAND)]),
        "exit_code": commit.exit_code,
        "time": commit.time as f64 / 1e9,
        "duration": commit.duration as f64 / 1e9,
        "changed_files": commit.changed_files,
        "tags": commit.tags,
    })
}
