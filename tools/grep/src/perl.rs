//! `-P`: Perl-compatible patterns by the `fancy-regex` engine, line by line.
//!
//! Patterns with subroutine calls use a separate engine (`recursion`).
//!
//! As in PCRE2 without its UCP option (the setting of grep 3.8), classes are ASCII
//! (`box_text::perl`).

use std::cell::Cell;

use box_text::perl::{PerlDialect, rewrite_pattern};
use box_text::regex::RequiredTexts;
use fancy_regex::{BytesMode, Regex, RegexBuilder};

use crate::config::GrepConfig;
use crate::recursion::{RecursivePattern, respell_calls};

/// The maximum number of backtracking steps of one search.
const LIMIT: usize = 10_000_000;

/// The engine of a pattern.
enum PerlEngine {
    Fancy(Box<Regex>),
    Recursive(Box<RecursivePattern>),
}

/// A pattern of `-P`.
pub struct Perl {
    engine: PerlEngine,
    /// The number of bytes before a match that the engine must see. A leading look-behind becomes a
    /// prefix that `\K` drops, because the engine finds that much faster.
    behind: usize,
    /// The texts without which a line has no match, if they are known.
    required: Option<RequiredTexts>,
    gave_up: Cell<bool>,
}

impl Perl {
    /// Compiles the pattern. There must be only one; the error is the text to report.
    pub fn new(patterns: &[Vec<u8>], config: &GrepConfig) -> Result<Perl, String> {
        let pattern = match patterns {
            [] => return Err("the -P option only supports a single pattern".to_string()),
            [one] => one.as_slice(),
            _ => return Err("the -P option only supports a single pattern".to_string()),
        };
        let text = std::str::from_utf8(pattern)
            .map_err(|_| "-P supports only unibyte and UTF-8 locales".to_string())?;
        let text = rewrite_pattern(text, PerlDialect::Pcre2).map_err(|e| e.to_string())?;
        let text = respell_calls(&text);
        // In `fancy-regex`, `\<` is a condition; in Perl syntax it is a character.
        let foreign = text.contains(r"\<") || text.contains(r"\>");
        let required = RequiredTexts::of_pattern(&text, config.ignore_case).filter(|_| !foreign);
        let plain = !config.whole_lines && !config.words;
        let (text, behind) = match leading_look_behind(&text).filter(|_| plain) {
            Some((literal, rest)) => (format!(r"{literal}\K(?:{rest})"), unescaped_len(literal)),
            None => (text, 0),
        };
        let text = if config.whole_lines {
            format!("^(?:{text})$")
        } else if config.words {
            format!(r"(?<![0-9A-Za-z_])(?:{text})(?![0-9A-Za-z_])")
        } else {
            text
        };
        if let Some(done) = RecursivePattern::new(&text, config.ignore_case, config.utf8) {
            let engine = PerlEngine::Recursive(Box::new(done?));
            return Ok(Perl { engine, behind: 0, required: None, gave_up: Cell::new(false) });
        }
        let mode = if config.utf8 { BytesMode::UnicodeBytes } else { BytesMode::Ascii };
        let regex = RegexBuilder::new(&text)
            .bytes_mode(mode)
            .case_insensitive(config.ignore_case)
            .multi_line(true)
            .backtrack_limit(LIMIT)
            .seek(true)
            .build()
            .map_err(|e| describe_error(&e))?;
        let engine = PerlEngine::Fancy(Box::new(regex));
        Ok(Perl { engine, behind, required, gave_up: Cell::new(false) })
    }

    /// Returns the first match in a line at or after `at`.
    pub fn find(&self, line: &[u8], at: usize) -> Option<(usize, usize)> {
        let from = at.saturating_sub(self.behind);
        let found = match &self.engine {
            PerlEngine::Fancy(regex) => {
                let found = regex.find_from_pos(line, from).ok();
                found.map(|m| m.map(|m| (m.start(), m.end())))
            }
            PerlEngine::Recursive(pattern) => pattern.find(line, from).ok(),
        };
        self.gave_up.set(self.gave_up.get() || found.is_none());
        found.flatten()
    }

    /// Returns the beginning of the first line at or after `from` that has a match.
    pub fn hit(&self, text: &[u8], from: usize, end: u8) -> Option<usize> {
        let mut at = from;
        while at <= text.len() {
            if let Some(required) = &self.required {
                at = required.next_line(text, at, end)?.start;
            }
            let rest = &text[at..];
            let width = memchr::memchr(end, rest).unwrap_or(rest.len());
            if self.find(&rest[..width], 0).is_some() {
                return Some(at);
            }
            at += width + 1;
        }
        None
    }

    /// Returns whether a search since the last call took too many steps.
    pub fn gave_up(&self) -> bool {
        self.gave_up.replace(false)
    }
}

/// Returns PCRE2's messages for common mistakes.
pub(crate) fn describe_error(e: &fancy_regex::Error) -> String {
    use fancy_regex::{Error, ParseError};
    match e {
        Error::ParseError(_, ParseError::UnclosedOpenParen) => "missing closing parenthesis".into(),
        Error::ParseError(_, ParseError::InvalidClass) => {
            "missing terminating ] for character class".into()
        }
        Error::ParseError(_, ParseError::TrailingBackslash) => "\\ at end of pattern".into(),
        Error::ParseError(_, ParseError::TargetNotRepeatable) => {
            "quantifier does not follow a repeatable item".into()
        }
        other => other.to_string(),
    }
}

/// Splits `(?<=LITERAL)REST`, if the look-behind applies to the whole rest. A search for
/// `LITERAL\KREST` that begins as many bytes earlier finds the same matches.
fn leading_look_behind(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix("(?<=")?;
    let mut end = None;
    let mut escaped = false;
    for (i, c) in inner.char_indices() {
        match c {
            _ if escaped && c.is_ascii_punctuation() => escaped = false,
            '\\' if !escaped => escaped = true,
            ')' if !escaped => {
                end = Some(i);
                break;
            }
            _ if !escaped && c.is_ascii() && !"^$.|?*+()[]{}".contains(c) => {}
            _ => return None,
        }
    }
    let (literal, rest) = (&inner[..end?], &inner[end? + 1..]);
    let mut depth = 0u32;
    let mut bracket = false;
    let mut chars = rest.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '[' => bracket = true,
            ']' => bracket = false,
            '(' if !bracket => depth += 1,
            ')' if !bracket => depth = depth.saturating_sub(1),
            '|' if !bracket && depth == 0 => return None,
            _ => {}
        }
    }
    // A repetition would apply to the look-behind itself.
    (!rest.starts_with(['*', '+', '?', '{'])).then_some((literal, rest))
}

/// Returns the number of bytes that an escaped literal stands for.
fn unescaped_len(literal: &str) -> usize {
    let mut chars = literal.chars();
    let mut n = 0;
    while let Some(c) = chars.next() {
        n += if c == '\\' { chars.next().map_or(0, char::len_utf8) } else { c.len_utf8() };
    }
    n
}

#[cfg(test)]
mod tests {
    use super::leading_look_behind;

    #[test]
    fn look_behinds_become_prefixes() {
        assert_eq!(leading_look_behind(r"(?<=id=)\d+"), Some(("id=", r"\d+")));
        assert_eq!(leading_look_behind(r"(?<=\()[|]x(a|b)"), Some((r"\(", "[|]x(a|b)")));
        assert_eq!(leading_look_behind("(?<=a)b|c"), None);
        assert_eq!(leading_look_behind("(?<=a|b)c"), None);
        assert_eq!(leading_look_behind(r"(?<=\s)c"), None);
    }
}
