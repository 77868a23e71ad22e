//! Output lines: prefix, matches, colours.

use std::io::{self, Write};

use box_applet::OutStream;

use crate::config::GrepConfig;
use crate::pattern::GrepMatcher;

/// Writes the lines of one input.
pub struct GrepPrinter<'a> {
    pub config: &'a GrepConfig,
    pub matcher: &'a GrepMatcher,
    pub out: &'a mut OutStream,
    /// The name that is shown before each line, if any.
    pub name: Option<&'a [u8]>,
    /// The width of numbers under `-T`; 0 without it.
    pub width: usize,
    /// The line being built.
    pub buffer: Vec<u8>,
}

/// Returns the width of numbers for an input of this size; an unknown size counts as the maximum.
pub fn number_width(config: &GrepConfig, size: Option<u64>) -> usize {
    match (config.initial_tab, size) {
        (false, _) => 0,
        (true, Some(size)) => (size + 1).to_string().len(),
        (true, None) => i64::MAX.to_string().len(),
    }
}

/// A line with its place in the input.
#[derive(Clone, Copy)]
pub struct SelectedLine<'t> {
    /// The line with its terminator, if it has one.
    pub text: &'t [u8],
    /// The line's number, from 1; 0 if it is not needed.
    pub number: u64,
    pub offset: u64,
    /// Whether the line is selected, and not context.
    pub selected: bool,
    /// The line's first match, if it is already known.
    pub first: Option<(usize, usize)>,
}

impl GrepPrinter<'_> {
    /// Returns whether lines are printed unchanged, so that several can be written at once.
    pub fn is_plain(&self) -> bool {
        let c = self.config;
        self.name.is_none()
            && !c.line_number
            && !c.byte_offset
            && !c.only_matching
            && c.colors.is_none()
            && !c.line_buffered
    }

    /// Prints a line, or with `-o` its matches.
    pub fn print_line(&mut self, line: SelectedLine<'_>) -> io::Result<()> {
        if self.is_plain() {
            self.out.write_all(line.text)?;
            if line.text.last() != Some(&self.config.end) {
                self.out.write_all(&[self.config.end])?;
            }
            return Ok(());
        }
        self.buffer.clear();
        let sep = if line.selected { b':' } else { b'-' };
        let body = match line.text {
            [body @ .., last] if *last == self.config.end => body,
            all => all,
        };
        // The selected lines have matches; with `-v`, the others do.
        let has_matches = line.selected != self.config.invert;
        if self.config.only_matching {
            if has_matches && line.selected {
                self.matches_only(line, body, sep);
            }
        } else {
            self.print_head(sep, line.number, line.offset, !body.is_empty());
            self.print_colored(body, line.selected, has_matches);
            self.buffer.push(self.config.end);
        }
        self.out.write_all(&self.buffer)?;
        if self.config.line_buffered {
            self.out.flush()?;
        }
        Ok(())
    }

    /// Prints the line between groups of context.
    pub fn print_separator(&mut self) -> io::Result<()> {
        let Some(text) = &self.config.separator else { return Ok(()) };
        self.buffer.clear();
        match &self.config.colors {
            Some(c) => c.paint(&mut self.buffer, &c.separator, text),
            None => self.buffer.extend_from_slice(text),
        }
        self.buffer.push(b'\n');
        self.out.write_all(&self.buffer)
    }

    /// Prints the count of an input.
    pub fn print_count(&mut self, count: u64) -> io::Result<()> {
        self.buffer.clear();
        self.push_name(b':');
        self.buffer.extend_from_slice(count.to_string().as_bytes());
        self.buffer.push(b'\n');
        self.out.write_all(&self.buffer)
    }

    /// Prints the name of an input (`-l`, `-L`).
    pub fn print_file(&mut self, name: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        match &self.config.colors {
            Some(c) => c.paint(&mut self.buffer, &c.filename, name),
            None => self.buffer.extend_from_slice(name),
        }
        self.buffer.push(if self.config.null_after_name { 0 } else { b'\n' });
        self.out.write_all(&self.buffer)
    }

    fn matches_only(&mut self, line: SelectedLine<'_>, body: &[u8], sep: u8) {
        let (mut at, mut first) = (0, line.first);
        while at <= body.len() {
            let found = first.take().or_else(|| self.matcher.find(body, at));
            let Some((start, end)) = found else { break };
            if start == end {
                // Empty matches are not shown; the next one may start at the next character.
                at = end + 1;
                continue;
            }
            self.print_head(sep, line.number, line.offset + start as u64, true);
            match &self.config.colors {
                Some(c) => c.paint(&mut self.buffer, &c.matched, &body[start..end]),
                None => self.buffer.extend_from_slice(&body[start..end]),
            }
            self.buffer.push(self.config.end);
            at = end;
        }
    }

    fn print_colored(&mut self, body: &[u8], selected: bool, has_matches: bool) {
        let Some(c) = &self.config.colors else {
            self.buffer.extend_from_slice(body);
            return;
        };
        let as_selected = selected != (self.config.invert && c.reverse);
        let whole = if as_selected { &c.selected } else { &c.context };
        let color = if selected { &c.matched } else { &c.context_match };
        let mut at = 0;
        if has_matches && !color.is_empty() {
            let mut from = 0;
            while from < body.len() {
                let Some((start, end)) = self.matcher.find(body, from) else { break };
                if start == end {
                    from = end + 1;
                    continue;
                }
                // As in GNU grep, the colour of the line does not end before that of the match
                // begins.
                if !whole.is_empty() {
                    c.start(&mut self.buffer, whole);
                }
                self.buffer.extend_from_slice(&body[at..start]);
                c.paint(&mut self.buffer, color, &body[start..end]);
                at = end;
                from = end;
            }
        }
        if at < body.len() {
            c.paint(&mut self.buffer, whole, &body[at..]);
        }
    }

    /// Prints file name, line number and byte offset.
    fn print_head(&mut self, sep: u8, number: u64, offset: u64, text_follows: bool) {
        self.push_name(sep);
        let numbers = [
            self.config.line_number.then_some((number, true)),
            self.config.byte_offset.then_some((offset, false)),
        ];
        let mut any = self.name.is_some();
        for (value, is_line) in numbers.into_iter().flatten() {
            any = true;
            let text = format!("{value:width$}", width = self.width);
            match &self.config.colors {
                Some(c) => {
                    let color = if is_line { &c.line_number } else { &c.byte_offset };
                    c.paint(&mut self.buffer, color, text.as_bytes());
                }
                None => self.buffer.extend_from_slice(text.as_bytes()),
            }
            self.push_separator(sep);
        }
        if any && self.config.initial_tab && text_follows {
            self.buffer.push(b'\t');
        }
    }

    fn push_name(&mut self, sep: u8) {
        let Some(name) = self.name else { return };
        match &self.config.colors {
            Some(c) => c.paint(&mut self.buffer, &c.filename, name),
            None => self.buffer.extend_from_slice(name),
        }
        if self.config.null_after_name {
            self.buffer.push(0);
        } else {
            self.push_separator(sep);
        }
    }

    fn push_separator(&mut self, sep: u8) {
        match &self.config.colors {
            Some(c) => c.paint(&mut self.buffer, &c.separator, &[sep]),
            None => self.buffer.push(sep),
        }
    }
}
