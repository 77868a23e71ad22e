//! A socket as programs see it.

use super::address::{Family, SocketAddress};
use super::link::{self, LinkEnd};
use super::listener::Listener;
use super::mailbox::Mailbox;
use super::options::{SocketFlag, SocketOptions, SocketSize, SocketTime};
use super::ports::{PortBinding, PortSharing, PortTarget};
use super::{LoopbackNetwork, SocketPlace};
use crate::buffer::Readiness;
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::Thread;
use std::time::Duration;

/// The type of a socket's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SocketKind {
    /// Bytes (TCP).
    Stream,
    /// Datagrams (UDP).
    Datagram,
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketStatus {
    Opening,
    Opened,
    Closed,
    Failed,
}

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    pub(super) network: LoopbackNetwork,
    pub(super) family: Family,
    pub(super) kind: SocketKind,
    /// The options of `setsockopt`.
    options: SocketOptions,
    inner: Mutex<SocketInner>,
    _place: SocketPlace,
}

#[derive(Debug)]
pub(super) struct SocketInner {
    bound: Option<PortBinding>,
    pub(super) state: SocketState,
    /// The error of a `connect` that did not wait.
    error: Option<Errno>,
}

#[derive(Debug)]
pub(super) enum SocketState {
    Idle,
    /// It waits, because the listener's backlog is full.
    Connecting {
        to: SocketAddress,
        listener: Arc<Listener>,
    },
    Listening(Arc<Listener>),
    Connected(SocketConnection),
    Datagram {
        inbox: Arc<Mailbox>,
        peer: Option<DatagramPeer>,
    },
}

#[derive(Debug)]
pub(super) struct SocketConnection {
    pub(super) end: LinkEnd,
    local: SocketAddress,
    peer: SocketAddress,
    /// Whether the result of a `connect` that did not wait has not been reported yet.
    is_news: bool,
}

/// The peer that a datagram socket is connected with.
#[derive(Clone, Debug)]
pub(super) struct DatagramPeer {
    pub(super) address: SocketAddress,
    /// The other socket of a pair.
    pub(super) direct: Option<Weak<Mailbox>>,
}

impl Socket {
    /// Creates a socket that is neither bound nor connected.
    pub fn new(
        network: &LoopbackNetwork,
        family: Family,
        kind: SocketKind,
    ) -> Result<Socket, Errno> {
        let state = match kind {
            SocketKind::Stream => SocketState::Idle,
            SocketKind::Datagram => {
                SocketState::Datagram { inbox: Arc::new(Mailbox::new(network)), peer: None }
            }
        };
        Socket::with_state(network, family, kind, SocketOptions::default(), state)
    }

    fn with_state(
        network: &LoopbackNetwork,
        family: Family,
        kind: SocketKind,
        options: SocketOptions,
        state: SocketState,
    ) -> Result<Socket, Errno> {
        let place = network.take_place()?;
        let inner = Mutex::new(SocketInner { bound: None, state, error: None });
        Ok(Socket { network: network.clone(), family, kind, options, inner, _place: place })
    }

    /// Creates two sockets that are connected with each other and have no names.
    pub fn pair(
        network: &LoopbackNetwork,
        family: Family,
        kind: SocketKind,
    ) -> Result<[Socket; 2], Errno> {
        let sockets = [Socket::new(network, family, kind)?, Socket::new(network, family, kind)?];
        match kind {
            SocketKind::Stream => {
                let (a, b) = link::connection_pair(network, [super::BUFFER; 2], false);
                for (socket, end) in sockets.iter().zip([a, b]) {
                    let (local, peer) = (
                        SocketAddress::unbound_address(family),
                        SocketAddress::unbound_address(family),
                    );
                    let connected = SocketConnection { end, local, peer, is_news: false };
                    socket.lock_inner().state = SocketState::Connected(connected);
                }
            }
            SocketKind::Datagram => {
                let inboxes = [sockets[0].inbox(), sockets[1].inbox()];
                for (socket, other) in sockets.iter().zip(inboxes.iter().rev()) {
                    if let SocketState::Datagram { peer, .. } = &mut socket.lock_inner().state {
                        let direct = other.as_ref().map(Arc::downgrade);
                        *peer = Some(DatagramPeer {
                            address: SocketAddress::unbound_address(family),
                            direct,
                        });
                    }
                }
            }
        }
        Ok(sockets)
    }

