//! Figures about names and comments: whether types are nouns with an object, whether functions name
//! what they act on, and how often comments use words that make a reader parse a sentence twice
//! ("what", "who", "told") or that carry a reason ("because").

use std::collections::BTreeMap;

use super::find_functions;
use super::source::SourceFile;
use crate::tidy::names::{declared_types, is_noun};

/// Words that are counted together, under the first one's name.
const WORDS: &[&[&str]] = &[
    &["what", "whatever"],
    &["who", "whoever", "whom", "nobody", "somebody"],
    &["tell", "tells", "told"],
    &["because"],
    &["returns", "return"],
    &["example", "examples"],
];
/// One-word names that traits or the field prescribe.
const STANDARD: &[&str] = &[
    "clone",
    "cmp",
    "default",
    "deref",
    "description",
    "drop",
    "eq",
    "flush",
    "fmt",
    "from",
    "get",
    "hash",
    "index",
    "into",
    "iter",
    "len",
    "main",
    "name",
    "new",
    "next",
    "parse",
    "pop",
    "push",
    "read",
    "run",
    "set",
    "write",
];

/// The counts of some source files.
#[derive(Debug, Default, PartialEq)]
struct WordCounts {
    /// The number of declarations of each type name.
    types: BTreeMap<String, usize>,
    functions: usize,
    one_word_functions: usize,
    /// The words of all comments, without code in backquotes.
    comment_words: usize,
    /// One count for each row of [`WORDS`].
    occurrences: [usize; WORDS.len()],
}

impl WordCounts {
    fn add_file(&mut self, source: &SourceFile) {
        for (_, name) in declared_types(&source.code) {
            *self.types.entry(name.to_owned()).or_default() += 1;
        }
        for function in find_functions(&source.code) {
            self.functions += 1;
            let name = function.name.as_str();
            self.one_word_functions +=
                usize::from(!name.contains('_') && !STANDARD.contains(&name));
        }
        for line in source.text.lines() {
            let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
            self.add_comment(comment.trim_start_matches(['/', '!']));
        }
    }

    fn add_comment(&mut self, line: &str) {
        let prose = line.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
        self.comment_words += prose.split_whitespace().count();
        for word in prose.split(|c: char| !c.is_alphanumeric() && c != '_') {
            if let Some(row) = WORDS.iter().position(|row| row.contains(&word)) {
                self.occurrences[row] += 1;
            }
        }
    }
}

/// Prints the figures for these files.
pub fn print_words(sources: &[&SourceFile]) {
    let mut counts = WordCounts::default();
    sources.iter().for_each(|s| counts.add_file(s));
    let share = |n: usize, of: usize| n as f64 / of.max(1) as f64;
    let names = counts.types.len();
    let declarations: usize = counts.types.values().sum();
    let no_nouns = counts.types.keys().filter(|name| !is_noun(name)).count();
    let often = counts.types.values().filter(|n| **n >= 4).count();
    println!(
        "type names: {:.1} % are no nouns, {:.2} declarations per name, {often} names declared four times or more",
        100.0 * share(no_nouns, names),
        share(declarations, names)
    );
    println!(
        "functions: {:.0} % have a name of one word",
        100.0 * share(counts.one_word_functions, counts.functions)
    );
    let words: Vec<String> = WORDS
        .iter()
        .zip(counts.occurrences)
        .map(|(row, n)| format!("{} {:.1}", row[0], 1e4 * share(n, counts.comment_words)))
        .collect();
    println!("per 10,000 words of comments: {}", words.join(", "));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_comments_are_counted_without_code() {
        let mut counts = WordCounts::default();
        counts.add_comment(" Returns what `what` says, because somebody told it.");
        assert_eq!(counts.comment_words, 7);
        assert_eq!(counts.occurrences, [1, 1, 1, 1, 1, 0]);
    }
}
