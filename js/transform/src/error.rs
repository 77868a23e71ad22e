//! Syntax errors with their positions.

use oxc::diagnostics::{Diagnostics, OxcDiagnostic};

/// The first syntax error of a source text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct JsSyntaxError {
    pub message: String,
    /// The number of the line, from 1.
    pub line: usize,
    /// The column, from 1, in UTF-16 units.
    pub column: usize,
    /// The number of UTF-16 units on that line that the error covers; at least 1.
    pub length: usize,
    /// The text of the line.
    pub text: String,
}

impl JsSyntaxError {
    pub(crate) fn new(source: &str, diagnostic: &OxcDiagnostic) -> JsSyntaxError {
        let label = diagnostic.labels.first();
        let (offset, length) = label.map_or((0, 0), |l| (l.offset() as usize, l.len() as usize));
        let mut at = offset.min(source.len());
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        let start = source[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = source[at..].find('\n').map_or(source.len(), |n| at + n);
        let mut stop = (at + length).min(end);
        while !source.is_char_boundary(stop) {
            stop -= 1;
        }
        let units = |text: &str| text.encode_utf16().count();
        let mut message = diagnostic.message.to_string();
        if let Some(help) = &diagnostic.help {
            message = format!("{message} ({help})");
        }
        JsSyntaxError {
            message,
            line: source[..at].matches('\n').count() + 1,
            column: units(&source[start..at]) + 1,
            length: units(&source[at..stop]).max(1),
            text: source[start..end].trim_end_matches('\r').to_string(),
        }
    }
}

/// Returns the first error among the diagnostics of a stage as an `Err`. Warnings are ignored.
pub(crate) fn first_error(source: &str, said: &Diagnostics) -> Result<(), JsSyntaxError> {
    match said.errors().next() {
        None => Ok(()),
        Some(diagnostic) => Err(JsSyntaxError::new(source, diagnostic)),
    }
}
