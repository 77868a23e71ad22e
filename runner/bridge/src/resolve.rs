//! Names to addresses. The answer is judged and connected to; nobody asks a second time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

/// Most addresses of a name that are tried.
pub(crate) const MAX_ADDRESSES: usize = 16;

/// Finds the addresses of a name. May block: it is called on a thread that is for this.
pub trait NameResolver: Send + Sync {
    /// The addresses of `host`, a name in its ASCII form; best first.
    ///
    /// # Errors
    /// If there are none. The guest is told that, and not why.
    fn resolve_host(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver, with its configuration.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemResolver;

impl NameResolver for SystemResolver {
    fn resolve_host(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok((host, 0).to_socket_addrs()?.map(|a| a.ip()).collect())
    }
}

/// What `localhost` and names beneath it are, whatever a resolver would say (RFC 6761, 6.3).
pub(crate) fn localhost_addresses() -> Vec<IpAddr> {
    vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}
