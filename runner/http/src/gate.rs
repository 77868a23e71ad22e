//! The checks that every request passes.

use crate::app::HttpApp;
use crate::problem::HttpProblem;
use crate::proxy::IN_PROTOCOL;
use crate::tokens::{Owner, RunningRequest, TokenLimits};
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderValue, Response, Uri, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tracing::Instrument;
use wasibox::TenantLimits;
use wasibox_actions::{SessionSpace, ToolScope};
use wasibox_mcp::ConnectionOwner;

/// The header that identifies a request and its log entries.
const REQUEST_ID: &str = "x-request-id";
/// The header that identifies a connection of the Model Context Protocol.
const CONNECTION: &str = "mcp-session-id";
/// The header that names the method of a request that stands alone (MCP 2026-07-28).
const METHOD: &str = "mcp-method";
/// The path at which such connections begin.
pub const MCP: &str = "/mcp";

/// The sender of a request.
#[derive(Clone)]
pub struct Caller {
    pub owner: Arc<Owner>,
    pub space: SessionSpace,
    /// The request counts as running while this exists.
    pub running: Arc<RunningRequest>,
}

impl Caller {
    /// Checks that the caller has a scope.
    ///
    /// # Errors
    /// Returns an error if the caller does not have it.
    pub fn check_scope(&self, scope: ToolScope) -> Result<(), HttpProblem> {
        if self.owner.scopes.contains(&scope) {
            Ok(())
        } else {
            Err(HttpProblem::forbidden(format!("the token lacks the scope '{}'", scope.name())))
        }
    }
}

/// Counts and logs a request, and gives it an id. This is the outermost layer.
pub async fn watch_request(
    State(app): State<Arc<HttpApp>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let begun = Instant::now();
    let id = format!("{:08x}-{}", app.seed, NEXT.fetch_add(1, Ordering::Relaxed));
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>();
    // Unknown paths share one label, because otherwise the number of labels would be unlimited.
    let route = route.map_or("none".to_owned(), |path| path.as_str().to_owned());
    let _running = app.running.begin_one();
    let span = tracing::info_span!(
        "request",
        id,
        http.request.method = known_method(method.as_str()),
        http.route = route,
        http.response.status_code = tracing::field::Empty,
        owner = tracing::field::Empty
    );
    #[cfg(feature = "opentelemetry")]
    crate::telemetry::follow_trace(&span, request.headers());
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, took) = (response.status().as_u16(), begun.elapsed());
    app.metrics.count_request(known_method(method.as_str()), &route, status, took);
    let owner = response.extensions().get::<Caller>().map(|c| c.owner.name.clone());
    let (owner, ms) = (owner.unwrap_or_default(), took.as_secs_f64() * 1e3);
    span.record("http.response.status_code", status).record("owner", &*owner);
    tracing::info!(%id, %method, %route, status, ms, %owner, "request");
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn known_method(method: &str) -> &str {
    match method {
        "GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "OPTIONS" | "PATCH" => method,
        _ => "other",
    }
}

