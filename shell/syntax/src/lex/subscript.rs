//! `[...]` after a name: an index or a key, known at run time only.

use super::table::{self, BREAK, QUOTE, is};
use super::word::Builder;
use super::{Machine, Res};
use crate::ast::{Subscript, Word};

impl Machine<'_, '_> {
    /// The subscript at `pos`, which is at the `[`; used up with its `]`.
    pub fn subscript(&mut self) -> Res<Subscript> {
        let line = self.line;
        self.pos += 1;
        if self.peek_at(1) == Some(b']') {
            let whole = match self.peek() {
                Some(b'@') => Some(Subscript::At),
                Some(b'*') => Some(Subscript::Star),
                _ => None,
            };
            if let Some(s) = whole {
                self.pos += 2;
                return Ok(s);
            }
        }
        self.enter(2)?;
        let word = self.subscript_word(Some(line))?;
        self.leave(2);
        Ok(Subscript::Expr(crate::arith::from_word(word)))
    }

    /// The word up to the `]` that closes it, which is used up; without `line`, up to the end of
    /// the input.
    pub fn subscript_word(&mut self, line: Option<u32>) -> Res<Word> {
        let start = self.pos;
        let mut b = Builder::default();
        let mut depth = 0usize;
        let end;
        loop {
            let run = self
                .rest()
                .iter()
                .position(|&c| is(c, QUOTE) || matches!(c, b'[' | b']' | b'\n'))
                .unwrap_or(self.rest().len());
            if run > 0 {
                let pos = self.pos;
                b.literal(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            let Some(c) = self.peek() else {
                match line {
                    Some(line) => return Err(self.unclosed(b']', line)),
                    None => {
                        end = self.pos;
                        break;
                    }
                }
            };
            match c {
                b'[' => depth += 1,
                b']' if depth > 0 => depth -= 1,
                b']' if line.is_some() => {
                    end = self.pos;
                    self.pos += 1;
                    break;
                }
                b']' => {}
                b'\n' => self.line += 1,
                _ if is(c, QUOTE) => {
                    self.quoting(&mut b, c)?;
                    continue;
                }
                _ => continue,
            }
            b.literal(&[c]);
            self.pos += 1;
        }
        Ok(Word { parts: b.finish(), raw: self.raw(start, end) })
    }

    /// Whether the bytes in `start..end` have an unquoted blank or operator.
    pub fn has_break(&self, start: usize, end: usize) -> bool {
        let s = self.src.get(start..end).unwrap_or_default();
        table::run_without(s, BREAK) < s.len()
    }
}
