//! Lexing: bytes to tokens, words and expansions.
//!
//! The parser drives the lexer: it requests one token at a time and passes the context
//! ([`token::TokenContext`]), because the same bytes are a reserved word, an assignment or an
//! argument depending on their position. Words are parsed into their parts at once, which means
//! that the lexer calls the parser for `$(...)`.
//!
//! # Map
//! - [`table`]: byte classes; [`token`]: operators, reserved words, one token of look-ahead.
//! - [`word`]: unquoted words; [`quote`]: `'...'`, `$'...'`, `"..."`, backslash.
//! - [`dollar`]: expansions after a `$`; [`param`]: `${...}`; [`operand`]: the word in it.
//! - [`arith_text`]: the text of `$((...))`; [`subscript`]: `[...]` after a name.
//! - [`command_sub`]: `$(...)`, backquotes, `<(...)`.
//! - [`assign`]: `name=value`, `name=(...)`.
//! - [`heredoc`]: bodies of here-documents; [`lines`]: the lines that commands report; [`alias`]: alias substitution in the source.
//! - [`errors`]: making errors; [`skip`]: finding a closing bracket without parsing the text before
//!   it.
//! - [`raw`]: source spellings, with line continuations taken out.
//!
//! # Invariants
//! - `pos` only moves back in [`CommandParser::rewind_to`]. Each place that may rewind remembers
//!   where it failed, so that the time for nested places stays polynomial.
//! - `line` counts the newlines before `pos`.

pub(crate) mod alias;
pub(crate) mod arith_text;
pub(crate) mod assign;
pub(crate) mod command_sub;
pub(crate) mod dollar;
mod errors;
mod group;
pub(crate) mod heredoc;
pub(crate) mod lines;
pub(crate) mod mode;
pub(crate) mod operand;
pub(crate) mod param;
pub(crate) mod quote;
pub(crate) mod raw;
pub(crate) mod skip;
pub(crate) mod subscript;
pub(crate) mod table;
pub(crate) mod token;
pub(crate) mod word;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};

use crate::error::{SyntaxError, SyntaxWarning};
use crate::parse::{Aliases, MAX_DEPTH, ParseOptions, SourceInput};

/// The result type inside the parser; the error is boxed to keep the success path small.
pub(crate) type Res<T> = Result<T, Box<SyntaxError>>;

/// The state that lasts from one command to the next.
#[derive(Default)]
pub(crate) struct ParseState<'i> {
    pub src: Vec<u8>,
    pub pos: usize,
    pub line: u32,
    pub input: Option<Box<dyn SourceInput + 'i>>,
    pub opts: ParseOptions,
    /// The effect of the constructs around `pos`.
    pub mode: mode::LexMode,
    /// Whether a command has begun, so that further input is a continuation.
    pub started: bool,
    pub depth: u32,
    /// The number of `$(` and `<(` around `pos`.
    pub subs: u32,
    /// The nesting depth at which the innermost of these substitutions begins.
    pub sub_depth: u32,
    /// The token read ahead.
    pub look: Option<token::SyntaxToken>,
    /// The number of words around `pos`. While there are any, positions in the source must stay
    /// valid.
    pub words: u32,
    pub edits: Vec<raw::SpellingEdit>,
    pub docs: heredoc::Docs,
    pub lines: lines::CommandLines,
    pub alias: alias::AliasState,
    /// The places of `((` or `$((` that turned out to be nested parentheses.
    pub not_arith: BTreeSet<usize>,
    pub warnings: Vec<SyntaxWarning>,
    /// `pos` minus this is the number of source bytes consumed.
    pub shift: isize,
}

/// A parser for one command.
pub(crate) struct CommandParser<'a, 'i> {
    pub st: ParseState<'i>,
    pub aliases: &'a dyn Aliases,
}

impl<'i> Deref for CommandParser<'_, 'i> {
    type Target = ParseState<'i>;
    #[inline(always)]
    fn deref(&self) -> &ParseState<'i> {
        &self.st
    }
}

impl<'i> DerefMut for CommandParser<'_, 'i> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut ParseState<'i> {
        &mut self.st
    }
}

/// A place to return to.
#[derive(Clone, Copy)]
pub(crate) struct ParseMark {
    pos: usize,
    line: u32,
    depth: u32,
    subs: u32,
    sub_depth: u32,
    words: u32,
    edits: usize,
    pending_docs: usize,
    docs_base: usize,
    lines: lines::CommandLines,
}

impl CommandParser<'_, '_> {
    /// Returns the byte at `pos`, reading more input when there is none yet.
    #[inline(always)]
    pub fn peek_byte(&mut self) -> Option<u8> {
        match self.st.src.get(self.st.pos) {
            Some(&b) => Some(b),
            None => self.peek_slow(0),
        }
    }

    /// Returns the byte `n` after `pos`.
    #[inline]
    pub fn peek_at(&mut self, n: usize) -> Option<u8> {
        match self.st.src.get(self.st.pos + n) {
            Some(&b) => Some(b),
            None => self.peek_slow(n),
        }
    }

