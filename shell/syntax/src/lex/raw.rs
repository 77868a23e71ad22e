//! Source spellings of words ([`crate::ast::Word::raw`]).
//!
//! A spelling is the word's part of the source with the edits that bash makes while it reads: line
//! continuations are removed, and `$'...'` becomes plain single quotes. This is the form that
//! `declare -f` and error messages show.

use super::CommandParser;

/// An edit of the source: in spellings, `text` replaces `src[start..end]`.
#[derive(Clone, Debug)]
pub(crate) struct SpellingEdit {
    pub start: usize,
    pub end: usize,
    pub text: Vec<u8>,
}

impl CommandParser<'_, '_> {
    /// Starts a word: edits are kept until the outermost word ends.
    #[inline]
    pub fn begin_word(&mut self) {
        if self.words == 0 {
            self.edits.clear();
        }
        self.words += 1;
    }

    /// Ends a word.
    #[inline]
    pub fn end_word(&mut self) {
        self.words = self.words.saturating_sub(1);
    }

    /// Returns the spelling of the source from `start` to `pos`.
    #[inline]
    pub fn raw_from(&self, start: usize) -> Box<[u8]> {
        self.raw_spelling(start, self.pos)
    }

    /// Returns the spelling of that source range, with the edits made to it.
    #[inline]
    pub fn raw_spelling(&self, start: usize, end: usize) -> Box<[u8]> {
        if self.edits.last().is_some_and(|e| e.end > start) {
            return self.raw_edited(start, end);
        }
        self.src.get(start..end).unwrap_or_default().into()
    }

    fn raw_edited(&self, start: usize, end: usize) -> Box<[u8]> {
        let first = self.edits.partition_point(|e| e.start < start);
        let mut out = Vec::with_capacity(end.saturating_sub(start));
        let mut at = start;
        for e in self.edits.get(first..).unwrap_or_default() {
            if e.end > end || e.start < at {
                continue;
            }
            out.extend_from_slice(self.src.get(at..e.start).unwrap_or_default());
            out.extend_from_slice(&e.text);
            at = e.end;
        }
        out.extend_from_slice(self.src.get(at..end).unwrap_or_default());
        out.into_boxed_slice()
    }

    /// Replaces `src[start..pos]` by `text` in spellings, and drops any edits inside it.
    pub fn edit_from(&mut self, start: usize, text: Vec<u8>) {
        let keep = self.edits.partition_point(|e| e.start < start);
        self.edits.truncate(keep);
        let end = self.pos;
        self.edits.push(SpellingEdit { start, end, text });
    }
}
