//! Attributed text: the result of the first phase for a word, with the properties of each character
//! that the later phases need.
//!
//! Characters of one kind form runs. An empty quoted run counts, because it makes `""` a field.

use std::rc::Rc;

use crate::field::SplitField;
use crate::value::Str;

/// The origin of a character, as far as the later phases treat it differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharOrigin {
    /// Unquoted text of the source: never split, active in patterns.
    Literal,
    /// The result of an unquoted expansion: split, active in patterns.
    Expansion,
    /// Quoted text, or text treated like it (a tilde's directory): neither split nor active.
    Quoted,
}

/// Characters of one origin, up to `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OriginRun {
    end: usize,
    origin: CharOrigin,
}

/// Text that records the origin of each character.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttributedText {
    /// The whole text so far, shared with the value's other owners, if it is one quoted value.
    shared: Option<Str>,
    bytes: Vec<u8>,
    runs: Vec<OriginRun>,
}

impl AttributedText {
    /// Returns a text whose characters all have the same origin.
    pub(crate) fn with_origin(bytes: Vec<u8>, origin: CharOrigin) -> AttributedText {
        let mut text = AttributedText::default();
        text.push_owned(bytes, origin);
        text
    }

    /// Returns whether nothing was added, not even an empty quoted text.
    pub(crate) fn is_absent(&self) -> bool {
        self.shared.is_none() && self.runs.is_empty()
    }

    fn len(&self) -> usize {
        self.bytes.len() + self.shared.as_ref().map_or(0, |text| text.len())
    }

    fn push(&mut self, text: &[u8], origin: CharOrigin) {
        if text.is_empty() && (origin != CharOrigin::Quoted || self.ends_quoted()) {
            return;
        }
        if let Some(shared) = self.shared.take() {
            self.bytes.extend_from_slice(&shared);
            self.runs.push(OriginRun { end: self.bytes.len(), origin: CharOrigin::Quoted });
        }
        self.bytes.extend_from_slice(text);
        self.note_run(origin);
    }

    fn ends_quoted(&self) -> bool {
        let quoted = |run: &OriginRun| run.origin == CharOrigin::Quoted;
        self.shared.is_some() || self.runs.last().is_some_and(quoted)
    }

    fn push_owned(&mut self, text: Vec<u8>, origin: CharOrigin) {
        if self.is_absent() && !text.is_empty() {
            self.bytes = text;
            self.note_run(origin);
        } else {
            self.push(&text, origin);
        }
    }

    fn push_shared(&mut self, text: Str) {
        if self.is_absent() {
            self.shared = Some(text);
        } else {
            self.push(&text, CharOrigin::Quoted);
        }
    }

    /// Sets the origin of the bytes that follow the last run.
    fn note_run(&mut self, origin: CharOrigin) {
        let end = self.bytes.len();
        match self.runs.last_mut() {
            Some(last) if last.origin == origin => last.end = end,
            _ => self.runs.push(OriginRun { end, origin }),
        }
    }

    /// Returns the runs in order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (&[u8], CharOrigin)> {
        let shared = self.shared.iter().map(|text| (text.as_slice(), CharOrigin::Quoted));
        let starts = std::iter::once(0).chain(self.runs.iter().map(|run| run.end));
        shared.chain(
            starts.zip(&self.runs).map(|(start, run)| (&self.bytes[start..run.end], run.origin)),
        )
    }

    /// Returns the text as a field that is not split, which records only whether each character is
    /// quoted.
    pub(crate) fn into_field(self) -> SplitField {
        if let Some(text) = self.shared {
            return SplitField::Shared(text);
        }
        let mut toggles = Vec::new();
        let mut start = 0;
        for run in self.runs {
            if (run.origin == CharOrigin::Quoted) != (toggles.len() % 2 == 1) {
                toggles.push(start);
            }
            start = run.end;
        }
        SplitField::from_text(self.bytes, toggles)
    }
}

/// The expansion of a word before it is split: the texts between the boundaries that `"$@"` and
/// similar expansions produce. It has no texts if nothing was added.
#[derive(Debug, Default)]
pub(crate) struct AttributedFields {
    done: Vec<AttributedText>,
    last: AttributedText,
}

