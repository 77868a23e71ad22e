//! Passes requests on to servers in sessions, by HTTP/1.1 over a byte stream to a port.
//!
//! The request that the server in the session gets is made of the parsed one: its framing is
//! ours (RFC 9112, section 11.2), headers of one connection are left out (RFC 9110, section 7.6.1), and
//! so is whatever belongs to this door ([`ProxyTarget::is_own_token`]). Bodies are streamed in both
//! directions, and a WebSocket is two streams of bytes after its handshake.
//!
//! What comes back is a guest's. Where it shares this server's origin ([`GuestOrigin::Shared`]), it is
//! confined by `Content-Security-Policy: sandbox`, and can neither set nor clear what a browser keeps
//! for the origin.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri, header};
use http_body::{Frame, SizeHint};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use wasibox::Session;

/// Headers that are not passed on to the session: those of one connection, and those that this server
/// sets itself or that say where a request comes from.
const NOT_TO_GUEST: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "keep-alive",
    "proxy",
    "proxy-authorization",
    "proxy-connection",
    "referer",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-forwarded-server",
    "x-real-ip",
];
/// Headers of a response that concern one connection only.
const NOT_FROM_GUEST: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
/// Headers of a response that act on a browser's data of a whole origin or host.
const NOT_FOR_SHARED: &[&str] = &[
    "alt-svc",
    "clear-site-data",
    "nel",
    "origin-agent-cluster",
    "report-to",
    "reporting-endpoints",
    "service-worker-allowed",
    "set-cookie",
    "set-login",
    "strict-transport-security",
    "www-authenticate",
];
/// The policy of pages that share this server's origin: they have an origin of their own instead.
const CONFINED: HeaderValue = HeaderValue::from_static(
    "sandbox allow-downloads allow-forms allow-modals allow-pointer-lock allow-popups allow-scripts",
);
/// The prefix of a token in the list of a WebSocket's protocols, for clients that cannot set headers.
pub const IN_PROTOCOL: &str = "bearer.";
/// The protocol that clients offer together with such a token.
const OWN_PROTOCOL: &str = "wasibox";

/// The address of the client of a connection.
#[derive(Clone, Copy, Debug)]
pub struct PeerAddress(pub SocketAddr);

/// Whose origin a response belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuestOrigin {
    /// This server's own: the address is a path of it.
    Shared,
    /// One of the port's own: the address has a host of its own.
    Own,
}

/// The server in a session that a request is for.
pub struct ProxyTarget<'a> {
    pub session: Arc<Session>,
    pub port: u16,
    /// The path and query in that server.
    pub path: String,
    /// The path of this server that stands for its root, without a slash at the end.
    pub prefix: String,
    pub origin: GuestOrigin,
    /// Further headers that are this door's own.
    pub own_headers: &'a [&'static str],
    /// The cookie that is this door's own.
    pub own_cookie: Option<&'static str>,
    /// Whether a text is a token of this server.
    pub is_own_token: &'a (dyn Fn(&str) -> bool + Sync),
    /// Ends the streams when the server ends.
    pub end: CancellationToken,
}

/// The reason why a request was not passed on, or not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    #[error("no program of the session listens at port {0}")]
    Closed(u16),
    #[error("the program at port {0} gave no HTTP response")]
    NoAnswer(u16),
    #[error("{0}")]
    Malformed(&'static str),
}

impl ProxyError {
    /// Returns the status that says so.
    pub fn status(self) -> StatusCode {
        match self {
            ProxyError::Closed(_) | ProxyError::NoAnswer(_) => StatusCode::BAD_GATEWAY,
            ProxyError::Malformed(_) => StatusCode::BAD_REQUEST,
        }
    }
}

