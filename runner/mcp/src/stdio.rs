//! The transport over standard streams: one client, whose end is that of the process.

use crate::roots::RootsMode;
use crate::server::{ConnectionClient, McpServer};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use std::sync::Arc;
use std::time::Duration;
use wasibox_actions::{Client, Registry, ToolScope};

/// How long what still runs may take to end when the client has gone.
const GRACE: Duration = Duration::from_secs(5);

/// Why there was nothing to serve.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("no threads to serve with: {0}")]
    Runtime(#[from] std::io::Error),
    #[error("the client speaks another protocol: {0}")]
    Client(String),
}

/// Serves the client at standard input and output until it closes them. Its roots become mounts of its sessions if that is
/// allowed.
///
/// # Errors
/// If the first message is none of the protocol's.
pub fn serve_stdio(
    registry: Arc<Registry>,
    client: Client,
    roots: RootsMode,
) -> Result<(), StdioError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bound = ConnectionClient { client: Arc::new(client), scopes: ToolScope::ALL.to_vec() };
    let server = McpServer::new(registry, Arc::new(move |_| Ok(bound.clone())), false);
    let server = server.with_roots(roots);
    let served = runtime.block_on(async {
        match server.serve(rmcp::transport::io::stdio_pipes()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|e| e.to_string()),
            // It has gone before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(e.to_string()),
        }
    });
    // A thread may still wait for standard input.
    runtime.shutdown_timeout(GRACE);
    served.map_err(StdioError::Client)
}
