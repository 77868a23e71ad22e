//! Connections: accepting them, their deadlines, and shutdown.

use crate::app::{HttpApp, build_router};
use crate::proxy::PeerAddress;
use crate::room::{ConnectionPlace, ConnectionRoom, CountedBody};
use crate::{Door, Tokens};
use axum::body::Body;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use wasibox_mcp::ConnectionTimes;

/// The maximum number of connections at once.
const CONNECTIONS: usize = 2048;
/// The time limit for receiving a request's head.
const HEAD: Duration = Duration::from_secs(30);
/// The size limit of a head in bytes. The last read may exceed the limit by up to the same number
/// of bytes.
const HEAD_BYTES: usize = 64 << 10;
/// The longest and the shortest interval at which idle sessions are released.
const SWEEP: Duration = Duration::from_secs(30);
const SHORTEST_SWEEP: Duration = Duration::from_millis(100);
/// The idle time after which a session is released, unless the options name another.
pub const IDLE: Duration = Duration::from_secs(600);
/// The time limit for threads to end at shutdown.
const GRACE: Duration = Duration::from_secs(5);

/// The options of serving.
pub struct Serve {
    pub listen: SocketAddr,
    /// The token file. Without it only the Model Context Protocol is served, to any client.
    pub tokens: Option<Tokens>,
    /// The time that running calls have to end at shutdown.
    pub drain: Duration,
    /// The time after the last call of a session after which other servers of the store can open it.
    pub idle: Duration,
    pub log: Option<LogLevel>,
    /// Other doors over the same sessions, served until the shutdown.
    pub beside: Vec<BesideDoor>,
}

/// A door with an address and paths of its own.
pub struct BesideDoor {
    /// The name for people.
    pub name: &'static str,
    pub listen: SocketAddr,
    pub router: axum::Router,
}

/// The level of the log, which is written as lines of JSON to standard error.
#[derive(Clone, Copy, Debug)]
pub struct LogLevel(LevelFilter);

impl LogLevel {
    /// Returns the level `error`, `warn`, `info` or `debug`.
    pub fn from_name(name: &str) -> Option<LogLevel> {
        Some(LogLevel(match name {
            "error" => LevelFilter::ERROR,
            "warn" => LevelFilter::WARN,
            "info" => LevelFilter::INFO,
            "debug" => LevelFilter::DEBUG,
            _ => return None,
        }))
    }
}

/// The reason why the server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("{address}: {source}")]
    Listen { address: SocketAddr, source: std::io::Error },
    #[error("cannot start threads: {0}")]
    Runtime(std::io::Error),
    #[error("the system has no random bytes: {0}")]
    Random(getrandom::Error),
    #[error("cannot handle signals: {0}")]
    Signals(std::io::Error),
}

/// The sender of spans, if the feature `opentelemetry` is enabled.
#[cfg(feature = "opentelemetry")]
type TelemetryGuard = crate::telemetry::TelemetryGuard;
#[cfg(not(feature = "opentelemetry"))]
enum TelemetryGuard {}

/// Starts logging, and the sending of spans.
fn begin_log(LogLevel(level): LogLevel) -> Option<TelemetryGuard> {
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_current_span(false)
        .with_span_list(false)
        .with_target(false)
        .with_writer(std::io::stderr)
        // The logger would report a broken pipe to the same pipe, and panic because of that.
        .log_internal_errors(false)
        .with_filter(level);
    let all = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "opentelemetry")]
    if let Some((spans, sending)) = crate::telemetry::trace_layer() {
        // Spans of the exporter's own HTTP client are excluded.
        let ours = tracing_subscriber::filter::filter_fn(|m| m.target().starts_with("wasibox"));
        let _ = all.with(spans.with_filter(ours)).try_init();
        return Some(sending);
    }
    // A subscriber that was set before is kept.
    let _ = all.try_init();
    None
}

