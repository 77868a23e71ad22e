//! Shell patterns (POSIX XCU 2.13, bash manual 3.5.8.1): `*`, `?`, `[...]` and bash's
//! extended groups `?(a|b) *(..) +(..) @(..) !(..)`.
//!
//! | stage | file |
//! |---|---|
//! | text to nodes | `parse` |
//! | bracket expressions | `bracket` |
//! | whole-string match without groups: two cursors and one star to return to | `simple` |
//! | all other matches: sets of positions, forwards or backwards | `sim`, `set` |
//! | a star before a group that may be empty | `held` |
//! | `${x#p}`, `${x%p}`, `${x//p/r}` | `search` |
//!
//! # Invariants
//! - A pattern never fails to compile: an incomplete bracket expression or group is text.
//! - No backtracking over groups: a group maps a *set* of start positions to the set of end
//!   positions, so `*a*a*a*` and `+(+(a))` take polynomial time on any input.
//! - Characters are UTF-8 where the text is valid UTF-8, single bytes otherwise (as bash does);
//!   ranges are in code point order (`globasciiranges`, the C locale).

mod bracket;
mod held;
mod parse;
mod search;
mod set;
mod sim;
mod simple;

use bracket::Bracket;
use held::HeldStar;
pub use search::GlobMatches;

/// The options of parsing and matching a pattern. The default is that of `case` in a UTF-8 locale
/// without `extglob`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobOptions {
    /// `?(..)`, `*(..)`, `+(..)`, `@(..)`, `!(..)` are groups.
    pub extglob: bool,
    /// Letters match without regard to case (`nocasematch`, `nocaseglob`, `find -iname`).
    pub ignore_case: bool,
    /// Characters may be UTF-8 sequences.
    pub utf8: bool,
    /// A period at the start (with `no_slash` also after a slash) is matched by a period only
    /// (`FNM_PERIOD`).
    pub period: bool,
    /// A slash is matched by a slash only (`FNM_PATHNAME`).
    pub no_slash: bool,
    /// A backslash quotes the next character; off for `FNM_NOESCAPE`.
    pub escape: bool,
}

impl Default for GlobOptions {
    fn default() -> GlobOptions {
        GlobOptions {
            extglob: false,
            ignore_case: false,
            utf8: true,
            period: false,
            no_slash: false,
            escape: true,
        }
    }
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct GlobPattern {
    nodes: Vec<GlobNode>,
    shape: PatternShape,
    options: GlobOptions,
}

#[derive(Clone, Debug, PartialEq)]
enum GlobNode {
    /// Bytes that match only themselves.
    Literal(Box<[u8]>),
    /// Characters whose case is already folded; used only with `ignore_case`.
    Folded(Box<[char]>),
    /// `?`
    Any,
    /// `*`; never two in a row
    Star,
    Bracket(Box<Bracket>),
    Group(ExtGroup, Vec<Vec<GlobNode>>),
    /// A star and all nodes after it, where bash requires that the star leaves some text for them.
    Held(Box<HeldStar>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtGroup {
    /// `?(..)`
    Optional,
    /// `*(..)`
    Star,
    /// `+(..)`
    Plus,
    /// `@(..)`
    One,
    /// `!(..)`
    Not,
}

/// The matcher that serves a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternShape {
    /// At most one literal.
    Literal,
    /// Neither `*` nor a group: the number of characters is known.
    Fixed,
    /// No group.
    Simple,
    Groups,
}

impl GlobPattern {
    /// Compiles a pattern in which a backslash quotes (see [`GlobOptions::escape`]).
    pub fn new(text: &[u8], options: GlobOptions) -> GlobPattern {
        let nodes = parse::parse(text, options);
        let shape = shape_of(&nodes);
        GlobPattern { nodes, shape, options }
    }

    /// Returns a pattern that matches exactly these bytes.
    pub fn literal(text: &[u8], options: GlobOptions) -> GlobPattern {
        GlobPattern::new(&escape_pattern(text), GlobOptions { escape: true, ..options })
    }