    pub(super) fn lock_inner(&self) -> MutexGuard<'_, SocketInner> {
        lock_mutex(&self.inner)
    }

    fn inbox(&self) -> Option<Arc<Mailbox>> {
        match &self.lock_inner().state {
            SocketState::Datagram { inbox, .. } => Some(inbox.clone()),
            _ => None,
        }
    }

    /// Returns the family of its addresses.
    pub fn family(&self) -> Family {
        self.family
    }

    /// Returns the type of its data.
    pub fn kind(&self) -> SocketKind {
        self.kind
    }

    /// Returns the options of `setsockopt`; [`Socket::set_size`] sets the sizes.
    pub fn options(&self) -> &SocketOptions {
        &self.options
    }

    /// Sets a number, and with it the limit of unread bytes.
    pub fn set_size(&self, size: SocketSize, value: u64) {
        self.options.set_size(size, value);
        if size == SocketSize::Receive
            && let SocketState::Connected(c) = &self.lock_inner().state
        {
            c.end.set_room(self.buffer_room());
        }
    }

    fn buffer_room(&self) -> usize {
        usize::try_from(self.options.size(SocketSize::Receive)).unwrap_or(super::BUFFER)
    }

    fn sharing(&self) -> PortSharing {
        PortSharing {
            only_v6: self.options.flag(SocketFlag::OnlyV6),
            address: self.options.flag(SocketFlag::ReuseAddress),
            port: self.options.flag(SocketFlag::ReusePort),
        }
    }

    /// Gives `inner` an address.
    fn take_address(&self, inner: &mut SocketInner, address: SocketAddress) -> Result<(), Errno> {
        let target = match &inner.state {
            SocketState::Datagram { inbox, .. } => PortTarget::Mailbox(inbox.clone()),
            _ => PortTarget::Nobody,
        };
        inner.bound =
            Some(self.network.bind_address(self.kind, address, self.sharing(), target)?);
        Ok(())
    }

    /// Gives the socket an address (`bind`).
    pub fn bind(&self, address: SocketAddress) -> Result<(), Errno> {
        let address = address.for_family(self.family)?;
        let mut inner = self.lock_inner();
        if inner.bound.is_some() || matches!(inner.state, SocketState::Connected(_)) {
            return Err(Errno::INVAL);
        }
        self.take_address(&mut inner, address)
    }

    /// Takes connections from now on (`listen`).
    pub fn listen(&self, backlog: usize, pid: u32) -> Result<(), Errno> {
        let mut inner = self.lock_inner();
        match &inner.state {
            SocketState::Idle => {}
            SocketState::Listening(listener) => {
                listener.set_backlog(backlog);
                return Ok(());
            }
            SocketState::Datagram { .. } => return Err(Errno::NOTSUP),
            _ => return Err(Errno::INVAL),
        }
        if inner.bound.is_none() {
            if self.family == Family::Unix {
                return Err(Errno::INVAL);
            }
            self.take_address(&mut inner, SocketAddress::unbound_address(self.family))?;
        }
        let listener = Arc::new(Listener::new(backlog));
        if let Some(bound) = &inner.bound {
            bound.listen(&listener, pid)?;
        }
        inner.state = SocketState::Listening(listener);
        Ok(())
    }

    /// Takes the next connection (`accept`): EAGAIN if none waits.
    pub fn accept(&self) -> Result<Socket, Errno> {
        let listener = match &self.lock_inner().state {
            SocketState::Listening(listener) => listener.clone(),
            SocketState::Datagram { .. } => return Err(Errno::NOTSUP),
            _ => return Err(Errno::INVAL),
        };
        let mut socket = listener.accept_connection()?;
        socket.inherit_options(self);
        Ok(socket)
    }

    /// Connects the socket (`connect`). EAGAIN means that the caller must wait, because the
    /// listener's backlog is full. With `at_once` it never waits: as in Linux, it first returns
    /// EINPROGRESS, and the next call, [`Socket::take_error`] or [`Socket::ready`] reports the
    /// result.
    pub fn connect(&self, to: SocketAddress, at_once: bool) -> Result<(), Errno> {
        let to = to.for_family(self.family)?;
        let mut inner = self.lock_inner();
        if let SocketState::Datagram { .. } = inner.state {
            return self.connect_datagrams(&mut inner, to);
        }
        match &mut inner.state {
            SocketState::Listening(_) => return Err(Errno::ISCONN),
            SocketState::Connected(c) if c.is_news => {
                c.is_news = false;
                return Ok(());
            }
            SocketState::Connected(_) => return Err(Errno::ISCONN),
            SocketState::Connecting { .. } => {
                self.try_again(&mut inner);
                return match &mut inner.state {
                    SocketState::Connecting { .. } if at_once => Err(Errno::ALREADY),
                    SocketState::Connecting { .. } => Err(Errno::AGAIN),
                    SocketState::Connected(c) => {
                        c.is_news = false;
                        Ok(())
                    }
                    _ => Err(inner.error.take().unwrap_or(Errno::CONNREFUSED)),
                };
            }
            _ => {}
        }
        if let Some(error) = inner.error.take() {
            return Err(error);
        }
        let result = self.attempt_connect(&mut inner, to.packet_destination()?);
        if !at_once || self.family == Family::Unix {
            return result;
        }
        match result {
            Ok(()) => {
                if let SocketState::Connected(c) = &mut inner.state {
                    c.is_news = true;
                }
            }
            Err(Errno::AGAIN) => {}
            Err(Errno::CONNREFUSED) => inner.error = Some(Errno::CONNREFUSED),
            Err(other) => return Err(other),
        }
        Err(Errno::INPROGRESS)
    }

    /// Tries to connect. If the backlog is full, the state becomes `Connecting`, and the error is
    /// EAGAIN.
    fn attempt_connect(&self, inner: &mut SocketInner, to: SocketAddress) -> Result<(), Errno> {
        let PortTarget::Listener(listener, _) = self.network.find_target(SocketKind::Stream, &to)
        else {
            inner.state = SocketState::Idle;
            return Err(Errno::CONNREFUSED);
        };
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        let local = match &inner.bound {
            Some(b) if b.address.is_unspecified() => with_port(&to.source_for(), &b.address),
            Some(b) => b.address.clone(),
            None => SocketAddress::unbound_address(self.family),
        };
        let mut own = None;
        let offered = listener.offer_connection(|| {
            let room = [self.buffer_room(), super::BUFFER];
            let (mine, theirs) =
                link::connection_pair(&self.network, room, self.family != Family::Unix);
            let connected = SocketConnection {
                end: theirs,
                local: to.clone(),
                peer: local.clone(),
                is_news: false,
            };
            own = Some(mine);
            let (family, state) = (self.family, SocketState::Connected(connected));
            Socket::with_state(
                &self.network,
                family,
                SocketKind::Stream,
                SocketOptions::default(),
                state,
            )
        });
        match (offered, own) {
            (Ok(()), Some(end)) => {
                inner.state = SocketState::Connected(SocketConnection {
                    end,
                    local,
                    peer: to,
                    is_news: false,
                });
                Ok(())
            }
            (Err(Errno::AGAIN), _) => {
                inner.state = SocketState::Connecting { to, listener };
                Err(Errno::AGAIN)
            }
            (Err(e), _) => {
                inner.state = SocketState::Idle;
                Err(e)
            }
            (Ok(()), None) => Err(Errno::IO),
        }
    }

    /// Tries a `connect` again that found the backlog full.
    fn try_again(&self, inner: &mut SocketInner) {
        if let SocketState::Connecting { to, listener } = &inner.state
            && listener.has_room()
        {
            let to = to.clone();
            let result = self.attempt_connect(inner, to);
            match (result, &mut inner.state) {
                (Ok(()), SocketState::Connected(c)) => c.is_news = true,
                (Ok(()) | Err(Errno::AGAIN), _) => {}
                (Err(e), _) => inner.error = Some(e),
            }
        }
    }

    /// Sets the only peer of the socket; an unspecified address without a port removes it.
    fn connect_datagrams(&self, inner: &mut SocketInner, to: SocketAddress) -> Result<(), Errno> {
        let is_nobody = matches!(&to, SocketAddress::Ip(at) if at.port() == 0);
        let to = to.packet_destination()?;
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        if let SocketState::Datagram { peer, .. } = &mut inner.state {
            *peer = (!is_nobody).then_some(DatagramPeer { address: to, direct: None });
        }
        Ok(())
    }

    /// Assigns a port to a datagram socket before its first packet.
    pub(super) fn bind_for(
        &self,
        inner: &mut SocketInner,
        to: &SocketAddress,
    ) -> Result<SocketAddress, Errno> {
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        Ok(match &inner.bound {
            Some(b) if b.address.is_unspecified() => with_port(&to.source_for(), &b.address),
            Some(b) => b.address.clone(),
            None => SocketAddress::unbound_address(self.family),
        })
    }

    /// Returns its own address (`getsockname`).
    pub fn local_address(&self) -> SocketAddress {
        let inner = self.lock_inner();
        let address = match (&inner.state, &inner.bound) {
            (SocketState::Connected(c), _) => c.local.clone(),
            (_, Some(bound)) => bound.address.clone(),
            _ => SocketAddress::unbound_address(self.family),
        };
        address.shown_to(self.family)
    }

    /// Returns the other side's address (`getpeername`).
    pub fn peer_address(&self) -> Result<SocketAddress, Errno> {
        let inner = self.lock_inner();
        match &inner.state {
            SocketState::Connected(c) if !c.end.is_over() => Ok(c.peer.shown_to(self.family)),
            SocketState::Datagram { peer: Some(peer), .. } => {
                Ok(peer.address.shown_to(self.family))
            }
            _ => Err(Errno::NOTCONN),
        }
    }

    /// Ends reading, writing or both (`shutdown`).
    pub fn shutdown(&self, read: bool, write: bool) -> Result<(), Errno> {
        let inner = self.lock_inner();
        match &inner.state {
            SocketState::Connected(c) => c.end.shutdown(read, write),
            SocketState::Listening(listener) => {
                if read {
                    if let Some(bound) = &inner.bound {
                        bound.close();
                    }
                    listener.close();
                }
                Ok(())
            }
            SocketState::Datagram { inbox, peer: Some(_) } => {
                if read {
                    inbox.close();
                }
                Ok(())
            }
            _ => Err(Errno::NOTCONN),
        }
    }

    /// Takes the error that was not reported yet (`SO_ERROR`).
    pub fn take_error(&self) -> Option<Errno> {
        let mut inner = self.lock_inner();
        self.try_again(&mut inner);
        match &inner.state {
            SocketState::Connected(c) => c.end.take_error(),
            SocketState::Datagram { inbox, .. } => inbox.take_error(),
            _ => inner.error.take(),
        }
    }

    /// Returns whether it takes connections.
    pub fn is_listening(&self) -> bool {
        matches!(self.lock_inner().state, SocketState::Listening(_))
    }

    /// Returns the state of its connection.
    pub fn status(&self) -> SocketStatus {
        let inner = self.lock_inner();
        match &inner.state {
            SocketState::Connecting { .. } => SocketStatus::Opening,
            SocketState::Connected(c) if c.end.is_over() => SocketStatus::Closed,
            _ if inner.error.is_some() => SocketStatus::Failed,
            _ => SocketStatus::Opened,
        }
    }

    /// Returns whether a read (or a write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let mut inner = self.lock_inner();
        self.try_again(&mut inner);
        let some = |n: usize, hangup| Some(Readiness { bytes: n as u64, hangup });
        match &inner.state {
            // As in Linux: nothing will ever arrive.
            SocketState::Idle => some(0, true),
            SocketState::Connecting { .. } => None,
            SocketState::Listening(listener) if !write => {
                listener.waiting_count().and_then(|n| some(n, false))
            }
            SocketState::Listening(_) => None,
            SocketState::Connected(c) => c.end.ready(write),
            SocketState::Datagram { .. } if write => some(super::MAX_DATAGRAM, false),
            SocketState::Datagram { inbox, .. } => inbox.ready_bytes().and_then(|n| some(n, false)),
        }
    }

    /// Unparks `who` when the result of [`Socket::ready`] may have changed.
    pub fn watch(&self, who: &Thread) {
        match &self.lock_inner().state {
            SocketState::Idle => {}
            SocketState::Connecting { listener, .. } | SocketState::Listening(listener) => {
                listener.watch(who)
            }
            SocketState::Connected(c) => c.end.watch(who),
            SocketState::Datagram { inbox, .. } => inbox.watch(who),
        }
    }

    /// Returns the maximum time for which a read (or a write) may wait (`SO_RCVTIMEO`,
    /// `SO_SNDTIMEO`).
    pub fn wait_limit(&self, write: bool) -> Option<Duration> {
        let inner = self.lock_inner();
        let time = match (&inner.state, write) {
            (SocketState::Listening(_), _) => SocketTime::Accept,
            (SocketState::Idle | SocketState::Connecting { .. }, true) => SocketTime::Connect,
            (_, true) => SocketTime::Send,
            (_, false) => SocketTime::Receive,
        };
        let general = if write { SocketTime::Send } else { SocketTime::Receive };
        self.options.time(time).or(self.options.time(general))
    }

    /// Applies the listener's options to an accepted socket.
    fn inherit_options(&mut self, from: &Socket) {
        self.options = from.options.inherit();
        self.family = from.family;
        if let SocketState::Connected(c) = &self.lock_inner().state {
            c.end.set_room(self.buffer_room());
        }
    }

    /// Breaks its connection.
    pub(super) fn reset(&self) {
        if let SocketState::Connected(c) = &self.lock_inner().state {
            c.end.reset_side();
        }
    }
}

/// Returns an IP address with the port of another one.
fn with_port(at: &SocketAddress, port_of: &SocketAddress) -> SocketAddress {
    match (at, port_of) {
        (SocketAddress::Ip(at), SocketAddress::Ip(port)) => {
            super::address::ip_address(at.ip(), port.port())
        }
        _ => at.clone(),
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(|e| e.into_inner());
        match &inner.state {
            SocketState::Listening(listener) => {
                if let Some(bound) = &inner.bound {
                    bound.close();
                }
                listener.close();
            }
            SocketState::Connected(c)
                if self.options.time(SocketTime::Linger) == Some(Duration::ZERO) =>
            {
                c.end.reset_side();
            }
            SocketState::Datagram { inbox, .. } => inbox.close(),
            _ => {}
        }
    }
}
