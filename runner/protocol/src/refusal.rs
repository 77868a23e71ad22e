//! Refusals of requests, in the form for clients.

use crate::check::RequestFault;
use crate::files::FilesError;
use serde::ser::{Serialize, SerializeStruct, Serializer};

/// The kind of a refusal. Doors map each kind to a status, a code or a class of exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
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
    /// The caller has cancelled the call, or has disconnected.
    Cancelled,
    /// The session was closed.
    Closed,
    /// A fault of the sandbox, its process, the store or the host.
    Internal,
}

impl RefusalKind {
    /// Returns the kind's name.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::RefusalKind::Busy.name(), "busy");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            RefusalKind::Invalid => "invalid",
            RefusalKind::Missing => "missing",
            RefusalKind::Conflict => "conflict",
            RefusalKind::Busy => "busy",
            RefusalKind::Limit => "limit",
            RefusalKind::Denied => "denied",
            RefusalKind::Cancelled => "cancelled",
            RefusalKind::Closed => "closed",
            RefusalKind::Internal => "internal",
        }
    }
}

/// The reason why a request was refused. The text is for the caller, most often a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    pub kind: RefusalKind,
    pub text: String,
    /// The name of an error about a file: `not_found`, `ambiguous`, `ENOSPC`.
    pub code: Option<String>,
    /// The text with facts of the host, such as paths, that remote clients do not get.
    pub detail: Option<String>,
}

impl Refusal {
    /// Makes a refusal of that kind, with the text that the caller is shown.
    ///
    /// ```
    /// use wasibox_protocol::{Refusal, RefusalKind};
    ///
    /// let refusal = Refusal::new(RefusalKind::Missing, "there is no commit 7");
    /// assert_eq!(refusal.to_string(), "there is no commit 7");
    /// ```
    pub fn new(kind: RefusalKind, text: impl std::fmt::Display) -> Refusal {
        Refusal { kind, text: text.to_string(), code: None, detail: None }
    }

    /// Makes the refusal of an invalid request.
    ///
    /// ```
    /// use wasibox_protocol::{Refusal, RefusalKind};
    ///
    /// assert_eq!(Refusal::invalid_request("no name").kind, RefusalKind::Invalid);
    /// ```
    pub fn invalid_request(text: impl std::fmt::Display) -> Refusal {
        Refusal::new(RefusalKind::Invalid, text)
    }

    /// Makes the refusal of a request to a closed session.
    ///
    /// ```
    /// use wasibox_protocol::{Refusal, RefusalKind};
    ///
    /// assert_eq!(Refusal::closed().kind, RefusalKind::Closed);
    /// ```
    pub fn closed() -> Refusal {
        Refusal::new(RefusalKind::Closed, "the session is closed")
    }

    /// Makes the refusal for an answer whose kind does not match the request, which is a fault of
    /// the sandbox.
    ///
    /// ```
    /// use wasibox_protocol::{Refusal, RefusalKind};
    ///
    /// assert_eq!(Refusal::mismatch().kind, RefusalKind::Internal);
    /// ```
    pub fn mismatch() -> Refusal {
        Refusal::new(RefusalKind::Internal, "another answer than was asked for")
    }

    /// Returns the text with all facts, which is meant for the operator of the host.
    ///
    /// ```
    /// assert_eq!(wasibox_protocol::Refusal::closed().full_text(), "the session is closed");
    /// ```
    pub fn full_text(&self) -> &str {
        self.detail.as_deref().unwrap_or(&self.text)
    }

    /// Returns the name of the class that packages have for the refusal. All errors about files
    /// have one class.
    ///
    /// ```
    /// use wasibox_protocol::Refusal;
    /// use wasibox_protocol::files::FilesError;
    ///
    /// let error = FilesError::Exists { path: "/a".into() };
    /// assert_eq!(Refusal::from(error).class_name(), "file");
    /// assert_eq!(Refusal::closed().class_name(), "closed");
    /// ```
    pub fn class_name(&self) -> &'static str {
        if self.code.is_some() { "file" } else { self.kind.name() }
    }
}

impl Serialize for Refusal {
    /// Writes the class, the text and the name of an error about a file, without facts of the host.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut o = s.serialize_struct("Refusal", 3)?;
        o.serialize_field("kind", self.class_name())?;
        o.serialize_field("text", &self.text)?;
        match &self.code {
            Some(code) => o.serialize_field("code", code)?,
            None => o.skip_field("code")?,
        }
        o.end()
    }
}

impl From<RequestFault> for Refusal {
    fn from(fault: RequestFault) -> Refusal {
        Refusal::invalid_request(fault)
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(e: serde_json::Error) -> Refusal {
        Refusal::invalid_request(e)
    }
}

impl From<std::io::Error> for Refusal {
    fn from(e: std::io::Error) -> Refusal {
        Refusal::new(RefusalKind::Internal, e)
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
        Refusal { code: e.name(), ..Refusal::new(kind, e) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_files_keep_their_names() {
        let e = Refusal::from(FilesError::NotFound { path: "/a".into(), similar: vec![] });
        assert_eq!((e.kind, e.code.as_deref()), (RefusalKind::Missing, Some("not_found")));
        let text = "Read-only file system".to_owned();
        let (action, path) = ("write".to_owned(), "/b".to_owned());
        let e = FilesError::System { action, path, code: "EROFS".into(), text };
        assert_eq!(Refusal::from(e).code.as_deref(), Some("EROFS"));
    }

    #[test]
    fn refusals_in_json_have_no_facts_of_the_host() {
        let refusal = Refusal { detail: Some("/srv/a.wbx".into()), ..Refusal::closed() };
        let want = serde_json::json!({"kind": "closed", "text": "the session is closed"});
        assert_eq!(serde_json::to_value(refusal).unwrap(), want);
        let file = Refusal::from(FilesError::Exists { path: "/a".into() });
        let file = serde_json::to_value(file).unwrap();
        assert_eq!((&file["kind"], &file["code"]), (&"file".into(), &"exists".into()));
    }
}
