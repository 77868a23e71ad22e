//! Addresses: line numbers, `$`, patterns, steps, ranges.

use super::{Result, SedParser};
use crate::script::{RangeEnd, SedAddress, SedPattern, Select};

impl SedParser<'_> {
    pub(super) fn parse_select(&mut self) -> Result<Select> {
        let Some(first) = self.parse_address()? else { return Ok(Select::All) };
        self.skip_blanks();
        if self.peek_byte() != Some(b',') {
            if matches!(first, SedAddress::Zero) {
                // As in GNU sed, the error's position is that after the command.
                self.skip_blanks();
                self.at += 1;
                return self.error_here("invalid usage of line address 0");
            }
            return Ok(Select::One(first));
        }
        self.at += 1;
        self.skip_blanks();
        let end = self.range_end()?;
        let zero_allowed = matches!(end, RangeEnd::Regex(_)) && !self.dialect.posix;
        if matches!(first, SedAddress::Zero) && !zero_allowed {
            self.at += 1;
            return self.error_here("invalid usage of line address 0");
        }
        let state = self.script.ranges;
        self.script.ranges += 1;
        if matches!(first, SedAddress::Zero) {
            self.script.active.push(state);
        }
        Ok(Select::Range(first, end, state))
    }

    fn parse_address(&mut self) -> Result<Option<SedAddress>> {
        Ok(Some(match self.peek_byte() {
            Some(b'$') => {
                self.at += 1;
                SedAddress::Last
            }
            Some(b'/' | b'\\') => SedAddress::Regex(self.address_pattern()?),
            Some(c) if c.is_ascii_digit() => {
                let n = self.parse_number().unwrap_or(0);
                self.skip_blanks();
                if self.peek_byte() == Some(b'~') && !self.dialect.posix {
                    self.at += 1;
                    self.skip_blanks();
                    let step = self.parse_number().unwrap_or(0);
                    return Ok(Some(if step == 0 && n > 0 {
                        SedAddress::Line(n)
                    } else if step == 0 {
                        SedAddress::Step(0, 0)
                    } else {
                        SedAddress::Step(n, step)
                    }));
                }
                if n == 0 { SedAddress::Zero } else { SedAddress::Line(n) }
            }
            Some(b'+' | b'~') => {
                self.at += 2;
                return self.error_here("invalid usage of +N or ~N as first address");
            }
            Some(b',') => {
                self.at += 1;
                return self.error_here("unexpected `,'");
            }
            _ => return Ok(None),
        }))
    }

    fn range_end(&mut self) -> Result<RangeEnd> {
        if let Some(c @ (b'+' | b'~')) = self.peek_byte() {
            self.at += 1;
            if self.dialect.posix {
                return self.error_here("unexpected `,'");
            }
            // GNU sed takes a missing number for 0.
            let n = self.parse_number().unwrap_or(0);
            return Ok(if c == b'+' { RangeEnd::Count(n) } else { RangeEnd::Multiple(n) });
        }
        match self.parse_address() {
            Ok(Some(SedAddress::Line(n))) => Ok(RangeEnd::Line(n)),
            Ok(Some(SedAddress::Zero)) => Ok(RangeEnd::Line(0)),
            Ok(Some(SedAddress::Last)) => Ok(RangeEnd::Last),
            Ok(Some(SedAddress::Regex(p))) => Ok(RangeEnd::Regex(p)),
            Ok(Some(SedAddress::Step(a, b))) => Ok(RangeEnd::Step(a, b)),
            Ok(None) => {
                self.at += 1;
                self.error_here("unexpected `,'")
            }
            Err(e) => Err(e),
        }
    }

    /// Parses `/re/flags` or `\cREcflags`.
    fn address_pattern(&mut self) -> Result<SedPattern> {
        if self.take_byte() == Some(b'\\') {
            self.at += 1;
        }
        let delimiter = self.text.get(self.at - 1).copied().unwrap_or(b'/');
        if self.at > self.text.len() || matches!(delimiter, b'\n' | b'\\') {
            self.at = self.at.min(self.text.len());
            return self.error_here("unterminated address regex");
        }
        let Some(body) = self.read_delimited(delimiter, true) else {
            return self.error_here("unterminated address regex");
        };
        let (mut icase, mut multiline) = (false, false);
        loop {
            match self.peek_byte().filter(|_| !self.dialect.posix) {
                Some(b'I') => icase = true,
                Some(b'M') => multiline = true,
                _ => break,
            }
            self.at += 1;
        }
        self.compile_pattern(&body, icase, multiline)
    }
}
