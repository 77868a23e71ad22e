//! A connection: two buffers with the unread bytes of each side.
//!
//! Closing follows TCP (RFC 9293, as in Linux): a side that sends no more gives the other an end of
//! file. A side that closes with bytes unread, or with a linger time of 0, resets the connection;
//! the other side gets ECONNRESET once. A write to a closed side succeeds the first time and fails
//! the second time.

use super::{BUFFER, LoopbackNetwork};
use crate::buffer::{ByteQueue, Readiness, WaitingThreads};
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::Thread;

/// The received bytes and the state of one side.
#[derive(Debug)]
struct LinkSide {
    inbox: ByteQueue,
    /// The maximum size of the inbox, in bytes.
    room: usize,
    open: bool,
    /// Whether it reads no more (`shut_read`) and sends no more (`shut_write`).
    shut_read: bool,
    shut_write: bool,
    /// Whether the connection was reset, so that nothing is transferred any more.
    is_reset: bool,
    /// Whether it has sent bytes to a peer that was gone.
    sent_in_vain: bool,
    /// The error of its next operation.
    error: Option<Errno>,
    waiting: WaitingThreads,
}

impl LinkSide {
    fn new(room: usize) -> LinkSide {
        LinkSide {
            inbox: ByteQueue::default(),
            room,
            open: true,
            shut_read: false,
            shut_write: false,
            is_reset: false,
            sent_in_vain: false,
            error: None,
            waiting: WaitingThreads::default(),
        }
    }

    /// Returns whether it will send nothing more.
    fn is_finished(&self) -> bool {
        self.shut_write || !self.open
    }

    /// Returns whether its inbox has room for a waiting writer. A small amount does not count,
    /// because a writer that is woken for each byte makes no progress.
    fn has_room(&self) -> bool {
        self.inbox.len() <= self.room - self.room / 4
    }
}

#[derive(Debug)]
struct SocketLink {
    sides: Mutex<[LinkSide; 2]>,
    /// Whether a side notices only from a returned packet that the other one is gone: true for TCP,
    /// false for pairs.
    is_remote: bool,
    network: LoopbackNetwork,
}

/// One side of a connection; dropping it closes it.
#[derive(Debug)]
pub(super) struct LinkEnd {
    link: Arc<SocketLink>,
    side: usize,
}

/// Returns a connection's two ends; `room` bounds the unread bytes of each.
pub(super) fn connection_pair(
    network: &LoopbackNetwork,
    room: [usize; 2],
    is_remote: bool,
) -> (LinkEnd, LinkEnd) {
    let sides = Mutex::new(room.map(|room| LinkSide::new(room.clamp(1, BUFFER))));
    let link = Arc::new(SocketLink { sides, is_remote, network: network.clone() });
    (LinkEnd { link: link.clone(), side: 0 }, LinkEnd { link, side: 1 })
}

impl LinkEnd {
    /// Runs `what` with this side and the other one.
    fn with_sides<T>(&self, what: impl FnOnce(&mut LinkSide, &mut LinkSide) -> T) -> T {
        let mut sides: MutexGuard<'_, [LinkSide; 2]> = lock_mutex(&self.link.sides);
        let [a, b] = &mut *sides;
        if self.side == 0 { what(a, b) } else { what(b, a) }
    }

    /// Reads available bytes, or copies those after `peek` bytes; 0 is the end.
    pub(super) fn read(&self, buf: &mut [u8], peek: Option<usize>) -> Result<usize, Errno> {
        self.with_sides(|own, other| {
            if own.inbox.len() > peek.unwrap_or(0) {
                let Some(skip) = peek else {
                    let n = own.inbox.take_bytes(buf);
                    if own.has_room() {
                        other.waiting.wake_all();
                    }
                    return Ok(n);
                };
                return Ok(own.inbox.peek_bytes(skip, buf));
            }
            if buf.is_empty() || peek.is_some_and(|skip| skip > 0) {
                return Ok(0);
            }
            if let Some(error) = own.error.take() {
                return Err(error);
            }
            let ended = own.shut_read || own.is_reset || other.is_finished();
            if ended { Ok(0) } else { Err(Errno::AGAIN) }
        })
    }

