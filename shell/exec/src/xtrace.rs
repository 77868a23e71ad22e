//! `set -x` and `set -v` output (bash manual 4.3.1), in bash's own spelling.

use std::rc::Rc;

use box_text::escape::{needs_quotes, set_quote, single_quote};
use sh_expand::Str;
use sh_syntax::ast::{AssignValue, Assignment, For};

use crate::Shell;
use crate::state::options::SetOpt;

impl Shell<'_> {
    #[inline]
    pub(crate) fn is_tracing(&self) -> bool {
        self.state.options.has_set(SetOpt::XTrace)
    }

    /// Expands `PS4` and repeats its first character for each level of nested texts.
    fn trace_prefix(&mut self) -> Vec<u8> {
        let text = self.variable_text(b"PS4").unwrap_or_default();
        if text.is_empty() {
            return Vec::new();
        }
        // The expansion must not trace itself or change `$?`.
        self.state.options.switch_set(SetOpt::XTrace, false);
        let (status, subst) = (self.state.status, self.last_subst);
        let expanded = self.expand_prompt(&text).unwrap_or_else(|_| text.to_vec());
        (self.state.status, self.last_subst) = (status, subst);
        self.state.options.switch_set(SetOpt::XTrace, true);
        let mut out = Vec::new();
        let first = std::str::from_utf8(&expanded)
            .ok()
            .and_then(|s| s.chars().next())
            .map_or(1, char::len_utf8);
        if let Some(first) = expanded.get(..first) {
            for _ in 0..self.state.here.depth {
                out.extend_from_slice(first);
            }
        }
        out.extend_from_slice(&expanded);
        out
    }

    /// Prints one line of trace output: `PS4` and a text.
    pub(crate) fn trace_text(&mut self, text: &[u8]) {
        let mut line = self.trace_prefix();
        line.extend_from_slice(text);
        line.push(b'\n');
        let fd = self
            .variable_text(b"BASH_XTRACEFD")
            .and_then(|t| sh_expand::arith::plain_integer(&t))
            .and_then(|n| u32::try_from(n).ok())
            .filter(|n| self.state.fds.get(*n).is_some());
        match fd {
            Some(fd) if fd != 2 => {
                let _ = self.write_fd(fd, &line);
            }
            _ => self.write_err(&line),
        }
    }

    pub(crate) fn trace_command(&mut self, argv: &[Str]) {
        let words: Vec<Vec<u8>> = argv.iter().map(trace_quote).collect();
        self.trace_text(&words.join(&b' '));
    }

    /// Traces `name=value`, or the source text if there is no single value.
    pub(crate) fn trace_assignment(&mut self, a: &Assignment, value: Option<&Str>) {
        if !self.is_tracing() {
            return;
        }
        let text = match value {
            Some(v) => {
                let mut t = match &a.value {
                    AssignValue::Scalar(word) => a.raw[..a.raw.len() - word.raw.len()].to_vec(),
                    AssignValue::Array(_) => Vec::new(),
                };
                if !v.is_empty() {
                    t.extend_from_slice(&trace_quote(v));
                }
                t
            }
            None => double_controls(&a.raw),
        };
        self.trace_text(&text);
    }

    pub(crate) fn trace_for(&mut self, keyword: &[u8], f: &For) {
        let mut text = [keyword, f.name.as_ref(), b" in"].concat();
        match &f.words {
            Some(words) if words.is_empty() => text.push(b' '),
            Some(words) => {
                for w in words {
                    text.push(b' ');
                    text.extend_from_slice(&double_controls(&w.raw));
                }
            }
            None => text.extend_from_slice(b" \"$@\""),
        }
        self.trace_text(&text);
    }
}

/// Returns the spelling of a word or of `name=(...)` with the byte 1 before each byte 1 and 127, as
/// in bash.
pub(crate) fn double_controls(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if matches!(byte, 1 | 0x7f) {
            out.push(1);
        }
        out.push(byte);
    }
    out
}

/// Quotes a value after `name=` as a word, except that an empty value stays empty.
pub(crate) fn value_quote(value: &Rc<Vec<u8>>) -> Vec<u8> {
    if value.is_empty() { Vec::new() } else { trace_quote(value) }
}

/// Returns a word in the form that `set -x` shows.
pub(crate) fn trace_quote(word: &Rc<Vec<u8>>) -> Vec<u8> {
    if word.is_empty() {
        return b"''".to_vec();
    }
    // Characters special to the shell, including blanks, get simple quotes; only control characters
    // get `$'...'`.
    if needs_quotes(word) { single_quote(word) } else { set_quote(word) }
}
