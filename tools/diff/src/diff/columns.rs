//! Lays out two columns as `diff -y` and `sdiff` do: finds the gutter between them, and cuts lines
//! to the width of a column.
//!
//! The left column begins at 0, and the right one at a tab stop unless blanks are written instead
//! of tabs. The gutter between them holds the mark with a blank on either side.

use std::io::{self, Write};

use unicode_width::UnicodeWidthChar;

/// The least width of the gutter between the columns.
const GUTTER: isize = 3;

/// The layout of two columns for a width of output.
pub struct SideColumns {
    /// The width of each column.
    half: usize,
    /// The start of the right column.
    right: usize,
    /// The distance between tab stops.
    tab: usize,
    /// Whether blanks are written instead of tabs.
    expand: bool,
}

impl SideColumns {
    /// Returns the layout for output lines of this width, with tab stops every `tab` columns. With
    /// `expand`, blanks are written instead of tabs.
    pub fn new(width: usize, tab: usize, expand: bool) -> SideColumns {
        let signed = |n: usize| isize::try_from(n).unwrap_or(isize::MAX / 4);
        let (w, step) = (signed(width), if expand { 1 } else { signed(tab) });
        let right = (w + step + GUTTER) / (2 * step) * step;
        let half = (right - GUTTER).min(w - right).max(0) as usize;
        SideColumns { half, right: if half == 0 { width } else { right as usize }, tab, expand }
    }

    /// Writes one row. The lines include their newlines, if they have them.
    pub fn write_row(
        &self,
        out: &mut dyn Write,
        left: Option<&[u8]>,
        mark: u8,
        right: Option<&[u8]>,
    ) -> io::Result<()> {
        let ends = |l: Option<&[u8]>| l.is_some_and(|l| l.ends_with(b"\n"));
        let mut at = 0;
        if let Some(l) = left {
            at = self.write_cut(out, l, 0)?;
        }
        if mark != b' ' {
            at = self.pad_to(out, at, (self.half + self.right - 1) / 2)? + 1;
            // The mark shows which of the two lines lacks its newline.
            let mark = match (mark, ends(left), ends(right)) {
                (b'|', true, false) => b'/',
                (b'|', false, true) => b'\\',
                _ => mark,
            };
            out.write_all(&[mark])?;
        }
        if let Some(r) = right.filter(|r| *r != b"\n") {
            at = self.pad_to(out, at, self.right)?;
            self.write_cut(out, r, at)?;
        }
        if ends(left) || ends(right) {
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Writes as much of a line as its column holds; `indent` is the start of the column. Returns
    /// the column that was reached. A tab stays a tab if it ends within the column.
    fn write_cut(&self, out: &mut dyn Write, line: &[u8], indent: usize) -> io::Result<usize> {
        // The column that the whole text would have reached, and the column of the output. They
        // differ once the text passes the edge.
        let (mut text, mut at) = (0usize, 0usize);
        let mut rest = line.strip_suffix(b"\n").unwrap_or(line);
        while let Some((c, len)) = first_char(rest) {
            let bytes = &rest[..len];
            rest = &rest[len..];
            match bytes {
                b"\t" => {
                    let stop = text + self.tab - text % self.tab;
                    if text == at {
                        if self.expand {
                            at = self.pad_to(out, at, stop.min(self.half))?;
                        } else if stop < self.half {
                            at = stop;
                            out.write_all(b"\t")?;
                        }
                    }
                    text = stop;
                }
                b"\r" => {
                    out.write_all(b"\r")?;
                    self.pad_to(out, 0, indent)?;
                    (text, at) = (0, 0);
                }
                b"\x08" => {
                    if text == 0 {
                        continue;
                    }
                    text -= 1;
                    if text < self.half {
                        if at <= text {
                            // A tab at the edge was not written; write blanks for the part of it
                            // that remains.
                            out.write_all(&b" ".repeat(text - at))?;
                        } else {
                            out.write_all(bytes)?;
                        }
                        at = text;
                    }
                }
                _ => match c.and_then(UnicodeWidthChar::width).unwrap_or(0) {
                    0 if text < self.half => out.write_all(bytes)?,
                    0 => {}
                    width => {
                        text += width;
                        if text <= self.half {
                            at = text;
                            out.write_all(bytes)?;
                        }
                    }
                },
            }
        }
        Ok(at)
    }

    /// Moves the output from one column to another with blanks, and with tabs where they fit.
    fn pad_to(&self, out: &mut dyn Write, mut from: usize, to: usize) -> io::Result<usize> {
        while !self.expand && from - from % self.tab + self.tab <= to {
            out.write_all(b"\t")?;
            from = from - from % self.tab + self.tab;
        }
        out.write_all(&b" ".repeat(to.saturating_sub(from)))?;
        Ok(from.max(to))
    }
}

/// Returns the first character and its length. If the text does not begin with a valid character,
/// returns `None` for it and the length 1.
fn first_char(text: &[u8]) -> Option<(Option<char>, usize)> {
    let lead = *text.first()?;
    let len = match lead {
        0..=0x7f => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((None, 1)),
    };
    let c =
        text.get(..len).and_then(|t| std::str::from_utf8(t).ok()).and_then(|t| t.chars().next());
    Some(if c.is_some() { (c, len) } else { (None, 1) })
}
