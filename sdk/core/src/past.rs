//! A session's history, as JSON.

use crate::failure::SdkFailure;
use serde_json::{Value, json};
use wasibox::Session;
use wasibox::store::snapshot::{self, Commit};
use wasibox::store::{self};

/// The maximum number of bytes of a command that are shown.
const COMMAND: usize = 64 << 10;

/// Returns all commits, the oldest first.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_history(session: &Session) -> Result<String, SdkFailure> {
    let tags = session.tags()?;
    let all = session.history()?;
    let all: Result<Vec<Value>, SdkFailure> =
        all.iter().map(|commit| commit_json(session, commit, &tags)).collect();
    Ok(Value::Array(all?).to_string())
}

/// Returns the number of the current commit.
///
/// # Errors
/// Returns an error if the session has no history.
pub fn head_number(session: &Session) -> Result<u64, SdkFailure> {
    Ok(session.head()?.number)
}

/// Returns the tags and the numbers of their commits.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_tags(session: &Session) -> Result<Vec<(String, u64)>, SdkFailure> {
    Ok(session.tags()?)
}

/// Returns the log, the oldest entry first: objects with a time in nanoseconds since the epoch.
///
/// # Errors
/// Returns an error if the store cannot be read.
pub fn session_log(session: &Session) -> Result<String, SdkFailure> {
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

fn commit_json(
    session: &Session,
    commit: &Commit,
    tags: &[(String, u64)],
) -> Result<Value, SdkFailure> {
    let call = &commit.call;
    let command = session.store()?.with_objects(|o| call.command.load_bytes(o, 1 << 20));
    // A command of more than 1 MiB is shown as an empty text.
    let mut command = command.or_else(|e| match e {
        snapshot::SnapshotError::TooLarge(_) => Ok(Vec::new()),
        e => Err(store::StoreError::from(e)),
    })?;
    command.truncate(COMMAND);
    let names: Vec<&str> =
        tags.iter().filter(|(_, n)| *n == commit.number).map(|(name, _)| name.as_str()).collect();
    Ok(json!({
        "number": commit.number,
        "parent": commit.parent,
        "command": String::from_utf8_lossy(&command),
        "exit_code": call.exit_code,
        "time": call.time as f64 / 1e9,
        "duration": call.duration as f64 / 1e9,
        "changed_files": call.changed_count,
        "tags": names,
    }))
}
