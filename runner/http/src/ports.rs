//! Servers of sessions, from outside: the list of ports, signed links, and the addresses that lead to
//! a port.
//!
//! | address | who may use it |
//! |---|---|
//! | `/v1/sessions/NAME/ports/PORT/...` | a token with the scope `run` |
//! | `/v1/links/LINK/...` | every client that has the link |
//! | `PORT-NAME.HOST/...`, with `--ports-host HOST` | a token with the scope `run` |
//! | `PORT-NAME-MARK.HOST/...` | every client that has the link, which is in a cookie of that host then |
//!
//! # Invariants
//! - A port is one of the session that the token's owner, or the signed link, names: there is no other
//!   way to choose where a request goes. Sessions have no way to the host's loopback.
//! - Neither a token nor the link's cookie reaches a guest.
//! - A guest's page never has this server's origin.

use crate::app::HttpApp;
use crate::gate::Caller;
use crate::links::{PortLink, epoch_seconds, is_label};
use crate::problem::HttpProblem;
use crate::proxy::{GuestOrigin, ProxyError, ProxyTarget, cookies, pass_request};
use crate::sessions::run_blocking;
use crate::tokens::{Owner, RunningStream};
use axum::body::{Body, Bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::{Extension, Json};
use http_body::{Frame, SizeHint};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use wasibox::PortSummary;
use wasibox_actions::{
    PortAddress, PortDoor, PortQuestion, Refusal, RefusalKind, SessionSpace, ToolScope,
};

/// The path under which links are used.
pub const LINKS: &str = "/v1/links/";
/// The parameter that brings a link to a host of its own, and the cookie that keeps it there.
const LINK: &str = "wasibox-link";
/// The life of a link in seconds: by default, and at most.
const LIFE: u64 = 3600;
const LONGEST_LIFE: u64 = 7 * 24 * 3600;

/// The ports of a session.
#[derive(Serialize, JsonSchema)]
pub struct PortList {
    ports: Vec<PortSummary>,
}

/// The request for a link.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRequest {
    port: u16,
    /// The life of the link in seconds: 3600 by default, a week at most.
    #[serde(default)]
    seconds: Option<u64>,
}

/// A link.
#[derive(Serialize, JsonSchema)]
pub struct LinkAnswer {
    port: u16,
    /// The address of the port at this server, a path that ends with a slash.
    path: String,
    /// The address with a host of its own, if the server has such hosts (`--ports-host`) and the
    /// session's name can be a part of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    /// Seconds since the epoch.
    expires: u64,
}

