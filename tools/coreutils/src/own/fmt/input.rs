//! Paragraphs of a text: prefixes, indents and words, and the lines that are made of them.

use std::io::{self, BufRead, Write};

use super::breaks::{LineWidths, Word, find_breaks, find_cut};
use super::{FmtOptions, ParagraphShape};

/// The maximum numbers of bytes and words of a paragraph that is kept. A longer paragraph is
/// written in pieces.
pub(super) const MAX_BYTES: usize = 5000;
const MAX_WORDS: usize = 1000 - 2;
/// The distance of tab stops.
const TAB: usize = 8;
/// The indent of later lines of a tagged paragraph that has one line, if it must differ from 0.
const TAGGED_INDENT: usize = 3;

/// The reason why a file is not formatted to its end.
#[derive(Debug)]
pub(super) enum FmtStop {
    Read(io::Error),
    /// The write failed. The output remembers the cause.
    Write,
}

impl From<io::Error> for FmtStop {
    fn from(_: io::Error) -> FmtStop {
        FmtStop::Write
    }
}

type Result<T> = std::result::Result<T, FmtStop>;

/// One file that is formatted.
pub(super) struct ParagraphFormatter<'f, R, W> {
    options: &'f FmtOptions,
    reader: &'f mut R,
    out: &'f mut W,
    /// The text and the words of the paragraph so far.
    text: Vec<u8>,
    words: Vec<Word>,
    /// Whether the input has had a tab, so that indents are written with tabs.
    has_tabs: bool,
    /// The column of the next byte of the input, and of the output.
    in_column: usize,
    out_column: usize,
    /// The indent of the prefix of this paragraph, and of the line that was read last.
    prefix_indent: usize,
    next_prefix_indent: usize,
    first_indent: usize,
    other_indent: usize,
    last_line_length: usize,
    /// The next byte of the input; `None` at its end.
    next: Option<u8>,
}

fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

impl<'f, R: BufRead, W: Write> ParagraphFormatter<'f, R, W> {
    /// Returns a formatter at the beginning of a file.
    pub(super) fn new(options: &'f FmtOptions, reader: &'f mut R, out: &'f mut W) -> Self {
        ParagraphFormatter {
            options,
            reader,
            out,
            text: Vec::new(),
            words: Vec::new(),
            has_tabs: false,
            in_column: 0,
            out_column: 0,
            prefix_indent: 0,
            next_prefix_indent: 0,
            first_indent: 0,
            other_indent: 0,
            last_line_length: 0,
            next: None,
        }
    }

    /// Formats the whole file.
    pub(super) fn format(mut self) -> Result<()> {
        self.advance()?;
        self.read_prefix()?;
        while self.read_paragraph()? {
            self.break_lines();
            self.write_lines(self.words.len())?;
        }
        Ok(())
    }

    /// Reads the next byte.
    fn advance(&mut self) -> Result<()> {
        self.next = loop {
            match self.reader.fill_buf() {
                Ok(block) => break block.first().copied(),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(FmtStop::Read(e)),
            }
        };
        if self.next.is_some() {
            self.reader.consume(1);
        }
        Ok(())
    }

    fn is_line_end(&self) -> bool {
        matches!(self.next, None | Some(b'\n'))
    }

    /// Skips blanks, and counts their columns.
    fn skip_blanks(&mut self) -> Result<()> {
        loop {
            match self.next {
                Some(b' ') => self.in_column += 1,
                Some(b'\t') => {
                    self.has_tabs = true;
                    self.in_column = (self.in_column / TAB + 1) * TAB;
                }
                _ => return Ok(()),
            }
            self.advance()?;
        }
    }

    /// Reads the blanks and the prefix at the beginning of a line.
    fn read_prefix(&mut self) -> Result<()> {
        self.in_column = 0;
        self.skip_blanks()?;
        if self.options.prefix.is_empty() {
            self.next_prefix_indent = self.in_column.min(self.options.prefix_indent);
            return Ok(());
        }
        self.next_prefix_indent = self.in_column;
        for &c in &self.options.prefix {
            if self.next != Some(c) {
                return Ok(());
            }
            self.in_column += 1;
            self.advance()?;
        }
        self.skip_blanks()
    }

