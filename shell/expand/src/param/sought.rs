//! What `${x/pattern/...}` looks for. Before it replaces anything bash 5.2 asks whether the pattern occurs
//! at all, by another pattern with stars around it, and measures how long a match will be; where
//! that gives another answer than the pattern itself, it is followed here. Found by experiment.

use box_text::glob::{Pattern, Start};
use sh_syntax::ast::{ReplaceKind, Word, WordPart};

use super::chars;
use crate::env::Env;
use crate::error::ExpandError;
use crate::lists;
use crate::pattern::match_options;
use crate::word::Tilde;

pub(super) struct Sought {
    pub(super) kind: ReplaceKind,
    pattern: Pattern,
    /// The text must match this, too.
    asked: Option<Pattern>,
    /// Characters that a match must have.
    length: Option<usize>,
    utf8: bool,
}

impl Sought {
    /// `quoted`: of a quoted expansion. `None`: never found.
    pub(super) fn of(
        env: &mut dyn Env,
        word: &Word,
        kind: ReplaceKind,
        quoted: bool,
    ) -> Result<Option<Sought>, ExpandError> {
        let shell = env.options();
        let (extglob, utf8) = (shell.extglob, !shell.c_locale);
        let options = match_options(env, extglob, shell.nocasematch);
        let plain = |kind, pattern| Sought { kind, pattern, asked: None, length: None, utf8 };
        let mut kind = kind;
        let text = match word.parts.as_slice() {
            [WordPart::Literal(text)] if !text.contains(&b'~') => text.to_vec(),
            [WordPart::Quoted(text)] => {
                return Ok(Some(plain(kind, Pattern::literal(text, options))));
            }
            _ => expanded(env, word, &mut kind, quoted)?,
        };
        let pattern = Pattern::new(&text, options);
        let length = match text.contains(&b'[').then(|| measured(&text, extglob)).flatten() {
            Some(length) => match pattern.length() {
                Some(natural) if natural == length => None,
                Some(_) => return Ok(None),
                None => Some(length),
            },
            None => None,
        };
        let asks = extglob && text.contains(&b'(') || text.ends_with(b"\\");
        let asked = asks.then(|| Pattern::new(&with_stars(&text, kind), options));
        Ok(Some(Sought { asked, length, ..plain(kind, pattern) }))
    }

    /// Whether it is an empty pattern, which is found only where it is anchored.
    pub(super) fn is_nothing(&self) -> bool {
        self.pattern.as_literal() == Some(b"") && !self.is_anchored()
    }

    fn is_anchored(&self) -> bool {
        matches!(self.kind, ReplaceKind::Prefix | ReplaceKind::Suffix)
    }

    /// Whether it may be found in this text.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        // Many patterns that match nothing at all count as longer.
        let in_empty = match self.pattern.start() {
            Start::Empty | Start::Star => true,
            Start::Optional | Start::Not => self.kind == ReplaceKind::Suffix,
            Start::Other => false,
        };
        // Of the end of a text with characters of several bytes bash does not ask.
        let asks = self.kind != ReplaceKind::Suffix || !self.utf8 || text.is_ascii();
        let asked = self.asked.as_ref().filter(|_| asks);
        (in_empty || !text.is_empty()) && asked.is_none_or(|p| p.is_match(text))
    }

    /// The length of the match at the beginning.
    pub(super) fn prefix(&self, text: &[u8]) -> Option<usize> {
        match self.length {
            None => self.pattern.longest_prefix(text),
            Some(_) => self.measured_at(text, 0),
        }
    }

    /// Where the match at the end begins.
    pub(super) fn suffix(&self, text: &[u8]) -> Option<usize> {
        match self.length {
            None => self.pattern.longest_suffix(text),
            Some(length) => {
                let before = chars::char_count(text, self.utf8).checked_sub(length)?;
                let start = chars::byte_offset(text, before, self.utf8);
                self.measured_at(text, start).map(|_| start)
            }
        }
    }

    /// All matches.
    pub(super) fn matches<'t>(
        &'t self,
        text: &'t [u8],
    ) -> Box<dyn Iterator<Item = (usize, usize)> + 't> {
        if self.length.is_none() {
            return Box::new(self.pattern.matches(text));
        }
        let mut at = 0;
        Box::new(std::iter::from_fn(move || {
            while at < text.len() {
                let start = at;
                if let Some(end) = self.measured_at(text, start) {
                    at = end;
                    return Some((start, end));
                }
                at += chars::first_width(&text[at..], self.utf8);
            }
            None
        }))
    }

    /// The end of a match of the measured length at this place.
    fn measured_at(&self, text: &[u8], start: usize) -> Option<usize> {
        let rest = &text[start..];
        let length = self.length.filter(|n| *n > 0 && *n <= chars::char_count(rest, self.utf8))?;
        let end = start + chars::byte_offset(rest, length, self.utf8);
        self.pattern.is_match(&text[start..end]).then_some(end)
    }
}