    /// Writes as many bytes as fit.
    pub(super) fn write(&self, data: &[u8]) -> Result<usize, Errno> {
        self.with_sides(|own, other| {
            if let Some(error) = own.error.take() {
                return Err(error);
            }
            if own.shut_write || own.is_reset {
                return Err(Errno::PIPE);
            }
            if !other.open {
                if own.sent_in_vain || !self.link.is_remote {
                    own.is_reset = true;
                    return Err(Errno::PIPE);
                }
                own.sent_in_vain = !data.is_empty();
                return Ok(data.len());
            }
            let n = data.len().min(other.room.saturating_sub(other.inbox.len()));
            if n == 0 && !data.is_empty() {
                return Err(Errno::AGAIN);
            }
            let budget = self.link.network.budget();
            other.inbox.push(&data[..n], other.room, budget).map_err(|_| Errno::NOBUFS)?;
            other.waiting.wake_all();
            Ok(n)
        })
    }

    /// Returns whether a read (or a write) would not wait.
    pub(super) fn ready(&self, write: bool) -> Option<Readiness> {
        self.with_sides(|own, other| {
            let broken = own.is_reset || own.error.is_some();
            let hangup = broken || own.shut_write && other.is_finished();
            let bytes = if write {
                let open = !broken && !own.shut_write && other.open;
                let free = other.room.saturating_sub(other.inbox.len());
                (!open || other.has_room()).then_some(if open { free } else { 0 })
            } else {
                let ended = broken || own.shut_read || other.is_finished();
                (ended || !own.inbox.is_empty()).then_some(own.inbox.len())
            };
            bytes.map(|n| Readiness { bytes: n as u64, hangup })
        })
    }

    pub(super) fn watch(&self, who: &Thread) {
        self.with_sides(|own, _| own.waiting.add_thread(who));
    }

    /// Takes the error with which its next operation would fail.
    pub(super) fn take_error(&self) -> Option<Errno> {
        self.with_sides(|own, _| own.error.take())
    }

    /// Returns whether nothing can be transferred any more.
    pub(super) fn is_over(&self) -> bool {
        self.with_sides(|own, other| own.is_reset || own.is_finished() && other.is_finished())
    }

    /// Ends reading, writing or both; ENOTCONN after a reset.
    pub(super) fn shutdown(&self, read: bool, write: bool) -> Result<(), Errno> {
        self.with_sides(|own, other| {
            if own.is_reset {
                return Err(Errno::NOTCONN);
            }
            own.shut_read |= read;
            own.shut_write |= write;
            own.waiting.wake_all();
            other.waiting.wake_all();
            Ok(())
        })
    }

    /// Sets the limit of unread bytes.
    pub(super) fn set_room(&self, room: usize) {
        self.with_sides(|own, other| {
            own.room = room.clamp(1, BUFFER);
            other.waiting.wake_all();
        });
    }

    /// Breaks the connection, as a close with bytes unread does.
    pub(super) fn reset_side(&self) {
        self.with_sides(reset);
    }
}

fn reset(own: &mut LinkSide, other: &mut LinkSide) {
    if other.open && !other.is_reset {
        other.error = Some(Errno::CONNRESET);
        other.is_reset = true;
    }
    own.is_reset = true;
    other.waiting.wake_all();
}

impl Drop for LinkEnd {
    fn drop(&mut self) {
        self.with_sides(|own, other| {
            own.open = false;
            if !own.inbox.is_empty() {
                own.inbox.clear_all();
                reset(own, other);
            }
            own.inbox.clear_all();
            other.waiting.wake_all();
        });
    }
}
