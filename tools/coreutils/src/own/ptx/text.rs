//! The files in memory, and their keywords with the contexts around them.

use std::cmp::Ordering;
use std::collections::HashSet;

use box_text::regex::Regex;

use super::ReferenceKind;

/// The rules by which a text is divided.
pub(super) struct Contexts {
    /// Matches the end of a context; `None` if a file is one context.
    pub sentence: Option<Regex>,
    pub sentence_pattern: Vec<u8>,
    /// Matches a word; `None` if words consist of certain bytes.
    pub word: Option<Regex>,
    pub is_word_byte: [bool; 256],
    /// The words that are left out, and the only ones that are taken.
    pub ignored: Option<WordList>,
    pub only: Option<WordList>,
    /// Whether the first word of a line is its reference.
    pub has_first_words: bool,
}

impl Contexts {
    /// Finds the next word of `text[from..end]`; it may be empty.
    fn find_word(&self, text: &[u8], from: usize, end: usize) -> Option<(usize, usize)> {
        if let Some(word) = &self.word {
            let (start, stop) = word.find_at(&text[from..end], 0)?;
            return Some((from + start, from + stop));
        }
        let is_word = |c: &u8| self.is_word_byte[usize::from(*c)];
        let start = from + text[from..end].iter().position(is_word)?;
        Some((start, start + text[start..end].iter().take_while(|c| is_word(c)).count()))
    }

    /// Returns the place after the word at `at`, or after one byte if there is no word.
    pub(super) fn skip_something(&self, text: &[u8], at: usize, end: usize) -> usize {
        if at >= end {
            return at + 1;
        }
        if let Some(word) = &self.word {
            let found = word.find_at(&text[at..end], 0).filter(|(start, _)| *start == 0);
            return at + found.map_or(1, |(_, stop)| stop.max(1));
        }
        let is_word = |c: &u8| self.is_word_byte[usize::from(*c)];
        at + text[at..end].iter().take_while(|c| is_word(c)).count().max(1)
    }

    fn is_wanted(&self, word: &[u8]) -> bool {
        !self.ignored.as_ref().is_some_and(|list| list.has_word(word))
            && self.only.as_ref().is_none_or(|list| list.has_word(word))
    }
}

/// The words of a file, one in each line.
pub(super) struct WordList {
    words: HashSet<Vec<u8>>,
    ignores_case: bool,
}

impl WordList {
    pub(super) fn new(data: &[u8], ignores_case: bool) -> WordList {
        let words = data.split(|c| *c == b'\n').filter(|w| !w.is_empty());
        let words = words.map(|w| fold_case(w, ignores_case)).collect();
        WordList { words, ignores_case }
    }

    fn has_word(&self, word: &[u8]) -> bool {
        self.words.contains(&fold_case(word, self.ignores_case))
    }
}

fn fold_case(word: &[u8], ignores_case: bool) -> Vec<u8> {
    if ignores_case { word.to_ascii_uppercase() } else { word.to_vec() }
}

/// A file in memory.
pub(super) struct PtxFile {
    /// The name in references; empty for standard input.
    pub name: Vec<u8>,
    pub data: Vec<u8>,
    /// The number of lines of this file and those before it.
    pub lines: usize,
}

/// A keyword in its context. Places count from the beginning of the file.
pub(super) struct Occurrence {
    pub file: usize,
    pub start: usize,
    pub end: usize,
    /// The beginning and the end of the context.
    pub left: usize,
    pub right: usize,
    /// The number of the line, counted from 0 over all files, or the place of the reference.
    pub reference: usize,
}

/// All files, and the keywords that were found.
pub(super) struct PtxText {
    references: ReferenceKind,
    pub files: Vec<PtxFile>,
    occurrences: Vec<Occurrence>,
    pub longest_word: usize,
    /// The length of the longest first word that is a reference.
    pub longest_reference: usize,
    lines: usize,
}

pub(super) fn is_white(c: u8) -> bool {
    matches!(c, b' ' | b'\t'..=b'\r')
}

/// Returns the place of the first byte from `at` on that is not white, at most `end`.
pub(super) fn skip_white(text: &[u8], at: usize, end: usize) -> usize {
    at + text[at..end.max(at)].iter().take_while(|c| is_white(**c)).count()
}

/// Returns the place of the first white byte from `at` on, at most `end`.
pub(super) fn skip_black(text: &[u8], at: usize, end: usize) -> usize {
    at + text[at..end.max(at)].iter().take_while(|c| !is_white(**c)).count()
}

