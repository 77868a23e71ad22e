//! Loading and storing of variables, fields and elements; side effects of assignments to special
//! variables.

use std::rc::Rc;

use super::format::{MAX_WIDTH, too_wide};
use super::reader::RecordSeparator;
use super::record::MAX_FIELDS;
use super::split::AwkFieldSplitter;
use super::{AwkMachine, GlobalCell, Result};
use crate::array::{Array, ArrayRef, AwkKey, ElementSlot};
use crate::code::{ArrayPlace, AssignableTarget};
use crate::error::AwkRunError;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::{AwkValue, NumberFormat};

/// The maximum nesting of arrays in arrays, because dropping them recurses.
const MAX_ARRAY_DEPTH: usize = 500;

impl AwkMachine<'_, '_> {
    #[inline]
    pub(super) fn pop(&mut self) -> AwkValue {
        self.stack.pop().unwrap_or(AwkValue::Uninit)
    }

    #[inline]
    pub(super) fn pop_num(&mut self) -> f64 {
        match self.stack.pop() {
            Some(AwkValue::Num(n)) => n,
            Some(v) => self.to_number(&v),
            None => 0.0,
        }
    }

    /// Returns the numeric value; under `-n`, input may be octal or hexadecimal.
    #[inline]
    pub(super) fn to_number(&self, v: &AwkValue) -> f64 {
        number_of(v, self.settings.non_decimal)
    }

    /// Returns the number that a value counts as in comparisons; under `-n`, input may be octal or
    /// hexadecimal.
    pub(super) fn comparable_number(&self, v: &AwkValue) -> Option<f64> {
        match v {
            AwkValue::Input(t) if self.settings.non_decimal && super::bits::is_non_decimal(t) => {
                Some(super::bits::parse_strtonum(t))
            }
            _ => v.comparable_number(),
        }
    }

    /// Returns the truth of a value; under `-n`, input may be octal or hexadecimal.
    #[inline]
    pub(super) fn is_true(&self, v: &AwkValue) -> bool {
        match v {
            AwkValue::Input(_) if self.settings.non_decimal => {
                self.comparable_number(v).map_or_else(|| v.is_true(), |n| n != 0.0)
            }
            _ => v.is_true(),
        }
    }

    pub(super) fn pop_text(&mut self) -> AwkText {
        self.pop().text(&self.convfmt)
    }

    /// Pops the last `n` values and returns them in the order in which they were pushed.
    pub(super) fn pop_all(&mut self, n: usize) -> Vec<AwkValue> {
        self.stack.split_off(self.stack.len().saturating_sub(n))
    }

    pub(super) fn name_of(&self, place: ArrayPlace) -> String {
        match place {
            ArrayPlace::Global(n) => {
                let name = self.code.globals.get(n as usize).cloned().unwrap_or_default();
                String::from_utf8_lossy(&name).into_owned()
            }
            _ => "parameter".to_string(),
        }
    }

    fn cell_at(&mut self, place: ArrayPlace) -> Option<&mut GlobalCell> {
        match place {
            ArrayPlace::Global(n) => self.globals.get_mut(n as usize),
            ArrayPlace::Local(n) => self.locals.get_mut(self.base + n as usize),
            ArrayPlace::Inner => None,
        }
    }

    /// Returns the array at a place; an unset variable becomes an array.
    #[inline]
    pub(super) fn array_at(&mut self, place: ArrayPlace) -> Result<ArrayRef> {
        if place == ArrayPlace::Inner {
            return self.arrays.pop().ok_or_else(|| AwkRunError::fatal("no array"));
        }
        match self.cell_at(place) {
            Some(GlobalCell::Array(a)) => Ok(a.clone()),
            Some(cell @ GlobalCell::Value(AwkValue::Uninit)) => {
                let a = Array::new_shared();
                *cell = GlobalCell::Array(a.clone());
                Ok(a)
            }
            _ => {
                let name = self.name_of(place);
                Err(AwkRunError::fatal(format!("attempt to use scalar `{name}' as an array")))
            }
        }
    }

    /// Returns the argument for a function that uses its parameter as an array: the array, or a
    /// scalar, because the function may call `isarray` first.
    pub(super) fn array_or_scalar(&mut self, place: ArrayPlace) -> Result<GlobalCell> {
        match self.cell_at(place) {
            Some(GlobalCell::Value(v)) if !matches!(v, AwkValue::Uninit) => {
                Ok(GlobalCell::Value(v.clone()))
            }
            Some(cell @ GlobalCell::Value(_)) => {
                let array = Array::new_shared();
                array.borrow_mut().untyped = true;
                *cell = GlobalCell::Array(array);
                Ok(cell.clone())
            }
            _ => self.array_at(place).map(GlobalCell::Array),
        }
    }

