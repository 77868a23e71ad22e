//! `[[ ]]` (bash manual 3.2.5.2).

use std::borrow::Cow;
use std::rc::Rc;

use box_applet::condition::FileComparison;
use box_text::regex::{Captures, Regex, RegexOptions, RegexSyntax};
use sh_expand::{Attributes, ExpandCause, ExpandError, OwnedKey, Str, arith};
use sh_syntax::ast::{Command, Cond, CondOp, Word};

use crate::Shell;
use crate::builtin::opts::parse_integer;
use crate::builtin::test::{files, unary};
use crate::shell::{Flow, Unwind};
use crate::state::assign::{is_name, split_reference};
use crate::state::here::CommandContext;
use crate::state::options::SetOpt;

/// The reason why an expression has no truth value.
enum CondStop {
    Expansion(ExpandError),
    /// A bad regular expression: status 2; a message has been printed.
    Invalid,
    Unwind(Unwind),
}

impl From<ExpandError> for CondStop {
    fn from(e: ExpandError) -> CondStop {
        CondStop::Expansion(e)
    }
}

impl Shell<'_> {
    pub(crate) fn cond_command(&mut self, e: &Cond, c: &Command) -> Flow {
        self.state.line = c.line;
        if !self.run_debug_trap(c)? {
            return Ok(0);
        }
        self.budget.expansion_bytes = 0;
        self.last_subst = None;
        match self.eval_cond(e, false) {
            Ok(b) => Ok(i32::from(!b)),
            Err(CondStop::Invalid) => Ok(2),
            Err(CondStop::Unwind(u)) => Err(u),
            Err(CondStop::Expansion(e)) => Err(self.expansion_failed(e)),
        }
    }

    /// Evaluates a condition. `inverted` says that an odd number of `!` precedes it, which the
    /// trace shows.
    fn eval_cond(&mut self, e: &Cond, inverted: bool) -> Result<bool, CondStop> {
        if let Err(u) = self.check_depth() {
            return Err(CondStop::Unwind(u));
        }
        match e {
            Cond::Not(e) => self.eval_cond(e, !inverted).map(|b| !b),
            Cond::Group(e) => self.eval_cond(e, false),
            Cond::And(a, b) => Ok(self.eval_cond(a, false)? && self.eval_cond(b, false)?),
            Cond::Or(a, b) => Ok(self.eval_cond(a, false)? || self.eval_cond(b, false)?),
            Cond::Word(w) => {
                let text = sh_expand::expand_single(self, w)?;
                if self.is_tracing() {
                    self.trace_cond(inverted, &[b"-n", &text]);
                }
                Ok(!text.is_empty())
            }
            Cond::Unary(op, w) => {
                let text = sh_expand::expand_single(self, w)?;
                if self.is_tracing() {
                    let shown = if *op == b'v' {
                        with_quoted_subscript(&text)
                    } else {
                        Cow::Borrowed(&text[..])
                    };
                    self.trace_cond(inverted, &[&[b'-', *op], &shown]);
                }
                match op {
                    b'v' | b'R' => Ok(self.variable_test(*op, &text, arith::has_subscript(w))?),
                    _ => Ok(unary(self, *op, &text)),
                }
            }
            Cond::Binary(op, left, right) => self.binary_cond(*op, left, right, inverted),
        }
    }

    /// Traces one term as `set -x` shows it: the operands as they are, empty ones quoted.
    fn trace_cond(&mut self, inverted: bool, parts: &[&[u8]]) {
        let mut text = if inverted { b"[[ !".to_vec() } else { b"[[".to_vec() };
        for p in parts {
            text.push(b' ');
            text.extend_from_slice(if p.is_empty() { b"''" } else { p });
        }
        text.extend_from_slice(b" ]]");
        self.trace_text(&text);
    }

    fn binary_cond(
        &mut self,
        op: CondOp,
        left: &Word,
        right: &Word,
        inverted: bool,
    ) -> Result<bool, CondStop> {
        let numbers = matches!(
            op,
            CondOp::Eq | CondOp::Ne | CondOp::Lt | CondOp::Le | CondOp::Gt | CondOp::Ge
        );
        let expand = if numbers { arith::expand_operand } else { sh_expand::expand_single };
        let l = expand(self, left)?;
        match op {
            CondOp::Match | CondOp::MatchPosix | CondOp::NotMatch => {
                let pattern = if self.is_tracing() {
                    let (pattern, text) = sh_expand::expand_pattern_traced(self, right)?;
                    self.trace_cond(inverted, &[&l, op.spelling(), &text]);
                    pattern
                } else {
                    sh_expand::expand_pattern(self, right)?
                };
                Ok(pattern.is_match(&l) == (op != CondOp::NotMatch))
            }
            CondOp::Regex => {
                let text = sh_expand::expand_regex(self, right)?;
                if self.is_tracing() {
                    self.trace_cond(inverted, &[&l, b"=~", &text]);
                }
                match regex_match(self, &l, &text) {
                    Some(b) => Ok(b),
                    None => Err(CondStop::Invalid),
                }
            }
            _ => {
                let r = expand(self, right)?;
                if self.is_tracing() {
                    self.trace_cond(inverted, &[&l, op.spelling(), &r]);
                }
                self.compare_operands(op, &l, &r)
            }
        }
    }

    fn compare_operands(&mut self, op: CondOp, l: &Str, r: &Str) -> Result<bool, CondStop> {
        Ok(match op {
            CondOp::Before => l < r,
            CondOp::After => l > r,
            CondOp::NewerThan => files(self, FileComparison::Newer, l, r),
            CondOp::OlderThan => files(self, FileComparison::Older, l, r),
            CondOp::SameFile => files(self, FileComparison::Same, l, r),
            _ => {
                let left = self.cond_number(l);
                let both = left.and_then(|a| self.cond_number(r).map(|b| (a, b)));
                let (a, b) = match both {
                    Ok(both) => both,
                    Err(e) => {
                        let failed = self.expression_failed(b"[[: ", e);
                        return failed.map(|_| false).map_err(CondStop::Unwind);
                    }
                };
                match op {
                    CondOp::Eq => a == b,
                    CondOp::Ne => a != b,
                    CondOp::Lt => a < b,
                    CondOp::Le => a <= b,
                    CondOp::Gt => a > b,
                    _ => a >= b,
                }
            }
        })
    }

    fn cond_number(&mut self, text: &Str) -> Result<i64, ExpandError> {
        match arith::plain_integer(text) {
            Some(n) => Ok(n),
            None => {
                self.run_within(CommandContext::Expression(b"[[: "), |s| arith::eval_text(s, text))
            }
        }
    }

    /// Evaluates `-v name`, `-v name[subscript]` and `-R name`. With `literal`, the text between
    /// the brackets is already expanded.
    pub(crate) fn variable_test(
        &mut self,
        op: u8,
        text: &[u8],
        literal: bool,
    ) -> Result<bool, ExpandError> {
        if op == b'R' {
            return Ok(self
                .state
                .vars
                .get(text)
                .is_some_and(|v| v.attrs.intersects(Attributes::NAMEREF) && v.is_set()));
        }
        let (name, sub) = match outer_brackets(text).filter(|(name, _)| literal && is_name(name)) {
            Some((name, key)) => (name, Some(key)),
            None => split_reference(text),
        };
        if let (None, Some(n @ 0..)) = (sub, parse_integer(text)) {
            return Ok(n as u64 <= self.state.params.list().len() as u64);
        }
        if !is_name(name) || sub == Some(b"") {
            return Ok(false);
        }
        let target = self.follow_nameref(name)?;
        let (base, via) = (target.name.into_owned(), target.subscript);
        let sub = sub.map(<[u8]>::to_vec);
        if via.is_some() {
            // In bash, `-v` never counts a nameref to an element as set.
            return Ok(false);
        }
        let value = sh_expand::ExpandEnv::get(self, &base);
        match sub {
            None => Ok(self.text_of(&base).is_some()),
            Some(s) if s == b"@" || s == b"*" => Ok(match value {
                None => false,
                Some(sh_expand::VarValue::Scalar(_)) => true,
                Some(sh_expand::VarValue::Indexed(a)) => !a.is_empty(),
                // In an associative array, `@` is a key.
                Some(sh_expand::VarValue::Assoc(a)) => a.get(&s).is_some(),
            }),
            Some(s) => self.element_test(&base, &s, value, literal),
        }
    }

    /// Evaluates `-v name[subscript]` for one element.
    fn element_test(
        &mut self,
        base: &[u8],
        subscript: &[u8],
        value: Option<sh_expand::VarValue>,
        literal: bool,
    ) -> Result<bool, ExpandError> {
        let assoc = self.is_assoc(base);
        let quoted = quoted_subscript(subscript);
        let key = if literal && assoc {
            OwnedKey::Name(subscript.to_vec())
        } else if literal && quoted != subscript {
            // The text is the result of an expansion, which is not expanded again.
            let index = arith::eval_text(self, &unquote_text(&quoted));
            OwnedKey::Index(index?)
        } else {
            match sh_expand::subscript_text_key(self, base, subscript) {
                Err(e) if assoc && e.is_missing_element() => return Ok(false),
                key => key?,
            }
        };
        let nowhere = match &key {
            OwnedKey::Index(index @ ..0) => match &value {
                Some(sh_expand::VarValue::Indexed(array)) => array.resolve(*index).is_none(),
                _ => true,
            },
            OwnedKey::Name(name) => !literal && name.is_empty(),
            OwnedKey::Index(_) => false,
        };
        if nowhere {
            let e = ExpandCause::BadSubscript { name: base.to_vec(), subscript: None }.into();
            if self.state.options.has_set(SetOpt::ErrExit) {
                return Err(e);
            }
            self.report(b"", &e);
            return Ok(false);
        }
        Ok(self.element_text(base, &key).is_some())
    }
}

