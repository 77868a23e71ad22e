//! Clients that follow a process's output as it comes, and for which it waits.
//!
//! A process waits while a follower has got less than all but [`AHEAD`] bytes of its output, because a
//! screen that misses a part of it shows anything. A follower that gets nothing for [`STALL`], such as
//! a client whose connection is cut, is no longer waited for; it misses what was forgotten meanwhile.

use super::managed::ManagedProcess;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_protocol::ProcessReport;

/// Bytes that a process may write before its followers get them.
const AHEAD: u64 = 256 << 10;
/// Bytes that a follower may get before it confirms them.
const WINDOW: u64 = 256 << 10;
/// The time for which a process waits for a follower.
const STALL: Duration = Duration::from_secs(10);
/// Bytes of earlier output that a follower gets which names no position.
pub const BACKLOG: u64 = 256 << 10;

/// The followers of one process.
pub struct FollowerTable {
    last: u64,
    all: Vec<FollowerState>,
    /// The time at which the last one has left.
    left: Instant,
}

struct FollowerState {
    id: u64,
    /// The position up to which it has got the output.
    got: u64,
    confirmed: u64,
    /// The time since which the process waits for it.
    behind: Option<Instant>,
    is_stopped: bool,
}

/// The next output for a follower.
pub enum FollowerTurn {
    /// Output from this position on.
    From(u64),
    /// Nothing, until it has confirmed its last output.
    Wait,
    /// Nothing any more.
    Stopped,
}

impl FollowerTable {
    /// Makes a table without followers.
    pub fn new() -> FollowerTable {
        FollowerTable { last: 0, all: Vec::new(), left: Instant::now() }
    }

    /// Adds a follower that has got the output up to a position, and returns its number.
    pub fn add(&mut self, got: u64) -> u64 {
        self.last += 1;
        let id = self.last;
        let new = FollowerState { id, got, confirmed: got, behind: None, is_stopped: false };
        self.all.push(new);
        id
    }

    /// Removes a follower.
    pub fn remove(&mut self, id: u64) {
        self.all.retain(|follower| follower.id != id);
        self.left = Instant::now();
    }

    fn find(&mut self, id: u64) -> Option<&mut FollowerState> {
        self.all.iter_mut().find(|follower| follower.id == id)
    }

    /// Returns the next output for a follower.
    pub fn turn(&mut self, id: u64) -> FollowerTurn {
        match self.find(id) {
            Some(follower) if !follower.is_stopped => {
                if follower.got.saturating_sub(follower.confirmed) >= WINDOW {
                    FollowerTurn::Wait
                } else {
                    FollowerTurn::From(follower.got)
                }
            }
            _ => FollowerTurn::Stopped,
        }
    }

    /// Records that a follower has got the output up to a position.
    pub fn advance(&mut self, id: u64, got: u64) {
        if let Some(follower) = self.find(id) {
            (follower.got, follower.behind) = (got, None);
        }
    }

    /// Records that a follower has confirmed the output up to a position.
    pub fn confirm(&mut self, id: u64, position: u64) {
        if let Some(follower) = self.find(id) {
            follower.confirmed = position.clamp(follower.confirmed, follower.got);
            follower.behind = None;
        }
    }

    /// Makes a follower get nothing any more.
    pub fn stop(&mut self, id: u64) {
        if let Some(follower) = self.find(id) {
            follower.is_stopped = true;
        }
    }

    /// Returns how long the process waits for its followers when it has written so many bytes.
    pub fn hold_time(&mut self, written: u64) -> Option<Duration> {
        let now = Instant::now();
        let slow = self.all.iter_mut().filter(|f| !f.is_stopped && written - f.got > AHEAD);
        let left = slow.filter_map(|follower| {
            let since = *follower.behind.get_or_insert(now);
            STALL.checked_sub(now - since).filter(|left| !left.is_zero())
        });
        left.max()
    }

    /// Returns the time for which there has been no follower.
    pub fn lonely_time(&self) -> Option<Duration> {
        self.all.is_empty().then(|| self.left.elapsed())
    }
}

/// An event for the follower of a process.
#[derive(Debug, PartialEq)]
pub enum FollowedOutput {
    /// The next bytes of its output. `dropped` bytes before them were forgotten, because the follower
    /// was too slow.
    Bytes { bytes: Vec<u8>, dropped: u64 },
    /// It has ended, and all its output was returned.
    Ended(ProcessReport),
    /// [`ProcessFollower::stop`] was called.
    Stopped,
}

/// Follows the output of a process, begun by [`Session::follow_process`](crate::Session::follow_process).
pub struct ProcessFollower {
    process: Arc<ManagedProcess>,
    id: u64,
    from: u64,
}

impl ProcessFollower {
    /// Follows the output from a position on; without one, from the last lines on.
    pub(crate) fn new(process: Arc<ManagedProcess>, after: Option<u64>) -> ProcessFollower {
        let (id, from) = process.add_follower(after);
        ProcessFollower { process, id, from }
    }

    /// Returns the position of the output at which it begins.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// Returns the state of the process.
    pub fn report(&self) -> ProcessReport {
        self.process.report()
    }

    /// Waits for output, and returns at most `most` bytes. After 256 KiB without
    /// [`ProcessFollower::confirm`] nothing comes, and the process waits when it has written as much
    /// again.
    pub fn next_output(&self, most: usize) -> FollowedOutput {
        self.process.follow(self.id, most)
    }

    /// Confirms that the output up to a position was shown.
    pub fn confirm(&self, position: u64) {
        self.process.confirm(self.id, position);
    }

    /// Ends the waiting of [`ProcessFollower::next_output`] for good.
    pub fn stop(&self) {
        self.process.stop_follower(self.id);
    }
}

impl Drop for ProcessFollower {
    fn drop(&mut self) {
        self.process.remove_follower(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_waits_for_those_that_are_behind() {
        let mut table = FollowerTable::new();
        assert_eq!(table.hold_time(1 << 30), None);
        let id = table.add(100);
        assert!(table.hold_time(100 + AHEAD).is_none());
        assert!(table.hold_time(101 + AHEAD).is_some_and(|time| time <= STALL));
        table.advance(id, 200);
        assert!(table.hold_time(101 + AHEAD).is_none());
        assert!(table.lonely_time().is_none());
        // One that does not move is waited for only so long.
        assert!(table.hold_time(1 << 30).is_some());
        table.all[0].behind = Instant::now().checked_sub(STALL);
        assert_eq!(table.hold_time(1 << 30), None);
        table.stop(id);
        assert!(matches!(table.turn(id), FollowerTurn::Stopped));
        table.remove(id);
        assert!(table.lonely_time().is_some());
    }

    #[test]
    fn unconfirmed_output_is_bounded() {
        let mut table = FollowerTable::new();
        let id = table.add(0);
        table.advance(id, WINDOW - 1);
        assert!(matches!(table.turn(id), FollowerTurn::From(from) if from == WINDOW - 1));
        table.advance(id, WINDOW);
        assert!(matches!(table.turn(id), FollowerTurn::Wait));
        // It can confirm only output that it has got.
        table.confirm(id, u64::MAX);
        table.confirm(id, 0);
        assert!(matches!(table.turn(id), FollowerTurn::From(from) if from == WINDOW));
    }
}
