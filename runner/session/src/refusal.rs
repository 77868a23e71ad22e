//! Errors of a session as clients get them.

use crate::error::{Error, ProcessFault};
use wasibox_protocol::{Refusal, RefusalKind};
use wasibox_sandbox::SandboxError;

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        let kind = match e {
            Error::Request(fault) => return fault.into(),
            Error::Store(e) => return e.into(),
            Error::Files(e) => return e.into(),
            Error::Cancelled => RefusalKind::Cancelled,
            Error::Busy => RefusalKind::Busy,
            Error::Process(ProcessFault::Ended(_) | ProcessFault::InputEnded(_)) => {
                RefusalKind::Conflict
            }
            Error::Process(ProcessFault::InputFull(_) | ProcessFault::TooMany(_)) => {
                RefusalKind::Limit
            }
            Error::Unready(_) => RefusalKind::Limit,
            Error::Network(_) | Error::Tool(_) | Error::Foreign(_) => RefusalKind::Invalid,
            Error::Cell(_) | Error::Unfit(_) | Error::Workspace(_) | Error::NoHistory => {
                RefusalKind::Conflict
            }
            Error::NoProcess(_) | Error::Sandbox(SandboxError::NotFound { .. }) => {
                RefusalKind::Missing
            }
            Error::Sandbox(SandboxError::NotExecutable { .. }) => {
                let code = Some("EACCES".to_owned());
                return Refusal { code, ..Refusal::new(RefusalKind::Internal, e) };
            }
            // The session has removed its working directory, or the caller has named one that does
            // not exist.
            Error::Sandbox(SandboxError::Cwd { .. }) => RefusalKind::Conflict,
            _ => RefusalKind::Internal,
        };
        Refusal::new(kind, e)
    }
}
