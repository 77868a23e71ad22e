//! Errors of the parser: causes with their data. The texts, in the words of bash 5.2, are made in
//! [`SyntaxCause::message`] only, and no code decides by them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::ast::Text;

/// A syntax error.
///
/// Bash prints one to three lines for it, each with its own prefix; [`SyntaxError::lines`]
/// gives them as `(line number, message)`:
/// ```text
/// bash: line 3: syntax error near unexpected token `)'
/// bash: line 3: `echo )'
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("line {line}: {}", String::from_utf8_lossy(&cause.message()))]
pub struct SyntaxError {
    /// The cause of the first message.
    pub cause: SyntaxCause,
    /// Line of the first message, counted from the parser's first line number; 0 if the message has
    /// none.
    pub line: u32,
    /// Further messages, for example the offending source line in bash's quotes.
    pub more: Vec<(u32, Text)>,
    /// Whether the input ended where more text could complete it.
    pub incomplete: bool,
}

/// The cause of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SyntaxCause {
    /// The parser's own limit was hit, not the grammar.
    TooDeep,
    /// The input ended before the byte that closes a quote or bracket.
    Unclosed(u8),
    /// The input ended within a command.
    UnexpectedEnd,
    /// A token, in the form that messages show, that is not allowed in its place.
    UnexpectedToken(Text),
    /// There is no token at all.
    NoToken,
    /// The input ended within `[[`.
    OpenCondition,
    /// An error in `[[ ]]`: bash's sentence, in which the token takes the place of `X`.
    Condition { sentence: Cow<'static, str>, token: Text },
    /// The head of `for ((` has less than three expressions.
    FewExpressions,
    /// The head of `for ((` has more than three expressions.
    ManyExpressions,
    /// The head of `for ((` has no `))`.
    OpenFor,
}

impl SyntaxCause {
    /// Returns bash's text.
    pub fn message(&self) -> Vec<u8> {
        match self {
            SyntaxCause::TooDeep => b"maximum nesting level exceeded".to_vec(),
            SyntaxCause::Unclosed(close) => {
                [b"unexpected EOF while looking for matching `", &[*close][..], b"'"].concat()
            }
            SyntaxCause::UnexpectedEnd => b"syntax error: unexpected end of file".to_vec(),
            SyntaxCause::UnexpectedToken(token) => {
                [b"syntax error near unexpected token `", &**token, b"'"].concat()
            }
            SyntaxCause::NoToken => b"syntax error".to_vec(),
            SyntaxCause::OpenCondition => b"unexpected EOF while looking for `]]'".to_vec(),
            SyntaxCause::Condition { sentence, token } => {
                let pieces: Vec<&[u8]> = sentence.as_bytes().split(|b| *b == b'X').collect();
                pieces.join(&**token)
            }
            SyntaxCause::FewExpressions => b"syntax error: arithmetic expression required".to_vec(),
            SyntaxCause::ManyExpressions => b"syntax error: `;' unexpected".to_vec(),
            SyntaxCause::OpenFor => b"syntax error: no `))' behind `for (('".to_vec(),
        }
    }
}

impl SyntaxError {
    /// Returns whether the parser's own limit was hit, not the grammar.
    pub fn is_limit(&self) -> bool {
        self.cause == SyntaxCause::TooDeep
    }

    /// Returns the byte that was missing, or that was not allowed in its place.
    pub fn byte(&self) -> Option<u8> {
        match &self.cause {
            SyntaxCause::Unclosed(close) => Some(*close),
            SyntaxCause::UnexpectedToken(token) => match **token {
                [byte] => Some(byte),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns whether more input may complete the command.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// Returns every message line with its line number, first to last.
    pub fn lines(&self) -> impl Iterator<Item = (u32, Cow<'_, [u8]>)> {
        let first: (u32, Cow<'_, [u8]>) = (self.line, Cow::Owned(self.cause.message()));
        let more = self.more.iter().map(|(line, text)| (*line, Cow::Borrowed(&**text)));
        Some(first).into_iter().filter(|(_, text)| !text.is_empty()).chain(more)
    }

    /// Returns the whole report, in which each line consists of `prefix`, `line N: ` and a message.
    /// In bash the prefix is `bash: `, `bash: -c: ` or `script: `, for example.
    pub fn render(&self, prefix: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for (line, message) in self.lines() {
            out.extend_from_slice(prefix);
            out.extend_from_slice(format!("line {line}: ").as_bytes());
            out.extend_from_slice(&message);
            out.push(b'\n');
        }
        out
    }
}

/// A warning that bash prints while reading, for example about a here-document ended by the end of
/// input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxWarning {
    pub line: u32,
    /// The text after `warning: `.
    pub message: Text,
}

/// An arithmetic expression that does not parse.
///
/// Bash prints `EXPRESSION: MESSAGE (error token is "TOKEN")`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{}: {message} (error token is \"{}\")",
    String::from_utf8_lossy(expression),
    String::from_utf8_lossy(token)
)]
/// The reason why an expression does not parse.
pub struct ArithError {
    /// The whole expression, leading blanks removed.
    pub expression: Text,
    /// The message, for example `syntax error: operand expected`.
    pub message: &'static str,
    /// The rest of the expression from the offending token on.
    pub token: Text,
}
