//! The parts of pipes and sockets: bytes to be read, and threads that wait.

use crate::budget::{Budget, HeldBytes};
use crate::errno::Errno;
use std::collections::VecDeque;
use std::sync::Arc;
use std::thread::Thread;

/// The state of a file on which an operation can proceed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Readiness {
    /// Bytes that can be moved at once.
    pub bytes: u64,
    /// Whether the other side is gone, so that reads return end of file and writes fail.
    pub hangup: bool,
}

/// Minimum capacity of a buffer after it grows.
const STEP: usize = 4096;

/// The maximum number of threads that wait for one event. A thread that has ended stays registered
/// until the next change, so without this limit the list could grow for ever.
pub(crate) const MAX_WAITING: usize = 1024;

/// Bytes in the order in which they arrived, charged to a budget.
#[derive(Debug, Default)]
pub(crate) struct ByteQueue {
    bytes: VecDeque<u8>,
    held: HeldBytes,
}

impl ByteQueue {
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds `data`; ENOMEM if the budget has no room. The memory kept is at most `most` bytes,
    /// which the caller has checked to be enough.
    pub(crate) fn push(
        &mut self,
        data: &[u8],
        most: usize,
        budget: &Arc<Budget>,
    ) -> Result<(), Errno> {
        let (need, have) = (self.bytes.len() + data.len(), self.bytes.capacity());
        if need > have {
            let want = need.next_power_of_two().clamp(STEP.min(most), most).max(need);
            if !self.held.grow_by(budget, (want - have) as u64) {
                return Err(Errno::NOMEM);
            }
            self.bytes.reserve_exact(want - self.bytes.len());
        }
        self.bytes.extend(data);
        Ok(())
    }

    /// Copies the bytes after the first `skip` without removing them.
    pub(crate) fn peek_bytes(&self, skip: usize, buf: &mut [u8]) -> usize {
        let (a, b) = self.bytes.as_slices();
        let a_rest = a.get(skip..).unwrap_or(&[]);
        let b_rest = b.get(skip.saturating_sub(a.len())..).unwrap_or(&[]);
        let n = a_rest.len().min(buf.len());
        buf[..n].copy_from_slice(&a_rest[..n]);
        let m = b_rest.len().min(buf.len() - n);
        buf[n..n + m].copy_from_slice(&b_rest[..m]);
        n + m
    }

    /// Removes bytes into `buf`.
    pub(crate) fn take_bytes(&mut self, buf: &mut [u8]) -> usize {
        let n = self.peek_bytes(0, buf);
        self.bytes.drain(..n);
        n
    }

    /// Removes all bytes, and gives the memory back.
    pub(crate) fn clear_all(&mut self) {
        *self = ByteQueue::default();
    }
}

/// Threads to be unparked at the next change. Wake-ups may be spurious, never lost.
#[derive(Debug, Default)]
pub(crate) struct WaitingThreads(Vec<Thread>);

impl WaitingThreads {
    pub(crate) fn add_thread(&mut self, who: &Thread) {
        if !self.0.iter().any(|t| t.id() == who.id()) {
            if self.0.len() >= MAX_WAITING {
                self.wake_all();
            }
            self.0.push(who.clone());
        }
    }

    pub(crate) fn wake_all(&mut self) {
        for t in self.0.drain(..) {
            t.unpark();
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in_and_peeking_leaves_them() {
        let (mut b, budget) = (ByteQueue::default(), Budget::new(1 << 20));
        let mut out = [0; 8];
        for round in 0..3000u32 {
            b.push(&round.to_le_bytes(), 8192, &budget).unwrap();
            b.push(b"abc", 8192, &budget).unwrap();
            assert_eq!(b.peek_bytes(4, &mut out), 3);
            assert_eq!(&out[..3], b"abc");
            assert_eq!(b.take_bytes(&mut out), 7);
            assert_eq!(out[..4], round.to_le_bytes());
        }
        assert!(b.is_empty() && budget.used_bytes() <= 8192);
        b.clear_all();
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn without_room_in_the_budget_nothing_is_added() {
        let (mut b, budget) = (ByteQueue::default(), Budget::new(5000));
        b.push(&[1; 4096], 65536, &budget).unwrap();
        assert_eq!(b.push(&[2], 65536, &budget), Err(Errno::NOMEM));
        assert_eq!(b.len(), 4096);
    }
}