/// Returns a subscript with a backslash before every character that could be active, as bash 5.2
/// quotes it for `-v`.
fn quoted_subscript(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if matches!(byte, b'\'' | b'"' | b'$' | b'`' | b'\\' | b'[' | b']' | b'~')
            || (*byte == b'#' && out.is_empty())
        {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out
}

/// Removes the backslashes that arithmetic removes within double quotes.
fn unquote_text(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(next @ (b'"' | b'$' | b'`' | b'\\'))) => {
                out.push(**next);
                bytes.next();
            }
            _ => out.push(*byte),
        }
    }
    out
}

/// Returns the operand of `-v` in the form that a trace shows.
fn with_quoted_subscript(text: &[u8]) -> Cow<'_, [u8]> {
    let open = text.iter().position(|byte| *byte == b'[');
    let close = text.iter().rposition(|byte| *byte == b']');
    match (open, close) {
        (Some(open), Some(close)) if open < close && is_name(&text[..open]) => {
            let subscript = quoted_subscript(&text[open + 1..close]);
            Cow::Owned([&text[..=open], &subscript, &text[close..]].concat())
        }
        _ => Cow::Borrowed(text),
    }
}

/// The regular expression used last. It is kept compiled, because a loop usually uses only one.
#[derive(Default)]
pub(crate) struct LastRegex(Option<(Vec<u8>, bool, Rc<Regex>)>);