impl AttributedFields {
    /// Adds text to the last field; an empty quoted text creates the field.
    pub(crate) fn push(&mut self, text: &[u8], origin: CharOrigin) {
        self.last.push(text, origin);
    }

    /// Adds text as [`AttributedFields::push`] does, without a copy if the field is still empty.
    pub(crate) fn push_owned(&mut self, text: Vec<u8>, origin: CharOrigin) {
        self.last.push_owned(text, origin);
    }

    /// Adds quoted text, which is shared as long as the field has no other text.
    pub(crate) fn push_shared(&mut self, text: Str) {
        self.last.push_shared(text);
    }

    /// Ends the current field: later text belongs to another one.
    pub(crate) fn end_field(&mut self) {
        self.done.push(std::mem::take(&mut self.last));
    }

    /// Returns whether nothing was added.
    pub(crate) fn is_absent(&self) -> bool {
        self.done.is_empty() && self.last.is_absent()
    }

    /// Returns a value that changes whenever a character or a field is added.
    pub(crate) fn current_extent(&self) -> (usize, usize) {
        (self.done.len(), self.last.len())
    }

    /// Returns the texts in order.
    pub(crate) fn into_texts(self) -> impl Iterator<Item = AttributedText> {
        self.done.into_iter().chain(std::iter::once(self.last))
    }

    /// Returns all fields as one, joined by spaces, as in places where a word is not split.
    pub(crate) fn join(self) -> SplitField {
        if self.done.is_empty() {
            return self.last.into_field();
        }
        let mut whole = AttributedText::default();
        for (at, text) in self.into_texts().enumerate() {
            if at > 0 {
                whole.push(b" ", CharOrigin::Literal);
            }
            text.runs().for_each(|(run, origin)| whole.push(run, origin));
        }
        whole.into_field()
    }
}

/// Returns a byte string as a value.
pub(crate) fn str_of(bytes: Vec<u8>) -> Str {
    Rc::new(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(field: &SplitField) -> Vec<(String, bool)> {
        let mut out = Vec::new();
        field.for_each_stretch(|text, quoted| {
            if !text.is_empty() {
                out.push((String::from_utf8_lossy(text).into_owned(), quoted));
            }
        });
        out
    }

    #[test]
    fn one_quoted_value_stays_shared() {
        let value = str_of(b"a b".to_vec());
        let mut phrase = AttributedFields::default();
        phrase.push_shared(value.clone());
        // This stands for the quotes around the value.
        phrase.push(b"", CharOrigin::Quoted);
        assert!(matches!(phrase.join(), SplitField::Shared(text) if Rc::ptr_eq(&text, &value)));
    }

    #[test]
    fn neighbours_keep_their_quoting() {
        let mut phrase = AttributedFields::default();
        phrase.push_shared(str_of(b"q".to_vec()));
        phrase.push(b"*", CharOrigin::Literal);
        phrase.push(b"?", CharOrigin::Expansion);
        phrase.push(b"!", CharOrigin::Quoted);
        let wanted = [("q", true), ("*?", false), ("!", true)];
        assert_eq!(stretches(&phrase.join()), wanted.map(|(text, q)| (text.to_string(), q)));
    }

    #[test]
    fn only_an_empty_quoted_text_counts() {
        let mut phrase = AttributedFields::default();
        phrase.push(b"", CharOrigin::Literal);
        phrase.push(b"", CharOrigin::Expansion);
        assert!(phrase.is_absent());
        phrase.push(b"", CharOrigin::Quoted);
        assert!(!phrase.is_absent());
    }

    #[test]
    fn joined_by_unquoted_spaces() {
        let mut phrase = AttributedFields::default();
        phrase.push(b"a", CharOrigin::Quoted);
        phrase.end_field();
        phrase.push(b"b", CharOrigin::Quoted);
        let wanted = [("a", true), (" ", false), ("b", true)];
        assert_eq!(stretches(&phrase.join()), wanted.map(|(text, q)| (text.to_string(), q)));
    }
}
