//! The errors of a transfer, each with the exit status that curl(1) lists for it.

use thiserror::Error;

/// A transfer that failed: `curl: (CODE) TEXT`.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum CurlError {
    #[error("Protocol \"{0}\" not supported")]
    Protocol(String),
    #[error("URL using bad/illegal format or missing URL")]
    Url,
    #[error("{what} in URL position {at}:\n{url}\n{:>at$}", "^", at = (*at).min(1000))]
    Glob { what: &'static str, at: usize, url: String },
    /// The policy allows no requests at all.
    #[error("{0} is not allowed by the sandbox's policy")]
    Denied(String),
    /// The host's message and the exit status that goes with it.
    #[error("{why}")]
    Host { code: u8, why: String },
    /// The host's answer cannot be decoded, or does not fit the step.
    #[error("the host's answer was not understood")]
    Answer,
    #[error("The requested URL returned error: {0}")]
    Status(u16),
    #[error("Failure writing output to destination")]
    Write,
    /// The reader of the output has closed it: no message is printed.
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

impl CurlError {
    pub(crate) fn code(&self) -> u8 {
        match self {
            CurlError::Protocol(_) => 1,
            CurlError::Url | CurlError::Glob { .. } => 3,
            CurlError::Denied(_) => 7,
            CurlError::Host { code, .. } => *code,
            CurlError::Status(_) => 22,
            CurlError::Write | CurlError::Closed => 23,
            CurlError::Read => 26,
            CurlError::Time(..) => 28,
            CurlError::Range => 33,
            CurlError::Redirects(_) => 47,
            CurlError::Answer => 56,
            CurlError::Encoding(_) => 61,
            CurlError::Size => 63,
            CurlError::Rewind => 65,
        }
    }
}

/// A command line that is not valid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum CurlUsageError {
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
    /// An option that this curl does not support, and the reason.
    #[error("option {0}: {1}")]
    Refused(String, &'static str),
    #[error("Can't open '{0}'!")]
    Upload(String),
    #[error("You can only select one HTTP request method!")]
    Methods,
    #[error("no URL specified!")]
    NoUrl,
}

impl CurlUsageError {
    pub(crate) fn code(&self) -> u8 {
        if matches!(self, CurlUsageError::File(_) | CurlUsageError::Upload(_)) { 26 } else { 2 }
    }
}