impl LastRegex {
    /// Returns the compiled pattern; `None` for an invalid one.
    fn get(&mut self, pattern: &[u8], nocase: bool, utf8: bool) -> Option<Rc<Regex>> {
        if let Some((p, n, re)) = &self.0
            && p == pattern
            && *n == nocase
        {
            return Some(re.clone());
        }
        let mut options = RegexOptions::new(RegexSyntax::EreRegcomp);
        options.icase = nocase;
        options.utf8 = utf8;
        let re = Rc::new(Regex::new(pattern, &options).ok()?);
        self.0 = Some((pattern.to_vec(), nocase, re.clone()));
        Some(re)
    }
}

/// Performs `text =~ pattern` and sets BASH_REMATCH; `None` for an invalid pattern.
pub(crate) fn regex_match(shell: &mut Shell<'_>, text: &[u8], pattern: &[u8]) -> Option<bool> {
    let o = shell.state.options.expand();
    let (nocase, utf8) = (o.nocasematch, !o.c_locale);
    let re = shell.regex.get(pattern, nocase, utf8)?;
    let mut groups = Captures::default();
    let matched = re.captures_at(text, 0, &mut groups);
    let mut array = sh_expand::array::IndexedArray::new();
    if matched {
        for i in 0..groups.len() {
            let part = groups.get(i).and_then(|(a, b)| text.get(a..b)).unwrap_or_default();
            array.set(i as i64, Rc::new(part.to_vec()));
        }
    }
    // Only the shell writes BASH_REMATCH.
    let _ = shell.set_array(b"BASH_REMATCH", array);
    Some(matched)
}

/// Returns the text between the first bracket and the last byte, which need not be a bracket.
fn outer_brackets(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b'[', text)?;
    Some((&text[..at], text[at + 1..].strip_suffix(b"]")?))
}
