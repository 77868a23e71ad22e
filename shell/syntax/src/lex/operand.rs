//! The word after the operator in `${name OP word}`.
//!
//! Outside double quotes, and for patterns and replacements everywhere, it is read like an unquoted
//! word in which blanks and operators are ordinary. In `"${x:-word}"`, the word counts as
//! double-quoted: only `"..."`, backslashes and expansions are special, but a pair of single quotes
//! still hides a `}` (bash 5.2 outside POSIX mode).

use super::table::{DQUOTE, QUOTE, has_class};
use super::word::WordBuilder;
use super::{CommandParser, Res};
use crate::ast::{Word, WordPart};
use crate::lex::mode::TextContext;

/// The character that ends the operand, which is not consumed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandEnd {
    Brace,
    SlashOrBrace,
    /// A slash or `}`, but a slash at the very beginning is text.
    LaterSlashOrBrace,
}

impl CommandParser<'_, '_> {
    /// Lexes the word after an operator, up to its end.
    #[inline(never)]
    pub fn lex_operand(&mut self, stop: OperandEnd, quoted: bool) -> Res<Word> {
        self.begin_word();
        let start = self.pos;
        if quoted {
            let word = self.operand_in_quotes()?;
            self.end_word();
            return Ok(word);
        }
        let mut b = WordBuilder::default();
        if stop == OperandEnd::LaterSlashOrBrace && self.peek_byte() == Some(b'/') {
            b.push_literal(b"/");
            self.pos += 1;
        }
        self.plain_operand(&mut b, stop)?;
        self.end_word();
        Ok(b.into_word(self.raw_from(start)))
    }

