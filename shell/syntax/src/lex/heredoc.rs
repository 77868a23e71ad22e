//! Here-documents (POSIX XCU 2.7.4; bash manual 3.6.6).
//!
//! A redirection is parsed before its body is available, because the body follows the next newline
//! token. The tree contains the here-document at once; its body is filled in later.

use std::rc::Rc;

use super::{CommandParser, Res};
use crate::ast::*;
use crate::error::{SyntaxError, SyntaxWarning};

/// A here-document whose body has not been read, and the line of its command.
pub(crate) struct PendingDoc {
    doc: Rc<HereDoc>,
    command_line: u32,
}

#[derive(Default)]
pub(crate) struct Docs {
    /// The here-documents whose operators have been parsed but whose bodies have not been read.
    pub pending: Vec<PendingDoc>,
    /// The index of the first here-document whose body follows the next newline; the operators of
    /// those before it are outside of the current substitution.
    pub base: usize,
}

impl Docs {
    /// Starts a substitution and returns the value that [`Docs::base`] must have again after it.
    pub fn enter_substitution(&mut self) -> usize {
        std::mem::replace(&mut self.base, self.pending.len())
    }

    /// Returns whether bodies follow the next newline.
    pub fn is_due(&self) -> bool {
        self.pending.len() > self.base
    }

    /// Removes all here-documents.
    pub fn clear_all(&mut self) {
        *self = Docs::default();
    }
}

impl CommandParser<'_, '_> {
    /// Announces a here-document whose delimiter is spelled `raw`.
    pub fn announce_doc(&mut self, raw: &[u8], strip_tabs: bool) -> Rc<HereDoc> {
        let quoted = raw.iter().any(|b| matches!(b, b'\\' | b'\'' | b'"'));
        let delimiter: Text = if quoted { unquote_delimiter(raw).into() } else { raw.into() };
        let doc = Rc::new(HereDoc { delimiter, strip_tabs, quoted, body: DocBody::default() });
        let command_line = self.line_of_words(self.line);
        self.docs.pending.push(PendingDoc { doc: doc.clone(), command_line });
        doc
    }

    /// Reads the bodies of all pending here-documents, with `pos` at the start of a line.
    #[inline(never)]
    pub fn read_heredocs(&mut self) -> Res<()> {
        let base = self.docs.base.min(self.docs.pending.len());
        let pending = self.docs.pending.split_off(base);
        for PendingDoc { doc, command_line } in pending {
            let first_line = self.line;
            let text = self.doc_text(&doc, first_line);
            doc.body.fill(if doc.quoted {
                super::assign::quoted_word(&text)
            } else {
                self.doc_body(text, first_line, command_line)?
            });
        }
        Ok(())
    }

    /// Returns the error for the token read ahead, which follows a complete list. The list's
    /// here-documents are read first, as in bash.
    #[cold]
    pub fn unexpected_behind_docs(&mut self) -> Box<SyntaxError> {
        if self.docs.is_due() {
            let at = self.pos;
            match memchr::memchr(b'\n', self.rest_bytes()) {
                Some(i) => self.advance_to(at + i + 1),
                None => self.advance_to(self.src.len()),
            }
            if let Err(e) = self.read_heredocs() {
                return e;
            }
            self.pos = at;
            self.line = self.line.saturating_sub(1);
        }
        self.unexpected_token_error()
    }

    /// Appends the line at `pos` with its newline to `line`; returns `false` at the end of input.
    fn doc_line(&mut self, line: &mut Vec<u8>) -> bool {
        if self.peek_byte().is_none() {
            return false;
        }
        loop {
            let rest = self.rest_bytes();
            let (n, found) = match memchr::memchr(b'\n', rest) {
                Some(i) => (i + 1, true),
                None => (rest.len(), false),
            };
            line.extend_from_slice(rest.get(..n).unwrap_or_default());
            self.pos += n;
            if found {
                self.add_lines(1);
                return true;
            }
            if self.peek_byte().is_none() {
                return true;
            }
        }
    }

