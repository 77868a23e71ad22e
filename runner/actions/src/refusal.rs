//! The reasons why a call is refused.

use wasibox::Error;
use wasibox::files::FilesError;
use wasibox::store;

/// The kind of a reason. Servers map each kind to a status or a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request is invalid.
    Invalid,
    /// The request names an object that does not exist.
    Missing,
    /// The request conflicts with the current state: a name is taken, or a file has changed.
    Conflict,
    /// Another process or another call holds a resource that the request needs.
    Busy,
    /// The request would exceed a limit.
    Limit,
    /// This client is not allowed to make the request.
    Denied,
    /// The client has disconnected.
    Cancelled,
    /// A fault of this program or of the host.
    Internal,
}

/// The reason why a call was refused. The text is for the caller, most often a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub text: String,
}

impl Refusal {
    /// Creates a refusal of that kind, with the text that the caller is shown.
    pub fn new(kind: RefusalKind, text: impl std::fmt::Display) -> Refusal {
        Refusal { kind, text: text.to_string() }
    }

    /// Creates the refusal for an answer of another kind than the request's, a fault of ours.
    pub(crate) fn mismatch() -> Refusal {
        Refusal::new(RefusalKind::Internal, "another answer than was asked for")
    }

    /// Creates the refusal of an invalid request.
    pub fn invalid_request(text: impl std::fmt::Display) -> Refusal {
        Refusal::new(RefusalKind::Invalid, text)
    }
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        match e {
            Error::Store(e) => e.into(),
            Error::Files(e) => e.into(),
            e => {
                let kind = match &e {
                    Error::Request(_) => RefusalKind::Invalid,
                    Error::Cancelled => RefusalKind::Cancelled,
                    Error::Busy => RefusalKind::Busy,
                    Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) => RefusalKind::Conflict,
                    Error::Sandbox(wasibox::SandboxError::NotFound(_)) => RefusalKind::Missing,
                    // The session has removed its working directory.
                    Error::Sandbox(wasibox::SandboxError::Cwd { .. }) => RefusalKind::Conflict,
                    _ => RefusalKind::Internal,
                };
                Refusal::new(kind, e)
            }
        }
    }
}

impl From<store::StoreError> for Refusal {
    fn from(e: store::StoreError) -> Refusal {
        use store::StoreError as E;
        let kind = match &e {
            E::NoSession(_) | E::NoCommit { .. } | E::NoTag(_) => RefusalKind::Missing,
            E::Exists(_) | E::Nothing(_) => RefusalKind::Conflict,
            E::Name | E::TooLong | E::Snapshot(_) => RefusalKind::Invalid,
            E::Busy { .. } => RefusalKind::Busy,
            // The path of the store is not shown to clients.
            E::Open { .. } | E::Io(_) | E::Database(_) => {
                return Refusal::new(RefusalKind::Internal, "the store of sessions failed");
            }
            E::NotAStore | E::Version(_) | E::Damaged(_) => RefusalKind::Internal,
        };
        Refusal::new(kind, e)
    }
}

impl From<FilesError> for Refusal {
    fn from(e: FilesError) -> Refusal {
        let kind = match &e {
            FilesError::NotFound { .. } => RefusalKind::Missing,
            FilesError::Exists { .. } | FilesError::Changed { .. } => RefusalKind::Conflict,
            FilesError::TooLarge { .. } | FilesError::Time { .. } => RefusalKind::Limit,
            FilesError::System { code, .. } if code == "ENOENT" => RefusalKind::Missing,
            FilesError::System { code, .. } if code == "ENOSPC" => RefusalKind::Limit,
            FilesError::System { code, .. } if code == "EIO" => RefusalKind::Internal,
            _ => RefusalKind::Invalid,
        };
        Refusal::new(kind, e)
    }
}
