//! The input as lines and page ends.

use std::io::{self, BufRead};

/// The next item of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PrItem {
    Line(Vec<u8>),
    /// A form feed.
    PageEnd,
    End,
}

/// A file that is being read.
pub(super) struct PrSource<'a> {
    reader: Box<dyn BufRead + 'a>,
    /// Whether a form feed ended the last line, so that it comes next.
    feed: bool,
    /// Whether the last line had no newline, because the file or the page ended there.
    open_end: bool,
    ahead: Option<PrItem>,
}

impl<'a> PrSource<'a> {
    pub(super) fn new(reader: Box<dyn BufRead + 'a>) -> PrSource<'a> {
        PrSource { reader, feed: false, open_end: false, ahead: None }
    }

    /// Skips a form feed that would end a page that is full anyway.
    pub(super) fn skip_feed(&mut self) -> io::Result<()> {
        let item = self.next()?;
        if item != PrItem::PageEnd {
            self.ahead = Some(item);
        }
        Ok(())
    }

    /// Returns whether the line that was read last is known to be the last one of the page.
    pub(super) fn at_end(&self) -> bool {
        self.open_end
    }

    pub(super) fn next(&mut self) -> io::Result<PrItem> {
        if let Some(item) = self.ahead.take() {
            return Ok(item);
        }
        if std::mem::take(&mut self.feed) {
            return Ok(PrItem::PageEnd);
        }
        let mut line = Vec::new();
        loop {
            let block = match self.reader.fill_buf() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                block => block?,
            };
            if block.is_empty() {
                self.open_end = true;
                return Ok(if line.is_empty() { PrItem::End } else { PrItem::Line(line) });
            }
            let Some(at) = memchr::memchr2(b'\n', b'\x0c', block) else {
                let n = block.len();
                line.extend_from_slice(block);
                self.reader.consume(n);
                continue;
            };
            let feed = block[at] == b'\x0c';
            line.extend_from_slice(&block[..at]);
            self.reader.consume(at + 1);
            self.open_end = feed;
            if !feed {
                return Ok(PrItem::Line(line));
            }
            // A newline right after a form feed belongs to it.
            if self.reader.fill_buf()?.first() == Some(&b'\n') {
                self.reader.consume(1);
            }
            if line.is_empty() {
                return Ok(PrItem::PageEnd);
            }
            self.feed = true;
            return Ok(PrItem::Line(line));
        }
    }
}
