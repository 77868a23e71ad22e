//! Refusals as problem documents (RFC 9457).

use axum::body::Body;
use axum::http::{HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};
use wasibox_actions::{Refusal, RefusalKind};

/// Why a request was not done.
#[derive(Clone, Debug)]
pub struct HttpProblem {
    pub status: StatusCode,
    /// What kind it is, within `urn:wasibox:problem:`.
    pub kind: &'static str,
    pub detail: String,
}

impl HttpProblem {
    /// A problem of that status and kind.
    pub fn new(status: StatusCode, kind: &'static str, detail: impl Into<String>) -> HttpProblem {
        HttpProblem { status, kind, detail: detail.into() }
    }

    /// 401: no valid token.
    pub fn unauthorized() -> HttpProblem {
        HttpProblem::new(StatusCode::UNAUTHORIZED, "unauthorized", "a valid token is missing")
    }

    /// 403: the token or the policy does not allow it.
    pub fn forbidden(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::FORBIDDEN, "forbidden", detail)
    }

    /// 404.
    pub fn missing(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::NOT_FOUND, "missing", detail)
    }

    /// 400: the request makes no sense.
    pub fn invalid(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::BAD_REQUEST, "invalid", detail)
    }

    /// 429: too much at once, or a quota is used up.
    pub fn limit(detail: impl Into<String>) -> HttpProblem {
        HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, "limit", detail)
    }

    /// 500. What went wrong is logged, not told.
    pub fn internal() -> HttpProblem {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        HttpProblem::new(status, "internal", "the server could not do it")
    }

    /// The document.
    pub fn document(&self) -> Value {
        json!({
            "type": format!("urn:wasibox:problem:{}", self.kind),
            "title": self.status.canonical_reason().unwrap_or("Error"),
            "status": self.status.as_u16(),
            "detail": self.detail,
        })
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
            RefusalKind::Internal => {
                // Paths of the host and the like are for the log.
                tracing::error!(error = %refusal.text, "a call failed");
                return HttpProblem::internal();
            }
        };
        HttpProblem::new(status, kind, refusal.text)
    }
}

impl IntoResponse for HttpProblem {
    fn into_response(self) -> Response<Body> {
        let mut response = (self.status, self.document().to_string()).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if self.status == StatusCode::UNAUTHORIZED {
            let how = HeaderValue::from_static("Bearer realm=\"wasibox\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, how);
        }
        response
    }
}