    /// Returns the one text this pattern matches, if there is only one.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match self.nodes.as_slice() {
            [] => Some(b""),
            [GlobNode::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the options it was compiled with.
    pub fn options(&self) -> GlobOptions {
        self.options
    }

    /// Returns whether the pattern matches the whole text.
    pub fn is_match(&self, text: &[u8]) -> bool {
        match self.shape {
            PatternShape::Groups => self.matches_by_sets(text),
            _ => match self.as_literal() {
                Some(literal) => literal == text,
                None => simple::is_match(&self.nodes, text, self.options),
            },
        }
    }

    /// Matches by sets of positions. A literal prefix and suffix are compared first, because that
    /// rejects most texts cheaply.
    fn matches_by_sets(&self, text: &[u8]) -> bool {
        if let Some(GlobNode::Literal(first)) = self.nodes.first()
            && !text.starts_with(first)
        {
            return false;
        }
        if let Some(GlobNode::Literal(last)) = self.nodes.last()
            && !text.ends_with(last)
        {
            return false;
        }
        let mut sim = sim::Sim::new(text, self.options);
        let ends = sim.run(&self.nodes, set::IntervalSet::single(0), sim::Direction::Forward);
        ends.contains(text.len())
    }
}

fn shape_of(nodes: &[GlobNode]) -> PatternShape {
    if nodes.iter().any(|n| matches!(n, GlobNode::Group(..) | GlobNode::Held(_))) {
        PatternShape::Groups
    } else if nodes.contains(&GlobNode::Star) {
        PatternShape::Simple
    } else if matches!(nodes, [] | [GlobNode::Literal(_)]) {
        PatternShape::Literal
    } else {
        PatternShape::Fixed
    }
}

/// Returns whether the text (with backslash quoting) holds an active pattern character: `*`, `?`, a
/// bracket that may close before a slash, or with `extglob` a group's opening. This decides whether
/// a word is a pattern at all.
pub fn has_magic(text: &[u8], extglob: bool) -> bool {
    let mut open_bracket = false;
    let mut i = 0;
    while let Some(&byte) = text.get(i) {
        match byte {
            b'\\' => i += 1,
            b'*' | b'?' => return true,
            b'[' => open_bracket = true,
            b']' if open_bracket => return true,
            // A bracket expression matches no slash, so it must not contain one.
            b'/' => open_bracket = false,
            b'+' | b'@' | b'!' if extglob && text.get(i + 1) == Some(&b'(') => return true,
            _ => {}
        }
        i += 1;
    }
    false
}

/// Quotes every character that could be special in a pattern with a backslash.
pub fn escape_pattern(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    escape_into(text, &mut out);
    out
}

/// Escapes as [`escape_pattern`] does, appending to `out`.
pub fn escape_into(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        if matches!(
            byte,
            b'\\'
                | b'*'
                | b'?'
                | b'['
                | b']'
                | b'('
                | b')'
                | b'|'
                | b'!'
                | b'+'
                | b'@'
                | b'-'
                | b':'
                | b'='
                | b'^'
        ) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

/// Removes the backslashes that quote.
pub fn unescape_pattern(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&byte) = bytes.next() {
        match byte {
            b'\\' => out.push(bytes.next().copied().unwrap_or(b'\\')),
            _ => out.push(byte),
        }
    }
    out
}

/// Returns the character at `at` and its length in bytes; an invalid byte is a character of its own
/// that equals no valid one.
fn char_at(text: &[u8], at: usize, utf8: bool) -> Option<(u32, usize)> {
    let first = *text.get(at)?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    if utf8 {
        let width = match first {
            0xC2..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xF4 => 4,
            _ => 1,
        };
        if width > 1
            && let Some(bytes) = text.get(at..at + width)
            && let Ok(s) = std::str::from_utf8(bytes)
            && let Some(c) = s.chars().next()
        {
            return Some((u32::from(c), width));
        }
    }
    Some((INVALID + u32::from(first), 1))
}

/// Bytes that are not a character get code points above Unicode's.
const INVALID: u32 = 0x11_0000;

/// Folds the case of a code point (simple case folding).
fn fold_case(code: u32) -> u32 {
    match char::from_u32(code) {
        Some(c) if c.is_ascii() => u32::from(c.to_ascii_lowercase()),
        Some(c) => {
            let mut lower = c.to_lowercase();
            match (lower.next(), lower.next()) {
                (Some(l), None) => u32::from(l),
                _ => code,
            }
        }
        None => code,
    }
}

#[cfg(test)]
mod tests;
