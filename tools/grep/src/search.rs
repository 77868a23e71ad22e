//! The search of one input: selecting lines and printing them.

use std::io::{self, Read};

use crate::buffer::LineBuffer;
use crate::config::{BinaryMode, GrepConfig, GrepMode};
use crate::output::{GrepPrinter, SelectedLine};
use crate::pattern::GrepMatcher;

/// The reason why a search of an input ended early.
#[derive(Debug)]
pub enum SearchError {
    Read(io::Error),
    /// Writing to standard output failed; `Ctx::finish` reports it.
    Write,
}

/// The result of the search of one input.
#[derive(Debug, Default)]
pub struct SearchOutcome {
    pub selected: u64,
    /// Whether a match was found but is not shown, because the input is binary.
    pub binary: bool,
    /// The number of bytes to seek back after `-m`, so that another reader of the descriptor
    /// continues after the last selected line.
    pub unread: Option<u64>,
}

/// Searches inputs one after another.
pub struct Searcher {
    memory: Vec<u8>,
    /// Whether something was printed, so that the next group needs a separator.
    printed: bool,
}

/// The state within one input.
struct SearchState<'p, 'a> {
    config: &'a GrepConfig,
    matcher: &'a GrepMatcher,
    printer: &'p mut GrepPrinter<'a>,
    printed: &'p mut bool,
    selected: u64,
    /// Whether the first match ends the search and no line is printed: `-q`, `-l`, binary input.
    stop_at_first: bool,
    show: bool,
    /// The number of lines of trailing context still to print.
    after_left: u64,
    /// The position of the end of the last printed line in the input.
    last_printed: u64,
    /// The number of lines before `counted_to`, a position in the input.
    counted: u64,
    counted_to: u64,
    /// The position of the window in the input.
    base: u64,
    encoding_error: bool,
    /// Whether the number of `-m` is reached, so that only trailing context is left.
    draining: bool,
    /// The position of the end of the last selected line in the input.
    after_last: u64,
    /// Whether matches are shown, and not only lines.
    shows_matches: bool,
    /// The first match on the line that was found last, if it is known.
    first: Option<(usize, usize)>,
}

impl Searcher {
    /// Creates a searcher that has printed nothing yet.
    pub fn new() -> Searcher {
        Searcher { memory: Vec::new(), printed: false }
    }

    /// Searches `input`, of which at most `limit` bytes are read.
    pub fn search_input<'a>(
        &mut self,
        input: &mut dyn Read,
        limit: u64,
        printer: &mut GrepPrinter<'a>,
    ) -> Result<SearchOutcome, SearchError> {
        let mut buffer = LineBuffer::new(std::mem::take(&mut self.memory), limit);
        let result = self.run(&mut buffer, input, printer);
        self.memory = buffer.into_memory();
        result
    }

    fn run<'a>(
        &mut self,
        buffer: &mut LineBuffer,
        input: &mut dyn Read,
        printer: &mut GrepPrinter<'a>,
    ) -> Result<SearchOutcome, SearchError> {
        let config = printer.config;
        let mut state = SearchState::new(printer, &mut self.printed);
        let mut outcome = SearchOutcome::default();
        // The number of lines that were selected before the first NUL.
        let mut text_lines = None;
        let mut at = 0;
        let mut keep = 0;
        while buffer.advance(input, config.end, keep).map_err(SearchError::Read)? {
            at -= keep;
            state.base = buffer.base();
            if config.binary != BinaryMode::Text
                && config.end != 0
                && (text_lines.is_some() || memchr::memchr(0, &buffer.lines()[at..]).is_some())
            {
                if config.binary == BinaryMode::WithoutMatch {
                    return Ok(SearchOutcome::default());
                }
                if config.mode != GrepMode::Count {
                    state.stop_at_first = true;
                    state.show = false;
                }
                text_lines.get_or_insert(state.selected);
                buffer.zap_nuls(at, config.end);
            }
            let lines = buffer.lines();
            let stop = state.lines(lines, at).map_err(|_| SearchError::Write)?;
            at = lines.len();
            if stop {
                break;
            }
            keep = state.keep_from(lines);
        }
        if config.mode == GrepMode::Lines {
            outcome.binary = text_lines.is_some_and(|n| n < state.selected)
                || state.encoding_error && config.binary == BinaryMode::Report;
        }
        outcome.selected = state.selected;
        if config.max_count.is_some_and(|m| m <= state.selected) {
            outcome.unread = Some(buffer.unread_since(state.after_last));
        }
        Ok(outcome)
    }
}