    /// Returns whether the line belongs to a paragraph: it has the prefix, and text after it.
    fn has_text(&self) -> bool {
        !self.is_line_end()
            && self.in_column >= self.next_prefix_indent + self.options.prefix_length
    }

    /// Returns whether the line can belong to the paragraph before it.
    fn continues_paragraph(&self) -> bool {
        self.next_prefix_indent == self.prefix_indent && self.has_text()
    }

    /// Copies the lines before the next paragraph, and reads that; returns false at the end.
    fn read_paragraph(&mut self) -> Result<bool> {
        self.last_line_length = 0;
        while !self.has_text() || self.next_prefix_indent < self.options.prefix_indent {
            self.copy_line()?;
            if self.next.is_none() {
                return Ok(false);
            }
            self.out.write_all(b"\n")?;
            self.advance()?;
            self.read_prefix()?;
        }
        self.prefix_indent = self.next_prefix_indent;
        self.first_indent = self.in_column;
        self.text.clear();
        self.words.clear();
        self.read_line()?;
        self.set_other_indent(self.continues_paragraph());
        match self.options.shape {
            ParagraphShape::Line => {}
            ParagraphShape::Crown => {
                if self.continues_paragraph() {
                    self.read_line()?;
                    self.read_lines_of_indent()?;
                }
            }
            ParagraphShape::Tagged => {
                if self.continues_paragraph() && self.in_column != self.first_indent {
                    self.read_line()?;
                    self.read_lines_of_indent()?;
                }
            }
            ParagraphShape::Plain => self.read_lines_of_indent()?,
        }
        if let Some(last) = self.words.last_mut() {
            (last.has_period, last.is_final) = (true, true);
        }
        Ok(true)
    }

    fn read_lines_of_indent(&mut self) -> Result<()> {
        while self.continues_paragraph() && self.in_column == self.other_indent {
            self.read_line()?;
        }
        Ok(())
    }

    /// Copies a line that belongs to no paragraph, without its newline. Only its blanks may change.
    fn copy_line(&mut self) -> Result<()> {
        self.out_column = 0;
        if self.in_column > self.next_prefix_indent || !self.is_line_end() {
            self.write_blanks(self.next_prefix_indent)?;
            let prefix = &self.options.prefix;
            let length = prefix.len().min(self.in_column.saturating_sub(self.out_column));
            self.out.write_all(&prefix[..length])?;
            self.out_column += length;
            if !self.is_line_end() {
                self.write_blanks(self.in_column.saturating_sub(self.out_column))?;
            }
            if self.next.is_none() && self.in_column >= self.next_prefix_indent + prefix.len() {
                self.out.write_all(b"\n")?;
            }
        }
        while let Some(c) = self.next.filter(|c| *c != b'\n') {
            self.out.write_all(&[c])?;
            self.advance()?;
        }
        Ok(())
    }

    /// Sets the indent of the lines after the first. `continues` says whether the next line can
    /// belong to the paragraph.
    fn set_other_indent(&mut self, continues: bool) {
        match self.options.shape {
            ParagraphShape::Crown if continues => self.other_indent = self.in_column,
            ParagraphShape::Tagged if continues && self.in_column != self.first_indent => {
                self.other_indent = self.in_column;
            }
            // If the paragraph has one line, or two lines with the same indent, the indent of the
            // later lines must only differ from that of the first line.
            ParagraphShape::Tagged if self.other_indent == self.first_indent => {
                self.other_indent = if self.first_indent == 0 { TAGGED_INDENT } else { 0 };
            }
            ParagraphShape::Tagged => {}
            _ => self.other_indent = self.first_indent,
        }
    }

