//! POSIX regular expressions (XBD 9) with GNU's extensions, over bytes, leftmost-longest.
//!
//! | stage | file |
//! |---|---|
//! | dialects as sets of rules | `options` |
//! | text to tokens, brackets, nodes | `lex`, `bracket`, `parse`, `ast`, `class` |
//! | facts known before the search (plain text, fixed length) | `shape` |
//! | a choice of a few plain texts | `literals` |
//! | texts without which a line has no match | `required` |
//! | matches: lazy automata of `regex-automata` | `hir`, `automaton` |
//! | groups and back-references: our own instructions and matcher | `program`, `backtrack` |
//!
//! ```
//! use box_text::regex::{Captures, Regex, RegexOptions, RegexSyntax};
//! let re = Regex::new(br"\(x*\)ab\|abcd", &RegexOptions::new(RegexSyntax::Bre)).unwrap();
//! assert_eq!(re.find_at(b"..abcd", 0), Some((2, 6)));
//! let mut groups = Captures::default();
//! assert!(re.captures_at(b"xxab", 0, &mut groups));
//! assert_eq!(groups.get(1), Some((0, 2)));
//! ```
//!
//! # Invariants
//! - A search starts at the given offset but sees the text before it: `^`, `\b`, `\<` at
//!   `start` look back. To search a part as if it were the whole, pass a sub-slice.
//! - Without back-references every search takes time linear in the text (times the
//!   pattern). With them a step budget ends a search; then [`Regex::gave_up`] returns true.
//! - Groups are those of the first way in priority order (left alternative first, greedy)
//!   to match the longest text, which is what glibc gives; POSIX would in rare cases want
//!   longer first groups.
//! - With UTF-8 no match splits a character, and `.` and `[^x]` match no stray byte.
//!
//! Deliberately absent: translation of a caller's own escapes (sed's `\n`, `\t`), multi-
//! character collating elements.

mod ast;
mod automaton;
mod backtrack;
mod bracket;
mod class;
mod error;
mod hir;
mod lex;
mod literals;
mod options;
mod parse;
mod program;
mod required;
mod shape;

use std::cell::{Cell, OnceCell, RefCell};

use memchr::memmem;

use ast::{Look, RegexNode};
use automaton::{Automata, Automaton};
use backtrack::{BUDGET, BacktrackMemory, Haystack, NONE};
use literals::Literals;
use program::RegexProgram;

pub use error::RegexError;
pub use options::{MatchBound, RegexOptions, RegexSyntax};
pub use required::RequiredTexts;

/// The maximum weight of a pattern, which is roughly its number of states.
const MAX_WEIGHT: u64 = 1 << 19;

/// The number of lines with a required text that are always searched one by one.
const FEW_LINES: usize = 16;
/// Further lines are searched one by one as long as there are on average at least this many bytes
/// for each line.
const DENSE: usize = 400;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Regex {
    options: RegexOptions,
    node: RegexNode,
    groups: u32,
    engine: RegexEngine,
    backrefs: bool,
    program: OnceCell<Option<RegexProgram>>,
    scratch: RefCell<BacktrackMemory>,
    gave_up: Cell<bool>,
}

#[derive(Clone, Debug)]
enum RegexEngine {
    /// Plain text, perhaps between word conditions.
    Literal(Box<memmem::Finder<'static>>),
    /// One of a few plain texts.
    Choice(Literals),
    Automaton(Box<Automata>),
}

/// The positions of a match and its groups, which can be reused between searches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    slots: Vec<usize>,
}

impl Captures {
    /// Returns the start and end of group `n`; 0 is the whole match. `None` if the group took no
    /// part.
    pub fn get(&self, n: usize) -> Option<(usize, usize)> {
        match (self.slots.get(2 * n)?, self.slots.get(2 * n + 1)?) {
            (&NONE, _) | (_, &NONE) => None,
            (&a, &b) => Some((a, b)),
        }
    }

    /// Returns the number of groups, the whole match included.
    pub fn len(&self) -> usize {
        self.slots.len() / 2
    }

    /// Returns whether nothing was stored yet.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }
}

impl Regex {
    /// Compiles one pattern.
    pub fn new(pattern: &[u8], options: &RegexOptions) -> Result<Regex, RegexError> {
        let (node, groups) = parse::parse(pattern, options)?;
        Regex::build(node, groups, options)
    }

    /// Compiles a choice of patterns (`grep -e A -e B`). Back-references and groups of each count
    /// from the pattern's own start; in [`Captures`] they follow each other. An empty list of
    /// patterns matches nothing.
    pub fn new_any<P: AsRef<[u8]>>(
        patterns: &[P],
        options: &RegexOptions,
    ) -> Result<Regex, RegexError> {
        let mut nodes = Vec::with_capacity(patterns.len());
        let mut groups = 0;
        for pattern in patterns {
            let (mut node, n) = parse::parse(pattern.as_ref(), options)?;
            node.shift_groups(groups);
            groups += n;
            nodes.push(node);
        }
        Regex::build(make_choice(nodes, options), groups, options)
    }

