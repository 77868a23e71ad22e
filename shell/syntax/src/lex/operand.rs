//! The word after the operator in `${name OP word}`.
//!
//! Outside double quotes, and for patterns and replacements everywhere, it is read like an
//! unquoted word in which blanks and operators are ordinary. In `"${x:-word}"` its text counts as
//! double-quoted: only `"..."`, backslash and expansions are special, though single quotes
//! still pair up and hide a `}` (bash 5.2 outside POSIX mode).

use super::table::{DQUOTE, NAME, QUOTE, is};
use super::word::Builder;
use super::{Machine, Res};
use crate::ast::{Param, ParamName, Word, WordPart};
use crate::error::SyntaxError;

/// What ends the operand, itself not used up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    Brace,
    /// The same, behind `-`, `=`, `?` and `+`.
    WordBrace,
    SlashOrBrace,
    /// The same, but a slash at the very beginning is text.
    LaterSlashOrBrace,
}

impl Machine<'_, '_> {
    #[inline(never)]
    pub fn operand(&mut self, stop: Stop, quoted: bool) -> Res<Word> {
        self.begin_word();
        let start = self.pos;
        let mut b = Builder::default();
        if quoted {
            self.quoted_operand(&mut b)?;
            self.end_word();
            let raw = self.raw_from(start);
            let mut parts = b.finish();
            let whole = without_quotes(&raw);
            parts.iter_mut().for_each(|part| match part {
                WordPart::DoubleQuoted(inside) => super::param::name_bad(inside, &whole),
                part => super::param::name_bad(std::slice::from_mut(part), &whole),
            });
            super::arith_end::name_lost(&mut parts, &raw);
            return Ok(Word { parts, raw });
        } else {
            if stop == Stop::LaterSlashOrBrace && self.peek() == Some(b'/') {
                b.literal(b"/");
                self.pos += 1;
            }
            self.plain_operand(&mut b, stop)?;
        }
        self.end_word();
        Ok(b.into_word(self.raw_from(start)))
    }

