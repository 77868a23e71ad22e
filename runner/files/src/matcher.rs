//! Patterns of `grep` and `search`. `grep -E` and `-F` use the engines of the image's `grep`,
//! `box_text::regex`; `-P` uses `fancy-regex`. Lines are matched one by one; text without a match
//! is skipped quickly.

use box_text::regex::{self, MatchBound, Regex, RegexOptions};
use fancy_regex::{BytesMode, RegexBuilder};
use std::cell::Cell;
use wasibox_protocol::files::{FilesError, PatternSyntax};

/// Longest pattern, in bytes.
const PATTERN: usize = 8192;
/// Deepest nesting of groups.
const NESTING: usize = 200;
/// The maximum number of backtracking steps in one line, which take some tens of milliseconds.
const STEPS: usize = 1_000_000;
/// Longest line in which a backtracking pattern is tried, because a single step can look at the
/// whole line.
const STEPPED: usize = 16 << 10;
/// The constructs that need backtracking: back references, look-around, atomic groups and similar
/// ones.
const STEPPING: [&str; 20] = [
    "\\1", "\\2", "\\3", "\\4", "\\5", "\\6", "\\7", "\\8", "\\9", "\\k", "\\g", "\\K", "\\G",
    "(?=", "(?!", "(?<", "(?>", "(?(", "(?P=", "(*",
];
/// The maximum number of bytes that a compiled part of a pattern may take.
const COMPILED: usize = 4 << 20;

enum MatchEngine {
    Posix(Box<Regex>),
    /// `whole` says that a match in a line is also a match in the surrounding text, `steps` that
    /// matching may backtrack.
    Perl {
        regex: Box<fancy_regex::Regex>,
        whole: bool,
        steps: bool,
    },
}

/// A pattern that is matched against single lines.
pub struct LineMatcher {
    engine: MatchEngine,
    gave_up: Cell<u64>,
}

impl LineMatcher {
    /// Compiles a pattern; with `word` it matches whole words only.
    ///
    /// # Errors
    /// Returns an error if the pattern has a syntax error, is too long, or would match across
    /// lines.
    pub fn new(
        pattern: &str,
        syntax: PatternSyntax,
        ignore_case: bool,
        word: bool,
    ) -> Result<LineMatcher, FilesError> {
        let bad =
            |why: String| FilesError::Pattern { pattern: pattern.chars().take(200).collect(), why };
        if pattern.len() > PATTERN {
            return Err(bad(format!("it is longer than {PATTERN} bytes")));
        }
        if pattern.contains('\n') {
            return Err(
                bad("lines are matched one by one, so it must not have a line feed".into()),
            );
        }
        if syntax != PatternSyntax::Literal && group_nesting(pattern) > NESTING {
            return Err(bad("groups are nested too deep".into()));
        }
        let engine = match syntax {
            PatternSyntax::Perl => {
                let text = if word {
                    format!(r"(?<![0-9A-Za-z_])(?:{pattern})(?![0-9A-Za-z_])")
                } else {
                    pattern.to_owned()
                };
                let regex = RegexBuilder::new(&text)
                    .bytes_mode(BytesMode::UnicodeBytes)
                    .case_insensitive(ignore_case)
                    .multi_line(true)
                    .crlf(true)
                    .backtrack_limit(STEPS)
                    .delegate_size_limit(COMPILED)
                    .build()
                    .map_err(|e| bad(e.to_string()))?;
                // Look-around and anchors depend on the surrounding text.
                let steps = STEPPING.iter().any(|e| text.contains(e))
                    || ["*+", "++", "?+", "}+"].iter().any(|e| text.contains(e));
                let whole = !steps
                    && !text.contains("(?")
                    && !["\\A", "\\z", "\\Z"].iter().any(|e| text.contains(e));
                MatchEngine::Perl { regex: Box::new(regex), whole, steps }
            }
            _ => {
                let dialect = match syntax {
                    PatternSyntax::Extended => regex::RegexSyntax::Egrep,
                    _ => regex::RegexSyntax::Grep,
                };
                let bound = if word { MatchBound::Word } else { MatchBound::None };
                let options =
                    RegexOptions::new(dialect).icase(ignore_case).lines(b'\n').bound(bound);
                let patterns = [pattern.as_bytes()];
                let regex = match syntax {
                    PatternSyntax::Literal => Regex::literals(&patterns, &options),
                    _ => Regex::new_any(&patterns, &options),
                };
                MatchEngine::Posix(Box::new(regex.map_err(|e| bad(e.to_string()))?))
            }
        };
        Ok(LineMatcher { engine, gave_up: Cell::new(0) })
    }

