//! Groups in parentheses: those of extended patterns and of regular expressions.
//!
//! Bash finds the end of such a group by the parentheses, to which `${` and `$[` are nothing, and
//! looks into `$(...)` when it expands the word: what is no error before is one then, and in
//! listings the command stands as it was written. Where a command does not end with its
//! parentheses, as with a comment or a pattern of `case` in it, the group ends within the command
//! or the other way round.

use super::table::{self, BREAK, QUOTE, is};
use super::word::Builder;
use super::{Machine, Res};
use crate::ast::WordPart;
use crate::error::SyntaxError;

impl Machine<'_, '_> {
    /// `( ... )` as text of an extglob or regular expression, expansions and quotes inside it
    /// parsed; blanks and operators are ordinary in it.
    #[inline(never)]
    pub fn paren_group(&mut self, b: &mut Builder) -> Res<()> {
        let line = self.line;
        let start = self.pos;
        let mut depth = 0usize;
        // Known beforehand where an expansion does not end with its parentheses.
        let mut end = None;
        loop {
            let run = table::run_without(self.rest(), BREAK | QUOTE);
            if run > 0 {
                let pos = self.pos;
                b.literal(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            if end == Some(self.pos) {
                return Ok(());
            }
            let Some(c) = self.peek() else { return Err(self.unclosed(b')', line)) };
            match c {
                b'(' => depth += 1,
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && end.is_none() {
                        b.literal(b")");
                        self.pos += 1;
                        return Ok(());
                    }
                }
                b'\n' => self.add_lines(1),
                b'$' if matches!(self.peek_at(1), Some(b'{' | b'[' | b'(')) => {
                    if self.dollar_in_group(b, start, &mut end)? {
                        return Ok(());
                    }
                    continue;
                }
                _ if is(c, QUOTE) => {
                    self.quoting(b, c)?;
                    continue;
                }
                _ if !is(c, BREAK) => continue,
                _ => {}
            }
            b.literal(&[c]);
            self.pos += 1;
        }
    }

    /// `${`, `$[` or `$(` in the group that begins at `start`. True if the group ends within it,
    /// which leaves a bad substitution, or if it does not parse.
    fn dollar_in_group(
        &mut self,
        b: &mut Builder,
        start: usize,
        end: &mut Option<usize>,
    ) -> Res<bool> {
        let (mark, from) = (self.mark(), self.pos);
        let result = self.quoting(b, b'$');
        let text = self.src.get(from..self.pos).unwrap_or_default();
        let command = self.src.get(from + 1) == Some(&b'(');
        let even = match &result {
            Ok(()) if command => self.ends_with_parentheses(from),
            Ok(()) => memchr::memchr2(b'(', b')', text).is_none(),
            Err(e) if e.is_limit() => return result.map(|()| false),
            Err(_) => false,
        };
        if command && result.is_ok() {
            self.as_written(from);
        }
        if even && end.is_none() {
            return Ok(false);
        }
        let after = self.mark();
        let group_end = match *end {
            Some(at) => at,
            None => {
                self.rewind(&mark);
                let lines = self.src[start..from].iter().filter(|c| **c == b'\n').count();
                self.take_lines(lines as u32);
                self.pos = start + 1;
                self.closing_paren()? + 1
            }
        };
        *end = Some(group_end);
        if result.is_err() || after.pos > group_end {
            self.rewind(&mark);
            self.advance_to(group_end);
            b.part(match result {
                Err(e) if command || !e.incomplete => self.error_in_group(*e, from, mark.line),
                Ok(()) if command => {
                    let e = self.unclosed(b')', mark.line);
                    self.error_in_group(*e, from, mark.line)
                }
                _ => super::param::bad_part(),
            });
            return Ok(true);
        }
        self.rewind(&after);
        Ok(false)
    }

    /// Whether what has been read from `from` on, a command, ends with its parentheses. Only
    /// comments, documents and the patterns of `case` may have others.
    fn ends_with_parentheses(&mut self, from: usize) -> bool {
        let text = self.src.get(from..self.pos).unwrap_or_default();
        let has = |what: &[u8]| memchr::memmem::find(text, what).is_some();
        if !has(b"#") && !has(b"<<") && !has(b"case") {
            return true;
        }
        let after = self.mark();
        self.pos = from + b"$(".len();
        let end = self.closing_paren();
        self.rewind(&after);
        end.is_ok_and(|end| end + 1 == after.pos)
    }

    /// The error of a command in a group, from its place to `pos`, as bash tells it when it
    /// expands the word: lines count anew from the one on which the group is read, and what is
    /// left of the text is the source line.
    fn error_in_group(&self, mut e: SyntaxError, from: usize, line: u32) -> WordPart {
        let lines = e.line.saturating_sub(line);
        if let Some((_, source)) = e.more.last_mut()
            && source.starts_with(b"`")
        {
            let text = self.src.get(from + 2..self.pos).unwrap_or_default();
            let left = text.split(|c| *c == b'\n').nth(lines as usize).unwrap_or_default();
            *source = [b"`", left, b"'"].concat().into();
        }
        e.more.iter_mut().for_each(|(number, _)| *number += lines + 1);
        e.line = e.line.wrapping_add(lines + 1);
        super::command_sub::failing(&e)
    }
}