/// Passes a request on, and returns the response, whose body is a stream. `guard` is kept until the
/// response has ended.
///
/// # Errors
/// If the request is malformed, nothing listens at the port, or what listens gives no response.
pub async fn pass_request<G: Send + Unpin + 'static>(
    target: ProxyTarget<'_>,
    mut request: Request,
    guard: G,
) -> Result<Response<Body>, ProxyError> {
    let port = target.port;
    let upgrade = wants_websocket(request.headers()).then(|| hyper::upgrade::on(&mut request));
    let (parts, body) = request.into_parts();
    let outer = OuterRequest::of(&parts);
    let has_own_protocol = offers_own_protocol(&parts.headers);
    let head = guest_head(&target, parts, &outer, upgrade.is_some())?;
    let session = target.session.clone();
    let connected = tokio::task::spawn_blocking(move || session.connect(port)).await;
    let stream = connected.ok().and_then(Result::ok).ok_or(ProxyError::Closed(port))?;
    let silent = |e: &dyn std::fmt::Display| {
        tracing::debug!(port, error = %e, "a server in a session has not answered");
        ProxyError::NoAnswer(port)
    };
    stream.set_nonblocking(true).map_err(|e| silent(&e))?;
    let stream = tokio::net::UnixStream::from_std(stream).map_err(|e| silent(&e))?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|e| silent(&e))?;
    // An error of the connection is one of the request, too.
    tokio::spawn(async move { drop(connection.with_upgrades().await) });
    let body = if upgrade.is_some() { Body::empty() } else { body };
    let answer = sender.send_request(Request::from_parts(head, body)).await;
    let mut answer = answer.map_err(|e| silent(&e))?;
    let guard = (guard, target.session.clone());
    match (answer.status(), upgrade) {
        (StatusCode::SWITCHING_PROTOCOLS, Some(outside)) => {
            let inside = hyper::upgrade::on(&mut answer);
            tokio::spawn(join_streams(outside, inside, target.end.clone(), guard));
            let (mut parts, _) = answer.into_parts();
            client_head(&target, &outer, &mut parts.headers);
            let headers = &mut parts.headers;
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            if has_own_protocol && !headers.contains_key(header::SEC_WEBSOCKET_PROTOCOL) {
                let own = HeaderValue::from_static(OWN_PROTOCOL);
                headers.insert(header::SEC_WEBSOCKET_PROTOCOL, own);
            }
            Ok(Response::from_parts(parts, Body::empty()))
        }
        (StatusCode::SWITCHING_PROTOCOLS, None) => Err(silent(&"it switches protocols unasked")),
        _ => {
            let (mut parts, body) = answer.into_parts();
            client_head(&target, &outer, &mut parts.headers);
            let end = Box::pin(target.end.clone().cancelled_owned());
            let body = Body::new(GuestBody { body, end, _guards: (guard, sender) });
            Ok(Response::from_parts(parts, body))
        }
    }
}

/// Parts of the request as the client has sent it, which responses depend on.
struct OuterRequest {
    host: String,
    is_https: bool,
    peer: Option<SocketAddr>,
}

impl OuterRequest {
    fn of(parts: &Parts) -> OuterRequest {
        let text = |name: &str| parts.headers.get(name).and_then(|v| v.to_str().ok());
        OuterRequest {
            host: text("host").unwrap_or_default().to_owned(),
            is_https: text("x-forwarded-proto").is_some_and(|p| p.eq_ignore_ascii_case("https")),
            peer: parts.extensions.get::<PeerAddress>().map(|peer| peer.0),
        }
    }

    fn scheme(&self) -> &'static str {
        if self.is_https { "https" } else { "http" }
    }

    /// Returns whether an `Origin` is that of this address, or of a confined page.
    fn is_own_origin(&self, origin: &str) -> bool {
        let authority = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
        origin == "null" || authority.is_some_and(|a| a.eq_ignore_ascii_case(&self.host))
    }
}

/// Returns whether a request asks to become a WebSocket. No other protocol is switched to.
fn wants_websocket(headers: &HeaderMap) -> bool {
    let is_one = |value: &HeaderValue| {
        value.to_str().is_ok_and(|text| text.trim().eq_ignore_ascii_case("websocket"))
    };
    let mut upgrades = headers.get_all(header::UPGRADE).iter();
    upgrades.next().is_some_and(is_one)
        && upgrades.next().is_none()
        && connection_names(headers).contains(&header::UPGRADE)
}

fn offers_own_protocol(headers: &HeaderMap) -> bool {
    let all = headers.get(header::SEC_WEBSOCKET_PROTOCOL).and_then(|v| v.to_str().ok());
    all.is_some_and(|all| all.split(',').any(|one| one.trim() == OWN_PROTOCOL))
}

