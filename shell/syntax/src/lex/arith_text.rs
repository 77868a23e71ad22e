//! The text of arithmetic: `$((...))`, `$[...]`, `((...))`, offsets of substrings.
//!
//! The text is lexed as if within double quotes, but each `"` in it is removed (bash manual 3.5.5).

use std::rc::Rc;

use box_text::escape::single_quote;

use super::word::WordBuilder;
use super::{CommandParser, Res};
use crate::ast::{ArithText, Word};
use crate::error::SyntaxCause;
use crate::lex::mode::TextContext;

/// The delimiter that ends the text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ArithEnd {
    /// `))`, which is consumed.
    Parens,
    /// `]`, which is consumed.
    Bracket,
    /// `}`, or a `:` outside parentheses and `?:`, neither of which is consumed.
    ColonOrBrace,
    /// `}`, which is not consumed.
    Brace,
    /// The end of the input.
    #[default]
    Input,
}

/// The open quotes and brackets at a place of an expression.
#[derive(Default)]
struct ArithScan {
    end: ArithEnd,
    in_braces: bool,
    /// Whether the text of `$'...'` is inserted without quotes.
    bare: bool,
    parens: usize,
    brackets: usize,
    ternaries: usize,
    /// An open quote, whose only effect is that it hides the end of the expression.
    quote: Option<u8>,
}

impl ArithScan {
    /// Returns the closing character that is missing at the end of the input, or `None` if none is
    /// missing.
    fn missing_closer(&self) -> Option<u8> {
        match self.end {
            ArithEnd::Input => None,
            ArithEnd::Parens => Some(self.quote.unwrap_or(b')')),
            ArithEnd::Bracket => Some(self.quote.unwrap_or(b']')),
            ArithEnd::ColonOrBrace | ArithEnd::Brace => Some(match self.quote {
                Some(quote) if self.in_braces && !(self.bare && quote == b'"') => quote,
                _ => b'}',
            }),
        }
    }

    /// Returns whether quotes hide this byte from the search for the end.
    fn is_hidden(&self, c: u8) -> bool {
        self.quote.is_some()
            && match c {
                b'(' | b')' => self.end == ArithEnd::Parens,
                b'[' | b']' => self.end == ArithEnd::Bracket,
                b':' | b'}' => self.in_braces,
                _ => false,
            }
    }

    /// Returns whether the expression ends before this byte, or with it.
    fn is_end(&self, c: u8) -> bool {
        !self.is_hidden(c)
            && match (self.end, c) {
                (ArithEnd::Parens, b')') => self.parens == 0,
                (ArithEnd::Bracket, b']') => self.brackets == 0,
                (ArithEnd::ColonOrBrace, b':') => self.ternaries == 0 && self.parens == 0,
                (ArithEnd::ColonOrBrace | ArithEnd::Brace, b'}') => true,
                _ => false,
            }
    }

    /// Opens or closes a quote.
    fn toggle_quote(&mut self, c: u8) {
        match self.quote {
            None => self.quote = Some(c),
            Some(open) if open == c => self.quote = None,
            Some(_) => {}
        }
    }

    /// Skips a byte that is not the end.
    fn count_byte(&mut self, c: u8) {
        match c {
            c if self.is_hidden(c) => {}
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b'[' => self.brackets += 1,
            b']' => self.brackets = self.brackets.saturating_sub(1),
            b'?' => self.ternaries += 1,
            b':' => self.ternaries = self.ternaries.saturating_sub(1),
            b'\'' => self.toggle_quote(c),
            _ => {}
        }
    }
}

impl CommandParser<'_, '_> {
    /// Lexes the expression up to `end`. `line` is the line of its beginning, for the message. With
    /// `bare`, the text of `$'...'` is inserted without quotes, as within double quotes.
    pub fn arith_until(&mut self, end: ArithEnd, line: u32, bare: bool) -> Res<Rc<ArithText>> {
        let start = self.pos;
        self.begin_word();
        let word = self.arith_word(end, line, start, bare)?;
        self.end_word();
        Ok(Rc::new(crate::arith::from_word(word)))
    }

