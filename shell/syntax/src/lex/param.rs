//! `${...}` (POSIX XCU 2.6.2; bash manual 3.5.3).
//!
//! What is between the braces is parsed by its grammar; text that does not fit the grammar is
//! skipped up to the closing brace and becomes [`ParamOp::Bad`], because bash finds a bad
//! substitution only when it expands it.

use super::arith_text::End;
use super::operand::Stop;
use super::table::{self, DIGIT, NAME, NAME_START, is};
use super::{Machine, Res};
use crate::ast::{CaseKind, Param, ParamName, ParamOp, ReplaceKind, Subscript, WordPart};

/// The parts of a parameter expansion while they are read.
struct Parsed {
    name: ParamName,
    subscript: Option<Subscript>,
    indirect: bool,
    op: ParamOp,
}

impl Machine<'_, '_> {
    /// `${...}` with `pos` at the brace and `start` at the `$`.
    pub fn braced_param(&mut self, start: usize, quoted: bool) -> Res<WordPart> {
        let line = self.line;
        self.pos += 1;
        self.enter(2)?;
        let mark = self.mark();
        let parsed = match self.param_inside(quoted, line) {
            Ok(Some(p)) if self.peek_joined() == Some(b'}') => {
                self.pos += 1;
                p
            }
            Err(e) => return Err(e),
            _ => {
                self.rewind(&mark);
                self.skip_braces(line, quoted)?;
                Parsed { name: ParamName::Special(b'@'), subscript: None, indirect: false, op: ParamOp::Bad }
            }
        };
        self.leave(2);
        let Parsed { name, subscript, indirect, op } = parsed;
        Ok(WordPart::Param(Box::new(Param { name, subscript, indirect, op, raw: self.raw_from(start) })))
    }

    /// Everything up to the `}`; `None`: it does not fit the grammar.
    fn param_inside(&mut self, quoted: bool, line: u32) -> Res<Option<Parsed>> {
        let Some(first) = self.peek_joined() else { return Err(self.unclosed(b'}', line)) };
        match first {
            b'#' => self.length_or_hash(quoted),
            b'!' => self.indirect_or_bang(quoted),
            _ => {
                let Some((name, subscript)) = self.param_name()? else { return Ok(None) };
                self.with_op(name, subscript, false, quoted)
            }
        }
    }

    fn with_op(
        &mut self,
        name: ParamName,
        subscript: Option<Subscript>,
        indirect: bool,
        quoted: bool,
    ) -> Res<Option<Parsed>> {
        let op = self.param_op(quoted)?;
        Ok(op.map(|op| Parsed { name, subscript, indirect, op }))
    }

