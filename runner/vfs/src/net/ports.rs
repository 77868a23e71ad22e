//! The owners of ports and names.

use super::LoopbackNetwork;
use super::address::{SocketAddress, ip_address};
use super::listener::Listener;
use super::mailbox::Mailbox;
use super::socket::SocketKind;
use crate::errno::Errno;
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// Ports for sockets that ask for any (Linux's `ip_local_port_range`).
const FIRST: u16 = 32768;
const LAST: u16 = 60999;
/// Longest name of a Unix-domain socket: `sun_path` without its first NUL.
const MAX_NAME: usize = 107;

/// Addresses that sockets have taken.
#[derive(Debug, Default)]
pub(super) struct Ports {
    claims: HashMap<(SocketKind, u16), Vec<PortClaim>>,
    names: HashMap<(SocketKind, Vec<u8>), PortClaim>,
    next: u16,
    ids: u64,
}

/// The sharing that a socket allows for its address.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PortSharing {
    pub(super) only_v6: bool,
    /// `SO_REUSEADDR`: shares the address with sockets that set it too, as long as none of them
    /// listens.
    pub(super) address: bool,
    /// `SO_REUSEPORT`: shares the address with sockets that set it too.
    pub(super) port: bool,
}

/// A socket that listens for connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListeningSocket {
    pub address: SocketAddr,
    /// The process that made it listen. Processes that it has begun since may have the socket, too.
    pub pid: u32,
}

#[derive(Debug)]
struct PortClaim {
    id: u64,
    address: SocketAddress,
    sharing: PortSharing,
    target: PortTarget,
}

/// The destination of packets to an address.
#[derive(Clone, Debug)]
pub(super) enum PortTarget {
    Nobody,
    /// A listener, and the process that made it listen.
    Listener(Arc<Listener>, u32),
    Mailbox(Arc<Mailbox>),
}

/// An address that a socket has until it is dropped.
#[derive(Debug)]
pub(super) struct PortBinding {
    network: LoopbackNetwork,
    kind: SocketKind,
    pub(super) address: SocketAddress,
    id: u64,
}

impl PortClaim {
    fn is_listening(&self) -> bool {
        matches!(self.target, PortTarget::Listener(..))
    }

    /// Returns whether another claim of that address is in conflict with this one.
    fn excludes(&self, at: IpAddr, sharing: PortSharing) -> bool {
        let SocketAddress::Ip(own) = &self.address else { return true };
        let both = |a: bool, b: bool| a && b;
        addresses_overlap(own.ip(), self.sharing.only_v6, at, sharing.only_v6)
            && !both(self.sharing.port, sharing.port)
            && (!both(self.sharing.address, sharing.address) || self.is_listening())
    }

    /// Returns its rank as the target of a packet to `to`, where the lowest rank fits best; `None`
    /// if it does not fit.
    fn fit_rank(&self, to: IpAddr) -> Option<u8> {
        let SocketAddress::Ip(own) = &self.address else { return None };
        match own.ip() {
            at if at == to => Some(0),
            at if at.is_unspecified() && at.is_ipv4() == to.is_ipv4() => Some(1),
            IpAddr::V6(at) if at.is_unspecified() && !self.sharing.only_v6 => Some(2),
            _ => None,
        }
    }
}

/// Returns whether two addresses at one port are in conflict.
fn addresses_overlap(a: IpAddr, a_only: bool, b: IpAddr, b_only: bool) -> bool {
    let all = |at: IpAddr, only: bool, other: IpAddr| {
        at.is_unspecified() && (at.is_ipv4() == other.is_ipv4() || at.is_ipv6() && !only)
    };
    a == b || all(a, a_only, b) || all(b, b_only, a)
}

impl Ports {
    fn is_free(&self, kind: SocketKind, at: SocketAddr, sharing: PortSharing) -> bool {
        let there = self.claims.get(&(kind, at.port()));
        there.is_none_or(|all| !all.iter().any(|c| c.excludes(at.ip(), sharing)))
    }

