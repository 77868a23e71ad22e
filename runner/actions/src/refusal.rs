//! Why a call was not done.

use wasibox::Error;
use wasibox::files::FilesError;
use wasibox::store;

/// What kind of reason it is: doors have a status or a code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// The request makes no sense.
    Invalid,
    /// It speaks of something that is not there.
    Missing,
    /// It does not go together with what is there: a name that is taken, a file that has changed.
    Conflict,
    /// Another process, or another call, has what it needs.
    Busy,
    /// It would be more than is allowed.
    Limit,
    /// It is not among what this client may do.
    Denied,
    /// Whoever asked has gone.
    Cancelled,
    /// Our fault, or the host's.
    Internal,
}

/// Why a call was not done. The text is for whoever asked, a model most often.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub text: String,
}

impl Refusal {
    /// A refusal of that kind, with the text that the caller is shown.
    pub fn new(kind: RefusalKind, text: impl std::fmt::Display) -> Refusal {
        Refusal { kind, text: text.to_string() }
    }

    /// A request that makes no sense.
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
                    Error::Cancelled => RefusalKind::Cancelled,
                    Error::Busy => RefusalKind::Busy,
                    Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) => RefusalKind::Conflict,
                    Error::Sandbox(wasibox::SandboxError::NotFound(_)) => RefusalKind::Missing,
                    // The session has removed the directory that it was in.
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
            // Where the store lies is not for clients.
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