    fn plain_operand(&mut self, b: &mut Builder, stop: Stop) -> Res<()> {
        let line = self.line;
        loop {
            let run = self
                .rest()
                .iter()
                .position(|&c| is(c, QUOTE) || matches!(c, b'}' | b'/' | b'\n' | b'<' | b'>'))
                .unwrap_or(self.rest().len());
            if run > 0 {
                let pos = self.pos;
                b.literal(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            let Some(c) = self.peek() else { return Err(self.unclosed(b'}', line)) };
            match c {
                b'}' => return Ok(()),
                b'/' if !matches!(stop, Stop::Brace | Stop::WordBrace) => return Ok(()),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    let part = self.process_sub()?;
                    b.part(part);
                    continue;
                }
                b'\n' => self.line += 1,
                b'$' if stop == Stop::WordBrace
                    && self.quoted_sub
                    && self.peek_at(1) == Some(b'\'')
                    && self.unquote_ansi()? =>
                {
                    continue;
                }
                _ if is(c, QUOTE) => {
                    self.quoting(b, c)?;
                    continue;
                }
                b'/' | b'<' | b'>' => {}
                _ => continue,
            }
            b.literal(&[c]);
            self.pos += 1;
        }
    }

    /// `"$(: ${x-$'...'})"`: to bash the operand stands within the double quotes, so that it puts
    /// the text there without quotes, to be read with what is around it. Where that would hide
    /// the end of something it is not done.
    fn unquote_ansi(&mut self) -> Res<bool> {
        let (mark, start) = (self.mark(), self.pos);
        let text = self.ansi_quoted()?;
        let spelled = self.src.get(start + 2..self.pos - 1).unwrap_or_default();
        let hides = hides_end(&text, spelled) || text.contains(&b'}');
        let end = self.pos;
        self.rewind(&mark);
        if hides {
            return Ok(false);
        }
        self.splice(start, end, &text);
        // Its newlines are no lines of the source.
        let lines = memchr::memchr_iter(b'\n', &text).count();
        self.line = self.line.wrapping_sub(lines as u32);
        Ok(true)
    }

    fn quoted_operand(&mut self, b: &mut Builder) -> Res<()> {
        let line = self.line;
        loop {
            let run = self
                .rest()
                .iter()
                .position(|&c| is(c, DQUOTE) || matches!(c, b'}' | b'\'' | b'\n'))
                .unwrap_or(self.rest().len());
            if run > 0 {
                let pos = self.pos;
                b.quoted(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            let Some(c) = self.peek() else { return Err(self.unclosed(b'}', line)) };
            match c {
                b'}' => return Ok(()),
                b'\'' if !self.opts.posix => {
                    self.single_in_double(b)?;
                    continue;
                }
                b'\n' => self.line += 1,
                b'"' => {
                    // `"$v"x"y"`: a name that went on behind its quotes goes on once more.
                    let before = self.pos.checked_sub(1).and_then(|at| self.src.get(at));
                    let longer = before.is_some_and(|c| is(*c, NAME));
                    let mut part = self.double_quoted(true)?;
                    if let WordPart::DoubleQuoted(parts) = &mut part {
                        self.rejoin(parts, false)?;
                        let before = match b.last_part() {
                            Some(WordPart::DoubleQuoted(last)) if longer => last.last_mut(),
                            last => last,
                        };
                        if let Some(WordPart::Param(param)) = before {
                            lengthen_by_text(param, parts);
                            let empty =
                                |p: &WordPart| matches!(p, WordPart::Quoted(t) if t.is_empty());
                            if parts.iter().all(empty) {
                                self.lengthen_name(param);
                            }
                        }
                    }
                    b.part(part);
                    continue;
                }
                b'\\' if self.peek_at(1) == Some(b'}') => {
                    b.quoted(b"}");
                    self.pos += 2;
                    continue;
                }
                b'\\' if self.peek_at(1) == Some(b'\'') => {
                    // The backslash stays, and the quote after it opens nothing.
                    b.quoted(b"\\'");
                    self.pos += 2;
                    continue;
                }
                b'$' if self.peek_at(1) == Some(b'\'') && self.ansi_quotes => {
                    self.translated(b, false)?;
                    continue;
                }
                b'$' if self.peek_at(1) == Some(b'\'') && !self.in_heredoc && !self.opts.posix => {
                    // Spelled as its text where that means the same: `'...'` would not.
                    let (start, edits) = (self.pos, self.edits.len());
                    let text = self.ansi_quoted()?;
                    self.edits.truncate(edits);
                    let spelled = self.src.get(start + 2..self.pos - 1).unwrap_or_default();
                    let hidden = hides_end(&text, spelled);
                    self.st.hidden_end |= hidden;
                    let special = |c: &u8| matches!(c, b'$' | b'`' | b'"' | b'\'' | b'}');
                    let escapes = |pair: &[u8]| pair[0] == b'\\' && pair[1] == b'\\';
                    let same = !hidden
                        && !text.iter().any(special)
                        && !text.windows(2).any(escapes)
                        && text.last() != Some(&b'\\');
                    if self.words > 0 && same {
                        self.edit_from(start, text.clone());
                    }
                    escaped_text(b, &text);
                    continue;
                }
                b'$' if self.peek_at(1) == Some(b'"') && self.in_heredoc => {
                    self.dollar_before_quote(b)?;
                    continue;
                }
                b'$' if self.peek_at(1) == Some(b'"') => {
                    // The quotes count, the `$` does not.
                    let start = self.pos;
                    self.pos += 1;
                    self.edit_from(start, Vec::new());
                    continue;
                }
                b'\\' if self.peek_at(1).is_some_and(keeps_backslash) => {
                    // Kept apart: beside an `@` list bash splits there.
                    b.quoted(b"\\");
                    let pos = self.pos + 1;
                    b.literal(self.src.get(pos..pos + 1).unwrap_or_default());
                    self.pos += 2;
                    continue;
                }
                b'\\' | b'$' | b'`' => {
                    // `\"` keeps its backslash within backquotes here.
                    self.dquote_special(b, c, c != b'`')?;
                    continue;
                }
                b'\'' => {}
                _ => continue,
            }
            b.quoted(&[c]);
            self.pos += 1;
        }
    }

    /// `'...'` in an operand within double quotes: bash looks for the closing quote before it
    /// looks at anything else, then expands the text between. What does not parse is an error
    /// when it is expanded.
    fn single_in_double(&mut self, b: &mut Builder) -> Res<()> {
        let line = self.line;
        let start = self.pos + 1;
        let rest = self.src.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&c| c == b'\'') else {
            return Err(self.unclosed(b'\'', line));
        };
        let inside = rest.get(..length).unwrap_or_default().to_vec();
        b.quoted(b"'");
        let mut parts = Builder::default();
        match self.inner(inside, line).between_singles(&mut parts) {
            Ok(()) => parts.finish().into_iter().for_each(|part| match part {
                WordPart::Quoted(text) => b.quoted(&text),
                part => b.part(part),
            }),
            Err(e) if e.limit => return Err(e),
            Err(e) => {
                let backquote = last_backquote(self.src.get(start..start + length));
                let unclosed = e.message.ends_with(b"`'") && e.is_incomplete();
                let e = match backquote.filter(|_| unclosed) {
                    Some(at) => {
                        self.unclosed_backquote(start + at, start + length + 1)?.unwrap_or(e)
                    }
                    None => e,
                };
                b.part(super::command_sub::failing(&e));
            }
        }
        b.quoted(b"'");
        self.advance_to(start + length + 1);
        Ok(())
    }

    /// What bash says of a backquote in an operand that is not closed: it shows the operand from
    /// there on. `behind`: in the operand, where its braces balance; `None`: they never do.
    fn unclosed_backquote(&mut self, at: usize, behind: usize) -> Res<Option<Box<SyntaxError>>> {
        let mark = self.mark();
        self.advance_to(behind);
        let skipped = self.skip_braces(self.line, true);
        let end = self.pos.saturating_sub(1);
        self.rewind(&mark);
        match skipped {
            Ok(()) => {}
            Err(e) if e.limit => return Err(e),
            Err(_) => return Ok(None),
        }
        let text = self.src.get(at..end).unwrap_or_default();
        let message = [b"bad substitution: no closing \"`\" in ", text].concat();
        Ok(Some(self.error(0, message)))
    }

    /// `"$v"x`: bash removes the quotes before it looks at the rest, which is `$vx` then, as `"$"x`
    /// is `$x`. The quotes end at `pos`, or others begin there (`inside`); `parts` is what was before.
    pub fn rejoin(&mut self, parts: &mut Vec<WordPart>, inside: bool) -> Res<()> {
        let quotes = self.rest_before(|c| c == b'"');
        let slashes = self.src[..quotes.saturating_sub(1)].iter().rev();
        let escaped = slashes.take_while(|c| **c == b'\\').count() % 2 == 1;
        match parts.last_mut() {
            Some(WordPart::Param(param)) => self.lengthen_name(param),
            Some(WordPart::Quoted(text)) if text.ends_with(b"$") && !escaped => {
                let dollar = std::rc::Rc::make_mut(text);
                dollar.pop();
                if dollar.is_empty() {
                    parts.pop();
                }
                let part = self.rejoined_dollar(inside)?;
                parts.push(part.unwrap_or_else(|| WordPart::Quoted(b"$".to_vec().into())));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether there is a `$` or an expansion before the backslash at `pos`.
    pub fn may_rejoin(&self, b: &mut Builder) -> bool {
        let before = self.pos.checked_sub(1).and_then(|at| self.src.get(at));
        before == Some(&b'$') || matches!(b.last_part(), Some(WordPart::Param(_)))
    }

    /// `"$\v"` and `"$v\x"`: the backslash at `pos` goes before bash looks for expansions, too. True
    /// if there is one more, or a longer one.
    pub fn rejoin_escaped(&mut self, b: &mut Builder) -> Res<bool> {
        let Some(next) = self.peek_at(1) else { return Ok(false) };
        if !is(next, NAME) && !b"({[@*#?!-".contains(&next) {
            return Ok(false);
        }
        let before = self.pos;
        if let Some(WordPart::Param(param)) = b.last_part() {
            self.pos += 1;
            self.lengthen_name(param);
            if self.pos == before + 1 {
                self.pos = before;
            }
            return Ok(self.pos != before);
        }
        let slashes = self.src[..before.saturating_sub(1)].iter().rev();
        let escaped = slashes.take_while(|c| **c == b'\\').count() % 2 == 1;
        if escaped {
            return Ok(false);
        }
        if !b.pop_dollar() {
            return Ok(false);
        }
        // The backslash stands for the `$`.
        match self.dollar(true)? {
            Some(part) => b.part(part),
            None => b.quoted(b"$"),
        }
        Ok(true)
    }

    /// Where the bytes before `pos` that pass the test begin.
    fn rest_before(&self, test: impl Fn(u8) -> bool) -> usize {
        let before = self.src.get(..self.pos).unwrap_or_default();
        before.iter().rposition(|c| !test(*c)).map_or(0, |at| at + 1)
    }

    /// The expansion that a `$` before the quotes that end at `pos` begins.
    fn rejoined_dollar(&mut self, inside: bool) -> Res<Option<WordPart>> {
        match self.peek() {
            Some(b'"' | b'\'') => Ok(None),
            Some(b'{') if !inside => {
                // The operand ends at the first `}`.
                self.pos += 1;
                self.quoted_operand(&mut Builder::default())?;
                Ok(Some(super::param::bad_part()))
            }
            _ => {
                self.pos -= 1;
                self.dollar(true)
            }
        }
    }

    fn lengthen_name(&mut self, param: &mut Box<Param>) {
        let ParamName::Variable(name) = &param.name else { return };
        if param.raw.get(1) == Some(&b'{') {
            return;
        }
        let length = super::table::run_with(self.rest(), NAME);
        if length > 0 {
            let more = &self.rest()[..length];
            let mut longer = (**param).clone();
            longer.name = ParamName::Variable([name.as_ref(), more].concat().into());
            longer.raw = [&*param.raw, more].concat().into();
            *param = longer.into();
            self.pos += length;
        }
    }

    /// `$"..."` in an operand in a here-document: without its quotes, so that `$"a b"` is `$a b`.
    fn dollar_before_quote(&mut self, b: &mut Builder) -> Res<()> {
        let line = self.line;
        let start = self.pos + 2;
        let rest = self.src.get(start..).unwrap_or_default();
        let Some(length) = memchr::memchr(b'"', rest) else {
            return Err(self.unclosed(b'"', line));
        };
        let inside = [b"$", rest.get(..length).unwrap_or_default()].concat();
        let mut parts = Builder::default();
        self.inner(inside, line).between_singles(&mut parts)?;
        parts.finish().into_iter().for_each(|part| match part {
            WordPart::Quoted(text) => b.quoted(&text),
            part => b.part(part),
        });
        self.advance_to(start + length + 1);
        Ok(())
    }

    /// All of the text as if within double quotes, but that `"` only disappears.
    fn between_singles(&mut self, b: &mut Builder) -> Res<()> {
        loop {
            let special = |c: &u8| is(*c, DQUOTE);
            let run = self.rest().iter().position(special).unwrap_or(self.rest().len());
            if run > 0 {
                let pos = self.pos;
                b.quoted(self.src.get(pos..pos + run).unwrap_or_default());
                self.advance_to(pos + run);
            }
            match self.peek() {
                None => return Ok(()),
                Some(b'"') => self.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'}') => {
                    b.quoted(b"}");
                    self.pos += 2;
                }
                Some(c) => self.dquote_special(b, c, c != b'`')?,
            }
        }
    }
}

/// `$v"x"`: without the quotes that is `$vx`, too.
fn lengthen_by_text(param: &mut Box<Param>, inside: &mut [WordPart]) {
    let Some(WordPart::Quoted(text)) = inside.first_mut() else { return };
    let ParamName::Variable(name) = &param.name else { return };
    let length = super::table::run_with(text, NAME);
    if length == 0 || param.raw.get(1) == Some(&b'{') {
        return;
    }
    let (more, rest) = text.split_at(length);
    let mut longer = (**param).clone();
    longer.name = ParamName::Variable([name.as_ref(), more].concat().into());
    longer.raw = [&*param.raw, more].concat().into();
    *param = longer.into();
    *text = rest.to_vec().into();
}

/// The spelling of an operand without its double quotes.
fn without_quotes(raw: &[u8]) -> Vec<u8> {
    let mut escaped = false;
    let kept = raw.iter().filter(|c| {
        let quote = **c == b'"' && !escaped;
        escaped = **c == b'\\' && !escaped;
        !quote
    });
    kept.copied().collect()
}

/// Text of `$'...'`, taken apart as it would be if it stood there itself.
fn escaped_text(b: &mut Builder, text: &[u8]) {
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        if rest.get(at + 1) == Some(&b'\n') {
            // A line continuation.
            b.quoted(&rest[..at]);
            rest = &rest[at + 2..];
            continue;
        }
        let kept = rest.get(at + 1).copied().is_some_and(keeps_backslash);
        b.quoted(&rest[..=at]);
        rest = &rest[at + 1..];
        if kept {
            b.literal(&rest[..1]);
            rest = &rest[1..];
        }
    }
    // Printed it is nothing, too.
    if !rest.is_empty() {
        b.quoted(rest);
    }
}

/// A character before which a backslash within double quotes stays.
fn keeps_backslash(c: u8) -> bool {
    c.is_ascii() && !matches!(c, b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}' | b'\'')
}

/// Whether the text of `$'...'`, which bash reads again within double quotes, opens something there.
fn hides_end(text: &[u8], spelled: &[u8]) -> bool {
    let odd = |quote: u8| text.iter().filter(|c| **c == quote).count() % 2 == 1;
    let backslashes = text.iter().rev().take_while(|c| **c == b'\\').count();
    // A NUL ends the text, and the word with it.
    let with_mark = super::quote::ansi_decode(&[spelled, b"#"].concat());
    odd(b'"') || odd(b'\'') || odd(b'`') || backslashes % 2 == 1 || with_mark.last() != Some(&b'#')
}

/// The last backquote that counts.
fn last_backquote(text: Option<&[u8]>) -> Option<usize> {
    let text = text?;
    let escaped = |at: usize| text[..at].iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1;
    let at = (0..text.len()).rev().find(|&at| text[at] == b'`' && !escaped(at))?;
    let count = |what: u8| text[..at].iter().filter(|b| **b == what).count();
    // Within `$(` it is another error.
    (count(b'(') <= count(b')')).then_some(at)
}
