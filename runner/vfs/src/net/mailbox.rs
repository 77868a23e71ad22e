//! Datagrams that wait to be received.

use super::{BUFFER, LoopbackNetwork, SocketAddress};
use crate::budget::HeldBytes;
use crate::buffer::WaitingThreads;
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::thread::Thread;

/// Longest datagram: the maximum of UDP over IPv4 (RFC 768).
pub const MAX_DATAGRAM: usize = 65507;
/// Bytes that a datagram takes beyond its content.
const EACH: usize = 128;

#[derive(Debug)]
struct Datagram {
    from: SocketAddress,
    bytes: Vec<u8>,
}

#[derive(Debug, Default)]
struct Inbox {
    datagrams: VecDeque<Datagram>,
    /// Bytes of the datagrams, with the additional bytes of each.
    size: usize,
    held: HeldBytes,
    /// The error that is reported after a datagram sent from here had no recipient.
    error: Option<Errno>,
    closed: bool,
    waiting: WaitingThreads,
}

/// The received datagrams of a socket.
#[derive(Debug)]
pub(super) struct Mailbox {
    inbox: Mutex<Inbox>,
    network: LoopbackNetwork,
}

impl Mailbox {
    pub(super) fn new(network: &LoopbackNetwork) -> Mailbox {
        Mailbox { inbox: Mutex::default(), network: network.clone() }
    }

    fn lock_inbox(&self) -> MutexGuard<'_, Inbox> {
        lock_mutex(&self.inbox)
    }

    /// Adds a datagram; one that does not fit is lost. Returns false if the socket is closed.
    pub(super) fn put_datagram(&self, from: SocketAddress, data: &[u8]) -> bool {
        let mut inbox = self.lock_inbox();
        if inbox.closed {
            return false;
        }
        let size = data.len() + EACH;
        let fits = inbox.size + size <= BUFFER;
        if fits && inbox.held.grow_by(self.network.budget(), size as u64) {
            inbox.size += size;
            inbox.datagrams.push_back(Datagram { from, bytes: data.to_vec() });
            inbox.waiting.wake_all();
        }
        true
    }

    /// Takes the first datagram: at most `most` bytes of it, its whole length and its sender.
    pub(super) fn take_datagram(
        &self,
        most: usize,
        peek: bool,
    ) -> Result<(Vec<u8>, usize, SocketAddress), Errno> {
        let mut inbox = self.lock_inbox();
        if let Some(error) = inbox.error.take() {
            return Err(error);
        }
        let Some(first) = inbox.datagrams.front() else {
            return if inbox.closed {
                Ok((Vec::new(), 0, SocketAddress::Unix(Vec::new())))
            } else {
                Err(Errno::AGAIN)
            };
        };
        let length = first.bytes.len();
        if peek {
            return Ok((first.bytes[..length.min(most)].to_vec(), length, first.from.clone()));
        }
        let size = length + EACH;
        inbox.size -= size;
        inbox.held.shrink_by(size as u64);
        let Some(mut first) = inbox.datagrams.pop_front() else { return Err(Errno::AGAIN) };
        first.bytes.truncate(most);
        Ok((first.bytes, length, first.from))
    }

    /// Sets the error of the next operation, because a sent datagram had no recipient.
    pub(super) fn fail_next(&self, error: Errno) {
        let mut inbox = self.lock_inbox();
        inbox.error = Some(error);
        inbox.waiting.wake_all();
    }

    pub(super) fn take_error(&self) -> Option<Errno> {
        self.lock_inbox().error.take()
    }

    /// Returns the length of the first datagram. Without a datagram, returns 0 if receiving does
    /// not wait because the socket is closed or has an error, and `None` otherwise.
    pub(super) fn ready_bytes(&self) -> Option<usize> {
        let inbox = self.lock_inbox();
        let first = inbox.datagrams.front().map(|d| d.bytes.len());
        first.or((inbox.closed || inbox.error.is_some()).then_some(0))
    }

    pub(super) fn watch(&self, who: &Thread) {
        self.lock_inbox().waiting.add_thread(who);
    }

    /// Stops receiving.
    pub(super) fn close(&self) {
        let mut inbox = self.lock_inbox();
        inbox.closed = true;
        inbox.waiting.wake_all();
    }
}
