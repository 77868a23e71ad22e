//! The errors for which a script does not compile, with GNU's messages.

/// A script that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// Offset in the joined script where reading stood; `None` for errors found at the end.
    pub offset: Option<usize>,
    pub message: String,
}

/// A run that ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SedRunError {
    /// Message and exit status.
    #[error("{1}")]
    Fatal(u8, String),
    #[error("broken pipe")]
    BrokenPipe,
}
