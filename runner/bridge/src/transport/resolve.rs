//! Resolves names to addresses. The answer is both judged and connected to; a name is never
//! resolved a second time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};

/// Maximum number of a name's addresses that are tried.
pub(crate) const MAX_ADDRESSES: usize = 16;

/// A resolver of names. It may block, because it is called on a thread reserved for that.
pub trait NameResolver: Send + Sync {
    /// Returns the addresses of `host`, a name in its ASCII form; best first.
    ///
    /// # Errors
    /// If there are none. The guest learns that, but not the reason.
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

/// Returns the addresses of `localhost` and names below it, without asking a resolver (RFC 6761,
/// 6.3).
pub(crate) fn localhost_addresses() -> Vec<IpAddr> {
    vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
}
