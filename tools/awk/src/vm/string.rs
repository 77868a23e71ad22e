//! String functions: `length`, `substr`, `index`, `match`, `split`, case.

use super::split::{AwkFieldSplitter, Span};
use super::{AwkMachine, GlobalCell, Result};
use crate::array::{Array, ArrayRef, AwkKey, ElementSlot};
use crate::code::ArrayPlace;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::AwkValue;
use box_text::regex::Captures;

impl AwkMachine<'_, '_> {
    /// Returns the number of characters of a text.
    fn chars_of(&self, text: &AwkText) -> usize {
        if self.settings.utf8 { text.char_count() } else { text.len() }
    }

    /// Returns the number of characters before a byte offset.
    fn chars_before(&self, text: &AwkText, offset: usize) -> f64 {
        (if self.settings.utf8 { text.chars_before(offset) } else { offset }) as f64
    }

    pub(super) fn call_length(&self, v: &AwkValue) -> f64 {
        match v {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => self.chars_of(t) as f64,
            other => self.chars_of(&other.text(&self.convfmt)) as f64,
        }
    }

    /// Runs `length(x)` of a variable that may be an array.
    pub(super) fn length_of(&mut self, place: ArrayPlace) -> Result<()> {
        let cell = match place {
            ArrayPlace::Global(n) => self.globals.get(n as usize),
            ArrayPlace::Local(n) => self.locals.get(self.base + n as usize),
            ArrayPlace::Inner => None,
        };
        let n = match cell {
            Some(GlobalCell::Array(a)) => a.borrow().len() as f64,
            Some(GlobalCell::Value(v)) => self.call_length(v),
            None => 0.0,
        };
        self.stack.push(AwkValue::Num(n));
        Ok(())
    }

    /// Returns the byte offset of a character (from 0), at most the text's length.
    fn char_offset(&self, text: &AwkText, chars: usize) -> usize {
        if self.settings.utf8 { text.offset_of_char(chars) } else { chars.min(text.len()) }
    }

    /// Runs `substr(text, start, length)`. Fractions are ignored, and a start below 1 counts as 1
    /// (gawk manual 9.1.4).
    pub(super) fn call_substr(&self, text: &AwkText, start: f64, length: Option<f64>) -> AwkText {
        let length = length.map_or(f64::INFINITY, f64::trunc);
        if start.is_nan() || length.is_nan() || length < 1.0 {
            return AwkText::EMPTY;
        }
        // This is beyond the end of any text, but exact as an integer.
        const FAR: f64 = 1e15;
        let first = start.trunc().max(1.0) - 1.0;
        let from = self.char_offset(text, first.min(FAR) as usize);
        let to = self.char_offset(text, (first.min(FAR) + length.min(FAR)) as usize);
        AwkText::new(&text[from..to])
    }

    /// Runs `index(text, part)`: the character position from 1, 0 if it is not there.
    pub(super) fn index(&self, text: &AwkText, part: &[u8]) -> f64 {
        if part.is_empty() {
            // This is gawk's result, although its manual says 0.
            return 1.0;
        }
        if self.regexes.ignores_case() {
            let (a, b) = (text.to_ascii_lowercase(), part.to_ascii_lowercase());
            let at = memchr::memmem::find(&a, &b);
            return at.map_or(0.0, |n| self.chars_before(text, n) + 1.0);
        }
        memchr::memmem::find(text, part).map_or(0.0, |n| self.chars_before(text, n) + 1.0)
    }

    /// Runs `toupper` and `tolower`.
    pub(super) fn change_case(&self, text: &[u8], upper: bool) -> AwkText {
        if !self.settings.utf8 || text.is_ascii() {
            let changed = if upper { text.to_ascii_uppercase() } else { text.to_ascii_lowercase() };
            return AwkText::from_vec(changed);
        }
        let mut out = Vec::with_capacity(text.len());
        for chunk in text.utf8_chunks() {
            for c in chunk.valid().chars() {
                // As with towupper(3), each character becomes exactly one.
                let changed = if upper {
                    single_char(c.to_uppercase(), c)
                } else {
                    single_char(c.to_lowercase(), c)
                };
                out.extend_from_slice(changed.encode_utf8(&mut [0; 4]).as_bytes());
            }
            out.extend_from_slice(chunk.invalid());
        }
        AwkText::from_vec(out)
    }

