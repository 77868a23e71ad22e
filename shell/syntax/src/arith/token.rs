//! Tokens of arithmetic.

use super::MARKER;
use crate::ast::ArithBinary;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArithToken {
    End,
    Number(i64),
    Name(usize, usize),
    /// `name[`, with the name's and the subscript's range.
    Element((usize, usize), (usize, usize)),
    /// An expansion, identified by its number.
    Operand(usize),
    Binary(ArithBinary),
    /// `op=`
    AssignOp(ArithBinary),
    /// `=`
    Assign,
    AndAnd,
    OrOr,
    Not,
    Complement,
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
    Question,
    Colon,
    Comma,
    LParen,
    RParen,
}

pub(super) struct ArithLexer<'a> {
    pub text: &'a [u8],
    pub pos: usize,
    /// Start of the last token that is not the end.
    pub last_start: usize,
    /// The number of expansions so far.
    operands: usize,
    /// Number of the first expansion in the subscript of the last element.
    pub subscript_operands: usize,
    /// Whether the last token is an invalid constant, after which messages cut off the text.
    pub bad_number: bool,
}

/// The reason why a token cannot be read.
pub(super) type Fail = &'static str;

impl<'a> ArithLexer<'a> {
    /// Returns a lexer at the beginning of an expression whose expansions are counted from
    /// `operands`.
    pub fn new(text: &'a [u8], operands: usize) -> Self {
        ArithLexer {
            text,
            pos: 0,
            last_start: 0,
            operands,
            subscript_operands: 0,
            bad_number: false,
        }
    }

    fn byte_at(&self, i: usize) -> u8 {
        self.text.get(i).copied().unwrap_or(b' ')
    }

    /// Returns the token after `current`.
    pub fn next(&mut self, current: ArithToken) -> Result<ArithToken, Fail> {
        while self.text.get(self.pos).is_some_and(|b| matches!(b, b' ' | b'\t' | b'\n')) {
            self.pos += 1;
        }
        let start = self.pos;
        let Some(&c) = self.text.get(start) else { return Ok(ArithToken::End) };
        self.last_start = start;
        if c.is_ascii_alphabetic() || c == b'_' {
            return self.name(start);
        }
        if c.is_ascii_digit() {
            let mut end = start + 1;
            while self
                .text
                .get(end)
                .is_some_and(|&b| b.is_ascii_alphanumeric() || matches!(b, b'#' | b'@' | b'_'))
            {
                end += 1;
            }
            self.pos = end;
            let digits = self.text.get(start..end).unwrap_or_default();
            return super::number::parse_constant(digits).map(ArithToken::Number).inspect_err(
                |_| {
                    self.bad_number = true;
                },
            );
        }
        if c == MARKER {
            self.pos += 1;
            self.operands += 1;
            return Ok(ArithToken::Operand(self.operands - 1));
        }
        self.lex_operator(c, current)
    }

