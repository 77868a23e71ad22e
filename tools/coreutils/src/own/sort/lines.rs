//! Lines in memory. All text is in one buffer. Each line has its position there and a cached prefix
//! of its first key, so most comparisons need neither the text nor the key's definition.

use std::cmp::Ordering;
use std::io::{self, BufRead, Read, Write};

use super::options::SortOptions;
use crate::common::input::{CopyStop, InputFile, write_output};

struct SortLine {
    prefix: u64,
    start: usize,
    len: usize,
    /// The start and end of the first key within the line.
    key: (usize, usize),
}

/// The lines read so far.
#[derive(Default)]
pub(super) struct SortLines {
    text: Vec<u8>,
    lines: Vec<SortLine>,
    /// The start of the unfinished last line.
    open: usize,
}

impl SortLines {
    /// Reads more lines; returns true if the memory bound is reached before the end of the input. A
    /// last line without a terminator gets one.
    pub(super) fn fill_from(
        &mut self,
        reader: &mut InputFile<'_>,
        o: &SortOptions,
    ) -> io::Result<bool> {
        if let InputFile::File(f) = reader {
            // A file of known size needs only one allocation.
            let size = f.get_ref().metadata().map_or(0, |m| usize::try_from(m.len()).unwrap_or(0));
            self.text.reserve(size.min(o.memory) + 1);
        }
        loop {
            let n = self.read_block(reader)?;
            if n == 0 {
                if self.text.len() > self.open {
                    self.text.push(o.delimiter);
                    self.index(o);
                }
                return Ok(false);
            }
            self.index(o);
            if self.text.len() + self.lines.len() * size_of::<SortLine>() >= o.memory
                && !self.lines.is_empty()
            {
                return Ok(true);
            }
        }
    }

    fn read_block(&mut self, reader: &mut InputFile<'_>) -> io::Result<usize> {
        const STEP: usize = 256 * 1024;
        if let InputFile::File(f) = reader
            && f.buffer().is_empty()
        {
            // The bytes go directly from the file to the text.
            let before = self.text.len();
            let got = f.get_mut().take(STEP as u64).read_to_end(&mut self.text)?;
            debug_assert_eq!(self.text.len(), before + got);
            return Ok(got);
        }
        loop {
            match reader.fill_buf() {
                Ok(b) => {
                    self.text.extend_from_slice(b);
                    let n = b.len();
                    reader.consume(n);
                    return Ok(n);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Splits the bytes that were read into lines.
    fn index(&mut self, o: &SortOptions) {
        let key = &o.keys[0];
        let whole = !o.keyed && !key.order.skip_start;
        let mut start = self.open;
        for end in memchr::memchr_iter(o.delimiter, &self.text[start..]) {
            let end = self.open + end;
            let line = &self.text[start..end];
            let range = if whole { (0, line.len()) } else { key.range(line) };
            let prefix = key.order.key_prefix(&line[range.0..range.1]);
            self.lines.push(SortLine { prefix, start, len: end - start, key: range });
            start = end + 1;
        }
        self.open = start;
    }

    /// Drops the complete lines; keeps the beginning of an unfinished one.
    pub(super) fn clear(&mut self) {
        self.text.drain(..self.open);
        self.lines.clear();
        self.open = 0;
    }

    fn line_bytes(&self, l: &SortLine) -> &[u8] {
        &self.text[l.start..l.start + l.len]
    }

    /// Sorts the lines.
    pub(super) fn sort(&mut self, o: &SortOptions) {
        let text = &self.text;
        let bytes = |l: &SortLine| &text[l.start..l.start + l.len];
        let first = &o.keys[0].order;
        let decided = first.prefix_decides();
        let plain_text = first.kind == super::key::SortKind::Text && first.is_plain();
        let keys = |a: &SortLine, b: &SortLine| -> Ordering {
            let mut order = a.prefix.cmp(&b.prefix);
            if order.is_eq() && !decided {
                let (x, y) = (bytes(a), bytes(b));
                let (x, y) = (&x[a.key.0..a.key.1], &y[b.key.0..b.key.1]);
                // If the prefixes of plain text are equal and both keys are at least eight bytes
                // long, their first eight bytes are equal. A shorter key is padded with zeros.
                order = match (plain_text, x.get(8..), y.get(8..)) {
                    (true, Some(x), Some(y)) => x.cmp(y),
                    _ => first.compare_keys(x, y),
                };
            }
            if first.reverse { order.reverse() } else { order }
        };
        let rest = |a: &SortLine, b: &SortLine| -> Ordering {
            let (x, y) = (bytes(a), bytes(b));
            o.compare_keys(1, x, y).then_with(|| o.last_resort(x, y))
        };
        let simple = !o.keyed && !o.stable && plain_text && !first.skip_start;
        if simple {
            // The key is the whole line, so lines with equal keys are equal.
            self.lines.sort_unstable_by(keys);
        } else if o.stable {
            self.lines
                .sort_by(|a, b| keys(a, b).then_with(|| o.compare_keys(1, bytes(a), bytes(b))));
        } else {
            self.lines.sort_unstable_by(|a, b| keys(a, b).then_with(|| rest(a, b)));
        }
    }

    /// Writes the sorted lines; with `-u`, only the first of equal ones.
    pub(super) fn write(&self, out: &mut dyn Write, o: &SortOptions) -> Result<(), CopyStop> {
        let mut previous: Option<&SortLine> = None;
        let mut buf = Vec::with_capacity(68 * 1024);
        for l in &self.lines {
            if o.unique {
                if previous.is_some_and(|p| {
                    p.prefix == l.prefix
                        && o.compare_keys(0, self.line_bytes(p), self.line_bytes(l)).is_eq()
                }) {
                    continue;
                }
                previous = Some(l);
            }
            // The terminator follows the line in the text.
            buf.extend_from_slice(&self.text[l.start..=l.start + l.len]);
            if buf.len() >= 64 * 1024 {
                let mut w = &mut *out;
                write_output(&mut w, &buf)?;
                buf.clear();
            }
        }
        let mut w = &mut *out;
        write_output(&mut w, &buf)
    }
}
