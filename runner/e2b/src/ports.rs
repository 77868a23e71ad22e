//! Requests to the servers of a sandbox: those at ports of its loopback.

use crate::app::{E2bApp, equal_texts};
use crate::fault::{Fault, RpcCode};
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Response};
use axum::response::IntoResponse;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;
use wasibox_http::proxy::{GuestOrigin, ProxyError, ProxyTarget, pass_request};

/// The headers that are this server's own.
const OWN_HEADERS: &[&str] =
    &["e2b-sandbox-id", "e2b-sandbox-port", "e2b-traffic-access-token", "x-access-token"];

/// Checks the token of requests to the ports, if the sandbox has one.
///
/// # Errors
/// If the request lacks it.
pub fn check_traffic(running: &RunningBox, headers: &HeaderMap) -> Result<(), Fault> {
    let Some(token) = &running.traffic_token else { return Ok(()) };
    let given = headers.get("e2b-traffic-access-token").and_then(|v| v.to_str().ok());
    if equal_texts(given.unwrap_or_default(), token) {
        return Ok(());
    }
    let text = "the sandbox's ports are not public: E2B-Traffic-Access-Token is missing";
    Err(Fault::new(RpcCode::PermissionDenied, text))
}

/// Passes a request on to a server in the sandbox.
pub async fn answer_port(
    app: &E2bApp,
    running: Arc<RunningBox>,
    port: u16,
    request: Request,
) -> Response<Body> {
    if let Err(fault) = check_traffic(&running, request.headers()) {
        return fault.into_response();
    }
    let stream = match running.owner.begin_stream() {
        Ok(stream) => stream,
        Err(limit) => {
            let text = format!("too many {limit}");
            return Fault::new(RpcCode::ResourceExhausted, text).into_response();
        }
    };
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let target = ProxyTarget {
        session: running.session.clone(),
        port,
        path,
        prefix: String::new(),
        origin: GuestOrigin::Own,
        own_headers: OWN_HEADERS,
        own_cookie: None,
        is_own_token: &|text| app.tokens.owner_of(text).is_some(),
        end: CancellationToken::new(),
    };
    let answer = pass_request(target, request, (running, stream)).await;
    answer.unwrap_or_else(|e| {
        let (code, text) = match e {
            ProxyError::Closed(port) | ProxyError::NoAnswer(port) => (
                RpcCode::Unavailable,
                format!("the sandbox runs, but its port is not open: {port}"),
            ),
            ProxyError::Malformed(text) => (RpcCode::InvalidArgument, text.to_owned()),
        };
        Fault::with_status(e.status(), code, text).into_response()
    })
}
