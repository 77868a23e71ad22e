//! The thread that all bridges of a process share, with the resolver and the TLS roots.

use crate::transport::resolve::{NameResolver, SystemResolver};
use crate::transport::tls::{Tls, TlsRoots};
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Maximum number of threads for resolvers, files and functions of the embedder.
const BLOCKING: usize = 16;

/// The name resolver and the trusted roots of a [`BridgeNetwork`]. By default both are those of the
/// system.
#[derive(Default)]
pub struct NetworkOptions {
    pub resolver: Option<Arc<dyn NameResolver>>,
    pub roots: TlsRoots,
}

/// The part that bridges share. Clones refer to the same network, which ends with the last of them,
/// together with its running requests.
#[derive(Clone)]
pub struct BridgeNetwork {
    shared: Arc<NetworkInner>,
}

struct NetworkInner {
    handle: Handle,
    resolver: Arc<dyn NameResolver>,
    tls: Tls,
    /// Ends the thread when it is dropped.
    _stop: oneshot::Sender<()>,
}

impl BridgeNetwork {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn new(options: NetworkOptions) -> io::Result<Self> {
        let runtime =
            Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new().name("wasibox-bridge".into()).spawn(move || {
            let _ = runtime.block_on(stopped);
            // The shutdown does not wait for threads that a resolver blocks.
            runtime.shutdown_background();
        })?;
        let resolver = options.resolver.unwrap_or_else(|| Arc::new(SystemResolver));
        let shared = NetworkInner { handle, resolver, tls: Tls::new(options.roots), _stop: stop };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    pub(crate) fn resolver(&self) -> Arc<dyn NameResolver> {
        Arc::clone(&self.shared.resolver)
    }

    pub(crate) fn tls(&self) -> &Tls {
        &self.shared.tls
    }
}

impl std::fmt::Debug for BridgeNetwork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Network")
    }
}
