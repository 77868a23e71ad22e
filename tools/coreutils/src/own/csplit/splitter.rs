//! Applies the patterns, one after the other.

use box_applet::{Ended, Exit};

use super::CsplitStop;
use super::lines::CsplitLines;
use super::patterns::{CutPattern, CutPlace, MatchPlace, Repetition};
use super::pieces::OutputPieces;
use crate::common::{input, quote};

/// The input and the pieces made of it.
pub(super) struct Splitter<'c, 'a> {
    lines: CsplitLines,
    pieces: OutputPieces<'c, 'a>,
    /// The number of the last line that matched, after which the next search begins.
    matched: u64,
}

impl<'c, 'a> Splitter<'c, 'a> {
    pub(super) fn new(lines: CsplitLines, pieces: OutputPieces<'c, 'a>) -> Splitter<'c, 'a> {
        Splitter { lines, pieces, matched: 0 }
    }

    /// Splits the input; returns the status to end with.
    pub(super) fn split(mut self, patterns: &[CutPattern]) -> Ended {
        let stop = match self.use_patterns(patterns) {
            Ok(()) => return Ok(Exit::SUCCESS),
            Err(stop) => stop,
        };
        let ctx = &mut *self.pieces.ctx;
        let exit = match stop {
            CsplitStop::Problem(text) => input::report_failure(ctx, &[&text]),
            CsplitStop::Read(e) => {
                let why = box_sys::error_text(&e);
                input::report_failure(ctx, &[b"read error: ", why.as_bytes()])
            }
            CsplitStop::Ended(exit) => exit,
        };
        // The size of the last piece is printed although the piece will be removed.
        let _ = self.pieces.end();
        self.pieces.remove_all();
        Err(exit)
    }

    fn use_patterns(&mut self, patterns: &[CutPattern]) -> Result<(), CsplitStop> {
        for pattern in patterns {
            let mut round = 0;
            while match pattern.repetition {
                Repetition::Times(times) => round <= times,
                Repetition::Endless => true,
            } {
                match &pattern.place {
                    CutPlace::Line(number) => self.cut_at_line(pattern, *number, round)?,
                    CutPlace::Match(place) => {
                        if !self.cut_at_match(pattern, place, round)? {
                            return Ok(());
                        }
                    }
                }
                round += 1;
            }
        }
        self.pieces.begin()?;
        self.take_rest()?;
        Ok(self.pieces.end()?)
    }

    /// Makes a piece of the lines before a number, or before a multiple of it.
    fn cut_at_line(
        &mut self,
        pattern: &CutPattern,
        number: u64,
        round: u64,
    ) -> Result<(), CsplitStop> {
        let number = number.saturating_mul(round.saturating_add(1));
        self.pieces.begin()?;
        while self.lines.first() < number {
            let Some(line) = self.lines.take()? else {
                return Err(problem(pattern, "line number out of range", round));
            };
            self.pieces.write(&line)?;
        }
        if self.lines.is_empty()? {
            return Err(problem(pattern, "line number out of range", round));
        }
        self.end_piece()
    }

    /// Makes a piece of the lines before the next match. Returns whether there is more to do; there
    /// is not if an endlessly repeated pattern no longer matches.
    fn cut_at_match(
        &mut self,
        pattern: &CutPattern,
        place: &MatchPlace,
        round: u64,
    ) -> Result<bool, CsplitStop> {
        if !place.is_dropping {
            self.pieces.begin()?;
        }
        let Some(line) = self.find_match(place)? else {
            if pattern.repetition == Repetition::Endless {
                self.take_rest()?;
                self.pieces.end()?;
                return Ok(false);
            }
            // As in GNU csplit, the message is printed before the rest of the input is read.
            let stop = problem(pattern, "match not found", round);
            self.take_rest()?;
            return Err(stop);
        };
        self.matched = line;
        let out_of_range = || problem(pattern, "line number out of range", 0);
        let end = line.checked_add_signed(place.offset).ok_or_else(out_of_range)?;
        if end < self.lines.first() {
            return Err(out_of_range());
        }
        while self.lines.first() < end {
            let taken = self.lines.take()?.ok_or_else(out_of_range)?;
            self.pieces.write(&taken)?;
        }
        self.matched = self.matched.max(end);
        self.end_piece()?;
        Ok(true)
    }

    /// Returns the number of the next line that matches. Lines before any possible cut are taken
    /// during the search.
    fn find_match(&mut self, place: &MatchPlace) -> Result<Option<u64>, CsplitStop> {
        let mut number = self.lines.first().max(self.matched + 1);
        loop {
            let earliest = number.saturating_add_signed(place.offset.min(0));
            while self.lines.first() < earliest {
                let Some(taken) = self.lines.take()? else { return Ok(None) };
                self.pieces.write(&taken)?;
            }
            let Some(line) = self.lines.get(number)? else { return Ok(None) };
            let is_match = place.regex.is_match(line);
            if place.regex.gave_up() {
                let text = b"the pattern takes too long to match".to_vec();
                return Err(CsplitStop::Problem(text));
            }
            if is_match {
                return Ok(Some(number));
            }
            number += 1;
        }
    }

    /// Ends a piece; drops the line after it if an option says so.
    fn end_piece(&mut self) -> Result<(), CsplitStop> {
        self.pieces.end()?;
        if self.pieces.options.suppresses_matched {
            self.lines.take()?;
        }
        Ok(())
    }

    fn take_rest(&mut self) -> Result<(), CsplitStop> {
        while let Some(line) = self.lines.take()? {
            self.pieces.write(&line)?;
        }
        Ok(())
    }
}

/// Returns the error about a pattern in a given repetition, which counts from zero.
fn problem(pattern: &CutPattern, why: &str, round: u64) -> CsplitStop {
    let shown = quote::quote_as_text(&pattern.text);
    let after = if round == 0 { String::new() } else { format!(" on repetition {round}") };
    CsplitStop::Problem([&shown[..], format!(": {why}{after}").as_bytes()].concat())
}
