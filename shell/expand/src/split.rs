//! The second phase: word splitting (POSIX XCU 2.6.5, bash manual 3.5.7), and `IFS`.

use std::borrow::Cow;

use crate::attributed::{AttributedFields, AttributedText, CharOrigin};
use crate::env::ExpandEnv;
use crate::field::SplitField;
use crate::value::{Str, VarValue};

/// The role of a byte in word splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteClass {
    Ordinary,
    /// Space, tab or newline in `IFS`: a run of them separates fields; leading and trailing ones
    /// are removed.
    Blank,
    /// Any other character of `IFS`: each one ends a field.
    Delimiter,
}

/// The value of `IFS`, prepared for splitting.
#[derive(Clone, Debug, PartialEq)]
pub struct Ifs {
    classes: Cow<'static, [ByteClass; 256]>,
    /// Delimiters of several bytes (UTF-8).
    wide: Vec<Box<[u8]>>,
    /// The first character; empty if `IFS` is null. Joins `"$*"`.
    first: Cow<'static, [u8]>,
}

/// Space, tab and newline.
static DEFAULT: [ByteClass; 256] = {
    let mut classes = [ByteClass::Ordinary; 256];
    classes[b' ' as usize] = ByteClass::Blank;
    classes[b'\t' as usize] = ByteClass::Blank;
    classes[b'\n' as usize] = ByteClass::Blank;
    classes
};

impl Ifs {
    /// Returns the delimiters in the variable's value; `None` is an unset `IFS`, which acts as
    /// space, tab, newline.
    pub fn new(value: Option<&[u8]>) -> Ifs {
        let Some(value) = value.filter(|&v| v != b" \t\n") else {
            return Ifs {
                classes: Cow::Borrowed(&DEFAULT),
                wide: Vec::new(),
                first: Cow::Borrowed(b" "),
            };
        };
        let mut classes = [ByteClass::Ordinary; 256];
        let mut ifs =
            Ifs { classes: Cow::Borrowed(&DEFAULT), wide: Vec::new(), first: Cow::Borrowed(b"") };
        for chunk in value.utf8_chunks() {
            for c in chunk.valid().chars() {
                let mut buffer = [0; 4];
                let bytes = c.encode_utf8(&mut buffer).as_bytes();
                ifs.note_first(bytes);
                match bytes {
                    [byte] => classes[usize::from(*byte)] = class_of(*byte),
                    bytes => ifs.wide.push(bytes.into()),
                }
            }
            for &byte in chunk.invalid() {
                ifs.note_first(&[byte]);
                classes[usize::from(byte)] = ByteClass::Delimiter;
            }
        }
        ifs.classes = Cow::Owned(classes);
        ifs
    }

    fn note_first(&mut self, bytes: &[u8]) {
        if self.first.is_empty() {
            self.first = Cow::Owned(bytes.to_vec());
        }
    }

    /// Returns the shell's current `IFS`.
    pub fn from_env(env: &mut dyn ExpandEnv) -> Ifs {
        match env.get(b"IFS") {
            Some(VarValue::Scalar(text)) => Ifs::new(Some(&text)),
            Some(VarValue::Indexed(array)) => Ifs::new(array.get(0).map(|s| s.as_slice())),
            Some(VarValue::Assoc(_)) | None => Ifs::new(None),
        }
    }

    /// Returns whether `IFS` is null, so that no text is split.
    pub fn is_null(&self) -> bool {
        self.first.is_empty()
    }

    /// Returns the character that joins `"$*"`.
    pub fn separator(&self) -> &[u8] {
        &self.first
    }

    /// Returns the class and the length of the character at the start of `text`, which is not
    /// empty.
    pub(crate) fn classify_char(&self, text: &[u8]) -> (ByteClass, usize) {
        let byte = text[0];
        if byte >= 0x80
            && let Some(wide) = self.wide.iter().find(|w| text.starts_with(w))
        {
            return (ByteClass::Delimiter, wide.len());
        }
        (self.classes[usize::from(byte)], 1)
    }

    /// Returns the length of the leading text without any character of `IFS`.
    pub(crate) fn ordinary_run(&self, text: &[u8]) -> usize {
        if self.wide.is_empty() {
            return text
                .iter()
                .position(|&b| self.classes[usize::from(b)] != ByteClass::Ordinary)
                .unwrap_or(text.len());
        }
        (0..text.len())
            .find(|&at| self.classify_char(&text[at..]).0 != ByteClass::Ordinary)
            .unwrap_or(text.len())
    }

    /// Returns whether a byte is blank in this `IFS` (`read` trims with it).
    pub fn is_blank(&self, byte: u8) -> bool {
        self.classes[usize::from(byte)] == ByteClass::Blank
    }

    /// Returns the length of the delimiter (blank or not) at the start of the text; 0 if there is
    /// none.
    pub fn delimiter_len(&self, text: &[u8]) -> usize {
        match text {
            [] => 0,
            _ => match self.classify_char(text) {
                (ByteClass::Ordinary, _) => 0,
                (_, width) => width,
            },
        }
    }
}

fn class_of(byte: u8) -> ByteClass {
    if matches!(byte, b' ' | b'\t' | b'\n') { ByteClass::Blank } else { ByteClass::Delimiter }
}

/// Splits attributed text into fields: results of expansions are split, all other text stays whole.
/// Reads `IFS` from `env` only if there is text to split.
pub(crate) fn split_phrase(env: &mut dyn ExpandEnv, phrase: AttributedFields) -> Vec<SplitField> {
    let mut fields = Vec::new();
    let mut ifs = None;
    for text in phrase.into_texts() {
        let expanded = |(_, origin): (&[u8], CharOrigin)| origin == CharOrigin::Expansion;
        if text.runs().any(expanded) {
            let ifs = ifs.get_or_insert_with(|| Ifs::from_env(env));
            split_text(text, ifs, &mut fields);
        } else if !text.is_absent() {
            fields.push(text.into_field());
        }
    }
    fields
}