    /// Reads the words of a line, and the beginning of the next one.
    fn read_line(&mut self) -> Result<()> {
        loop {
            let mut start = self.text.len();
            while let Some(c) = self.next {
                // The first byte belongs to the word whatever it is.
                if self.text.len() > start && is_space(c) {
                    break;
                }
                if self.text.len() == MAX_BYTES {
                    self.set_other_indent(true);
                    start -= self.write_piece(start)?;
                }
                self.text.push(c);
                self.advance()?;
            }
            let mut word = describe_word(&self.text[start..]);
            word.start = start;
            self.in_column += word.length;
            let column = self.in_column;
            self.skip_blanks()?;
            word.space = self.in_column - column;
            let ends = self.is_line_end();
            word.is_final = self.next.is_none() || word.has_period && (ends || word.space > 1);
            if ends || self.options.is_uniform {
                word.space = if word.is_final { 2 } else { 1 };
            }
            if self.words.len() == MAX_WORDS {
                self.set_other_indent(true);
                let removed = self.write_piece(word.start)?;
                word.start -= removed;
            }
            self.words.push(word);
            if ends {
                break;
            }
        }
        self.advance()?;
        self.read_prefix()
    }

    fn break_lines(&mut self) {
        let widths = LineWidths {
            most: self.options.width,
            goal: self.options.goal,
            first_indent: self.first_indent,
            other_indent: self.other_indent,
            previous: self.last_line_length,
        };
        find_breaks(&mut self.words, &widths);
    }

    /// Writes the first lines of a paragraph that is too long; returns the number of bytes that
    /// its text loses. The word at `current` is not complete and stays.
    fn write_piece(&mut self, current: usize) -> Result<usize> {
        if self.words.is_empty() {
            self.out.write_all(&self.text)?;
            self.text.clear();
            return Ok(current);
        }
        self.break_lines();
        let cut = find_cut(&self.words);
        self.write_lines(cut)?;
        let removed = self.words.get(cut).map_or(current, |w| w.start);
        self.text.drain(..removed);
        self.words.drain(..cut);
        for word in &mut self.words {
            word.start -= removed;
        }
        Ok(removed)
    }

    /// Writes the lines before word `end`.
    fn write_lines(&mut self, end: usize) -> Result<()> {
        let mut at = 0;
        while at < end {
            let indent = if at == 0 { self.first_indent } else { self.other_indent };
            self.write_line(at, indent)?;
            at = self.words[at].next_break;
        }
        Ok(())
    }

    fn write_line(&mut self, first: usize, indent: usize) -> Result<()> {
        self.out_column = 0;
        self.write_blanks(self.prefix_indent)?;
        self.out.write_all(&self.options.prefix)?;
        self.out_column += self.options.prefix.len();
        self.write_blanks(indent.saturating_sub(self.out_column))?;
        let last = self.words[first].next_break - 1;
        for at in first..=last {
            let Word { start, length, space, .. } = self.words[at];
            self.out.write_all(&self.text[start..start + length])?;
            self.out_column += length;
            if at < last {
                self.write_blanks(space)?;
            }
        }
        self.last_line_length = self.out_column;
        self.out.write_all(b"\n")?;
        Ok(())
    }

    /// Writes so many columns of blanks: with tabs, if the input has had any.
    fn write_blanks(&mut self, columns: usize) -> Result<()> {
        let target = self.out_column + columns;
        if self.has_tabs {
            let stop = target / TAB * TAB;
            if self.out_column + 1 < stop {
                while self.out_column < stop {
                    self.out.write_all(b"\t")?;
                    self.out_column = (self.out_column / TAB + 1) * TAB;
                }
            }
        }
        while self.out_column < target {
            self.out.write_all(b" ")?;
            self.out_column += 1;
        }
        Ok(())
    }
}

/// Returns a word with the properties that its text shows.
fn describe_word(text: &[u8]) -> Word {
    let last = text.len().saturating_sub(1);
    let mut end = last;
    while end > 0 && b")]'\"".contains(&text[end]) {
        end -= 1;
    }
    let at = |i: usize| text.get(i).copied().unwrap_or_default();
    Word {
        length: text.len(),
        opens: b"(['`\"".contains(&at(0)),
        has_punctuation: at(last).is_ascii_punctuation(),
        has_period: b".?!".contains(&at(end)),
        ..Word::default()
    }
}