    /// Returns the scalar at a place; an array that was never used as an array becomes unset again.
    #[inline]
    pub(super) fn scalar_at(&mut self, place: ArrayPlace) -> Result<&mut AwkValue> {
        let is_scalar = match self.cell_at(place) {
            Some(GlobalCell::Value(_)) => true,
            Some(cell @ GlobalCell::Array(_)) => {
                let is_untyped = matches!(cell, GlobalCell::Array(a) if a.borrow().untyped);
                if is_untyped {
                    *cell = GlobalCell::Value(AwkValue::Uninit);
                }
                is_untyped
            }
            None => false,
        };
        if !is_scalar {
            return Err(self.array_as_scalar(place));
        }
        match self.cell_at(place) {
            Some(GlobalCell::Value(v)) => Ok(v),
            _ => Err(inner_as_scalar()),
        }
    }

    #[cold]
    pub(super) fn array_as_scalar(&self, place: ArrayPlace) -> AwkRunError {
        let name = self.name_of(place);
        AwkRunError::fatal(format!("attempt to use array `{name}' in a scalar context"))
    }

    #[inline]
    pub(super) fn to_key(&self, v: &AwkValue) -> AwkKey {
        AwkKey::from_value(v, &self.convfmt)
    }

    /// Pops a subscript, and returns the array and the key of the element in it.
    #[inline]
    pub(super) fn pop_subscript(&mut self, place: ArrayPlace) -> Result<(ArrayRef, AwkKey)> {
        let subscript = self.pop();
        let key = self.to_key(&subscript);
        Ok((self.array_at(place)?, key))
    }

    /// Returns an element's value; the element is created if missing.
    #[inline]
    pub(super) fn element_value(&mut self, array: &ArrayRef, key: AwkKey) -> Result<AwkValue> {
        scalar_slot(array.borrow_mut().slot_or_insert(key)).cloned()
    }

    /// Returns an inner array; an unset element becomes an array.
    pub(super) fn inner_array(&mut self, array: &ArrayRef, key: AwkKey) -> Result<ArrayRef> {
        let mut a = array.borrow_mut();
        let depth = a.depth + 1;
        let slot = a.slot_or_insert(key);
        match slot {
            ElementSlot::Array(inner) => Ok(inner.clone()),
            ElementSlot::Value(AwkValue::Uninit) => {
                if depth > MAX_ARRAY_DEPTH {
                    return Err(AwkRunError::fatal("arrays nested too deeply"));
                }
                let inner = Array::new_shared();
                inner.borrow_mut().depth = depth;
                *slot = ElementSlot::Array(inner.clone());
                Ok(inner)
            }
            ElementSlot::Value(_) => {
                Err(AwkRunError::fatal("attempt to use scalar element as an array"))
            }
        }
    }

    /// Returns a field number from a value.
    pub(super) fn field_number(&self, v: &AwkValue) -> Result<usize> {
        let n = self.to_number(v);
        if n < 0.0 || n.is_nan() {
            return Err(AwkRunError::fatal(format!("attempt to access field {}", n as i64)));
        }
        Ok(n as usize)
    }

    #[inline]
    pub(super) fn field_value(&mut self, n: usize) -> AwkValue {
        if n == 0 {
            return self.record.value(&self.ofs, &self.convfmt);
        }
        self.record.field(n)
    }

    pub(super) fn set_record(&mut self, v: &AwkValue) {
        self.record.assign(v, &self.convfmt);
    }

    /// Returns the value of a target; `address` is that of a field or element.
    pub(super) fn load_target(
        &mut self,
        t: AssignableTarget,
        address: &ElementAddress,
    ) -> Result<AwkValue> {
        match (t, address) {
            (AssignableTarget::Global(n), _) => self.scalar_at(ArrayPlace::Global(n)).cloned(),
            (AssignableTarget::Local(n), _) => self.scalar_at(ArrayPlace::Local(n)).cloned(),
            (AssignableTarget::Special(s), _) => self.load_special(s),
            (AssignableTarget::Record, _) => Ok(self.field_value(0)),
            (AssignableTarget::Field, ElementAddress::Field(n)) => Ok(self.field_value(*n)),
            (AssignableTarget::Element(_), ElementAddress::Element(a, k)) => {
                self.element_value(a, k.clone())
            }
            (AssignableTarget::Symbol, ElementAddress::Symbol(t)) => {
                self.load_target(*t, &ElementAddress::None)
            }
            _ => Ok(AwkValue::Uninit),
        }
    }