/// Splits a whole text like the result of an unquoted expansion (`compgen -W`, `read -a`).
pub fn split_fields(text: &[u8], ifs: &Ifs) -> Vec<Str> {
    let mut fields = Vec::new();
    split_text(AttributedText::with_origin(text.to_vec(), CharOrigin::Expansion), ifs, &mut fields);
    fields.into_iter().map(SplitField::strip_quotes).collect()
}

fn split_text(text: AttributedText, ifs: &Ifs, fields: &mut Vec<SplitField>) {
    let whole = |(run, origin): (&[u8], CharOrigin)| {
        origin != CharOrigin::Expansion || ifs.ordinary_run(run) == run.len()
    };
    if text.runs().all(whole) {
        if !text.is_absent() {
            fields.push(text.into_field());
        }
        return;
    }
    let mut splitter =
        FieldSplitter { fields, text: Vec::new(), toggles: Vec::new(), place: SplitPlace::Between };
    for (run, origin) in text.runs() {
        match origin {
            CharOrigin::Expansion => splitter.split_text(run, ifs),
            origin => splitter.add_text(run, origin == CharOrigin::Quoted),
        }
    }
    splitter.end_if_started();
}

/// The state of splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SplitPlace {
    /// No field has begun.
    Between,
    /// Like [`SplitPlace::Between`], after blanks that ended a field: a following delimiter
    /// belongs to them.
    AfterBlank,
    /// A field has begun, possibly with an empty quoted text.
    Within,
}

/// The fields of one text under construction.
struct FieldSplitter<'f> {
    fields: &'f mut Vec<SplitField>,
    text: Vec<u8>,
    toggles: Vec<usize>,
    place: SplitPlace,
}

impl FieldSplitter<'_> {
    fn add_text(&mut self, text: &[u8], quoted: bool) {
        if (self.toggles.len() % 2 == 1) != quoted {
            self.toggles.push(self.text.len());
        }
        self.text.extend_from_slice(text);
        self.place = SplitPlace::Within;
    }

    fn split_text(&mut self, text: &[u8], ifs: &Ifs) {
        let mut rest = text;
        while !rest.is_empty() {
            let run = ifs.ordinary_run(rest);
            if run > 0 {
                self.add_text(&rest[..run], false);
                rest = &rest[run..];
                continue;
            }
            let (class, width) = ifs.classify_char(rest);
            rest = &rest[width..];
            match (class, self.place) {
                (ByteClass::Blank, SplitPlace::Within) => {
                    self.end();
                    self.place = SplitPlace::AfterBlank;
                }
                (ByteClass::Delimiter, SplitPlace::AfterBlank) => self.place = SplitPlace::Between,
                (ByteClass::Delimiter, _) => self.end(),
                (ByteClass::Blank | ByteClass::Ordinary, _) => {}
            }
        }
    }

    /// Ends the field; one that has not begun becomes an empty field.
    fn end(&mut self) {
        let (text, toggles) = (std::mem::take(&mut self.text), std::mem::take(&mut self.toggles));
        self.fields.push(SplitField::from_text(text, toggles));
        self.place = SplitPlace::Between;
    }

    fn end_if_started(&mut self) {
        if self.place == SplitPlace::Within {
            self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fields of runs, in which `e` marks results of expansions, `q` quoted text and
    /// `l` literal text.
    fn fields(ifs: &str, runs: &[(char, &str)]) -> Vec<String> {
        let mut phrase = AttributedFields::default();
        for (kind, text) in runs {
            let origin = match kind {
                'e' => CharOrigin::Expansion,
                'q' => CharOrigin::Quoted,
                _ => CharOrigin::Literal,
            };
            phrase.push(text.as_bytes(), origin);
        }
        let ifs = Ifs::new(Some(ifs.as_bytes()));
        let mut fields = Vec::new();
        phrase.into_texts().for_each(|text| split_text(text, &ifs, &mut fields));
        fields
            .into_iter()
            .map(|field| String::from_utf8_lossy(&field.strip_quotes()).into_owned())
            .collect()
    }

    #[test]
    fn blanks_around_vanish_and_delimiters_count() {
        assert_eq!(fields(" :", &[('e', "  a  b ")]), ["a", "b"]);
        assert_eq!(fields(" :", &[('e', "a : b")]), ["a", "b"]);
        assert_eq!(fields(" :", &[('e', "a : : b")]), ["a", "", "b"]);
        assert_eq!(fields(":", &[('e', ":a:")]), ["", "a"]);
        assert_eq!(fields("", &[('e', " a ")]), [" a "]);
    }

    #[test]
    fn only_expansions_are_split() {
        assert_eq!(fields(":", &[('l', "x:"), ('e', "a:b"), ('q', ":c")]), ["x:a", "b:c"]);
        assert_eq!(fields(" ", &[('l', "x"), ('e', " a"), ('q', "b")]), ["x", "ab"]);
    }

    #[test]
    fn an_empty_quoted_text_is_a_field() {
        assert_eq!(fields(" ", &[('e', "a "), ('q', "")]), ["a", ""]);
        assert_eq!(fields(" ", &[('q', ""), ('e', " a")]), ["", "a"]);
        assert_eq!(fields(" ", &[('e', "  ")]), [""; 0]);
    }

    #[test]
    fn delimiters_of_several_bytes() {
        assert_eq!(fields("é", &[('e', "aéb")]), ["a", "b"]);
    }
}
