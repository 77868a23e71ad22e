//! The input that waits to be read (`read_buf` of Linux's `n_tty`).

use std::collections::VecDeque;

/// Linux's `N_TTY_BUF_SIZE`.
pub(super) const LINE_CAPACITY: usize = 4096;

/// The byte of an end of file, and the value of a special character that is switched off.
pub(super) const DISABLED: u8 = 0;

/// Bytes, each with the mark whether a line ends after it.
#[derive(Debug, Default)]
pub(super) struct InputLine {
    bytes: VecDeque<(u8, bool)>,
    /// The number of bytes that belong to complete lines.
    complete: usize,
}

impl InputLine {
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of bytes of complete lines.
    pub(super) fn complete_len(&self) -> usize {
        self.complete
    }

    /// Returns whether nothing of the present line was typed.
    pub(super) fn is_line_empty(&self) -> bool {
        self.bytes.len() == self.complete
    }

    pub(super) fn byte_at(&self, at: usize) -> u8 {
        self.bytes.get(at).map_or(0, |b| b.0)
    }

    /// Adds a byte of the present line.
    pub(super) fn push(&mut self, byte: u8) {
        self.bytes.push_back((byte, false));
    }

    /// Adds a byte and completes the line.
    pub(super) fn end_line(&mut self, byte: u8) {
        self.bytes.push_back((byte, true));
        self.complete = self.bytes.len();
    }

    /// Removes the bytes from `len` on, which belong to the present line.
    pub(super) fn cut(&mut self, len: usize) {
        self.bytes.truncate(len.max(self.complete));
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.complete = 0;
    }

    /// Prepares the bytes for a change between lines and single bytes.
    pub(super) fn change_kind(&mut self, lines: bool) {
        self.bytes.iter_mut().for_each(|b| b.1 = false);
        match self.bytes.back_mut() {
            Some(last) if lines => {
                last.1 = true;
                self.complete = self.bytes.len();
            }
            _ => self.complete = 0,
        }
    }

    /// Takes bytes regardless of lines.
    pub(super) fn take_bytes(&mut self, buf: &mut [u8]) -> usize {
        let n = buf.len().min(self.bytes.len());
        for (place, (byte, _)) in buf.iter_mut().zip(self.bytes.drain(..n)) {
            *place = byte;
        }
        self.complete = self.complete.saturating_sub(n);
        n
    }

    /// Takes bytes of the first line; an end of file ends it and is not stored. Returns the number
    /// of bytes that were stored, and whether the line has ended.
    pub(super) fn take_line(&mut self, buf: &mut [u8]) -> (usize, bool) {
        let most = buf.len().min(self.complete);
        for (n, place) in buf[..most].iter_mut().enumerate() {
            let Some((byte, ends)) = self.bytes.pop_front() else { return (n, false) };
            self.complete -= 1;
            if ends && byte == DISABLED {
                return (n, true);
            }
            *place = byte;
            if ends {
                return (n + 1, true);
            }
        }
        (most, false)
    }

    /// Drops an end of file that comes next.
    pub(super) fn skip_end(&mut self) {
        if self.complete > 0 && self.bytes.front() == Some(&(DISABLED, true)) {
            self.bytes.pop_front();
            self.complete -= 1;
        }
    }

    /// Returns the number of bytes of complete lines without ends of file.
    pub(super) fn countable(&self) -> usize {
        self.bytes.iter().take(self.complete).filter(|b| **b != (DISABLED, true)).count()
    }
}
