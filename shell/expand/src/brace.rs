//! Brace expansion (bash manual 3.5.1): textual, before every other expansion.
//!
//! Only unquoted source text takes part; every other part of the word is an opaque unit. Groups
//! are found from left to right; each multiplies the words so far, so the words come in
//! bash's order without building a tree.

use std::borrow::Cow;
use std::rc::Rc;

use sh_syntax::ast::{Param, ParamName, Word, WordPart};

use crate::env::Env;
use crate::error::{ErrorKind, ExpandError};

/// A piece of a word behind brace expansion.
#[derive(Clone, Debug)]
pub(crate) enum Piece<'w> {
    /// Unquoted text.
    Literal(Cow<'w, [u8]>),
    Part(&'w WordPart),
    /// A part that only brace expansion brought about.
    Made(Rc<WordPart>),
    /// Makes a field and adds nothing (the backslash of `{Z..a}` after quote removal).
    Empty,
}

impl<'w> Piece<'w> {
    pub(crate) fn of_part(part: &'w WordPart) -> Piece<'w> {
        match part {
            WordPart::Literal(text) => Piece::Literal(Cow::Borrowed(text)),
            part => Piece::Part(part),
        }
    }

    pub(crate) fn borrowed<'a>(&'a self) -> Piece<'a>
    where
        'w: 'a,
    {
        match self {
            Piece::Literal(text) => Piece::Literal(Cow::Borrowed(text)),
            Piece::Part(part) => Piece::Part(part),
            Piece::Made(part) => Piece::Part(part),
            Piece::Empty => Piece::Empty,
        }
    }
}

/// Nested groups beyond this depth stay text.
const MAX_DEPTH: usize = 200;
/// No word makes more words than this, whatever the budget says.
const MAX_WORDS: usize = 1 << 24;

/// One unit of the word's text.
#[derive(Clone, Copy)]
enum Unit<'w> {
    Byte(u8),
    Part(&'w WordPart),
}

impl Unit<'_> {
    fn is(&self, byte: u8) -> bool {
        matches!(self, Unit::Byte(b) if *b == byte)
    }
}

/// The words a word's braces make; `None` if there is no active brace in it.
pub(crate) fn expand<'w>(
    env: &mut dyn Env,
    word: &'w Word,
) -> Result<Option<Vec<Vec<Piece<'w>>>>, ExpandError> {
    let has_open =
        |part: &WordPart| matches!(part, WordPart::Literal(text) if text.contains(&b'{'));
    if !word.parts.iter().any(has_open) {
        return Ok(None);
    }
    let mut units = Vec::new();
    for part in &word.parts {
        match part {
            WordPart::Literal(text) => units.extend(text.iter().map(|&b| Unit::Byte(b))),
            part => units.push(Unit::Part(part)),
        }
    }
    let mut expansion = Expansion {
        env,
        steps: units.len().saturating_mul(64).saturating_add(100_000),
        found: false,
    };
    let words = expansion.words(&units, 0)?;
    if !expansion.found {
        return Ok(None);
    }
    // bash removes words that braces left entirely empty: `{,}` is nothing.
    Ok(Some(words.into_iter().filter(|pieces| !pieces.is_empty()).map(joined).collect()))
}

/// Joins neighbours as the text they are: `~{a,b}` makes the tilde-prefix `~a`, and `$x{1,2}`
/// the parameter `$x1`.
fn joined(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut texts: Vec<Piece<'_>> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (texts.last_mut(), piece) {
            (Some(Piece::Literal(before)), Piece::Literal(text)) => {
                before.to_mut().extend_from_slice(&text);
            }
            (_, piece) => texts.push(piece),
        }
    }
    for at in 1..texts.len() {
        let (left, right) = texts.split_at_mut(at);
        if let (Some(before @ Piece::Part(_)), Some(Piece::Literal(text))) =
            (left.last_mut(), right.first_mut())
            && let Piece::Part(WordPart::Param(param)) = before
            && let Some((longer, used)) = lengthened(param, text)
        {
            *before = Piece::Made(Rc::new(longer));
            *text = Cow::Owned(text[used..].to_vec());
        }
    }
    texts.retain(|piece| !matches!(piece, Piece::Literal(text) if text.is_empty()));
    texts
}

/// `$x` with the text behind it, as far as that makes a longer name.
fn lengthened(param: &Param, text: &[u8]) -> Option<(WordPart, usize)> {
    let name = crate::param::plain_name(param).filter(|_| !param.raw.starts_with(b"${"))?;
    let used = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    if used == 0 {
        return None;
    }
    let name = [name, &text[..used]].concat().into_boxed_slice();
    let raw = [&param.raw, &text[..used]].concat().into_boxed_slice();
    Some((
        WordPart::Param(Box::new(Param { name: ParamName::Variable(name), raw, ..param.clone() })),
        used,
    ))
}