    /// Compiles a choice of plain texts (`grep -F`); the syntax in `options` is not used.
    pub fn literals<P: AsRef<[u8]>>(
        texts: &[P],
        options: &RegexOptions,
    ) -> Result<Regex, RegexError> {
        let nodes = texts.iter().map(|t| parse::literal_node(t.as_ref(), options)).collect();
        Regex::build(make_choice(nodes, options), 0, options)
    }

    fn build(
        mut node: RegexNode,
        groups: u32,
        options: &RegexOptions,
    ) -> Result<Regex, RegexError> {
        if node.weight() > MAX_WEIGHT {
            return Err(RegexError::TooBig);
        }
        let literals_sorted = shape::sort_literals(&mut node);
        let backrefs = node.has_backref();
        let text = shape::literal_bytes(&node);
        let literal = match (options.bound, text) {
            (MatchBound::None, Some(text)) => Some(text),
            (MatchBound::Word, Some(text)) if !text.is_empty() => Some(text),
            _ => None,
        };
        let engine = match (literal, few_literals(&node, options)) {
            // The empty text must not be found inside a character.
            (Some(text), _) if !text.is_empty() || !options.utf8 => {
                RegexEngine::Literal(Box::new(memmem::Finder::new(&text).into_owned()))
            }
            (_, Some(texts)) => RegexEngine::Choice(texts),
            _ => {
                let direct = match options.bound {
                    // Both ends of the match are fixed.
                    MatchBound::Line => true,
                    _ => {
                        literals_sorted || {
                            let ends_given = !options.multiline || options.lines.is_some();
                            shape::first_is_longest(&node, options.utf8, ends_given)
                        }
                    }
                };
                node = bound_node(node, options.bound);
                RegexEngine::Automaton(Box::new(Automata::new(&node, options, direct)?))
            }
        };
        Ok(Regex {
            options: *options,
            node,
            groups,
            engine,
            backrefs,
            program: OnceCell::new(),
            scratch: RefCell::default(),
            gave_up: Cell::new(false),
        })
    }

    /// Returns the number of groups, without the whole match.
    pub fn group_count(&self) -> usize {
        self.groups as usize
    }

