//! Assignments: `name=value`, `name+=value`, `name[sub]=value`, `name=(...)`
//! (POSIX XCU 2.9.1; bash manual 3.4, 6.7).

use super::table::{self, BREAK, NAME, has_class};
use super::token::{Lexeme, Tk, TokenContext};
use super::word::WordBuilder;
use super::{CommandParser, Res};
use crate::ast::{ArrayElement, AssignValue, Assignment, Word, WordPart};

pub(crate) enum AssignLexeme {
    Assign(Lexeme),
    /// An ordinary word, which is to be lexed from its start; no byte before `bracket_end` ends it.
    Word {
        bracket_end: usize,
    },
}

impl CommandParser<'_, '_> {
    /// Returns whether the plain run `start..end` can be an assignment at all.
    #[inline]
    pub fn may_assign(&self, start: usize, end: usize) -> bool {
        let run = self.src.get(start..end).unwrap_or_default();
        let n = table::run_with(run, NAME);
        n > 0 && matches!(run.get(n), Some(b'=' | b'[' | b'+'))
    }

    /// Lexes the assignment at `pos`, if it is one; consumes nothing otherwise.
    #[inline(never)]
    pub fn lex_assignment(&mut self, ctx: TokenContext) -> Res<AssignLexeme> {
        let mark = self.mark_place();
        let (start, line) = (self.pos, self.line);
        let name = self.name();
        let mut subscript = None;
        let mut bracket_end = start;
        if self.peek_joined() == Some(b'[') {
            let open = self.pos;
            if !ctx.has_any(TokenContext::ASSIGN) && !self.closes_without_break() {
                self.rewind_to(&mark);
                return Ok(AssignLexeme::Word { bracket_end });
            }
            subscript = Some(self.lex_subscript()?);
            if ctx.has_any(TokenContext::ASSIGN) && self.has_break(open, self.pos) {
                bracket_end = self.pos;
            }
        }
        let append = self.peek_joined() == Some(b'+') && self.peek_at(1) == Some(b'=');
        if append {
            self.pos += 1;
        }
        if self.peek_joined() != Some(b'=') {
            self.rewind_to(&mark);
            return Ok(AssignLexeme::Word { bracket_end });
        }
        self.pos += 1;
        let (value, is_text) =
            if self.peek_joined() == Some(b'(') && !ctx.has_any(TokenContext::SCALAR) {
                self.compound_value(ctx)?
            } else {
                (AssignValue::Scalar(self.lex_plain_word(ctx, start)?), false)
            };
        let raw = self.raw_from(start);
        if ctx.has_any(TokenContext::LET) && !is_text {
            // In `eval a=(1 2)`, the builtin receives the text.
            if matches!(value, AssignValue::Scalar(_)) {
                self.rewind_to(&mark);
                return Ok(AssignLexeme::Word { bracket_end });
            }
            let word = Word { parts: vec![WordPart::Quoted(raw.to_vec().into())], raw };
            return Ok(AssignLexeme::Assign(Lexeme::Word(word)));
        }
        let assignment = Assignment { name, subscript, append, value, raw, line };
        Ok(AssignLexeme::Assign(Lexeme::Assign(Box::new(assignment))))
    }

    /// Lexes `(...)` after `=`. Also returns whether it is only the beginning of a word (`a=(x)y`).
    fn compound_value(&mut self, ctx: TokenContext) -> Res<(AssignValue, bool)> {
        let from = self.pos;
        let before = self.mark_place();
        let elements = self.lex_array()?;
        if self.peek_joined().is_some_and(|c| !has_class(c, BREAK)) {
            let end = self.pos;
            self.rewind_to(&before);
            return Ok((AssignValue::Scalar(self.lex_plain_word(ctx, end)?), true));
        }
        let mut text = vec![b'('];
        for (i, e) in elements.iter().enumerate() {
            if i > 0 {
                text.push(b' ');
            }
            crate::print::array_element(&mut text, e);
        }
        text.push(b')');
        if self.src.get(from..self.pos) != Some(text.as_slice()) {
            self.edit_from(from, text);
        }
        Ok((AssignValue::Array(elements), false))
    }