/// `GET /v1/sessions/{session}/ports`: lists the ports at which programs of the session listen.
pub async fn list_ports(
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Json<PortList>, HttpProblem> {
    caller.check_scope(ToolScope::Read)?;
    let listed = run_blocking(move || Ok(caller.space.open(&name)?.ports()?));
    Ok(Json(PortList { ports: listed.await? }))
}

/// `POST /v1/sessions/{session}/links`: makes a link to a port.
pub async fn make_link(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response<Body>, HttpProblem> {
    caller.check_scope(ToolScope::Run)?;
    let asked: LinkRequest =
        serde_json::from_slice(&body).map_err(|e| HttpProblem::invalid(e.to_string()))?;
    let seconds = asked.seconds.unwrap_or(LIFE);
    if asked.port == 0 || !(1..=LONGEST_LIFE).contains(&seconds) {
        return Err(HttpProblem::invalid(link_bounds()));
    }
    let (space, session) = (caller.space.clone(), name.clone());
    run_blocking(move || space.open(&name).map(drop)).await?;
    let link = PortLink {
        owner: caller.owner.name.clone(),
        session,
        port: asked.port,
        expires: epoch_seconds() + seconds,
    };
    let answer = app.answer_link(&link, &ServerAddress::of_request(&headers));
    let answer = answer.ok_or_else(HttpProblem::internal)?;
    Ok((StatusCode::CREATED, Json(answer)).into_response())
}

fn link_bounds() -> String {
    format!("port: 1 to 65535; seconds: 1 to {LONGEST_LIFE}")
}

/// This server's address as a client has used it.
struct ServerAddress {
    scheme: &'static str,
    host: String,
}

impl ServerAddress {
    fn of_request(headers: &HeaderMap) -> ServerAddress {
        let is_https = headers.get("x-forwarded-proto").is_some_and(|p| p == "https");
        let host = headers.get(header::HOST).and_then(|h| h.to_str().ok()).unwrap_or_default();
        ServerAddress { scheme: if is_https { "https" } else { "http" }, host: host.to_owned() }
    }

    /// Returns the port, with a colon before it, unless it is the scheme's own.
    fn port(&self) -> String {
        let port = self.host.rsplit_once(':').map(|(_, port)| port).filter(|p| !p.contains(']'));
        port.map(|port| format!(":{port}")).unwrap_or_default()
    }
}

/// Gives the tools of one client links to ports of its sessions.
pub struct LinkDoor {
    /// The server holds its clients, not the other way round.
    app: Weak<HttpApp>,
    owner: String,
    address: ServerAddress,
}

impl LinkDoor {
    /// Makes the door of a client, from the headers of its request.
    pub fn new(app: &Arc<HttpApp>, owner: &Owner, headers: &HeaderMap) -> LinkDoor {
        let address = ServerAddress::of_request(headers);
        LinkDoor { app: Arc::downgrade(app), owner: owner.name.clone(), address }
    }
}

impl PortDoor for LinkDoor {
    fn port_address(&self, asked: &PortQuestion<'_>) -> Result<PortAddress, Refusal> {
        let ended = || Refusal::new(RefusalKind::Internal, "the server ends");
        let app = self.app.upgrade().ok_or_else(ended)?;
        let seconds = asked.seconds.unwrap_or(LIFE);
        if !(1..=LONGEST_LIFE).contains(&seconds) {
            return Err(Refusal::new(RefusalKind::Invalid, link_bounds()));
        }
        let link = PortLink {
            owner: self.owner.clone(),
            session: asked.name.to_owned(),
            port: asked.port,
            expires: epoch_seconds() + seconds,
        };
        let answer = app.answer_link(&link, &self.address).ok_or_else(ended)?;
        let ServerAddress { scheme, host } = &self.address;
        let url = answer.url.unwrap_or_else(|| format!("{scheme}://{host}{}", answer.path));
        Ok(PortAddress { url, expires: Some(answer.expires) })
    }
}

/// Serves `/v1/sessions/{session}/ports/{port}/...`.
pub async fn answer_by_token(
    State(app): State<Arc<HttpApp>>,
    Path(parts): Path<Vec<(String, String)>>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    let value = |name: &str| parts.iter().find(|(n, _)| n == name).map(|(_, value)| &**value);
    let port = parse_port(value("port").unwrap_or_default())?;
    let session = value("session").unwrap_or_default().to_owned();
    let (owner, space) = app.find_space(request.headers())?;
    check_run(&owner)?;
    // The path is taken as it was sent, because the guest's server decodes it.
    let Some((prefix, rest)) = cut_path(request.uri().path(), 6) else {
        return Ok(add_slash(&request));
    };
    let path = with_query(rest, &request);
    let place = PortPlace { owner, space, session, port, origin: GuestOrigin::Shared };
    pass_to(&app, place, prefix.to_owned(), path, request).await
}

/// Serves `/v1/links/{link}/...`.
pub async fn answer_by_link(
    State(app): State<Arc<HttpApp>>,
    Path(parts): Path<Vec<(String, String)>>,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    let text = parts.iter().find(|(name, _)| name == "link").map(|(_, value)| &**value);
    let link = text.and_then(|text| app.links.read_link(text, epoch_seconds()));
    let link = link.ok_or_else(|| {
        HttpProblem::new(StatusCode::UNAUTHORIZED, "unauthorized", "the link is invalid or expired")
    })?;
    let is_confined = request.headers().get(header::ORIGIN).is_some_and(|o| o == "null");
    if is_confined && let Some(answer) = answer_preflight(&request) {
        return Ok(answer);
    }
    let Some((prefix, rest)) = cut_path(request.uri().path(), 4) else {
        return Ok(add_slash(&request));
    };
    let (path, prefix) = (with_query(rest, &request), prefix.to_owned());
    let place = app.link_place(link, GuestOrigin::Shared)?;
    let mut response = pass_to(&app, place, prefix, path, request).await?;
    if is_confined {
        // Pages that came by the link have no origin, so that what they load comes from another one.
        let any = HeaderValue::from_static("*");
        response.headers_mut().entry(header::ACCESS_CONTROL_ALLOW_ORIGIN).or_insert(any);
    }
    Ok(response)
}

/// Answers requests whose host is one of a port, and passes on all others.
pub async fn answer_host(
    State(app): State<Arc<HttpApp>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let Some(label) = app.ports_label(request.headers()) else { return next.run(request).await };
    answer_at_host(&app, &label, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn answer_at_host(
    app: &HttpApp,
    label: &str,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return Err(HttpProblem::invalid("exactly one Host header is needed"));
    };
    if request.uri().authority().is_some_and(|a| a.as_str().as_bytes() != host.as_bytes()) {
        return Err(HttpProblem::invalid("the host in the address differs from the Host header"));
    }
    let host = host.to_str().unwrap_or_default().to_owned();
    let find = |text: &str| {
        let link = app.links.read_link(text, epoch_seconds())?;
        (app.links.link_label(&link)? == label).then_some(link)
    };
    let query = request.uri().query().unwrap_or_default();
    let given = query.split('&').find_map(|pair| pair.strip_prefix(LINK)?.strip_prefix('='));
    if let Some(text) = given {
        let link = find(text).ok_or_else(HttpProblem::unauthorized)?;
        return Ok(keep_link(&request, text, &link));
    }
    let kept = cookies(request.headers())
        .find_map(|pair| pair.strip_prefix(LINK)?.strip_prefix('=').and_then(find));
    let place = match kept {
        Some(link) => {
            check_same_origin(request.headers(), &host)?;
            app.link_place(link, GuestOrigin::Own)?
        }
        None => {
            let (owner, space) = app.find_space(request.headers())?;
            check_run(&owner)?;
            let (port, session) = label.split_once('-').unwrap_or_default();
            let (port, session) = (parse_port(port)?, session.to_owned());
            PortPlace { owner, space, session, port, origin: GuestOrigin::Own }
        }
    };
    let path = with_query(request.uri().path(), &request);
    pass_to(app, place, String::new(), path, request).await
}

/// Refuses requests that a page of another origin makes with the cookie of this one. Hosts of other
/// ports are of the same site, so that the cookie's own rules do not suffice.
fn check_same_origin(headers: &HeaderMap, host: &str) -> Result<(), HttpProblem> {
    let text = |name: &str| headers.get(name).map(|v| v.to_str().unwrap_or_default());
    let is_own = |origin: &str| {
        let authority = origin.strip_prefix("http://").or(origin.strip_prefix("https://"));
        authority.is_some_and(|a| a.eq_ignore_ascii_case(host))
    };
    let from_elsewhere = headers
        .get_all(header::ORIGIN)
        .iter()
        .any(|origin| !is_own(origin.to_str().unwrap_or_default()));
    let is_navigation = text("sec-fetch-mode").is_none_or(|mode| mode == "navigate");
    let is_foreign = matches!(text("sec-fetch-site"), Some("same-site" | "cross-site"));
    if from_elsewhere || is_foreign && !is_navigation {
        return Err(HttpProblem::forbidden("pages of other origins may not send requests here"));
    }
    Ok(())
}

/// Answers with a cookie that keeps the link, and the same address without it.
fn keep_link(request: &Request, text: &str, link: &PortLink) -> Response<Body> {
    let query = request.uri().query().unwrap_or_default();
    let rest: Vec<&str> = query
        .split('&')
        .filter(|pair| pair.strip_prefix(LINK).is_none_or(|rest| !rest.starts_with('=')))
        .collect();
    // A path with two slashes would be an address of another host.
    let path = format!("/{}", request.uri().path().trim_start_matches('/'));
    let place = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
    let life = link.expires.saturating_sub(epoch_seconds());
    let is_https = request.headers().get("x-forwarded-proto").is_some_and(|p| p == "https");
    let secure = if is_https { "; Secure" } else { "" };
    let cookie = format!("{LINK}={text}; Path=/; HttpOnly; SameSite=Lax; Max-Age={life}{secure}");
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, place)];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Answers a browser's question whether a page without an origin may send a request.
fn answer_preflight(request: &Request) -> Option<Response<Body>> {
    let headers = request.headers();
    let method = headers.get(header::ACCESS_CONTROL_REQUEST_METHOD)?;
    if request.method() != Method::OPTIONS {
        return None;
    }
    let none = HeaderValue::from_static("");
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).unwrap_or(&none);
    let answer = [
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (header::ACCESS_CONTROL_ALLOW_METHODS, method.clone()),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone()),
        (header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600")),
    ];
    Some((StatusCode::NO_CONTENT, answer).into_response())
}

/// The session and port that a request is for, with the owner who pays for it.
struct PortPlace {
    owner: Arc<Owner>,
    space: SessionSpace,
    session: String,
    port: u16,
    origin: GuestOrigin,
}

impl HttpApp {
    /// Signs a link. The host's name is given without a port; its port is the one that the client
    /// has used.
    fn answer_link(&self, link: &PortLink, address: &ServerAddress) -> Option<LinkAnswer> {
        let text = self.links.sign_link(link)?;
        let url = self.ports_host.as_ref().and_then(|host| {
            let label = self.links.link_label(link)?;
            let (scheme, port) = (address.scheme, address.port());
            Some(format!("{scheme}://{label}.{host}{port}/?{LINK}={text}"))
        });
        let path = format!("{LINKS}{text}/");
        Some(LinkAnswer { port: link.port, path, url, expires: link.expires })
    }

    fn link_place(&self, link: PortLink, origin: GuestOrigin) -> Result<PortPlace, HttpProblem> {
        let PortLink { owner, session, port, .. } = link;
        let owner = match &self.tokens {
            None => Some(&self.anybody),
            Some(tokens) => tokens.owner_named(&owner),
        };
        let owner = owner.ok_or_else(HttpProblem::unauthorized)?.clone();
        let space = self.space_of_owner(&owner)?;
        Ok(PortPlace { owner, space, session, port, origin })
    }

    /// Returns the first label of a request's host, if the host is one of a port.
    fn ports_label(&self, headers: &HeaderMap) -> Option<String> {
        let own = self.ports_host.as_ref()?;
        let host = headers.get(header::HOST)?.to_str().ok()?;
        let name = crate::gate::host_name(host)?.to_ascii_lowercase();
        let label = name.strip_suffix(own.as_str())?.strip_suffix('.')?;
        is_label(label).then(|| label.to_owned())
    }
}

fn check_run(owner: &Owner) -> Result<(), HttpProblem> {
    if owner.scopes.contains(&ToolScope::Run) {
        return Ok(());
    }
    Err(HttpProblem::forbidden("the token lacks the scope 'run'"))
}

fn parse_port(text: &str) -> Result<u16, HttpProblem> {
    let is_plain = !text.starts_with(['0', '+']);
    let port = text.parse().ok().filter(|_| is_plain);
    port.ok_or_else(|| HttpProblem::invalid("a port is a number from 1 to 65535"))
}

/// Cuts a path before the slash with this number, counted from 1. Returns `None` if it has fewer.
fn cut_path(path: &str, slash: usize) -> Option<(&str, &str)> {
    let (at, _) = path.match_indices('/').nth(slash - 1)?;
    Some(path.split_at(at))
}

fn with_query(path: &str, request: &Request) -> String {
    match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    }
}