    /// A parameter and its subscript.
    fn param_name(&mut self) -> Res<Option<(ParamName, Option<Subscript>)>> {
        let Some(c) = self.peek_joined() else { return Ok(None) };
        if is(c, NAME_START) {
            let name = ParamName::Variable(self.name());
            if self.peek_joined() != Some(b'[') {
                return Ok(Some((name, None)));
            }
            let subscript = self.subscript_or_brace(true)?;
            return Ok(subscript.map(|s| (name, Some(s))));
        }
        if is(c, DIGIT) {
            let digits = self.name();
            if !digits.iter().all(|&b| is(b, DIGIT)) {
                return Ok(None);
            }
            return Ok(Some((positional(&digits), None)));
        }
        if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
            return Ok(Some((ParamName::Special(c), None)));
        }
        Ok(None)
    }

    /// `${#...}`: a length, or the parameter `#` with an operator.
    fn length_or_hash(&mut self, quoted: bool) -> Res<Option<Parsed>> {
        self.pos += 1;
        let hash = ParamName::Special(b'#');
        let Some(c) = self.peek_joined() else { return Ok(None) };
        if is(c, NAME) {
            let Some((name, subscript)) = self.param_name()? else { return Ok(None) };
            return Ok(Some(Parsed { name, subscript, indirect: false, op: ParamOp::Length }));
        }
        if c == b'}' {
            return Ok(Some(Parsed { name: hash, subscript: None, indirect: false, op: ParamOp::Plain }));
        }
        if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') && self.peek_at(1) == Some(b'}') {
            self.pos += 1;
            let name = ParamName::Special(c);
            return Ok(Some(Parsed { name, subscript: None, indirect: false, op: ParamOp::Length }));
        }
        self.with_op(hash, None, false, quoted)
    }

    /// `${!...}`: indirection, a list of names or keys, or the parameter `!`.
    fn indirect_or_bang(&mut self, quoted: bool) -> Res<Option<Parsed>> {
        self.pos += 1;
        let Some(c) = self.peek_joined() else { return Ok(None) };
        let special = match c {
            b'@' | b'*' => true,
            b'#' | b'?' => {
                let next = self.peek_at(1);
                matches!(next, Some(b'}' | b':' | b'-' | b'+' | b'='))
            }
            _ => false,
        };
        if !is(c, NAME) && !special {
            return self.with_op(ParamName::Special(b'!'), None, false, quoted);
        }
        let Some((name, subscript)) = self.param_name()? else { return Ok(None) };
        let next = self.peek_joined();
        if matches!(name, ParamName::Variable(_))
            && matches!(next, Some(b'@' | b'*'))
            && self.peek_at(1) == Some(b'}')
            && subscript.is_none()
        {
            self.pos += 1;
            let op = ParamOp::NamesWithPrefix { at: next == Some(b'@') };
            return Ok(Some(Parsed { name, subscript: None, indirect: false, op }));
        }
        if next == Some(b'}') && matches!(subscript, Some(Subscript::At | Subscript::Star)) {
            let op = ParamOp::Keys { at: subscript == Some(Subscript::At) };
            return Ok(Some(Parsed { name, subscript: None, indirect: false, op }));
        }
        self.with_op(name, subscript, true, quoted)
    }

    /// The operator and its operands, up to the `}`.
    fn param_op(&mut self, quoted: bool) -> Res<Option<ParamOp>> {
        let Some(c) = self.peek_joined() else { return Ok(None) };
        if c == b'}' {
            return Ok(Some(ParamOp::Plain));
        }
        self.pos += 1;
        Ok(Some(match c {
            b':' => match self.peek_joined() {
                Some(o @ (b'-' | b'=' | b'?' | b'+')) => {
                    self.pos += 1;
                    self.word_op(o, true, quoted)?
                }
                _ => return self.substring(),
            },
            b'-' | b'=' | b'?' | b'+' => self.word_op(c, false, quoted)?,
            b'#' | b'%' => {
                let longest = self.doubled(c);
                let pattern = self.operand(Stop::Brace, false)?;
                if c == b'#' {
                    ParamOp::RemovePrefix { longest, pattern }
                } else {
                    ParamOp::RemoveSuffix { longest, pattern }
                }
            }
            b'/' => {
                let kind = match self.peek_joined() {
                    Some(b'/') => ReplaceKind::All,
                    Some(b'#') => ReplaceKind::Prefix,
                    Some(b'%') => ReplaceKind::Suffix,
                    _ => ReplaceKind::First,
                };
                if kind != ReplaceKind::First {
                    self.pos += 1;
                }
                let pattern = self.operand(Stop::SlashOrBrace, false)?;
                let replacement = if self.peek() == Some(b'/') {
                    self.pos += 1;
                    Some(self.operand(Stop::Brace, false)?)
                } else {
                    None
                };
                ParamOp::Replace { kind, pattern, replacement }
            }
            b'^' | b',' | b'~' => {
                let all = self.doubled(c);
                let pattern =
                    if self.peek_joined() == Some(b'}') { None } else { Some(self.operand(Stop::Brace, false)?) };
                let kind = match c {
                    b'^' => CaseKind::Upper,
                    b',' => CaseKind::Lower,
                    _ => CaseKind::Toggle,
                };
                ParamOp::Case { kind, all, pattern }
            }
            b'@' => match self.peek_joined() {
                Some(o) if b"UuLQEPAKak".contains(&o) && self.peek_at(1) == Some(b'}') => {
                    self.pos += 1;
                    ParamOp::Transform(o)
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        }))
    }

    /// Whether the operator `c` is doubled; the second one is used up.
    fn doubled(&mut self, c: u8) -> bool {
        let twice = self.peek_joined() == Some(c);
        if twice {
            self.pos += 1;
        }
        twice
    }

    fn word_op(&mut self, op: u8, colon: bool, quoted: bool) -> Res<ParamOp> {
        let word = self.operand(Stop::Brace, quoted)?;
        Ok(match op {
            b'-' => ParamOp::Default { colon, word },
            b'=' => ParamOp::Assign { colon, word },
            b'?' => ParamOp::Error { colon, word },
            _ => ParamOp::Alternate { colon, word },
        })
    }

    fn substring(&mut self) -> Res<Option<ParamOp>> {
        let line = self.line;
        let offset = self.arith_until(End::ColonOrBrace, line)?;
        let length = if self.peek() == Some(b':') {
            self.pos += 1;
            Some(self.arith_until(End::ColonOrBrace, line)?)
        } else {
            None
        };
        // A third `:` is left for the caller to find bad; so is an empty offset without length.
        if length.is_none() && offset.word.raw.is_empty() {
            return Ok(None);
        }
        Ok(Some(ParamOp::Substring { offset, length }))
    }
}

/// The positional parameter named by `digits`; `0`, `00`.. are `$0`.
pub(crate) fn positional(digits: &[u8]) -> ParamName {
    let n = digits.iter().fold(0u32, |n, &b| n.saturating_mul(10).saturating_add(u32::from(b.wrapping_sub(b'0'))));
    if n == 0 { ParamName::Special(b'0') } else { ParamName::Positional(n) }
}

/// A parameter reference at run time, such as `x`, `10`, `@` (no subscript).
pub(crate) fn reference(text: &[u8]) -> Option<ParamName> {
    match text {
        [c] if b"@*#?-$!0".contains(c) => Some(ParamName::Special(*c)),
        _ if table::is_name(text) => Some(ParamName::Variable(text.into())),
        [_, ..] if text.iter().all(|&b| is(b, DIGIT)) => Some(positional(text)),
        _ => None,
    }
}