/// Returns the place before the white bytes that end at `at`, at least `start`.
pub(super) fn skip_white_back(text: &[u8], at: usize, start: usize) -> usize {
    at - text[start.min(at)..at].iter().rev().take_while(|c| is_white(**c)).count()
}

/// The line of the scanner within a file.
struct LineScan {
    /// The beginning of the line.
    start: usize,
    /// The place up to which lines were counted.
    at: usize,
    /// The length of the line's first word.
    reference: usize,
}

impl PtxText {
    pub(super) fn new(references: ReferenceKind) -> PtxText {
        PtxText {
            references,
            files: Vec::new(),
            occurrences: Vec::new(),
            longest_word: 0,
            longest_reference: 0,
            lines: 0,
        }
    }

    pub(super) fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// Adds a file with its keywords. The error is the pattern of sentences, if it matches the
    /// empty text.
    pub(super) fn add_file(
        &mut self,
        name: Vec<u8>,
        data: Vec<u8>,
        contexts: &Contexts,
    ) -> Result<(), Vec<u8>> {
        let text = &data[..];
        let mut line = LineScan { start: 0, at: 0, reference: 0 };
        if contexts.has_first_words {
            line.reference = skip_black(text, 0, text.len());
            line.at = skip_white(text, line.reference, text.len());
        }
        let mut at = 0;
        while at < text.len() {
            let found = contexts.sentence.as_ref().and_then(|r| r.find_at(&text[at..], 0));
            let next = match found {
                None => text.len(),
                Some((_, 0)) => return Err(contexts.sentence_pattern.clone()),
                Some((_, end)) => at + end,
            };
            let end = skip_white_back(text, next, at);
            self.add_context(text, (at, end), contexts, &mut line);
            at = next;
        }
        // The last line need not have a newline.
        self.lines += 1;
        self.files.push(PtxFile { name, data, lines: self.lines });
        Ok(())
    }

    /// Adds the keywords of one context.
    fn add_context(
        &mut self,
        text: &[u8],
        (mut left, right): (usize, usize),
        contexts: &Contexts,
        line: &mut LineScan,
    ) {
        let begin = left;
        let mut at = begin;
        while let Some((start, end)) =
            (at <= right).then(|| contexts.find_word(text, at, right)).flatten()
        {
            if end == start {
                at = start + 1;
                continue;
            }
            at = end;
            self.longest_word = self.longest_word.max(end - start);
            if contexts.has_first_words {
                self.advance_line(text, line, start);
                // The word is part of a reference.
                if line.at > start {
                    continue;
                }
            }
            if !contexts.is_wanted(&text[start..end]) {
                continue;
            }
            let reference = match self.references {
                ReferenceKind::Automatic => {
                    self.advance_line(text, line, start);
                    self.lines
                }
                ReferenceKind::FirstWord => {
                    self.longest_reference = self.longest_reference.max(line.reference);
                    line.start
                }
                ReferenceKind::None => 0,
            };
            if contexts.has_first_words && line.start == left {
                left = skip_black(text, left, right);
                left = skip_white(text, left, right);
            }
            let file = self.files.len();
            self.occurrences.push(Occurrence { file, start, end, left, right, reference });
        }
    }

    /// Counts the lines before a place.
    fn advance_line(&mut self, text: &[u8], line: &mut LineScan, to: usize) {
        while line.at < to {
            let c = text[line.at];
            line.at += 1;
            if c == b'\n' {
                self.lines += 1;
                line.start = line.at;
                line.at = skip_black(text, line.at, text.len());
                line.reference = line.at - line.start;
            }
        }
    }

    /// Sorts the keywords; equal ones keep the order of the text.
    pub(super) fn sort_keys(&mut self, ignores_case: bool) {
        let files = &self.files;
        let key = |o: &Occurrence| &files[o.file].data[o.start..o.end];
        self.occurrences.sort_by(|a, b| compare_words(key(a), key(b), ignores_case));
    }
}

fn compare_words(a: &[u8], b: &[u8], ignores_case: bool) -> Ordering {
    if ignores_case {
        let fold = |word: &[u8]| word.iter().map(u8::to_ascii_uppercase).collect::<Vec<u8>>();
        return fold(a).cmp(&fold(b));
    }
    a.cmp(b)
}
