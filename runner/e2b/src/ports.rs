//! Requests to the servers of a sandbox: those at ports of its loopback.

use crate::app::equal_texts;
use crate::fault::{Fault, RpcCode, run_blocking};
use crate::sandbox::RunningBox;
use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use axum::response::IntoResponse;
use hyper_util::rt::TokioIo;
use std::sync::Arc;

/// The headers that concern one connection only (RFC 9110, section 7.6.1), and this server's own.
const NOT_PASSED: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "e2b-sandbox-id",
    "e2b-sandbox-port",
    "e2b-traffic-access-token",
    "x-access-token",
];

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
pub async fn answer_port(running: Arc<RunningBox>, port: u16, request: Request) -> Response<Body> {
    if let Err(fault) = check_traffic(&running, request.headers()) {
        return fault.into_response();
    }
    match pass_request(running, port, request).await {
        Ok(response) => response,
        Err(fault) => fault.into_response(),
    }
}

async fn pass_request(
    running: Arc<RunningBox>,
    port: u16,
    request: Request,
) -> Result<Response<Body>, Fault> {
    let closed = move || {
        let text = format!("the sandbox runs, but its port is not open: {port}");
        Fault::with_status(StatusCode::BAD_GATEWAY, RpcCode::Unavailable, text)
    };
    let stream = run_blocking(move || running.session.connect(port).map_err(|_| closed())).await?;
    stream.set_nonblocking(true).map_err(|_| closed())?;
    let stream = tokio::net::UnixStream::from_std(stream).map_err(|_| closed())?;
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(|_| closed())?;
    tokio::spawn(async move { drop(connection.await) });
    let (mut parts, body) = request.into_parts();
    let target = parts.uri.path_and_query().map_or("/", |path| path.as_str());
    parts.uri = target.parse().map_err(|_| Fault::invalid("the address is malformed"))?;
    let named: Vec<HeaderName> = connection_names(&parts.headers);
    NOT_PASSED.iter().for_each(|name| drop(parts.headers.remove(*name)));
    named.iter().for_each(|name| drop(parts.headers.remove(name)));
    let host = HeaderValue::from_str(&format!("localhost:{port}"));
    host.into_iter().for_each(|host| drop(parts.headers.insert(header::HOST, host)));
    let answer = sender.send_request(Request::from_parts(parts, body)).await;
    let answer = answer.map_err(|e| {
        tracing::debug!(port, error = %e, "a server in a sandbox has not answered");
        closed()
    })?;
    let (mut parts, body) = answer.into_parts();
    for name in connection_names(&parts.headers) {
        parts.headers.remove(name);
    }
    parts.headers.remove(header::CONNECTION);
    parts.headers.remove(header::TRANSFER_ENCODING);
    Ok(Response::from_parts(parts, Body::new(body)))
}

/// Returns the headers that the header `Connection` names.
fn connection_names(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).into_iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}
