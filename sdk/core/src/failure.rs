//! Why something was not done.

use wasibox::files::FilesError;
use wasibox::{Error, SandboxError, store};

/// What kind of reason it is. Each has a class of exceptions in the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request makes no sense.
    Invalid,
    /// It speaks of a session, a commit or a name that is not there.
    Missing,
    /// It does not go together with what is there, such as a name that is taken.
    Conflict,
    /// Another process, or another call, has what it needs.
    Busy,
    /// A file; which error it was stands in [`Failure::code`].
    File,
    /// Whoever waited for the call has gone.
    Cancelled,
    /// The session was closed.
    Closed,
    /// The sandbox, its process, the store or the host.
    Internal,
}

impl Kind {
    /// Its name, the same in all packages.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invalid => "invalid",
            Kind::Missing => "missing",
            Kind::Conflict => "conflict",
            Kind::Busy => "busy",
            Kind::File => "file",
            Kind::Cancelled => "cancelled",
            Kind::Closed => "closed",
            Kind::Internal => "internal",
        }
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    pub kind: Kind,
    pub text: String,
    /// Of a file's error, its name: `not_found`, `ambiguous`, `ENOSPC`.
    pub code: Option<String>,
}

impl Failure {
    pub fn new(kind: Kind, text: impl std::fmt::Display) -> Failure {
        Failure { kind, text: text.to_string(), code: None }
    }

    /// A request that makes no sense.
    pub fn invalid(text: impl std::fmt::Display) -> Failure {
        Failure::new(Kind::Invalid, text)
    }

    /// What is said of a session that was closed.
    pub fn closed() -> Failure {
        Failure::new(Kind::Closed, "the session is closed")
    }
}

impl From<Error> for Failure {
    fn from(e: Error) -> Failure {
        let kind = match e {
            Error::Store(e) => return e.into(),
            Error::Files(e) => return e.into(),
            Error::Cancelled => Kind::Cancelled,
            Error::Busy => Kind::Busy,
            Error::Network(_) | Error::Tool(_) => Kind::Invalid,
            Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) | Error::NoHistory => {
                Kind::Conflict
            }
            Error::Sandbox(SandboxError::NotFound(_)) => Kind::Missing,
            Error::Sandbox(SandboxError::NotExecutable { .. }) => {
                return Failure { code: Some("EACCES".into()), ..Failure::new(Kind::File, e) };
            }
            // The session has removed the directory that it was in, or the caller has named one that is not there.
            Error::Sandbox(SandboxError::Cwd { .. }) => Kind::Conflict,
            _ => Kind::Internal,
        };
        Failure::new(kind, e)
    }
}

impl From<store::Error> for Failure {
    fn from(e: store::Error) -> Failure {
        use store::Error as E;
        let kind = match &e {
            E::NoSession(_) | E::NoCommit { .. } | E::NoTag(_) => Kind::Missing,
            E::Exists(_) | E::Nothing(_) => Kind::Conflict,
            E::Name | E::TooLong | E::Snapshot(_) | E::NotAStore => Kind::Invalid,
            E::Busy { .. } => Kind::Busy,
            E::Open { .. } | E::Io(_) | E::Database(_) | E::Version(_) | E::Damaged(_) => {
                Kind::Internal
            }
        };
        Failure::new(kind, e)
    }
}

impl From<FilesError> for Failure {
    fn from(e: FilesError) -> Failure {
        let code = match &e {
            FilesError::System { code, .. } => Some(code.clone()),
            // The variant's name is the only key of its object, or all of its text.
            e => match serde_json::to_value(e) {
                Ok(serde_json::Value::Object(o)) => o.keys().next().cloned(),
                Ok(serde_json::Value::String(s)) => Some(s),
                _ => None,
            },
        };
        Failure { code, ..Failure::new(Kind::File, e) }
    }
}

impl From<serde_json::Error> for Failure {
    fn from(e: serde_json::Error) -> Failure {
        Failure::invalid(e)
    }
}

impl From<std::io::Error> for Failure {
    fn from(e: std::io::Error) -> Failure {
        Failure::new(Kind::Internal, e)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_files_keep_their_names() {
        let e = FilesError::NotFound { path: "/a".into(), similar: vec![] };
        let f = Failure::from(Error::Files(e));
        assert_eq!((f.kind, f.code.as_deref()), (Kind::File, Some("not_found")));
        let text = "Read-only file system".to_owned();
        let (action, path) = ("write".to_owned(), "/b".to_owned());
        let e = FilesError::System { action, path, code: "EROFS".into(), text };
        assert_eq!(Failure::from(e).code.as_deref(), Some("EROFS"));
    }
}
