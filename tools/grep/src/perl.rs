//! `-P`: Perl-compatible patterns by the `fancy-regex` engine, line by line.
//!
//! As in PCRE2 without its UCP option (the setting of grep 3.8), `\d` and `\w` are ASCII.

use std::cell::Cell;

use box_text::regex::RequiredTexts;
use fancy_regex::{BytesMode, Regex, RegexBuilder};

use crate::config::GrepConfig;

/// Backtracking steps of one search.
const LIMIT: usize = 10_000_000;

/// A pattern of `-P`.
pub struct Perl {
    regex: Regex,
    /// Bytes before a match that the engine must see: a leading look-behind was turned
    /// into a prefix that `\K` drops, which the engine finds much faster.
    behind: usize,
    /// Texts without which a line has no match, where they are known.
    required: Option<RequiredTexts>,
    gave_up: Cell<bool>,
}

impl Perl {
    /// Compiles the one pattern; the error is the text to report.
    pub fn new(patterns: &[Vec<u8>], config: &GrepConfig) -> Result<Perl, String> {
        let pattern = match patterns {
            [] => return Err("the -P option only supports a single pattern".to_string()),
            [one] => one.as_slice(),
            _ => return Err("the -P option only supports a single pattern".to_string()),
        };
        let text = std::str::from_utf8(pattern)
            .map_err(|_| "-P supports only unibyte and UTF-8 locales".to_string())?;
        let text = ascii_classes(text);
        // There `\<` is a condition, here it is a character.
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
        let mode = if config.utf8 { BytesMode::UnicodeBytes } else { BytesMode::Ascii };
        let regex = RegexBuilder::new(&text)
            .bytes_mode(mode)
            .case_insensitive(config.ignore_case)
            .multi_line(true)
            .backtrack_limit(LIMIT)
            .seek(true)
            .build()
            .map_err(|e| describe_error(&e))?;
        Ok(Perl { regex, behind, required, gave_up: Cell::new(false) })
    }

    /// Returns the first match in a line at or after `at`.
    pub fn find(&self, line: &[u8], at: usize) -> Option<(usize, usize)> {
        match self.regex.find_from_pos(line, at.saturating_sub(self.behind)) {
            Ok(found) => found.map(|m| (m.start(), m.end())),
            Err(_) => {
                self.gave_up.set(true);
                None
            }
        }
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

/// PCRE2's words for common mistakes.
fn describe_error(e: &fancy_regex::Error) -> String {
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

/// `(?<=LITERAL)REST` taken apart, if the look-behind governs all of the rest. Searching for
/// `LITERAL\KREST` from as many bytes earlier finds the same matches.
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

/// `\d`, `\w` and their complements spelled out for ASCII.
fn ascii_classes(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    let mut bracket = false;
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match (c, bracket) {
            ('\\', _) => {
                let Some(next) = chars.next() else {
                    out.push('\\');
                    break;
                };
                match next {
                    'E' => quoted = false,
                    _ if quoted => {
                        out.push_str(r"\\");
                        push_quoted(&mut out, next);
                    }
                    'Q' => quoted = true,
                    _ => push_class(&mut out, next, bracket),
                }
            }
            (_, _) if quoted => push_quoted(&mut out, c),
            ('[', false) => {
                bracket = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    out.push_str(r"\]");
                    chars.next();
                }
            }
            ('[', true) if chars.peek() == Some(&':') => {
                // A POSIX class: copied up to its end.
                out.push('[');
                let mut last = '[';
                for c in chars.by_ref() {
                    out.push(c);
                    if last == ':' && c == ']' {
                        break;
                    }
                    last = c;
                }
            }
            ('[', true) => out.push_str(r"\["),
            ('&' | '~', true) => {
                out.push('\\');
                out.push(c);
            }
            (']', true) => {
                bracket = false;
                out.push(']');
            }
            _ => out.push(c),
        }
    }
    out
}

/// `\d`, `\w` and their opposites by ASCII, in a bracket expression or without one; other escapes as they are.
fn push_class(out: &mut String, letter: char, bracket: bool) {
    match (letter, bracket) {
        ('d', false) => out.push_str("[0-9]"),
        ('D', false) => out.push_str("[^0-9]"),
        ('w', false) => out.push_str("[0-9A-Za-z_]"),
        ('W', false) => out.push_str("[^0-9A-Za-z_]"),
        ('d', true) => out.push_str("0-9"),
        ('w', true) => out.push_str("0-9A-Za-z_"),
        _ => out.extend(['\\', letter]),
    }
}

/// A character of `\Q...\E`.
fn push_quoted(out: &mut String, c: char) {
    if c.is_ascii_punctuation() {
        out.push('\\');
    }
    out.push(c);
}

#[cfg(test)]
mod tests {
    use super::{ascii_classes, leading_look_behind};

    #[test]
    fn look_behinds_become_prefixes() {
        assert_eq!(leading_look_behind(r"(?<=id=)\d+"), Some(("id=", r"\d+")));
        assert_eq!(leading_look_behind(r"(?<=\()[|]x(a|b)"), Some((r"\(", "[|]x(a|b)")));
        assert_eq!(leading_look_behind("(?<=a)b|c"), None);
        assert_eq!(leading_look_behind("(?<=a|b)c"), None);
        assert_eq!(leading_look_behind(r"(?<=\s)c"), None);
    }

    #[test]
    fn classes_are_spelled_out() {
        assert_eq!(ascii_classes(r"\d+\W"), "[0-9]+[^0-9A-Za-z_]");
        assert_eq!(ascii_classes(r"[\d.][]a]"), r"[0-9.][\]a]");
        assert_eq!(ascii_classes(r"\Qa.b\E."), r"a\.b.");
        assert_eq!(ascii_classes(r"[[:alpha:]\\]\\d"), r"[[:alpha:]\\]\\d");
    }
}
