//! Why a call was not done.

use wasibox::Error;
use wasibox::files::FilesError;
use wasibox::store;

/// What kind of reason it is: doors have a status or a code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
    pub kind: Kind,
    pub text: String,
}

impl Refusal {
    /// A refusal of that kind, with the text that the caller is shown.
    pub fn new(kind: Kind, text: impl std::fmt::Display) -> Refusal {
        Refusal { kind, text: text.to_string() }
    }

    /// A request that makes no sense.
    pub fn invalid(text: impl std::fmt::Display) -> Refusal {
        Refusal::new(Kind::Invalid, text)
    }
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        match e {
            Error::Store(e) => e.into(),
            Error::Files(e) => e.into(),
            e => {
                let kind = match &e {
                    Error::Cancelled => Kind::Cancelled,
                    Error::Busy => Kind::Busy,
                    Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) => Kind::Conflict,
                    Error::Sandbox(wasibox::SandboxError::NotFound(_)) => Kind::Missing,
                    // The session has removed the directory that it was in.
                    Error::Sandbox(wasibox::SandboxError::Cwd { .. }) => Kind::Conflict,
                    _ => Kind::Internal,
                };
                Refusal::new(kind, e)
            }
        }
    }
}

impl From<store::Error> for Refusal {
    fn from(e: store::Error) -> Refusal {
        use store::Error as E;
        let kind = match &e {
            E::NoSession(_) | E::NoCommit { .. } | E::NoTag(_) => Kind::Missing,
            E::Exists(_) | E::Nothing(_) => Kind::Conflict,
            E::Name | E::TooLong | E::Snapshot(_) => Kind::Invalid,
            E::Busy { .. } => Kind::Busy,
            // Where the store lies is not for clients.
            E::Open { .. } | E::Io(_) | E::Database(_) => {
                return Refusal::new(Kind::Internal, "the store of sessions failed");
            }
            E::NotAStore | E::Version(_) | E::Damaged(_) => Kind::Internal,
        };
        Refusal::new(kind, e)
    }
}

impl From<FilesError> for Refusal {
    fn from(e: FilesError) -> Refusal {
        let kind = match &e {
            FilesError::NotFound { .. } => Kind::Missing,
            FilesError::Exists { .. } | FilesError::Changed { .. } => Kind::Conflict,
            FilesError::TooLarge { .. } | FilesError::Time { .. } => Kind::Limit,
            FilesError::System { code, .. } if code == "ENOENT" => Kind::Missing,
            FilesError::System { code, .. } if code == "ENOSPC" => Kind::Limit,
            FilesError::System { code, .. } if code == "EIO" => Kind::Internal,
            _ => Kind::Invalid,
        };
        Refusal::new(kind, e)
    }
}
