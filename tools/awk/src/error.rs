//! The errors that keep a program from compiling, or that stop it.

/// A program that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct AwkSyntaxError {
    /// The index of the source text, and the line in it, from 1.
    pub source_index: usize,
    pub line: usize,
    /// Offset of the token within its line, for the caret.
    pub column: usize,
    pub message: String,
    /// The exit status.
    pub status: u8,
}

/// A run that ends with status 2.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AwkRunError {
    #[error("{0}")]
    Fatal(String),
    /// Standard output was closed by its reader.
    #[error("broken pipe")]
    BrokenPipe,
}

impl AwkRunError {
    /// Returns an error that ends the program, with its text.
    pub fn fatal(message: impl Into<String>) -> AwkRunError {
        AwkRunError::Fatal(message.into())
    }
}
