//! A session's log, as JSON.

use serde_json::Value;
use wasibox::Refusal;
use wasibox::Session;

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
