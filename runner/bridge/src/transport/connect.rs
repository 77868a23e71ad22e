//! Opens connections: a name is resolved once, its addresses are judged, and one of the permitted
//! addresses is connected to. A connection is reused by the same bridge only, and its address is
//! judged again each time.

use crate::error::{ConnectFault, RequestError, RequestPhase};
use crate::limits::BridgeLimits;
use crate::rules::{Permit, is_localhost};
use crate::transport::body::BodySending;
use crate::transport::network::BridgeNetwork;
use crate::transport::proxy::{ProxyServer, ProxySettings};
use crate::transport::resolve::{MAX_ADDRESSES, localhost_addresses};
use crate::transport::tls::server_name;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use url::{Host, Url};

/// Maximum number of idle connections, and the time for which they are kept.
const KEPT: usize = 8;
const IDLE: Duration = Duration::from_secs(30);
/// The smallest buffer that hyper supports.
const MIN_BUFFER: usize = 8192;

/// A connection on which a request can be sent.
pub(crate) struct HttpConnection {
    key: ConnectionKey,
    pub(crate) address: SocketAddr,
    sender: HttpSender,
    task: Arc<ConnectionTask>,
    received: Arc<AtomicU64>,
    pub(crate) reused: bool,
}

enum HttpSender {
    One(http1::SendRequest<BodySending>),
    Many(http2::SendRequest<BodySending>),
}

/// The task that moves a connection's bytes; it ends with the last user.
struct ConnectionTask(tokio::task::AbortHandle);

impl Drop for ConnectionTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The reason why a request got no response, and whether the server cannot have acted upon it.
pub(crate) struct SendFailed {
    pub(crate) error: hyper::Error,
    pub(crate) unsent: bool,
    /// Whether nothing was received on the connection since the request began.
    pub(crate) silent: bool,
}

#[derive(Clone, PartialEq, Eq)]
struct ConnectionKey {
    tls: bool,
    proxied: bool,
    host: String,
    port: u16,
}

/// The connections of one bridge.
#[derive(Default)]
pub(crate) struct ConnectionPool {
    idle: Mutex<Vec<(HttpConnection, Instant)>>,
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
}

impl ConnectionKey {
    fn new(url: &Url, route: &Route) -> Self {
        Self {
            tls: url.scheme() == "https",
            proxied: matches!(route, Route::Proxy(_)),
            host: url.host_str().unwrap_or_default().to_string(),
            port: url.port_or_known_default().unwrap_or_default(),
        }
    }
}

impl ConnectionPool {
    /// Takes an open connection on the route whose address the permit allows.
    pub(crate) fn take_idle(
        &self,
        url: &Url,
        route: &Route,
        permit: &Permit<'_>,
    ) -> Option<HttpConnection> {
        let key = ConnectionKey::new(url, route);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|(c, since)| since.elapsed() < IDLE && !c.is_closed());
        let fits = |c: &HttpConnection| {
            let is_judged = key.proxied || permit.check_address(c.address.ip()).is_ok();
            c.key == key && c.is_ready() && is_judged
        };
        let at = idle.iter().rposition(|(c, _)| fits(c))?;
        if let Some(shared) = idle[at].0.share_connection() {
            idle[at].1 = Instant::now();
            return Some(shared);
        }
        let mut one = idle.remove(at).0;
        one.reused = true;
        Some(one)
    }

    /// Keeps a connection whose last response has been read.
    pub(crate) async fn give_back(self: &Arc<Self>, mut connection: HttpConnection) {
        match &mut connection.sender {
            // Other requests may be using the connection; it has been in the pool since it was
            // made.
            HttpSender::Many(_) => return,
            HttpSender::One(sender) => {
                let ready = tokio::time::timeout(Duration::from_millis(100), sender.ready());
                if !matches!(ready.await, Ok(Ok(()))) {
                    return;
                }
            }
        }
        self.keep_idle(connection);
    }

    fn keep_idle(self: &Arc<Self>, connection: HttpConnection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() >= KEPT {
            idle.remove(0);
        }
        idle.push((connection, Instant::now()));
        drop(idle);
        let pool = Arc::downgrade(self);
        tokio::spawn(async move {
            tokio::time::sleep(IDLE).await;
            if let Some(pool) = pool.upgrade() {
                let mut idle = pool.idle.lock().unwrap_or_else(PoisonError::into_inner);
                idle.retain(|(c, since)| since.elapsed() < IDLE && !c.is_closed());
            }
        });
    }

    /// Opens a connection to one of the addresses that the permit allows for the URL's host.
    pub(crate) async fn connect_new(
        self: &Arc<Self>,
        network: &BridgeNetwork,
        (url, route): (&Url, &Route),
        permit: &Permit<'_>,
        limits: &BridgeLimits,
        time: Duration,
    ) -> Result<HttpConnection, RequestError> {
        let connecting = self.connect_now(network, (url, route), permit, limits, time);
        let late = |_| RequestError::Timeout(RequestPhase::Connect);
        tokio::time::timeout(time, connecting).await.map_err(late)?
    }

    async fn connect_now(
        self: &Arc<Self>,
        network: &BridgeNetwork,
        (url, route): (&Url, &Route),
        permit: &Permit<'_>,
        limits: &BridgeLimits,
        time: Duration,
    ) -> Result<HttpConnection, RequestError> {
        let key = ConnectionKey::new(url, route);
        let stream = match route {
            Route::Direct => {
                let addresses = permitted_addresses(network, url, permit).await?;
                open_tcp(&key, &addresses, time).await?
            }
            Route::Proxy(proxy) => proxy.connect(&key.host).await?,
        };
        let failed = |e: io::Error| RequestError::Connect {
            host: key.host.clone(),
            fault: connect_fault(&e),
        };
        let address = stream.peer_addr().map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        let received = Arc::new(AtomicU64::new(0));
        if !key.tls {
            let io = CountingStream { stream, received: Arc::clone(&received) };
            return http1_connection(io, key, address, received, limits).await;
        }
        let shared = self.tls.get_or_init(|| network.tls().client_config().map(Arc::new));
        let tls_failed = |text: String| RequestError::Tls { host: key.host.clone(), text };
        let config = shared.clone().map_err(tls_failed)?;
        let name = server_name(url).ok_or_else(|| tls_failed("not a name for TLS".into()))?;
        let stream: Box<dyn ByteStream> = match route {
            Route::Direct => Box::new(stream),
            Route::Proxy(proxy) => Box::new(proxy.open_tunnel(stream, &key.host, key.port).await?),
        };
        let stream = TlsConnector::from(config)
            .connect(name, stream)
            .await
            .map_err(|e| tls_error(&key.host, &e))?;
        let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let io = CountingStream { stream, received: Arc::clone(&received) };
        if !h2 {
            return http1_connection(io, key, address, received, limits).await;
        }
        let connection = http2_connection(io, key, address, received, limits).await?;
        if let Some(shared) = connection.share_connection() {
            self.keep_idle(shared);
        }
        Ok(connection)
    }
}

