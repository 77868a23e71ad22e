//! The errors of compiling and of running a script, with GNU's messages.

/// The error in a script that does not compile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// The offset in the joined script that was reached; `None` for errors that are found at the
    /// end.
    pub offset: Option<usize>,
    pub message: String,
}

/// The reason why a run ends early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SedRunError {
    /// The exit status and the message.
    #[error("{1}")]
    Fatal(u8, String),
    #[error("broken pipe")]
    BrokenPipe,
}