    /// Runs `match(text, re [, array])`.
    pub(super) fn match_function(&mut self, array: bool) -> Result<()> {
        let Some(re) = self.patterns.pop() else { return Ok(()) };
        let array = if array { self.arrays.pop() } else { None };
        let text = self.pop_text();
        let mut groups = Captures::default();
        let found = match &array {
            Some(_) => re.captures_at(&text, 0, &mut groups).then(|| groups.get(0)).flatten(),
            None => re.find_at(&text, 0),
        };
        let (start, length) = match found {
            Some((a, b)) => (
                self.chars_before(&text, a) + 1.0,
                self.chars_before(&text, b) - self.chars_before(&text, a),
            ),
            None => (0.0, -1.0),
        };
        if let Some(array) = array {
            let mut a = array.borrow_mut();
            a.clear_all();
            if found.is_some() {
                for n in 0..groups.len() {
                    let Some((s, e)) = groups.get(n) else { continue };
                    a.set(AwkKey::Int(n as i64), AwkValue::Input(AwkText::new(&text[s..e])));
                    let sub = |name: &[u8]| {
                        let mut k = n.to_string().into_bytes();
                        k.extend_from_slice(&self.subsep);
                        k.extend_from_slice(name);
                        AwkKey::from_bytes(&k)
                    };
                    let at = self.chars_before(&text, s) + 1.0;
                    let len = self.chars_before(&text, e) + 1.0 - at;
                    a.set(sub(b"start"), AwkValue::Num(at));
                    a.set(sub(b"length"), AwkValue::Num(len));
                }
            }
        }
        self.set_global(Special::Rstart, AwkValue::Num(start));
        self.set_global(Special::Rlength, AwkValue::Num(length));
        self.stack.push(AwkValue::Num(start));
        Ok(())
    }

    /// Runs `split(text, array [, separator [, separators]])`; with `pattern`, the separator was
    /// stored before as a compiled pattern.
    pub(super) fn call_split(&mut self, args: usize, pattern: bool) -> Result<()> {
        let splitter = match (args, pattern) {
            (_, true) => match self.patterns.pop() {
                // `/ /` means one blank, unlike the string " ".
                Some(re) => AwkFieldSplitter::Regex(re),
                None => AwkFieldSplitter::Blanks,
            },
            // Splits by FS, even if another variable (FIELDWIDTHS, FPAT) splits the records.
            (2, _) if self.main.field_mode != Special::Fs => {
                let fs = self.global_value(Special::Fs);
                self.splitter_of(&fs)?
            }
            (2, _) => match self.record.splitter.clone() {
                AwkFieldSplitter::OrNewline(inner) => *inner,
                other => other,
            },
            _ => {
                let separator = self.pop();
                self.splitter_of(&separator)?
            }
        };
        let seps = if args == 4 { self.arrays.pop() } else { None };
        let Some(array) = self.arrays.pop() else { return Ok(()) };
        let text = self.pop_text();
        let (mut fields, mut separators) = (Vec::new(), Vec::new());
        splitter.cut_text(
            &text,
            &mut fields,
            seps.is_some().then_some(&mut separators),
            self.settings.utf8,
        );
        let first = i64::from(!matches!(splitter, AwkFieldSplitter::Blanks));
        fill_array(&array, &text, &fields, 1);
        if let Some(seps) = seps {
            fill_array(&seps, &text, &separators, first);
            if first == 0 {
                // The separators at the ends exist only if there are blanks.
                let mut a = seps.borrow_mut();
                let last = separators.len() as i64 - 1;
                for n in [0, last] {
                    if matches!(a.get(&AwkKey::Int(n)), Some(ElementSlot::Value(AwkValue::Input(t))) if t.is_empty())
                    {
                        a.remove(&AwkKey::Int(n));
                    }
                }
            }
        }
        self.stack.push(AwkValue::Num(fields.len() as f64));
        Ok(())
    }

    /// Runs `patsplit(text, array [, pattern [, separators]])`.
    pub(super) fn call_patsplit(&mut self, args: usize) -> Result<()> {
        let splitter = if args > 2 {
            match self.patterns.pop() {
                Some(re) => AwkFieldSplitter::Pattern(re),
                None => return Ok(()),
            }
        } else {
            let fpat = self.load_special(Special::Fpat)?.text(&self.convfmt);
            AwkFieldSplitter::Pattern(self.regexes.dynamic_regex(&fpat)?)
        };
        let seps = if args == 4 { self.arrays.pop() } else { None };
        let Some(array) = self.arrays.pop() else { return Ok(()) };
        let text = self.pop_text();
        let (mut fields, mut separators) = (Vec::new(), Vec::new());
        splitter.cut_text(&text, &mut fields, Some(&mut separators), self.settings.utf8);
        fill_array(&array, &text, &fields, 1);
        if let Some(seps) = seps {
            fill_array(&seps, &text, &separators, 0);
        }
        self.stack.push(AwkValue::Num(fields.len() as f64));
        Ok(())
    }
}

/// Replaces an array's content by parts of a text.
fn fill_array(array: &ArrayRef, text: &[u8], parts: &[Span], first: i64) {
    let mut a: std::cell::RefMut<'_, Array> = array.borrow_mut();
    a.clear_all();
    for (n, &(s, e)) in parts.iter().enumerate() {
        let v = AwkValue::Input(AwkText::new(&text[s as usize..e as usize]));
        a.set(AwkKey::Int(n as i64 + first), v);
    }
}

fn single_char(mut changed: impl Iterator<Item = char>, original: char) -> char {
    match (changed.next(), changed.next()) {
        (Some(c), None) => c,
        _ => original,
    }
}
