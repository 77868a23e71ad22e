//! The reasons why an operation fails.

use wasibox::files::FilesError;
use wasibox::{Error, SandboxError, store};

/// The kind of a failure. The packages have a class of exceptions for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdkFailureKind {
    /// The request is invalid.
    Invalid,
    /// The request names a session, commit, tag or file that does not exist.
    Missing,
    /// The request conflicts with the current state; for example, a name is taken.
    Conflict,
    /// Another process or another call holds a resource that the request needs.
    Busy,
    /// An error about a file; [`SdkFailure::code`] names it.
    File,
    /// The caller has cancelled the call.
    Cancelled,
    /// The session was closed.
    Closed,
    /// A fault of the sandbox, its process, the store or the host.
    Internal,
}

impl SdkFailureKind {
    /// Returns the kind's name, the same in all packages.
    pub fn name(self) -> &'static str {
        match self {
            SdkFailureKind::Invalid => "invalid",
            SdkFailureKind::Missing => "missing",
            SdkFailureKind::Conflict => "conflict",
            SdkFailureKind::Busy => "busy",
            SdkFailureKind::File => "file",
            SdkFailureKind::Cancelled => "cancelled",
            SdkFailureKind::Closed => "closed",
            SdkFailureKind::Internal => "internal",
        }
    }
}

/// The reason why an operation failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct SdkFailure {
    pub kind: SdkFailureKind,
    pub text: String,
    /// The name of a file error: `not_found`, `ambiguous`, `ENOSPC`.
    pub code: Option<String>,
}

impl SdkFailure {
    pub fn new(kind: SdkFailureKind, text: impl std::fmt::Display) -> SdkFailure {
        SdkFailure { kind, text: text.to_string(), code: None }
    }

    /// Creates the failure of an invalid request.
    pub fn invalid(text: impl std::fmt::Display) -> SdkFailure {
        SdkFailure::new(SdkFailureKind::Invalid, text)
    }

    /// Creates the failure of a request to a closed session.
    pub fn closed() -> SdkFailure {
        SdkFailure::new(SdkFailureKind::Closed, "the session is closed")
    }
}

impl From<Error> for SdkFailure {
    fn from(e: Error) -> SdkFailure {
        let kind = match e {
            Error::Store(e) => return e.into(),
            Error::Files(e) => return e.into(),
            Error::Cancelled => SdkFailureKind::Cancelled,
            Error::Busy => SdkFailureKind::Busy,
            Error::Request(_) | Error::Network(_) | Error::Tool(_) => SdkFailureKind::Invalid,
            Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) | Error::NoHistory => {
                SdkFailureKind::Conflict
            }
            Error::Sandbox(SandboxError::NotFound(_)) => SdkFailureKind::Missing,
            Error::Sandbox(SandboxError::NotExecutable { .. }) => {
                return SdkFailure {
                    code: Some("EACCES".into()),
                    ..SdkFailure::new(SdkFailureKind::File, e)
                };
            }
            // The session has removed its working directory, or the caller has named one that does
            // not exist.
            Error::Sandbox(SandboxError::Cwd { .. }) => SdkFailureKind::Conflict,
            _ => SdkFailureKind::Internal,
        };
        SdkFailure::new(kind, e)
    }
}

impl From<store::StoreError> for SdkFailure {
    fn from(e: store::StoreError) -> SdkFailure {
        use store::StoreError as E;
        let kind = match &e {
            E::NoSession(_) | E::NoCommit { .. } | E::NoTag(_) => SdkFailureKind::Missing,
            E::Exists(_) | E::Nothing(_) => SdkFailureKind::Conflict,
            E::Name | E::TooLong | E::Snapshot(_) | E::NotAStore => SdkFailureKind::Invalid,
            E::Busy { .. } => SdkFailureKind::Busy,
            E::Open { .. } | E::Io(_) | E::Database(_) | E::Version(_) | E::Damaged(_) => {
                SdkFailureKind::Internal
            }
        };
        SdkFailure::new(kind, e)
    }
}

impl From<FilesError> for SdkFailure {
    fn from(e: FilesError) -> SdkFailure {
        let code = match &e {
            FilesError::System { code, .. } => Some(code.clone()),
            // The variant's name is the only key of its JSON object, or the whole JSON string.
            e => match serde_json::to_value(e) {
                Ok(serde_json::Value::Object(o)) => o.keys().next().cloned(),
                Ok(serde_json::Value::String(s)) => Some(s),
                _ => None,
            },
        };
        SdkFailure { code, ..SdkFailure::new(SdkFailureKind::File, e) }
    }
}

impl From<serde_json::Error> for SdkFailure {
    fn from(e: serde_json::Error) -> SdkFailure {
        SdkFailure::invalid(e)
    }
}

impl From<std::io::Error> for SdkFailure {
    fn from(e: std::io::Error) -> SdkFailure {
        SdkFailure::new(SdkFailureKind::Internal, e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_files_keep_their_names() {
        let e = FilesError::NotFound { path: "/a".into(), similar: vec![] };
        let f = SdkFailure::from(Error::Files(e));
        assert_eq!((f.kind, f.code.as_deref()), (SdkFailureKind::File, Some("not_found")));
        let text = "Read-only file system".to_owned();
        let (action, path) = ("write".to_owned(), "/b".to_owned());
        let e = FilesError::System { action, path, code: "EROFS".into(), text };
        assert_eq!(SdkFailure::from(e).code.as_deref(), Some("EROFS"));
    }
}
