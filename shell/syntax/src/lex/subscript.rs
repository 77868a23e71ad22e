//! `[...]` after a name: an index or a key; which of them is known only at run time.

use super::table::{self, BREAK, QUOTE, has_class};
use super::word::WordBuilder;
use super::{CommandParser, Res};
use crate::ast::{Subscript, Word};

impl CommandParser<'_, '_> {
    /// Lexes the subscript whose `[` is at `pos` and consumes its `]`.
    pub fn lex_subscript(&mut self) -> Res<Subscript> {
        let line = self.line;
        match self.subscript_or_brace(false)? {
            Some(s) => Ok(s),
            None => Err(self.unclosed_error(b']', line)),
        }
    }

    /// Lexes a subscript inside `${...}`; returns `None` if a `}` comes first.
    #[inline(never)]
    pub fn subscript_or_brace(&mut self, in_braces: bool) -> Res<Option<Subscript>> {
        self.pos += 1;
        if self.peek_at(1) == Some(b']') {
            let whole = match self.peek_byte() {
                Some(b'@') => Some(Subscript::At),
                Some(b'*') => Some(Subscript::Star),
                _ => None,
            };
            if let Some(s) = whole {
                self.pos += 2;
                return Ok(Some(s));
            }
        }
        self.enter_nested(4)?;
        let word = self.subscript_word(true, in_braces)?;
        self.leave_nested(4);
        Ok(word.map(|w| Subscript::Expr(crate::arith::from_word(w))))
    }

    /// Lexes the word of a subscript: with `closed`, up to its `]`, which is consumed, and
    /// otherwise up to the end of the input. Returns `None` if the `]` is missing or a `}` comes
    /// before it.
    #[inline(never)]
    pub fn subscript_word(&mut self, closed: bool, in_braces: bool) -> Res<Option<Word>> {
        let start = self.pos;
        let mut b = WordBuilder::default();
        let mut depth = 0usize;
        let end;
        loop {
            b.push_literal(self.run(|c| has_class(c, QUOTE) || b"[]}<>\n".contains(&c)));
            let Some(c) = self.peek_byte() else {
                if closed {
                    return Ok(None);
                }
                end = self.pos;
                break;
            };
            match c {
                b'[' => depth += 1,
                b']' if depth > 0 => depth -= 1,
                b'}' if in_braces => return Ok(None),
                b']' if closed => {
                    end = self.pos;
                    self.pos += 1;
                    break;
                }
                b']' | b'}' => {}
                b'\n' => self.add_lines(1),
                b'<' | b'>' if closed && self.has_process_sub() => {
                    b.push_literal(&self.process_text()?);
                    continue;
                }
                b'<' | b'>' => {}
                b'$' if self.dollar_is_text() => {}
                _ if has_class(c, QUOTE) => {
                    self.lex_quoting(&mut b, c)?;
                    continue;
                }
                _ => continue,
            }
            b.push_literal(&[c]);
            self.pos += 1;
        }
        Ok(Some(b.into_word(self.raw_spelling(start, end))))
    }

    /// Returns whether the `$` at `pos` has no meaning before a quote.
    pub fn dollar_is_text(&mut self) -> bool {
        match self.behind_dollar() {
            Some(b'\'') => self.mode.ansi.none || self.mode.run_time,
            Some(b'"') => self.mode.run_time || self.mode.heredoc && self.mode.ansi.none,
            _ => false,
        }
    }

    /// Returns whether the bytes in `start..end` have an unquoted blank or operator.
    pub fn has_break(&self, start: usize, end: usize) -> bool {
        let s = self.src.get(start..end).unwrap_or_default();
        table::run_without(s, BREAK) < s.len()
    }
}
