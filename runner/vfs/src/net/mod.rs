//! The session's network: only a loopback interface.
//!
//! A session has one [`LoopbackNetwork`], in its [`Vfs`](crate::Vfs), so that servers that stay
//! between two calls keep their ports, and two sessions have nothing in common. This module uses no
//! sockets of the host: bytes go from one buffer in memory to another.
//!
//! | file | content |
//! |---|---|
//! | `address` | addresses that exist: 127.0.0.0/8, ::1, and the unspecified ones |
//! | `ports` | the sockets that have ports and names |
//! | `link` | a connection: two buffers, and the closed directions of each side |
//! | `listener` | connections that wait to be accepted |
//! | `mailbox` | datagrams that wait to be received |
//! | `options` | the options of `setsockopt` |
//! | `socket` | the socket as programs see it, in all its states |
//! | `exchange` | receiving and sending |
//!
//! No call blocks, as in [`pipe`](crate::pipe): a call that must wait returns [`Errno::AGAIN`], and
//! the caller waits by [`Socket::watch`] and [`Socket::ready`]. Errors are those of Linux.
//!
//! # Bounds
//! At most [`MAX_SOCKETS`] sockets exist at once, those in backlogs included, and [`MAX_BACKLOG`]
//! connections wait for one listener. Each direction of a connection, and each datagram socket,
//! buffers at most [`BUFFER`] bytes, which are taken from the session's budget as they are needed.
//!
//! # Deliberately absent
//! TIME_WAIT (a port is free when its last socket is closed), urgent data, broadcast and multicast,
//! Unix-domain sockets with a path (abstract names and pairs are supported).

mod address;
mod exchange;
mod link;
mod listener;
mod mailbox;
mod options;
mod ports;
mod socket;

pub use address::{Family, SocketAddress, resolve_name};
pub use exchange::{Message, ReceiveOptions};
pub use mailbox::MAX_DATAGRAM;
pub use options::{SocketFlag, SocketOptions, SocketSize, SocketTime};
pub use ports::ListeningSocket;
pub use socket::{Socket, SocketKind, SocketStatus};

use crate::budget::{Budget, Reservation};
use crate::errno::Errno;
use crate::sync::lock_mutex;
use ports::Ports;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The maximum number of sockets of a session at once.
pub const MAX_SOCKETS: usize = 4096;
/// The maximum number of unread bytes in one direction of a connection, unless its options say
/// less.
pub const BUFFER: usize = 256 << 10;
/// The maximum number of connections that wait for one listener (Linux's `net.core.somaxconn`).
pub const MAX_BACKLOG: usize = 4096;

/// Bytes that the host keeps for a socket in addition to its buffers.
const COST: u64 = 1024;

/// A session's loopback network. Clones share it.
#[derive(Clone, Debug)]
pub struct LoopbackNetwork(Arc<LoopbackInner>);

#[derive(Debug)]
struct LoopbackInner {
    budget: Arc<Budget>,
    ports: Mutex<Ports>,
    sockets: AtomicUsize,
}

/// A socket's place among those of its network, and its share of the budget.
#[derive(Debug)]
struct SocketPlace {
    network: LoopbackNetwork,
    _held: Reservation,
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        self.network.0.sockets.fetch_sub(1, Ordering::Relaxed);
    }
}

impl LoopbackNetwork {
    /// Creates a network without sockets, whose buffers are counted in `budget`.
    pub fn new(budget: Arc<Budget>) -> LoopbackNetwork {
        let (ports, sockets) = (Mutex::default(), AtomicUsize::new(0));
        LoopbackNetwork(Arc::new(LoopbackInner { budget, ports, sockets }))
    }

    /// Returns the number of sockets.
    pub fn len(&self) -> usize {
        self.0.sockets.load(Ordering::Relaxed)
    }

    /// Returns whether there is no socket.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn budget(&self) -> &Arc<Budget> {
        &self.0.budget
    }

    fn lock_ports(&self) -> MutexGuard<'_, Ports> {
        lock_mutex(&self.0.ports)
    }

    /// Counts another socket: ENFILE if there are too many, ENOBUFS if the budget has no room.
    fn take_place(&self) -> Result<SocketPlace, Errno> {
        let held = self.0.budget.reserve_bytes(COST).ok_or(Errno::NOBUFS)?;
        // From here on dropping the place decrements the count.
        let before = self.0.sockets.fetch_add(1, Ordering::Relaxed);
        let place = SocketPlace { network: self.clone(), _held: held };
        if before >= MAX_SOCKETS { Err(Errno::NFILE) } else { Ok(place) }
    }
}
