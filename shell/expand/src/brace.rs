//! Brace expansion (bash manual 3.5.1): one word becomes several, before every other expansion.
//!
//! Only unquoted text of the source takes part; every other part of a word (quoted text,
//! expansions) is one opaque symbol, which is copied to each word that contains it. Groups are
//! found from left to right, and each multiplies the words so far, so that the words are in bash's
//! order without a tree.

use std::rc::Rc;

use sh_syntax::ast::{Param, ParamName, WordPart};

use crate::env::ExpandEnv;
use crate::error::{ExpandCause, ExpandError};

/// Groups nested deeper than this stay text.
const MAX_DEPTH: usize = 200;
/// The maximum number of words that one word makes, regardless of the budget.
const MAX_WORDS: usize = 1 << 24;

/// A byte of unquoted text, or 256 and the number of another part.
type Symbol = u32;
type Symbols = Vec<Symbol>;
type Result<T> = std::result::Result<T, ExpandError>;

/// Returns the words that a word's braces make, each as a list of parts; `None` if there are no
/// braces to expand.
pub(crate) fn expand_braces(
    env: &mut dyn ExpandEnv,
    parts: &[WordPart],
) -> Result<Option<Vec<Vec<WordPart>>>> {
    let opens = |part: &WordPart| match part {
        WordPart::Literal(text) => text.contains(&b'{'),
        _ => false,
    };
    if !parts.iter().any(opens) {
        return Ok(None);
    }
    let word = to_symbols(parts);
    let steps = word.len().saturating_mul(64).saturating_add(100_000);
    let mut expansion = Expansion { env, steps };
    let words = expansion.expand_words(&word, 0)?;
    if let [only] = words.as_slice()
        && *only == word
    {
        return Ok(None);
    }
    // Words that are entirely empty after brace expansion are removed: `{,}` gives none.
    let words = words.into_iter().filter(|word| !word.is_empty());
    Ok(Some(words.map(|word| to_parts(&word, parts)).collect()))
}

fn to_symbols(parts: &[WordPart]) -> Symbols {
    let mut out = Vec::new();
    for (symbol, part) in (256..).zip(parts) {
        match part {
            WordPart::Literal(text) => out.extend(text.iter().map(|byte| Symbol::from(*byte))),
            _ => out.push(symbol),
        }
    }
    out
}

/// Returns the parts that symbols stand for. `parts` are those of the original word.
fn to_parts(word: &[Symbol], parts: &[WordPart]) -> Vec<WordPart> {
    let mut out = Vec::new();
    for run in word.chunk_by(|a, b| *a < 256 && *b < 256) {
        if let [symbol] = *run
            && symbol >= 256
        {
            out.push(parts[symbol as usize - 256].clone());
            continue;
        }
        let mut text: Vec<u8> = run.iter().map(|byte| *byte as u8).collect();
        if let Some(WordPart::Param(param)) = out.last_mut() {
            lengthen_name(param, &mut text);
        }
        if !text.is_empty() {
            out.push(WordPart::Literal(Rc::new(text)));
        }
    }
    out
}

/// Appends text to a parameter's name, because brace expansion is textual: it turns `$x{a,b}` into
/// `$xa` and `$xb`.
fn lengthen_name(param: &mut Param, text: &mut Vec<u8>) {
    let ParamName::Variable(name) = &mut param.name else { return };
    if param.raw.starts_with(b"${") {
        return;
    }
    let more = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let more: Vec<u8> = text.drain(..more).collect();
    *name = [&**name, &more].concat().into();
    param.raw = [&*param.raw, &more].concat().into();
}

fn is_byte(symbol: Option<&Symbol>, byte: u8) -> bool {
    symbol.is_some_and(|symbol| *symbol == Symbol::from(byte))
}

struct Expansion<'e> {
    env: &'e mut dyn ExpandEnv,
    /// The number of steps that searches for braces may still take. It is limited because the time
    /// for unclosed braces is quadratic.
    steps: usize,
}