    /// Reads the body's text up to the delimiter, with tabs stripped and lines joined.
    fn doc_text(&mut self, p: &HereDoc, first_line: u32) -> Vec<u8> {
        let mut text = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let at = self.pos;
            if !self.doc_line(&mut line) {
                self.warn_eof(p, first_line);
                return text;
            }
            if p.strip_tabs {
                let tabs = line.iter().take_while(|&&b| b == b'\t').count();
                line.drain(..tabs);
            }
            if !p.quoted {
                while ends_in_continuation(&line) {
                    line.truncate(line.len() - 2);
                    if !self.doc_line(&mut line) {
                        line.push(b'\n');
                        break;
                    }
                    // If a continuation joins lines, tabs at the beginning of the second are
                    // removed only if the first has no text.
                    if p.strip_tabs && line.first() == Some(&b'\t') {
                        let tabs = line.iter().take_while(|&&b| b == b'\t').count();
                        line.drain(..tabs);
                    }
                }
            }
            if !p.quoted && line.iter().rev().take_while(|c| **c == b'\\').count() % 2 == 1 {
                // The input ends after a backslash, which bash removes. The missing newline is
                // added, because printed text always has one.
                line.pop();
                line.push(b'\n');
            }
            let bare = line.strip_suffix(b"\n").unwrap_or(&line);
            if *bare == *p.delimiter {
                return text;
            }
            // `EOF)` ends the document inside `$(...)`.
            if self.subs > 0
                && let Some(after) = bare.strip_prefix(&*p.delimiter)
                && after.contains(&b')')
            {
                self.warn_eof(p, first_line);
                let back = line.len() - p.delimiter.len();
                if self.pos - at >= back {
                    let newlines = memchr::memchr_iter(b'\n', &line).count() as u32;
                    self.pos -= back;
                    self.line -= newlines.min(self.line);
                }
                return text;
            }
            text.extend_from_slice(&line);
            if p.quoted && line.last() != Some(&b'\n') {
                // The last line of the input ends in a backslash.
                text.push(b'\n');
            }
        }
    }

    fn warn_eof(&mut self, p: &HereDoc, first_line: u32) {
        // bash reports the number of lines before the body, not before the redirection.
        let before = first_line.saturating_sub(1);
        let mut message =
            format!("here-document at line {before} delimited by end-of-file (wanted `")
                .into_bytes();
        message.extend_from_slice(&p.delimiter);
        message.extend_from_slice(b"')");
        let line = self.line.saturating_sub(1);
        self.warnings.push(SyntaxWarning { line, message: message.into() });
    }

    /// Parses the body as a word.
    fn doc_body(&mut self, text: Vec<u8>, first_line: u32, command_line: u32) -> Res<Word> {
        if memchr::memchr3(b'$', b'`', b'\\', &text).is_none() {
            return Ok(super::assign::quoted_word(&text));
        }
        self.enter_nested(4)?;
        let word = self.parse_doc_body(text, first_line, command_line);
        self.leave_nested(4);
        Ok(word)
    }

    /// Ends a substitution that began with [`Docs::enter_substitution`], which returned `outer`.
    pub fn leave_docs(&mut self, outer: usize) {
        let count = self.docs.pending.len().saturating_sub(self.docs.base);
        self.docs.base = outer;
        if count > 0 {
            let s = if count == 1 { "" } else { "s" };
            let message = format!("command substitution: {count} unterminated here-document{s}");
            let warning = SyntaxWarning { line: self.line, message: message.into_bytes().into() };
            self.warnings.push(warning);
        }
    }
}

/// Returns whether the line ends in an unescaped backslash before its newline.
fn ends_in_continuation(line: &[u8]) -> bool {
    let Some(line) = line.strip_suffix(b"\n") else { return false };
    let slashes = line.iter().rev().take_while(|&&b| b == b'\\').count();
    slashes % 2 == 1
}

/// Removes the quotes from a delimiter as it is spelled.
fn unquote_delimiter(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut quote = 0u8;
    let mut bytes = raw.iter().copied().peekable();
    while let Some(b) = bytes.next() {
        match b {
            b'\\' if quote == 0 => out.extend(bytes.next()),
            b'\\' if quote == b'"' => match bytes.peek() {
                Some(b'$' | b'`' | b'"' | b'\\') => out.extend(bytes.next()),
                _ => out.push(b),
            },
            b'\'' | b'"' if quote == 0 => quote = b,
            _ if b == quote => quote = 0,
            _ => out.push(b),
        }
    }
    out
}