    /// Finds a port that is free.
    fn any_port(&mut self, kind: SocketKind) -> Option<u16> {
        let all = LAST - FIRST + 1;
        let mut ports = (0..all).map(|i| FIRST + (self.next % all + i) % all);
        let free = ports.find(|port| !self.claims.contains_key(&(kind, *port)))?;
        self.next = free - FIRST + 1;
        Some(free)
    }

    fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    fn find_claim(
        &mut self,
        kind: SocketKind,
        address: &SocketAddress,
        id: u64,
    ) -> Option<&mut PortClaim> {
        match address {
            SocketAddress::Ip(at) => {
                self.claims.get_mut(&(kind, at.port()))?.iter_mut().find(|c| c.id == id)
            }
            SocketAddress::Unix(name) => self.names.get_mut(&(kind, name.clone())),
        }
    }
}

impl LoopbackNetwork {
    /// Returns the addresses that sockets have taken, sorted, in lines as
    /// [`box_abi::SOCKETS`] describes, as many as fit in `room` bytes.
    ///
    /// ```
    /// use wasibox_vfs::Budget;
    /// use wasibox_vfs::net::{Family, LoopbackNetwork, Socket, SocketAddress, SocketKind};
    ///
    /// let network = LoopbackNetwork::new(Budget::new(1 << 20));
    /// let server = Socket::new(&network, Family::V4, SocketKind::Stream).expect("a socket");
    /// let at = SocketAddress::Ip("127.0.0.1:80".parse().expect("an address"));
    /// server.bind(at).expect("a free port");
    /// server.listen(1, 1).expect("listening");
    /// assert_eq!(network.list_addresses(1000), "tcp listen 127.0.0.1:80\n");
    /// ```
    pub fn list_addresses(&self, room: usize) -> String {
        let ports = self.lock_ports();
        let claims =
            ports.claims.iter().flat_map(|((kind, _), all)| all.iter().map(|c| (*kind, c)));
        let mut rows: Vec<(bool, u16, String)> = claims
            .filter_map(|(kind, claim)| {
                let SocketAddress::Ip(at) = &claim.address else { return None };
                let kind = if kind == SocketKind::Stream { "tcp" } else { "udp" };
                let state = if claim.is_listening() { "listen" } else { "bound" };
                Some((kind == "udp", at.port(), format!("{kind} {state} {at}\n")))
            })
            .collect();
        rows.sort();
        let mut out = String::new();
        for (.., row) in rows {
            if out.len() + row.len() > room {
                break;
            }
            out.push_str(&row);
        }
        out
    }

    /// Returns the sockets that listen for connections over IP, by port and address.
    ///
    /// ```
    /// use wasibox_vfs::Budget;
    /// use wasibox_vfs::net::{Family, LoopbackNetwork, Socket, SocketAddress, SocketKind};
    ///
    /// let network = LoopbackNetwork::new(Budget::new(1 << 20));
    /// let server = Socket::new(&network, Family::V4, SocketKind::Stream).expect("a socket");
    /// let at = "127.0.0.1:80".parse().expect("an address");
    /// server.bind(SocketAddress::Ip(at)).expect("a free port");
    /// assert!(network.listening_sockets().is_empty());
    /// server.listen(1, 7).expect("listening");
    /// let all = network.listening_sockets();
    /// assert_eq!((all.len(), all[0].address, all[0].pid), (1, at, 7));
    /// ```
    pub fn listening_sockets(&self) -> Vec<ListeningSocket> {
        let ports = self.lock_ports();
        let streams = ports.claims.iter().filter(|((kind, _), _)| *kind == SocketKind::Stream);
        let listening = streams.flat_map(|(_, all)| all).filter_map(|claim| {
            match (&claim.address, &claim.target) {
                (SocketAddress::Ip(at), PortTarget::Listener(_, pid)) => {
                    Some(ListeningSocket { address: *at, pid: *pid })
                }
                _ => None,
            }
        });
        let mut all: Vec<ListeningSocket> = listening.collect();
        all.sort_by_key(|socket| (socket.address.port(), socket.address.ip()));
        all
    }

