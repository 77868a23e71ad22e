//! The text of arithmetic: `$((...))`, `$[...]`, `((...))`, offsets of substrings.
//!
//! The text is taken as if within double quotes; a `"` itself is dropped (bash manual 3.5.5).

use std::rc::Rc;

use super::word::Builder;
use super::{Machine, Res};
use crate::ast::{Arith, Word};

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
    /// The expression up to `end`. `line`: where it began, for the message.
    pub fn arith_until(&mut self, end: End, line: u32) -> Res<Rc<Arith>> {
        let start = self.pos;
        self.begin_word();
        let word = self.arith_word(end, line, start)?;
        self.end_word();
        Ok(Rc::new(crate::arith::from_word(word)))
    }

    #[inline(never)]
    fn arith_word(&mut self, end: End, line: u32, start: usize) -> Res<Word> {
        let mut b = Builder::default();
        let (mut parens, mut brackets, mut ternaries) = (0usize, 0usize, 0usize);
        // Quotes hide parentheses from the end of `$((...))`, and nothing else.
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
                    End::Parens if quote.is_some() => quote.unwrap_or(b')'),
                    End::Bracket => b']',
                    End::ColonOrBrace | End::Brace => b'}',
                    _ => b')',
                };
                return Err(self.unclosed(close, line));
            };
            match c {
                b'(' | b')' if quote.is_some() => {}
                b'(' => parens += 1,
                b')' if parens > 0 => parens -= 1,
                b')' if end == End::Parens => {
                    let at = self.pos;
                    self.pos += 1;
                    if self.peek_joined() != Some(b')') {
                        // Not `))`: the caller takes it for nested parentheses.
                        return Err(
                            self.error(line, &b"syntax error near unexpected token `)'"[..])
                        );
                    }
                    self.pos += 1;
                    raw_end = at;
                    break;
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
                    if end == End::Parens && quote.is_none_or(|open| open == c) {
                        quote = if quote.is_none() { Some(c) } else { None };
                    }
                    if c == b'"' {
                        self.pos += 1;
                        continue;
                    }
                }
                b'\n' => self.line += 1,
                b'\\' if matches!(self.peek_at(1), Some(b'(' | b')' | b'\'')) => {
                    b.quoted(b"\\");
                    self.pos += 1;
                    let escaped = self.pos;
                    b.quoted(self.src.get(escaped..escaped + 1).unwrap_or_default());
                    self.pos += 1;
                    continue;
                }
                b'\\' | b'$' | b'`' => {
                    self.st.in_arith = true;
                    self.dquote_special(&mut b, c, true)?;
                    self.st.in_arith = false;
                    continue;
                }
                _ if !STOP[c as usize] => continue,
                _ => {}
            }
            b.quoted(&[c]);
            self.pos += 1;
        }
        Ok(b.into_word(self.raw(start, raw_end)))
    }
}

static STOP: [bool; 256] = {
    let mut t = [false; 256];
    let stops = b"()[]?:}\"'\n\\$`";
    let mut i = 0;
    while i < stops.len() {
        t[stops[i] as usize] = true;
        i += 1;
    }
    t
};
