//! Byte strings as awk values: short ones inline, long ones shared.
//!
//! Most fields fit inline, so that reading and storing them allocates nothing. Long strings grow in
//! place when they are not shared, so that `s = s x` in a loop takes linear time. A long string
//! caches the offsets of its characters and its number after the first query, because programs walk
//! through texts with `substr`, and compare one text with many numbers.

use std::cell::OnceCell;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::rc::Rc;

use box_text::number::utf8_len;

use crate::value::{looks_numeric, to_number};

/// The maximum length of an inline string in bytes.
const INLINE: usize = 22;

/// An immutable byte string, cheap to clone.
#[derive(Clone)]
pub struct AwkText(Repr);

#[derive(Clone)]
enum Repr {
    Inline { len: u8, bytes: [u8; INLINE] },
    Shared(Rc<Long>),
}

/// A long string, with cached answers to queries about it, which are dropped whenever the bytes
/// change.
#[derive(Clone, Default)]
struct Long {
    bytes: Vec<u8>,
    index: OnceCell<Index>,
    /// The number at its start.
    number: OnceCell<f64>,
    /// The number, if the whole string is one.
    whole_number: OnceCell<Option<f64>>,
}

impl Long {
    fn shared_long(bytes: Vec<u8>) -> Repr {
        Repr::Shared(Rc::new(Long { bytes, ..Long::default() }))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| Index::index_text(&self.bytes))
    }
}

/// The number of characters between two cached offsets.
const STEP: usize = 128;

/// The positions of the characters of a text.
#[derive(Clone)]
enum Index {
    /// Each character is one byte.
    Ascii,
    /// The offset of every [`STEP`]th character from the first on, and the number of characters.
    Sparse { offsets: Vec<usize>, count: usize },
}

impl Index {
    fn index_text(text: &[u8]) -> Index {
        if text.is_ascii() {
            return Index::Ascii;
        }
        let (mut offsets, mut count, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            if count % STEP == 0 {
                offsets.push(at);
            }
            at += utf8_len(&text[at..]);
            count += 1;
        }
        Index::Sparse { offsets, count }
    }
}

/// Returns the offset `chars` characters after `at`, at most the text's length.
fn advance_chars(text: &[u8], mut at: usize, chars: usize) -> usize {
    for _ in 0..chars {
        if at >= text.len() {
            break;
        }
        at += utf8_len(&text[at..]);
    }
    at
}

/// Returns the number of characters that begin between two offsets.
fn count_chars(text: &[u8], mut from: usize, to: usize) -> usize {
    let mut n = 0;
    while from < to {
        from += utf8_len(&text[from..]);
        n += 1;
    }
    n
}

impl AwkText {
    /// No bytes.
    pub const EMPTY: AwkText = AwkText(Repr::Inline { len: 0, bytes: [0; INLINE] });

    /// Creates a copy of the bytes.
    #[inline]
    pub fn new(text: &[u8]) -> AwkText {
        if text.len() <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..text.len()].copy_from_slice(text);
            return AwkText(Repr::Inline { len: text.len() as u8, bytes });
        }
        AwkText(Long::shared_long(text.to_vec()))
    }

    /// Creates a text from a buffer, without a copy if it is long.
    pub fn from_vec(text: Vec<u8>) -> AwkText {
        if text.len() <= INLINE { AwkText::new(&text) } else { AwkText(Long::shared_long(text)) }
    }

    /// Returns the bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Repr::Shared(v) => &v.bytes,
        }
    }

    /// Returns the number at the start, as [`to_number`] reads it.
    #[inline]
    pub fn number(&self) -> f64 {
        match &self.0 {
            Repr::Inline { .. } => to_number(self.as_bytes()),
            Repr::Shared(long) => *long.number.get_or_init(|| to_number(&long.bytes)),
        }
    }

    /// Returns the number that all of the text is, as [`looks_numeric`] reads it.
    #[inline]
    pub fn whole_number(&self) -> Option<f64> {
        match &self.0 {
            Repr::Inline { .. } => looks_numeric(self.as_bytes()),
            Repr::Shared(long) => *long.whole_number.get_or_init(|| looks_numeric(&long.bytes)),
        }
    }

    /// Returns the number of characters (UTF-8; a byte that belongs to none is one).
    pub fn char_count(&self) -> usize {
        match &self.0 {
            Repr::Inline { .. } => count_chars(self.as_bytes(), 0, self.len()),
            Repr::Shared(long) => match long.index() {
                Index::Ascii => self.len(),
                Index::Sparse { count, .. } => *count,
            },
        }
    }

    /// Returns the byte offset of a character (from 0), at most the text's length.
    pub fn offset_of_char(&self, n: usize) -> usize {
        match &self.0 {
            Repr::Inline { .. } => advance_chars(self.as_bytes(), 0, n),
            Repr::Shared(long) => match long.index() {
                Index::Ascii => n.min(self.len()),
                Index::Sparse { offsets, .. } => match offsets.get(n / STEP) {
                    Some(at) => advance_chars(&long.bytes, *at, n % STEP),
                    None => self.len(),
                },
            },
        }
    }

    /// Returns the number of characters before a byte offset.
    pub fn chars_before(&self, offset: usize) -> usize {
        match &self.0 {
            Repr::Inline { .. } => count_chars(self.as_bytes(), 0, offset),
            Repr::Shared(long) => match long.index() {
                Index::Ascii => offset,
                Index::Sparse { offsets, .. } => {
                    let steps = offsets.partition_point(|at| *at <= offset).saturating_sub(1);
                    steps * STEP + count_chars(&long.bytes, offsets[steps], offset)
                }
            },
        }
    }

    /// Appends in place if the string has no other owner.
    pub fn push(&mut self, more: &[u8]) {
        if let Repr::Shared(rc) = &mut self.0
            && let Some(v) = Rc::get_mut(rc)
        {
            v.bytes.extend_from_slice(more);
            v.index.take();
            v.number.take();
            v.whole_number.take();
            return;
        }
        let old = self.as_bytes();
        let len = old.len() + more.len();
        if len <= INLINE {
            let mut bytes = [0; INLINE];
            bytes[..old.len()].copy_from_slice(old);
            bytes[old.len()..len].copy_from_slice(more);
            self.0 = Repr::Inline { len: len as u8, bytes };
            return;
        }
        let mut v = Vec::with_capacity(len * 2);
        v.extend_from_slice(old);
        v.extend_from_slice(more);
        self.0 = Long::shared_long(v);
    }
}

impl Deref for AwkText {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for AwkText {
    fn eq(&self, other: &AwkText) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for AwkText {}

impl Hash for AwkText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for AwkText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self.as_bytes()))
    }
}