    /// Returns the first match in a line without its line feed.
    pub fn find_match(&self, line: &[u8]) -> Option<(usize, usize)> {
        match &self.engine {
            MatchEngine::Posix(regex) => {
                let found = regex.find_at(line, 0);
                if regex.gave_up() {
                    self.gave_up.set(self.gave_up.get() + 1);
                }
                found
            }
            MatchEngine::Perl { steps: true, .. } if line.len() > STEPPED => {
                self.gave_up.set(self.gave_up.get() + 1);
                None
            }
            MatchEngine::Perl { regex, .. } => match regex.find_from_pos(line, 0) {
                Ok(found) => found.map(|m| (m.start(), m.end())),
                Err(_) => {
                    self.gave_up.set(self.gave_up.get() + 1);
                    None
                }
            },
        }
    }

    /// Returns the next position, at or after `from`, of a line that may match, or `None` if no
    /// line does. `from` is the start of a line.
    pub fn find_candidate(&self, text: &[u8], from: usize) -> Option<usize> {
        match &self.engine {
            // `$` does not match before CR.
            MatchEngine::Posix(_) if memchr::memchr(b'\r', &text[from..]).is_some() => Some(from),
            MatchEngine::Posix(regex) => {
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                let hit = if from <= text.len() { regex.earliest_end(text, from) } else { None };
                if regex.gave_up() {
                    return Some(from);
                }
                hit
            }
            MatchEngine::Perl { regex, whole: true, .. } => match regex.find_from_pos(text, from) {
                Ok(found) => found.map(|m| m.start()),
                Err(_) => Some(from),
            },
            MatchEngine::Perl { .. } => Some(from),
        }
    }

    /// Returns whether a single line can take some tens of milliseconds.
    pub fn is_slow(&self) -> bool {
        matches!(self.engine, MatchEngine::Perl { steps: true, .. })
    }

    /// Returns the number of lines, since the last call, in which the search was given up.
    pub fn gave_up(&self) -> u64 {
        self.gave_up.replace(0)
    }
}

/// Returns the approximate nesting depth of groups.
fn group_nesting(pattern: &str) -> usize {
    let (mut depth, mut most, mut escaped) = (0usize, 0, false);
    for b in pattern.bytes() {
        match b {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'(' => {
                depth += 1;
                most = most.max(depth);
            }
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn m(pattern: &str, syntax: PatternSyntax) -> LineMatcher {
        LineMatcher::new(pattern, syntax, false, false).unwrap()
    }

    #[test]
    fn dialects() {
        assert_eq!(m(r"\bfo{2}\d+?", PatternSyntax::Perl).find_match(b"x foo12"), Some((2, 6)));
        assert_eq!(m(r"(?<=a)b", PatternSyntax::Perl).find_match(b"ab"), Some((1, 2)));
        assert_eq!(m("fo{2}|bar", PatternSyntax::Extended).find_match(b"xbar"), Some((1, 4)));
        assert_eq!(m("a.c(", PatternSyntax::Literal).find_match(b"xa.c("), Some((1, 5)));
        assert_eq!(m("a.c(", PatternSyntax::Literal).find_match(b"xabc("), None);
        let word = LineMatcher::new("foo", PatternSyntax::Perl, true, true).unwrap();
        assert_eq!(word.find_match(b"xfoo FOO"), Some((5, 8)));
    }

    #[test]
    fn hostile_patterns_are_refused() {
        for pattern in ["(", "[", "a\nb", r"\", "(?:(?:a{1000}){1000}){1000}"] {
            assert!(
                LineMatcher::new(pattern, PatternSyntax::Perl, false, false).is_err(),
                "{pattern}"
            );
        }
        for syntax in [PatternSyntax::Perl, PatternSyntax::Extended] {
            let deep = "(".repeat(4000) + &")".repeat(4000);
            assert!(LineMatcher::new(&deep, syntax, false, false).is_err());
        }
        assert!(
            LineMatcher::new(&"a".repeat(10_000), PatternSyntax::Literal, false, false).is_err()
        );
    }

    #[test]
    fn catastrophic_patterns_are_given_up() {
        let m = m(r"^(a|aa)+(?!a)\1[bc]$", PatternSyntax::Perl);
        assert_eq!(m.find_match(&[b'a'; 60]), None);
        assert_eq!(m.gave_up(), 1);
        // Each step of this pattern may look at the whole line.
        let m = self::m(r"(a*)*\1c", PatternSyntax::Perl);
        assert_eq!((m.find_match(&vec![b'a'; 5 << 20]), m.gave_up()), (None, 1));
        // A pattern without backtracking matches in a line of any length.
        let long = ["a".repeat(5 << 20), "bc".into()].concat();
        let end = Some((5 << 20, (5 << 20) + 2));
        assert_eq!(self::m("b[cd]", PatternSyntax::Perl).find_match(long.as_bytes()), end);
    }
}
