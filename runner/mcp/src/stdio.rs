//! The transport over standard streams. It serves one client, and the process ends when that client
//! disconnects.

use crate::roots::RootsMode;
use crate::server::{BindExtent, ConnectionClient, McpServer};
use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use std::sync::Arc;
use std::time::Duration;
use wasibox_actions::{Client, Registry, ToolScope};

/// The time limit for running calls to end when the client has disconnected.
const GRACE: Duration = Duration::from_secs(5);

/// The reason why the client could not be served.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("cannot start threads: {0}")]
    Runtime(#[from] std::io::Error),
    #[error("the client speaks another protocol: {0}")]
    Client(String),
}

/// Serves the client at standard input and output until it closes them. Its roots become mounts of
/// its sessions if that is allowed.
///
/// # Errors
/// Returns an error if the first message is not one of the protocol's.
pub fn serve_stdio(
    registry: Arc<Registry>,
    client: Client,
    roots: RootsMode,
) -> Result<(), StdioError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let bound = ConnectionClient {
        client: Arc::new(client),
        scopes: ToolScope::ALL.to_vec(),
        extent: BindExtent::Connection,
        spend_cpu: None,
    };
    let server = McpServer::new(registry, Arc::new(move |_, _| Ok(bound.clone())), false);
    let server = server.with_roots(roots);
    let served = runtime.block_on(async {
        match server.serve(rmcp::transport::io::stdio_pipes()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(|e| e.to_string()),
            // The client has disconnected before its first message.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(e) => Err(e.to_string()),
        }
    });
    // A thread may still be reading standard input.
    runtime.shutdown_timeout(GRACE);
    served.map_err(StdioError::Client)
}