impl<'p, 'a> SearchState<'p, 'a> {
    fn new(printer: &'p mut GrepPrinter<'a>, printed: &'p mut bool) -> SearchState<'p, 'a> {
        let config = printer.config;
        SearchState {
            config,
            matcher: printer.matcher,
            printer,
            printed,
            selected: 0,
            stop_at_first: !matches!(config.mode, GrepMode::Lines | GrepMode::Count),
            show: config.mode == GrepMode::Lines,
            after_left: 0,
            last_printed: 0,
            counted: 0,
            counted_to: 0,
            base: 0,
            encoding_error: false,
            draining: false,
            after_last: 0,
            shows_matches: config.mode == GrepMode::Lines && config.only_matching && !config.invert,
            first: None,
        }
    }
}

impl SearchState<'_, '_> {
    /// Processes the lines of the window from `at` on. Returns `true` if nothing more is needed of
    /// this input.
    fn lines(&mut self, lines: &[u8], mut at: usize) -> io::Result<bool> {
        let end = self.config.end;
        let text = match lines {
            [body @ .., last] if *last == end => body,
            all => all,
        };
        while at < lines.len() {
            if self.draining {
                self.print_context(lines, at, lines.len())?;
                return Ok(self.after_left == 0);
            }
            let hit = self.matcher.find_line(text, at, end, self.shows_matches);
            let (start, stop) = match hit {
                Some(hit) => (
                    memchr::memrchr(end, &text[at..hit.at]).map_or(at, |i| at + i + 1),
                    memchr::memchr(end, &lines[hit.at..]).map_or(lines.len(), |i| hit.at + i + 1),
                ),
                None => (lines.len(), lines.len()),
            };
            self.first = hit.and_then(|hit| hit.first).map(|(a, b)| (a - start, b - start));
            if self.config.invert {
                if self.select_all(lines, at, start)? {
                    return Ok(true);
                }
                if self.draining {
                    at = (self.after_last - self.base) as usize;
                    continue;
                }
                self.print_context(lines, start, stop)?;
            } else {
                self.print_context(lines, at, start)?;
                if start < stop && self.select_line(lines, start, stop)? {
                    return Ok(true);
                }
            }
            at = stop;
        }
        Ok(false)
    }

    /// Selects each line of a part (`-v`).
    fn select_all(&mut self, lines: &[u8], mut at: usize, stop: usize) -> io::Result<bool> {
        let end = self.config.end;
        if at == stop {
            return Ok(false);
        }
        let count_only = self.config.mode == GrepMode::Count && self.config.max_count.is_none();
        if count_only || self.stop_at_first {
            let part = &lines[at..stop];
            let open = u64::from(part.last() != Some(&end));
            self.selected += memchr::memchr_iter(end, part).count() as u64 + open;
            return Ok(self.stop_at_first);
        }
        while at < stop {
            let next = memchr::memchr(end, &lines[at..stop]).map_or(stop, |i| at + i + 1);
            if self.select_line(lines, at, next)? {
                return Ok(true);
            }
            at = next;
            if self.draining {
                break;
            }
        }
        Ok(false)
    }

