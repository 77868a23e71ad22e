//! The text of arithmetic: `$((...))`, `$[...]`, `((...))`, offsets of substrings.
//!
//! The text is taken as if within double quotes; a `"` itself is dropped (bash manual 3.5.5).

use std::rc::Rc;

use box_text::escape::single_quote;

use super::word::Builder;
use super::{Machine, Res, SyntaxError};
use crate::ast::{Arith, Word};
use crate::error::Cause;
use crate::lex::mode::Inside;

/// What ends the text.
#[derive(Clone, Copy, PartialEq, Eq)]
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
    Input,
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
        let (mut parens, mut brackets, mut ternaries) = (0usize, 0usize, 0usize);
        let in_braces = matches!(end, End::ColonOrBrace | End::Brace) && !self.mode.heredoc;
        // Quotes hide what ends the expression, and nothing else.
        let mut quote = None;
        let raw_end;
        loop {
            let run =
                self.rest().iter().position(|&c| STOP[c as usize]).unwrap_or(self.rest().len());
            if run > 0 {
                let pos = self.pos;
                b.quoted(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            let Some(c) = self.peek() else {
                if end == End::Input {
                    raw_end = self.pos;
                    break;
                }
                let close = match end {
                    End::Parens => quote.unwrap_or(b')'),
                    End::Bracket => quote.unwrap_or(b']'),
                    End::ColonOrBrace | End::Brace => match quote {
                        Some(quote) if in_braces && !(bare && quote == b'"') => quote,
                        _ => b'}',
                    },
                    End::Input => b')',
                };
                return Err(self.unclosed(close, line));
            };
            match c {
                b'(' | b')' if end == End::Parens && quote.is_some() => {}
                b'(' => parens += 1,
                b')' if parens > 0 => parens -= 1,
                b')' if end == End::Parens => {
                    let at = self.pos;
                    self.pos += 1;
                    if self.peek_joined() != Some(b')') {
                        // Not `))`: the caller takes it for nested parentheses.
                        let cause = Cause::UnexpectedToken(b")"[..].into());
                        return Err(self.error(line, cause));
                    }
                    self.pos += 1;
                    raw_end = at;
                    break;
                }
                b'[' | b']' if end == End::Bracket && quote.is_some() => {}
                b':' | b'}' if in_braces && quote.is_some() => {}
                b'<' | b'>' if in_braces && quote.is_none() && self.has_process_sub() => {
                    let text = self.process_text()?;
                    b.quoted(&text);
                    continue;
                }
                b'[' => brackets += 1,
                b']' if brackets > 0 => brackets -= 1,
                b']' if end == End::Bracket => {
                    raw_end = self.pos;
                    self.pos += 1;
                    break;
                }
                b'?' => ternaries += 1,
                b':' if ternaries > 0 => ternaries -= 1,
                b':' | b'}' if end == End::ColonOrBrace && (parens == 0 || c == b'}') => {
                    raw_end = self.pos;
                    break;
                }
                b'}' if end == End::Brace => {
                    raw_end = self.pos;
                    break;
                }
                b'"' | b'\'' => {
                    if quote.is_none_or(|open| open == c) {
                        quote = if quote.is_none() { Some(c) } else { None };
                    }
                    if c == b'"' {
                        self.pos += 1;
                        continue;
                    }
                }
                b'\n' => self.add_lines(1),
                b'\\' if quote == Some(b'\'') && self.peek_at(1) == Some(b'\'') => {}
                b'$' if quote.is_none()
                    && !self.mode.heredoc
                    && matches!(self.behind_dollar(), Some(b'\'' | b'"'))
                    && !((in_braces || end == End::Input) && self.dollar_is_text()) =>
                {
                    self.translated(&mut b, bare)?;
                    continue;
                }
                b'\\'
                    if matches!(self.peek_at(1), Some(b'(' | b')' | b'\''))
                        || end == End::Bracket && self.peek_at(1) == Some(b']') =>
                {
                    b.quoted(b"\\");
                    self.pos += 1;
                    let escaped = self.pos;
                    b.quoted(self.src.get(escaped..escaped + 1).unwrap_or_default());
                    self.pos += 1;
                    continue;
                }
                b'\\' if in_braces && matches!(self.peek_at(1), Some(b':' | b'}')) => {
                    let escaped = self.pos;
                    b.quoted(self.src.get(escaped..escaped + 2).unwrap_or_default());
                    self.pos += 2;
                    continue;
                }
                b'\\' | b'$' | b'`' => {
                    let kept = !bare && quote != Some(b'"') && !self.mode.heredoc;
                    let inside = Inside::Arithmetic { kept };
                    self.within(inside, |m| m.dquote_special(&mut b, c, true))?;
                    continue;
                }
                _ if !STOP[c as usize] => continue,
                _ => {}
            }
            b.quoted(&[c]);
            self.pos += 1;
        }
        let mut word = b.into_word(self.raw(start, raw_end));
        if !word.raw.contains(&b'"') {
            super::param::spell_bad(&mut word.parts, &word.raw);
        }
        Ok(word)
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
        let mut inner = self.inner(super::again::outside_quotes(&text), line);
        inner.dquoted_text(b).map_err(|(e, _)| e)
    }

    /// An expression with a `${` that nothing closes: bash finds out when it expands the text.
    pub fn unclosed_brace(text: &[u8], e: &SyntaxError) -> Option<Arith> {
        if e.cause != Cause::Unclosed(b'}') {
            return None;
        }
        let mut parts = vec![super::param::bad_part()];
        super::param::name_bad(&mut parts, text);
        Some(Arith { word: Word { parts, raw: text.into() }, expr: None })
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
