//! `${...}` (POSIX XCU 2.6.2; bash manual 3.5.3).
//!
//! The text between the braces is parsed. Text that does not fit the grammar is skipped up to the
//! closing brace and becomes [`ParamOp::Bad`], because bash reports a bad substitution only when it
//! expands it.

use std::rc::Rc;

use super::arith_text::ArithEnd;
use super::operand::OperandEnd;
use super::table::{self, DIGIT, NAME, NAME_START, has_class};
use super::{CommandParser, Res};
use crate::ast::{
    ArithText, CaseKind, Param, ParamName, ParamOp, ReplaceKind, Subscript, WordPart,
};
use crate::lex::mode::TextContext;

/// The first bytes of operators that take a pattern.
const PATTERN_OPERATORS: &[u8] = b"#%^,/";

impl CommandParser<'_, '_> {
    /// Lexes `${...}` with `pos` at the brace and `start` at the `$`.
    #[inline(never)]
    pub fn braced_param(&mut self, start: usize, quoted: bool) -> Res<WordPart> {
        let line = self.line;
        self.pos += 1;
        self.enter_nested(4)?;
        let mark = self.mark_place();
        let mut param = bad_param();
        if self.param_inside(&mut param, quoted, line)? && self.peek_joined() == Some(b'}') {
            self.pos += 1;
        } else {
            self.rewind_to(&mark);
            self.skip_braces(line, quoted, !(quoted && self.mode.heredoc))?;
            if param.op != ParamOp::UnknownTransform {
                *param = *bad_param();
            }
        }
        if matches!(&param.subscript, Some(Subscript::Expr(key)) if key.word.raw.is_empty()) {
            // `${a[]}`
            *param = *bad_param();
        }
        self.leave_nested(4);
        param.raw = self.raw_from(start);
        if is_bad_count(&param) {
            param.op = ParamOp::Bad;
        }
        Ok(WordPart::Param(param))
    }

    /// Lexes everything up to the `}`; returns `false` if it does not fit the grammar.
    fn param_inside(&mut self, p: &mut Param, quoted: bool, line: u32) -> Res<bool> {
        let Some(first) = self.peek_joined() else { return Err(self.unclosed_error(b'}', line)) };
        let literal =
            self.opts.posix && (quoted && !self.mode.heredoc || self.mode.ansi.posix_quoted);
        match self.lex_within(TextContext::Subject { literal }, |m| m.param_subject(p, first))? {
            Some(false) => {}
            whole => return Ok(whole.is_some()),
        }
        if p.op == ParamOp::Bad {
            return Ok(false);
        }
        let pattern = self.rest_bytes().first().is_some_and(|c| PATTERN_OPERATORS.contains(c));
        self.lex_within(TextContext::Operator { literal, pattern }, |m| m.param_op(p, quoted))
    }

    /// Lexes the parameter and its subscript; `first` is the next character. Returns whether they
    /// are the whole expansion, or `None` if the text does not fit the grammar.
    fn param_subject(&mut self, p: &mut Param, first: u8) -> Res<Option<bool>> {
        match first {
            b'#' => self.length_or_hash(p).map(Some),
            b'!' => self.indirect_or_bang(p).map(Some),
            _ => Ok(self.param_name(p)?.then_some(false)),
        }
    }