impl Expansion<'_> {
    /// Returns the words that a word expands to.
    fn expand_words(&mut self, word: &[Symbol], depth: usize) -> Result<Vec<Symbols>> {
        let mut words = vec![Vec::new()];
        let mut rest = word;
        while let Some((open, close)) = self.find_group(rest).filter(|_| depth < MAX_DEPTH) {
            let (before, inside) = (&rest[..open], &rest[open + 1..close]);
            let made = if inside.contains(&Symbol::from(b',')) {
                self.expand_list(inside, depth)?
            } else if let Some(range) = BraceRange::parse(inside) {
                self.check_limits(range.word_count(), 0)?;
                range.words()
            } else {
                // `{a..}` is text; braces may follow it.
                vec![rest[open..=close].to_vec()]
            };
            append_words(&mut words, before);
            words = self.multiply_words(words, &made)?;
            rest = &rest[close + 1..];
        }
        append_words(&mut words, rest);
        Ok(words)
    }

    /// Returns the places of the next pair of braces that form a group.
    fn find_group(&mut self, word: &[Symbol]) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let open = self.find_symbol(word, from, b'{')?;
            if let Some(close) = self.find_symbol(word, open + 1, b'}') {
                return Some((open, close));
            }
            from = open + 1;
        }
    }

    /// Returns the words of `{a,b}`.
    fn expand_list(&mut self, inside: &[Symbol], depth: usize) -> Result<Vec<Symbols>> {
        let mut words = Vec::new();
        let mut from = 0;
        loop {
            let end = self.find_symbol(inside, from, b',');
            words.extend(self.expand_words(&inside[from..end.unwrap_or(inside.len())], depth + 1)?);
            self.check_limits(words.len(), 0)?;
            match end {
                Some(end) => from = end + 1,
                None => return Ok(words),
            }
        }
    }

    /// Returns the place of the first `wanted` from `from` on that is not within braces. A closing
    /// brace counts only after a comma or two dots.
    fn find_symbol(&mut self, word: &[Symbol], from: usize, wanted: u8) -> Option<usize> {
        let mut level = 0_usize;
        let mut group = wanted != b'}';
        for (at, symbol) in word.iter().enumerate().skip(from) {
            self.steps = self.steps.checked_sub(1)?;
            let next = word.get(at + 1);
            if is_byte(Some(symbol), wanted) && level == 0 && group {
                // `{}` at the start is plain text (`find -exec x {} +`).
                if wanted == b'{' && at == 0 && is_byte(next, b'}') {
                    continue;
                }
                return Some(at);
            }
            match u8::try_from(*symbol) {
                Ok(b'{') => level += 1,
                Ok(b'}') if level > 0 => level -= 1,
                Ok(b',') if level == 0 => group = true,
                Ok(b'.')
                    if level == 0 && is_byte(next, b'.') && !is_byte(word.get(at + 2), wanted) =>
                {
                    group = true;
                }
                _ => {}
            }
        }
        None
    }

    fn multiply_words(&mut self, words: Vec<Symbols>, made: &[Symbols]) -> Result<Vec<Symbols>> {
        let size = |words: &[Symbols]| words.iter().map(|w| 4 * w.len() + 16).sum::<usize>();
        let count = words.len().saturating_mul(made.len());
        let bytes = size(&words)
            .saturating_mul(made.len())
            .saturating_add(size(made).saturating_mul(words.len()));
        self.check_limits(count, bytes)?;
        let mut out = Vec::with_capacity(count);
        for word in &words {
            for more in made {
                out.push([word.as_slice(), more].concat());
            }
        }
        Ok(out)
    }

    fn check_limits(&mut self, words: usize, bytes: usize) -> Result<()> {
        if words > MAX_WORDS {
            return Err(ExpandCause::TooManyWords(words).into());
        }
        self.env.charge(bytes.saturating_add(words.saturating_mul(48)))
    }
}

