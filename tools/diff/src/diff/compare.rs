//! Lines of two texts, the rules by which they are equal, and the changes between them.

use imara_diff::{Algorithm, Diff, InternedInput, TokenSource};

use super::DiffOptions;

/// The rules by which two lines are equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Equality {
    pub case: bool,
    pub all_space: bool,
    pub space_change: bool,
    pub trailing_space: bool,
    pub tabs: bool,
    pub carriage_return: bool,
}

impl Equality {
    fn is_exact(self) -> bool {
        let Equality { case, all_space, space_change, trailing_space, tabs, carriage_return } =
            self;
        !(case || all_space || space_change || trailing_space || tabs || carriage_return)
    }

    /// Returns a key that is the same for all lines that count as equal.
    fn key(self, line: &[u8]) -> Vec<u8> {
        let newline = line.ends_with(b"\n");
        let mut text = line.strip_suffix(b"\n").unwrap_or(line);
        if self.carriage_return {
            text = text.strip_suffix(b"\r").unwrap_or(text);
        }
        if self.all_space || self.space_change || self.trailing_space {
            text = text.trim_ascii_end();
        }
        let mut out = Vec::with_capacity(text.len() + 1);
        let mut column = 0;
        let mut in_space = false;
        for &c in text {
            let space = c.is_ascii_whitespace() || c == 0x0b;
            match c {
                _ if space && self.all_space => {}
                _ if space && self.space_change => {
                    if !in_space {
                        out.push(b' ');
                    }
                }
                b'\t' if self.tabs => {
                    let fill = 8 - column % 8;
                    out.extend(std::iter::repeat_n(b' ', fill));
                    column += fill - 1;
                }
                _ if self.case => out.push(c.to_ascii_lowercase()),
                _ => out.push(c),
            }
            in_space = space;
            column += 1;
        }
        // With white space options, a missing last newline makes no difference, as in GNU diff.
        if newline || self.all_space || self.space_change || self.trailing_space {
            out.push(b'\n');
        }
        out
    }
}

/// A change: lines `old` of the first text against `new` of the second, counted from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineChange {
    pub old: std::ops::Range<usize>,
    pub new: std::ops::Range<usize>,
    /// Whether the change is ignored, because only blank or matching lines differ.
    pub ignored: bool,
}

impl LineChange {
    /// Returns the letter of the change in ed's commands and in normal output: `a`, `c` or `d`.
    pub fn letter(&self) -> char {
        match (self.old.is_empty(), self.new.is_empty()) {
            (true, _) => 'a',
            (_, true) => 'd',
            _ => 'c',
        }
    }
}

/// Two texts as lines, with the changes between them.
pub struct TextComparison<'a> {
    /// Lines with their newlines.
    pub old: Vec<&'a [u8]>,
    pub new: Vec<&'a [u8]>,
    /// Changes in order; empty if there is none that counts.
    pub changes: Vec<LineChange>,
}

/// The keys of lines, as a source of tokens for the comparison.
struct Keys<'a, 'b> {
    lines: &'b [&'a [u8]],
    equality: Equality,
}

impl<'a, 'b> TokenSource for Keys<'a, 'b> {
    type Token = std::borrow::Cow<'a, [u8]>;
    type Tokenizer = std::vec::IntoIter<Self::Token>;

    fn tokenize(&self) -> Self::Tokenizer {
        let exact = self.equality.is_exact();
        let keys: Vec<Self::Token> = self
            .lines
            .iter()
            .map(|l| if exact { (*l).into() } else { self.equality.key(l).into() })
            .collect();
        keys.into_iter()
    }

    fn estimate_tokens(&self) -> u32 {
        u32::try_from(self.lines.len()).unwrap_or(u32::MAX)
    }
}

/// Returns the changes from `old` to `new`, in order, none of them ignored.
pub fn find_changes(
    old: &[&[u8]],
    new: &[&[u8]],
    equality: Equality,
    minimal: bool,
) -> Vec<LineChange> {
    let input = InternedInput::new(Keys { lines: old, equality }, Keys { lines: new, equality });
    let algorithm = if minimal { Algorithm::MyersMinimal } else { Algorithm::Myers };
    let mut diff = Diff::compute(algorithm, &input);
    // Moves changes down as far as possible, where GNU diff also has them.
    diff.postprocess_no_heuristic(&input);
    diff.hunks()
        .map(|h| LineChange {
            old: h.before.start as usize..h.before.end as usize,
            new: h.after.start as usize..h.after.end as usize,
            ignored: false,
        })
        .collect()
}

impl<'a> TextComparison<'a> {
    /// Compares line by line.
    pub fn new(options: &DiffOptions, old: &'a [u8], new: &'a [u8]) -> TextComparison<'a> {
        let (old, new) = (split_lines(old), split_lines(new));
        let equality = options.equality;
        let mut changes = find_changes(&old, &new, equality, options.minimal);
        for c in &mut changes {
            let mut all = old[c.old.clone()].iter().chain(&new[c.new.clone()]);
            let ignorable = |l: &&&[u8]| {
                let text = l.strip_suffix(b"\n").unwrap_or(l);
                (options.ignore_blank
                    && (text.is_empty() || (!equality.is_exact() && text.trim_ascii().is_empty())))
                    || options.ignore_lines.iter().any(|r| r.is_match(text))
            };
            let any = options.ignore_blank || !options.ignore_lines.is_empty();
            c.ignored = any && all.all(|l| ignorable(&l));
        }
        if changes.iter().all(|c| c.ignored) {
            changes.clear();
        }
        TextComparison { old, new, changes }
    }
}

/// Splits a text into lines with their newlines; the last may lack one.
pub fn split_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&c| c == b'\n').collect()
}
