//! Records from a stream: lines, paragraphs, or texts that a regular expression separates (RS).

use std::fs::File;
use std::io::{self, Read};
use std::rc::Rc;

use box_applet::StdInput;
use box_text::regex::Regex;
use memchr::memchr;

/// The number of bytes to read at once; more are read if a record is longer.
const CHUNK: usize = 64 * 1024;

/// The separator that ends a record.
#[derive(Clone, Debug)]
pub enum RecordSeparator {
    Byte(u8),
    /// Empty lines (`RS = ""`).
    Paragraph,
    Regex(Rc<Regex>),
}

/// A stream and its read-ahead buffer.
#[derive(Debug)]
pub struct RecordReader {
    /// `None`: the applet's standard input.
    file: Option<File>,
    buf: Vec<u8>,
    /// The unread part of `buf`: `start..end`.
    start: usize,
    end: usize,
    eof: bool,
    /// Whether a record was read, because `^` in RS matches only at the beginning of the stream.
    begun: bool,
}

impl RecordReader {
    /// Creates a reader of a file, or of standard input for `None`.
    pub fn new(file: Option<File>) -> RecordReader {
        RecordReader { file, buf: Vec::new(), start: 0, end: 0, eof: false, begun: false }
    }

    /// Reads more bytes into the buffer, after those it holds. Returns `false` at the end of input.
    fn fill_buffer(&mut self, stdin: &mut StdInput) -> io::Result<bool> {
        if self.eof {
            return Ok(false);
        }
        // The byte before the unread part stays, because expressions may look at it.
        if self.start > 1 {
            self.buf.copy_within(self.start - 1..self.end, 0);
            self.end -= self.start - 1;
            self.start = 1;
        }
        if self.buf.len() - self.end < CHUNK {
            self.buf.resize((self.end + CHUNK).max(self.end * 2), 0);
        }
        let room = &mut self.buf[self.end..];
        let n = loop {
            let read = match &mut self.file {
                Some(f) => f.read(room),
                None => stdin.read(room),
            };
            match read {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    self.eof = true;
                    return Err(e);
                }
                Ok(n) => break n,
            }
        };
        self.end += n;
        self.eof = n == 0;
        Ok(n > 0)
    }

    /// Reads the next record into `text` and its terminator into `rt`. Returns `false` at the end
    /// of input.
    #[inline]
    pub fn next(
        &mut self,
        stdin: &mut StdInput,
        separator: &RecordSeparator,
        text: &mut Vec<u8>,
        rt: &mut Vec<u8>,
    ) -> io::Result<bool> {
        match separator {
            RecordSeparator::Byte(b) => self.read_line(stdin, *b, text, rt),
            RecordSeparator::Paragraph => self.read_paragraph(stdin, text, rt),
            RecordSeparator::Regex(re) => self.by_regex(stdin, re, text, rt),
        }
    }

    fn take(&mut self, record: usize, terminator: usize, text: &mut Vec<u8>, rt: &mut Vec<u8>) {
        let (a, b) = (self.start + record, self.start + record + terminator);
        text.clear();
        text.extend_from_slice(&self.buf[self.start..a]);
        rt.clear();
        rt.extend_from_slice(&self.buf[a..b]);
        self.start = b;
        self.begun = true;
    }

    fn read_line(
        &mut self,
        stdin: &mut StdInput,
        sep: u8,
        text: &mut Vec<u8>,
        rt: &mut Vec<u8>,
    ) -> io::Result<bool> {
        let mut seen = 0;
        loop {
            let ahead = &self.buf[self.start + seen..self.end];
            if let Some(n) = memchr(sep, ahead) {
                self.take(seen + n, 1, text, rt);
                return Ok(true);
            }
            seen = self.end - self.start;
            if !self.fill_buffer(stdin)? {
                return Ok(self.read_rest(text, rt));
            }
        }
    }

    /// Reads the last record, which has no terminator.
    fn read_rest(&mut self, text: &mut Vec<u8>, rt: &mut Vec<u8>) -> bool {
        let len = self.end - self.start;
        if len == 0 {
            return false;
        }
        self.take(len, 0, text, rt);
        true
    }

    fn read_paragraph(
        &mut self,
        stdin: &mut StdInput,
        text: &mut Vec<u8>,
        rt: &mut Vec<u8>,
    ) -> io::Result<bool> {
        // Skips newlines before the paragraph.
        loop {
            while self.start < self.end && self.buf[self.start] == b'\n' {
                self.start += 1;
            }
            if self.start < self.end {
                break;
            }
            if !self.fill_buffer(stdin)? {
                return Ok(false);
            }
        }
        let mut seen = 0;
        loop {
            let ahead = &self.buf[self.start..self.end];
            if let Some(n) = memchr::memmem::find(&ahead[seen..], b"\n\n") {
                let from = seen + n;
                let newlines = ahead[from..].iter().take_while(|c| **c == b'\n').count();
                if from + newlines < ahead.len() || self.eof {
                    self.take(from, newlines, text, rt);
                    return Ok(true);
                }
                seen = from;
            } else {
                seen = ahead.len().saturating_sub(1);
            }
            if !self.fill_buffer(stdin)? {
                let ahead = &self.buf[self.start..self.end];
                let newlines = ahead.iter().rev().take_while(|c| **c == b'\n').count();
                let len = ahead.len();
                self.take(len - newlines, newlines, text, rt);
                return Ok(true);
            }
        }
    }

    fn by_regex(
        &mut self,
        stdin: &mut StdInput,
        re: &Regex,
        text: &mut Vec<u8>,
        rt: &mut Vec<u8>,
    ) -> io::Result<bool> {
        if self.start == self.end && !self.fill_buffer(stdin)? {
            return Ok(false);
        }
        loop {
            let before = usize::from(self.begun && self.start > 0);
            let ahead = &self.buf[self.start - before..self.end];
            let mut from = before;
            let found = loop {
                match re.find_at(ahead, from) {
                    Some((s, e)) if s == e && e < ahead.len() => from = e + 1,
                    Some((s, e)) if s == e => break None,
                    Some((s, e)) => break Some((s - before, e - before)),
                    None => break None,
                }
            };
            match found {
                // A match at the very end counts only at the end of input, because more input might
                // lengthen it.
                Some((s, e)) if e + before < ahead.len() || self.eof => {
                    self.take(s, e - s, text, rt);
                    return Ok(true);
                }
                found => {
                    if !self.fill_buffer(stdin)? {
                        if let Some((s, e)) = found {
                            self.take(s, e - s, text, rt);
                            return Ok(true);
                        }
                        return Ok(self.read_rest(text, rt));
                    }
                }
            }
        }
    }
}