    /// Pops a target's address from the stacks.
    #[inline]
    pub(super) fn pop_address(&mut self, t: AssignableTarget) -> Result<ElementAddress> {
        Ok(match t {
            AssignableTarget::Field => {
                let v = self.pop();
                ElementAddress::Field(self.field_number(&v)?)
            }
            AssignableTarget::Element(place) => {
                let (array, key) = self.pop_subscript(place)?;
                ElementAddress::Element(array, key)
            }
            AssignableTarget::Symbol => {
                let name = self.pop_text();
                ElementAddress::Symbol(self.find_symbol(&name)?)
            }
            _ => ElementAddress::None,
        })
    }

    /// Returns the variable that SYMTAB's subscript names.
    fn find_symbol(&self, name: &[u8]) -> Result<AssignableTarget> {
        let Some(n) = self.code.globals.iter().position(|g| g == name) else {
            return Err(AwkRunError::fatal("cannot assign to arbitrary elements of SYMTAB"));
        };
        let n = n as u32;
        Ok(match Special::from_index(n) {
            Some(s) if s.is_computed() || s.is_watched() => AssignableTarget::Special(s),
            _ => AssignableTarget::Global(n),
        })
    }

    /// Assigns a value to a target.
    #[inline]
    pub(super) fn store_target(
        &mut self,
        t: AssignableTarget,
        address: ElementAddress,
        v: AwkValue,
    ) -> Result<()> {
        match (t, address) {
            (AssignableTarget::Global(n), _) => *self.scalar_at(ArrayPlace::Global(n))? = v,
            (AssignableTarget::Local(n), _) => *self.scalar_at(ArrayPlace::Local(n))? = v,
            (AssignableTarget::Special(s), _) => self.store_special(s, v)?,
            (AssignableTarget::Record, _) => self.set_record(&v),
            (AssignableTarget::Field, ElementAddress::Field(0)) => self.set_record(&v),
            (AssignableTarget::Field, ElementAddress::Field(n)) => {
                if n > MAX_FIELDS {
                    let text = format!("field number {n} is too large");
                    return Err(AwkRunError::fatal(text));
                }
                self.record.set_field(n, v);
            }
            (AssignableTarget::Element(_), ElementAddress::Element(a, k)) => {
                *scalar_slot(a.borrow_mut().slot_or_insert(k))? = v;
            }
            (AssignableTarget::Symbol, ElementAddress::Symbol(t)) => {
                self.store_target(t, ElementAddress::None, v)?
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn load_special(&mut self, s: Special) -> Result<AwkValue> {
        Ok(match s {
            Special::Nf => AwkValue::Num(self.record.field_count() as f64),
            Special::Nr => AwkValue::Num(self.nr),
            Special::Fnr => AwkValue::Num(self.fnr),
            Special::Rt => AwkValue::str(&self.rt),
            other => match &self.globals[other as usize] {
                GlobalCell::Value(v) => v.clone(),
                GlobalCell::Array(_) => {
                    return Err(self.array_as_scalar(ArrayPlace::Global(other as u32)));
                }
            },
        })
    }

    pub(super) fn store_special(&mut self, s: Special, v: AwkValue) -> Result<()> {
        use Special as S;
        match s {
            S::Nf => {
                let n = self.to_number(&v);
                if n < 0.0 || n.is_nan() {
                    return Err(AwkRunError::fatal("NF set to negative value"));
                }
                if n > MAX_FIELDS as f64 {
                    return Err(AwkRunError::fatal("NF set to a value that is too large"));
                }
                // The record is joined when it is needed, or when OFS changes.
                self.record.set_count(n as usize);
                return Ok(());
            }
            S::Nr => {
                self.nr = self.to_number(&v);
                return Ok(());
            }
            S::Fnr => {
                self.fnr = self.to_number(&v);
                return Ok(());
            }
            _ => {}
        }
        let text = v.text(&self.convfmt);
        self.set_global(s, v);
        match s {
            S::Ofs => {
                self.record.rebuild_text(&self.ofs, &self.convfmt);
                self.ofs = text.to_vec();
            }
            S::Ors => self.ors = text.to_vec(),
            S::Subsep => self.subsep = text.to_vec(),
            S::Convfmt => self.convfmt = number_format(&text)?,
            S::Ofmt => self.ofmt = number_format(&text)?,
            S::Rs => {
                match self.global_value(S::Rs) {
                    AwkValue::Regex(t) => {
                        self.separator = RecordSeparator::Regex(self.regexes.dynamic_regex(&t)?)
                    }
                    _ => self.set_rs(&text)?,
                }
                // In paragraph mode, newlines also separate fields.
                self.set_field_mode(None)?;
            }
            S::Ignorecase => {
                let on = self.global_value(S::Ignorecase).is_true();
                self.regexes.set_icase(on);
                let rs = self.global_value(S::Rs).text(&self.convfmt);
                self.set_rs(&rs)?;
                self.set_field_mode(None)?;
            }
            S::Fs | S::Fieldwidths | S::Fpat => self.set_field_mode(Some(s))?,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn global_value(&self, s: Special) -> AwkValue {
        match &self.globals[s as usize] {
            GlobalCell::Value(v) => v.clone(),
            GlobalCell::Array(_) => AwkValue::Uninit,
        }
    }

    /// Returns the text of an element of ARGV, ENVIRON or PROCINFO, if there is one.
    pub(super) fn special_element(&self, s: Special, key: &AwkKey) -> Option<AwkText> {
        let GlobalCell::Array(array) = &self.globals[s as usize] else { return None };
        match array.borrow().get(key) {
            Some(ElementSlot::Value(v)) => Some(v.text(&self.convfmt)),
            _ => None,
        }
    }

    fn set_rs(&mut self, rs: &[u8]) -> Result<()> {
        self.separator = match rs {
            [] => RecordSeparator::Paragraph,
            // gawk does not ignore the case of a single character.
            [c] => RecordSeparator::Byte(*c),
            // In POSIX, only the first character counts.
            [c, ..] if self.settings.traditional => RecordSeparator::Byte(*c),
            _ => RecordSeparator::Regex(self.regexes.dynamic_regex(rs)?),
        };
        Ok(())
    }

    /// Chooses how records are split into fields: by the variable `by`, which was just set, or as
    /// before.
    fn set_field_mode(&mut self, by: Option<Special>) -> Result<()> {
        // The current record is still split in the previous way.
        self.record.cut_all();
        let mode = by.unwrap_or(self.main.field_mode);
        self.main.field_mode = mode;
        let text = self.global_value(mode).text(&self.convfmt);
        let paragraph = matches!(self.separator, RecordSeparator::Paragraph);
        let splitter = match mode {
            Special::Fieldwidths => AwkFieldSplitter::Widths(parse_widths(&text)?),
            Special::Fpat => AwkFieldSplitter::Pattern(self.regexes.dynamic_regex(&text)?),
            _ => {
                let fs = self.global_value(Special::Fs);
                self.splitter_of(&fs)?
            }
        };
        // Only an FS of one character lets newlines separate, too, as in gawk.
        let or_newline = paragraph
            && matches!(mode, Special::Fs)
            && matches!((&splitter, text.as_bytes()), (AwkFieldSplitter::Byte(_), [_]));
        self.record.splitter =
            if or_newline { AwkFieldSplitter::OrNewline(Box::new(splitter)) } else { splitter };
        self.set_procinfo_mode(mode);
        Ok(())
    }

    fn set_procinfo_mode(&mut self, mode: Special) {
        if let GlobalCell::Array(a) = &self.globals[Special::Procinfo as usize] {
            let name: &[u8] = match mode {
                Special::Fieldwidths => b"FIELDWIDTHS",
                Special::Fpat => b"FPAT",
                _ => b"FS",
            };
            a.borrow_mut().set(AwkKey::from_bytes(b"FS"), AwkValue::str(name));
        }
    }

    /// Returns the splitter for a value of FS or a separator of `split`. A strongly typed regular
    /// expression is always treated as one.
    pub(super) fn splitter_of(&mut self, separator: &AwkValue) -> Result<AwkFieldSplitter> {
        match separator {
            AwkValue::Regex(t) => Ok(AwkFieldSplitter::Regex(self.regexes.dynamic_regex(t)?)),
            other => {
                let text = other.text(&self.convfmt);
                self.make_splitter(&text)
            }
        }
    }

    /// Returns the splitter for FS or `split`'s separator (POSIX awk, "Regular Expressions": FS).
    pub(super) fn make_splitter(&mut self, fs: &[u8]) -> Result<AwkFieldSplitter> {
        Ok(match fs {
            b" " => AwkFieldSplitter::Blanks,
            [] => AwkFieldSplitter::Chars,
            b"\\" => AwkFieldSplitter::Byte(b'\\'),
            [c] => AwkFieldSplitter::Byte(*c),
            // `[|]`, `\\|` and similar expressions also match one byte.
            [b'\\', c] if b"|.*+?()[]{}^$/".contains(c) => AwkFieldSplitter::Byte(*c),
            [b'[', c, b']']
                if *c != b'^' && *c != b'\\' && !self.regexes.ignores_case() && c.is_ascii() =>
            {
                AwkFieldSplitter::Byte(*c)
            }
            _ => AwkFieldSplitter::Regex(self.regexes.dynamic_regex(fs)?),
        })
    }

    /// Performs an assignment from the command line, in which escapes are resolved and numbers
    /// recognized.
    pub(super) fn assign_by_name(&mut self, name: &[u8], value: &[u8]) -> Result<()> {
        let mut text = Vec::with_capacity(value.len());
        let mut at = 0;
        while at < value.len() {
            if value[at] == b'\\' && at + 1 < value.len() {
                let (used, warning) = crate::lex::resolve_escape(&value[at + 1..], &mut text);
                if let Some(w) = warning {
                    self.ctx.error(format_args!("warning: {w}"));
                }
                at += 1 + used;
            } else {
                text.push(value[at]);
                at += 1;
            }
        }
        let v = AwkValue::Input(AwkText::from_vec(text));
        let code = self.code.clone();
        let Some(n) = code.globals.iter().position(|g| g == name) else { return Ok(()) };
        match Special::from_index(n as u32) {
            Some(s) if s.is_watched() => self.store_special(s, v),
            _ => self.store_target(AssignableTarget::Global(n as u32), ElementAddress::None, v),
        }
    }

    /// Compiles a dynamic pattern from a value.
    pub(super) fn pattern_from(&mut self, v: &AwkValue) -> Result<Rc<box_text::regex::Regex>> {
        match v {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => {
                self.regexes.dynamic_regex(t)
            }
            other => {
                let t = other.text(&self.convfmt);
                self.regexes.dynamic_regex(&t)
            }
        }
    }
}

/// Returns the numeric value. With `non_decimal` (`-n`), input may be octal or hexadecimal.
#[inline]
pub(super) fn number_of(v: &AwkValue, non_decimal: bool) -> f64 {
    match v {
        AwkValue::Input(t) | AwkValue::Str(t) if non_decimal => super::bits::parse_strtonum(t),
        other => other.num(),
    }
}

/// The address of an element or field.
pub(super) enum ElementAddress {
    None,
    Field(usize),
    Element(ArrayRef, AwkKey),
    Symbol(AssignableTarget),
}

/// Returns the scalar of an element; an array that was never used as an array becomes unset again.
#[inline]
pub(super) fn scalar_slot(slot: &mut ElementSlot) -> Result<&mut AwkValue> {
    if let ElementSlot::Array(a) = slot
        && a.borrow().untyped
    {
        *slot = ElementSlot::Value(AwkValue::Uninit);
    }
    match slot {
        ElementSlot::Value(v) => Ok(v),
        ElementSlot::Array(_) => Err(inner_as_scalar()),
    }
}

pub(super) fn inner_as_scalar() -> AwkRunError {
    AwkRunError::fatal("attempt to use array in a scalar context")
}

/// Creates the format of CONVFMT or OFMT, within the bounds that `printf` has.
fn number_format(text: &[u8]) -> Result<NumberFormat> {
    let format = NumberFormat::new(text);
    if format.width() > MAX_WIDTH { Err(too_wide()) } else { Ok(format) }
}

/// Parses FIELDWIDTHS, for example `3 2:4 *`.
fn parse_widths(text: &[u8]) -> Result<Vec<(usize, Option<usize>)>> {
    let bad = || {
        let shown = String::from_utf8_lossy(text);
        AwkRunError::fatal(format!("invalid FIELDWIDTHS value, for field, near `{shown}'"))
    };
    let number = |t: &[u8]| -> Result<usize> {
        let n: usize = std::str::from_utf8(t).ok().and_then(|t| t.parse().ok()).ok_or_else(bad)?;
        Ok(n.min(MAX_FIELDS))
    };
    let mut list = Vec::new();
    for word in text.split(|c| matches!(c, b' ' | b'\t' | b'\n')).filter(|w| !w.is_empty()) {
        let (skip, width) = match word.iter().position(|c| *c == b':') {
            Some(n) => (number(&word[..n])?, &word[n + 1..]),
            None => (0, word),
        };
        list.push((skip, if width == b"*" { None } else { Some(number(width)?) }));
    }
    Ok(list)
}
