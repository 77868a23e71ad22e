//! Refusals. The control plane and uploads have `{"code", "message"}` with the status as the code;
//! calls of services have Connect's names of codes.

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use wasibox_actions::{Refusal, RefusalKind};

/// A code of Connect's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RpcCode {
    InvalidArgument,
    Unauthenticated,
    PermissionDenied,
    NotFound,
    AlreadyExists,
    FailedPrecondition,
    ResourceExhausted,
    DeadlineExceeded,
    Unimplemented,
    Unavailable,
    Internal,
}

impl RpcCode {
    /// Returns the name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            RpcCode::InvalidArgument => "invalid_argument",
            RpcCode::Unauthenticated => "unauthenticated",
            RpcCode::PermissionDenied => "permission_denied",
            RpcCode::NotFound => "not_found",
            RpcCode::AlreadyExists => "already_exists",
            RpcCode::FailedPrecondition => "failed_precondition",
            RpcCode::ResourceExhausted => "resource_exhausted",
            RpcCode::DeadlineExceeded => "deadline_exceeded",
            RpcCode::Unimplemented => "unimplemented",
            RpcCode::Unavailable => "unavailable",
            RpcCode::Internal => "internal",
        }
    }

    /// Returns the status of an answer that is no stream.
    pub fn status(self) -> StatusCode {
        match self {
            RpcCode::InvalidArgument | RpcCode::FailedPrecondition => StatusCode::BAD_REQUEST,
            RpcCode::Unauthenticated => StatusCode::UNAUTHORIZED,
            RpcCode::PermissionDenied => StatusCode::FORBIDDEN,
            RpcCode::NotFound => StatusCode::NOT_FOUND,
            RpcCode::AlreadyExists => StatusCode::CONFLICT,
            RpcCode::ResourceExhausted => StatusCode::TOO_MANY_REQUESTS,
            RpcCode::DeadlineExceeded => StatusCode::GATEWAY_TIMEOUT,
            RpcCode::Unimplemented => StatusCode::NOT_IMPLEMENTED,
            RpcCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            RpcCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The reason why a request failed.
#[derive(Clone, Debug)]
pub struct Fault {
    pub code: RpcCode,
    /// The status where it differs from the code's.
    status: Option<StatusCode>,
    pub message: String,
}

impl Fault {
    /// Makes a fault with the code's own status.
    pub fn new(code: RpcCode, message: impl Into<String>) -> Fault {
        Fault { code, status: None, message: message.into() }
    }

    /// Makes a fault with another status.
    pub fn with_status(status: StatusCode, code: RpcCode, message: impl Into<String>) -> Fault {
        Fault { code, status: Some(status), message: message.into() }
    }

    /// Makes the fault of an invalid request.
    pub fn invalid(message: impl Into<String>) -> Fault {
        Fault::new(RpcCode::InvalidArgument, message)
    }

    /// Makes the fault of something that does not exist.
    pub fn missing(message: impl Into<String>) -> Fault {
        Fault::new(RpcCode::NotFound, message)
    }

    /// Makes the fault of a request without a valid token.
    pub fn unauthenticated(message: impl Into<String>) -> Fault {
        Fault::new(RpcCode::Unauthenticated, message)
    }

    /// Makes the fault of something that this server does not have.
    pub fn unimplemented(message: impl Into<String>) -> Fault {
        Fault::new(RpcCode::Unimplemented, message)
    }

    /// Makes the fault of the server itself. The cause belongs in the log only.
    pub fn internal() -> Fault {
        Fault::new(RpcCode::Internal, "the server could not do it")
    }

    /// Makes the answer for a sandbox that does not run, as the packages recognise it.
    pub fn no_sandbox(id: &str) -> Fault {
        let text = format!("the sandbox {id} was not found, or does not run");
        Fault::with_status(StatusCode::BAD_GATEWAY, RpcCode::Unavailable, text)
    }

    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        self.status.unwrap_or(self.code.status())
    }

    /// Returns the error as Connect's protocol writes it.
    pub fn rpc_json(&self) -> Value {
        json!({ "code": self.code.name(), "message": self.message })
    }

    /// Returns the response of a call of a service that is no stream.
    pub fn rpc_response(&self) -> Response<Body> {
        // A sandbox that does not run is reported in front of its services, in the plain form.
        if self.status.is_some() {
            return self.clone().into_response();
        }
        json_response(self.status(), &self.rpc_json())
    }
}

/// Makes a response with a JSON document.
pub fn json_response(status: StatusCode, document: &Value) -> Response<Body> {
    let mut response = (status, document.to_string()).into_response();
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response<Body> {
        let status = self.status();
        json_response(status, &json!({ "code": status.as_u16(), "message": self.message }))
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        let full = matches!(refusal.code.as_deref(), Some("ENOSPC" | "EDQUOT"));
        let code = match refusal.kind {
            _ if full => {
                let status = StatusCode::INSUFFICIENT_STORAGE;
                return Fault::with_status(status, RpcCode::ResourceExhausted, refusal.text);
            }
            RefusalKind::Invalid => RpcCode::InvalidArgument,
            RefusalKind::Missing => RpcCode::NotFound,
            RefusalKind::Conflict => RpcCode::FailedPrecondition,
            RefusalKind::Busy | RefusalKind::Cancelled => RpcCode::Unavailable,
            RefusalKind::Limit => RpcCode::ResourceExhausted,
            RefusalKind::Denied => RpcCode::PermissionDenied,
            RefusalKind::Closed => RpcCode::Unavailable,
            RefusalKind::Internal if refusal.code.is_some() => RpcCode::InvalidArgument,
            RefusalKind::Internal => {
                tracing::error!(error = refusal.full_text(), "a call failed");
                return Fault::internal();
            }
        };
        Fault::new(code, refusal.text)
    }
}

impl From<wasibox::Error> for Fault {
    fn from(error: wasibox::Error) -> Fault {
        Refusal::from(error).into()
    }
}

/// Runs a blocking function on a thread for such functions.
///
/// # Errors
/// The function's own.
pub async fn run_blocking<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> Result<T, Fault> {
    tokio::task::spawn_blocking(act).await.map_err(|_| Fault::internal())?
}
