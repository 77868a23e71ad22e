//! Text to [`Node`]s. What is an operator where follows glibc's parser: context-dependent
//! `*`, `^`, `$`, lone parentheses and malformed intervals.

use super::ast::{MAX_DEPTH, Node};
use super::bracket;
use super::class::{Set, decode};
use super::error::RegexError;
use super::lex::{Lexer, Token};
use super::options::Options;

/// glibc's `RE_DUP_MAX`.
const DUP_MAX: u32 = 0x7FFF;

pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    options: &'a Options,
    token: Token,
    groups: u32,
    /// Bit n: group n is closed, so that `\n` may refer to it.
    closed: u32,
}

/// A parsed pattern and its number of groups.
pub(super) fn parse(text: &[u8], options: &Options) -> Result<(Node, u32), RegexError> {
    let rules = options.syntax.rules();
    let lexer = Lexer { text, at: 0, rules, utf8: options.utf8 };
    let mut p = Parser { lexer, options, token: Token::End, groups: 0, closed: 0 };
    p.advance(false)?;
    let node = p.alternatives(0)?;
    // At depth 0 only the end ends the alternatives.
    Ok((node, p.groups))
}

impl Parser<'_> {
    fn advance(&mut self, caret: bool) -> Result<(), RegexError> {
        self.token = self.lexer.next(caret)?;
        Ok(())
    }

    fn alternatives(&mut self, depth: u32) -> Result<Node, RegexError> {
        if depth > MAX_DEPTH {
            return Err(RegexError::TooBig);
        }
        let closed = self.closed;
        let first = self.branch(depth)?;
        if self.token != Token::Alternate {
            return Ok(first);
        }
        let mut all = vec![first];
        let mut seen = self.closed;
        while self.token == Token::Alternate {
            self.advance(true)?;
            // A group closed in another alternative cannot be referred to from this one.
            self.closed = closed;
            all.push(self.branch(depth)?);
            seen |= self.closed;
        }
        self.closed = seen;
        Ok(Node::Alternate(all))
    }

    fn branch(&mut self, depth: u32) -> Result<Node, RegexError> {
        let mut all = Vec::new();
        while !(matches!(self.token, Token::Alternate | Token::End)
            || depth > 0 && self.token == Token::Close)
        {
            let node = self.expression(depth)?;
            if !matches!(node, Node::Empty) {
                all.push(node);
            }
        }
        Ok(match all.len() {
            0 => Node::Empty,
            1 => all.remove(0),
            _ => Node::Concat(all),
        })
    }

    fn expression(&mut self, depth: u32) -> Result<Node, RegexError> {
        let rules = self.lexer.rules;
        let token = std::mem::replace(&mut self.token, Token::End);
        let node = match token {
            Token::Char(bytes) => self.char(bytes),
            Token::Any => {
                let mut set = Set::any(self.options.utf8);
                self.exclude_terminator(&mut set);
                if self.options.newline_apart {
                    set.remove(b'\n');
                }
                Node::Class(set)
            }
            Token::Word(negated) => self.escape_class(Set::word(self.options.utf8), negated),
            Token::Space(negated) => self.escape_class(Set::space(self.options.utf8), negated),
            Token::OpenBracket => bracket::parse(&mut self.lexer, self.options)?,
            Token::Open => self.group(depth)?,
            Token::Backref(n) => {
                if self.closed & (1 << n) == 0 {
                    return Err(RegexError::BackReference);
                }
                Node::Backref(n)
            }
            Token::Look(look) => {
                // An anchor takes no repetition: in `^*` the star is at the start.
                self.advance(true)?;
                return Ok(Node::Look(look));
            }
            Token::OpenInterval if rules.double_op_error => return Err(RegexError::Repetition),
            Token::Star | Token::Plus | Token::Question | Token::OpenInterval => {
                if rules.leading_op_error {
                    return Err(RegexError::Repetition);
                }
                if rules.leading_op_ignored {
                    // It repeats the empty string; a brace that opens no interval is left
                    // as a character for the next call.
                    self.token = token;
                    return self.repetitions(Node::Empty);
                }
                self.char(self.op_text(&token))
            }
            Token::Close if !rules.close_paren_literal => return Err(RegexError::CloseParen),
            Token::Close => self.char(b")".to_vec()),
            Token::CloseInterval => self.char(b"}".to_vec()),
            Token::Alternate | Token::End => Node::Empty,
        };
        self.advance(false)?;
        self.repetitions(node)
    }

    fn op_text(&self, token: &Token) -> Vec<u8> {
        match token {
            Token::Plus => b"+".to_vec(),
            Token::Question => b"?".to_vec(),
            Token::OpenInterval => b"{".to_vec(),
            _ => b"*".to_vec(),
        }
    }

    fn group(&mut self, depth: u32) -> Result<Node, RegexError> {
        self.groups += 1;
        let number = self.groups;
        self.advance(true)?;
        let inner =
            if self.token == Token::Close { Node::Empty } else { self.alternatives(depth + 1)? };
        if self.token != Token::Close {
            return Err(RegexError::OpenParen);
        }
        if number <= 9 {
            self.closed |= 1 << number;
        }
        Ok(Node::Group(number, Box::new(inner)))
    }

    fn repetitions(&mut self, mut node: Node) -> Result<Node, RegexError> {
        let mut nested = 0;
        loop {
            let (min, max) = match self.token {
                Token::Star => (0, None),
                Token::Plus => (1, None),
                Token::Question => (0, Some(1)),
                Token::OpenInterval => match self.interval()? {
                    Some(bounds) => bounds,
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            self.advance(false)?;
            if self.lexer.rules.double_op_error
                && matches!(self.token, Token::Star | Token::OpenInterval)
            {
                return Err(RegexError::Repetition);
            }
            node = match node {
                Node::Empty => Node::Empty,
                _ if max == Some(0) => Node::Empty,
                // `a**`, `a+?` and so on are one repetition; this also bounds nesting.
                Node::Repeat { min: m, max: x, node }
                    if min <= 1
                        && m <= 1
                        && max.is_none_or(|n| n == 1)
                        && x.is_none_or(|n| n == 1) =>
                {
                    let max = if max.is_none() || x.is_none() { None } else { Some(1) };
                    Node::Repeat { min: min * m, max, node }
                }
                node => {
                    nested += 1;
                    if nested > MAX_DEPTH / 8 {
                        return Err(RegexError::TooBig);
                    }
                    Node::Repeat { min, max, node: Box::new(node) }
                }
            };
        }
    }

    /// The bounds of an interval whose opening is the current token; leaves its closing as
    /// current. `None`: no valid interval, the brace is a character (left as current token).
    fn interval(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexError> {
        let start = self.lexer.at;
        let is_comma = |t: &Token| matches!(t, Token::Char(c) if c == b",");
        let mut low = self.number()?;
        if low == Number::None {
            // `{,n}` means `{0,n}`.
            if is_comma(&self.token) {
                low = Number::Value(0);
            } else {
                return Err(RegexError::BraceContent);
            }
        }
        let high = match (low, &self.token) {
            (Number::Bad, _) => Number::Bad,
            (_, Token::CloseInterval) => low,
            (_, t) if is_comma(t) => self.number()?,
            _ => Number::Bad,
        };
        let (Number::Value(min), true) = (low, high != Number::Bad) else {
            if self.lexer.rules.bad_interval_literal {
                self.lexer.at = start;
                self.token = Token::Char(b"{".to_vec());
                return Ok(None);
            }
            return Err(match self.token {
                Token::End => RegexError::OpenBrace,
                _ => RegexError::BraceContent,
            });
        };
        let max = match high {
            Number::Value(n) => Some(n),
            _ => None,
        };
        if max.is_some_and(|m| min > m) || self.token != Token::CloseInterval {
            return Err(RegexError::BraceContent);
        }
        if max.unwrap_or(min) > DUP_MAX {
            return Err(RegexError::TooBig);
        }
        Ok(Some((min, max)))
    }

    /// A number up to a comma, the closing brace or the end.
    fn number(&mut self) -> Result<Number, RegexError> {
        let mut n = Number::None;
        loop {
            self.advance(false)?;
            let digit = match &self.token {
                Token::End => return Ok(Number::Bad),
                Token::CloseInterval => return Ok(n),
                Token::Char(c) if c == b"," => return Ok(n),
                Token::Char(c) => match c.as_slice() {
                    [d @ b'0'..=b'9'] => Some(u32::from(d - b'0')),
                    _ => None,
                },
                _ => None,
            };
            n = match (n, digit) {
                (Number::None, Some(d)) => Number::Value(d),
                (Number::Value(v), Some(d)) => Number::Value((v * 10 + d).min(DUP_MAX + 1)),
                _ => Number::Bad,
            };
        }
    }

    fn escape_class(&self, mut set: Set, negated: bool) -> Node {
        if negated {
            set.negate();
        }
        self.exclude_terminator(&mut set);
        Node::Class(set)
    }

    fn exclude_terminator(&self, set: &mut Set) {
        if let Some(byte) = self.options.lines {
            set.remove(byte);
        }
    }

    fn char(&self, bytes: Vec<u8>) -> Node {
        char_node(bytes, self.options)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Number {
    None,
    Value(u32),
    Bad,
}

/// A character, with `icase` a set of its cases.
pub(super) fn char_node(bytes: Vec<u8>, options: &Options) -> Node {
    if options.lines.is_some_and(|t| bytes == [t]) {
        // Nothing matches a terminator.
        return Node::Class(Set::empty(options.utf8));
    }
    if !options.icase {
        return Node::Char(bytes);
    }
    let code = match decode(&bytes) {
        Some((code, width)) if options.utf8 && width == bytes.len() => code,
        _ if options.utf8 => return Node::Char(bytes),
        _ => match bytes.as_slice() {
            [b] => u32::from(*b),
            _ => return Node::Char(bytes),
        },
    };
    let mut set = Set::empty(options.utf8);
    set.push(code, code);
    set.fold_case();
    match set.ranges().as_slice() {
        [(a, b)] if a == b => Node::Char(bytes),
        _ => Node::Class(set),
    }
}

/// A text without operators.
pub(super) fn literal(text: &[u8], options: &Options) -> Node {
    if !options.icase && options.lines.is_none_or(|t| !text.contains(&t)) {
        return if text.is_empty() { Node::Empty } else { Node::Char(text.to_vec()) };
    }
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        let width = decode(rest).filter(|_| options.utf8).map_or(1, |(_, width)| width);
        all.push(char_node(rest[..width].to_vec(), options));
        at += width;
    }
    match all.len() {
        0 => Node::Empty,
        1 => all.remove(0),
        _ => Node::Concat(all),
    }
}