/// Refuses requests that name another host, and requests from pages of other origins.
pub async fn check_origin(
    State(app): State<Arc<HttpApp>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    match app.is_own_page(request.headers(), request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Identifies the sender of a request.
pub async fn find_owner(
    State(app): State<Arc<HttpApp>>,
    mut request: Request,
    next: Next,
) -> Response<Body> {
    let caller = match app.find_caller(request.headers()) {
        Ok(caller) => caller,
        Err(problem) => return problem.into_response(),
    };
    let connection = request.headers().get(CONNECTION).map(|id| id.to_str().map(str::to_owned));
    let is_theirs = match &connection {
        None => true,
        Some(Ok(id)) => app.connections.owns_connection(&caller.owner.name, id),
        Some(Err(_)) => false,
    };
    if !is_theirs {
        // This is the protocol's answer for an unknown connection, after which the client opens a
        // new one.
        return HttpProblem::missing("there is no such connection").into_response();
    }
    let owner = ConnectionOwner {
        name: (&*caller.owner.name).into(),
        most: caller.owner.limits.connections,
    };
    // Connections begin only at the protocol's own path, by a message that names no connection. The
    // versions of the protocol that have this header have no connections.
    let may_begin = connection.is_none()
        && request.uri().path() == MCP
        && !request.headers().contains_key(METHOD);
    if may_begin && !app.connections.has_room(&owner) {
        return HttpProblem::limit("too many connections that are in use").into_response();
    }
    request.extensions_mut().insert(owner);
    request.extensions_mut().insert(caller.clone());
    let mut response = next.run(request).await;
    response.extensions_mut().insert(caller);
    response
}

impl HttpApp {
    fn is_own_page(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), HttpProblem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (host, other) = (hosts.next(), hosts.next());
        let host = host.and_then(|h| h.to_str().ok()).filter(|_| other.is_none());
        let Some(host) = host else {
            return Err(HttpProblem::invalid("exactly one Host header is needed"));
        };
        if uri.authority().is_some_and(|a| a.as_str() != host) {
            return Err(HttpProblem::invalid(
                "the host in the address differs from the Host header",
            ));
        }
        if !self.is_own_host(host) {
            let text = "the server does not go by this name; --allow-host adds one";
            return Err(HttpProblem::forbidden(text));
        }
        if uri.path().starts_with(crate::ports::LINKS) {
            // A link is all that its address needs, so the page that has it does not matter.
            return Ok(());
        }
        for origin in headers.get_all(header::ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            let authority = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
            let is_own = authority.is_some_and(|a| a.eq_ignore_ascii_case(host));
            if !is_own && !self.origins.iter().any(|o| o == origin) {
                return Err(HttpProblem::forbidden("pages of this origin may not send requests"));
            }
        }
        Ok(())
    }

    fn is_own_host(&self, host: &str) -> bool {
        if self.hosts.is_empty() {
            return true;
        }
        let Some(name) = host_name(host) else { return false };
        let is_one =
            |own: &String| own.eq_ignore_ascii_case(name) || own.eq_ignore_ascii_case(host);
        self.hosts.iter().any(is_one)
    }

    /// Returns the owner of a request's token, and the sessions that it may use.
    ///
    /// # Errors
    /// If the token is missing or invalid.
    pub fn find_space(
        &self,
        headers: &HeaderMap,
    ) -> Result<(Arc<Owner>, SessionSpace), HttpProblem> {
        let owner = match &self.tokens {
            None => self.anybody.clone(),
            Some(tokens) => {
                let token = request_token(headers).ok_or_else(HttpProblem::unauthorized)?;
                tokens.owner_of(&token).ok_or_else(HttpProblem::unauthorized)?.clone()
            }
        };
        let space = self.space_of_owner(&owner)?;
        Ok((owner, space))
    }

    /// Returns the sessions of an owner.
    ///
    /// # Errors
    /// If the owner's name is invalid.
    pub fn space_of_owner(&self, owner: &Owner) -> Result<SessionSpace, HttpProblem> {
        if self.tokens.is_none() {
            return Ok(self.machine.space());
        }
        let TokenLimits { sessions, awake, memory, .. } = owner.limits;
        Ok(self.machine.space_of(&owner.name, sessions, TenantLimits { awake, memory })?)
    }

    fn find_caller(&self, headers: &HeaderMap) -> Result<Caller, HttpProblem> {
        let (owner, space) = self.find_space(headers)?;
        let running = owner
            .begin_request()
            .map_err(|limit| HttpProblem::limit(format!("too many {limit}")))?;
        Ok(Caller { owner, space, running: Arc::new(running) })
    }
}

/// Returns the name or address of a `Host` without its port, if it is well formed: what follows the
/// last colon is a port, and nothing else follows an address in brackets (RFC 3986, 3.2.2).
pub fn host_name(host: &str) -> Option<&str> {
    let (name, rest) = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']')?,
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.len() <= 5;
    (rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port)).then_some(name)
}

/// Returns the token of a request, which must be given once, in one place.
fn request_token(headers: &HeaderMap) -> Option<Cow<'_, str>> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    match (all.next(), all.next()) {
        (Some(one), None) => {
            let (scheme, token) = one.to_str().ok()?.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token.into())
        }
        (None, _) if headers.contains_key(header::UPGRADE) => {
            let protocols = headers.get(header::SEC_WEBSOCKET_PROTOCOL)?.to_str().ok()?;
            protocols
                .split(',')
                .find_map(|p| p.trim().strip_prefix(IN_PROTOCOL))
                .map(unescape_token)
        }
        _ => None,
    }
}

/// Decodes a token that was sent as a protocol's name. Such names cannot contain '/' or '=', nor in
/// some implementations '+', so clients percent-encode these three. No other character of a token
/// has to be encoded.
fn unescape_token(name: &str) -> Cow<'_, str> {
    if name.contains('%') {
        name.replace("%2F", "/").replace("%3D", "=").replace("%2B", "+").into()
    } else {
        name.into()
    }
}

/// The number of running requests.
#[derive(Default)]
pub struct Gauge(AtomicU64);

/// A guard that counts as one running request until it is dropped.
pub struct GaugeGuard<'a>(&'a Gauge);

impl Gauge {
    fn begin_one(&self) -> GaugeGuard<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        GaugeGuard(self)
    }

    /// Returns the number of requests.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed) as usize
    }
}

impl Drop for GaugeGuard<'_> {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_ends_with_its_port() {
        for (host, name) in [
            ("127.0.0.1:8930", Some("127.0.0.1")),
            ("localhost", Some("localhost")),
            ("localhost:", Some("localhost")),
            ("[::1]:80", Some("::1")),
            ("[::1]", Some("::1")),
            ("127.0.0.1:8930.evil.example", None),
            ("127.0.0.1:8930:80", None),
            ("127.0.0.1:evil.example", None),
            ("[::1].evil.example", None),
            ("[::1]:80.evil.example", None),
            ("[::1", None),
            ("localhost:80@evil.example", None),
        ] {
            assert_eq!(host_name(host), name, "{host}");
        }
    }

    #[test]
    fn a_page_sends_any_token_as_a_protocol() {
        let headers = |name: &'static str| {
            let upgrade = (header::UPGRADE, HeaderValue::from_static("websocket"));
            let protocol = (header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(name));
            HeaderMap::from_iter([upgrade, protocol])
        };
        // encodeURIComponent('a/b+c==-._~')
        for (name, sent) in [
            ("wasibox, bearer.a%2Fb%2Bc%3D%3D-._~", "a/b+c==-._~"),
            ("wasibox,bearer.abcdefghijklmnop", "abcdefghijklmnop"),
        ] {
            assert_eq!(request_token(&headers(name)).as_deref(), Some(sent));
        }
        assert_eq!(request_token(&headers("wasibox")), None);
    }
}