    #[cold]
    fn peek_slow(&mut self, n: usize) -> Option<u8> {
        while self.st.src.len() <= self.st.pos + n {
            let st = &mut self.st;
            let more = match st.input.as_mut() {
                Some(input) => input.read_line(&mut st.src, st.started),
                None => false,
            };
            if !more {
                if st.input.take().is_some() {
                    end_line(&mut st.src);
                    end_continuation(&mut st.src);
                    continue;
                }
                return None;
            }
        }
        self.st.src.get(self.st.pos + n).copied()
    }

    /// Returns the byte at `pos` after any line continuations (`\` newline), which are consumed.
    #[inline]
    pub fn peek_joined(&mut self) -> Option<u8> {
        loop {
            match self.peek_byte() {
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.cut_continuation(),
                other => return other,
            }
        }
    }

    /// Returns the byte after the `$` at `pos` and any line continuations, where bash looks for a
    /// quote.
    pub fn behind_dollar(&mut self) -> Option<u8> {
        let mut n = 1;
        while self.peek_at(n) == Some(b'\\') && self.peek_at(n + 1) == Some(b'\n') {
            n += 2;
        }
        self.peek_at(n)
    }

    /// Moves from the `$` at `pos` to the byte that [`Self::behind_dollar`] returned.
    pub fn over_dollar(&mut self) {
        self.pos += 1;
        self.peek_joined();
    }

    /// Counts newlines. The count is temporarily below zero if the replacement text of `$'...'` has
    /// more newlines than precede it.
    #[inline]
    pub fn add_lines(&mut self, lines: u32) {
        self.st.line = self.st.line.wrapping_add(lines);
    }

    /// Consumes a `\` newline at `pos`.
    pub fn cut_continuation(&mut self) {
        let pos = self.pos;
        if self.words > 0 {
            self.edits.push(raw::SpellingEdit { start: pos, end: pos + 2, text: Vec::new() });
        }
        self.pos += 2;
        self.add_lines(1);
    }

    /// Returns the bytes from `pos` on that have already been read.
    #[inline(always)]
    pub fn rest_bytes(&self) -> &[u8] {
        self.st.src.get(self.st.pos..).unwrap_or_default()
    }

    /// Skips text up to a byte for which `stop` is true, and returns it. The text must have no
    /// newlines, which are not counted.
    #[inline]
    pub fn run(&mut self, stop: impl Fn(u8) -> bool) -> &[u8] {
        let start = self.pos;
        let rest = self.rest_bytes();
        self.pos += rest.iter().position(|&c| stop(c)).unwrap_or(rest.len());
        self.src.get(start..self.pos).unwrap_or_default()
    }

    /// Skips text as [`Self::run`] does, but counts the newlines in it.
    #[inline]
    pub fn run_of_lines(&mut self, stop: impl Fn(u8) -> bool) -> &[u8] {
        let start = self.pos;
        let rest = self.rest_bytes();
        let length = rest.iter().position(|&c| stop(c)).unwrap_or(rest.len());
        self.advance_to(start + length);
        self.src.get(start..start + length).unwrap_or_default()
    }

    /// Advances to `pos`, counting newlines.
    pub fn advance_to(&mut self, pos: usize) {
        let from = self.pos.min(pos);
        let newlines = self.src.get(from..pos).map_or(0, |s| memchr::memchr_iter(b'\n', s).count());
        self.add_lines(newlines as u32);
        self.pos = pos;
    }

    /// Returns the current place.
    pub fn mark_place(&self) -> ParseMark {
        ParseMark {
            pos: self.pos,
            line: self.line,
            depth: self.depth,
            subs: self.subs,
            sub_depth: self.sub_depth,
            words: self.words,
            edits: self.edits.len(),
            pending_docs: self.docs.pending.len(),
            docs_base: self.docs.base,
            lines: self.lines,
        }
    }

    /// Returns to a place.
    pub fn rewind_to(&mut self, mark: &ParseMark) {
        self.pos = mark.pos;
        self.line = mark.line;
        self.depth = mark.depth;
        self.subs = mark.subs;
        self.sub_depth = mark.sub_depth;
        self.words = mark.words;
        self.edits.truncate(mark.edits);
        self.docs.pending.truncate(mark.pending_docs);
        self.docs.base = mark.docs_base;
        self.lines = mark.lines;
        self.look = None;
    }

    /// Enters a nested construct that costs `cost` of [`MAX_DEPTH`].
    #[inline]
    pub fn enter_nested(&mut self, cost: u32) -> Res<()> {
        self.depth += cost;
        if self.depth > MAX_DEPTH { Err(self.too_deep()) } else { Ok(()) }
    }

    /// Leaves a construct that was entered at this cost.
    #[inline]
    pub fn leave_nested(&mut self, cost: u32) {
        self.depth = self.depth.saturating_sub(cost);
    }
}

/// Removes a backslash at the very end of a file, which is a line continuation without a next line.
pub(crate) fn end_continuation(src: &mut Vec<u8>) {
    if src.last() == Some(&b'\\') {
        src.push(b'\n');
    }
}

/// Ends the last line as bash does: adds a missing newline, except after a backslash, because the
/// two would be a line continuation.
pub(crate) fn end_line(src: &mut Vec<u8>) {
    let slashes = src.iter().rev().take_while(|&&b| b == b'\\').count();
    if src.last().is_some_and(|&b| b != b'\n') && slashes % 2 == 0 {
        src.push(b'\n');
    }
}
