//! Receives and sends bytes and datagrams.

use super::address::SocketAddress;
use super::mailbox::MAX_DATAGRAM;
use super::ports::PortTarget;
use super::socket::{DatagramPeer, Socket, SocketKind, SocketState};
use crate::errno::Errno;

/// The options of receiving.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiveOptions {
    /// Leaves the received bytes in place (`MSG_PEEK`) and skips this many.
    pub peek: Option<usize>,
}

/// A datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its first bytes, as many as requested.
    pub bytes: Vec<u8>,
    /// Its whole length.
    pub length: usize,
    pub from: SocketAddress,
}

impl Socket {
    /// Receives bytes of a connection: 0 bytes at its end, EAGAIN if the caller must wait. On a
    /// datagram socket, receives as much of the next datagram as fits; the rest of it is lost.
    pub fn receive(&self, buf: &mut [u8], how: ReceiveOptions) -> Result<usize, Errno> {
        if self.kind == SocketKind::Datagram {
            let message = self.receive_message(buf.len(), how)?;
            buf[..message.bytes.len()].copy_from_slice(&message.bytes);
            return Ok(message.bytes.len());
        }
        match &self.lock_inner().state {
            SocketState::Connected(c) => c.end.read(buf, how.peek),
            SocketState::Connecting { .. } => Err(Errno::AGAIN),
            _ => Err(Errno::NOTCONN),
        }
    }

    /// Receives the next datagram, at most `most` bytes of it.
    pub fn receive_message(&self, most: usize, how: ReceiveOptions) -> Result<Message, Errno> {
        let inbox = match &self.lock_inner().state {
            SocketState::Datagram { inbox, .. } => inbox.clone(),
            _ => return Err(Errno::NOTCONN),
        };
        let (bytes, length, from) = inbox.take_datagram(most, how.peek.is_some())?;
        Ok(Message { bytes, length, from: from.shown_to(self.family) })
    }

    /// Sends as many bytes as fit; EAGAIN if the caller must wait. A datagram goes to `to`, or to
    /// the peer that the socket is connected to; it arrives, or is lost without an error.
    pub fn send(&self, data: &[u8], to: Option<SocketAddress>) -> Result<usize, Errno> {
        let mut inner = self.lock_inner();
        let (inbox, peer) = match &inner.state {
            SocketState::Connected(c) => return c.end.write(data),
            SocketState::Connecting { .. } => return Err(Errno::AGAIN),
            SocketState::Idle | SocketState::Listening(_) => return Err(Errno::PIPE),
            SocketState::Datagram { inbox, peer } => (inbox.clone(), peer.clone()),
        };
        if let Some(error) = inbox.take_error() {
            return Err(error);
        }
        let is_connected = to.is_none();
        let peer = match to {
            Some(to) => DatagramPeer {
                address: to.for_family(self.family)?.packet_destination()?,
                direct: None,
            },
            None => peer.ok_or(Errno::DESTADDRREQ)?,
        };
        if data.len() > MAX_DATAGRAM {
            return Err(Errno::MSGSIZE);
        }
        let from = match &peer.direct {
            Some(_) => SocketAddress::unbound_address(self.family),
            None => self.bind_for(&mut inner, &peer.address)?,
        };
        drop(inner);
        let delivered = match &peer.direct {
            Some(direct) => direct.upgrade().is_some_and(|to| to.put_datagram(from, data)),
            None => match self.network.find_target(SocketKind::Datagram, &peer.address) {
                PortTarget::Mailbox(to) => to.put_datagram(from, data),
                _ => false,
            },
        };
        // A connected socket gets the error that ICMP's "port unreachable" would cause.
        if !delivered && is_connected {
            inbox.fail_next(Errno::CONNREFUSED);
        }
        Ok(data.len())
    }
}
