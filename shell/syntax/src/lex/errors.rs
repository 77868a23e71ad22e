//! Making errors, with bash's wording and line numbers.

use box_text::escape::set_quote;

use super::token::{SyntaxToken, Tk};
use super::{CommandParser, SyntaxError};
use crate::error::SyntaxCause;

impl CommandParser<'_, '_> {
    #[cold]
    pub(super) fn too_deep(&self) -> Box<SyntaxError> {
        self.make_error(self.line, SyntaxCause::TooDeep)
    }

    /// Returns an error that has only one message.
    #[cold]
    pub fn make_error(&self, line: u32, cause: SyntaxCause) -> Box<SyntaxError> {
        Box::new(SyntaxError { cause, line, more: Vec::new(), incomplete: false })
    }

    /// Returns the error for an input that ended before `close`. It carries the line of the opening
    /// character.
    #[cold]
    pub fn unclosed_error(&self, close: u8, line: u32) -> Box<SyntaxError> {
        let mut e = self.make_error(line, SyntaxCause::Unclosed(close));
        e.incomplete = true;
        e
    }

    /// Returns the source line in bash's quotes, which is the second line of a message.
    pub fn source_line(&self, pos: usize) -> (u32, Box<[u8]>) {
        let line = self.line_before_aliases().unwrap_or_else(|| self.line_at(pos));
        (self.line, [b"`", line, b"'"].concat().into_boxed_slice())
    }

    /// Returns the line of the source that holds this place.
    pub fn line_at(&self, pos: usize) -> &[u8] {
        let pos = pos.min(self.src.len());
        let before = self.src.get(..pos).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
        let after = self.src.get(pos..).unwrap_or_default();
        let end = memchr::memchr(b'\n', after).map_or(self.src.len(), |i| pos + i);
        self.src.get(start..end).unwrap_or_default()
    }

    /// Returns the line number to report for the end of input: bash counts one more line,
    /// regardless of whether the last one ends in a newline.
    pub fn eof_line(&self) -> u32 {
        if self.src.last() == Some(&b'\n') || self.src.is_empty() {
            self.line
        } else {
            self.line + 1
        }
    }

    /// Returns the error for the token read ahead.
    #[cold]
    pub fn unexpected_token_error(&mut self) -> Box<SyntaxError> {
        let Some(t) = self.st.look.take() else {
            return self.make_error(self.line, SyntaxCause::NoToken);
        };
        self.unexpected_token(&t)
    }

    /// Returns the spelling of a token; an operator's is without line continuations.
    pub fn token_text(&self, t: &SyntaxToken) -> Vec<u8> {
        let text = self.raw_spelling(t.start, t.end).into_vec();
        if t.kind == Tk::Word || memchr::memmem::find(&text, b"\\\n").is_none() {
            return text;
        }
        text.into_iter().filter(|c| !matches!(c, b'\\' | b'\n')).collect()
    }

    /// Returns the error for `t`.
    #[cold]
    pub fn unexpected_token(&mut self, t: &SyntaxToken) -> Box<SyntaxError> {
        if t.kind == Tk::Eof {
            let line = self.eof_line();
            if self.subs > 0 {
                return self.unclosed_error(b')', line);
            }
            let mut e = self.make_error(line, SyntaxCause::UnexpectedEnd);
            e.incomplete = true;
            return e;
        }
        let token = match t.kind {
            Tk::Newline => {
                self.line = t.line;
                b"newline".to_vec()
            }
            _ => shown_token(&self.token_text(t)),
        };
        let mut at = if t.kind == Tk::Newline { t.start } else { t.end.saturating_sub(1) };
        // bash has also read the byte after a token that is not a word.
        let mut behind = t.end;
        while !matches!(t.kind, Tk::Newline | Tk::Word)
            && self.src.get(behind..).is_some_and(|rest| rest.starts_with(b"\\\n"))
        {
            self.add_lines(u32::from(self.pos <= behind));
            behind += 2;
        }
        if self.src.get(..behind).is_some_and(|text| text.ends_with(b"\\\n")) {
            at = behind;
        }
        let line = self.source_line(at);
        let mut e = self.make_error(line.0, SyntaxCause::UnexpectedToken(token.into()));
        e.more.push(line);
        e
    }
}

/// Returns a token in the form that messages show: quoted if it has control characters or invalid
/// bytes. bash puts a byte 1 before the bytes 1 and 127.
fn shown_token(token: &[u8]) -> Vec<u8> {
    let quoted = set_quote(token);
    if !quoted.starts_with(b"$'") || token.starts_with(b"$'") {
        return token.to_vec();
    }
    if !token.iter().any(|byte| matches!(byte, 1 | 0x7f)) {
        return quoted;
    }
    let mark = |&byte: &u8| matches!(byte, 1 | 0x7f).then_some(1).into_iter().chain([byte]);
    set_quote(&token.iter().flat_map(mark).collect::<Vec<u8>>())
}
