//! Brace expansion (bash manual 3.5.1): textual, before every other expansion.
//!
//! It works on a word's spelling as bash's does, which knows quotes, `${` and `$(` only roughly:
//! `${x/{}{1,2}` has no braces to expand, `{a,"}"}` has. The texts it makes are parsed again,
//! unless there is nothing in them but literal text. Groups are found from left to right; each
//! multiplies the words so far, so the words come in bash's order without building a tree.

use std::rc::Rc;

use sh_syntax::ast::{CommandSub, List, Word, WordPart};
use sh_syntax::error::{Cause, ErrorKind, SyntaxError};
use sh_syntax::parse::{ParseOptions, parse_word, substitution_end};

use crate::env::Env;
use crate::error::ExpandError;

/// Nested groups beyond this depth stay text.
const MAX_DEPTH: usize = 200;
/// No word makes more words than this, whatever the budget says.
const MAX_WORDS: usize = 1 << 24;

/// So many backquotes of a word that cannot be read are looked at.
const MAX_BACKQUOTES: usize = 100;

type Texts = Vec<Vec<u8>>;
type Result<T> = std::result::Result<T, ExpandError>;

/// The words a word's braces make, each as its parts; `None` if they change nothing.
pub(crate) fn expand(env: &mut dyn Env, word: &Word) -> Result<Option<Vec<Vec<WordPart>>>> {
    if !word.raw.contains(&b'{') {
        return Ok(None);
    }
    let literal = word.parts.iter().all(|part| matches!(part, WordPart::Literal(_)));
    // `"${x}"` and the like, whose only braces are those of a parameter, are common.
    let has_open = |part: &WordPart| match part {
        WordPart::Literal(text) => text.contains(&b'{'),
        _ => false,
    };
    if !literal && !word.parts.iter().any(has_open) && !odd_braces(&word.raw) {
        return Ok(None);
    }
    let options = ParseOptions {
        extglob: env.options().extglob,
        posix: env.options().posix,
        first_line: word.parts.iter().find_map(line_of).unwrap_or(1),
        ..ParseOptions::default()
    };
    let steps = word.raw.len().saturating_mul(64).saturating_add(100_000);
    let mut expansion = Expansion { env, options, steps };
    let texts = expansion.texts(&word.raw, 0)?;
    if let [only] = texts.as_slice()
        && **only == *word.raw
    {
        return Ok(None);
    }
    // bash removes words that braces left entirely empty: `{,}` is nothing.
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    if literal {
        return texts.map(|text| expansion.literal(text)).collect::<Result<_>>().map(Some);
    }
    // What cannot be read is an error when its turn comes.
    let parsed = |text: Vec<u8>| expansion.parsed(&text).unwrap_or_else(|e| vec![failing(e)]);
    Ok(Some(texts.map(parsed).collect()))
}

/// A part that fails when it is expanded.
fn failing(cause: Cause) -> WordPart {
    let kind = ErrorKind::Grammar;
    let error = SyntaxError { cause, line: 0, more: Vec::new(), incomplete: false, kind };
    let sub = CommandSub {
        body: List::default(),
        backquoted: false,
        is_file_read: false,
        error: Some(Box::new(error)),
        source: None,
        reread: false,
        line: 0,
    };
    WordPart::CommandSub(Rc::new(sub))
}

/// Whether a text has more opening braces than those of `${`.
fn odd_braces(raw: &[u8]) -> bool {
    let open = |(at, byte): (usize, &u8)| {
        *byte == b'{' && (!raw[..at].ends_with(b"$") || raw[..at].ends_with(b"\\$"))
    };
    raw.iter().enumerate().any(open)
}

/// The line of a command in a part.
fn line_of(part: &WordPart) -> Option<u32> {
    match part {
        WordPart::CommandSub(sub) => Some(sub.line),
        WordPart::DoubleQuoted(parts) => parts.iter().find_map(line_of),
        _ => None,
    }
}

struct Expansion<'e> {
    env: &'e mut dyn Env,
    options: ParseOptions,
    /// How far searches for braces may still walk: unclosed ones would be quadratic.
    steps: usize,
}

