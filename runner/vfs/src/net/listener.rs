//! Connections that wait to be accepted.

use super::MAX_BACKLOG;
use super::socket::Socket;
use crate::buffer::WaitingThreads;
use crate::errno::Errno;
use crate::sync::lock_mutex;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::thread::Thread;

#[derive(Debug, Default)]
struct Queue {
    sockets: VecDeque<Socket>,
    backlog: usize,
    closed: bool,
    waiting: WaitingThreads,
}

/// The backlog of a listening socket.
#[derive(Debug, Default)]
pub(super) struct Listener(Mutex<Queue>);

impl Listener {
    pub(super) fn new(backlog: usize) -> Listener {
        let listener = Listener::default();
        listener.set_backlog(backlog);
        listener
    }

    fn lock_queue(&self) -> MutexGuard<'_, Queue> {
        lock_mutex(&self.0)
    }

    /// Sets the length of the backlog, plus one as in Linux.
    pub(super) fn set_backlog(&self, backlog: usize) {
        let mut q = self.lock_queue();
        q.backlog = backlog.min(MAX_BACKLOG - 1) + 1;
        q.waiting.wake_all();
    }

    /// Adds a connection's other end: EAGAIN if too many wait, ECONNREFUSED if the socket listens
    /// no more.
    pub(super) fn offer_connection(
        &self,
        make: impl FnOnce() -> Result<Socket, Errno>,
    ) -> Result<(), Errno> {
        let mut q = self.lock_queue();
        if q.closed {
            return Err(Errno::CONNREFUSED);
        }
        if q.sockets.len() >= q.backlog {
            return Err(Errno::AGAIN);
        }
        let socket = make()?;
        q.sockets.push_back(socket);
        q.waiting.wake_all();
        Ok(())
    }

    /// Takes the connection that has waited longest: EAGAIN if none waits, EINVAL if the listener
    /// is closed.
    pub(super) fn accept_connection(&self) -> Result<Socket, Errno> {
        let mut q = self.lock_queue();
        match q.sockets.pop_front() {
            Some(socket) => {
                q.waiting.wake_all();
                Ok(socket)
            }
            None if q.closed => Err(Errno::INVAL),
            None => Err(Errno::AGAIN),
        }
    }

    /// Returns the number of waiting connections; `None` if an `accept` would wait.
    pub(super) fn waiting_count(&self) -> Option<usize> {
        let q = self.lock_queue();
        (q.closed || !q.sockets.is_empty()).then_some(q.sockets.len())
    }

    /// Returns whether a connection would be taken, or refused at once.
    pub(super) fn has_room(&self) -> bool {
        let q = self.lock_queue();
        q.closed || q.sockets.len() < q.backlog
    }

    pub(super) fn watch(&self, who: &Thread) {
        self.lock_queue().waiting.add_thread(who);
    }

    /// Refuses all connections from now on, and resets those that wait.
    pub(super) fn close(&self) {
        let waited = {
            let mut q = self.lock_queue();
            q.closed = true;
            q.waiting.wake_all();
            std::mem::take(&mut q.sockets)
        };
        waited.iter().for_each(Socket::reset);
    }
}
