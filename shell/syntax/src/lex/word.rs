//! Unquoted words (POSIX XCU 2.3 rules 4 to 10).

use super::table::{self, BREAK, QUOTE, is};
use super::token::{Ctx, Lexeme};
use super::{Machine, Res};
use crate::ast::{Text, Word, WordPart};
use crate::error::SyntaxError;

/// Puts the parts of a word together, merging neighbouring text.
#[derive(Default)]
pub(crate) struct Builder {
    pub parts: Vec<WordPart>,
    text: Vec<u8>,
    kind: Kind,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Literal,
    Quoted,
}

impl Builder {
    #[inline]
    fn text(&mut self, kind: Kind, bytes: &[u8]) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.text.extend_from_slice(bytes);
    }

    #[inline]
    pub fn literal(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.text(Kind::Literal, bytes);
        }
    }

    /// Quoted text; an empty one counts, too (`''`).
    #[inline]
    pub fn quoted(&mut self, bytes: &[u8]) {
        self.text(Kind::Quoted, bytes);
    }

    pub fn part(&mut self, part: WordPart) {
        self.flush();
        self.parts.push(part);
    }

    /// What came last, unless text did.
    pub fn last_part(&mut self) -> Option<&mut WordPart> {
        if self.kind == Kind::None { self.parts.last_mut() } else { None }
    }

    /// Whether quoted text comes last and ends with a `$`.
    pub fn ends_in_dollar(&self) -> bool {
        self.kind == Kind::Quoted && self.text.ends_with(b"$")
    }

    fn flush(&mut self) {
        let text = || std::rc::Rc::new(self.text.clone());
        match self.kind {
            Kind::None => return,
            Kind::Literal => self.parts.push(WordPart::Literal(text())),
            Kind::Quoted => self.parts.push(WordPart::Quoted(text())),
        }
        self.text.clear();
        self.kind = Kind::None;
    }

    pub fn finish(mut self) -> Vec<WordPart> {
        self.flush();
        self.parts
    }

    /// The word, given its spelling.
    pub fn into_word(self, raw: Text) -> Word {
        let mut parts = self.finish();
        super::param::name_bad(&mut parts, &raw);
        super::arith_end::name_lost(&mut parts, &raw);
        Word { parts, raw }
    }

    /// The last byte of the word so far, if it is unquoted text.
    fn last_literal(&self) -> Option<u8> {
        if self.kind == Kind::Literal { self.text.last().copied() } else { None }
    }
}

impl Machine<'_, '_> {
    /// The word at `pos`.
    #[inline(never)]
    pub fn lex_word(&mut self, ctx: Ctx) -> Res<Lexeme> {
        self.begin_word();
        let mut keep_until = self.pos;
        if ctx.has(Ctx::ASSIGN.with(Ctx::DECL).with(Ctx::LET))
            && self.peek().is_some_and(|b| is(b, table::NAME_START))
        {
            match self.lex_assignment(ctx)? {
                super::assign::Outcome::Assign(a) => {
                    self.end_word();
                    return Ok(a);
                }
                super::assign::Outcome::Word { bracket_end } => keep_until = bracket_end,
            }
        }
        let word = self.lex_plain_word(ctx, keep_until)?;
        self.end_word();
        Ok(Lexeme::Word(word))
    }

    /// A word that is no assignment. Bytes before `keep_until` do not end it (`a[1 2]`).
    pub fn lex_plain_word(&mut self, ctx: Ctx, keep_until: usize) -> Res<Word> {
        let start = self.pos;
        let mut b = Builder::default();
        self.word_parts(&mut b, ctx, keep_until)?;
        Ok(b.into_word(self.raw_from(start)))
    }

    /// Adds the parts up to the end of the word.
    pub fn word_parts(&mut self, b: &mut Builder, ctx: Ctx, keep_until: usize) -> Res<()> {
        loop {
            let run = table::run_without(self.rest(), BREAK | QUOTE);
            if run > 0 {
                let pos = self.pos;
                b.literal(self.src.get(pos..pos + run).unwrap_or_default());
                self.pos += run;
            }
            let Some(c) = self.peek() else { return Ok(()) };
            if is(c, BREAK) {
                match c {
                    b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                        let part = self.process_sub()?;
                        b.part(part);
                    }
                    b'(' if ctx.has(Ctx::REGEX) => self.paren_group(b)?,
                    b'(' if self.extglob_on(ctx)
                        && b.last_literal().is_some_and(|l| b"?*+@!".contains(&l)) =>
                    {
                        self.paren_group(b)?;
                    }
                    b'|' if ctx.has(Ctx::REGEX) => {
                        b.literal(b"|");
                        self.pos += 1;
                    }
                    _ if self.pos < keep_until => {
                        if c == b'\n' {
                            self.line += 1;
                        }
                        b.literal(&[c]);
                        self.pos += 1;
                    }
                    _ => return Ok(()),
                }
                continue;
            }
            if is(c, QUOTE) {
                self.quoting(b, c)?;
            } else {
                // More input has come in since the run ended.
                continue;
            }
        }
    }

    /// One quoted or expanded piece that starts with `c`, outside double quotes.
    #[inline(never)]
    pub fn quoting(&mut self, b: &mut Builder, c: u8) -> Res<()> {
        match c {
            b'\\' => self.backslash(b),
            b'\'' => self.single_quoted(b)?,
            b'"' => {
                let part = self.double_quoted(false)?;
                b.part(part);
            }
            b'`' => {
                let part = self.backquoted(false)?;
                b.part(part);
            }
            _ => match self.dollar(false)? {
                Some(WordPart::Quoted(text)) => b.quoted(&text),
                Some(part) => b.part(part),
                None => {
                    b.literal(b"$");
                }
            },
        }
        Ok(())
    }

    /// `( ... )` as text of an extglob or regular expression, expansions and quotes inside it
    /// parsed; blanks and operators are ordinary in it. bash finds its end by the parentheses, to
    /// which `${` and `$[` are nothing, and looks into `$(...)` when it expands the word.
    #[inline(never)]
    fn paren_group(&mut self, b: &mut Builder) -> Res<()> {
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
                b'\n' => self.line += 1,
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
            Ok(()) => command || memchr::memchr2(b'(', b')', text).is_none(),
            Err(e) if e.limit => return result.map(|()| false),
            Err(_) => false,
        };
        if even && end.is_none() {
            return Ok(false);
        }
        let after = self.mark();
        let group_end = match *end {
            Some(at) => at,
            None => {
                self.rewind(&mark);
                self.line -= self.src[start..from].iter().filter(|c| **c == b'\n').count() as u32;
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
                _ => super::param::bad_part(),
            });
            return Ok(true);
        }
        self.rewind(&after);
        Ok(false)
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
        e.line += lines + 1;
        super::command_sub::failing(&e)
    }
}