impl Expansion<'_> {
    /// What a text stands for.
    fn texts(&mut self, text: &[u8], depth: usize) -> Result<Texts> {
        let mut words = vec![Vec::new()];
        let mut rest = text;
        while let Some((open, close)) = self.group(rest).filter(|_| depth < MAX_DEPTH) {
            let (before, inside, behind) =
                (&rest[..open], &rest[open + 1..close], &rest[close + 1..]);
            let made = if holds_comma(inside) {
                self.list(inside, depth)?
            } else if let Some(range) = Range::parse(inside) {
                self.check(range.count(), 0)?;
                range.words()
            } else {
                // `{a..}` is text; what follows may have braces of its own.
                vec![rest[open..=close].to_vec()]
            };
            append(&mut words, before);
            words = self.multiply(words, &made)?;
            rest = behind;
        }
        append(&mut words, rest);
        Ok(words)
    }

    /// The next braces that make a group.
    fn group(&mut self, text: &[u8]) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let open = self.find(text, from, b'{')?;
            if let Some(close) = self.find(text, open + 1, b'}') {
                return Some((open, close));
            }
            from = open + 1;
        }
    }

    fn list(&mut self, inside: &[u8], depth: usize) -> Result<Texts> {
        let mut words = Vec::new();
        let mut from = 0;
        loop {
            let end = self.find(inside, from, b',');
            words.extend(self.texts(&inside[from..end.unwrap_or(inside.len())], depth + 1)?);
            self.check(words.len(), 0)?;
            match end {
                Some(end) => from = end + 1,
                None => return Ok(words),
            }
        }
    }

    /// The first `wanted` from `from` on that is neither quoted nor within braces. A closing brace
    /// counts if a comma or two dots stand before it.
    fn find(&mut self, text: &[u8], from: usize, wanted: u8) -> Option<usize> {
        let mut at = from;
        let (mut level, mut quote) = (0_usize, 0);
        let mut group = wanted != b'}';
        while let Some(&byte) = text.get(at) {
            self.steps = self.steps.checked_sub(1)?;
            let next = text.get(at + 1).copied();
            // `$$` is a parameter, no substitution begins in it.
            if byte == b'\\' && quote != b'\'' || text[at..].starts_with(b"$$(") {
                at += 2;
                continue;
            }
            if byte == b'$' && next == Some(b'{') && quote != b'\'' {
                // The brace and what follows it count as quoted.
                at += 2;
                level += usize::from(quote == 0);
                continue;
            }
            let substitution = next == Some(b'(')
                && (byte == b'$' && matches!(quote, 0 | b'"')
                    || matches!(byte, b'<' | b'>') && quote == 0);
            if substitution {
                at += substitution_end(&text[at..], &self.options).unwrap_or(text.len() - at);
                continue;
            }
            if quote != 0 {
                if byte == quote {
                    quote = 0;
                }
                at += 1;
                continue;
            }
            if matches!(byte, b'"' | b'\'' | b'`') {
                quote = byte;
                at += 1;
                continue;
            }
            if byte == wanted && level == 0 && group {
                // `{}` at the start is text in itself (`find -exec x {} +`).
                let blank = |b: u8| matches!(b, b' ' | b'\t' | b'\n');
                let alone = byte == b'{'
                    && (at == 0 || blank(text[at - 1]))
                    && next.is_none_or(|b| b == b'}' || blank(b));
                if !alone {
                    return Some(at);
                }
                at += 1;
                continue;
            }
            match byte {
                b'{' => level += 1,
                b'}' if level > 0 => level -= 1,
                b',' if level == 0 => group = true,
                b'.' if level == 0 && next == Some(b'.') && text.get(at + 2) != Some(&wanted) => {
                    group = true;
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    fn multiply(&mut self, words: Texts, made: &Texts) -> Result<Texts> {
        let size = |words: &Texts| words.iter().map(|w| w.len() + 16).sum::<usize>();
        let count = words.len().saturating_mul(made.len());
        let bytes = size(&words)
            .saturating_mul(made.len())
            .saturating_add(size(made).saturating_mul(words.len()));
        self.check(count, bytes)?;
        let mut out = Vec::with_capacity(count);
        for word in &words {
            for more in made {
                out.push([word.as_slice(), more].concat());
            }
        }
        Ok(out)
    }

    fn check(&mut self, words: usize, bytes: usize) -> Result<()> {
        if words > MAX_WORDS {
            return Err(crate::error::Cause::TooManyWords(words).into());
        }
        self.env.charge(bytes.saturating_add(words.saturating_mul(48)))
    }

    /// A text made of a word that was literal text; `{Z..a}` and `{$,}x` may bring about more.
    fn literal(&mut self, text: Vec<u8>) -> Result<Vec<WordPart>> {
        if text.iter().any(|b| matches!(b, b'\\' | b'`' | b'$')) {
            return self.parsed(&text).map_err(unread);
        }
        Ok(vec![WordPart::Literal(Rc::new(text))])
    }

    /// Where a backquote is that nothing closes: the last one, if those before it are in pairs.
    fn open_backquote(&mut self, text: &[u8]) -> Option<usize> {
        let backquotes = text.iter().enumerate().rev().filter(|(_, byte)| **byte == b'`');
        backquotes.map(|(at, _)| at).take(MAX_BACKQUOTES).find(|&at| {
            let rest = parse_word(&text[at..], &self.options).err();
            rest.is_some_and(|e| e.cause == Cause::Unclosed(b'`'))
                && parse_word(&text[..at], &self.options).is_ok()
        })
    }

    fn parsed(&mut self, text: &[u8]) -> std::result::Result<Vec<WordPart>, Cause> {
        // A backslash at the end quotes nothing; a backquote there, and a quote that
        // is not closed, are no errors to bash.
        let mut text = text.to_vec();
        if text.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1 {
            text.pop();
            text.extend_from_slice(b"''");
        }
        let open = parse_word(&text, &self.options).err().and_then(|_| self.open_backquote(&text));
        if let Some(at) = open {
            let (before, rest) = text.split_at(at);
            let mut parts = self.parsed(before)?;
            parts.push(match rest {
                [_] => WordPart::Quoted(Rc::new(rest.to_vec())),
                _ => failing(Cause::NoClosing { close: b'`', text: rest.into() }),
            });
            return Ok(parts);
        }
        let mut result = parse_word(&text, &self.options);
        for quote in [b'"', b'\''] {
            if result.as_ref().is_err_and(|e| e.cause == Cause::Unclosed(quote)) {
                let closed = [text.as_slice(), &[quote]].concat();
                result = parse_word(&closed, &self.options);
            }
        }
        result.map(|word| word.parts).map_err(|e| match e.byte() {
            Some(close) => Cause::NoClosing { close, text: text.into() },
            None => e.cause,
        })
    }
}

/// The error of a text that cannot be read.
fn unread(cause: Cause) -> ExpandError {
    match cause {
        Cause::NoClosing { close, text } => {
            crate::error::Cause::NoClosing { close, text: text.into() }.into()
        }
        other => crate::error::Cause::Unread(other.message()).into(),
    }
}

/// Whether a text has a comma that no backslash stands before; even quoted ones count.
fn holds_comma(text: &[u8]) -> bool {
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b',' => return true,
            _ => {}
        }
    }
    false
}

fn append(words: &mut Texts, text: &[u8]) {
    if !text.is_empty() {
        words.iter_mut().for_each(|word| word.extend_from_slice(text));
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

    fn words(&self) -> Vec<Vec<u8>> {
        let mut words = Vec::with_capacity(self.count());
        for k in 0..self.count() as u64 {
            let offset = k.wrapping_mul(self.step) as i64;
            let value = if self.first <= self.last {
                self.first.wrapping_add(offset)
            } else {
                self.first.wrapping_sub(offset)
            };
            words.push(self.text(value));
        }
        words
    }

    fn text(&self, value: i64) -> Vec<u8> {
        if self.letters {
            return vec![value as u8];
        }
        match self.width {
            0 => value.to_string().into_bytes(),
            width => format!("{value:0width$}").into_bytes(),
        }
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