/// Returns the head of the request to the guest's server.
fn guest_head(
    target: &ProxyTarget<'_>,
    parts: Parts,
    outer: &OuterRequest,
    is_upgrade: bool,
) -> Result<Parts, ProxyError> {
    let Parts { method, mut headers, .. } = parts;
    if headers.contains_key(header::CONTENT_LENGTH)
        && headers.contains_key(header::TRANSFER_ENCODING)
    {
        return Err(ProxyError::Malformed("a body has either a length or chunks"));
    }
    let has_body = headers.contains_key(header::TRANSFER_ENCODING)
        || headers.get(header::CONTENT_LENGTH).is_some_and(|length| length != "0");
    if is_upgrade && has_body {
        return Err(ProxyError::Malformed("a request for a WebSocket has no body"));
    }
    if method == hyper::Method::CONNECT || method == hyper::Method::TRACE {
        return Err(ProxyError::Malformed("the method is not passed on"));
    }
    let uri: Uri =
        target.path.parse().map_err(|_| ProxyError::Malformed("the path is malformed"))?;
    for name in connection_names(&headers) {
        headers.remove(name);
    }
    for name in NOT_TO_GUEST.iter().chain(target.own_headers) {
        headers.remove(*name);
    }
    let has_own_token = headers.get_all(header::AUTHORIZATION).iter().any(|value| {
        let token = value.to_str().ok().and_then(|text| text.split_once(' '));
        token.is_none_or(|(_, token)| (target.is_own_token)(token.trim()))
    });
    if has_own_token {
        headers.remove(header::AUTHORIZATION);
    }
    remove_protocols(&mut headers);
    match target.origin {
        GuestOrigin::Shared => drop(headers.remove(header::COOKIE)),
        GuestOrigin::Own => target.own_cookie.iter().for_each(|c| remove_cookie(&mut headers, c)),
    }
    let inner = format!("localhost:{}", target.port);
    let origins = headers.get_all(header::ORIGIN).iter().filter_map(|o| o.to_str().ok());
    if origins.into_iter().any(|origin| outer.is_own_origin(origin)) {
        set_header(&mut headers, header::ORIGIN, &format!("http://{inner}"));
    }
    set_header(&mut headers, header::HOST, &inner);
    let forwarded = [
        ("x-forwarded-host", outer.host.clone()),
        ("x-forwarded-proto", outer.scheme().to_owned()),
        ("x-forwarded-for", outer.peer.map(|p| p.ip().to_string()).unwrap_or_default()),
        ("x-forwarded-prefix", target.prefix.clone()),
    ];
    for (name, value) in forwarded.into_iter().filter(|(_, value)| !value.is_empty()) {
        set_header(&mut headers, HeaderName::from_static(name), &value);
    }
    if is_upgrade {
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    let (mut head, ()) = Request::new(()).into_parts();
    (head.method, head.uri, head.headers) = (method, uri, headers);
    Ok(head)
}

fn set_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Removes this server's token, and the protocol that clients offer with it, from the list of a
/// WebSocket's protocols.
fn remove_protocols(headers: &mut HeaderMap) {
    let Some(all) = headers.remove(header::SEC_WEBSOCKET_PROTOCOL) else { return };
    let text = all.to_str().unwrap_or_default();
    let has_token = text.split(',').any(|one| one.trim().starts_with(IN_PROTOCOL));
    let is_theirs =
        |one: &&str| !has_token || !(one.starts_with(IN_PROTOCOL) || *one == OWN_PROTOCOL);
    let rest: Vec<&str> = text.split(',').map(str::trim).filter(is_theirs).collect();
    if !rest.is_empty() {
        set_header(headers, header::SEC_WEBSOCKET_PROTOCOL, &rest.join(", "));
    }
}

fn remove_cookie(headers: &mut HeaderMap, name: &str) {
    let rest: Vec<String> = cookies(headers)
        .filter(|pair| pair.split('=').next().map(str::trim) != Some(name))
        .map(str::to_owned)
        .collect();
    headers.remove(header::COOKIE);
    if !rest.is_empty() {
        set_header(headers, header::COOKIE, &rest.join("; "));
    }
}

/// Returns the pairs of a request's cookies.
pub fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let all = headers.get_all(header::COOKIE).into_iter().filter_map(|v| v.to_str().ok());
    all.flat_map(|line| line.split(';')).map(str::trim).filter(|pair| !pair.is_empty())
}

