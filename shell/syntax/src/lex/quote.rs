//! Quoting (POSIX XCU 2.2; bash manual 3.1.2).

use box_text::escape::{ansi_c, single_quote};

use super::table::{DQUOTE, has_class};
use super::word::WordBuilder;
use super::{CommandParser, Res};
use crate::ast::WordPart;
use crate::lex::mode::TextContext;

impl CommandParser<'_, '_> {
    /// Lexes `\c` outside quotes.
    pub fn lex_backslash(&mut self, b: &mut WordBuilder) {
        match self.peek_at(1) {
            Some(b'\n') => self.cut_continuation(),
            Some(c) => {
                b.push_quoted(&[c]);
                self.pos += 2;
            }
            // A backslash at the end of input stands for itself.
            None => {
                b.push_quoted(b"\\");
                let start = self.pos;
                self.pos += 1;
                if self.words > 0 {
                    self.edit_from(start, b"\\\\".to_vec());
                }
            }
        }
    }

    /// Returns the position of the next `'`, reading input as needed.
    pub(super) fn find_single_quote(&mut self, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            if let Some(i) = memchr::memchr(b'\'', self.src.get(at..).unwrap_or_default()) {
                return Some(at + i);
            }
            at = self.src.len();
            let n = at.saturating_sub(self.pos);
            self.peek_at(n)?;
        }
    }

    /// Lexes `'...'`.
    pub fn single_quoted(&mut self, b: &mut WordBuilder) -> Res<()> {
        let line = self.line;
        let start = self.pos + 1;
        let Some(end) = self.find_single_quote(start) else {
            return Err(self.unclosed_error(b'\'', line));
        };
        b.push_quoted(self.src.get(start..end).unwrap_or_default());
        self.advance_to(end + 1);
        Ok(())
    }

    /// Lexes `$'...'`, with `pos` at the `$`, which line continuations may follow. Its spelling
    /// becomes plain single quotes, as in bash.
    pub fn ansi_quoted(&mut self) -> Res<Vec<u8>> {
        let line = self.line;
        let start = self.pos;
        self.over_dollar();
        let quote = self.pos;
        let mut at = quote + 1;
        loop {
            let n = at - self.pos;
            match self.peek_at(n) {
                None => return Err(self.unclosed_error(b'\'', line)),
                Some(b'\\') => {
                    let n = at + 1 - self.pos;
                    if self.peek_at(n).is_none() {
                        return Err(self.unclosed_error(b'\'', line));
                    }
                    at += 2;
                }
                Some(b'\'') => break,
                Some(_) => at += 1,
            }
        }
        let text = ansi_c(self.src.get(quote + 1..at).unwrap_or_default());
        self.advance_to(at + 1);
        if self.words > 0 {
            self.edit_from(start, single_quote(&text));
        }
        Ok(text)
    }

    /// Lexes `"..."`, with `pos` at the opening quote. `nested` says that it is in the operand of a
    /// quoted `${...}`, where a backslash quotes any character (bash 5.2: `"${x-"\a"}"` is `a`).
    #[inline(never)]
    pub fn double_quoted(&mut self, nested: bool) -> Res<WordPart> {
        let line = self.line;
        self.pos += 1;
        self.enter_nested(1)?;
        let mut b = WordBuilder::default();
        self.lex_within(TextContext::DoubleQuotes, |m| m.up_to_quote(&mut b, nested, line))?;
        self.leave_nested(1);
        Ok(WordPart::DoubleQuoted(b.finish_parts()))
    }

    /// Lexes the text of double quotes up to the closing one.
    fn up_to_quote(&mut self, b: &mut WordBuilder, nested: bool, line: u32) -> Res<()> {
        loop {
            b.quoted_run(self.run_of_lines(|c| has_class(c, DQUOTE)));
            match self.peek_byte() {
                None => return Err(self.unclosed_error(b'"', line)),
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') if nested => self.lex_backslash(b),
                Some(c) if has_class(c, DQUOTE) => self.dquote_special(b, c, true)?,
                Some(_) => {}
            }
        }
    }

    /// Lexes a backslash, `$` or backquote in double quotes or a here-document. `quote` says
    /// whether a backslash may escape `"`.
    pub fn dquote_special(&mut self, b: &mut WordBuilder, c: u8, quote: bool) -> Res<()> {
        match c {
            b'\\' => match self.peek_at(1) {
                Some(b'\n') => self.cut_continuation(),
                Some(e @ (b'$' | b'`' | b'\\')) => {
                    b.push_quoted(&[e]);
                    self.pos += 2;
                }
                Some(b'"') if quote => {
                    b.push_quoted(b"\"");
                    self.pos += 2;
                }
                _ => {
                    b.push_quoted(b"\\");
                    self.pos += 1;
                }
            },
            b'`' => {
                let part = self.lex_backquoted(quote)?;
                b.push_part(part);
            }
            _ => match self.lex_dollar(true)? {
                Some(part) => b.push_part(part),
                None => b.push_quoted(b"$"),
            },
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use box_text::escape::ansi_c;

    /// The expected values are those of `printf %s $'...' | od -c` in bash 5.2.15.
    #[test]
    fn ansi() {
        for (text, want) in [
            (&br"a\nb"[..], &b"a\nb"[..]),
            (br"\x41\x4", b"A\x04"),
            (br"\101\1012", b"AA2"),
            (br"\u20ac", "\u{20ac}".as_bytes()),
            (br"\q\x", br"\q\x"),
            (br"\cA\c?", b"\x01\x7f"),
            (br"ab\0cd", b"ab"),
            (br"\x{41}z", b"Az"),
            (br"\'\?", b"'?"),
        ] {
            assert_eq!(ansi_c(text), want, "{}", String::from_utf8_lossy(text));
        }
    }
}