/// Serves until a signal ends it.
///
/// # Errors
/// Returns an error if the address cannot be bound.
pub fn serve_door(door: Door, serve: Serve) -> Result<(), ServeError> {
    let _sending = serve.log.and_then(begin_log);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let served = runtime.block_on(async {
        let server = HttpServer::bind(door, serve).await?;
        let mut signals = [SignalKind::terminate(), SignalKind::interrupt()]
            .map(|kind| signal(kind).map_err(ServeError::Signals));
        let [Ok(terminate), Ok(interrupt)] = &mut signals else {
            return Err(ServeError::Signals(std::io::ErrorKind::Other.into()));
        };
        eprintln!("listening on http://{}", server.address());
        for (name, address) in server.beside_addresses() {
            eprintln!("listening on http://{address} ({name})");
        }
        let end = server.ending_token();
        tokio::pin! { let running = server.run(); }
        tokio::select! {
            () = &mut running => return Ok(()),
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        end.cancel();
        tokio::select! {
            () = running => {}
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    });
    runtime.shutdown_timeout(GRACE);
    served
}

/// A listening server.
pub struct HttpServer {
    app: Arc<HttpApp>,
    listener: TcpListener,
    address: SocketAddr,
    drain: Duration,
    idle: Duration,
    ending: CancellationToken,
    beside: Vec<(&'static str, SocketAddr, TcpListener, axum::Router)>,
}

impl HttpServer {
    /// Binds the address.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
    pub async fn bind(door: Door, serve: Serve) -> Result<HttpServer, ServeError> {
        let (listener, address) = bind_listener(serve.listen).await?;
        let mut beside = Vec::new();
        for BesideDoor { name, listen, router } in serve.beside {
            let (listener, address) = bind_listener(listen).await?;
            beside.push((name, address, listener, router));
        }
        let app = HttpApp::new(door, serve.tokens, address).map_err(ServeError::Random)?;
        let app = Arc::new(app);
        Ok(HttpServer {
            app,
            listener,
            address,
            drain: serve.drain,
            idle: serve.idle,
            ending: CancellationToken::new(),
            beside,
        })
    }

    /// Returns the names and addresses of the other doors.
    pub fn beside_addresses(&self) -> Vec<(&'static str, SocketAddr)> {
        self.beside.iter().map(|(name, address, ..)| (*name, *address)).collect()
    }

    /// Returns the address on which the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token that shuts the server down. Running calls may finish within the drain
    /// time.
    pub fn ending_token(&self) -> CancellationToken {
        self.ending.clone()
    }

    /// Serves until the shutdown, and returns when all connections have ended.
    pub async fn run(self) {
        let HttpServer { app, listener, drain, idle, ending, beside, .. } = self;
        let connections = TaskTracker::new();
        let room = ConnectionRoom::new(CONNECTIONS);
        for (_, _, listener, router) in beside {
            let accept =
                accept_all(listener, router, room.clone(), connections.clone(), ending.clone());
            tokio::spawn(accept);
        }
        let swept = app.clone();
        let sweep = async move {
            let mut sweep = tokio::time::interval((idle / 2).clamp(SHORTEST_SWEEP, SWEEP));
            loop {
                sweep.tick().await;
                swept.connections.sweep(&ConnectionTimes::default());
                for (owner, cpu) in swept.machine.take_process_cpu() {
                    let owner = swept.tokens.as_ref().and_then(|all| all.owner_named(&owner));
                    owner.into_iter().for_each(|owner| owner.spend_cpu(cpu));
                }
                let machine = swept.machine.clone();
                tokio::task::spawn_blocking(move || machine.release_idle(idle));
            }
        };
        let router = build_router(&app);
        tokio::select! {
            () = accept_all(listener, router, room, connections.clone(), ending.clone()) => {}
            () = sweep => {}
        }
        app.is_draining.store(true, Ordering::Relaxed);
        tracing::info!("draining");
        // Endless streams are ended at once; calls have time to end by themselves.
        app.end.cancel();
        connections.close();
        let _ = tokio::time::timeout(drain, connections.wait()).await;
        // Other servers can open the sessions at once.
        let machine = app.machine.clone();
        let _ = tokio::task::spawn_blocking(move || machine.release_idle(Duration::ZERO)).await;
    }
}

async fn bind_listener(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    let failed = |source| ServeError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Accepts connections and serves each of them, until the shutdown.
async fn accept_all(
    listener: TcpListener,
    router: axum::Router,
    room: Arc<ConnectionRoom>,
    connections: TaskTracker,
    ending: CancellationToken,
) {
    let service = TowerToHyperService::new(router);
    loop {
        let connection = tokio::select! {
            () = ending.cancelled() => return,
            accepted = accept_connection(&listener, &room) => accepted,
        };
        let Some((stream, peer, place)) = connection else { continue };
        let mut http = hyper::server::conn::http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(HEAD_BYTES);
        let (ending, crowded) = (ending.clone(), place.ending_token());
        let (place, service) = (Arc::new(place), service.clone());
        let counted = place.clone();
        let answer = hyper::service::service_fn(
            move |mut request: hyper::Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(PeerAddress(peer));
                let request_guard = counted.begin_request();
                let response = service.call(request);
                async move {
                    let response = response.await?;
                    let count = |body| Body::new(CountedBody::new(body, request_guard));
                    Ok::<_, std::convert::Infallible>(response.map(count))
                }
            },
        );
        let served = http.serve_connection(TokioIo::new(stream), answer);
        connections.spawn(async move {
            tokio::pin! { let served = served.with_upgrades(); }
            // A client that disconnects is not worth logging.
            let _ = tokio::select! {
                done = &mut served => done,
                // The connection has no request, and a new one needs its place.
                () = crowded.cancelled() => Ok(()),
                () = ending.cancelled() => {
                    served.as_mut().graceful_shutdown();
                    served.await
                }
            };
            drop(place);
        });
    }
}

type Accepted = (tokio::net::TcpStream, SocketAddr, ConnectionPlace);

/// Accepts the next connection, and finds room for it.
async fn accept_connection(listener: &TcpListener, room: &Arc<ConnectionRoom>) -> Option<Accepted> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            let place = room.enter().await;
            // Responses are short, so they are sent at once rather than collected in fuller
            // packets.
            let _ = stream.set_nodelay(true);
            Some((stream, peer, place))
        }
        Err(_) => {
            // Most often the process has no descriptors left, so other connections must end first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
