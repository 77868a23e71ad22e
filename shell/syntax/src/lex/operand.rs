//! The word after the operator in `${name OP word}`.
//!
//! Outside double quotes, and for patterns and replacements everywhere, it is read like an
//! unquoted word in which blanks and operators are ordinary. In `"${x:-word}"` its text counts as
//! double-quoted: only `"..."`, backslash and expansions are special, though single quotes
//! still pair up and hide a `}` (bash 5.2 outside POSIX mode).

use super::again::ends_in_name;
use super::table::{DQUOTE, NAME, QUOTE, is};
use super::word::Builder;
use super::{Machine, Res};
use crate::ast::{Word, WordPart};
use crate::error::{Cause, SyntaxError};

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
        if quoted {
            let word = self.operand_in_quotes()?;
            self.end_word();
            return Ok(word);
        }
        let mut b = Builder::default();
        if stop == Stop::LaterSlashOrBrace && self.peek() == Some(b'/') {
            b.literal(b"/");
            self.pos += 1;
        }
        self.plain_operand(&mut b, stop)?;
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
                b'\n' => self.add_lines(1),
                b'$' if self.dollar_is_text() => {}
                b'$' if (stop == Stop::WordBrace && self.mode.ansi.quoted_sub
                    || self.mode.ansi.bare)
                    && self.behind_dollar() == Some(b'\'')
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
    /// the end of something it is not done; in a subscript where it would end
    /// something, either.
    pub fn unquote_ansi(&mut self) -> Res<bool> {
        let (mark, start) = (self.mark(), self.pos);
        let text = self.ansi_quoted()?;
        let spelled = self.src.get(start + 2..self.pos - 1).unwrap_or_default();
        let hides =
            hides_end(&text, spelled, None) || self.mode.ansi.in_subscript && text.contains(&b'}');
        let end = self.pos;
        self.rewind(&mark);
        if hides {
            return Ok(false);
        }
        self.splice(start, end, &text);
        // Its newlines are no lines of the source.
        let lines = memchr::memchr_iter(b'\n', &text).count();
        self.take_lines(lines as u32);
        Ok(true)
    }

    pub fn quoted_operand(&mut self, b: &mut Builder) -> Res<()> {
        let line = self.line;
        loop {
            let run = self
                .rest()
                .iter()
                .position(|&c| is(c, DQUOTE) || matches!(c, b'}' | b'\'' | b'\n' | b'<' | b'>'))
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
                b'\n' => self.add_lines(1),
                b'<' | b'>' if self.has_process_sub() => {
                    let text = self.process_text()?;
                    b.quoted(&text);
                    continue;
                }
                b'<' | b'>' => {}
                b'"' => {
                    let before = self.pos.checked_sub(1).and_then(|at| self.src.get(at));
                    self.st.operand.again |= before.is_some_and(|c| *c == b'$' || is(*c, NAME));
                    let part = self.double_quoted(true)?;
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
                b'$' if self.behind_dollar() == Some(b'\'') && self.mode.ansi.kept => {
                    self.translated(b, false)?;
                    // In POSIX mode the single quotes it gets would not hide these.
                    if self.opts.posix
                        && let Some(at) = self.edits.len().checked_sub(1)
                        && self.edits[at].text.iter().any(|c| b"\"`${}".contains(c))
                    {
                        self.st.operand.kept.push(at);
                    }
                    continue;
                }
                b'$' if self.behind_dollar() == Some(b'\'')
                    && !self.mode.heredoc
                    && !self.opts.posix =>
                {
                    let start = self.pos;
                    let text = self.ansi_quoted()?;
                    let spelled = self.src.get(start + 2..self.pos - 1).unwrap_or_default();
                    let hidden = hides_end(&text, spelled, self.rest().first());
                    self.st.hidden_end |= hidden;
                    if !hidden
                        && !self.mode.ansi.in_subscript
                        && (closes(&text) || !self.operand.closing.is_empty())
                    {
                        let end = self.pos;
                        self.st.operand.closing.push((start, end, text.clone()));
                    }
                    // It may go on a name before it.
                    self.st.operand.again |= ends_in_name(b) || b.ends_in_dollar();
                    let special = |c: &u8| matches!(c, b'$' | b'`' | b'"' | b'\'' | b'}');
                    let escapes = |pair: &[u8]| pair[0] == b'\\' && pair[1] == b'\\';
                    let same = !text.iter().any(special)
                        && !text.windows(2).any(escapes)
                        && text.last() != Some(&b'\\');
                    self.edit_from(start, text.clone());
                    if !same && !hidden {
                        // Printed it has to stay what it is.
                        let at = self.edits.len() - 1;
                        self.st.operand.kept.push(at);
                        self.st.operand.again = true;
                    }
                    escaped_text(b, &text);
                    continue;
                }
                b'$' if self.behind_dollar() == Some(b'"') && !self.mode.heredoc => {
                    // The quotes count, the `$` does not.
                    let start = self.pos;
                    self.over_dollar();
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
                    self.after_process_number();
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
        self.st.operand.again |= inside.contains(&b'"');
        b.quoted(b"'");
        let mut parts = Builder::default();
        match self.inner(inside, line).text_in_quotes(&mut parts) {
            Ok(()) => parts.finish().into_iter().for_each(|part| match part {
                WordPart::Quoted(text) => b.quoted(&text),
                part => b.part(part),
            }),
            Err(e) if e.is_limit() => return Err(e),
            Err(e) => {
                let backquote = last_backquote(self.src.get(start..start + length));
                let unclosed = e.cause == Cause::Unclosed(b'`');
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
        let skipped = self.skip_braces(self.line, true, !self.mode.heredoc);
        let text = self.raw(at, self.pos.saturating_sub(1));
        self.rewind(&mark);
        match skipped {
            Ok(()) => {}
            Err(e) if e.is_limit() => return Err(e),
            Err(_) => return Ok(None),
        }
        // One newline at its end goes as the message is kept.
        let end = if text.ends_with(b"\n") { b"\n".as_slice() } else { b"" };
        let text = [&*text, end].concat().into();
        Ok(Some(self.error(0, Cause::NoClosing { close: b'`', text })))
    }

    /// All of the text as if within double quotes; a `"` is an ordinary character.
    pub fn text_in_quotes(&mut self, b: &mut Builder) -> Res<()> {
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
                Some(b'"') => {
                    b.quoted(b"\"");
                    self.pos += 1;
                }
                Some(b'\\') if self.peek_at(1) == Some(b'}') => {
                    b.quoted(b"}");
                    self.pos += 2;
                }
                Some(b'\\') if self.peek_at(1).is_some_and(keeps_backslash) => {
                    b.quoted(b"\\");
                    let pos = self.pos + 1;
                    b.literal(self.src.get(pos..pos + 1).unwrap_or_default());
                    self.pos += 2;
                }
                Some(c) => self.dquote_special(b, c, c != b'`')?,
            }
        }
    }
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

/// Whether the text of `$'...'`, which bash reads again within double quotes, opens something there;
/// `next` comes behind it.
fn hides_end(text: &[u8], spelled: &[u8], next: Option<&u8>) -> bool {
    let odd = |quote: u8| text.iter().filter(|c| **c == quote).count() % 2 == 1;
    let backslashes = text.iter().rev().take_while(|c| **c == b'\\').count();
    // A backslash may quote what is text in any case.
    let escapes = backslashes % 2 == 1 && next.is_none_or(|c| b"}\"'`\\$".contains(c));
    // A NUL ends the text, and the word with it.
    let with_mark = super::quote::ansi_decode(&[spelled, b"#"].concat());
    odd(b'"') || odd(b'\'') || odd(b'`') || escapes || with_mark.last() != Some(&b'#')
}

/// Whether the text has a brace that closes what it stands in.
fn closes(text: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut before = 0;
    for &c in text {
        match c {
            _ if before == b'\\' => {}
            b'{' if before == b'$' => depth += 1,
            b'}' if depth == 0 => return true,
            b'}' => depth -= 1,
            _ => {}
        }
        before = if before == b'\\' { 0 } else { c };
    }
    false
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
