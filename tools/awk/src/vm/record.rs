//! The current record and its fields. The record is split only as far as needed, and fields become
//! separate values only when one is assigned.

use super::split::{AwkFieldSplitter, Span};
use crate::text::AwkText;
use crate::value::{AwkValue, NumberFormat};

/// The maximum number of fields.
pub const MAX_FIELDS: usize = 20_000_000;

/// `$0` and `$1`, `$2`, ...
#[derive(Debug)]
pub struct AwkRecord {
    text: Vec<u8>,
    /// The fields found so far.
    spans: Vec<Span>,
    /// The offset at which splitting continues; `None` when it is done.
    resume: Option<usize>,
    /// The fields' values, once a field or NF was assigned; `spans` is then not used.
    owned: Option<Vec<AwkValue>>,
    /// `$0` as a value, from its first use or assignment until the text changes.
    whole: Option<AwkValue>,
    /// Whether `text` is out of date and must be joined from `owned` again.
    stale: bool,
    pub splitter: AwkFieldSplitter,
    pub utf8: bool,
}

impl AwkRecord {
    /// Creates an empty record.
    pub fn new(utf8: bool) -> AwkRecord {
        AwkRecord {
            text: Vec::new(),
            spans: Vec::new(),
            resume: None,
            owned: None,
            whole: None,
            stale: false,
            splitter: AwkFieldSplitter::Blanks,
            utf8,
        }
    }

    /// Returns the buffer to read the next record into; call [`AwkRecord::begin`] after.
    pub fn text_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// Begins a record with the text that is in the buffer.
    pub fn begin(&mut self) {
        self.spans.clear();
        self.resume = Some(0);
        self.owned = None;
        self.whole = None;
        self.stale = false;
    }

    /// Sets `$0` from input.
    pub fn set(&mut self, text: &[u8]) {
        self.text.clear();
        self.text.extend_from_slice(text);
        self.begin();
    }

    /// Assigns `$0`, which stays the same kind of value, a number or a string.
    pub fn assign(&mut self, value: &AwkValue, convfmt: &NumberFormat) {
        self.text.clear();
        value.append_to(&mut self.text, convfmt);
        self.begin();
        self.whole = match value {
            AwkValue::Input(_) => None,
            AwkValue::Uninit | AwkValue::NoField => Some(AwkValue::EMPTY),
            other => Some(other.clone()),
        };
    }

    /// Returns `$0` as a value.
    #[inline]
    pub fn value(&mut self, ofs: &[u8], convfmt: &NumberFormat) -> AwkValue {
        if self.stale {
            self.rebuild_text(ofs, convfmt);
        }
        match &self.whole {
            Some(v) => v.clone(),
            None => {
                let v = AwkValue::Input(AwkText::new(&self.text));
                // The value is kept, because a loop over `$0` would otherwise copy the text each
                // time.
                self.whole = Some(v.clone());
                v
            }
        }
    }

    /// Returns `$0`, joined by OFS if fields were assigned.
    #[inline]
    pub fn text(&mut self, ofs: &[u8], convfmt: &NumberFormat) -> &[u8] {
        if self.stale {
            self.rebuild_text(ofs, convfmt);
        }
        &self.text
    }

    /// Joins `$0` now if it is out of date, because OFS is about to change.
    pub fn rebuild_text(&mut self, ofs: &[u8], convfmt: &NumberFormat) {
        if let Some(owned) = &self.owned
            && self.stale
        {
            self.text.clear();
            for (n, v) in owned.iter().enumerate() {
                if n > 0 {
                    self.text.extend_from_slice(ofs);
                }
                v.append_to(&mut self.text, convfmt);
            }
            self.whole = Some(AwkValue::Str(AwkText::new(&self.text)));
        }
        self.stale = false;
    }

    #[inline]
    fn cut_fields(&mut self, want: usize) {
        if self.spans.len() < want
            && let Some(pos) = self.resume
        {
            self.resume = self.splitter.cut_on(&self.text, pos, want, &mut self.spans, self.utf8);
        }
    }

    /// Splits the rest of the record now, because the splitter is about to change.
    pub fn cut_all(&mut self) {
        if self.owned.is_none() {
            self.cut_fields(usize::MAX);
        }
    }

    /// Returns NF.
    pub fn field_count(&mut self) -> usize {
        self.cut_all();
        self.owned.as_ref().map_or(self.spans.len(), Vec::len)
    }

    /// Returns `$n`, with `n` from 1; unset beyond NF.
    #[inline]
    pub fn field(&mut self, n: usize) -> AwkValue {
        if let Some(owned) = &self.owned {
            return owned.get(n - 1).cloned().unwrap_or(AwkValue::NoField);
        }
        self.cut_fields(n);
        match self.spans.get(n - 1) {
            Some(&(a, b)) => AwkValue::Input(AwkText::new(&self.text[a as usize..b as usize])),
            // This compares as a string, unlike a variable that was never set.
            None => AwkValue::NoField,
        }
    }

    fn own_fields(&mut self) -> &mut Vec<AwkValue> {
        self.cut_all();
        let (text, spans) = (&self.text, &self.spans);
        self.owned.get_or_insert_with(|| {
            let value =
                |&(a, b): &Span| AwkValue::Input(AwkText::new(&text[a as usize..b as usize]));
            spans.iter().map(value).collect()
        })
    }

    /// Assigns `$n`, with `n` from 1; fields between NF and `n` become empty.
    pub fn set_field(&mut self, n: usize, value: AwkValue) {
        let owned = self.own_fields();
        if owned.len() < n {
            owned.resize(n, AwkValue::EMPTY);
        }
        // A number keeps its value; it is formatted when the record is joined.
        owned[n - 1] = match value {
            AwkValue::Uninit | AwkValue::NoField => AwkValue::EMPTY,
            other => other,
        };
        self.stale = true;
    }

    /// Assigns NF.
    pub fn set_count(&mut self, n: usize) {
        self.own_fields().resize(n, AwkValue::EMPTY);
        self.stale = true;
    }
}
