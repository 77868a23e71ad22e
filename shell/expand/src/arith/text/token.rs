//! Tokens of arithmetic text.

use sh_syntax::ast::ArithBinary;

use crate::arith::number::{self, Bad};
use crate::error::{Cause, ExpandError};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    End,
    Number(i64),
    Name(Name<'t>),
    Binary(ArithBinary),
    /// `=`, `+=` ...
    Assign(Option<ArithBinary>),
    And,
    Or,
    Not,
    Complement,
    Question,
    Colon,
    Comma,
    Open,
    Close,
    /// `++` or `--` before a name, as what it adds.
    Increment(i64),
    /// The same behind a name.
    PostIncrement(i64),
    /// A character that no expression has.
    Unknown,
}

/// A variable, perhaps with a subscript.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Name<'t> {
    pub(super) text: &'t [u8],
    pub(super) subscript: Option<&'t [u8]>,
}

/// What the token before was: it decides how `+` signs and strange characters are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Operator,
    Name,
    /// A number or a closing parenthesis.
    Value,
}

pub(super) struct Scanner<'t> {
    source: &'t [u8],
    /// Where the current token begins; at the end of the text, where the last one began.
    start: usize,
    at: usize,
    before: Before,
}

impl<'t> Scanner<'t> {
    pub(super) fn new(source: &'t [u8]) -> Scanner<'t> {
        // Messages leave leading blanks out, but no newlines.
        let blanks = source.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        Scanner { source: &source[blanks..], start: 0, at: 0, before: Before::Operator }
    }

    pub(super) fn source(&self) -> &'t [u8] {
        self.source
    }

    pub(super) fn is_blank(&self) -> bool {
        blank_run(self.source) == self.source.len()
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// `expression: message (error token is "rest")`.
    pub(super) fn error(&self, message: &str, token: usize) -> ExpandError {
        error(self.source, message, self.source.get(token..).unwrap_or_default())
    }

    /// Whether a plain `=` comes next.
    pub(super) fn assignment_follows(&self) -> bool {
        let rest = self.rest();
        let rest = &rest[blank_run(rest)..];
        rest.first() == Some(&b'=') && rest.get(1) != Some(&b'=')
    }

    fn rest(&self) -> &'t [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    pub(super) fn next(&mut self) -> Result<Token<'t>, ExpandError> {
        self.at += blank_run(self.rest());
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Ok(Token::End) };
        self.start = self.at;
        let token = match first {
            b'0'..=b'9' => self.number()?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.name()?,
            _ => {
                let (token, length) = self.operator(rest);
                self.at += length;
                token
            }
        };
        if token == Token::Unknown {
            let message = match self.before {
                Before::Operator => "syntax error: operand expected",
                Before::Name | Before::Value => "syntax error: invalid arithmetic operator",
            };
            return Err(self.error(message, self.start));
        }
        self.before = match token {
            Token::Name(_) => Before::Name,
            Token::Number(_) | Token::Close | Token::PostIncrement(_) => Before::Value,
            _ => Before::Operator,
        };
        Ok(token)
    }

