//! The state of the door, and where a request goes.
//!
//! A request is one to a sandbox if its host is `PORT-SANDBOX.anything`, or if it has the headers
//! `E2b-Sandbox-Id` and `E2b-Sandbox-Port`; so all addresses of the packages may be that of this one
//! listener. Every other request is one to the control plane.

use crate::fault::Fault;
use crate::registry::Registry;
use crate::sandbox::RunningBox;
use crate::{control, envd, interpreter, ports};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, header};
use axum::response::IntoResponse;
use std::sync::Arc;
use wasibox::TenantLimits;
use wasibox_actions::{Machine, SessionSpace, ToolScope};
use wasibox_http::{Owner, RunningRequest, TokenLimits, Tokens};

/// The port of a sandbox's own services, as the packages name it.
pub const ENVD_PORT: u16 = 49983;
/// The port of the code interpreter.
pub const INTERPRETER_PORT: u16 = 49999;
/// The version of the services whose behaviour this door has.
pub const ENVD_VERSION: &str = "0.6.4";

/// The state that all requests share.
pub struct E2bApp {
    pub machine: Machine,
    pub tokens: Tokens,
    pub registry: Arc<Registry>,
}

/// The sender of a request to the control plane.
pub struct KeyHolder {
    pub owner: Arc<Owner>,
    pub space: SessionSpace,
    /// The request counts as running while this exists.
    _running: Arc<RunningRequest>,
}

impl KeyHolder {
    /// Checks that the token has a scope.
    ///
    /// # Errors
    /// If it does not.
    pub fn check_scope(&self, scope: ToolScope) -> Result<(), Fault> {
        if self.owner.scopes.contains(&scope) {
            return Ok(());
        }
        let text = format!("the token lacks the scope '{}'", scope.name());
        Err(Fault::new(crate::fault::RpcCode::PermissionDenied, text))
    }
}

/// Builds the router of the door. Sandboxes are sessions of the machine, API keys its tokens.
pub fn e2b_router(machine: Machine, tokens: Tokens) -> Router {
    let registry = Registry::new(machine.clone());
    let app = Arc::new(E2bApp { machine, tokens, registry });
    Router::new().fallback(answer_request).with_state(app)
}

/// The place that a request is for.
struct SandboxTarget {
    id: String,
    port: u16,
}

async fn answer_request(State(app): State<Arc<E2bApp>>, request: Request) -> Response<Body> {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let begun = std::time::Instant::now();
    let checked = check_repeated(request.headers());
    let found = checked.and_then(|()| find_target(request.headers(), request.uri().host()));
    let mut response = match found {
        Ok(Some(target)) => answer_in_sandbox(&app, target, request).await,
        Ok(None) if path == envd::files::PATH => answer_signed(&app, request).await,
        Ok(None) => control::answer_control(&app, request).await,
        Err(fault) => fault.into_response(),
    };
    let (status, ms) = (response.status().as_u16(), begun.elapsed().as_secs_f64() * 1e3);
    tracing::info!(%method, path, status, ms, "e2b");
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// The headers that say who sends a request and what it is for. A second one is refused, as a proxy
/// in front of the server may have judged by it.
const SINGLE_HEADERS: &[&str] = &[
    "authorization",
    "e2b-sandbox-id",
    "e2b-sandbox-port",
    "e2b-traffic-access-token",
    "host",
    "x-access-token",
    "x-api-key",
];

/// Checks that a request has each of these headers once at most. A bearer token beside a key is no
/// repetition; the key counts.
///
/// # Errors
/// If one is repeated.
fn check_repeated(headers: &HeaderMap) -> Result<(), Fault> {
    match SINGLE_HEADERS.iter().find(|name| headers.get_all(**name).iter().nth(1).is_some()) {
        Some(name) => Err(Fault::invalid(format!("the header '{name}' is given twice"))),
        None => Ok(()),
    }
}

/// Returns the sandbox and the port that a request is for, if it is for one.
fn find_target(headers: &HeaderMap, host: Option<&str>) -> Result<Option<SandboxTarget>, Fault> {
    let text = |name: &str| headers.get(name).map(|v| v.to_str().unwrap_or_default());
    if let Some(id) = text("e2b-sandbox-id") {
        let port = text("e2b-sandbox-port").unwrap_or_default();
        let port = port.parse().map_err(|_| Fault::invalid("E2b-Sandbox-Port is no port"))?;
        return Ok(Some(SandboxTarget { id: id.to_owned(), port }));
    }
    let host = text("host").or(host).unwrap_or_default();
    let label = host.split('.').next().unwrap_or_default();
    let Some((port, id)) = label.split_once('-') else { return Ok(None) };
    let port = port.parse::<u16>().ok().filter(|_| crate::record::is_id(id));
    Ok(port.map(|port| SandboxTarget { id: id.to_owned(), port }))
}

async fn answer_in_sandbox(
    app: &Arc<E2bApp>,
    target: SandboxTarget,
    request: Request,
) -> Response<Body> {
    let running = match app.registry.find_running(&target.id).await {
        Ok(running) => running,
        Err(fault) => return fault.into_response(),
    };
    match target.port {
        ENVD_PORT => envd::answer_envd(app, running, request).await,
        INTERPRETER_PORT => interpreter::answer_interpreter(app, running, request).await,
        port => ports::answer_port(app, running, port, request).await,
    }
}

/// Answers a request with a signature in its address and no name of its sandbox, which is found by
/// the signature.
async fn answer_signed(app: &Arc<E2bApp>, request: Request) -> Response<Body> {
    let is_read = request.method() == Method::GET;
    let query = envd::files::FileQuery::of(request.uri());
    let found = query.and_then(|query| {
        let found =
            app.registry.all_running().into_iter().find(|b| query.is_signed(&b.token, is_read));
        found.ok_or_else(|| Fault::unauthenticated("the signature is none of a sandbox here"))
    });
    match found {
        Ok(running) => envd::answer_envd(app, running, request).await,
        Err(fault) => fault.into_response(),
    }
}

impl E2bApp {
    /// Identifies the sender of a request to the control plane.
    ///
    /// # Errors
    /// If there is no valid key, or too many requests at once.
    pub fn find_holder(&self, headers: &HeaderMap) -> Result<KeyHolder, Fault> {
        let missing =
            || Fault::unauthenticated("a valid API key is missing: it is a token of the server");
        let key = request_key(headers).ok_or_else(missing)?;
        let owner = self.tokens.owner_of(key).ok_or_else(missing)?.clone();
        let TokenLimits { sessions, awake, memory, .. } = owner.limits;
        let space = self.machine.space_of(&owner.name, sessions, TenantLimits { awake, memory })?;
        let running = begin_request(&owner)?;
        Ok(KeyHolder { owner, space, _running: running })
    }
}

/// Counts a request of an owner as running.
///
/// # Errors
/// If there are too many.
pub fn begin_request(owner: &Arc<Owner>) -> Result<Arc<RunningRequest>, Fault> {
    owner.begin_request().map(Arc::new).map_err(|limit| {
        Fault::new(crate::fault::RpcCode::ResourceExhausted, format!("too many {limit}"))
    })
}

/// Returns the API key of a request, in the header of the packages or as a bearer token.
fn request_key(headers: &HeaderMap) -> Option<&str> {
    if let Some(key) = headers.get("x-api-key") {
        return key.to_str().ok();
    }
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token)
}