    /// Lexes a parameter and its subscript; returns `false` if there is none, or one that does not
    /// fit the grammar.
    #[inline(never)]
    fn param_name(&mut self, p: &mut Param) -> Res<bool> {
        let Some(c) = self.peek_joined() else { return Ok(false) };
        if has_class(c, NAME_START) {
            p.name = ParamName::Variable(self.name());
            if self.peek_joined() == Some(b'[') {
                match self.subscript_or_brace(true)? {
                    None => return Ok(false),
                    Some(Subscript::Expr(e)) if e.word.raw.is_empty() => return Ok(false),
                    subscript => p.subscript = subscript,
                }
            }
        } else if has_class(c, DIGIT) {
            let digits = self.name();
            if !digits.iter().all(|&b| has_class(b, DIGIT)) {
                return Ok(false);
            }
            p.name = positional_name(&digits);
        } else if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') {
            self.pos += 1;
            p.name = ParamName::Special(c);
        } else {
            return Ok(false);
        }
        p.op = ParamOp::Plain;
        Ok(true)
    }

    /// Lexes `${#...}`: either a length, for which it returns `true` because nothing may follow, or
    /// the parameter `#`.
    fn length_or_hash(&mut self, p: &mut Param) -> Res<bool> {
        self.pos += 1;
        let Some(c) = self.peek_joined() else { return Ok(false) };
        if has_class(c, NAME) {
            if self.param_name(p)? {
                p.op = ParamOp::Length;
                return Ok(true);
            }
            p.op = ParamOp::Bad;
            return Ok(false);
        }
        p.op = ParamOp::Plain;
        if matches!(c, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
            && self.peek_at(1) == Some(b'}')
        {
            self.pos += 1;
            p.name = ParamName::Special(c);
            p.op = ParamOp::Length;
            return Ok(true);
        }
        // Bash reads `${#=}` as the length of a parameter `=`, which does not exist.
        if matches!(c, b'=' | b'+' | b'/' | b'%') && self.peek_at(1) == Some(b'}') {
            p.op = ParamOp::Bad;
        }
        p.name = ParamName::Special(b'#');
        Ok(false)
    }

    /// Lexes `${!...}`: either a list of names or keys, for which it returns `true` because nothing
    /// may follow, or an indirection, or the parameter `!`.
    fn indirect_or_bang(&mut self, p: &mut Param) -> Res<bool> {
        self.pos += 1;
        let Some(c) = self.peek_joined() else { return Ok(false) };
        let special = match c {
            b'@' | b'*' => true,
            // In POSIX mode `${!#}` removes an empty prefix from `$!`, and `${!?}` is an error if
            // `$!` is unset.
            b'#' | b'?' => !self.opts.posix,
            _ => false,
        };
        if !has_class(c, NAME) && !special {
            p.name = ParamName::Special(b'!');
            p.op = ParamOp::Plain;
            return Ok(false);
        }
        let operator = |c: Option<u8>| c.is_some_and(|c| b"}:-+=/%#?@".contains(&c));
        if matches!(c, b'#' | b'?') && !operator(self.peek_at(1)) {
            p.op = ParamOp::Bad;
            return Ok(false);
        }
        if !self.param_name(p)? {
            p.op = ParamOp::Bad;
            return Ok(false);
        }
        let next = self.peek_joined();
        if matches!(p.name, ParamName::Variable(_))
            && matches!(next, Some(b'@' | b'*'))
            && self.peek_at(1) == Some(b'}')
        {
            // This also applies to a name with a subscript, although no variable's name has one.
            self.pos += 1;
            p.op = ParamOp::NamesWithPrefix { at: next == Some(b'@') };
            return Ok(true);
        }
        if next == Some(b'}') && matches!(p.subscript, Some(Subscript::At | Subscript::Star)) {
            p.op = ParamOp::Keys { at: p.subscript == Some(Subscript::At) };
            p.subscript = None;
            return Ok(true);
        }
        p.indirect = true;
        Ok(false)
    }

    /// Lexes the operator and its operands, up to the `}`; returns `false` if there is no valid
    /// operator.
    fn param_op(&mut self, p: &mut Param, quoted: bool) -> Res<bool> {
        let Some(c) = self.peek_joined() else { return Ok(false) };
        if c == b'}' {
            return Ok(true);
        }
        self.pos += 1;
        match c {
            b':' => {
                match self.peek_joined() {
                    Some(o @ (b'-' | b'=' | b'?' | b'+')) => {
                        self.pos += 1;
                        self.word_op(p, o, true, quoted)?;
                    }
                    Some(b'}') => {
                        // `${a[1]:}`: bash evaluates the element before it reports the error.
                        p.op = ParamOp::Bad;
                        return Ok(true);
                    }
                    _ => return self.lex_substring(p, quoted),
                }
            }
            b'-' | b'=' | b'?' | b'+' => self.word_op(p, c, false, quoted)?,
            b'#' | b'%' => {
                let longest = self.take_doubled(c);
                let pattern = self.lex_operand(OperandEnd::Brace, false)?;
                p.op = if c == b'#' {
                    ParamOp::RemovePrefix { longest, pattern }
                } else {
                    ParamOp::RemoveSuffix { longest, pattern }
                };
            }
            b'/' => self.replace_op(p)?,
            b'^' | b',' | b'~' if !has_case(p) => return Ok(false),
            b'^' | b',' | b'~' => {
                let all = self.take_doubled(c);
                let pattern = if self.peek_joined() == Some(b'}') {
                    None
                } else {
                    Some(self.lex_operand(OperandEnd::Brace, false)?)
                };
                let kind = match c {
                    b'^' => CaseKind::Upper,
                    b',' => CaseKind::Lower,
                    _ => CaseKind::Toggle,
                };
                p.op = ParamOp::Case { kind, all, pattern };
            }
            b'@' => match self.peek_joined() {
                Some(o) if b"UuLQEPAKak".contains(&o) && self.peek_at(1) == Some(b'}') => {
                    self.pos += 1;
                    p.op = ParamOp::Transform(o);
                }
                // `${!1@}` would be the names that begin with 1.
                Some(b'}') if p.indirect => return Ok(false),
                _ => {
                    p.op = ParamOp::UnknownTransform;
                    return Ok(false);
                }
            },
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Lexes `/pattern/replacement` after the first slash.
    fn replace_op(&mut self, p: &mut Param) -> Res<()> {
        let kind = match self.peek_joined() {
            Some(b'/') => ReplaceKind::All,
            Some(b'#') => ReplaceKind::Prefix,
            Some(b'%') => ReplaceKind::Suffix,
            _ => ReplaceKind::First,
        };
        if kind != ReplaceKind::First {
            self.pos += 1;
        }
        // After `//` the first character belongs to the pattern even if it is a slash.
        let stop = match kind {
            ReplaceKind::All => OperandEnd::LaterSlashOrBrace,
            _ => OperandEnd::SlashOrBrace,
        };
        let pattern = self.lex_operand(stop, false)?;
        let replacement = if self.peek_byte() == Some(b'/') {
            self.pos += 1;
            Some(self.lex_operand(OperandEnd::Brace, false)?)
        } else {
            None
        };
        p.op = ParamOp::Replace { kind, pattern, replacement };
        Ok(())
    }

    /// Returns whether the operator `c` is doubled and consumes the second one.
    fn take_doubled(&mut self, c: u8) -> bool {
        let twice = self.peek_joined() == Some(c);
        if twice {
            self.pos += 1;
        }
        twice
    }

    fn word_op(&mut self, p: &mut Param, op: u8, colon: bool, quoted: bool) -> Res<()> {
        let word = self.lex_operand(OperandEnd::Brace, quoted)?;
        p.op = match op {
            b'-' => ParamOp::Default { colon, word },
            b'=' => ParamOp::Assign { colon, word },
            b'?' => ParamOp::Error { colon, word },
            _ => ParamOp::Alternate { colon, word },
        };
        Ok(())
    }

    #[inline(never)]
    fn lex_substring(&mut self, p: &mut Param, quoted: bool) -> Res<bool> {
        let line = self.line;
        let bare = quoted && !self.mode.ansi.kept;
        let offset = self.arith_until(ArithEnd::ColonOrBrace, line, bare)?;
        let length = if self.peek_byte() == Some(b':') {
            self.pos += 1;
            Some(self.arith_until(ArithEnd::Brace, line, bare)?)
        } else {
            None
        };
        // An offset that is empty, without a length, is a bad substitution.
        if length.is_none() && offset.word.raw.is_empty() {
            return Ok(false);
        }
        p.op = ParamOp::Substring { offset: own_arith(offset), length: length.map(own_arith) };
        Ok(true)
    }
}

/// Returns whether `^`, `,` and `~` may follow the parameter, as in `${$^}`, but not in `${?^}`.
fn has_case(p: &Param) -> bool {
    match p.name {
        ParamName::Special(b'@') => !p.indirect,
        ParamName::Special(b'#' | b'?' | b'-') => false,
        _ => true,
    }
}

fn own_arith(arith: Rc<ArithText>) -> ArithText {
    Rc::try_unwrap(arith).unwrap_or_else(|shared| (*shared).clone())
}

/// Returns whether bash reads the expansion as the length of a parameter that does not exist, as it
/// does `${#^}` and `${#/}`.
fn is_bad_count(param: &Param) -> bool {
    if param.indirect && matches!(param.name, ParamName::Special(b'@')) {
        // `${!@^}`
        return matches!(param.op, ParamOp::Case { .. });
    }
    matches!(param.name, ParamName::Special(b'#'))
        && !param.indirect
        && (matches!(param.op, ParamOp::Case { .. }) || matches!(&*param.raw, b"${#/}" | b"${#%}"))
}

/// Returns the parameter for text that does not fit the grammar.
#[inline(never)]
fn bad_param() -> Box<Param> {
    let (name, raw) = (ParamName::Special(b'@'), Box::default());
    Box::new(Param { name, subscript: None, indirect: false, op: ParamOp::Bad, raw })
}

/// Returns the positional parameter named by `digits`; `0`, `00` and so on are `$0`. For a number
/// beyond 64 bits bash takes the first digit.
pub(crate) fn positional_name(digits: &[u8]) -> ParamName {
    let digit = |b: u8| u32::from(b.wrapping_sub(b'0'));
    let number = |n: i64, &b: &u8| n.checked_mul(10)?.checked_add(i64::from(digit(b)));
    let n = match digits.iter().try_fold(0, number) {
        Some(n) => u32::try_from(n).unwrap_or(u32::MAX),
        None => digits.first().map_or(0, |first| digit(*first)),
    };
    if n == 0 { ParamName::Special(b'0') } else { ParamName::Positional(n) }
}

/// Parses a parameter reference at run time, for example `x`, `10`, `@` (no subscript).
pub(crate) fn parse_reference(text: &[u8]) -> Option<ParamName> {
    match text {
        [c] if b"@*#?-$!0".contains(c) => Some(ParamName::Special(*c)),
        _ if table::is_name(text) => Some(ParamName::Variable(text.into())),
        [_, ..] if text.iter().all(|&b| has_class(b, DIGIT)) => Some(positional_name(text)),
        _ => None,
    }
}
