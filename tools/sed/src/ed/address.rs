//! Addresses: `3`, `$`, `.`, `'a`, `/re/`, `?re?`, `+2`; ranges by `,` and `;`.

use super::{Editor, Result, fail_with};

/// A command line, and the number of bytes of it that were read.
pub(super) struct EdCommandText<'a> {
    pub line: &'a [u8],
    pub at: usize,
}

impl<'a> EdCommandText<'a> {
    /// Returns the next byte without consuming it.
    pub fn peek_byte(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Returns the unparsed rest of the line.
    pub fn rest_bytes(&self) -> &'a [u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// Skips blanks.
    pub fn skip_blanks(&mut self) {
        while matches!(self.peek_byte(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Consumes a decimal number, if one is next.
    pub fn take_number(&mut self) -> Option<usize> {
        let len = self.rest_bytes().iter().take_while(|c| c.is_ascii_digit()).count();
        let digits = std::str::from_utf8(&self.rest_bytes()[..len]).ok()?;
        let n = digits.parse().ok()?;
        self.at += len;
        Some(n)
    }

    /// Consumes and returns the text up to a delimiter, and consumes the delimiter. Escaped
    /// delimiters, and those within brackets, are part of the text.
    pub fn take_until(&mut self, delimiter: u8) -> Vec<u8> {
        let mut out = Vec::new();
        let mut brackets = false;
        while let Some(c) = self.peek_byte() {
            self.at += 1;
            match c {
                b'\\' => match self.peek_byte() {
                    Some(next) => {
                        self.at += 1;
                        if next != delimiter || brackets {
                            out.push(b'\\');
                        }
                        out.push(next);
                    }
                    None => out.push(c),
                },
                b'[' if !brackets
                    && self.rest_bytes().get(1..).is_some_and(|r| r.contains(&b']')) =>
                {
                    brackets = true;
                    out.push(c);
                    for first in [b'^', b']'] {
                        if self.peek_byte() == Some(first) {
                            self.at += 1;
                            out.push(first);
                        }
                    }
                }
                b']' => {
                    brackets = false;
                    out.push(c);
                }
                c if c == delimiter && !brackets => return out,
                _ => out.push(c),
            }
        }
        out
    }
}

/// The lines that a command applies to, and the number of addresses given.
#[derive(Clone, Copy, Debug)]
pub(super) struct EdLines {
    pub from: usize,
    pub to: usize,
    pub given: usize,
}

impl Editor<'_, '_> {
    pub(super) fn parse_range(&mut self, t: &mut EdCommandText<'_>) -> Result<EdLines> {
        t.skip_blanks();
        let one = self.parse_address(t)?;
        t.skip_blanks();
        let mut addresses: Vec<usize> = one.into_iter().collect();
        let mut given = addresses.len();
        let separator =
            t.peek_byte().filter(|c| matches!(c, b',' | b';') || *c == b'%' && one.is_none());
        if let Some(c) = separator {
            t.at += 1;
            let first = match (one, c) {
                (Some(n), _) => n,
                (None, b';') => self.current,
                (None, _) => 1,
            };
            if c == b';' {
                self.current = first;
            }
            t.skip_blanks();
            let open = if one.is_none() { self.lines.len() } else { first };
            let mut second = self.parse_address(t)?.unwrap_or(open);
            addresses = vec![first, second];
            given = 2;
            t.skip_blanks();
            // Of more than two addresses, the last two count.
            while let Some(c @ (b',' | b';')) = t.peek_byte() {
                if c == b';' {
                    self.current = second;
                }
                t.at += 1;
                let next = self.parse_address(t)?.unwrap_or(second);
                addresses = vec![second, next];
                second = next;
                t.skip_blanks();
            }
        }
        let (from, to) = match addresses.as_slice() {
            [] => (self.current, self.current),
            [one] => (*one, *one),
            [from, to, ..] => (*from, *to),
        };
        if from > to || to > self.lines.len() {
            return fail_with("Invalid address");
        }
        Ok(EdLines { from, to, given })
    }

    fn parse_address(&mut self, t: &mut EdCommandText<'_>) -> Result<Option<usize>> {
        let mut base: Option<i64> = None;
        match t.peek_byte() {
            Some(b'0'..=b'9') => {
                let n = t.take_number().ok_or("Number out of range")?;
                base = Some(i64::try_from(n).unwrap_or(i64::MAX / 2));
            }
            Some(b'.') => {
                t.at += 1;
                base = Some(self.current as i64);
            }
            Some(b'$') => {
                t.at += 1;
                base = Some(self.lines.len() as i64);
            }
            Some(b'\'') => {
                let mark = t.line.get(t.at + 1).copied().unwrap_or(0);
                t.at += 2;
                let id = self.marks.get(&mark).copied();
                let at = self.lines.iter().position(|l| Some(l.id) == id);
                if !mark.is_ascii_lowercase() {
                    return fail_with("Invalid mark character");
                }
                base = Some(at.ok_or("Invalid address")? as i64 + 1);
            }
            Some(c @ (b'/' | b'?')) => {
                t.at += 1;
                let text = t.take_until(c);
                base = Some(self.search_line(&text, c == b'/')? as i64);
            }
            _ => {}
        }
        // Any number of offsets may follow; a number without a sign counts as `+`.
        loop {
            t.skip_blanks();
            let sign = match t.peek_byte() {
                Some(b'+') => 1,
                Some(b'-') => -1,
                Some(b'0'..=b'9') if base.is_some() => 0,
                _ => break,
            };
            if sign != 0 {
                t.at += 1;
            }
            let n = match t.peek_byte() {
                Some(b'0'..=b'9') => t.take_number().ok_or("Number out of range")?,
                _ => 1,
            };
            let n = i64::try_from(n).unwrap_or(i64::MAX / 4);
            let from = base.unwrap_or(self.current as i64);
            base = Some(from.saturating_add(if sign < 0 { -n } else { n }));
        }
        match base {
            None => Ok(None),
            Some(n) => match usize::try_from(n) {
                Ok(n) if n <= self.lines.len() => Ok(Some(n)),
                _ => fail_with("Invalid address"),
            },
        }
    }

    /// Returns the next line that matches; the search continues at the other end of the buffer.
    fn search_line(&mut self, text: &[u8], forward: bool) -> Result<usize> {
        let regex = self.compile_regex(text, false)?;
        let n = self.lines.len();
        for step in 1..=n {
            let at = if forward {
                (self.current + step - 1) % n
            } else {
                (self.current + 2 * n - step - 1) % n
            };
            if regex.is_match(&self.lines[at].text) {
                return Ok(at + 1);
            }
        }
        fail_with("No match")
    }
}
