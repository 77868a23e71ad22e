//! Requests over the network: connections, TLS, secrets, the log. Which requests may be made is
//! decided by the rest of the crate, which builds without this module.

mod body;
mod bridge;
mod connect;
mod decode;
mod exchange;
mod log;
mod network;
mod pipe;
mod proxy;
mod resolve;
mod scrub;
mod secret;
mod tls;

pub use bridge::{Bridge, BridgeExchange, BridgePolicy};
pub use log::{LogEntry, LogSink, NoLog};
pub use network::{BridgeNetwork, NetworkOptions};
pub use proxy::{ProxyError, ProxySettings};
pub use resolve::{NameResolver, SystemResolver};
pub use secret::{SecretError, SecretFn, SecretRule};
pub use tls::{RootsError, TlsRoots};
pub use zeroize::Zeroizing;