    fn plain_operand(&mut self, b: &mut WordBuilder, stop: OperandEnd) -> Res<()> {
        let line = self.line;
        loop {
            b.push_literal(self.run(|c| has_class(c, QUOTE) || b"}/\n<>".contains(&c)));
            let Some(c) = self.peek_byte() else { return Err(self.unclosed_error(b'}', line)) };
            match c {
                b'}' => return Ok(()),
                b'/' if stop != OperandEnd::Brace => return Ok(()),
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    let part = self.process_sub()?;
                    b.push_part(part);
                    continue;
                }
                b'\n' => self.add_lines(1),
                b'$' if self.dollar_is_text() => {}
                _ if has_class(c, QUOTE) => {
                    self.lex_quoting(b, c)?;
                    continue;
                }
                b'/' | b'<' | b'>' => {}
                _ => continue,
            }
            b.push_literal(&[c]);
            self.pos += 1;
        }
    }

    /// Lexes the operand up to its `}`, within double quotes.
    fn operand_in_quotes(&mut self) -> Res<Word> {
        let start = self.pos;
        let mut b = WordBuilder::default();
        self.lex_within(TextContext::QuotedOperand, |m| m.quoted_operand(&mut b))?;
        Ok(b.into_word(self.raw_from(start)))
    }

    fn quoted_operand(&mut self, b: &mut WordBuilder) -> Res<()> {
        let line = self.line;
        loop {
            b.quoted_run(self.run(|c| has_class(c, DQUOTE) || b"}'\n<>".contains(&c)));
            let Some(c) = self.peek_byte() else { return Err(self.unclosed_error(b'}', line)) };
            match c {
                b'}' => return Ok(()),
                b'\'' if !self.opts.posix => self.single_in_double(b)?,
                b'<' | b'>' if self.has_process_sub() => {
                    let text = self.process_text()?;
                    b.push_quoted(&text);
                }
                b'"' => {
                    let part = self.double_quoted(true)?;
                    b.push_part(part);
                }
                b'\\' => self.backslash_in_operand(b)?,
                b'$' if matches!(self.behind_dollar(), Some(b'\'' | b'"')) => {
                    self.dollar_quote_in_operand(b)?;
                }
                b'$' | b'`' => self.dquote_special(b, c, c != b'`')?,
                b'\n' | b'\'' | b'<' | b'>' => {
                    self.add_lines(u32::from(c == b'\n'));
                    b.push_quoted(&[c]);
                    self.pos += 1;
                }
                _ => {}
            }
        }
    }

    /// Lexes a backslash in a quoted operand.
    fn backslash_in_operand(&mut self, b: &mut WordBuilder) -> Res<()> {
        match self.peek_at(1) {
            Some(b'}') => b.push_quoted(b"}"),
            // The backslash stays, and the quote after it has no meaning.
            Some(b'\'') => b.push_quoted(b"\\'"),
            Some(c) if keeps_backslash(c) => {
                // The backslash and the character are separate parts, because bash splits there if
                // an `@` list is adjacent.
                b.push_quoted(b"\\");
                b.push_literal(&[c]);
            }
            // Within backquotes here, `\"` keeps its backslash.
            _ => return self.dquote_special(b, b'\\', true),
        }
        self.pos += 2;
        Ok(())
    }

    /// Lexes `$'...'` or `$"..."` in a quoted operand. The text of `$'...'` counts as quoted; for
    /// `$"..."`, only the `$` is removed.
    fn dollar_quote_in_operand(&mut self, b: &mut WordBuilder) -> Res<()> {
        let start = self.pos;
        let is_ansi = self.behind_dollar() == Some(b'\'');
        if is_ansi && self.mode.ansi.kept {
            self.translate_quote(b, false)?;
            let special = |c: &u8| b"\"`${}".contains(c);
            if self.opts.posix && self.edits.last().is_some_and(|e| e.text.iter().any(special)) {
                // In POSIX mode, single quotes would not hide these characters, so the text is
                // printed as in the source.
                self.edits.pop();
            }
            return Ok(());
        }
        if !is_ansi {
            self.over_dollar();
            self.edit_from(start, Vec::new());
            return Ok(());
        }
        if self.mode.heredoc || self.opts.posix {
            return self.dquote_special(b, b'$', true);
        }
        let text = self.ansi_quoted()?;
        if text.iter().any(|c| b"$`\"'\\}".contains(c)) {
            // Without its quotes, the printed text would have a different meaning.
            drop(self.edits.pop())
        } else {
            self.edit_from(start, text.clone())
        }
        b.push_quoted(&text);
        Ok(())
    }

    /// Lexes `'...'` in an operand within double quotes: bash first looks for the closing quote,
    /// then expands the text between. Text that does not parse is an error only when it is
    /// expanded.
    fn single_in_double(&mut self, b: &mut WordBuilder) -> Res<()> {
        let line = self.line;
        let start = self.pos + 1;
        let rest = self.src.get(start..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&c| c == b'\'') else {
            return Err(self.unclosed_error(b'\'', line));
        };
        let inside = rest.get(..length).unwrap_or_default().to_vec();
        b.push_quoted(b"'");
        let mut parts = WordBuilder::default();
        match self.inner(inside, line).text_in_quotes(&mut parts) {
            Ok(()) => parts.finish_parts().into_iter().for_each(|part| match part {
                WordPart::Quoted(text) => b.push_quoted(&text),
                part => b.push_part(part),
            }),
            Err(e) if e.is_limit() => return Err(e),
            Err(e) => b.push_part(super::command_sub::failing_part(&e)),
        }
        b.push_quoted(b"'");
        self.advance_to(start + length + 1);
        Ok(())
    }

    /// Lexes the whole text between single quotes in a quoted operand, where it is expanded
    /// although the quotes stay.
    pub fn text_in_quotes(&mut self, b: &mut WordBuilder) -> Res<()> {
        loop {
            b.quoted_run(self.run_of_lines(|c| has_class(c, DQUOTE)));
            match self.peek_byte() {
                None => return Ok(()),
                // Double quotes between single quotes are removed, like those outside of them:
                // `"${x+'"$y"'}"`.
                Some(b'"') if memchr::memchr(b'"', &self.rest_bytes()[1..]).is_some() => {
                    let part = self.double_quoted(true)?;
                    b.push_part(part);
                }
                Some(b'"') => self.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'}') => {
                    b.push_quoted(b"}");
                    self.pos += 2;
                }
                Some(b'\\') if self.peek_at(1).is_some_and(keeps_backslash) => {
                    b.push_quoted(b"\\");
                    let pos = self.pos + 1;
                    b.push_literal(self.src.get(pos..pos + 1).unwrap_or_default());
                    self.pos += 2;
                }
                Some(c) => self.dquote_special(b, c, c != b'`')?,
            }
        }
    }
}

/// Returns whether a backslash before this character stays within double quotes.
fn keeps_backslash(c: u8) -> bool {
    c.is_ascii() && !matches!(c, b'$' | b'`' | b'"' | b'\\' | b'\n' | b'}' | b'\'')
}

/// Returns the spelling of a text without its double quotes.
pub(crate) fn outside_quotes(raw: &[u8]) -> Vec<u8> {
    let mut escaped = false;
    let kept = raw.iter().filter(|c| {
        let quote = **c == b'"' && !escaped;
        escaped = **c == b'\\' && !escaped;
        !quote
    });
    kept.copied().collect()
}
