//! Reads: a line, or bytes as VMIN and VTIME say.

use super::discipline::LineDiscipline;
use box_abi::terminal::cc;
use std::time::Duration;

/// A read that may need several steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadProgress {
    /// The bytes that were read.
    pub count: usize,
    started: bool,
    least: usize,
    /// The time between two bytes, once there is one.
    between: Option<Duration>,
    /// The time left until the first byte.
    first: Option<Duration>,
}

/// What a read has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadStep {
    /// It is complete.
    Done,
    /// It waits for input, at most that long; after that time it is complete. A descriptor that
    /// does not wait is complete at once, and has EAGAIN if nothing was read.
    Wait(Option<Duration>),
}

impl LineDiscipline {
    /// Reads into the rest of `buf` (`n_tty_read`).
    pub fn read(&mut self, buf: &mut [u8], progress: &mut ReadProgress) -> ReadStep {
        if buf.is_empty() {
            return ReadStep::Done;
        }
        if !std::mem::replace(&mut progress.started, true) && !self.gives_lines() {
            let tenths = |n: u8| Duration::from_millis(100 * u64::from(n));
            let (least, time) = (self.termios.cc[cc::VMIN], self.termios.cc[cc::VTIME]);
            progress.least = usize::from(least).max(1);
            match (least, time) {
                (0, time) => progress.first = Some(tenths(time)),
                (_, 0) => {}
                (_, time) => progress.between = Some(tenths(time)),
            }
        }
        if !self.has_input(false) {
            return match (progress.count, progress.first, progress.between) {
                (0, Some(Duration::ZERO), _) => ReadStep::Done,
                (0, first, _) => ReadStep::Wait(first),
                (_, _, between) => ReadStep::Wait(between),
            };
        }
        if self.gives_lines() {
            let room = &mut buf[progress.count..];
            let (n, ended) = self.line.take_line(room);
            // An end of file right after a full buffer belongs to this read (`canon_skip_eof`).
            if !ended && n == room.len() {
                self.line.skip_end();
            }
            progress.count += n;
            self.receive_typed();
            return ReadStep::Done;
        }
        progress.count += self.line.take_bytes(&mut buf[progress.count..]);
        self.receive_typed();
        // Bytes that had waited for room.
        if progress.count < buf.len() {
            progress.count += self.line.take_bytes(&mut buf[progress.count..]);
            self.receive_typed();
        }
        if progress.count >= progress.least || progress.count == buf.len() {
            ReadStep::Done
        } else {
            ReadStep::Wait(progress.between)
        }
    }
}
