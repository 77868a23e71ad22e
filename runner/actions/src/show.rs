//! Results for models: the output of a command, its pictures, and links to its files.

use crate::tool::{AnswerPart, ToolResult};
use schemars::JsonSchema;
use serde::Serialize;
use wasibox::files::{Answer, Request};
use wasibox::value::{CellValue, shorten_text};
use wasibox::{FileChange, FileChangeKind, Outcome, Session};

/// The number of bytes of each stream and of a value that a model gets by default, and at most.
pub const OUTPUT: u64 = 32 << 10;
pub const MOST_OUTPUT: u64 = 4 << 20;
/// The maximum number of pictures in a result, and of bytes of each.
const PICTURES: usize = 4;
const PICTURE: u64 = 2 << 20;
/// The maximum number of changed files that are listed in the text, and in the answer.
const LISTED_FILES: usize = 20;
const LISTED: usize = 1000;
/// The folder whose files are offered as resources.
pub const OUTPUT_FOLDER: &str = "/output/";

/// The result of a command.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CommandAnswer {
    pub stdout: String,
    pub stderr: String,
    /// 124: time limit, 130: cancelled, 137: killed.
    pub exit_code: u8,
    /// Files that were created, modified or deleted.
    pub files: Vec<ChangedFileInfo>,
    pub execution_time_ms: f64,
    /// Maximum bytes of memory that all its processes had together.
    pub peak_memory: u64,
    /// Output, a value or the list of files was shortened.
    pub truncated: bool,
    /// The limit that the command hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_hit: Option<String>,
    /// Processes that continue after the call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub background: Vec<String>,
    /// The value of a cell's last expression, as Python's `repr` or Node's `util.inspect` writes
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The same as JSON, where it is plain data and short enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_json: Option<serde_json::Value>,
    /// The minimum length of the value in bytes, if it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_bytes: Option<u64>,
    /// The interpreter has ended; the next cell continues from the state before this one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub put_back: bool,
    /// The commit that the call has made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
}

/// A file that was changed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ChangedFileInfo {
    pub path: String,
    /// created, modified or deleted.
    pub change: &'static str,
    pub size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

impl From<&FileChange> for ChangedFileInfo {
    fn from(f: &FileChange) -> ChangedFileInfo {
        let (path, mime_type) = (f.path.clone(), f.mime_type.clone());
        ChangedFileInfo { path, change: f.change.name(), size: f.size, mime_type }
    }
}

/// Returns an outcome in the forms for programs and for models.
pub fn command_result(
    session: &Session,
    outcome: Outcome,
    max_output: Option<u64>,
) -> ToolResult<CommandAnswer> {
    let most = max_output.unwrap_or(OUTPUT).min(MOST_OUTPUT);
    let (stdout, cut) = shorten_text(&outcome.stdout, most);
    let (stderr, cut_too) = shorten_text(&outcome.stderr, most);
    let (text, json, bytes) = (outcome.value, outcome.value_json, outcome.value_bytes);
    let value = CellValue { text, json, bytes }.bounded(most);
    let truncated =
        outcome.truncated || outcome.files_truncated || cut || cut_too || value.bytes.is_some();
    let ran = CommandAnswer {
        stdout,
        stderr,
        exit_code: outcome.exit_code,
        files: outcome.files.iter().take(LISTED).map(ChangedFileInfo::from).collect(),
        execution_time_ms: (outcome.duration_ms * 1000.0).round() / 1000.0,
        peak_memory: outcome.peak_memory,
        truncated: truncated || outcome.files.len() > LISTED,
        limit_hit: outcome.limit_hit.map(|l| l.name().to_owned()),
        background: outcome.background,
        value_json: value.json.as_deref().and_then(|j| serde_json::from_str(j).ok()),
        value: value.text,
        value_bytes: value.bytes,
        put_back: outcome.put_back,
        commit: outcome.commit,
    };
    let mut parts = vec![AnswerPart::Text(in_words(&ran))];
    parts.extend(picture_parts(session, &outcome.files));
    parts.extend(link_parts(&outcome.files));
    ToolResult { answer: ran, parts, doubled: Vec::new() }
}

fn in_words(ran: &CommandAnswer) -> String {
    let mut text = ran.stdout.clone();
    let mut add = |line: &str| {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(line);
    };
    if let Some(value) = &ran.value {
        add(value);
    }
    if let Some(bytes) = ran.value_bytes {
        add(&format!("[the value was cut: it has at least {bytes} bytes]"));
    }
    if !ran.stderr.is_empty() {
        add(&format!("[stderr]\n{}", ran.stderr));
    }
    if ran.exit_code != 0 {
        add(&format!("[exit code {}]", ran.exit_code));
    }
    if let Some(limit) = &ran.limit_hit {
        add(&format!("[limit: {limit}]"));
    }
    if ran.put_back {
        add("[the interpreter has ended; the next cell continues from the state before this one]");
    }
    for what in &ran.background {
        add(&format!("[still running: {what}]"));
    }
    for f in ran.files.iter().take(LISTED_FILES) {
        add(&format!("[{} {}, {} bytes]", f.change, f.path, f.size));
    }
    if let Some(more) = ran.files.len().checked_sub(LISTED_FILES).filter(|n| *n > 0) {
        add(&format!("[{more} more files]"));
    }
    if text.is_empty() {
        text.push_str("[no output]");
    }
    text
}

/// Returns whether clients show data of this type as a picture.
pub fn is_picture(mime: &str) -> bool {
    matches!(mime, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}

/// Returns the pictures that a command has made.
fn picture_parts(session: &Session, files: &[FileChange]) -> Vec<AnswerPart> {
    let is_wanted = |f: &&FileChange| {
        let is_there = f.change != FileChangeKind::Deleted;
        is_there && f.size <= PICTURE && f.mime_type.as_deref().is_some_and(is_picture)
    };
    let read = |f: &FileChange| {
        let request = Request::Download { path: f.path.clone(), offset: 0, limit: Some(PICTURE) };
        match session.files(&request) {
            Ok(Answer::Data { mime, data, next_offset: None, .. }) if is_picture(&mime) => {
                Some(AnswerPart::Image { mime, data: data.0 })
            }
            // The file was removed or has grown meanwhile; its name is in the list.
            _ => None,
        }
    };
    files.iter().filter(is_wanted).take(PICTURES).filter_map(read).collect()
}

/// Returns links to the files in the folder for results.
fn link_parts(files: &[FileChange]) -> Vec<AnswerPart> {
    let is_wanted =
        |f: &&FileChange| f.change != FileChangeKind::Deleted && f.path.starts_with(OUTPUT_FOLDER);
    let link = |f: &FileChange| AnswerPart::Link {
        path: f.path.clone(),
        mime: f.mime_type.clone(),
        size: f.size,
    };
    files.iter().filter(is_wanted).take(LISTED_FILES).map(link).collect()
}
