//! Refusals as problem documents (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use schemars::JsonSchema;
use serde::Serialize;
use wasibox_actions::{Refusal, RefusalKind};

/// A problem document: RFC 9457.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ProblemDocument<'a> {
    /// `urn:wasibox:problem:` and the kind of the problem.
    #[serde(rename = "type")]
    kind: String,
    title: &'static str,
    status: u16,
    detail: &'a str,
}

/// The reason why a request failed.
#[derive(Clone, Debug)]
pub struct HttpProblem {
    pub status: StatusCode,
    /// The kind of the problem, within `urn:wasibox:problem:`.
    pub kind: &'static str,
    pub detail: String,
}

impl HttpProblem {
    /// Creates a problem of that status and kind.
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> HttpProblem {
        HttpProblem { status, kind, detail: detail.into() }
    }

    /// Returns 401: no valid token.
    pub fn unauthorized() -> HttpProblem {
        HttpProblem::new(StatusCode::UNAUTHORIZED, "unauthorized", "a valid token is missing")
    }

    /// Returns 403: the token or the policy does not allow the request.
    pub fn forbidden(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// Returns 404: the object does not exist.
    pub fn missing(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::NOT_FOUND, "missing", detail)
    }

    /// Returns 400: the request is invalid.
    pub fn invalid(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// Returns 429: too many requests at once, or a quota is used up.
    pub fn limit(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, "limit", detail)
    }

    /// Returns 500. The cause is logged, but not sent to the client.
    pub fn internal() -> HttpProblem {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        HttpProblem::new(status, "internal", "the server could not do it")
    }

    /// Returns the problem document.
    pub fn document(&self) -> ProblemDocument<'_> {
        ProblemDocument {
            kind: format!("urn:wasibox:problem:{}", self.kind),
            title: self.status.canonical_reason().unwrap_or("Error"),
            status: self.status.as_u16(),
            detail: &self.detail,
        }
    }
}

impl From<Refusal> for HttpProblem {
    fn from(refusal: Refusal) -> HttpProblem {
        let (status, kind) = match refusal.kind {
            RefusalKind::Invalid => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            RefusalKind::Missing => (StatusCode::NOT_FOUND, "missing"),
            RefusalKind::Conflict => (StatusCode::CONFLICT, "conflict"),
            RefusalKind::Busy => (StatusCode::LOCKED, "busy"),
            RefusalKind::Limit => (StatusCode::PAYLOAD_TOO_LARGE, "limit"),
            RefusalKind::Denied => (StatusCode::FORBIDDEN, "forbidden"),
            RefusalKind::Cancelled => (StatusCode::SERVICE_UNAVAILABLE, "cancelled"),
            RefusalKind::Closed | RefusalKind::Internal => {
                // Paths of the host and similar details belong in the log only.
                tracing::error!(error = refusal.full_text(), "a call failed");
                return HttpProblem::internal();
            }
        };
        HttpProblem::new(status, kind, refusal.text)
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response<Body> {
        let mut response = (self.status, axum::Json(self.document())).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if self.status == StatusCode::UNAUTHORIZED {
            let how = HeaderValue::from_static("Bearer realm=\"wasibox\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        }
        response
    }
}