/// Redirects to the same address with a slash, from which relative addresses start.
fn add_slash(request: &Request) -> Response<Body> {
    let last = request.uri().path().rsplit('/').next().unwrap_or_default();
    let place = with_query(&format!("{last}/"), request);
    (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, place)]).into_response()
}

async fn pass_to(
    app: &HttpApp,
    place: PortPlace,
    prefix: String,
    path: String,
    request: Request,
) -> Result<Response<Body>, HttpProblem> {
    let PortPlace { owner, space, session, port, origin } = place;
    let limit = |limit| HttpProblem::limit(format!("too many {limit}"));
    let stream: RunningStream = owner.begin_stream().map_err(limit)?;
    let session = run_blocking(move || space.open(&session)).await?;
    let is_own_token =
        |text: &str| app.tokens.as_ref().is_some_and(|tokens| tokens.owner_of(text).is_some());
    let target = ProxyTarget {
        session,
        port,
        path,
        prefix,
        origin,
        own_headers: &[],
        own_cookie: Some(LINK),
        is_own_token: &is_own_token,
        end: app.end.clone(),
    };
    let counted = owner.clone();
    let request = request.map(|body| Body::new(CountedUpload { body, owner: counted }));
    let answer = pass_request(target, request, stream).await;
    answer.map_err(|e| {
        let kind = match e {
            ProxyError::Closed(_) | ProxyError::NoAnswer(_) => "port",
            ProxyError::Malformed(_) => "invalid",
        };
        HttpProblem::new(e.status(), kind, e.to_string())
    })
}

