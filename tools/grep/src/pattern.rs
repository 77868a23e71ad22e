//! Compiles patterns to one matcher.

use box_text::regex::{self, MatchBound, Regex, RegexOptions};

use crate::config::{GrepConfig, GrepSyntax};
use crate::perl::Perl;

/// The matcher of lines.
pub enum GrepMatcher {
    Regex(Box<Regex>),
    Perl(Box<Perl>),
}

/// A line that has a match.
#[derive(Clone, Copy, Debug)]
pub struct LineHit {
    /// A position on the line.
    pub at: usize,
    /// The line's first match, if it was found already.
    pub first: Option<(usize, usize)>,
}

impl GrepMatcher {
    /// Compiles the patterns; the error is the text to report.
    pub fn new(patterns: &[Vec<u8>], config: &GrepConfig) -> Result<GrepMatcher, String> {
        if config.syntax == GrepSyntax::Perl {
            return Ok(GrepMatcher::Perl(Box::new(Perl::new(patterns, config)?)));
        }
        let bound = match (config.whole_lines, config.words) {
            (true, _) => MatchBound::Line,
            (_, true) => MatchBound::Word,
            _ => MatchBound::None,
        };
        let syntax = match config.syntax {
            GrepSyntax::Extended => regex::RegexSyntax::Egrep,
            _ => regex::RegexSyntax::Grep,
        };
        let options = RegexOptions::new(syntax)
            .icase(config.ignore_case)
            .lines(config.end)
            .utf8(config.utf8)
            .bound(bound);
        let regex = match config.syntax {
            GrepSyntax::Fixed => Regex::literals(patterns, &options),
            _ => Regex::new_any(patterns, &options),
        };
        regex.map(|r| GrepMatcher::Regex(Box::new(r))).map_err(|e| e.to_string())
    }

    /// Returns the first line at or after `from` that has a match. `from` is a line's start; `text`
    /// lacks its last line's terminator. `shown` says that matches will be shown; finding the whole
    /// match at once then saves a second search.
    pub fn find_line(&self, text: &[u8], from: usize, end: u8, shown: bool) -> Option<LineHit> {
        let on = |at| LineHit { at, first: None };
        match self {
            GrepMatcher::Regex(r) if shown => {
                r.find_at(text, from).map(|found| LineHit { at: found.0, first: Some(found) })
            }
            GrepMatcher::Regex(r) => r.earliest_end(text, from).map(on),
            GrepMatcher::Perl(p) => p.hit(text, from, end).map(on),
        }
    }

    /// Returns the leftmost match at or after `at` in one line (without terminator).
    pub fn find(&self, line: &[u8], at: usize) -> Option<(usize, usize)> {
        match self {
            GrepMatcher::Regex(r) => r.find_at(line, at),
            GrepMatcher::Perl(p) => p.find(line, at),
        }
    }

    /// Returns the error of a search since the last call, if there was one.
    pub fn take_trouble(&self) -> Option<&'static str> {
        match self {
            GrepMatcher::Regex(r) => r.gave_up().then_some("back-references take too many steps"),
            GrepMatcher::Perl(p) => p.gave_up().then_some("exceeded PCRE's backtracking limit"),
        }
    }
}
