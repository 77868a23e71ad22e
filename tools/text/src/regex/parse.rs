//! Parses text to [`RegexNode`]s. As in glibc's parser, it depends on the context whether `*`, `^`,
//! `$`, lone parentheses and malformed intervals are operators.

use super::ast::{MAX_DEPTH, RegexNode};
use super::bracket;
use super::class::{CharSet, decode_char};
use super::error::RegexError;
use super::lex::{RegexLexer, RegexToken};
use super::options::RegexOptions;

/// glibc's `RE_DUP_MAX`.
const DUP_MAX: u32 = 0x7FFF;

pub(super) struct RegexParser<'a> {
    lexer: RegexLexer<'a>,
    options: &'a RegexOptions,
    token: RegexToken,
    groups: u32,
    /// The closed groups: bit n says that `\n` may refer to group n.
    closed: u32,
}

/// Parses a pattern and returns it with its number of groups.
pub(super) fn parse(text: &[u8], options: &RegexOptions) -> Result<(RegexNode, u32), RegexError> {
    let rules = options.syntax.rules();
    let lexer = RegexLexer { text, at: 0, rules, utf8: options.utf8 };
    let mut p = RegexParser { lexer, options, token: RegexToken::End, groups: 0, closed: 0 };
    p.advance_token(false)?;
    let node = p.parse_alternatives(0)?;
    // At depth 0, only the end of the text ends the alternatives.
    Ok((node, p.groups))
}

