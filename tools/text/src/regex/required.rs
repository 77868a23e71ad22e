//! Texts of which every match contains one (`ERROR|WARN` in ` [0-9]+ (ERROR|WARN)$`), for callers
//! that search lines: they can skip a line that contains none of the texts.
//!
//! This is faster because an automaton reads every byte, in Wasm at a fraction of the speed of
//! `memmem`. `regex-automata` does the same for a single text that matches begin with, end with or
//! contain, but for several texts only on processors that its vector search supports.

use std::ops::Range;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Hir, HirKind};

use super::literals::Literals;

/// The minimum length of a text. Shorter ones occur so often that nothing is saved.
const SHORTEST: usize = 3;

/// The texts.
#[derive(Clone, Debug)]
pub struct RequiredTexts(Literals);

impl RequiredTexts {
    /// Returns the texts that a pattern requires; `None` if it is not in the syntax of the crate
    /// `regex` (look-around, back-references), or if no useful texts are known.
    pub fn of_pattern(pattern: &str, ignore_case: bool) -> Option<RequiredTexts> {
        let mut parser = ParserBuilder::new();
        parser.case_insensitive(ignore_case).utf8(false);
        RequiredTexts::from_hir(&parser.build().parse(pattern).ok()?)
    }

    pub(super) fn from_hir(hir: &Hir) -> Option<RequiredTexts> {
        let texts = required_texts(hir).filter(|texts| texts_worth(texts) >= SHORTEST)?;
        Literals::new(texts).map(RequiredTexts)
    }

    /// Returns whether there is a choice of texts.
    pub(super) fn has_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns the first line that has one of the texts at or after `from`: from its beginning, but
    /// not before `from`, to the byte `end` or the end of `hay`.
    pub fn next_line(&self, hay: &[u8], from: usize, end: u8) -> Option<Range<usize>> {
        let (at, _) = self.0.find(hay, from)?;
        let start = memchr::memrchr(end, &hay[from..at]).map_or(from, |i| from + i + 1);
        let stop = memchr::memchr(end, &hay[at..]).map_or(hay.len(), |i| at + i);
        Some(start..stop)
    }
}

/// Returns the selectivity of a choice of texts, which is the length of the shortest.
fn texts_worth(texts: &[Vec<u8>]) -> usize {
    texts.iter().map(Vec::len).min().unwrap_or(0)
}

/// Returns the best choice of texts of which every match has one.
fn required_texts(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    match hir.kind() {
        HirKind::Literal(text) => Some(vec![text.0.to_vec()]),
        HirKind::Capture(group) => required_texts(&group.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => required_texts(&repetition.sub),
        HirKind::Concat(parts) => {
            parts.iter().filter_map(required_texts).max_by_key(|t| texts_worth(t))
        }
        HirKind::Alternation(ways) => {
            let all: Option<Vec<_>> = ways.iter().map(required_texts).collect();
            Some(all?.concat())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(pattern: &str) -> Option<Vec<String>> {
        let hir = ParserBuilder::new().build().parse(pattern).unwrap();
        let show = |text: Vec<u8>| String::from_utf8(text).unwrap();
        required_texts(&hir).map(|texts| texts.into_iter().map(show).collect())
    }

    #[test]
    fn texts_that_every_match_has() {
        for (pattern, want) in [
            (" [0-9]+\\.[0-9]{3} (WARN|ERROR) ", &["WARN", "ERROR"][..]),
            ("\"(?:PUT|DELETE) [^\"]*", &["PUT", "DELETE"]),
            ("(?:ab)+x*", &["ab"]),
            ("x*abc?", &["ab"]),
            ("(?:x(?:abc|defg)|hij)k?", &["abc", "defg", "hij"]),
        ] {
            assert_eq!(known(pattern).unwrap(), want, "{pattern}");
        }
        for pattern in ["a*", "[ab]", "(?:abc|[0-9])", "(?:abc)?", "(?i:abc)", ""] {
            assert_eq!(known(pattern), None, "{pattern}");
        }
        assert!(RequiredTexts::of_pattern("ab", false).is_none());
        assert!(RequiredTexts::of_pattern("abc", true).is_none());
        assert!(RequiredTexts::of_pattern("(?=abc)", false).is_none());
    }

    #[test]
    fn lines_that_have_a_required_text() {
        let required = RequiredTexts::of_pattern("abc|def", false).unwrap();
        let hay = b"x\n-def-abc\ny\nabc";
        assert_eq!(required.next_line(hay, 0, b'\n'), Some(2..10));
        assert_eq!(required.next_line(hay, 4, b'\n'), Some(4..10));
        assert_eq!(required.next_line(hay, 11, b'\n'), Some(13..16));
        assert_eq!(required.next_line(hay, 14, b'\n'), None);
    }
}