    /// Handles a selected line. Returns `true` if nothing more is needed of this input.
    fn select_line(&mut self, lines: &[u8], start: usize, stop: usize) -> io::Result<bool> {
        self.selected += 1;
        self.after_last = self.base + stop as u64;
        if self.stop_at_first {
            return Ok(true);
        }
        if self.show {
            self.print_before(lines, start)?;
            self.print_line(lines, start, stop, true)?;
            self.after_left = self.config.after;
        }
        if self.config.max_count.is_some_and(|m| m <= self.selected) {
            self.draining = true;
            return Ok(!self.show || self.after_left == 0);
        }
        Ok(false)
    }

    /// Prints the leading context of a selected line, and the group separator.
    fn print_before(&mut self, lines: &[u8], start: usize) -> io::Result<()> {
        let end = self.config.end;
        let floor = self.last_printed.saturating_sub(self.base) as usize;
        let mut from = start;
        for _ in 0..self.config.before {
            if from <= floor {
                break;
            }
            from = memchr::memrchr(end, &lines[floor..from - 1]).map_or(floor, |i| floor + i + 1);
        }
        let adjacent = self.last_printed == self.base + from as u64 && self.last_printed > 0;
        if self.config.context_given && *self.printed && !adjacent {
            self.printer.print_separator()?;
        }
        self.print_all(lines, from, start, u64::MAX)
    }

    /// Handles lines that are not selected, which are printed as long as trailing context is due.
    fn print_context(&mut self, lines: &[u8], start: usize, stop: usize) -> io::Result<()> {
        if self.after_left == 0 || start >= stop {
            return Ok(());
        }
        let count = self.after_left;
        self.print_all(lines, start, stop, count)
    }

    /// Prints up to `count` context lines of a part.
    fn print_all(
        &mut self,
        lines: &[u8],
        mut at: usize,
        stop: usize,
        count: u64,
    ) -> io::Result<()> {
        let end = self.config.end;
        let mut left = count;
        while at < stop && left > 0 {
            let next = memchr::memchr(end, &lines[at..stop]).map_or(stop, |i| at + i + 1);
            self.print_line(lines, at, next, false)?;
            at = next;
            left -= 1;
        }
        if count != u64::MAX {
            self.after_left = left;
        }
        Ok(())
    }

    fn print_line(
        &mut self,
        lines: &[u8],
        start: usize,
        stop: usize,
        selected: bool,
    ) -> io::Result<()> {
        let text = &lines[start..stop];
        if self.config.binary != BinaryMode::Text
            && self.config.utf8
            && !text.is_ascii()
            && std::str::from_utf8(text).is_err()
        {
            // Such a line is not shown; only a message reports it.
            self.encoding_error = true;
            return Ok(());
        }
        let offset = self.base + start as u64;
        let number = if self.config.line_number { self.line_number(lines, start) } else { 0 };
        self.last_printed = self.base + stop as u64;
        *self.printed = true;
        let first = self.first.filter(|_| selected);
        self.printer.print_line(SelectedLine { text, number, offset, selected, first })
    }

    /// Returns the number of the line that starts at `at`.
    fn line_number(&mut self, lines: &[u8], at: usize) -> u64 {
        self.count_to(lines, at);
        self.counted + 1
    }

    fn count_to(&mut self, lines: &[u8], at: usize) {
        let from = self.counted_to.saturating_sub(self.base) as usize;
        if from < at {
            let part = &lines[from..at];
            self.counted += memchr::memchr_iter(self.config.end, part).count() as u64;
            self.counted_to = self.base + at as u64;
        }
    }

    /// Returns the place up to which the window may be dropped: all but lines that may become
    /// leading context.
    fn keep_from(&mut self, lines: &[u8]) -> usize {
        let end = self.config.end;
        let floor = (self.last_printed.saturating_sub(self.base) as usize).min(lines.len());
        let mut keep = lines.len();
        if self.show {
            for _ in 0..self.config.before {
                if keep <= floor {
                    break;
                }
                keep =
                    memchr::memrchr(end, &lines[floor..keep - 1]).map_or(floor, |i| floor + i + 1);
            }
        }
        if self.config.line_number {
            self.count_to(lines, keep);
        }
        keep
    }
}
