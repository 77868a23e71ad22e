//! The control plane.
//!
//! | file | contents |
//! |---|---|
//! | `create` | creating sandboxes; which templates there are |
//! | `life` | kill, pause, connect, time limits, forks, snapshots |
//! | `list` | lists with filters and pages, details, metrics, logs |

mod create;
mod life;
mod list;

pub use create::is_variable;

use crate::app::{E2bApp, ENVD_VERSION, KeyHolder};
use crate::fault::{Fault, RpcCode, json_response, run_blocking};
use crate::sandbox::KnownBox;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode};
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::sync::Arc;
use wasibox_actions::ToolScope;

/// The maximum bytes of a request's body.
const BODY: usize = 4 << 20;
/// The name of this server as the client of a sandbox.
const CLIENT: &str = "wasibox";

/// A request to the control plane, with its sender.
struct ControlRequest {
    app: Arc<E2bApp>,
    holder: KeyHolder,
    body: Vec<u8>,
    query: String,
}

impl ControlRequest {
    /// Reads the body; an empty one has the default values.
    fn body<T: DeserializeOwned + Default>(&self) -> Result<T, Fault> {
        if self.body.is_empty() {
            return Ok(T::default());
        }
        serde_json::from_slice(&self.body).map_err(|e| Fault::invalid(format!("the body: {e}")))
    }

    /// Returns the values of a query's parameter.
    fn parameters(&self, name: &str) -> Vec<String> {
        let pairs = parse_query(&self.query);
        pairs.into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
    }

    fn parameter(&self, name: &str) -> Option<String> {
        self.parameters(name).into_iter().next()
    }

    fn number(&self, name: &str) -> Result<Option<u64>, Fault> {
        let wrong = |_| Fault::invalid(format!("{name} is not a number"));
        self.parameter(name).map(|text| text.parse().map_err(wrong)).transpose()
    }

    fn find(&self, id: &str) -> Result<Arc<KnownBox>, Fault> {
        self.app.registry.find(&self.holder, id)
    }
}

/// An answer: a status with a document, or without.
type Answered = Result<(StatusCode, Option<Value>), Fault>;

fn done() -> Answered {
    Ok((StatusCode::NO_CONTENT, None))
}

fn found(document: Value) -> Answered {
    Ok((StatusCode::OK, Some(document)))
}

/// Answers a request to the control plane.
pub async fn answer_control(app: &Arc<E2bApp>, request: Request) -> Response<Body> {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    if method == Method::GET && uri.path() == "/health" {
        return (StatusCode::OK, "OK\n").into_response();
    }
    let holder = match app.find_holder(request.headers()) {
        Ok(holder) => holder,
        Err(fault) => return fault.into_response(),
    };
    let Ok(bytes) = to_bytes(request.into_body(), BODY).await else {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        let text = format!("the body has more than {BODY} bytes");
        return Fault::with_status(status, RpcCode::ResourceExhausted, text).into_response();
    };
    let (app, query) = (app.clone(), uri.query().unwrap_or_default().to_owned());
    let request = ControlRequest { app, holder, body: bytes.to_vec(), query };
    let path = uri.path().to_owned();
    if method == Method::GET && matches!(&*path, "/v2/sandboxes" | "/snapshots") {
        let listed = run_blocking(move || list::list_page(&request, &path)).await;
        return listed.unwrap_or_else(|fault| fault.into_response());
    }
    match run_blocking(move || act(&request, &method, &path)).await {
        Ok((status, Some(document))) => json_response(status, &document),
        Ok((status, None)) => status.into_response(),
        Err(fault) => fault.into_response(),
    }
}

/// Carries out a request.
fn act(request: &ControlRequest, method: &Method, path: &str) -> Answered {
    let path = path.strip_prefix("/v2").filter(|rest| rest.starts_with('/')).unwrap_or(path);
    let parts: Vec<String> = path.trim_matches('/').split('/').map(|p| decode(p, false)).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    let scope = if method == Method::GET { ToolScope::Read } else { ToolScope::Manage };
    request.holder.check_scope(scope)?;
    match (method.as_str(), &*parts) {
        ("POST", ["sandboxes"]) => create::create_sandbox(request),
        ("GET", ["sandboxes"]) => list::list_running(request),
        ("GET", ["sandboxes", "metrics"]) => list::latest_metrics(request),
        ("GET", ["sandboxes", id]) => list::get_sandbox(request, id),
        ("DELETE", ["sandboxes", id]) => life::kill(request, id),
        ("POST", ["sandboxes", id, "pause"]) => life::pause(request, id),
        ("POST", ["sandboxes", id, "connect" | "resume"]) => life::connect(request, id),
        ("POST", ["sandboxes", id, "timeout"]) => life::set_timeout(request, id),
        ("POST", ["sandboxes", id, "refreshes"]) => life::refresh(request, id),
        ("POST", ["sandboxes", id, "fork"]) => life::fork(request, id),
        ("POST", ["sandboxes", id, "snapshots"]) => life::make_snapshot(request, id),
        ("GET", ["sandboxes", id, "metrics"]) => list::get_metrics(request, id),
        ("GET", ["sandboxes", id, "logs"]) => list::get_logs(request, id),
        ("PUT", ["sandboxes", id, "network"]) => create::change_network(request, id),
        ("GET", ["templates"]) => create::list_templates(),
        ("GET", ["templates", "aliases", name]) => create::find_template(request, name),
        ("DELETE", ["templates", id]) => life::remove_snapshot(request, id),
        _ => Err(Fault::missing("this server has nothing at this path")),
    }
}

/// Describes a sandbox to the client that may use it.
fn describe_access(known: &KnownBox) -> Value {
    let record = known.record();
    json!({
        "sandboxID": known.id,
        "templateID": record.template,
        "alias": record.template,
        "clientID": CLIENT,
        "envdVersion": ENVD_VERSION,
        "envdAccessToken": record.token,
        "trafficAccessToken": record.traffic_token,
        "domain": null,
    })
}

/// Returns the names and values of a query.
pub fn parse_query(query: &str) -> Vec<(String, String)> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name, true), decode(value, true))
    };
    pairs.map(pair).collect()
}

/// Decodes percent escapes, and with `plus` also `+` as a space. Other text stays.
pub fn decode(text: &str, plus: bool) -> String {
    let digit = |b: Option<&u8>| (*b? as char).to_digit(16);
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
                continue;
            }
            (b'+', ..) if plus => out.push(b' '),
            _ => out.push(byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_decoded() {
        let pairs = parse_query("a=b%20c+d&%zz&x=%e2%82%ac");
        let expected = [("a", "b c d"), ("%zz", ""), ("x", "€")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
        assert_eq!((decode("a+b%2", false), decode("%", true)), ("a+b%2".into(), "%".into()));
    }
}