    fn number(&mut self) -> Result<Token<'t>, ExpandError> {
        let digits = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'@' | b'_');
        let rest = self.rest();
        let length = rest.iter().position(|b| !digits(b)).unwrap_or(rest.len());
        self.at += length;
        number::constant(&rest[..length]).map(Token::Number).map_err(|bad| {
            let message = match bad {
                Bad::Digit => "value too great for base",
                Bad::Base => "invalid arithmetic base",
                Bad::Number => "invalid number",
                Bad::Constant => "invalid integer constant",
            };
            // bash cuts the text off behind the number here.
            error(&self.source[..self.at], message, &rest[..length])
        })
    }

    fn name(&mut self) -> Result<Token<'t>, ExpandError> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|b| !(b.is_ascii_alphanumeric() || *b == b'_'))
            .unwrap_or(rest.len());
        let text = &rest[..length];
        self.at += length;
        if rest.get(length) != Some(&b'[') {
            return Ok(Token::Name(Name { text, subscript: None }));
        }
        let inside = &rest[length + 1..];
        match closing_bracket(inside) {
            Some(end) => {
                self.at += end + 2;
                Ok(Token::Name(Name { text, subscript: Some(&inside[..end]) }))
            }
            None => Err(self.error("bad array subscript", self.start)),
        }
    }

    fn operator(&self, rest: &[u8]) -> (Token<'t>, usize) {
        use ArithBinary as B;
        let second = rest.get(1).copied().unwrap_or(0);
        let third = rest.get(2).copied().unwrap_or(0);
        match (rest[0], second, third) {
            (b'*', b'*', _) => (Token::Binary(B::Pow), 2),
            (b'<', b'<', b'=') => (Token::Assign(Some(B::ShiftLeft)), 3),
            (b'>', b'>', b'=') => (Token::Assign(Some(B::ShiftRight)), 3),
            (b'<', b'<', _) => (Token::Binary(B::ShiftLeft), 2),
            (b'>', b'>', _) => (Token::Binary(B::ShiftRight), 2),
            (b'=', b'=', _) => (Token::Binary(B::Equal), 2),
            (b'!', b'=', _) => (Token::Binary(B::NotEqual), 2),
            (b'<', b'=', _) => (Token::Binary(B::LessEq), 2),
            (b'>', b'=', _) => (Token::Binary(B::GreaterEq), 2),
            (b'&', b'&', _) => (Token::And, 2),
            (b'|', b'|', _) => (Token::Or, 2),
            (b'+', b'=', _) => (Token::Assign(Some(B::Add)), 2),
            (b'-', b'=', _) => (Token::Assign(Some(B::Sub)), 2),
            (b'*', b'=', _) => (Token::Assign(Some(B::Mul)), 2),
            (b'/', b'=', _) => (Token::Assign(Some(B::Div)), 2),
            (b'%', b'=', _) => (Token::Assign(Some(B::Rem)), 2),
            (b'&', b'=', _) => (Token::Assign(Some(B::BitAnd)), 2),
            (b'^', b'=', _) => (Token::Assign(Some(B::BitXor)), 2),
            (b'|', b'=', _) => (Token::Assign(Some(B::BitOr)), 2),
            (sign @ (b'+' | b'-'), next, _) if next == sign => self.doubled(sign, rest),
            (b'+', _, _) => (Token::Binary(B::Add), 1),
            (b'-', _, _) => (Token::Binary(B::Sub), 1),
            (b'*', _, _) => (Token::Binary(B::Mul), 1),
            (b'/', _, _) => (Token::Binary(B::Div), 1),
            (b'%', _, _) => (Token::Binary(B::Rem), 1),
            (b'<', _, _) => (Token::Binary(B::Less), 1),
            (b'>', _, _) => (Token::Binary(B::Greater), 1),
            (b'&', _, _) => (Token::Binary(B::BitAnd), 1),
            (b'^', _, _) => (Token::Binary(B::BitXor), 1),
            (b'|', _, _) => (Token::Binary(B::BitOr), 1),
            (b'=', _, _) => (Token::Assign(None), 1),
            (b'!', _, _) => (Token::Not, 1),
            (b'~', _, _) => (Token::Complement, 1),
            (b'?', _, _) => (Token::Question, 1),
            (b':', _, _) => (Token::Colon, 1),
            (b',', _, _) => (Token::Comma, 1),
            (b'(', _, _) => (Token::Open, 1),
            (b')', _, _) => (Token::Close, 1),
            _ => (Token::Unknown, 0),
        }
    }

    /// `++` and `--` belong to a name before or behind them; elsewhere they are two signs.
    fn doubled(&self, sign: u8, rest: &[u8]) -> (Token<'t>, usize) {
        let (delta, single) = match sign {
            b'+' => (1, ArithBinary::Add),
            _ => (-1, ArithBinary::Sub),
        };
        if self.before == Before::Name {
            return (Token::PostIncrement(delta), 2);
        }
        let behind = &rest[2..];
        match behind.get(blank_run(behind)) {
            Some(b) if b.is_ascii_alphabetic() || *b == b'_' => (Token::Increment(delta), 2),
            _ => (Token::Binary(single), 1),
        }
    }
}

fn error(source: &[u8], message: &str, token: &[u8]) -> ExpandError {
    Cause::Arithmetic {
        expression: source.to_vec(),
        reason: message.to_string(),
        token: token.to_vec(),
    }
    .into()
}

fn blank_run(text: &[u8]) -> usize {
    text.iter().position(|b| !matches!(b, b' ' | b'\t' | b'\n')).unwrap_or(text.len())
}

/// The bracket that closes a subscript: brackets nest, quoted text and `$(...)` hide theirs.
pub fn closing_bracket(text: &[u8]) -> Option<usize> {
    let mut level = 0usize;
    let mut parentheses = 0usize;
    let mut quote = 0u8;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' if quote != b'\'' => at += 1,
            _ if quote != 0 => {
                if byte == quote {
                    quote = 0;
                }
            }
            b'\'' | b'"' | b'`' => quote = byte,
            b'$' if text.get(at + 1) == Some(&b'(') => {
                parentheses += 1;
                at += 1;
            }
            b'(' if parentheses > 0 => parentheses += 1,
            b')' if parentheses > 0 => parentheses -= 1,
            b'[' => level += 1,
            b']' if level > 0 => level -= 1,
            b']' if parentheses == 0 => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