    /// Returns whether the `[` at `pos` is closed before a blank or operator ends the word.
    fn closes_without_break(&self) -> bool {
        let rest = self.rest_bytes();
        let mut depth = 0usize;
        let mut i = 0;
        while let Some(&c) = rest.get(i) {
            match c {
                b'[' => depth += 1,
                b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return true;
                    }
                }
                b'\\' => i += 1,
                b'\'' | b'"' => match memchr::memchr(c, rest.get(i + 1..).unwrap_or_default()) {
                    Some(n) => i += n + 1,
                    None => return false,
                },
                _ if has_class(c, BREAK) && !rest.get(..i).is_some_and(|s| s.contains(&b'$')) => {
                    return false;
                }
                b'\n' => return false,
                _ => {}
            }
            i += 1;
        }
        false
    }

    /// Lexes `( ... )` of a compound assignment, with `pos` at the parenthesis.
    #[inline(never)]
    pub fn lex_array(&mut self) -> Res<Vec<ArrayElement>> {
        let line = self.line;
        self.pos += 1;
        self.enter_nested(2)?;
        let mut elements = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek_byte() {
                None => return Err(self.unclosed_error(b')', line)),
                Some(b')') => {
                    self.pos += 1;
                    break;
                }
                Some(b'\n') => {
                    self.pos += 1;
                    self.add_lines(1);
                    if self.docs.is_due() {
                        self.read_heredocs()?;
                    }
                }
                Some(c)
                    if has_class(c, BREAK)
                        && !(matches!(c, b'<' | b'>') && self.peek_at(1) == Some(b'(')) =>
                {
                    // An operator is read as a token, which the message shows.
                    match self.next_kind(TokenContext::ARG)? {
                        Tk::Word => {
                            self.skip_token();
                        }
                        _ => return Err(self.unexpected_token_error()),
                    }
                }
                Some(c) if c.is_ascii_digit() && self.at_io_number() => {
                    self.next_kind(TokenContext::COMMAND)?;
                    return Err(self.unexpected_token_error());
                }
                Some(_) => elements.push(self.array_element()?),
            }
        }
        self.leave_nested(2);
        Ok(elements)
    }

    /// Returns whether there are digits at `pos` with a redirection after them.
    fn at_io_number(&self) -> bool {
        let digits = self.rest_bytes().iter().take_while(|c| c.is_ascii_digit()).count();
        let behind = self.rest_bytes().get(digits..).unwrap_or_default();
        matches!(behind, [b'<' | b'>', next, ..] if *next != b'(')
    }

    #[inline(never)]
    fn array_element(&mut self) -> Res<ArrayElement> {
        let mut keep_until = self.pos;
        if self.peek_byte() == Some(b'[') {
            let mark = self.mark_place();
            let key = self.lex_subscript()?;
            let bracket_end = self.pos;
            let append = self.peek_joined() == Some(b'+') && self.peek_at(1) == Some(b'=');
            if append {
                self.pos += 1;
            }
            if self.peek_joined() == Some(b'=') {
                self.pos += 1;
                let value = self.lex_plain_word(TokenContext::ARG, self.pos)?;
                return Ok(ArrayElement { key: Some(key), append, value });
            }
            // This is a word that merely starts with a bracket; blanks in the brackets belong to
            // it.
            self.rewind_to(&mark);
            keep_until = bracket_end;
        }
        let value = self.lex_plain_word(TokenContext::ARG, keep_until)?;
        Ok(ArrayElement { key: None, append: false, value })
    }
}

/// Returns a text that is known at run time as a literal word.
pub(crate) fn quoted_word(text: &[u8]) -> Word {
    let mut b = WordBuilder::default();
    b.push_quoted(text);
    Word { parts: b.finish_parts(), raw: text.into() }
}
