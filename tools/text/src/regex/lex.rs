//! Tokens of a pattern outside brackets, by the dialect's rules.

use super::ast::Look;
use super::class::decode;
use super::error::RegexError;
use super::options::Rules;
use crate::escape::named;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// One character, as its bytes; `b"{"` and the like when they lost their meaning.
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

pub(super) struct Lexer<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub rules: Rules,
    pub utf8: bool,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    /// The next token. `caret` says that a `^` here is an anchor wherever it stands (after
    /// `\(`, `\|`).
    pub(super) fn next(&mut self, caret: bool) -> Result<Token, RegexError> {
        let Some(c) = self.peek(0) else { return Ok(Token::End) };
        let start = self.at;
        self.at += 1;
        let r = self.rules;
        Ok(match c {
            b'\\' => return self.escape(),
            b'.' => Token::Any,
            b'[' => Token::OpenBracket,
            b'*' => Token::Star,
            b'+' if !r.bk_plus_qm && !r.limited => Token::Plus,
            b'?' if !r.bk_plus_qm && !r.limited => Token::Question,
            b'(' if !r.bk_parens => Token::Open,
            b')' if !r.bk_parens => Token::Close,
            b'{' if r.intervals && !r.bk_braces => Token::OpenInterval,
            b'}' if r.intervals && !r.bk_braces => Token::CloseInterval,
            b'|' if !r.bk_vbar && !r.limited => Token::Alternate,
            b'\n' if r.newline_alternates => Token::Alternate,
            b'^' if r.anchors_anywhere || caret || start == 0 || self.after_newline(start) => {
                Token::Look(Look::LineStart)
            }
            b'$' if r.anchors_anywhere || self.dollar_is_anchor()? => Token::Look(Look::LineEnd),
            _ => {
                let width = match decode(&self.text[start..]) {
                    Some((_, width)) if self.utf8 => width,
                    _ => 1,
                };
                self.at = start + width;
                Token::Char(self.text[start..self.at].to_vec())
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
            Err(RegexError::TrailingBackslash) => Ok(Token::Char(Vec::new())),
            other => other,
        };
        self.at = at;
        Ok(matches!(next?, Token::End | Token::Close | Token::Alternate))
    }

    fn escape(&mut self) -> Result<Token, RegexError> {
        let start = self.at;
        let Some(c) = self.peek(0) else { return Err(RegexError::TrailingBackslash) };
        self.at += 1;
        let r = self.rules;
        if r.awk_escapes
            && let Some(byte) = self.awk_escape(c)
        {
            return Ok(Token::Char(vec![byte]));
        }
        Ok(match c {
            b'|' if r.bk_vbar && !r.limited => Token::Alternate,
            b'(' if r.bk_parens => Token::Open,
            b')' if r.bk_parens => Token::Close,
            b'{' if r.bk_braces && r.intervals => Token::OpenInterval,
            b'}' if r.bk_braces && r.intervals => Token::CloseInterval,
            b'+' if r.bk_plus_qm && !r.limited => Token::Plus,
            b'?' if r.bk_plus_qm && !r.limited => Token::Question,
            b'1'..=b'9' if r.backrefs => Token::Backref(u32::from(c - b'0')),
            b'<' => Token::Look(Look::WordStart),
            b'>' => Token::Look(Look::WordEnd),
            b'y' if r.awk_escapes => Token::Look(Look::WordEdge),
            b'b' => Token::Look(Look::WordEdge),
            b'B' => Token::Look(Look::NotWordEdge),
            b'`' => Token::Look(Look::TextStart),
            b'\'' => Token::Look(Look::TextEnd),
            b'w' => Token::Word(false),
            b'W' => Token::Word(true),
            b's' => Token::Space(false),
            b'S' => Token::Space(true),
            _ => {
                let width = match decode(&self.text[start..]) {
                    Some((_, width)) if self.utf8 => width,
                    _ => 1,
                };
                self.at = start + width;
                Token::Char(self.text[start..self.at].to_vec())
            }
        })
    }

    /// Escapes of awk's strings (POSIX awk, "Regular Expressions"); `c` follows the backslash
    /// and is consumed already.
    pub(super) fn awk_escape(&mut self, c: u8) -> Option<u8> {
        Some(match c {
            b'0'..=b'7' => {
                let mut value = u32::from(c - b'0');
                for _ in 0..2 {
                    match self.peek(0) {
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
                    let Some(d) = self.peek(0).and_then(|d| char::from(d).to_digit(16)) else {
                        break;
                    };
                    value = Some(value.unwrap_or(0) * 16 + d);
                    self.at += 1;
                }
                (value? & 0xFF) as u8
            }
            _ => return named(c),
        })
    }
}