/// The way to the host of a URL.
pub(crate) enum Route {
    Direct,
    Proxy(ProxyServer),
}

/// The form of a request's target (RFC 9112, 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetForm {
    /// Path and query.
    Path,
    /// The whole address, for a proxy.
    Proxied,
    /// The whole address, which HTTP/2 sends in parts.
    Http2,
}

/// A stream below TLS: a socket, or a tunnel through a proxy.
trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> ByteStream for S {}

/// The time for resolving the name of a host that a proxy connects to.
const PROXIED_NAME: Duration = Duration::from_secs(2);

/// Returns the way to the URL's host. A host behind a proxy is judged as far as this host can
/// resolve its name: it is refused if none of its addresses is permitted, but not if it has none
/// here, because a network that demands a proxy often resolves no names of other networks.
///
/// # Errors
/// Returns an error if the permit allows none of the host's addresses.
pub(crate) async fn find_route(
    proxy: Option<&ProxySettings>,
    network: &BridgeNetwork,
    url: &Url,
    permit: &Permit<'_>,
) -> Result<Route, RequestError> {
    let Some(server) = proxy.and_then(|proxy| proxy.server_for(url)) else {
        return Ok(Route::Direct);
    };
    let judged = permitted_addresses(network, url, permit);
    match tokio::time::timeout(PROXIED_NAME, judged).await {
        Ok(Err(refused @ RequestError::Address { .. })) => Err(refused),
        _ => Ok(Route::Proxy(server)),
    }
}

/// Returns the addresses that may be connected to. No name is resolved a second time.
async fn permitted_addresses(
    network: &BridgeNetwork,
    url: &Url,
    permit: &Permit<'_>,
) -> Result<Vec<IpAddr>, RequestError> {
    let host = url.host_str().unwrap_or_default().to_string();
    let found: Vec<IpAddr> = match url.host() {
        Some(Host::Ipv4(a)) => vec![a.into()],
        Some(Host::Ipv6(a)) => vec![a.into()],
        Some(Host::Domain(name)) if is_localhost(name) => localhost_addresses(),
        Some(Host::Domain(name)) => {
            let (name, resolver) = (name.to_string(), network.resolver());
            let asked = tokio::task::spawn_blocking(move || resolver.resolve_host(&name)).await;
            asked.ok().and_then(Result::ok).unwrap_or_default()
        }
        None => Vec::new(),
    };
    let mut refused = None;
    let mut open: Vec<IpAddr> = Vec::new();
    for address in found.into_iter().take(MAX_ADDRESSES) {
        match permit.check_address(address) {
            Ok(()) if open.contains(&address) => {}
            Ok(()) => open.push(address),
            Err(class) => refused = refused.or(Some(class)),
        }
    }
    match refused {
        _ if !open.is_empty() => Ok(open),
        Some(class) => Err(RequestError::Address { host, class }),
        None => Err(RequestError::Resolve(host)),
    }
}

