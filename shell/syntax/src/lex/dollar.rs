//! Expansions that begin with a `$` (POSIX XCU 2.6; bash manual 3.5).

use super::table::{self, DIGIT, NAME, NAME_START, has_class};
use super::{CommandParser, Res};
use crate::ast::{Param, ParamName, ParamOp, WordPart};
use crate::lex::mode::TextContext;

impl CommandParser<'_, '_> {
    /// Lexes the expansion at `pos`, which is at a `$`. If the `$` is ordinary text, consumes it
    /// and returns `None`. `$'...'` gives a `Quoted` part. `quoted` says that the `$` is inside
    /// double quotes or a here-document.
    pub fn lex_dollar(&mut self, quoted: bool) -> Res<Option<WordPart>> {
        let start = self.pos;
        self.pos += 1;
        let Some(c) = self.peek_joined() else { return Ok(None) };
        if has_class(c, NAME_START) {
            let name = self.name();
            return Ok(Some(self.plain_param(start, ParamName::Variable(name))));
        }
        match c {
            b'{' => self.braced_param(start, quoted).map(Some),
            b'(' => self.dollar_paren(start).map(Some),
            b'[' => {
                self.pos += 1;
                self.dollar_bracket(quoted).map(Some)
            }
            b'\'' | b'"' if self.mode.heredoc && self.mode.doc_operand => Ok(None),
            b'\'' if !quoted => {
                self.pos -= 1;
                let text = self.ansi_quoted()?;
                if self.words > 0 {
                    // This also removes any line continuation before the quote.
                    self.edit_from(start, box_text::escape::single_quote(&text));
                }
                Ok(Some(WordPart::Quoted(text.into())))
            }
            b'"' if !quoted => {
                if self.words > 0 {
                    self.edit_from(start, Vec::new());
                }
                self.double_quoted(false).map(Some)
            }
            _ if has_class(c, DIGIT) => {
                self.pos += 1;
                let name = if c == b'0' {
                    ParamName::Special(b'0')
                } else {
                    ParamName::Positional(u32::from(c - b'0'))
                };
                Ok(Some(self.plain_param(start, name)))
            }
            b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => {
                self.pos += 1;
                Ok(Some(self.plain_param(start, ParamName::Special(c))))
            }
            _ => Ok(None),
        }
    }

    /// Lexes `$[...]`, with `pos` after the bracket.
    #[inline(never)]
    fn dollar_bracket(&mut self, quoted: bool) -> Res<WordPart> {
        self.enter_nested(4)?;
        let line = self.line;
        let arith = self.arith_until(super::arith_text::ArithEnd::Bracket, line, quoted)?;
        self.leave_nested(4);
        Ok(WordPart::Arith(arith))
    }

    #[inline(never)]
    fn plain_param(&self, start: usize, name: ParamName) -> WordPart {
        WordPart::Param(Box::new(Param {
            name,
            subscript: None,
            indirect: false,
            op: ParamOp::Plain,
            raw: self.raw_from(start),
        }))
    }

    /// Lexes the name at `pos`, over line continuations.
    pub fn name(&mut self) -> Box<[u8]> {
        let start = self.pos;
        let run = table::run_with(self.rest_bytes(), NAME);
        self.pos += run;
        if !matches!(self.peek_byte(), Some(b'\\')) || self.peek_at(1) != Some(b'\n') {
            return self.src.get(start..self.pos).unwrap_or_default().into();
        }
        let mut name = self.src.get(start..self.pos).unwrap_or_default().to_vec();
        while let Some(b) = self.peek_joined() {
            if !has_class(b, NAME) {
                break;
            }
            name.push(b);
            self.pos += 1;
        }
        name.into_boxed_slice()
    }

    /// Lexes `$(` or `$((`, with `pos` at the first parenthesis and `start` at the `$`.
    #[inline(never)]
    fn dollar_paren(&mut self, start: usize) -> Res<WordPart> {
        self.pos += 1;
        if self.peek_joined() == Some(b'(') && !self.not_arith.contains(&start) {
            let mark = self.mark_place();
            let line = self.line;
            self.pos += 1;
            self.enter_nested(4)?;
            match self.arith_until(super::arith_text::ArithEnd::Parens, line, false) {
                Ok(arith) => {
                    self.leave_nested(4);
                    return Ok(WordPart::Arith(arith));
                }
                Err(e) if e.is_limit() => return Err(e),
                Err(arith_error) => {
                    // `$((a); b)` is a command substitution.
                    self.rewind_to(&mark);
                    self.not_arith.insert(start);
                    let sub = self.lex_within(TextContext::Substitution, Self::command_sub);
                    return sub.map_err(|e| {
                        if e.incomplete && arith_error.incomplete {
                            self.unclosed_error(b')', line)
                        } else {
                            e
                        }
                    });
                }
            }
        }
        self.lex_within(TextContext::Substitution, Self::command_sub)
    }
}
