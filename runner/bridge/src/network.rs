//! The thread that all bridges of a process share, with the resolver and the roots of TLS.

use crate::resolve::{NameResolver, SystemResolver};
use crate::tls::{Tls, TlsRoots};
use std::io;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Threads that wait for resolvers, files and functions of the embedder.
const BLOCKING: usize = 16;

/// How a [`BridgeNetwork`] finds hosts and whom it trusts. The default: as the system does.
#[derive(Default)]
pub struct NetworkOptions {
    pub resolver: Option<Arc<dyn NameResolver>>,
    pub roots: TlsRoots,
}

/// What bridges share. Clones are the same one; it ends with the last of them, and with it what
/// still runs.
#[derive(Clone)]
pub struct BridgeNetwork {
    shared: Arc<NetworkInner>,
}

struct NetworkInner {
    handle: Handle,
    resolver: Arc<dyn NameResolver>,
    tls: Tls,
    /// Dropped, it ends the thread.
    _stop: oneshot::Sender<()>,
}

impl BridgeNetwork {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(options: NetworkOptions) -> io::Result<Self> {
        let runtime =
            Builder::new_current_thread().enable_all().max_blocking_threads(BLOCKING).build()?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::Builder::new().name("wasibox-bridge".into()).spawn(move || {
            let _ = runtime.block_on(stopped);
            // Not waiting for threads that a resolver holds.
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
