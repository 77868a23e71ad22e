//! The routes of the server.

use crate::gate::{self, Gauge};
use crate::links::LinkKey;
use crate::metrics::{GaugeReadings, Metrics};
use crate::problem::HttpProblem;
use crate::tokens::{Owner, Tokens, anonymous_owner};
use crate::{Door, files, openapi, ports, sessions, sheets, terminal, tools};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, Response, StatusCode, header};
use axum::middleware::Next;
use axum::response::IntoResponse;
use axum::routing::{any, any_service, get, post, put};
use axum::{Extension, Router, middleware};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio_util::sync::CancellationToken;
use wasibox_actions::{Client, Machine, Refusal, Registry, ToolScope};
use wasibox_mcp::{
    Bind, BindExtent, ConnectionClient, ConnectionTable, SpendCpu, StreamableOptions,
    streamable_service,
};

/// The state that all requests share.
pub struct HttpApp {
    pub machine: Machine,
    pub registry: Arc<Registry>,
    pub tokens: Option<Tokens>,
    pub anybody: Arc<Owner>,
    /// The host names that a request may use; any name if empty.
    pub hosts: Vec<String>,
    pub origins: Vec<String>,
    /// The host below which ports of sessions have hosts of their own, in lower case.
    pub ports_host: Option<String>,
    pub links: LinkKey,
    pub metrics: Metrics,
    pub running: Gauge,
    pub connections: Arc<ConnectionTable>,
    /// The prefix of this server's request ids.
    pub seed: u32,
    pub is_draining: AtomicBool,
    /// The token that ends the streams that do not end by themselves.
    pub end: CancellationToken,
}

impl HttpApp {
    /// Creates the server's state. Without tokens a request's `Host` must be a name of the
    /// loopback, the listening address, or one of the configured hosts.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new(
        door: Door,
        tokens: Option<Tokens>,
        listen: SocketAddr,
    ) -> Result<HttpApp, getrandom::Error> {
        let mut hosts = door.hosts;
        if tokens.is_none() {
            let own =
                ["localhost".to_owned(), "127.0.0.1".into(), "::1".into(), listen.ip().to_string()];
            hosts.extend(own);
        }
        let mut random = [0; 4];
        // A failure is ignored, because equal prefixes after a restart do no harm.
        let _ = getrandom::fill(&mut random);
        Ok(HttpApp {
            machine: door.machine,
            registry: door.registry,
            tokens,
            anybody: anonymous_owner(),
            hosts,
            origins: door.origins,
            ports_host: door.ports_host.map(|host| host.to_ascii_lowercase()),
            links: LinkKey::new()?,
            metrics: Metrics::default(),
            running: Gauge::default(),
            connections: Arc::default(),
            seed: u32::from_le_bytes(random),
            is_draining: AtomicBool::new(false),
            end: CancellationToken::new(),
        })
    }
}

/// Builds the router with all paths.
pub fn build_router(app: &Arc<HttpApp>) -> Router {
    let mut owned = Router::new().route(
        gate::MCP,
        any_service(mcp_service(app)).layer(middleware::from_fn(end_without_content)),
    );
    let mut open =
        Router::new().route("/healthz", get(|| async { "ok\n" })).route("/readyz", get(get_ready));
    if app.tokens.is_some() {
        owned = owned.merge(rest_router());
        open = open
            .route("/v1/sessions/{session}/ports/{port}", any(ports::answer_by_token))
            .route("/v1/sessions/{session}/ports/{port}/", any(ports::answer_by_token))
            .route("/v1/sessions/{session}/ports/{port}/{*path}", any(ports::answer_by_token))
            .route("/v1/links/{link}", any(ports::answer_by_link))
            .route("/v1/links/{link}/", any(ports::answer_by_link))
            .route("/v1/links/{link}/{*path}", any(ports::answer_by_link))
            .route("/", get(|| async { html_response(include_str!("pages/index.html")) }))
            .route("/docs", get(|| async { html_response(include_str!("pages/docs.html")) }))
            .route("/page.js", get(|| async { script_response(include_str!("pages/page.js")) }))
            .route(
                "/terminals.js",
                get(|| async { script_response(include_str!("pages/terminals.js")) }),
            )
            .route(
                "/settings.js",
                get(|| async { script_response(include_str!("pages/settings.js")) }),
            )
            .route("/xterm.js", get(|| async { script_response(include_str!("pages/xterm.js")) }))
            .route("/xterm.css", get(|| async { style_response(include_str!("pages/xterm.css")) }))
            .route("/docs.js", get(|| async { script_response(include_str!("pages/docs.js")) }))
            .route("/openapi.json", get(get_openapi));
    }
    let state = || app.clone();
    owned
        .route_layer(middleware::from_fn_with_state(state(), gate::find_owner))
        .merge(open)
        .fallback(|| async { HttpProblem::missing("there is nothing at this path") })
        .method_not_allowed_fallback(|| async {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            HttpProblem::new(status, "method", "this path has other methods")
        })
        .layer(middleware::from_fn_with_state(state(), gate::check_origin))
        .layer(middleware::from_fn_with_state(state(), ports::answer_host))
        .layer(middleware::from_fn_with_state(state(), gate::watch_request))
        .with_state(state())
}

