//! `IFS` and word splitting (POSIX XCU 2.6.5, bash manual 3.5.7).

use std::borrow::Cow;

use crate::env::Env;
use crate::value::{Str, Value};

/// What a byte is to word splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Ordinary,
    /// Space, tab or newline in `IFS`: a run of them separates, leading and trailing ones vanish.
    Blank,
    /// Any other character of `IFS`: each one ends a field.
    Delimiter,
}

/// A prepared `IFS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ifs {
    classes: Cow<'static, [Class; 256]>,
    /// Delimiters of several bytes (UTF-8).
    wide: Vec<Box<[u8]>>,
    /// The first character; empty if `IFS` is null. Joins `"$*"`.
    first: Cow<'static, [u8]>,
}

/// Space, tab, newline.
static DEFAULT: [Class; 256] = {
    let mut classes = [Class::Ordinary; 256];
    classes[b' ' as usize] = Class::Blank;
    classes[b'\t' as usize] = Class::Blank;
    classes[b'\n' as usize] = Class::Blank;
    classes
};

impl Ifs {
    /// From the variable's value; `None` is an unset `IFS`, which acts as space, tab, newline.
    pub fn new(value: Option<&[u8]>) -> Ifs {
        let Some(value) = value.filter(|&v| v != b" \t\n") else {
            return Ifs {
                classes: Cow::Borrowed(&DEFAULT),
                wide: Vec::new(),
                first: Cow::Borrowed(b" "),
            };
        };
        let mut classes = [Class::Ordinary; 256];
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
                classes[usize::from(byte)] = Class::Delimiter;
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

    /// The shell's current `IFS`.
    pub fn of(env: &mut dyn Env) -> Ifs {
        match env.get(b"IFS") {
            Some(Value::Scalar(text)) => Ifs::new(Some(&text)),
            Some(Value::Indexed(array)) => Ifs::new(array.get(0).map(|s| s.as_slice())),
            Some(Value::Assoc(_)) | None => Ifs::new(None),
        }
    }

    /// Space, tab and newline split.
    pub fn is_usual(&self) -> bool {
        matches!(self.classes, Cow::Borrowed(_))
    }

    /// Nothing splits.
    pub fn is_null(&self) -> bool {
        self.first.is_empty()
    }

    /// The character that joins `"$*"`.
    pub fn separator(&self) -> &[u8] {
        &self.first
    }

    /// Class and length of the character at the start of `text`, which is not empty.
    pub(crate) fn classify(&self, text: &[u8]) -> (Class, usize) {
        let byte = text[0];
        if byte >= 0x80
            && let Some(wide) = self.wide.iter().find(|w| text.starts_with(w))
        {
            return (Class::Delimiter, wide.len());
        }
        (self.classes[usize::from(byte)], 1)
    }

    /// Length of the leading text without any character of `IFS`.
    pub(crate) fn ordinary_run(&self, text: &[u8]) -> usize {
        if self.wide.is_empty() {
            return text
                .iter()
                .position(|&b| self.classes[usize::from(b)] != Class::Ordinary)
                .unwrap_or(text.len());
        }
        (0..text.len())
            .find(|&at| self.classify(&text[at..]).0 != Class::Ordinary)
            .unwrap_or(text.len())
    }

    /// Whether a byte is blank in this `IFS` (`read` trims with it).
    pub fn is_blank(&self, byte: u8) -> bool {
        self.classes[usize::from(byte)] == Class::Blank
    }

    /// Length of the delimiter (blank or not) at the start of the text; 0 if there is none.
    pub fn delimiter_len(&self, text: &[u8]) -> usize {
        match text {
            [] => 0,
            _ => match self.classify(text) {
                (Class::Ordinary, _) => 0,
                (_, width) => width,
            },
        }
    }
}

fn class_of(byte: u8) -> Class {
    if matches!(byte, b' ' | b'\t' | b'\n') { Class::Blank } else { Class::Delimiter }
}

/// Splits a whole text as the result of an unquoted expansion is split (`compgen -W`, `read -a`).
pub fn split_fields(text: &[u8], ifs: &Ifs) -> Vec<Str> {
    let mut fields = crate::fields::Fields::splitting(ifs.clone());
    fields.push_split(text);
    fields.finish().into_iter().map(|field| field.into_text()).collect()
}
