//! The comparison of addresses with the current line (GNU sed manual 4), and the states of ranges.

use std::rc::Rc;

use box_text::regex::Regex;

use super::{Result, SedMachine};
use crate::error::SedRunError;
use crate::script::{RangeEnd, SedAddress, SedCommand, SedPattern, Select};

/// The end of a range that ends only at a match of its pattern, or at `$`.
const OPEN: u64 = u64::MAX;

impl SedMachine<'_, '_> {
    #[inline]
    pub(super) fn is_selected(&mut self, select: &Select) -> Result<bool> {
        match select {
            Select::All => Ok(true),
            Select::One(a) => self.address_matches(a),
            Select::Range(first, end, state) => self.in_range(first, end, *state),
        }
    }

    fn address_matches(&mut self, a: &SedAddress) -> Result<bool> {
        let line = self.input.line;
        Ok(match a {
            SedAddress::Line(n) => line == *n,
            SedAddress::Step(first, step) => on_step(line, *first, *step),
            SedAddress::Last => self.is_last()?,
            SedAddress::Regex(p) => self.pattern_matches(p)?,
            SedAddress::Zero => false,
        })
    }

    /// Returns the compiled pattern; an empty one means the last one used.
    pub(super) fn pattern_regex(&mut self, p: &SedPattern) -> Result<Rc<Regex>> {
        match p {
            SedPattern::Regex(re) => {
                self.last_regex = Some(re.clone());
                Ok(re.clone())
            }
            SedPattern::Last => self.last_regex.clone().ok_or_else(|| {
                SedRunError::Fatal(
                    1,
                    "-e expression #1, char 0: no previous regular expression".into(),
                )
            }),
        }
    }

    fn pattern_matches(&mut self, p: &SedPattern) -> Result<bool> {
        let re = self.pattern_regex(p)?;
        Ok(re.is_match(&self.space))
    }

    fn in_range(&mut self, first: &SedAddress, end: &RangeEnd, state: usize) -> Result<bool> {
        let line = self.input.line;
        let Some(until) = self.ranges.get(state).copied().flatten() else {
            let starts = match first {
                // If other commands consumed the line at which a range begins, it begins at the
                // next line that this command sees.
                SedAddress::Line(n) if line > *n && !self.started[state] => {
                    !matches!(end, RangeEnd::Line(m) if line > *m)
                }
                other => self.address_matches(other)?,
            };
            if !starts {
                return Ok(false);
            }
            self.started[state] = true;
            // The end of the range; a line that is not after the current one makes the range one
            // line long.
            let until = match end {
                RangeEnd::Line(n) => *n,
                RangeEnd::Count(n) => line.saturating_add(*n),
                RangeEnd::Multiple(0) => line,
                // The next multiple, even if this line is one itself.
                RangeEnd::Multiple(n) => (line / n).saturating_add(1).saturating_mul(*n),
                RangeEnd::Step(..) | RangeEnd::Regex(_) => OPEN,
                RangeEnd::Last => {
                    if self.is_last()? {
                        return Ok(true);
                    }
                    OPEN
                }
            };
            if until > line {
                self.ranges[state] = Some(until);
            }
            return Ok(true);
        };
        let ended = match end {
            RangeEnd::Regex(p) => self.pattern_matches(p)?,
            RangeEnd::Last => self.is_last()?,
            RangeEnd::Step(first, step) => on_step(line, *first, *step),
            _ => {
                // Commands that read more lines may have passed the end.
                if line > until {
                    self.ranges[state] = None;
                    return self.begin_range_again(first, end, state);
                }
                line == until
            }
        };
        if ended {
            self.ranges[state] = None;
        }
        Ok(true)
    }

    /// Checks whether a line after a range begins the next range.
    fn begin_range_again(
        &mut self,
        first: &SedAddress,
        end: &RangeEnd,
        state: usize,
    ) -> Result<bool> {
        match first {
            SedAddress::Line(_) => Ok(false),
            _ => self.in_range(first, end, state),
        }
    }

    /// Resets all ranges at the start of a separate file.
    pub(super) fn reset_ranges(&mut self) {
        self.ranges.iter_mut().for_each(|r| *r = None);
        self.started.iter_mut().for_each(|s| *s = false);
        for n in &self.script.active {
            self.ranges[*n] = Some(OPEN);
        }
    }

    /// Returns whether a range ends at this line, where `c` prints its text.
    pub(super) fn range_ended(&self, command: &SedCommand) -> bool {
        match &command.select {
            Select::Range(_, _, state) if !command.negate => {
                self.ranges.get(*state).copied().flatten().is_none()
            }
            _ => true,
        }
    }
}

fn on_step(line: u64, first: u64, step: u64) -> bool {
    if step == 0 { line == first } else { line >= first && (line - first).is_multiple_of(step) }
}