    fn name(&mut self, start: usize) -> Result<ArithToken, Fail> {
        let mut end = start + 1;
        while self.text.get(end).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_') {
            end += 1;
        }
        self.pos = end;
        if self.text.get(end) != Some(&b'[') {
            return Ok(ArithToken::Name(start, end));
        }
        let inside = self.text.get(end + 1..).unwrap_or_default();
        let Some(length) = closing_bracket(inside) else { return Err("bad array subscript") };
        let close = end + 1 + length;
        self.pos = close + 1;
        self.subscript_operands = self.operands;
        let subscript = self.text.get(end..close).unwrap_or_default();
        self.operands += memchr::memchr_iter(MARKER, subscript).count();
        Ok(ArithToken::Element((start, end), (end + 1, close)))
    }

    fn lex_operator(&mut self, c: u8, current: ArithToken) -> Result<ArithToken, Fail> {
        use ArithBinary as B;
        let (c1, c2) = (self.byte_at(self.pos + 1), self.byte_at(self.pos + 2));
        let (len, tok) = match (c, c1) {
            (b'*', b'*') => (2, ArithToken::Binary(B::Pow)),
            (b'<', b'<') if c2 == b'=' => (3, ArithToken::AssignOp(B::ShiftLeft)),
            (b'>', b'>') if c2 == b'=' => (3, ArithToken::AssignOp(B::ShiftRight)),
            (b'<', b'<') => (2, ArithToken::Binary(B::ShiftLeft)),
            (b'>', b'>') => (2, ArithToken::Binary(B::ShiftRight)),
            (b'<', b'=') => (2, ArithToken::Binary(B::LessEq)),
            (b'>', b'=') => (2, ArithToken::Binary(B::GreaterEq)),
            (b'=', b'=') => (2, ArithToken::Binary(B::Equal)),
            (b'!', b'=') => (2, ArithToken::Binary(B::NotEqual)),
            (b'&', b'&') => (2, ArithToken::AndAnd),
            (b'|', b'|') => (2, ArithToken::OrOr),
            (b'+' | b'-', _) if c1 == c => return self.lex_doubled(c, current),
            (b'*', b'=') => (2, ArithToken::AssignOp(B::Mul)),
            (b'/', b'=') => (2, ArithToken::AssignOp(B::Div)),
            (b'%', b'=') => (2, ArithToken::AssignOp(B::Rem)),
            (b'+', b'=') => (2, ArithToken::AssignOp(B::Add)),
            (b'-', b'=') => (2, ArithToken::AssignOp(B::Sub)),
            (b'&', b'=') => (2, ArithToken::AssignOp(B::BitAnd)),
            (b'^', b'=') => (2, ArithToken::AssignOp(B::BitXor)),
            (b'|', b'=') => (2, ArithToken::AssignOp(B::BitOr)),
            (b'*', _) => (1, ArithToken::Binary(B::Mul)),
            (b'/', _) => (1, ArithToken::Binary(B::Div)),
            (b'%', _) => (1, ArithToken::Binary(B::Rem)),
            (b'+', _) => (1, ArithToken::Binary(B::Add)),
            (b'-', _) => (1, ArithToken::Binary(B::Sub)),
            (b'<', _) => (1, ArithToken::Binary(B::Less)),
            (b'>', _) => (1, ArithToken::Binary(B::Greater)),
            (b'&', _) => (1, ArithToken::Binary(B::BitAnd)),
            (b'^', _) => (1, ArithToken::Binary(B::BitXor)),
            (b'|', _) => (1, ArithToken::Binary(B::BitOr)),
            (b'=', _) => (1, ArithToken::Assign),
            (b'!', _) => (1, ArithToken::Not),
            (b'~', _) => (1, ArithToken::Complement),
            (b'?', _) => (1, ArithToken::Question),
            (b':', _) => (1, ArithToken::Colon),
            (b',', _) => (1, ArithToken::Comma),
            (b'(', _) => (1, ArithToken::LParen),
            (b')', _) => (1, ArithToken::RParen),
            _ => {
                return match current {
                    ArithToken::Number(_)
                    | ArithToken::Name(..)
                    | ArithToken::Element(..)
                    | ArithToken::Operand(_)
                    | ArithToken::RParen
                    | ArithToken::PostIncrement
                    | ArithToken::PostDecrement => Err("syntax error: invalid arithmetic operator"),
                    _ => Err("syntax error: operand expected"),
                };
            }
        };
        self.pos += len;
        Ok(tok)
    }

    /// Lexes `++` or `--`: after a variable it is a postfix operator, before one a prefix operator,
    /// and otherwise two signs.
    fn lex_doubled(&mut self, c: u8, current: ArithToken) -> Result<ArithToken, Fail> {
        let plus = c == b'+';
        if matches!(current, ArithToken::Name(..) | ArithToken::Element(..)) {
            self.pos += 2;
            return Ok(if plus { ArithToken::PostIncrement } else { ArithToken::PostDecrement });
        }
        let after = self.text.get(self.pos + 2..).unwrap_or_default();
        let next = after.iter().find(|b| !matches!(b, b' ' | b'\t' | b'\n'));
        if next.is_some_and(|&b| b.is_ascii_alphabetic() || b == b'_') {
            self.pos += 2;
            return Ok(if plus { ArithToken::PreIncrement } else { ArithToken::PreDecrement });
        }
        self.pos += 1;
        Ok(ArithToken::Binary(if plus { ArithBinary::Add } else { ArithBinary::Sub }))
    }
}

/// Returns the place of the bracket that closes a subscript. Brackets nest; those in quoted text
/// and `$(...)` do not count.
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