/// Connects to the first address that answers; each address gets a share of the time.
async fn open_tcp(
    key: &ConnectionKey,
    addresses: &[IpAddr],
    time: Duration,
) -> Result<TcpStream, RequestError> {
    let part = time / u32::try_from(addresses.len().max(1)).unwrap_or(1);
    let mut last = RequestError::Timeout(RequestPhase::Connect);
    for address in addresses {
        let connecting = TcpStream::connect(SocketAddr::new(*address, key.port));
        match tokio::time::timeout(part, connecting).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(e)) => {
                last = RequestError::Connect { host: key.host.clone(), fault: connect_fault(&e) };
            }
            Err(_) => last = RequestError::Timeout(RequestPhase::Connect),
        }
    }
    Err(last)
}

fn connect_fault(e: &io::Error) -> ConnectFault {
    match e.kind() {
        io::ErrorKind::ConnectionRefused => ConnectFault::Refused,
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            ConnectFault::Unreachable
        }
        _ => ConnectFault::Other,
    }
}

fn tls_error(host: &str, e: &io::Error) -> RequestError {
    let host = host.to_string();
    let inner = e.get_ref().and_then(|e| e.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(why)) => {
            let text: String = why.to_string().chars().take(300).collect();
            RequestError::Certificate { host, text }
        }
        Some(other) => {
            RequestError::Tls { host, text: other.to_string().chars().take(300).collect() }
        }
        None => RequestError::Tls { host, text: e.kind().to_string() },
    }
}

type Io<S> = CountingStream<S>;

async fn http1_connection<S>(
    io: Io<S>,
    key: ConnectionKey,
    address: SocketAddr,
    received: Arc<AtomicU64>,
    limits: &BridgeLimits,
) -> Result<HttpConnection, RequestError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::Builder::new()
        .max_buf_size((limits.header_bytes as usize).max(MIN_BUFFER))
        .max_headers(limits.headers as usize)
        .handshake(TokioIo::new(io))
        .await
        .map_err(|_| RequestError::Connect {
            host: key.host.clone(),
            fault: ConnectFault::Other,
        })?;
    let task = Arc::new(ConnectionTask(tokio::spawn(connection).abort_handle()));
    let sender = HttpSender::One(sender);
    Ok(HttpConnection { key, address, sender, task, received, reused: false })
}

async fn http2_connection<S>(
    io: Io<S>,
    key: ConnectionKey,
    address: SocketAddr,
    received: Arc<AtomicU64>,
    limits: &BridgeLimits,
) -> Result<HttpConnection, RequestError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .max_header_list_size(limits.header_bytes)
        .handshake(TokioIo::new(io))
        .await
        .map_err(|_| RequestError::Connect {
            host: key.host.clone(),
            fault: ConnectFault::Other,
        })?;
    let task = Arc::new(ConnectionTask(tokio::spawn(connection).abort_handle()));
    let sender = HttpSender::Many(sender);
    Ok(HttpConnection { key, address, sender, task, received, reused: false })
}

impl HttpConnection {
    pub(crate) fn target_form(&self) -> TargetForm {
        match self.sender {
            HttpSender::Many(_) => TargetForm::Http2,
            HttpSender::One(_) if self.key.proxied && !self.key.tls => TargetForm::Proxied,
            HttpSender::One(_) => TargetForm::Path,
        }
    }

    fn is_closed(&self) -> bool {
        match &self.sender {
            HttpSender::One(s) => s.is_closed(),
            HttpSender::Many(s) => s.is_closed(),
        }
    }

    fn is_ready(&self) -> bool {
        match &self.sender {
            HttpSender::One(s) => s.is_ready(),
            HttpSender::Many(s) => s.is_ready(),
        }
    }

    /// Returns a handle for another request on the same connection, if it supports several.
    fn share_connection(&self) -> Option<Self> {
        let HttpSender::Many(sender) = &self.sender else { return None };
        Some(Self {
            key: self.key.clone(),
            address: self.address,
            sender: HttpSender::Many(sender.clone()),
            task: Arc::clone(&self.task),
            received: Arc::clone(&self.received),
            reused: true,
        })
    }

    pub(crate) async fn send_request(
        &mut self,
        request: Request<BodySending>,
    ) -> Result<Response<Incoming>, SendFailed> {
        let before = self.received.load(Relaxed);
        let sent = match &mut self.sender {
            HttpSender::One(s) => match s.ready().await {
                Ok(()) => s.try_send_request(request).await,
                Err(error) => return Err(SendFailed { error, unsent: true, silent: true }),
            },
            HttpSender::Many(s) => match s.ready().await {
                Ok(()) => s.try_send_request(request).await,
                Err(error) => return Err(SendFailed { error, unsent: true, silent: true }),
            },
        };
        sent.map_err(|mut failed| SendFailed {
            unsent: failed.take_message().is_some(),
            silent: self.received.load(Relaxed) == before,
            error: failed.into_error(),
        })
    }
}

/// A stream that counts the received bytes.
struct CountingStream<S> {
    stream: S,
    received: Arc<AtomicU64>,
}

impl<S: AsyncRead + Unpin> AsyncRead for CountingStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.received.fetch_add((buf.filled().len() - before) as u64, Relaxed);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountingStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        all: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, all)
    }
}
