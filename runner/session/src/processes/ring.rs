//! The last bytes of a process's output, by their positions.

use std::collections::VecDeque;

/// The bytes in which [`OutputRing::line_start`] looks for the end of a line.
const LINE: usize = 4096;

/// Bytes by position, of which the last ones are kept.
pub struct OutputRing {
    bytes: VecDeque<u8>,
    /// The number of all bytes that were added.
    written: u64,
    most: usize,
}

/// A part of the output.
#[derive(Debug, PartialEq, Eq)]
pub struct OutputPart {
    pub bytes: Vec<u8>,
    /// The position behind it.
    pub next: u64,
    /// Bytes between the position that was asked for and the first one that is kept.
    pub dropped: u64,
}

impl OutputRing {
    /// Makes a ring that keeps `most` bytes.
    pub fn new(most: usize) -> OutputRing {
        OutputRing { bytes: VecDeque::new(), written: 0, most }
    }

    /// Returns the number of all bytes that were added.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Adds bytes, and forgets the oldest ones.
    pub fn push(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let over = (self.bytes.len() + bytes.len()).saturating_sub(self.most);
        self.bytes.drain(..over);
        self.bytes.extend(bytes);
    }

    /// Returns the beginning of the first whole line behind a position, so that a reader does not begin
    /// within a character or a control sequence; the position itself if it is the very beginning, or
    /// if no line ends soon behind it.
    pub fn line_start(&self, after: u64) -> u64 {
        let first = self.written - self.bytes.len() as u64;
        let from = after.clamp(first, self.written);
        if from == 0 {
            return 0;
        }
        let ends = self.bytes.range((from - first) as usize..).take(LINE);
        let end = ends.zip(from..).find(|(byte, _)| **byte == b'\n');
        end.map_or(from, |(_, at)| at + 1)
    }

    /// Returns at most `most` bytes from a position on. A character (UTF-8) is not cut, unless
    /// `is_whole` says that no more bytes come and it is at the end.
    pub fn read(&self, after: u64, most: usize, is_whole: bool) -> OutputPart {
        let first = self.written - self.bytes.len() as u64;
        let from = after.clamp(first, self.written);
        let skip = (from - first) as usize;
        let rest = self.bytes.len() - skip;
        let len = rest.min(most);
        let mut bytes: Vec<u8> = self.bytes.range(skip..skip + len).copied().collect();
        if len < rest || !is_whole {
            bytes.truncate(whole_len(&bytes));
        }
        // A limit of less than a character must not stop a reader for good.
        if bytes.is_empty() && len > 0 && len < rest {
            bytes = self.bytes.range(skip..skip + len).copied().collect();
        }
        let next = from + bytes.len() as u64;
        OutputPart { bytes, next, dropped: from.saturating_sub(after) }
    }
}

/// Returns the length without the beginning of a character at the end.
fn whole_len(bytes: &[u8]) -> usize {
    let last = (1..=bytes.len().min(3)).find(|n| bytes[bytes.len() - n] & 0xc0 != 0x80);
    let Some(back) = last else { return bytes.len() };
    let needs = match bytes[bytes.len() - back] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    if needs > back { bytes.len() - back } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &[u8], next: u64, dropped: u64) -> OutputPart {
        OutputPart { bytes: text.to_vec(), next, dropped }
    }

    #[test]
    fn the_last_bytes_are_kept() {
        let mut ring = OutputRing::new(8);
        ring.push(b"abcde");
        assert_eq!(ring.read(0, 100, true), part(b"abcde", 5, 0));
        assert_eq!(ring.read(2, 2, true), part(b"cd", 4, 0));
        assert_eq!(ring.read(9, 2, true), part(b"", 5, 0));
        ring.push(b"fghij");
        assert_eq!(ring.read(0, 100, true), part(b"cdefghij", 10, 2));
        assert_eq!(ring.read(5, 100, true), part(b"fghij", 10, 0));
        ring.push(&[b'x'; 20]);
        assert_eq!((ring.written(), ring.read(10, 100, true)), (30, part(b"xxxxxxxx", 30, 12)));
    }

    #[test]
    fn a_reader_of_the_last_lines_begins_with_a_line() {
        let mut ring = OutputRing::new(12);
        ring.push(b"one\ntwo\n");
        assert_eq!((ring.line_start(0), ring.line_start(1), ring.line_start(4)), (0, 4, 8));
        assert_eq!((ring.line_start(8), ring.line_start(100)), (8, 8));
        // "e\n", the end of the first line, is the beginning of what is kept.
        ring.push(b"three\n");
        assert_eq!(ring.line_start(0), 4);
        ring.push(&[b'x'; 20]);
        assert_eq!(ring.line_start(0), 22);
    }

    #[test]
    fn characters_are_not_cut() {
        let mut ring = OutputRing::new(100);
        ring.push("aé€😀".as_bytes());
        for (most, text) in [(1, "a"), (2, "a"), (3, "aé"), (5, "aé"), (6, "aé€"), (9, "aé€")]
        {
            assert_eq!(ring.read(0, most, true).bytes, text.as_bytes(), "{most}");
        }
        assert_eq!(ring.read(0, 10, false).bytes, "aé€😀".as_bytes());
        let mut ring = OutputRing::new(100);
        ring.push(b"a\xe2\x82");
        assert_eq!(ring.read(0, 10, false), part(b"a", 1, 0));
        assert_eq!(ring.read(0, 10, true), part(b"a\xe2\x82", 3, 0));
        // Bytes that are no characters are returned.
        ring.push(b"\xff\xff\x80\x80\x80\x80\x80");
        assert_eq!(ring.read(3, 10, false).next, 10);
        ring.push("😀".as_bytes());
        assert_eq!(ring.read(10, 2, true).next, 12);
    }
}
