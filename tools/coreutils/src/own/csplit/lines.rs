//! The input as numbered lines. Lines that may still begin a piece are kept.

use std::collections::VecDeque;
use std::io::{self, BufRead};

/// The lines that are not yet taken, some of which have been read.
pub(super) struct CsplitLines {
    reader: Box<dyn BufRead>,
    held: VecDeque<Vec<u8>>,
    /// The number of the next line to take.
    first: u64,
    is_at_end: bool,
}

impl CsplitLines {
    pub(super) fn new(reader: Box<dyn BufRead>) -> CsplitLines {
        CsplitLines { reader, held: VecDeque::new(), first: 1, is_at_end: false }
    }

    /// Returns the number of the next line to take.
    pub(super) fn first(&self) -> u64 {
        self.first
    }

    /// Returns whether there are no more lines.
    ///
    /// # Errors
    ///
    /// The error of a failed read.
    pub(super) fn is_empty(&mut self) -> io::Result<bool> {
        Ok(self.held.is_empty() && !self.read_line()?)
    }

    /// Returns a line that is not yet taken, without its newline; `None` if there is no such line.
    ///
    /// # Errors
    ///
    /// The error of a failed read.
    pub(super) fn get(&mut self, number: u64) -> io::Result<Option<&[u8]>> {
        let Some(at) = number.checked_sub(self.first) else { return Ok(None) };
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        while self.held.len() <= at {
            if !self.read_line()? {
                return Ok(None);
            }
        }
        Ok(self.held.get(at).map(|line| line.strip_suffix(b"\n").unwrap_or(line)))
    }

    /// Takes the next line, with its newline.
    ///
    /// # Errors
    ///
    /// The error of a failed read.
    pub(super) fn take(&mut self) -> io::Result<Option<Vec<u8>>> {
        if self.is_empty()? {
            return Ok(None);
        }
        self.first += 1;
        Ok(self.held.pop_front())
    }

    fn read_line(&mut self) -> io::Result<bool> {
        if self.is_at_end {
            return Ok(false);
        }
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line)?;
        self.is_at_end = line.is_empty();
        if !self.is_at_end {
            self.held.push_back(line);
        }
        Ok(!self.is_at_end)
    }
}