    #[inline(never)]
    fn arith_word(&mut self, end: ArithEnd, line: u32, start: usize, bare: bool) -> Res<Word> {
        let mut b = WordBuilder::default();
        let in_braces =
            matches!(end, ArithEnd::ColonOrBrace | ArithEnd::Brace) && !self.mode.heredoc;
        let mut s = ArithScan { end, in_braces, bare, ..ArithScan::default() };
        let raw_end = loop {
            b.quoted_run(self.run(|c| STOP[c as usize]));
            let Some(c) = self.peek_byte() else {
                match s.missing_closer() {
                    None => break self.pos,
                    Some(close) => return Err(self.unclosed_error(close, line)),
                }
            };
            if s.is_end(c) {
                let at = self.pos;
                self.over_end(end, line)?;
                break at;
            }
            match c {
                b'<' | b'>' if in_braces && s.quote.is_none() && self.has_process_sub() => {
                    let text = self.process_text()?;
                    b.push_quoted(&text);
                }
                b'"' => {
                    s.toggle_quote(c);
                    self.pos += 1;
                }
                b'\\' | b'$' | b'`' => self.arith_special(&mut b, c, &s)?,
                c => {
                    s.count_byte(c);
                    self.add_lines(u32::from(c == b'\n'));
                    b.push_quoted(&[c]);
                    self.pos += 1;
                }
            }
        };
        Ok(b.into_word(self.raw_spelling(start, raw_end)))
    }

    /// Consumes the delimiter at `pos` that ends the expression, unless the caller consumes it.
    fn over_end(&mut self, end: ArithEnd, line: u32) -> Res<()> {
        match end {
            ArithEnd::Bracket => self.pos += 1,
            ArithEnd::Parens => {
                self.pos += 1;
                if self.peek_joined() != Some(b')') {
                    // This is not `))`, so the caller parses nested parentheses instead.
                    return Err(
                        self.make_error(line, SyntaxCause::UnexpectedToken(b")"[..].into()))
                    );
                }
                self.pos += 1;
            }
            ArithEnd::ColonOrBrace | ArithEnd::Brace | ArithEnd::Input => {}
        }
        Ok(())
    }

    /// Lexes a backslash, `$` or backquote.
    fn arith_special(&mut self, b: &mut WordBuilder, c: u8, s: &ArithScan) -> Res<()> {
        let next = self.peek_at(1);
        let kept = match (c, next) {
            (b'\\', Some(b'\'')) if s.quote == Some(b'\'') => 1,
            (b'\\', Some(b'(' | b')' | b'\'')) => 2,
            (b'\\', Some(b']')) if s.end == ArithEnd::Bracket => 2,
            (b'\\', Some(b':' | b'}')) if s.in_braces => 2,
            _ => 0,
        };
        if kept > 0 {
            let pos = self.pos;
            b.push_quoted(self.src.get(pos..pos + kept).unwrap_or_default());
            self.pos += kept;
            return Ok(());
        }
        if c == b'$'
            && s.quote.is_none()
            && !self.mode.heredoc
            && matches!(self.behind_dollar(), Some(b'\'' | b'"'))
            && !((s.in_braces || s.end == ArithEnd::Input) && self.dollar_is_text())
        {
            return self.translate_quote(b, s.bare);
        }
        let kept = !s.bare && s.quote != Some(b'"') && !self.mode.heredoc;
        self.lex_within(TextContext::Arithmetic { kept }, |m| m.dquote_special(b, c, true))
    }

    /// Turns `$'...'` into text in single quotes, which have no meaning here (or without them if
    /// `bare`), and removes the `$` of `$"`.
    #[inline(never)]
    pub fn translate_quote(&mut self, b: &mut WordBuilder, bare: bool) -> Res<()> {
        let start = self.pos;
        if self.behind_dollar() == Some(b'"') {
            self.over_dollar();
            self.edit_from(start, Vec::new());
            return Ok(());
        }
        let line = self.line;
        let decoded = self.ansi_quoted()?;
        let text = if bare {
            self.edit_from(start, decoded.clone());
            decoded
        } else {
            single_quote(&decoded)
        };
        let mut inner = self.inner(super::operand::outside_quotes(&text), line);
        inner.dquoted_text(b)
    }
}

static STOP: [bool; 256] = {
    let mut t = [false; 256];
    let stops = b"<>()[]?:}\"'\n\\$`";
    let mut i = 0;
    while i < stops.len() {
        t[stops[i] as usize] = true;
        i += 1;
    }
    t
};