type Words<'w> = Vec<Vec<Piece<'w>>>;

/// What an opening brace turned out to be.
enum Group<'w> {
    /// Ends there, stands for these.
    Words(usize, Words<'w>),
    /// Text up to there.
    Text(usize),
}

struct Expansion<'e> {
    env: &'e mut dyn Env,
    /// How far searches for closing braces may still walk: unclosed ones would be quadratic.
    steps: usize,
    found: bool,
}

impl Expansion<'_> {
    fn words<'w>(&mut self, units: &[Unit<'w>], depth: usize) -> Result<Words<'w>, ExpandError> {
        let mut words: Words<'w> = vec![Vec::new()];
        let mut at = 0;
        let mut text_from = 0;
        while at < units.len() {
            if !units[at].is(b'{') || depth >= MAX_DEPTH {
                at += 1;
                continue;
            }
            // `{}` at the start, or behind another group, is text in itself (`find -exec x {} +`).
            if at == text_from && units.get(at + 1).is_some_and(|u| u.is(b'}')) {
                at += 2;
                continue;
            }
            let (end, alternatives) = match self.group(units, at, depth)? {
                Group::Words(end, alternatives) => (end, alternatives),
                Group::Text(end) => {
                    at = end;
                    continue;
                }
            };
            self.found = true;
            append_text(&mut words, &units[text_from..at]);
            words = self.multiply(words, &alternatives)?;
            at = end;
            text_from = end;
        }
        append_text(&mut words, &units[text_from..]);
        Ok(words)
    }

    /// The group that opens at `open`.
    fn group<'w>(
        &mut self,
        units: &[Unit<'w>],
        open: usize,
        depth: usize,
    ) -> Result<Group<'w>, ExpandError> {
        let mut level = 0usize;
        let mut commas = Vec::new();
        let (mut any_comma, mut dots) = (false, false);
        let mut at = open + 1;
        while at < units.len() {
            if self.steps == 0 {
                return Ok(Group::Text(units.len()));
            }
            self.steps -= 1;
            match units[at] {
                Unit::Byte(b'{') => level += 1,
                // bash looks at the text: here a quoted comma counts, too.
                Unit::Part(part) => any_comma |= holds_comma(part),
                Unit::Byte(b',') => {
                    any_comma = true;
                    if level == 0 {
                        commas.push(at);
                    }
                }
                Unit::Byte(b'.') if level == 0 && units.get(at + 1).is_some_and(|u| u.is(b'.')) => {
                    dots = true
                }
                Unit::Byte(b'}') if level > 0 => level -= 1,
                // With dots any comma makes a list, even one that is nested: `{a..{b,c}}` is `a..b a..c`.
                Unit::Byte(b'}') if !commas.is_empty() || (dots && any_comma) => {
                    return Ok(Group::Words(at + 1, self.list(units, open, at, &commas, depth)?));
                }
                Unit::Byte(b'}') if dots => {
                    return Ok(match self.sequence(&units[open + 1..at])? {
                        Some(words) => Group::Words(at + 1, words),
                        None => Group::Text(at + 1),
                    });
                }
                // Otherwise this brace is text and the search goes on.
                _ => {}
            }
            at += 1;
        }
        Ok(Group::Text(open + 1))
    }

    fn list<'w>(
        &mut self,
        units: &[Unit<'w>],
        open: usize,
        close: usize,
        commas: &[usize],
        depth: usize,
    ) -> Result<Words<'w>, ExpandError> {
        let mut words = Vec::new();
        let mut from = open + 1;
        for &end in commas.iter().chain([&close]) {
            words.extend(self.words(&units[from..end], depth + 1)?);
            self.check(words.len(), 0)?;
            from = end + 1;
        }
        Ok(words)
    }

    fn multiply<'w>(
        &mut self,
        words: Words<'w>,
        alternatives: &Words<'w>,
    ) -> Result<Words<'w>, ExpandError> {
        let size = |words: &Words| words.iter().flatten().map(piece_len).sum::<usize>();
        let count = words.len().saturating_mul(alternatives.len());
        let bytes = size(&words)
            .saturating_mul(alternatives.len())
            .saturating_add(size(alternatives).saturating_mul(words.len()));
        self.check(count, bytes)?;
        let mut out = Vec::with_capacity(count);
        for word in &words {
            for alternative in alternatives {
                let mut joined = Vec::with_capacity(word.len() + alternative.len());
                joined.extend_from_slice(word);
                joined.extend_from_slice(alternative);
                out.push(joined);
            }
        }
        Ok(out)
    }

    fn check(&mut self, words: usize, bytes: usize) -> Result<(), ExpandError> {
        if words > MAX_WORDS {
            return Err(ExpandError::new(
                ErrorKind::Limit,
                &[
                    b"brace expansion: failed to allocate memory for ",
                    words.to_string().as_bytes(),
                    b" elements",
                ],
            ));
        }
        self.env.charge(bytes.saturating_add(words.saturating_mul(48)))
    }

    /// `x..y` and `x..y..step` between numbers or letters.
    fn sequence<'w>(&mut self, units: &[Unit<'w>]) -> Result<Option<Words<'w>>, ExpandError> {
        // A number has 20 characters at most; zero padding may add to that.
        if units.len() > 4096 {
            return Ok(None);
        }
        let mut text = Vec::with_capacity(units.len());
        for unit in units {
            match unit {
                Unit::Byte(byte) => text.push(*byte),
                Unit::Part(_) => return Ok(None),
            }
        }
        let Some(range) = Range::parse(&text) else { return Ok(None) };
        self.check(range.count(), 0)?;
        Ok(Some(range.words()))
    }
}