fn append_words(words: &mut [Symbols], more: &[Symbol]) {
    if !more.is_empty() {
        words.iter_mut().for_each(|word| word.extend_from_slice(more));
    }
}

/// A sequence expression.
struct BraceRange {
    first: i64,
    last: i64,
    /// The step, which is positive.
    step: u64,
    /// The minimum width, filled with zeros; 0 for none.
    width: usize,
    letters: bool,
}

impl BraceRange {
    fn parse(inside: &[Symbol]) -> Option<BraceRange> {
        let text: Vec<u8> =
            inside.iter().map(|symbol| u8::try_from(*symbol).ok()).collect::<Option<_>>()?;
        let text = std::str::from_utf8(&text).ok()?;
        let mut parts = text.split("..");
        let (first, last) = (parts.next()?, parts.next()?);
        let step = match parts.next() {
            None => 1,
            Some(text) => text.parse::<i64>().ok()?.unsigned_abs().max(1),
        };
        if parts.next().is_some() {
            return None;
        }
        if let (Ok(a), Ok(b)) = (first.parse(), last.parse()) {
            let padded = has_leading_zero(first) || has_leading_zero(last);
            let width = if padded { first.len().max(last.len()) } else { 0 };
            return Some(BraceRange { first: a, last: b, step, width, letters: false });
        }
        match (first.as_bytes(), last.as_bytes()) {
            ([a], [b]) if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => Some(BraceRange {
                first: i64::from(*a),
                last: i64::from(*b),
                step,
                width: 0,
                letters: true,
            }),
            _ => None,
        }
    }

    fn word_count(&self) -> usize {
        let steps = self.first.abs_diff(self.last) / self.step;
        usize::try_from(steps).unwrap_or(usize::MAX).saturating_add(1)
    }

    fn words(&self) -> Vec<Symbols> {
        let mut words = Vec::with_capacity(self.word_count());
        for k in 0..self.word_count() as u64 {
            let offset = k.wrapping_mul(self.step) as i64;
            let value = if self.first <= self.last {
                self.first.wrapping_add(offset)
            } else {
                self.first.wrapping_sub(offset)
            };
            words.push(self.value_text(value).bytes().map(Symbol::from).collect());
        }
        words
    }

    fn value_text(&self, value: i64) -> String {
        match self.width {
            _ if self.letters => char::from(value as u8).to_string(),
            0 => value.to_string(),
            width => format!("{value:0width$}"),
        }
    }
}

/// Returns whether a number has a leading zero, as `01` and `-01` do, but neither `0` nor `-0`.
fn has_leading_zero(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    digits.len() > 1 && digits.starts_with('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &str) -> WordPart {
        WordPart::Literal(Rc::new(text.as_bytes().to_vec()))
    }

    /// Returns the words of a range, joined by spaces.
    fn range(text: &str) -> Option<String> {
        let range = BraceRange::parse(&to_symbols(&[literal(text)]))?;
        let words = range.words().into_iter();
        let words: Vec<String> =
            words.map(|word| word.iter().map(|b| char::from(*b as u8)).collect()).collect();
        Some(words.join(" "))
    }

    #[test]
    fn ranges_of_numbers_and_letters() {
        assert_eq!(range("1..4").as_deref(), Some("1 2 3 4"));
        assert_eq!(range("4..1..2").as_deref(), Some("4 2"));
        assert_eq!(range("-1..01").as_deref(), Some("-1 00 01"));
        assert_eq!(range("c..a").as_deref(), Some("c b a"));
        assert_eq!(range("a..3"), None);
        assert_eq!(range("1..2..3..4"), None);
    }

    #[test]
    fn quoted_text_is_one_symbol() {
        let quoted = WordPart::Quoted(Rc::new(b"{,}".to_vec()));
        let word = [literal("a"), quoted, literal("b")];
        let symbols = to_symbols(&word);
        assert_eq!(symbols.len(), 3);
        assert_eq!(to_parts(&symbols, &word), word);
    }
}
