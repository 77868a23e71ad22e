//! Results for models: the output of a command, its pictures, and links to its files.

use crate::tool::{AnswerPart, ToolResult};
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

/// Returns an outcome in the forms for programs and for models. Digests of files are left out,
/// because they would be most of a long list.
pub fn command_result(
    session: &Session,
    mut outcome: Outcome,
    max_output: Option<u64>,
) -> ToolResult<Outcome> {
    let most = max_output.unwrap_or(OUTPUT).min(MOST_OUTPUT);
    for stream in [&mut outcome.stdout, &mut outcome.stderr] {
        let (text, is_cut) = shorten_text(stream, most);
        *stream = text.into_bytes();
        outcome.truncated |= is_cut;
    }
    let Outcome { value: text, value_json: json, value_bytes: bytes, .. } = outcome;
    let value = CellValue { text, json, bytes }.bounded(most);
    (outcome.value, outcome.value_json, outcome.value_bytes) =
        (value.text, value.json, value.bytes);
    outcome.truncated |= outcome.value_bytes.is_some();
    let mut parts = picture_parts(session, &outcome.files);
    parts.extend(link_parts(&outcome.files));
    outcome.files_truncated |= outcome.files.len() > LISTED;
    outcome.files.truncate(LISTED);
    outcome.files.iter_mut().for_each(|file| file.sha256 = None);
    parts.insert(0, AnswerPart::Text(in_words(&outcome)));
    ToolResult { answer: outcome, parts, doubled: Vec::new() }
}

fn in_words(ran: &Outcome) -> String {
    let mut text = String::from_utf8_lossy(&ran.stdout).into_owned();
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
        add(&format!("[stderr]\n{}", String::from_utf8_lossy(&ran.stderr)));
    }
    if ran.exit_code != 0 {
        add(&format!("[exit code {}]", ran.exit_code));
    }
    if let Some(limit) = ran.limit_hit {
        add(&format!("[limit: {}]", limit.name()));
    }
    if ran.put_back {
        add("[the interpreter has ended; the next cell continues from the state before this one]");
    }
    for what in &ran.background {
        add(&format!("[still running: {what}]"));
    }
    for f in ran.files.iter().take(LISTED_FILES) {
        add(&format!("[{} {}, {} bytes]", f.change.name(), f.path, f.size));
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
