//! The text of arithmetic: `$((...))`, `$[...]`, `((...))`, offsets of substrings.
//!
//! The text is taken as if within double quotes; a `"` itself is dropped (bash manual 3.5.5).

use std::rc::Rc;

use box_text::escape::single_quote;

use super::word::Builder;
use super::{Machine, Res};
use crate::ast::{Arith, Word};
use crate::error::Cause;
use crate::lex::mode::Inside;

/// What ends the text.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum End {
    /// `))`, used up.
    Parens,
    /// `]`, used up.
    Bracket,
    /// `:` or `}` outside parentheses and `?:`, not used up.
    ColonOrBrace,
    /// `}`, not used up.
    Brace,
    /// The end of the input.
    #[default]
    Input,
}

/// What is open at a place of an expression.
#[derive(Default)]
struct Scan {
    end: End,
    in_braces: bool,
    /// `$'...'` gets no quotes.
    bare: bool,
    parens: usize,
    brackets: usize,
    ternaries: usize,
    /// Quotes hide what ends the expression, and nothing else.
    quote: Option<u8>,
}

impl Scan {
    /// What the end of the input is missing; `None`: nothing.
    fn closer(&self) -> Option<u8> {
        match self.end {
            End::Input => None,
            End::Parens => Some(self.quote.unwrap_or(b')')),
            End::Bracket => Some(self.quote.unwrap_or(b']')),
            End::ColonOrBrace | End::Brace => Some(match self.quote {
                Some(quote) if self.in_braces && !(self.bare && quote == b'"') => quote,
                _ => b'}',
            }),
        }
    }

    /// Whether quotes hide this byte from what looks for the end.
    fn hides(&self, c: u8) -> bool {
        self.quote.is_some()
            && match c {
                b'(' | b')' => self.end == End::Parens,
                b'[' | b']' => self.end == End::Bracket,
                b':' | b'}' => self.in_braces,
                _ => false,
            }
    }

    /// Whether the expression ends before this byte, or with it.
    fn is_end(&self, c: u8) -> bool {
        !self.hides(c)
            && match (self.end, c) {
                (End::Parens, b')') => self.parens == 0,
                (End::Bracket, b']') => self.brackets == 0,
                (End::ColonOrBrace, b':') => self.ternaries == 0 && self.parens == 0,
                (End::ColonOrBrace | End::Brace, b'}') => true,
                _ => false,
            }
    }

    /// A quote opens or closes.
    fn quoted(&mut self, c: u8) {
        match self.quote {
            None => self.quote = Some(c),
            Some(open) if open == c => self.quote = None,
            Some(_) => {}
        }
    }

    /// Passes over a byte that is no end.
    fn count(&mut self, c: u8) {
        match c {
            c if self.hides(c) => {}
            b'(' => self.parens += 1,
            b')' => self.parens = self.parens.saturating_sub(1),
            b'[' => self.brackets += 1,
            b']' => self.brackets = self.brackets.saturating_sub(1),
            b'?' => self.ternaries += 1,
            b':' => self.ternaries = self.ternaries.saturating_sub(1),
            b'\'' => self.quoted(c),
            _ => {}
        }
    }
}

impl Machine<'_, '_> {
    /// The expression up to `end`. `line`: where it began, for the message. `bare`: `$'...'` gets
    /// no quotes, as within double quotes.
    pub fn arith_until(&mut self, end: End, line: u32, bare: bool) -> Res<Rc<Arith>> {
        let start = self.pos;
        self.begin_word();
        let word = self.arith_word(end, line, start, bare)?;
        self.end_word();
        Ok(Rc::new(crate::arith::from_word(word)))
    }

    #[inline(never)]
    fn arith_word(&mut self, end: End, line: u32, start: usize, bare: bool) -> Res<Word> {
        let mut b = Builder::default();
        let in_braces = matches!(end, End::ColonOrBrace | End::Brace) && !self.mode.heredoc;
        let mut s = Scan { end, in_braces, bare, ..Scan::default() };
        let raw_end = loop {
            b.quoted_run(self.run(|c| STOP[c as usize]));
            let Some(c) = self.peek() else {
                match s.closer() {
                    None => break self.pos,
                    Some(close) => return Err(self.unclosed(close, line)),
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
                    b.quoted(&text);
                }
                b'"' => {
                    s.quoted(c);
                    self.pos += 1;
                }
                b'\\' | b'$' | b'`' => self.arith_special(&mut b, c, &s)?,
                c => {
                    s.count(c);
                    self.add_lines(u32::from(c == b'\n'));
                    b.quoted(&[c]);
                    self.pos += 1;
                }
            }
        };
        Ok(b.into_word(self.raw(start, raw_end)))
    }

    /// Uses up what ends the expression, with `pos` at it, unless it is the caller's.
    fn over_end(&mut self, end: End, line: u32) -> Res<()> {
        match end {
            End::Bracket => self.pos += 1,
            End::Parens => {
                self.pos += 1;
                if self.peek_joined() != Some(b')') {
                    // Not `))`: the caller takes it for nested parentheses.
                    return Err(self.error(line, Cause::UnexpectedToken(b")"[..].into())));
                }
                self.pos += 1;
            }
            End::ColonOrBrace | End::Brace | End::Input => {}
        }
        Ok(())
    }

    /// A backslash, `$` or backquote.
    fn arith_special(&mut self, b: &mut Builder, c: u8, s: &Scan) -> Res<()> {
        let next = self.peek_at(1);
        let kept = match (c, next) {
            (b'\\', Some(b'\'')) if s.quote == Some(b'\'') => 1,
            (b'\\', Some(b'(' | b')' | b'\'')) => 2,
            (b'\\', Some(b']')) if s.end == End::Bracket => 2,
            (b'\\', Some(b':' | b'}')) if s.in_braces => 2,
            _ => 0,
        };
        if kept > 0 {
            let pos = self.pos;
            b.quoted(self.src.get(pos..pos + kept).unwrap_or_default());
            self.pos += kept;
            return Ok(());
        }
        if c == b'$'
            && s.quote.is_none()
            && !self.mode.heredoc
            && matches!(self.behind_dollar(), Some(b'\'' | b'"'))
            && !((s.in_braces || s.end == End::Input) && self.dollar_is_text())
        {
            return self.translated(b, s.bare);
        }
        let kept = !s.bare && s.quote != Some(b'"') && !self.mode.heredoc;
        self.within(Inside::Arithmetic { kept }, |m| m.dquote_special(b, c, true))
    }

    /// `$'...'` becomes text in single quotes, which mean nothing here, `$"` a quote.
    #[inline(never)]
    pub fn translated(&mut self, b: &mut Builder, bare: bool) -> Res<()> {
        let start = self.pos;
        if self.behind_dollar() == Some(b'"') {
            self.over_dollar();
            self.edit_from(start, Vec::new());
            return Ok(());
        }
        let line = self.line;
        let decoded = self.ansi_quoted()?;
        let text = match bare {
            true => {
                self.edit_from(start, decoded.clone());
                decoded
            }
            false => single_quote(&decoded),
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