/// Makes the headers of a guest's response those of the response to the client.
fn client_head(target: &ProxyTarget<'_>, outer: &OuterRequest, headers: &mut HeaderMap) {
    for name in connection_names(headers) {
        headers.remove(name);
    }
    for name in NOT_FROM_GUEST {
        headers.remove(*name);
    }
    if let Some(place) = headers.get(header::LOCATION).and_then(|v| v.to_str().ok()) {
        let place = outer_location(target, outer, place);
        set_header(headers, header::LOCATION, &place);
    }
    match target.origin {
        GuestOrigin::Shared => {
            for name in NOT_FOR_SHARED {
                headers.remove(*name);
            }
            // Each policy of several is kept to, so the guest's own stays.
            headers.append(header::CONTENT_SECURITY_POLICY, CONFINED);
        }
        GuestOrigin::Own => keep_cookies_here(headers, target.own_cookie),
    }
}

/// Returns a `Location` of the guest's server as an address of this server.
fn outer_location(target: &ProxyTarget<'_>, outer: &OuterRequest, place: &str) -> String {
    let inner = [
        format!("http://localhost:{}", target.port),
        format!("http://127.0.0.1:{}", target.port),
        format!("{}://{}", outer.scheme(), outer.host),
    ];
    let within = inner.iter().find_map(|inner| place.strip_prefix(inner.as_str()));
    match within.unwrap_or(place) {
        "" if within.is_some() => format!("{}/", target.prefix),
        path if within.is_some() && !path.starts_with(['/', '?', '#']) => place.to_owned(),
        path if path.starts_with("//") => place.to_owned(),
        path if path.starts_with('/') || within.is_some() => format!("{}{path}", target.prefix),
        _ => place.to_owned(),
    }
}

/// Keeps a guest's cookies at its own host, and this server's cookie out of its reach.
fn keep_cookies_here(headers: &mut HeaderMap, own: Option<&str>) {
    let all: Vec<String> = headers
        .get_all(header::SET_COOKIE)
        .into_iter()
        .filter_map(|v| v.to_str().ok())
        .map(str::to_owned)
        .collect();
    headers.remove(header::SET_COOKIE);
    for cookie in all {
        let name = cookie.split(['=', ';']).next().unwrap_or_default().trim();
        if own.is_some_and(|own| own.eq_ignore_ascii_case(name)) {
            continue;
        }
        let is_domain = |part: &&str| {
            let name = part.split('=').next().unwrap_or_default();
            name.trim().eq_ignore_ascii_case("domain")
        };
        let kept: Vec<&str> = cookie.split(';').filter(|part| !is_domain(part)).collect();
        if let Ok(value) = HeaderValue::from_str(&kept.join(";")) {
            headers.append(header::SET_COOKIE, value);
        }
    }
}

/// Returns the headers that the header `Connection` names.
fn connection_names(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(header::CONNECTION).into_iter().filter_map(|v| v.to_str().ok());
    values.flat_map(|v| v.split(',')).filter_map(|name| name.trim().parse().ok()).collect()
}

/// Copies bytes between two sides of a WebSocket until both have ended, or the server ends.
async fn join_streams<G>(outside: OnUpgrade, inside: OnUpgrade, end: CancellationToken, _guard: G) {
    let copy = async {
        let (Ok(outside), Ok(inside)) = tokio::join!(outside, inside) else { return };
        let (mut outside, mut inside) = (TokioIo::new(outside), TokioIo::new(inside));
        // An error is the end of one side, which the other one sees as its end.
        drop(tokio::io::copy_bidirectional(&mut outside, &mut inside).await);
    };
    tokio::select! {
        () = copy => {}
        () = end.cancelled() => {}
    }
}

/// The body of a guest's response.
struct GuestBody<G> {
    body: hyper::body::Incoming,
    end: Pin<Box<WaitForCancellationFutureOwned>>,
    _guards: G,
}

impl<G: Unpin> http_body::Body for GuestBody<G> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.end.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err(axum::Error::new("the server ends"))));
        }
        Pin::new(&mut self.body).poll_frame(cx).map_err(axum::Error::new)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
