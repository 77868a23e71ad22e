//! Addresses of sockets.

use crate::errno::Errno;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The family of a socket's addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    V4,
    V6,
    Unix,
}

/// An address. An IPv4 address is never stored in its form for IPv6 sockets;
/// [`SocketAddress::shown_to`] converts it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SocketAddress {
    Ip(SocketAddr),
    /// A name of the session, without the NUL before it (`unix(7)`, abstract); empty: no name.
    Unix(Vec<u8>),
}

impl SocketAddress {
    /// Returns the address of a socket that is not bound.
    pub fn unbound_address(family: Family) -> SocketAddress {
        match family {
            Family::V4 => ip_address(Ipv4Addr::UNSPECIFIED.into(), 0),
            Family::V6 => ip_address(Ipv6Addr::UNSPECIFIED.into(), 0),
            Family::Unix => SocketAddress::Unix(Vec::new()),
        }
    }

    /// Converts it for display by a socket of that family: IPv6 sockets show IPv4 addresses as
    /// `::ffff:a.b.c.d`.
    pub fn shown_to(&self, family: Family) -> SocketAddress {
        match self {
            SocketAddress::Ip(SocketAddr::V4(at)) if family == Family::V6 => {
                ip_address(at.ip().to_ipv6_mapped().into(), at.port())
            }
            other => other.clone(),
        }
    }

    /// Converts it for a socket of `family`, an IPv4 address to its plain form; EAFNOSUPPORT for
    /// another family.
    pub(super) fn for_family(self, family: Family) -> Result<SocketAddress, Errno> {
        match (self, family) {
            (SocketAddress::Ip(at @ SocketAddr::V4(_)), Family::V4) => Ok(SocketAddress::Ip(at)),
            (SocketAddress::Ip(SocketAddr::V6(at)), Family::V6) => {
                Ok(ip_address(IpAddr::V6(*at.ip()).to_canonical(), at.port()))
            }
            (SocketAddress::Unix(name), Family::Unix) => Ok(SocketAddress::Unix(name)),
            _ => Err(Errno::AFNOSUPPORT),
        }
    }

    /// Returns the destination of a packet to this address: an unspecified address means the own
    /// machine, and others are unreachable (ENETUNREACH).
    pub(super) fn packet_destination(self) -> Result<SocketAddress, Errno> {
        match self {
            SocketAddress::Ip(at) if at.ip().is_unspecified() => {
                Ok(ip_address(loopback_like(at.ip()), at.port()))
            }
            SocketAddress::Ip(at) if !at.ip().is_loopback() => Err(Errno::NETUNREACH),
            other => Ok(other),
        }
    }

    /// Returns the default source of a packet to this destination.
    pub(super) fn source_for(&self) -> SocketAddress {
        match self {
            SocketAddress::Ip(at) => ip_address(loopback_like(at.ip()), 0),
            SocketAddress::Unix(_) => SocketAddress::Unix(Vec::new()),
        }
    }

    /// Returns EADDRNOTAVAIL unless the session has this address.
    pub(super) fn check_exists(&self) -> Result<(), Errno> {
        match self {
            SocketAddress::Ip(at) if !at.ip().is_unspecified() && !at.ip().is_loopback() => {
                Err(Errno::ADDRNOTAVAIL)
            }
            _ => Ok(()),
        }
    }

    /// Returns whether it is an IP address that stands for all of the machine's.
    pub(super) fn is_unspecified(&self) -> bool {
        matches!(self, SocketAddress::Ip(at) if at.ip().is_unspecified())
    }
}

/// Returns the loopback address of that family.
fn loopback_like(like: IpAddr) -> IpAddr {
    match like {
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Returns an IP address and a port.
pub(super) fn ip_address(at: IpAddr, port: u16) -> SocketAddress {
    SocketAddress::Ip(SocketAddr::new(at, port))
}

/// Returns the addresses of a host's name. A session knows `localhost` and names that end with it
/// (RFC 6761, section 6.3), and numeric addresses.
pub fn resolve_name(name: &str) -> Option<Vec<IpAddr>> {
    let bare = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    if bare == "localhost" || bare.ends_with(".localhost") {
        return Some(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    name.parse().ok().map(|ip| vec![ip])
}
