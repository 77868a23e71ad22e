//! The log of a chat: a file of JSON lines, one for each message.

use crate::message::{ChatMessage, ChatRole, TokenCounts};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The maximum number of bytes of a log.
const MAX_LOG: u64 = 256 << 20;

/// A line of the log.
#[derive(Serialize, Deserialize)]
struct LoggedMessage {
    /// Seconds since 1970.
    time: u64,
    message: ChatMessage,
    /// The tokens of the request that gave this message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<TokenCounts>,
}

/// The reason why a log cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{0}: {1}")]
    Io(PathBuf, std::io::Error),
    #[error("{path}:{line}: not a line of a chat's log: {why}")]
    Line { path: PathBuf, line: usize, why: String },
    #[error("{0}: longer than {MAX_LOG} bytes")]
    Long(PathBuf),
}

/// A log that messages are added to.
pub struct ChatRecord {
    file: Option<(PathBuf, File)>,
}

impl ChatRecord {
    /// Creates a log that is kept nowhere.
    pub fn unkept() -> ChatRecord {
        ChatRecord { file: None }
    }

    /// Opens a log, or creates it for its owner alone. Returns the messages that it has and the sum
    /// of their tokens. A last line that is not complete, because the program was killed while it
    /// wrote it, is cut off. Calls without a result get one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read and written, or is not such a log.
    pub fn open(path: &Path) -> Result<(ChatRecord, Vec<ChatMessage>, TokenCounts), RecordError> {
        let failed = |why| RecordError::Io(path.into(), why);
        let options = || {
            let mut options = OpenOptions::new();
            options.read(true).append(true).create(true).mode(0o600);
            options
        };
        let mut file = options().open(path).map_err(failed)?;
        let mut text = Vec::new();
        (&mut file).take(MAX_LOG + 1).read_to_end(&mut text).map_err(failed)?;
        if text.len() as u64 > MAX_LOG {
            return Err(RecordError::Long(path.into()));
        }
        let whole = text.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let (mut messages, mut tokens) = (Vec::new(), TokenCounts::default());
        for (at, line) in text[..whole].split_inclusive(|b| *b == b'\n').enumerate() {
            let logged: LoggedMessage = serde_json::from_slice(line).map_err(|why| {
                RecordError::Line { path: path.into(), line: at + 1, why: why.to_string() }
            })?;
            tokens.add(logged.tokens.unwrap_or_default());
            messages.push(logged.message);
        }
        let rest = &text[whole..];
        if !rest.is_empty() {
            if !rest.starts_with(b"{\"time\":") {
                let line = messages.len() + 1;
                let why = "its end is missing".to_owned();
                return Err(RecordError::Line { path: path.into(), line, why });
            }
            file.set_len(whole as u64).map_err(failed)?;
        }
        let mut record = ChatRecord { file: Some((path.into(), file)) };
        for missing in unanswered_calls(&messages) {
            record.add(&missing, None)?;
            messages.push(missing);
        }
        Ok((record, messages, tokens))
    }

    /// Adds a message.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn add(
        &mut self,
        message: &ChatMessage,
        tokens: Option<TokenCounts>,
    ) -> Result<(), RecordError> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs());
        let logged = LoggedMessage { time, message: message.clone(), tokens };
        let failed = |why| RecordError::Io(path.clone(), why);
        let mut line = serde_json::to_vec(&logged).map_err(|why| failed(why.into()))?;
        line.push(b'\n');
        // One write, so that a line is whole or its end is missing.
        file.write_all(&line).map_err(failed)
    }
}

/// Returns results for the calls of the last assistant's message that have none.
fn unanswered_calls(messages: &[ChatMessage]) -> Vec<ChatMessage> {
    let Some(last) = messages.iter().rposition(|m| m.role == ChatRole::Assistant) else {
        return Vec::new();
    };
    let has_result = |id: &str| {
        messages[last..].iter().any(|message| message.tool_call_id.as_deref() == Some(id))
    };
    let calls = messages[last].tool_calls.iter().filter(|call| !has_result(&call.id));
    calls
        .map(|call| {
            ChatMessage::result(call, "The call was interrupted; it may or may not have been done.")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CalledFunction, ModelCall, function_type};

    #[test]
    fn a_chat_that_was_killed_goes_on() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("chat.jsonl");
        let call = |id: &str| ModelCall {
            id: id.into(),
            kind: function_type(),
            function: CalledFunction { name: "sandbox_exec".into(), arguments: "{}".into() },
        };
        let asked = ChatMessage {
            tool_calls: vec![call("a"), call("b")],
            ..ChatMessage::text(ChatRole::Assistant, "both")
        };
        let (mut record, before, _) = ChatRecord::open(&path).unwrap();
        assert!(before.is_empty());
        let tokens = TokenCounts { prompt_tokens: 3, completion_tokens: 4 };
        record.add(&ChatMessage::text(ChatRole::User, "do it\n"), None).unwrap();
        record.add(&asked, Some(tokens)).unwrap();
        record.add(&ChatMessage::result(&call("a"), "done"), None).unwrap();
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"time\":1,\"mess").unwrap();
        let (_, messages, counted) = ChatRecord::open(&path).unwrap();
        assert_eq!((messages.len(), counted), (4, tokens));
        assert_eq!(messages[1], asked);
        assert_eq!(messages[3].tool_call_id.as_deref(), Some("b"));
        assert!(messages[3].content.as_ref().unwrap().contains("interrupted"));
        // What was added is in the log, too.
        assert_eq!(ChatRecord::open(&path).unwrap().1, messages);
    }

    #[test]
    fn another_file_is_refused_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes.txt");
        for text in ["dear diary\n", "dear diary"] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(ChatRecord::open(&path), Err(RecordError::Line { line: 1, .. })));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
    }
}