    /// Takes an address; port 0 stands for any free port.
    pub(super) fn bind_address(
        &self,
        kind: SocketKind,
        address: SocketAddress,
        sharing: PortSharing,
        target: PortTarget,
    ) -> Result<PortBinding, Errno> {
        address.check_exists()?;
        let mut ports = self.lock_ports();
        let id = ports.next_id();
        let address = match address {
            SocketAddress::Ip(at) if at.port() == 0 => {
                // An automatically assigned port is not shared.
                ip_address(at.ip(), ports.any_port(kind).ok_or(Errno::ADDRINUSE)?)
            }
            SocketAddress::Ip(at) if !ports.is_free(kind, at, sharing) => {
                return Err(Errno::ADDRINUSE);
            }
            SocketAddress::Unix(name) if name.is_empty() => {
                // Linux names such sockets by five hexadecimal digits.
                let name = format!("{:05x}", id & 0xf_ffff).into_bytes();
                SocketAddress::Unix(name)
            }
            SocketAddress::Unix(name) if name.len() > MAX_NAME => return Err(Errno::INVAL),
            other => other,
        };
        let claim = PortClaim { id, address: address.clone(), sharing, target };
        match &address {
            SocketAddress::Ip(at) => ports.claims.entry((kind, at.port())).or_default().push(claim),
            SocketAddress::Unix(name) => match ports.names.entry((kind, name.clone())) {
                std::collections::hash_map::Entry::Occupied(_) => return Err(Errno::ADDRINUSE),
                std::collections::hash_map::Entry::Vacant(free) => drop(free.insert(claim)),
            },
        }
        Ok(PortBinding { network: self.clone(), kind, address, id })
    }

    /// Returns the destination of a packet to this address.
    pub(super) fn find_target(&self, kind: SocketKind, to: &SocketAddress) -> PortTarget {
        let ports = self.lock_ports();
        let claim = match to {
            SocketAddress::Ip(to) => ports.claims.get(&(kind, to.port())).and_then(|all| {
                let open = all.iter().filter(|c| !matches!(c.target, PortTarget::Nobody));
                let fit = open.filter_map(|c| c.fit_rank(to.ip()).map(|how| (how, c)));
                fit.min_by_key(|(how, _)| *how).map(|(_, c)| c)
            }),
            SocketAddress::Unix(name) => ports.names.get(&(kind, name.clone())),
        };
        claim.map_or(PortTarget::Nobody, |c| c.target.clone())
    }
}

impl PortBinding {
    /// Sets the listener of the address, for a process: EADDRINUSE if another socket listens there.
    pub(super) fn listen(&self, listener: &Arc<Listener>, pid: u32) -> Result<(), Errno> {
        let mut ports = self.network.lock_ports();
        let others = |c: &&PortClaim| c.id != self.id && c.is_listening();
        if let SocketAddress::Ip(at) = &self.address
            && let Some(all) = ports.claims.get(&(self.kind, at.port()))
            && let Some(own) = all.iter().find(|c| c.id == self.id)
            && all.iter().filter(others).any(|c| c.excludes(at.ip(), own.sharing))
        {
            return Err(Errno::ADDRINUSE);
        }
        if let Some(own) = ports.find_claim(self.kind, &self.address, self.id) {
            own.target = PortTarget::Listener(listener.clone(), pid);
        }
        Ok(())
    }

    /// Drops packets to the address from now on.
    pub(super) fn close(&self) {
        let mut ports = self.network.lock_ports();
        if let Some(own) = ports.find_claim(self.kind, &self.address, self.id) {
            own.target = PortTarget::Nobody;
        }
    }
}

impl Drop for PortBinding {
    fn drop(&mut self) {
        let mut ports = self.network.lock_ports();
        match &self.address {
            SocketAddress::Ip(at) => {
                let key = (self.kind, at.port());
                if let Some(all) = ports.claims.get_mut(&key) {
                    all.retain(|c| c.id != self.id);
                    if all.is_empty() {
                        ports.claims.remove(&key);
                    }
                }
            }
            SocketAddress::Unix(name) => drop(ports.names.remove(&(self.kind, name.clone()))),
        }
    }
}