fn holds_comma(part: &WordPart) -> bool {
    match part {
        WordPart::Quoted(text) => text.contains(&b','),
        WordPart::DoubleQuoted(parts) => {
            parts.iter().any(|p| matches!(p, WordPart::Quoted(text) if text.contains(&b',')))
        }
        _ => false,
    }
}

fn piece_len(piece: &Piece<'_>) -> usize {
    match piece {
        Piece::Literal(text) => text.len() + 16,
        _ => 16,
    }
}

/// Appends units as they stand to every word.
fn append_text<'w>(words: &mut Words<'w>, units: &[Unit<'w>]) {
    if units.is_empty() {
        return;
    }
    let mut pieces: Vec<Piece<'w>> = Vec::new();
    let mut text = Vec::new();
    for unit in units {
        match unit {
            Unit::Byte(byte) => text.push(*byte),
            Unit::Part(part) => {
                if !text.is_empty() {
                    pieces.push(Piece::Literal(Cow::Owned(std::mem::take(&mut text))));
                }
                pieces.push(Piece::Part(part));
            }
        }
    }
    if !text.is_empty() {
        pieces.push(Piece::Literal(Cow::Owned(text)));
    }
    for word in words {
        word.extend_from_slice(&pieces);
    }
}

/// A sequence expression.
struct Range {
    first: i64,
    last: i64,
    /// Positive.
    step: u64,
    /// Least width, filled with zeros; 0 for none.
    width: usize,
    letters: bool,
}

impl Range {
    fn parse(text: &[u8]) -> Option<Range> {
        let mut parts = split_dots(text);
        let (first, last) = (parts.next()?, parts.next()?);
        let step = parts.next();
        if parts.next().is_some() {
            return None;
        }
        let step = match step {
            None => 1,
            Some(text) => integer(text)?.unsigned_abs().max(1),
        };
        if let (Some(a), Some(b)) = (integer(first), integer(last)) {
            let padded = has_leading_zero(first) || has_leading_zero(last);
            let width = if padded { first.len().max(last.len()) } else { 0 };
            return Some(Range { first: a, last: b, step, width, letters: false });
        }
        match (first, last) {
            ([a], [b]) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => Some(Range {
                first: i64::from(*a),
                last: i64::from(*b),
                step,
                width: 0,
                letters: true,
            }),
            _ => None,
        }
    }

    fn count(&self) -> usize {
        let steps = self.first.abs_diff(self.last) / self.step;
        usize::try_from(steps).unwrap_or(usize::MAX).saturating_add(1)
    }

    fn words<'w>(&self) -> Words<'w> {
        let mut words = Vec::with_capacity(self.count());
        for k in 0..self.count() as u64 {
            let offset = k.wrapping_mul(self.step) as i64;
            let value = if self.first <= self.last {
                self.first.wrapping_add(offset)
            } else {
                self.first.wrapping_sub(offset)
            };
            words.push(vec![self.piece(value)]);
        }
        words
    }

    fn piece<'w>(&self, value: i64) -> Piece<'w> {
        if self.letters {
            // Quote removal comes later in bash: a bare backslash does not survive it.
            return match value as u8 {
                b'\\' => Piece::Empty,
                byte => Piece::Literal(Cow::Owned(vec![byte])),
            };
        }
        let text = match self.width {
            0 => value.to_string(),
            width => format!("{value:0width$}"),
        };
        Piece::Literal(Cow::Owned(text.into_bytes()))
    }
}

/// Splits at `..`.
fn split_dots(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        match current.windows(2).position(|pair| pair == b"..") {
            Some(at) => {
                rest = Some(&current[at + 2..]);
                Some(&current[..at])
            }
            None => {
                rest = None;
                Some(current)
            }
        }
    })
}

fn integer(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// `01` and `-01`, but neither `0` nor `-0`.
fn has_leading_zero(text: &[u8]) -> bool {
    let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
    digits.len() > 1 && digits[0] == b'0'
}