fn rest_router() -> Router<Arc<HttpApp>> {
    Router::new()
        .route("/metrics", get(get_metrics))
        .route("/v1/tools", get(tools::list_tools))
        .route("/v1/tools/settings", get(sheets::list_sheets))
        .route("/v1/tools/settings/{tool}", put(sheets::put_sheet))
        .route("/v1/tools/settings/{tool}/test", post(sheets::test_sheet))
        .route("/v1/sessions", get(sessions::list_sessions))
        .route(
            "/v1/sessions/{session}",
            get(sessions::get_session).put(sessions::put_session).delete(sessions::delete_session),
        )
        .route("/v1/sessions/{session}/tools/{tool}", post(tools::call_tool))
        .route("/v1/sessions/{session}/files/{*path}", put(files::put_file).get(files::get_file))
        .route(
            "/v1/sessions/{session}/snapshot",
            get(sessions::get_snapshot).put(sessions::put_snapshot),
        )
        .route("/v1/sessions/{session}/ports", get(ports::list_ports))
        .route("/v1/sessions/{session}/links", post(ports::make_link))
        .route("/v1/sessions/{session}/terminal", get(terminal::open_terminal))
}

/// Answers 204 to the end of a connection. The service answers 202, which would mean that the
/// connection ends later (RFC 9110, section 15.3.3).
async fn end_without_content(request: Request, next: Next) -> Response<Body> {
    let is_end = request.method() == Method::DELETE;
    let response = next.run(request).await;
    if is_end && response.status() == StatusCode::ACCEPTED {
        return StatusCode::NO_CONTENT.into_response();
    }
    response
}

fn mcp_service(app: &Arc<HttpApp>) -> wasibox_mcp::Streamable {
    let theirs = app.clone();
    let bind: Bind = Arc::new(move |head, extent| bind_client(&theirs, head, extent));
    let connections = app.connections.clone();
    let options = StreamableOptions { connections, body: tools::BODY, end: app.end.clone() };
    streamable_service(app.registry.clone(), bind, options)
}

/// The session of requests that stand alone and whose address names no session.
const SHARED_SESSION: &str = "mcp";

/// Binds a connection or a request to the session that its address names. A connection without a
/// name gets a new session of its own, a request [`SHARED_SESSION`].
fn bind_client(
    app: &Arc<HttpApp>,
    head: Option<&axum::http::request::Parts>,
    extent: BindExtent,
) -> Result<ConnectionClient, Refusal> {
    let caller = head.and_then(|head| head.extensions.get::<gate::Caller>());
    let (space, scopes, owner) = match caller {
        Some(caller) => (caller.space.clone(), caller.owner.scopes.clone(), &caller.owner),
        None => return Err(Refusal::new(wasibox_actions::RefusalKind::Denied, "nobody asks")),
    };
    let query = head.and_then(|head| head.uri.query()).unwrap_or_default();
    let named = query.split('&').find_map(|pair| pair.strip_prefix("session="));
    let can_make = scopes.contains(&ToolScope::Manage);
    let client = match named {
        Some(name) => {
            if !can_make {
                space.open(name)?;
            }
            Client::for_session(space, name)
        }
        None if extent == BindExtent::Request => Client::for_session(space, SHARED_SESSION),
        None => Client::new(space)?,
    };
    // A token that may not create sessions must not create one by beginning a connection.
    let client = if can_make { client } else { client.without_making() };
    // Without tokens there are no links.
    let client = match head.filter(|_| app.tokens.is_some()) {
        Some(head) => {
            client.with_port_door(Arc::new(ports::LinkDoor::new(app, owner, &head.headers)))
        }
        None => client,
    };
    tracing::debug!(session = %client.name(), held = app.machine.held_sessions(), "a client begins");
    let spender = owner.clone();
    let spend_cpu: SpendCpu = Arc::new(move |cpu| spender.spend_cpu(cpu));
    Ok(ConnectionClient { client: Arc::new(client), scopes, extent, spend_cpu: Some(spend_cpu) })
}

async fn get_ready(State(app): State<Arc<HttpApp>>) -> Result<&'static str, HttpProblem> {
    if app.is_draining.load(Ordering::Relaxed) {
        Err(HttpProblem::new(StatusCode::SERVICE_UNAVAILABLE, "draining", "the server ends"))
    } else {
        Ok("ready\n")
    }
}

async fn get_metrics(
    State(app): State<Arc<HttpApp>>,
    Extension(caller): Extension<gate::Caller>,
) -> Response<Body> {
    let machine = app.machine.clone();
    let growth = tokio::task::spawn_blocking(move || machine.growth());
    // A failure is ignored, because the other figures do not depend on these.
    let growth = growth.await.ok().and_then(Result::ok).unwrap_or_default();
    let now = GaugeReadings {
        running: app.running.count(),
        held: app.machine.held_sessions(),
        awake: app.machine.engine().awake(),
        connections: app.connections.len(),
        growth,
        owner: caller.owner.name.clone(),
    };
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, app.metrics.text(&now)).into_response()
}

async fn get_openapi(State(app): State<Arc<HttpApp>>) -> Response<Body> {
    axum::Json(openapi::openapi_document(&app.registry)).into_response()
}

/// Returns a page of this server. It may not load anything from other origins, have inline code, or
/// be framed.
fn html_response(text: &'static str) -> Response<Body> {
    let policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; \
        img-src blob: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    let mut response = axum::response::Html(text).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}

fn script_response(text: &'static str) -> Response<Body> {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text).into_response()
}

fn style_response(text: &'static str) -> Response<Body> {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], text).into_response()
}
