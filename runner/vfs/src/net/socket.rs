//! A socket as programs see it.

use super::address::{Address, Family};
use super::link::{self, End};
use super::listener::Listener;
use super::mailbox::Mailbox;
use super::options::{Flag, Options, Size, Time};
use super::ports::{Binding, Sharing, Target};
use super::{Network, Place};
use crate::errno::Errno;
use crate::file::Readiness;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::thread::Thread;
use std::time::Duration;

/// What a socket carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Bytes (TCP).
    Stream,
    /// Datagrams (UDP).
    Datagram,
}

/// How far a socket is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Opening,
    Opened,
    Closed,
    Failed,
}

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    pub(super) network: Network,
    pub(super) family: Family,
    pub(super) kind: Kind,
    /// What `setsockopt` has set.
    options: Options,
    inner: Mutex<Inner>,
    _place: Place,
}

#[derive(Debug)]
pub(super) struct Inner {
    bound: Option<Binding>,
    pub(super) state: State,
    /// What a `connect` that nobody waited for has failed with.
    error: Option<Errno>,
}

#[derive(Debug)]
pub(super) enum State {
    Idle,
    /// Its listener's backlog is full.
    Connecting {
        to: Address,
        listener: Arc<Listener>,
    },
    Listening(Arc<Listener>),
    Connected(Connected),
    Datagram {
        inbox: Arc<Mailbox>,
        peer: Option<Peer>,
    },
}

#[derive(Debug)]
pub(super) struct Connected {
    pub(super) end: End,
    local: Address,
    peer: Address,
    /// A `connect` that did not wait has not been asked for its result yet.
    is_news: bool,
}

/// With whom a datagram socket is connected.
#[derive(Clone, Debug)]
pub(super) struct Peer {
    pub(super) address: Address,
    /// The other one of a pair.
    pub(super) direct: Option<Weak<Mailbox>>,
}

impl Socket {
    /// A new one, neither bound nor connected.
    pub fn new(network: &Network, family: Family, kind: Kind) -> Result<Socket, Errno> {
        let state = match kind {
            Kind::Stream => State::Idle,
            Kind::Datagram => {
                State::Datagram { inbox: Arc::new(Mailbox::new(network)), peer: None }
            }
        };
        Socket::with(network, family, kind, Options::default(), state)
    }

    fn with(
        network: &Network,
        family: Family,
        kind: Kind,
        options: Options,
        state: State,
    ) -> Result<Socket, Errno> {
        let place = network.place()?;
        let inner = Mutex::new(Inner { bound: None, state, error: None });
        Ok(Socket { network: network.clone(), family, kind, options, inner, _place: place })
    }

