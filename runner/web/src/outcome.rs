//! The result of a call for the page: JSON with the field names of the native packages.

use serde::Serialize;
use wasibox_files::FileChange;

/// The way a call ended.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallEnd {
    Outcome(Box<PageOutcome>),
    Failed(PageFailure),
}

/// The outcome of a command or cell; the type of this name in `wasibox` documents each field.
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
    /// A text written by the guest: the reader must check whether it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_json: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_bytes: Option<u64>,
    pub ended: Vec<String>,
    pub put_back: bool,
    pub commit: Option<u64>,
}

/// The category of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureKind {
    Invalid,
    Missing,
    Conflict,
    File,
    Internal,
}

/// The failure of an operation.
#[derive(Clone, Debug, Serialize)]
pub struct PageFailure {
    pub kind: FailureKind,
    pub text: String,
    /// The name of an error about a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl PageFailure {
    /// Makes a failure of that kind, with the text that the page is shown.
    pub fn new(kind: FailureKind, text: impl std::fmt::Display) -> PageFailure {
        PageFailure { kind, text: text.to_string(), code: None }
    }
}

/// Returns a value as JSON. None of these values can fail to serialise.
pub fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}
