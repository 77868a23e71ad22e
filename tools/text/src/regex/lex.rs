//! Tokens of a pattern outside brackets, by the dialect's rules.

use super::ast::Look;
use super::class::decode_char;
use super::error::RegexError;
use super::options::DialectRules;
use crate::escape::control_char;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RegexToken {
    /// One character, as its bytes; also `b"{"` and others where they have no special meaning.
    Char(Vec<u8>),
    Any,
    OpenBracket,
    Open,
    Close,
    Alternate,
    Star,
    Plus,
    Question,
    OpenInterval,
    CloseInterval,
    Look(Look),
    Backref(u32),
    /// `\w`, `\s`; negated for `\W`, `\S`.
    Word(bool),
    Space(bool),
    End,
}

pub(super) struct RegexLexer<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub rules: DialectRules,
    pub utf8: bool,
}

impl RegexLexer<'_> {
    fn peek_byte(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// Returns the next token. `caret` says that a `^` here is an anchor wherever it stands (after
    /// `\(`, `\|`).
    pub(super) fn next(&mut self, caret: bool) -> Result<RegexToken, RegexError> {
        let Some(c) = self.peek_byte(0) else { return Ok(RegexToken::End) };
        let start = self.at;
        self.at += 1;
        let r = self.rules;
        Ok(match c {
            b'\\' => return self.lex_escape(),
            b'.' => RegexToken::Any,
            b'[' => RegexToken::OpenBracket,
            b'*' => RegexToken::Star,
            b'+' if !r.bk_plus_qm && !r.limited => RegexToken::Plus,
            b'?' if !r.bk_plus_qm && !r.limited => RegexToken::Question,
            b'(' if !r.bk_parens => RegexToken::Open,
            b')' if !r.bk_parens => RegexToken::Close,
            b'{' if r.intervals && !r.bk_braces => RegexToken::OpenInterval,
            b'}' if r.intervals && !r.bk_braces => RegexToken::CloseInterval,
            b'|' if !r.bk_vbar && !r.limited => RegexToken::Alternate,
            b'\n' if r.newline_alternates => RegexToken::Alternate,
            b'^' if r.anchors_anywhere || caret || start == 0 || self.after_newline(start) => {
                RegexToken::Look(Look::LineStart)
            }
            b'$' if r.anchors_anywhere || self.dollar_is_anchor()? => {
                RegexToken::Look(Look::LineEnd)
            }
            _ => {
                let width = match decode_char(&self.text[start..]) {
                    Some((_, width)) if self.utf8 => width,
                    _ => 1,
                };
                self.at = start + width;
                RegexToken::Char(self.text[start..self.at].to_vec())
            }
        })
    }

    fn after_newline(&self, start: usize) -> bool {
        self.rules.newline_alternates && start > 0 && self.text[start - 1] == b'\n'
    }

    /// In a basic expression `$` is an anchor at the end and before `\)`, `\|`.
    fn dollar_is_anchor(&mut self) -> Result<bool, RegexError> {
        let at = self.at;
        let next = match self.next(false) {
            // A trailing backslash is reported when it is reached.
            Err(RegexError::TrailingBackslash) => Ok(RegexToken::Char(Vec::new())),
            other => other,
        };
        self.at = at;
        Ok(matches!(next?, RegexToken::End | RegexToken::Close | RegexToken::Alternate))
    }

    fn lex_escape(&mut self) -> Result<RegexToken, RegexError> {
        let start = self.at;
        let Some(c) = self.peek_byte(0) else { return Err(RegexError::TrailingBackslash) };
        self.at += 1;
        let r = self.rules;
        if r.awk_escapes
            && let Some(byte) = self.awk_escape(c)
        {
            return Ok(RegexToken::Char(vec![byte]));
        }
        Ok(match c {
            b'|' if r.bk_vbar && !r.limited => RegexToken::Alternate,
            b'(' if r.bk_parens => RegexToken::Open,
            b')' if r.bk_parens => RegexToken::Close,
            b'{' if r.bk_braces && r.intervals => RegexToken::OpenInterval,
            b'}' if r.bk_braces && r.intervals => RegexToken::CloseInterval,
            b'+' if r.bk_plus_qm && !r.limited => RegexToken::Plus,
            b'?' if r.bk_plus_qm && !r.limited => RegexToken::Question,
            b'1'..=b'9' if r.backrefs => RegexToken::Backref(u32::from(c - b'0')),
            b'<' => RegexToken::Look(Look::WordStart),
            b'>' => RegexToken::Look(Look::WordEnd),
            b'y' if r.awk_escapes => RegexToken::Look(Look::WordEdge),
            b'b' => RegexToken::Look(Look::WordEdge),
            b'B' => RegexToken::Look(Look::NotWordEdge),
            b'`' => RegexToken::Look(Look::TextStart),
            b'\'' => RegexToken::Look(Look::TextEnd),
            b'w' => RegexToken::Word(false),
            b'W' => RegexToken::Word(true),
            b's' => RegexToken::Space(false),
            b'S' => RegexToken::Space(true),
            _ => {
                let width = match decode_char(&self.text[start..]) {
                    Some((_, width)) if self.utf8 => width,
                    _ => 1,
                };
                self.at = start + width;
                RegexToken::Char(self.text[start..self.at].to_vec())
            }
        })
    }

    /// Reads an escape of awk's strings (POSIX awk, "Regular Expressions"); `c` follows the
    /// backslash and is already consumed.
    pub(super) fn awk_escape(&mut self, c: u8) -> Option<u8> {
        Some(match c {
            b'0'..=b'7' => {
                let mut value = u32::from(c - b'0');
                for _ in 0..2 {
                    match self.peek_byte(0) {
                        Some(d @ b'0'..=b'7') => value = value * 8 + u32::from(d - b'0'),
                        _ => break,
                    }
                    self.at += 1;
                }
                (value & 0xFF) as u8
            }
            b'x' => {
                let mut value = None;
                for _ in 0..2 {
                    let Some(d) = self.peek_byte(0).and_then(|d| char::from(d).to_digit(16)) else {
                        break;
                    };
                    value = Some(value.unwrap_or(0) * 16 + d);
                    self.at += 1;
                }
                (value? & 0xFF) as u8
            }
            _ => return control_char(c),
        })
    }
}
