//! A window over an input that always ends at a line's end.

use std::io::{self, Read};

/// The number of bytes that are read at once; a longer line makes the buffer grow.
const CHUNK: usize = 128 * 1024;

/// A window of the input that ends with a whole line.
pub struct LineBuffer {
    data: Vec<u8>,
    /// The number of valid bytes in `data`.
    filled: usize,
    /// The end of the complete lines in `data`.
    lines_end: usize,
    /// The position of `data[0]` in the input.
    base: u64,
    ended: bool,
    /// The number of bytes of a regular file that are still to be read. It is taken from the file's
    /// size at opening, because a file that our own output lengthens would have no end.
    limit: u64,
}

impl LineBuffer {
    /// Creates an empty window, which reuses the memory of an earlier one. At most `limit` bytes of
    /// the input are read.
    pub fn new(reuse: Vec<u8>, limit: u64) -> LineBuffer {
        LineBuffer { data: reuse, filled: 0, lines_end: 0, base: 0, ended: false, limit }
    }

    /// Returns all complete lines in the window.
    pub fn lines(&self) -> &[u8] {
        &self.data[..self.lines_end]
    }

    /// Returns the position of the window's start in the input.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the number of bytes that were read beyond this position in the input.
    pub fn unread_since(&self, at: u64) -> u64 {
        (self.base + self.filled as u64).saturating_sub(at)
    }

    /// Returns the memory, for the next input.
    pub fn into_memory(self) -> Vec<u8> {
        self.data
    }

    /// Drops the window up to `keep`, and reads until at least one more line is complete. Returns
    /// `false` at the end of the input. The part that is added to [`LineBuffer::lines`] starts
    /// where the old lines ended (minus `keep`).
    pub fn advance(&mut self, input: &mut dyn Read, end: u8, keep: usize) -> io::Result<bool> {
        if keep > 0 {
            self.data.copy_within(keep..self.filled, 0);
            self.filled -= keep;
            self.lines_end -= keep;
            self.base += keep as u64;
        }
        loop {
            if self.ended {
                let more = self.filled > self.lines_end;
                self.lines_end = self.filled;
                return Ok(more);
            }
            if self.data.len() < self.filled + CHUNK {
                let size = (self.filled + CHUNK).max(self.data.len() + self.data.len() / 2);
                self.data.resize(size, 0);
            }
            let room = self.data.len() - self.filled;
            let want = usize::try_from(self.limit).unwrap_or(usize::MAX).min(room);
            let got = if want == 0 {
                0
            } else {
                match input.read(&mut self.data[self.filled..self.filled + want]) {
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                    other => other?,
                }
            };
            self.limit -= got as u64;
            let new = self.filled..self.filled + got;
            self.filled += got;
            if got == 0 {
                self.ended = true;
            } else if let Some(at) = memchr::memrchr(end, &self.data[new.clone()]) {
                self.lines_end = new.start + at + 1;
                return Ok(true);
            }
        }
    }

    /// Turns every NUL in the lines from `from` on into the end of a line.
    pub fn zap_nuls(&mut self, from: usize, end: u8) {
        for b in &mut self.data[from..self.lines_end] {
            if *b == 0 {
                *b = end;
            }
        }
    }
}
