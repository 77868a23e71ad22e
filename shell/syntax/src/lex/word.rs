//! Unquoted words (POSIX XCU 2.3 rules 4 to 10).

use super::table::{self, BREAK, QUOTE, has_class};
use super::token::{Lexeme, TokenContext};
use super::{CommandParser, Res};
use crate::ast::{Text, Word, WordPart};

/// A builder that puts the parts of a word together and merges adjacent text.
#[derive(Default)]
pub(crate) struct WordBuilder {
    pub parts: Vec<WordPart>,
    text: Vec<u8>,
    kind: TextQuoting,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum TextQuoting {
    #[default]
    None,
    Literal,
    Quoted,
}

impl WordBuilder {
    #[inline]
    fn push_text(&mut self, kind: TextQuoting, bytes: &[u8]) {
        if self.kind != kind {
            self.flush();
            self.kind = kind;
        }
        self.text.extend_from_slice(bytes);
    }

    /// Adds unquoted text.
    #[inline]
    pub fn push_literal(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.push_text(TextQuoting::Literal, bytes);
        }
    }

    /// Adds quoted text; an empty one counts, too (`''`).
    #[inline]
    pub fn push_quoted(&mut self, bytes: &[u8]) {
        self.push_text(TextQuoting::Quoted, bytes);
    }

    /// Adds text within quotes, if there is any.
    #[inline]
    pub fn quoted_run(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.push_quoted(bytes);
        }
    }

    /// Adds an expansion, or another part that is not text.
    pub fn push_part(&mut self, part: WordPart) {
        self.flush();
        self.parts.push(part);
    }

    fn flush(&mut self) {
        let text = || std::rc::Rc::new(self.text.clone());
        match self.kind {
            TextQuoting::None => return,
            TextQuoting::Literal => self.parts.push(WordPart::Literal(text())),
            TextQuoting::Quoted => self.parts.push(WordPart::Quoted(text())),
        }
        self.text.clear();
        self.kind = TextQuoting::None;
    }

    /// Returns the parts.
    pub fn finish_parts(mut self) -> Vec<WordPart> {
        self.flush();
        self.parts
    }

    /// Returns the word, given its spelling.
    pub fn into_word(self, raw: Text) -> Word {
        Word { parts: self.finish_parts(), raw }
    }

    /// Returns the last byte of the word so far, if it is unquoted text.
    fn last_literal(&self) -> Option<u8> {
        if self.kind == TextQuoting::Literal { self.text.last().copied() } else { None }
    }
}

impl CommandParser<'_, '_> {
    /// Lexes the word at `pos`.
    #[inline(never)]
    pub fn lex_word(&mut self, ctx: TokenContext) -> Res<Lexeme> {
        self.begin_word();
        let mut keep_until = self.pos;
        if ctx.has_any(
            TokenContext::ASSIGN.with_both(TokenContext::DECL).with_both(TokenContext::LET),
        ) && self.peek_byte().is_some_and(|b| has_class(b, table::NAME_START))
        {
            match self.lex_assignment(ctx)? {
                super::assign::AssignLexeme::Assign(a) => {
                    self.end_word();
                    return Ok(a);
                }
                super::assign::AssignLexeme::Word { bracket_end } => keep_until = bracket_end,
            }
        }
        let word = self.lex_plain_word(ctx, keep_until)?;
        self.end_word();
        Ok(Lexeme::Word(word))
    }

    /// Lexes a word that is not an assignment. Bytes before `keep_until` do not end it (`a[1 2]`).
    pub fn lex_plain_word(&mut self, ctx: TokenContext, keep_until: usize) -> Res<Word> {
        let start = self.pos;
        let mut b = WordBuilder::default();
        self.word_parts(&mut b, ctx, keep_until)?;
        Ok(b.into_word(self.raw_from(start)))
    }

    /// Adds the parts up to the end of the word.
    pub fn word_parts(
        &mut self,
        b: &mut WordBuilder,
        ctx: TokenContext,
        keep_until: usize,
    ) -> Res<()> {
        loop {
            b.push_literal(self.run(|c| has_class(c, BREAK | QUOTE)));
            let Some(c) = self.peek_byte() else { return Ok(()) };
            if has_class(c, BREAK) {
                match c {
                    b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                        let part = self.process_sub()?;
                        b.push_part(part);
                    }
                    b'(' if ctx.has_any(TokenContext::REGEX) => self.paren_group(b)?,
                    b'(' if self.extglob_on(ctx)
                        && b.last_literal().is_some_and(|l| b"?*+@!".contains(&l)) =>
                    {
                        self.paren_group(b)?;
                    }
                    b'|' if ctx.has_any(TokenContext::REGEX) => {
                        b.push_literal(b"|");
                        self.pos += 1;
                    }
                    _ if self.pos < keep_until => {
                        if c == b'\n' {
                            self.add_lines(1);
                        }
                        b.push_literal(&[c]);
                        self.pos += 1;
                    }
                    _ => return Ok(()),
                }
                continue;
            }
            if has_class(c, QUOTE) {
                self.lex_quoting(b, c)?;
            } else {
                // More input was read after the run, so that the run may continue.
                continue;
            }
        }
    }

    /// Lexes one quoted or expanded piece that starts with `c`, outside double quotes.
    #[inline(never)]
    pub fn lex_quoting(&mut self, b: &mut WordBuilder, c: u8) -> Res<()> {
        match c {
            b'\\' => self.lex_backslash(b),
            b'\'' => self.single_quoted(b)?,
            b'"' => {
                let part = self.double_quoted(false)?;
                b.push_part(part);
            }
            b'`' => {
                let part = self.lex_backquoted(false)?;
                b.push_part(part);
            }
            _ => match self.lex_dollar(false)? {
                Some(WordPart::Quoted(text)) => b.push_quoted(&text),
                Some(part) => b.push_part(part),
                None => {
                    b.push_literal(b"$");
                }
            },
        }
        Ok(())
    }
}