/// A request's body, which counts for its owner.
struct CountedUpload {
    body: Body,
    owner: Arc<Owner>,
}

impl http_body::Body for CountedUpload {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        let bytes =
            frame.iter().flatten().filter_map(Frame::data_ref).map(Bytes::len).sum::<usize>();
        if !self.owner.spend_bytes(bytes as u64) {
            return Poll::Ready(Some(Err(axum::Error::new("too many bytes within an hour"))));
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_where_the_guests_begins() {
        let cut = |path| cut_path(path, 6);
        let ours = "/v1/sessions/w/ports/80";
        assert_eq!(cut("/v1/sessions/w/ports/80/a/b"), Some((ours, "/a/b")));
        assert_eq!(cut("/v1/sessions/w/ports/80//a/../%2e%2e"), Some((ours, "//a/../%2e%2e")));
        assert_eq!(cut("/v1/sessions/w/ports/80/"), Some((ours, "/")));
        assert_eq!(cut(ours), None);
    }

    #[test]
    fn ports_are_plain_numbers() {
        assert_eq!(parse_port("8000").ok(), Some(8000));
        for wrong in ["", "0", "08000", "+80", "65536", "-1", "80 ", "8_0", "http"] {
            assert!(parse_port(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cookie_serves_its_own_pages_alone() {
        let headers = |pairs: &[(&'static str, &'static str)]| {
            HeaderMap::from_iter(pairs.iter().map(|(name, value)| {
                (header::HeaderName::from_static(name), HeaderValue::from_static(value))
            }))
        };
        let check = |pairs: &[(&'static str, &'static str)]| {
            check_same_origin(&headers(pairs), "80-a-1.host:1").is_ok()
        };
        assert!(check(&[]) && check(&[("origin", "http://80-a-1.host:1")]));
        assert!(check(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]));
        assert!(check(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(!check(&[("origin", "http://81-a-1.host:1")]));
        assert!(!check(&[("origin", "null")]));
        assert!(!check(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")]));
    }
}