    /// Returns the text the pattern stands for, if it is free of operators and conditions.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match &self.engine {
            RegexEngine::Literal(finder) if self.options.bound == MatchBound::None => {
                Some(finder.needle())
            }
            _ => None,
        }
    }

    /// Returns whether there is a match anywhere.
    pub fn is_match(&self, hay: &[u8]) -> bool {
        self.earliest_end(hay, 0).is_some()
    }

    /// Returns the leftmost longest match that starts at `start` or later. `None` also if `start`
    /// lies beyond the text.
    pub fn find_at(&self, hay: &[u8], start: usize) -> Option<(usize, usize)> {
        if start > hay.len() {
            return None;
        }
        match &self.engine {
            RegexEngine::Literal(finder) => self.find_literal(finder, hay, start),
            RegexEngine::Choice(texts) => texts.find(hay, start),
            RegexEngine::Automaton(auto) if self.backrefs => {
                let mut slots = vec![NONE; 2 * (self.groups as usize + 1)];
                self.find_by_program(auto, hay, start, &mut slots)
            }
            RegexEngine::Automaton(auto) => self.search(auto, hay, start, Automaton::find),
        }
    }

    /// Returns a position at or after the first place where a match is complete. It shows that
    /// there is a match (and with [`RegexOptions::lines`], on which line), and is found faster than
    /// by [`Regex::find_at`].
    pub fn earliest_end(&self, hay: &[u8], start: usize) -> Option<usize> {
        match &self.engine {
            RegexEngine::Automaton(auto) if !self.backrefs && start <= hay.len() => {
                self.search(auto, hay, start, Automaton::earliest_end)
            }
            _ => self.find_at(hay, start).map(|(_, end)| end),
        }
    }

    /// Returns the result of `find` from `start` on. If every match contains one of a few texts,
    /// `find` searches only the lines that contain one. Once such lines are so frequent that
    /// searching for the texts saves nothing, it searches all of the rest.
    fn search<T>(
        &self,
        auto: &Automata,
        hay: &[u8],
        start: usize,
        find: fn(&Automaton, &[u8], usize) -> Option<T>,
    ) -> Option<T> {
        let mut from = start;
        if let (Some(end), Some(required)) = (self.options.lines, auto.required()) {
            let mut lines = 0;
            while lines < FEW_LINES || from - start > lines * DENSE {
                let line = required.next_line(hay, from, end)?;
                let within = &hay[..line.end];
                let found = find(self.pick(auto, within, line.start)?, within, line.start);
                if found.is_some() || line.end == hay.len() {
                    return found;
                }
                from = line.end + 1;
                lines += 1;
            }
        }
        find(self.pick(auto, hay, from)?, hay, from)
    }

    /// Finds a match as [`Regex::find_at`] does, and stores its groups.
    pub fn captures_at(&self, hay: &[u8], start: usize, captures: &mut Captures) -> bool {
        captures.slots.clear();
        captures.slots.resize(2 * (self.groups as usize + 1), NONE);
        if self.backrefs && start <= hay.len() {
            return match &self.engine {
                RegexEngine::Automaton(auto) => {
                    self.find_by_program(auto, hay, start, &mut captures.slots).is_some()
                }
                RegexEngine::Literal(_) | RegexEngine::Choice(_) => false,
            };
        }
        let Some(found) = self.find_at(hay, start) else { return false };
        (captures.slots[0], captures.slots[1]) = found;
        if self.groups > 0
            && let Some(program) = self.program()
        {
            let hay = Haystack { text: hay, options: &self.options };
            let mut scratch = self.scratch.borrow_mut();
            if !program.match_groups(hay, found, &mut scratch, &mut captures.slots) {
                self.gave_up.set(true);
            }
        }
        true
    }

    /// Returns whether a search since the last call ended without a result (or without groups),
    /// because back-references took too many steps or the text is too long for the pattern.
    pub fn gave_up(&self) -> bool {
        self.gave_up.replace(false)
    }

    fn pick<'a>(&self, auto: &'a Automata, hay: &[u8], start: usize) -> Option<&'a Automaton> {
        let picked = auto.pick(hay, start);
        if picked.is_none() {
            self.gave_up.set(true);
        }
        picked
    }

    fn program(&self) -> Option<&RegexProgram> {
        self.program.get_or_init(|| RegexProgram::new(&self.node).ok()).as_ref()
    }

    fn find_literal(
        &self,
        finder: &memmem::Finder<'_>,
        hay: &[u8],
        mut start: usize,
    ) -> Option<(usize, usize)> {
        let length = finder.needle().len();
        loop {
            let at = start + finder.find(hay.get(start..)?)?;
            let end = at + length;
            let context = Haystack { text: hay, options: &self.options };
            if self.options.bound == MatchBound::None
                || !backtrack::word_before(context, at) && !backtrack::word_after(context, end)
            {
                return Some((at, end));
            }
            start = at + 1;
        }
    }

    fn find_by_program(
        &self,
        auto: &Automata,
        text: &[u8],
        mut start: usize,
        slots: &mut [usize],
    ) -> Option<(usize, usize)> {
        let program = self.program()?;
        let hay = Haystack { text, options: &self.options };
        let mut scratch = self.scratch.borrow_mut();
        let mut budget = BUDGET;
        loop {
            let (at, _) = self.pick(auto, text, start)?.leftmost(text, start)?;
            match program.longest_match(hay, at, &mut scratch, slots, &mut budget) {
                Ok(true) => return Some((slots[0], slots[1])),
                Ok(false) => {}
                Err(_) => {
                    self.gave_up.set(true);
                    return None;
                }
            }
            start = at + text.get(at..).and_then(class::decode_char).map_or(1, |(_, width)| width);
            if start > text.len() {
                return None;
            }
        }
    }
}

/// Returns the texts, if the pattern is a choice of a few. A text that is not UTF-8 could be found
/// within a character.
fn few_literals(node: &RegexNode, options: &RegexOptions) -> Option<Literals> {
    let texts = shape::literal_choice(node).filter(|_| options.bound == MatchBound::None)?;
    let whole = !options.utf8 || texts.iter().all(|text| std::str::from_utf8(text).is_ok());
    if whole { Literals::new(texts) } else { None }
}

fn make_choice(mut nodes: Vec<RegexNode>, options: &RegexOptions) -> RegexNode {
    match nodes.len() {
        0 => RegexNode::Class(class::CharSet::empty(options.utf8)),
        1 => nodes.remove(0),
        _ => RegexNode::Alternate(nodes),
    }
}

fn bound_node(node: RegexNode, bound: MatchBound) -> RegexNode {
    let (before, after) = match bound {
        MatchBound::None => return node,
        MatchBound::Word => (Look::NoWordBefore, Look::NoWordAfter),
        MatchBound::Line => (Look::TextStart, Look::TextEnd),
    };
    RegexNode::Concat(vec![RegexNode::Look(before), node, RegexNode::Look(after)])
}

#[cfg(test)]
mod tests;
