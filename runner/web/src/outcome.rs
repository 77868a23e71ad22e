//! What the page is told of a call: JSON with the names that the native packages have.

use serde::Serialize;
use wasibox_files::FileChange;

/// How a call has ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallEnd {
    Outcome(Box<PageOutcome>),
    Failed(PageFailure),
}

/// What became of a command or cell; `wasibox`'s type of this name has the words for each.
#[derive(Debug, Default, Serialize)]
pub struct PageOutcome {
    pub exit_code: u8,
    pub duration_ms: f64,
    pub cpu_ms: f64,
    pub peak_memory: u64,
    pub limit_hit: Option<&'static str>,
    pub truncated: bool,
    pub files: Vec<FileChange>,
    pub files_truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// A text, which the guest has written: whoever reads it looks whether it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_bytes: Option<u64>,
    pub ended: Vec<String>,
    pub put_back: bool,
    pub commit: Option<u64>,
}

/// What sort of reason it is that something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    Invalid,
    Missing,
    Conflict,
    File,
    Internal,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize)]
pub struct PageFailure {
    pub kind: FailureKind,
    pub text: String,
    /// Of a file's error, its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl PageFailure {
    /// A failure of that kind, with the text that the page is shown.
    pub fn new(kind: FailureKind, text: impl std::fmt::Display) -> PageFailure {
        PageFailure { kind, text: text.to_string(), code: None }
    }
}

/// As JSON. Nothing of it can fail to be written.
pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
