//! Errors, with the facts that help to correct the request.

use serde::{Deserialize, Serialize};

/// The lines of a file that are most similar to a text that was not found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nearest {
    pub first: u64,
    pub last: u64,
    /// The lines with their numbers.
    pub shown: String,
    /// Whether the lines differ from the text in white space only.
    pub space_only: bool,
}

/// The reason why a request failed. The texts are written for the caller, most often a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FilesError {
    #[error("{path}: no such file or directory{}", similar_names(similar))]
    NotFound { path: String, similar: Vec<String> },
    /// Any other error of the file system; `code` is the name of the error number.
    #[error("cannot {action} {path}: {text} ({code}){}", errno_hint(code))]
    System { action: String, path: String, code: String, text: String },
    #[error("{path} is {found}, not a regular file{}", directory_hint(found))]
    NotAFile { path: String, found: String },
    #[error("{path} already exists; leave out create_only to replace it, or edit it")]
    Exists { path: String },
    #[error("{path} is a directory; delete it with recursive")]
    Directory { path: String },
    #[error("edit {edit}: the text is not in {path}{}{}", nearest_text(nearest), hint_text(hint))]
    NoMatch { path: String, edit: u64, nearest: Option<Nearest>, hint: Option<String> },
    #[error(
        "edit {edit}: the text is {count} times in {path}, at {}; give more of the text around the one you \
         mean, or set replace_all",
        at_lines(lines, *count)
    )]
    Ambiguous { path: String, edit: u64, count: u64, lines: Vec<u64> },
    #[error("edit {edit}: old and new are the same, so that nothing would change")]
    Same { edit: u64 },
    #[error("edit {edit}: old is empty; to make a file use write, to insert lines patch_lines")]
    EmptyOld { edit: u64 },
    #[error("{path} is not text ({mime}, {size} bytes); use download and upload")]
    Binary { path: String, mime: String, size: u64 },
    #[error(
        "{path} is not {encoding}: the bytes at {offset} are not a character; give another encoding (latin-1 \
         takes all bytes)"
    )]
    Encoding { path: String, encoding: String, offset: u64 },
    #[error("'{character}' cannot be written as latin-1")]
    Unencodable { character: char },
    #[error(
        "{path} has {size} bytes; more than {limit} are not edited here: use a command such as sed"
    )]
    TooLarge { path: String, size: u64, limit: u64 },
    #[error(
        "lines {first} to {last} were requested, but {path} has {lines}; to insert, last is first - 1"
    )]
    Lines { path: String, first: u64, last: u64, lines: u64 },
    #[error("lines {first} to {last} of {path} are not what was expected; they are now:\n{found}")]
    Unexpected { path: String, first: u64, last: u64, found: String },
    #[error("{path} was changed by another program meanwhile; read it again")]
    Changed { path: String },
    #[error("bad pattern '{pattern}': {why}")]
    Pattern { pattern: String, why: String },
    #[error("the patch cannot be read, line {line}: {why}")]
    Malformed { line: u64, why: String },
    #[error(
        "hunk {hunk} does not fit {path} (its line {line}); nothing was changed{}",
        nearest_text(nearest)
    )]
    Hunk { path: String, hunk: u64, line: u64, nearest: Option<Nearest> },
    #[error("{path}: {why}; nothing was changed")]
    Patch { path: String, why: String },
    #[error("{what} took longer than allowed; ask for less: a folder, include, a simpler pattern")]
    Time { what: String },
    #[error("{0}")]
    Invalid(String),
}

impl FilesError {
    /// Returns the name of the error: that of the error number, or that of the variant in JSON.
    pub fn name(&self) -> Option<String> {
        match self {
            FilesError::System { code, .. } => Some(code.clone()),
            // The variant's name is the only key of its JSON object, or the whole JSON string.
            e => match serde_json::to_value(e) {
                Ok(serde_json::Value::Object(o)) => o.keys().next().cloned(),
                Ok(serde_json::Value::String(s)) => Some(s),
                _ => None,
            },
        }
    }
}

fn similar_names(similar: &[String]) -> String {
    if similar.is_empty() {
        return String::new();
    }
    format!("; there is {}", similar.join(", "))
}

fn errno_hint(code: &str) -> &'static str {
    match code {
        "EACCES" => "; its permission bits or those of its folder forbid it",
        "EROFS" => "; it lies in a mount that may only be read",
        "ENOSPC" | "EDQUOT" => {
            "; the session's or the mount's disk quota is used up: delete something first"
        }
        "ENOMEM" => "; the session's memory is used up",
        "EBUSY" => "; a mount or a part of the system is there",
        "ENOTDIR" => "; a part of the path is a file",
        "EIO" => "; what is stored there is damaged",
        "ESTALE" => "; it was changed outside of the session",
        _ => "",
    }
}

fn directory_hint(found: &str) -> &'static str {
    if found == "a directory" { "; use ls, glob or grep" } else { "" }
}

fn nearest_text(nearest: &Option<Nearest>) -> String {
    match nearest {
        Some(n) => {
            let how = if n.space_only { "the same but for white space" } else { "most like it" };
            format!("; lines {} to {} are {how}:\n{}", n.first, n.last, n.shown)
        }
        None => String::new(),
    }
}

fn hint_text(hint: &Option<String>) -> String {
    hint.as_ref().map_or_else(String::new, |h| format!("\n{h}"))
}

fn at_lines(lines: &[u64], count: u64) -> String {
    let list: Vec<String> = lines.iter().map(u64::to_string).collect();
    let more = if (lines.len() as u64) < count { ", ..." } else { "" };
    format!("lines {}{more}", list.join(", "))
}