    /// Two that are connected with each other and have no names.
    pub fn pair(network: &Network, family: Family, kind: Kind) -> Result<[Socket; 2], Errno> {
        let sockets = [Socket::new(network, family, kind)?, Socket::new(network, family, kind)?];
        match kind {
            Kind::Stream => {
                let (a, b) = link::pair(network, [super::BUFFER; 2], false);
                for (socket, end) in sockets.iter().zip([a, b]) {
                    let (local, peer) = (Address::none(family), Address::none(family));
                    let connected = Connected { end, local, peer, is_news: false };
                    socket.lock().state = State::Connected(connected);
                }
            }
            Kind::Datagram => {
                let inboxes = [sockets[0].inbox(), sockets[1].inbox()];
                for (socket, other) in sockets.iter().zip(inboxes.iter().rev()) {
                    if let State::Datagram { peer, .. } = &mut socket.lock().state {
                        let direct = other.as_ref().map(Arc::downgrade);
                        *peer = Some(Peer { address: Address::none(family), direct });
                    }
                }
            }
        }
        Ok(sockets)
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn inbox(&self) -> Option<Arc<Mailbox>> {
        match &self.lock().state {
            State::Datagram { inbox, .. } => Some(inbox.clone()),
            _ => None,
        }
    }

    /// The family of its addresses.
    pub fn family(&self) -> Family {
        self.family
    }

    /// What it carries.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What `setsockopt` has set; [`Socket::set_size`] sets the sizes.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Sets a number, and the room for what has not been read.
    pub fn set_size(&self, size: Size, value: u64) {
        self.options.set_size(size, value);
        if size == Size::Receive
            && let State::Connected(c) = &self.lock().state
        {
            c.end.set_room(self.room());
        }
    }

    fn room(&self) -> usize {
        usize::try_from(self.options.size(Size::Receive)).unwrap_or(super::BUFFER)
    }

    fn sharing(&self) -> Sharing {
        Sharing {
            only_v6: self.options.flag(Flag::OnlyV6),
            address: self.options.flag(Flag::ReuseAddress),
            port: self.options.flag(Flag::ReusePort),
        }
    }

    /// Gives `inner` an address.
    fn take_address(&self, inner: &mut Inner, address: Address) -> Result<(), Errno> {
        let target = match &inner.state {
            State::Datagram { inbox, .. } => Target::Mailbox(inbox.clone()),
            _ => Target::Nobody,
        };
        inner.bound = Some(self.network.bind(self.kind, address, self.sharing(), target)?);
        Ok(())
    }

    /// Gives it an address (`bind`).
    pub fn bind(&self, address: Address) -> Result<(), Errno> {
        let address = address.of(self.family)?;
        let mut inner = self.lock();
        if inner.bound.is_some() || matches!(inner.state, State::Connected(_)) {
            return Err(Errno::INVAL);
        }
        self.take_address(&mut inner, address)
    }

    /// Takes connections from now on (`listen`).
    pub fn listen(&self, backlog: usize) -> Result<(), Errno> {
        let mut inner = self.lock();
        match &inner.state {
            State::Idle => {}
            State::Listening(listener) => {
                listener.set_backlog(backlog);
                return Ok(());
            }
            State::Datagram { .. } => return Err(Errno::NOTSUP),
            _ => return Err(Errno::INVAL),
        }
        if inner.bound.is_none() {
            if self.family == Family::Unix {
                return Err(Errno::INVAL);
            }
            self.take_address(&mut inner, Address::none(self.family))?;
        }
        let listener = Arc::new(Listener::new(backlog));
        if let Some(bound) = &inner.bound {
            bound.listen(&listener)?;
        }
        inner.state = State::Listening(listener);
        Ok(())
    }

    /// The next connection (`accept`): EAGAIN if none waits.
    pub fn accept(&self) -> Result<Socket, Errno> {
        let listener = match &self.lock().state {
            State::Listening(listener) => listener.clone(),
            State::Datagram { .. } => return Err(Errno::NOTSUP),
            _ => return Err(Errno::INVAL),
        };
        let mut socket = listener.accept()?;
        socket.inherit(self);
        Ok(socket)
    }

    /// Connects it (`connect`). EAGAIN means wait: the listener's backlog is full. With `at_once`
    /// it never waits: as in Linux, EINPROGRESS is told first, and the result by the next call, by
    /// [`Socket::take_error`] and by [`Socket::ready`].
    pub fn connect(&self, to: Address, at_once: bool) -> Result<(), Errno> {
        let to = to.of(self.family)?;
        let mut inner = self.lock();
        if let State::Datagram { .. } = inner.state {
            return self.connect_datagrams(&mut inner, to);
        }
        match &mut inner.state {
            State::Listening(_) => return Err(Errno::ISCONN),
            State::Connected(c) if c.is_news => {
                c.is_news = false;
                return Ok(());
            }
            State::Connected(_) => return Err(Errno::ISCONN),
            State::Connecting { .. } => {
                self.try_again(&mut inner);
                return match &mut inner.state {
                    State::Connecting { .. } if at_once => Err(Errno::ALREADY),
                    State::Connecting { .. } => Err(Errno::AGAIN),
                    State::Connected(c) => {
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
        let result = self.attempt(&mut inner, to.destination()?);
        if !at_once || self.family == Family::Unix {
            return result;
        }
        match result {
            Ok(()) => {
                if let State::Connected(c) = &mut inner.state {
                    c.is_news = true;
                }
            }
            Err(Errno::AGAIN) => {}
            Err(Errno::CONNREFUSED) => inner.error = Some(Errno::CONNREFUSED),
            Err(other) => return Err(other),
        }
        Err(Errno::INPROGRESS)
    }

    /// Tries to connect; EAGAIN and `Connecting` if the backlog is full.
    fn attempt(&self, inner: &mut Inner, to: Address) -> Result<(), Errno> {
        let Target::Listener(listener) = self.network.find(Kind::Stream, &to) else {
            inner.state = State::Idle;
            return Err(Errno::CONNREFUSED);
        };
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        let local = match &inner.bound {
            Some(b) if b.address.is_unspecified() => with_port(&to.source_for(), &b.address),
            Some(b) => b.address.clone(),
            None => Address::none(self.family),
        };
        let mut own = None;
        let offered = listener.offer(|| {
            let room = [self.room(), super::BUFFER];
            let (mine, theirs) = link::pair(&self.network, room, self.family != Family::Unix);
            let connected =
                Connected { end: theirs, local: to.clone(), peer: local.clone(), is_news: false };
            own = Some(mine);
            let (family, state) = (self.family, State::Connected(connected));
            Socket::with(&self.network, family, Kind::Stream, Options::default(), state)
        });
        match (offered, own) {
            (Ok(()), Some(end)) => {
                inner.state = State::Connected(Connected { end, local, peer: to, is_news: false });
                Ok(())
            }
            (Err(Errno::AGAIN), _) => {
                inner.state = State::Connecting { to, listener };
                Err(Errno::AGAIN)
            }
            (Err(e), _) => {
                inner.state = State::Idle;
                Err(e)
            }
            (Ok(()), None) => Err(Errno::IO),
        }
    }

    /// Goes on with a `connect` that met a full backlog.
    fn try_again(&self, inner: &mut Inner) {
        if let State::Connecting { to, listener } = &inner.state
            && listener.has_room()
        {
            let to = to.clone();
            let result = self.attempt(inner, to);
            match (result, &mut inner.state) {
                (Ok(()), State::Connected(c)) => c.is_news = true,
                (Ok(()) | Err(Errno::AGAIN), _) => {}
                (Err(e), _) => inner.error = Some(e),
            }
        }
    }

    /// Whom it sends to and hears from now on; an unspecified address without a port is nobody.
    fn connect_datagrams(&self, inner: &mut Inner, to: Address) -> Result<(), Errno> {
        let is_nobody = matches!(&to, Address::Ip(at) if at.port() == 0);
        let to = to.destination()?;
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        if let State::Datagram { peer, .. } = &mut inner.state {
            *peer = (!is_nobody).then_some(Peer { address: to, direct: None });
        }
        Ok(())
    }

    /// Gives a datagram socket that sends for the first time a port.
    pub(super) fn bind_for(&self, inner: &mut Inner, to: &Address) -> Result<Address, Errno> {
        if inner.bound.is_none() && self.family != Family::Unix {
            self.take_address(inner, to.source_for())?;
        }
        Ok(match &inner.bound {
            Some(b) if b.address.is_unspecified() => with_port(&to.source_for(), &b.address),
            Some(b) => b.address.clone(),
            None => Address::none(self.family),
        })
    }

    /// Its own address (`getsockname`).
    pub fn local(&self) -> Address {
        let inner = self.lock();
        let address = match (&inner.state, &inner.bound) {
            (State::Connected(c), _) => c.local.clone(),
            (_, Some(bound)) => bound.address.clone(),
            _ => Address::none(self.family),
        };
        address.shown(self.family)
    }

    /// The other side's address (`getpeername`).
    pub fn peer(&self) -> Result<Address, Errno> {
        let inner = self.lock();
        match &inner.state {
            State::Connected(c) if !c.end.is_over() => Ok(c.peer.shown(self.family)),
            State::Datagram { peer: Some(peer), .. } => Ok(peer.address.shown(self.family)),
            _ => Err(Errno::NOTCONN),
        }
    }

    /// Ends reading, writing or both (`shutdown`).
    pub fn shutdown(&self, read: bool, write: bool) -> Result<(), Errno> {
        let inner = self.lock();
        match &inner.state {
            State::Connected(c) => c.end.shutdown(read, write),
            State::Listening(listener) => {
                if read {
                    if let Some(bound) = &inner.bound {
                        bound.close();
                    }
                    listener.close();
                }
                Ok(())
            }
            State::Datagram { inbox, peer: Some(_) } => {
                if read {
                    inbox.close();
                }
                Ok(())
            }
            _ => Err(Errno::NOTCONN),
        }
    }

    /// What has gone wrong unseen (`SO_ERROR`): told once.
    pub fn take_error(&self) -> Option<Errno> {
        let mut inner = self.lock();
        self.try_again(&mut inner);
        match &inner.state {
            State::Connected(c) => c.end.take_error(),
            State::Datagram { inbox, .. } => inbox.take_error(),
            _ => inner.error.take(),
        }
    }

    /// Whether it takes connections.
    pub fn listens(&self) -> bool {
        matches!(self.lock().state, State::Listening(_))
    }

    /// How far it is.
    pub fn status(&self) -> Status {
        let inner = self.lock();
        match &inner.state {
            State::Connecting { .. } => Status::Opening,
            State::Connected(c) if c.end.is_over() => Status::Closed,
            _ if inner.error.is_some() => Status::Failed,
            _ => Status::Opened,
        }
    }

    /// Whether a read (or a write) would not wait.
    pub fn ready(&self, write: bool) -> Option<Readiness> {
        let mut inner = self.lock();
        self.try_again(&mut inner);
        let some = |n: usize, hangup| Some(Readiness { bytes: n as u64, hangup });
        match &inner.state {
            // As in Linux: nothing will ever come.
            State::Idle => some(0, true),
            State::Connecting { .. } => None,
            State::Listening(listener) if !write => listener.ready().and_then(|n| some(n, false)),
            State::Listening(_) => None,
            State::Connected(c) => c.end.ready(write),
            State::Datagram { .. } if write => some(super::MAX_DATAGRAM, false),
            State::Datagram { inbox, .. } => inbox.ready().and_then(|n| some(n, false)),
        }
    }

    /// Has `who` unparked when that may have changed.
    pub fn watch(&self, who: &Thread) {
        match &self.lock().state {
            State::Idle => {}
            State::Connecting { listener, .. } | State::Listening(listener) => listener.watch(who),
            State::Connected(c) => c.end.watch(who),
            State::Datagram { inbox, .. } => inbox.watch(who),
        }
    }

    /// How long a read (or a write) may wait (`SO_RCVTIMEO`, `SO_SNDTIMEO`).
    pub fn patience(&self, write: bool) -> Option<Duration> {
        let inner = self.lock();
        let time = match (&inner.state, write) {
            (State::Listening(_), _) => Time::Accept,
            (State::Idle | State::Connecting { .. }, true) => Time::Connect,
            (_, true) => Time::Send,
            (_, false) => Time::Receive,
        };
        let general = if write { Time::Send } else { Time::Receive };
        self.options.time(time).or(self.options.time(general))
    }

    /// What an accepted socket takes over from its listener.
    fn inherit(&mut self, from: &Socket) {
        self.options = from.options.inherit();
        self.family = from.family;
        if let State::Connected(c) = &self.lock().state {
            c.end.set_room(self.room());
        }
    }

    /// Breaks its connection.
    pub(super) fn reset(&self) {
        if let State::Connected(c) = &self.lock().state {
            c.end.reset();
        }
    }
}

/// An IP address with the port of another.
fn with_port(at: &Address, port_of: &Address) -> Address {
    match (at, port_of) {
        (Address::Ip(at), Address::Ip(port)) => super::address::ip(at.ip(), port.port()),
        _ => at.clone(),
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let inner = self.inner.get_mut().unwrap_or_else(|e| e.into_inner());
        match &inner.state {
            State::Listening(listener) => {
                if let Some(bound) = &inner.bound {
                    bound.close();
                }
                listener.close();
            }
            State::Connected(c) if self.options.time(Time::Linger) == Some(Duration::ZERO) => {
                c.end.reset();
            }
            State::Datagram { inbox, .. } => inbox.close(),
            _ => {}
        }
    }
}
