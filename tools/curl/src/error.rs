//! What can go wrong, with the exit status that curl(1) lists for it.

use thiserror::Error;

/// A transfer that failed: `curl: (CODE) TEXT`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Error {
    #[error("Protocol \"{0}\" not supported")]
    Protocol(String),
    #[error("URL using bad/illegal format or missing URL")]
    Url,
    #[error("{what} in URL position {at}:\n{url}\n{:>at$}", "^", at = (*at).min(1000))]
    Glob { what: &'static str, at: usize, url: String },
    /// The host takes no requests at all.
    #[error("{0} is not allowed by the sandbox's policy")]
    Denied(String),
    /// What the host says, and the status it has for it.
    #[error("{why}")]
    Host { code: u8, why: String },
    /// The host's answer is none, or another one than belongs there.
    #[error("the host's answer was not understood")]
    Answer,
    #[error("The requested URL returned error: {0}")]
    Status(u16),
    #[error("Failure writing output to destination")]
    Write,
    /// Whoever read the output has gone: nothing is said.
    #[error("Failure writing output to destination")]
    Closed,
    #[error("Failed to open/read local data from file/application")]
    Read,
    #[error("Operation timed out after {0} milliseconds with {1} bytes received")]
    Time(u128, u64),
    #[error("HTTP server does not seem to support byte ranges. Cannot resume.")]
    Range,
    #[error("Maximum ({0}) redirects followed")]
    Redirects(u64),
    #[error("{0}")]
    Encoding(&'static str),
    #[error("Maximum file size exceeded")]
    Size,
    #[error("necessary data rewind was not possible")]
    Rewind,
}

impl Error {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Error::Protocol(_) => 1,
            Error::Url | Error::Glob { .. } => 3,
            Error::Denied(_) => 7,
            Error::Host { code, .. } => *code,
            Error::Status(_) => 22,
            Error::Write | Error::Closed => 23,
            Error::Read => 26,
            Error::Time(..) => 28,
            Error::Range => 33,
            Error::Redirects(_) => 47,
            Error::Answer => 56,
            Error::Encoding(_) => 61,
            Error::Size => 63,
            Error::Rewind => 65,
        }
    }
}

/// A command line that does not fit.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Usage {
    #[error("option {0}: is unknown")]
    Unknown(String),
    #[error("option {0}: requires parameter")]
    Parameter(String),
    #[error("option {0}: expected a proper numerical parameter")]
    Number(String),
    #[error("option {0}: is badly used here")]
    Bad(String),
    #[error("option {0}: the given option cannot be reversed with a --no- prefix")]
    Reversed(String),
    #[error("option {0}: error encountered when reading a file")]
    File(String),
    /// What this curl does not do, and why.
    #[error("option {0}: {1}")]
    Refused(String, &'static str),
    #[error("Can't open '{0}'!")]
    Upload(String),
    #[error("You can only select one HTTP request method!")]
    Methods,
    #[error("no URL specified!")]
    NoUrl,
}

impl Usage {
    pub(crate) fn code(&self) -> u8 {
        if matches!(self, Usage::File(_) | Usage::Upload(_)) { 26 } else { 2 }
    }
}