/// The text of a pattern with expansions. bash looks for the anchor once it has expanded it.
fn expanded(
    env: &mut dyn Env,
    word: &Word,
    kind: &mut ReplaceKind,
    quoted: bool,
) -> Result<Vec<u8>, ExpandError> {
    // The pattern of an anchored form does not begin the word: no tilde there.
    let anchored = matches!(kind, ReplaceKind::Prefix | ReplaceKind::Suffix);
    let tilde = if anchored { Tilde::Never } else { Tilde::Start };
    let field = lists::operator_field(env, word, tilde, quoted)?;
    let mut text = field.escaped();
    let mut first = None;
    field.stretches(|text, quoted| {
        first = first.or(text.first().map(|byte| (*byte, quoted)));
    });
    let anchor = match first {
        Some((b'#', false)) => Some(ReplaceKind::Prefix),
        Some((b'%', false)) => Some(ReplaceKind::Suffix),
        _ => None,
    };
    if let (ReplaceKind::First, Some(anchor)) = (*kind, anchor) {
        *kind = anchor;
        text.remove(0);
    }
    Ok(text)
}

/// The pattern of all texts in which this one occurs. A backslash at the end quotes the star.
fn with_stars(text: &[u8], kind: ReplaceKind) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    // A star before a parenthesis makes a group, which bash overlooks for suffixes.
    let group = text.starts_with(b"(") && kind != ReplaceKind::Suffix;
    if kind != ReplaceKind::Prefix && !group {
        out.push(b'*');
    }
    out.extend_from_slice(text);
    if kind != ReplaceKind::Suffix {
        out.push(b'*');
    }
    out
}

/// How many characters bash expects a match to have; `None` if it cannot tell. It looks for the end of
/// a bracket expression in its own way: the `]` of `[^]...]` ends it, and where none does the
/// rest counts character by character, with `[:`, `[=` and `[.` as one.
fn measured(text: &[u8], extglob: bool) -> Option<usize> {
    let mut count = 0;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match byte {
            b'*' => return None,
            b'?' | b'+' | b'@' | b'!' if extglob && after.first() == Some(&b'(') => return None,
            b'\\' => after.get(1..).unwrap_or_default(),
            b'[' => match bracket_end(after) {
                Some(end) => &after[end..],
                None => return Some(count + 1 + loose_length(after)),
            },
            _ => after,
        };
        count += usize::from(byte & 0xC0 != 0x80);
    }
    Some(count)
}

/// The characters behind a bracket that does not close.
fn loose_length(text: &[u8]) -> usize {
    let mut count = 0;
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let pair = match (byte, after.first()) {
            (b'\\', Some(_)) | (b'[', Some(b':' | b'=' | b'.')) => 1,
            _ => 0,
        };
        rest = &after[pair..];
        count += usize::from(byte & 0xC0 != 0x80);
    }
    count
}

/// Where the bracket expression with this content ends to [`measured`].
fn bracket_end(text: &[u8]) -> Option<usize> {
    let mut at = usize::from(text.first() == Some(&b']'));
    while let Some(&byte) = text.get(at) {
        match byte {
            b']' => return Some(at + 1),
            b'\\' => at += 1,
            b'[' if matches!(text.get(at + 1), Some(b':' | b'=' | b'.')) => {
                let close = [text[at + 1], b']'];
                let inside = text.get(at + 2..)?;
                if let Some(end) = inside.windows(2).position(|pair| pair == close) {
                    at += 3 + end;
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