/// Checks the sandbox's own token.
///
/// # Errors
/// If it is not the request's.
pub fn check_token(running: &RunningBox, headers: &HeaderMap) -> Result<(), Fault> {
    let given = headers.get("x-access-token").and_then(|v| v.to_str().ok()).unwrap_or_default();
    if equal_texts(given, &running.token) {
        return Ok(());
    }
    Err(Fault::unauthenticated("the request lacks the sandbox's access token"))
}

/// Compares two texts in a time that does not depend on where they differ.
pub fn equal_texts(a: &str, b: &str) -> bool {
    let differs =
        a.bytes().zip(b.bytes()).fold(a.len() ^ b.len(), |all, (a, b)| all | usize::from(a ^ b));
    std::hint::black_box(differs) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_its_sandbox_by_headers_or_host() {
        let id = "i2345abcdefghijklmnop";
        let of = |pairs: &[(&'static str, String)]| {
            let headers = pairs.iter().map(|(name, value)| {
                (header::HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
            });
            find_target(&headers.collect(), None).map(|t| t.map(|t| (t.id, t.port)))
        };
        let named = Some((id.to_owned(), 49983));
        let (by_id, by_port) =
            (("e2b-sandbox-id", id.into()), ("e2b-sandbox-port", "49983".into()));
        assert_eq!(of(&[by_id.clone(), by_port]).unwrap(), named);
        assert_eq!(of(&[("host", format!("49983-{id}.example.org:80"))]).unwrap(), named);
        assert_eq!(of(&[("host", "127.0.0.1:3000".into())]).unwrap(), None);
        assert_eq!(of(&[("host", "api-v2.example.org".into())]).unwrap(), None);
        assert!(of(&[by_id, ("e2b-sandbox-port", "x".into())]).is_err());
    }

    #[test]
    fn headers_that_decide_are_given_once() {
        let mut headers = HeaderMap::new();
        headers.append("x-api-key", HeaderValue::from_static("a"));
        headers.append(header::AUTHORIZATION, HeaderValue::from_static("Bearer b"));
        assert!(check_repeated(&headers).is_ok());
        assert_eq!(request_key(&headers), Some("a"));
        headers.append("x-api-key", HeaderValue::from_static("a"));
        let fault = check_repeated(&headers).unwrap_err();
        assert_eq!(fault.code, crate::fault::RpcCode::InvalidArgument);
    }

    #[test]
    fn texts_are_equal_as_a_whole() {
        assert!(equal_texts("abc", "abc"));
        assert!(!equal_texts("abc", "abd") && !equal_texts("abc", "ab") && !equal_texts("", "a"));
    }
}
