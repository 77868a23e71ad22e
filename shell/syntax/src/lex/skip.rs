//! Finding a closing bracket without parsing the text before it.

use super::{CommandParser, Res};

impl CommandParser<'_, '_> {
    /// Skips a bad `${...}`, from after its brace to after the closing one. Quotes, nested
    /// expansions and backquotes hide a `}`; single quotes do so only with `singles`.
    pub fn skip_braces(&mut self, line: u32, quoted: bool, singles: bool) -> Res<()> {
        // The closing characters of open brackets, innermost last.
        let mut open: Vec<u8> = Vec::new();
        loop {
            let Some(c) = self.peek_byte() else {
                return Err(self.unclosed_error(open.last().copied().unwrap_or(b'}'), line));
            };
            let in_braces = matches!(open.last(), None | Some(b'}'));
            match (c, self.peek_at(1)) {
                // The substitution is parsed as in any other place, and its printed form becomes
                // its spelling.
                (b'$', Some(b'(')) if open.last() != Some(&b'`') => {
                    self.lex_dollar(quoted)?;
                    continue;
                }
                (b'<' | b'>', Some(b'(')) if in_braces && !self.mode.heredoc => {
                    self.process_sub()?;
                    continue;
                }
                (b'\\', Some(b'\n')) => {
                    self.cut_continuation();
                    continue;
                }
                (b'$', _)
                    if self.behind_dollar() == Some(b'\'')
                        && in_braces
                        && singles
                        && !self.mode.heredoc
                        && !(quoted && self.opts.posix) =>
                {
                    self.ansi_quoted()?;
                    continue;
                }
                _ => {}
            }
            self.pos += 1;
            match c {
                b'\n' => self.add_lines(1),
                b'\\' => self.pos += usize::from(self.peek_byte().is_some()),
                _ if open.last() == Some(&c) => drop(open.pop()),
                b'}' if open.is_empty() => return Ok(()),
                b'\'' if singles && open.last() != Some(&b'"') => {
                    let from = self.line;
                    let Some(i) = memchr::memchr(b'\'', self.rest_bytes()) else {
                        return Err(self.unclosed_error(b'\'', from));
                    };
                    let end = self.pos + i + 1;
                    self.advance_to(end);
                }
                b'"' | b'`' => open.push(c),
                b'$' if self.peek_byte() == Some(b'{') => {
                    self.pos += 1;
                    open.push(b'}');
                }
                b'$' if self.peek_byte() == Some(b'[') && open.last() != Some(&b'`') => {
                    self.pos += 1;
                    open.push(b']');
                }
                _ => {}
            }
        }
    }

    /// Moves from after the `((` at `pos` to after its `))` and returns the range between them if
    /// this is arithmetic. If it is two subshells, rewinds.
    pub fn skip_double_paren(&mut self) -> Res<Option<(usize, usize)>> {
        let mark = self.mark_place();
        let start = self.pos;
        let end = self.closing_paren()?;
        if self.peek_joined() == Some(b')') {
            self.pos += 1;
            return Ok(Some((start, end)));
        }
        self.st.not_arith.insert(start - 1);
        self.rewind_to(&mark);
        Ok(None)
    }

    /// Moves to after the `)` that closes a `(` before `pos`, over nested ones and quotes, and
    /// returns its place.
    pub fn closing_paren(&mut self) -> Res<usize> {
        let line = self.line;
        let mut depth = 0usize;
        loop {
            let Some(c) = self.peek_byte() else { return Err(self.unclosed_error(b')', line)) };
            self.pos += 1;
            match c {
                b'\n' => self.add_lines(1),
                b'\\' => {
                    if let Some(e) = self.peek_byte() {
                        self.add_lines(u32::from(e == b'\n'));
                        self.pos += 1;
                    }
                }
                b'$' if self.peek_joined() == Some(b'\'') => {
                    self.pos += 1;
                    self.skip_quote(b'\'', true)?;
                }
                b'\'' | b'"' | b'`' => self.skip_quote(c, c != b'\'')?,
                b'(' => depth += 1,
                b')' if depth > 0 => depth -= 1,
                b')' => return Ok(self.pos - 1),
                _ => {}
            }
        }
    }

    /// Moves from after a quote character to after the one that closes it. With `escapes`, a
    /// backslash hides a quote.
    fn skip_quote(&mut self, quote: u8, escapes: bool) -> Res<()> {
        let line = self.line;
        loop {
            let Some(c) = self.peek_byte() else { return Err(self.unclosed_error(quote, line)) };
            self.pos += 1;
            match c {
                b'\n' => self.add_lines(1),
                b'\\' if escapes => {
                    if let Some(e) = self.peek_byte() {
                        self.add_lines(u32::from(e == b'\n'));
                        self.pos += 1;
                    }
                }
                _ if c == quote => return Ok(()),
                _ => {}
            }
        }
    }
}