impl RegexParser<'_> {
    fn advance_token(&mut self, caret: bool) -> Result<(), RegexError> {
        self.token = self.lexer.next(caret)?;
        Ok(())
    }

    fn parse_alternatives(&mut self, depth: u32) -> Result<RegexNode, RegexError> {
        if depth > MAX_DEPTH {
            return Err(RegexError::TooBig);
        }
        let closed = self.closed;
        let first = self.parse_branch(depth)?;
        if self.token != RegexToken::Alternate {
            return Ok(first);
        }
        let mut all = vec![first];
        let mut seen = self.closed;
        while self.token == RegexToken::Alternate {
            self.advance_token(true)?;
            // A group closed in another alternative cannot be referred to from this one.
            self.closed = closed;
            all.push(self.parse_branch(depth)?);
            seen |= self.closed;
        }
        self.closed = seen;
        Ok(RegexNode::Alternate(all))
    }

    fn parse_branch(&mut self, depth: u32) -> Result<RegexNode, RegexError> {
        let mut all = Vec::new();
        while !(matches!(self.token, RegexToken::Alternate | RegexToken::End)
            || depth > 0 && self.token == RegexToken::Close)
        {
            let node = self.parse_expression(depth)?;
            if !matches!(node, RegexNode::Empty) {
                all.push(node);
            }
        }
        Ok(match all.len() {
            0 => RegexNode::Empty,
            1 => all.remove(0),
            _ => RegexNode::Concat(all),
        })
    }

    fn parse_expression(&mut self, depth: u32) -> Result<RegexNode, RegexError> {
        let rules = self.lexer.rules;
        let token = std::mem::replace(&mut self.token, RegexToken::End);
        let node = match token {
            RegexToken::Char(bytes) => self.char_node(bytes),
            RegexToken::Any => {
                let mut set = CharSet::any(self.options.utf8);
                self.exclude_terminator(&mut set);
                if self.options.newline_apart {
                    set.remove_byte(b'\n');
                }
                RegexNode::Class(set)
            }
            RegexToken::Word(negated) => {
                self.escape_class(CharSet::word_class(self.options.utf8), negated)
            }
            RegexToken::Space(negated) => {
                self.escape_class(CharSet::space_class(self.options.utf8), negated)
            }
            RegexToken::OpenBracket => bracket::parse(&mut self.lexer, self.options)?,
            RegexToken::Open => self.parse_group(depth)?,
            RegexToken::Backref(n) => {
                if self.closed & (1 << n) == 0 {
                    return Err(RegexError::BackReference);
                }
                RegexNode::Backref(n)
            }
            RegexToken::Look(look) => {
                // An anchor cannot be repeated: in `^*`, the star counts as being at the start.
                self.advance_token(true)?;
                return Ok(RegexNode::Look(look));
            }
            RegexToken::OpenInterval if rules.double_op_error => {
                return Err(RegexError::Repetition);
            }
            RegexToken::Star
            | RegexToken::Plus
            | RegexToken::Question
            | RegexToken::OpenInterval => {
                if rules.leading_op_error {
                    return Err(RegexError::Repetition);
                }
                if rules.leading_op_ignored {
                    // The operator repeats the empty string; a brace that opens no interval is left
                    // as a character for the next call.
                    self.token = token;
                    return self.parse_repetitions(RegexNode::Empty);
                }
                self.char_node(self.op_text(&token))
            }
            RegexToken::Close if !rules.close_paren_literal => return Err(RegexError::CloseParen),
            RegexToken::Close => self.char_node(b")".to_vec()),
            RegexToken::CloseInterval => self.char_node(b"}".to_vec()),
            RegexToken::Alternate | RegexToken::End => RegexNode::Empty,
        };
        self.advance_token(false)?;
        self.parse_repetitions(node)
    }

    fn op_text(&self, token: &RegexToken) -> Vec<u8> {
        match token {
            RegexToken::Plus => b"+".to_vec(),
            RegexToken::Question => b"?".to_vec(),
            RegexToken::OpenInterval => b"{".to_vec(),
            _ => b"*".to_vec(),
        }
    }

    fn parse_group(&mut self, depth: u32) -> Result<RegexNode, RegexError> {
        self.groups += 1;
        let number = self.groups;
        self.advance_token(true)?;
        let inner = if self.token == RegexToken::Close {
            RegexNode::Empty
        } else {
            self.parse_alternatives(depth + 1)?
        };
        if self.token != RegexToken::Close {
            return Err(RegexError::OpenParen);
        }
        if number <= 9 {
            self.closed |= 1 << number;
        }
        Ok(RegexNode::Group(number, Box::new(inner)))
    }

    fn parse_repetitions(&mut self, mut node: RegexNode) -> Result<RegexNode, RegexError> {
        let mut nested = 0;
        loop {
            let (min, max) = match self.token {
                RegexToken::Star => (0, None),
                RegexToken::Plus => (1, None),
                RegexToken::Question => (0, Some(1)),
                RegexToken::OpenInterval => match self.parse_interval()? {
                    Some(bounds) => bounds,
                    None => return Ok(node),
                },
                _ => return Ok(node),
            };
            self.advance_token(false)?;
            if self.lexer.rules.double_op_error
                && matches!(self.token, RegexToken::Star | RegexToken::OpenInterval)
            {
                return Err(RegexError::Repetition);
            }
            node = match node {
                RegexNode::Empty => RegexNode::Empty,
                _ if max == Some(0) => RegexNode::Empty,
                // `a**`, `a+?` and so on are one repetition; this also bounds nesting.
                RegexNode::Repeat { min: m, max: x, node }
                    if min <= 1
                        && m <= 1
                        && max.is_none_or(|n| n == 1)
                        && x.is_none_or(|n| n == 1) =>
                {
                    let max = if max.is_none() || x.is_none() { None } else { Some(1) };
                    RegexNode::Repeat { min: min * m, max, node }
                }
                node => {
                    nested += 1;
                    if nested > MAX_DEPTH / 8 {
                        return Err(RegexError::TooBig);
                    }
                    RegexNode::Repeat { min, max, node: Box::new(node) }
                }
            };
        }
    }

    /// Parses the bounds of an interval whose opening is the current token; the closing becomes the
    /// current token. Returns `None` if there is no valid interval; the current token is then the
    /// brace as a character.
    fn parse_interval(&mut self) -> Result<Option<(u32, Option<u32>)>, RegexError> {
        let start = self.lexer.at;
        let is_comma = |t: &RegexToken| matches!(t, RegexToken::Char(c) if c == b",");
        let mut low = self.parse_number()?;
        if low == IntervalNumber::None {
            // `{,n}` means `{0,n}`.
            if is_comma(&self.token) {
                low = IntervalNumber::Value(0);
            } else {
                return Err(RegexError::BraceContent);
            }
        }
        let high = match (low, &self.token) {
            (IntervalNumber::Bad, _) => IntervalNumber::Bad,
            (_, RegexToken::CloseInterval) => low,
            (_, t) if is_comma(t) => self.parse_number()?,
            _ => IntervalNumber::Bad,
        };
        let (IntervalNumber::Value(min), true) = (low, high != IntervalNumber::Bad) else {
            if self.lexer.rules.bad_interval_literal {
                self.lexer.at = start;
                self.token = RegexToken::Char(b"{".to_vec());
                return Ok(None);
            }
            return Err(match self.token {
                RegexToken::End => RegexError::OpenBrace,
                _ => RegexError::BraceContent,
            });
        };
        let max = match high {
            IntervalNumber::Value(n) => Some(n),
            _ => None,
        };
        if max.is_some_and(|m| min > m) || self.token != RegexToken::CloseInterval {
            return Err(RegexError::BraceContent);
        }
        if max.unwrap_or(min) > DUP_MAX {
            return Err(RegexError::TooBig);
        }
        Ok(Some((min, max)))
    }

    /// Parses a number up to a comma, the closing brace or the end.
    fn parse_number(&mut self) -> Result<IntervalNumber, RegexError> {
        let mut n = IntervalNumber::None;
        loop {
            self.advance_token(false)?;
            let digit = match &self.token {
                RegexToken::End => return Ok(IntervalNumber::Bad),
                RegexToken::CloseInterval => return Ok(n),
                RegexToken::Char(c) if c == b"," => return Ok(n),
                RegexToken::Char(c) => match c.as_slice() {
                    [d @ b'0'..=b'9'] => Some(u32::from(d - b'0')),
                    _ => None,
                },
                _ => None,
            };
            n = match (n, digit) {
                (IntervalNumber::None, Some(d)) => IntervalNumber::Value(d),
                (IntervalNumber::Value(v), Some(d)) => {
                    IntervalNumber::Value((v * 10 + d).min(DUP_MAX + 1))
                }
                _ => IntervalNumber::Bad,
            };
        }
    }

    fn escape_class(&self, mut set: CharSet, negated: bool) -> RegexNode {
        if negated {
            set.negate();
        }
        self.exclude_terminator(&mut set);
        RegexNode::Class(set)
    }

    fn exclude_terminator(&self, set: &mut CharSet) {
        if let Some(byte) = self.options.lines {
            set.remove_byte(byte);
        }
    }

    fn char_node(&self, bytes: Vec<u8>) -> RegexNode {
        char_node(bytes, self.options)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IntervalNumber {
    None,
    Value(u32),
    Bad,
}

/// Returns a character, with `icase` a set of its cases.
pub(super) fn char_node(bytes: Vec<u8>, options: &RegexOptions) -> RegexNode {
    if options.lines.is_some_and(|t| bytes == [t]) {
        // No pattern matches a line terminator.
        return RegexNode::Class(CharSet::empty(options.utf8));
    }
    if !options.icase {
        return RegexNode::Char(bytes);
    }
    let code = match decode_char(&bytes) {
        Some((code, width)) if options.utf8 && width == bytes.len() => code,
        _ if options.utf8 => return RegexNode::Char(bytes),
        _ => match bytes.as_slice() {
            [b] => u32::from(*b),
            _ => return RegexNode::Char(bytes),
        },
    };
    let mut set = CharSet::empty(options.utf8);
    set.push(code, code);
    set.fold_case();
    match set.ranges().as_slice() {
        [(a, b)] if a == b => RegexNode::Char(bytes),
        _ => RegexNode::Class(set),
    }
}

/// Returns a text without operators.
pub(super) fn literal_node(text: &[u8], options: &RegexOptions) -> RegexNode {
    if !options.icase && options.lines.is_none_or(|t| !text.contains(&t)) {
        return if text.is_empty() { RegexNode::Empty } else { RegexNode::Char(text.to_vec()) };
    }
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        let width = decode_char(rest).filter(|_| options.utf8).map_or(1, |(_, width)| width);
        all.push(char_node(rest[..width].to_vec(), options));
        at += width;
    }
    match all.len() {
        0 => RegexNode::Empty,
        1 => all.remove(0),
        _ => RegexNode::Concat(all),
    }
}
