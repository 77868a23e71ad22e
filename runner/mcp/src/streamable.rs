//! The transport over HTTP, as a service.

use crate::server::{Bind, McpServer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use wasibox_actions::Registry;

/// The HTTP service of the protocol.
pub type Streamable = StreamableHttpService<McpServer, LocalSessionManager>;

/// The options of the service.
pub struct StreamableOptions {
    /// A connection ends after this time without a message.
    pub idle: Duration,
    /// The maximum size of a request, in bytes.
    pub body: usize,
    /// Ends all connections.
    pub end: CancellationToken,
}

/// Creates a service with a [`McpServer`] for each connection. The HTTP server around it must check
/// `Host` and `Origin`, as the protocol demands, and identify the owner of each connection.
pub fn streamable_service(
    registry: Arc<Registry>,
    bind: Bind,
    options: StreamableOptions,
) -> Streamable {
    handler_service(move || McpServer::new(registry.clone(), bind.clone(), true), options)
}

/// Creates the same transport for another handler, for example that of the conformance suite's
/// fixtures.
pub fn handler_service<H: ServerHandler>(
    make: impl Fn() -> H + Send + Sync + 'static,
    options: StreamableOptions,
) -> StreamableHttpService<H, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(options.body)
        .with_cancellation_token(options.end);
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = streamable_config(options.idle);
    StreamableHttpService::new(move || Ok(make()), Arc::new(sessions), config)
}

fn streamable_config(idle: Duration) -> SessionConfig {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(idle);
    config
}
