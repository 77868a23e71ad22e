//! Assignment: namerefs, attributes, array elements, and the side effects of assigning some
//! variables (bash manual 3.4, 4.2 `declare`, 5).

use std::borrow::Cow;
use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{
    Attributes, ElementKey, ErrorReach, ExpandCause, ExpandEnv as _, ExpandError, OwnedKey, Str,
};
use sh_syntax::ast::{AssignValue, Assignment, CaseKind, Subscript, WordPart};

use super::options::SetOpt;
use super::vars::{OUTERMOST, ShellVar, VarSlot, decimal_digits};
use crate::Shell;

pub(super) type Result<T> = std::result::Result<T, ExpandError>;

/// The maximum length of a chain of namerefs.
pub(crate) const MAX_NAMEREFS: usize = 8;

/// Returns the error for assigning a list to an array member, as in `a[1]=(...)`.
pub(crate) fn list_to_member(name: &[u8], subscript: &[u8]) -> ExpandError {
    ExpandCause::ListToMember([name, &bracket_subscript(subscript)].concat()).into()
}

fn readonly_error(name: &[u8]) -> ExpandError {
    ExpandError::readonly_variable(shown_name(name))
}

/// Returns a name in the form that messages show.
pub(crate) fn shown_name(name: &[u8]) -> &[u8] {
    name.strip_prefix(&[OUTERMOST]).unwrap_or(name)
}

/// The target of an assignment after namerefs are followed.
pub struct AssignTarget<'a> {
    pub name: Cow<'a, [u8]>,
    /// The subscript of a nameref such as `a[2]`.
    pub subscript: Option<Str>,
}

/// Returns whether a text has the form of a name or of an array element, for example `a` or `a[2]`.
pub(crate) fn is_reference(text: &[u8]) -> bool {
    let (name, subscript) = split_reference(text);
    is_name(name) && subscript != Some(b"")
}

/// Splits `name[sub]` into name and subscript. The subscript is `None` if there is none, or if its
/// closing bracket is not at the end of the text.
pub fn split_reference(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let Some(at) = memchr::memchr(b'[', text).filter(|_| text.ends_with(b"]")) else {
        return (text, None);
    };
    let inside = &text[at + 1..];
    match sh_expand::closing_bracket(inside) {
        Some(end) if end + 1 == inside.len() => (&text[..at], Some(&inside[..end])),
        _ => (text, None),
    }
}

/// Returns whether the text is a name (POSIX XBD 3.216).
pub fn is_name(text: &[u8]) -> bool {
    matches!(text.first(), Some(c) if c.is_ascii_alphabetic() || *c == b'_')
        && text.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_')
}

impl Shell<'_> {
    /// Follows namerefs from `name`.
    pub fn follow_nameref<'n>(&self, name: &'n [u8]) -> Result<AssignTarget<'n>> {
        match self.state.vars.get(name) {
            Some(v) if v.attrs.intersects(Attributes::NAMEREF) => {}
            _ => return Ok(AssignTarget { name: Cow::Borrowed(name), subscript: None }),
        }
        let mut at: Vec<u8> = name.to_vec();
        for _ in 0..MAX_NAMEREFS {
            let next = match self.state.vars.get(&at) {
                Some(v) if v.attrs.intersects(Attributes::NAMEREF) => v.text(),
                _ => return Ok(AssignTarget { name: Cow::Owned(at), subscript: None }),
            };
            let Some(next) = next.filter(|n| !n.is_empty()) else {
                return Ok(AssignTarget { name: Cow::Owned(at), subscript: None });
            };
            let (base, sub) = split_reference(&next);
            if let Some(sub) = sub {
                let name = Cow::Owned(base.to_vec());
                return Ok(AssignTarget { name, subscript: Some(Rc::new(sub.to_vec())) });
            }
            at = if base == at {
                // A local nameref to its own name refers to the global variable.
                [&[OUTERMOST], base].concat()
            } else {
                base.to_vec()
            };
        }
        let circular = ExpandError::from(ExpandCause::CircularReference(name.to_vec()));
        if self.state.vars.function_level().is_none() || name.first() == Some(&OUTERMOST) {
            return Err(circular);
        }
        // In functions, a circular reference means the global variable.
        self.print_warning(&circular.message());
        Ok(AssignTarget { name: Cow::Owned([&[OUTERMOST], name].concat()), subscript: None })
    }

    pub(crate) fn check_writable(&self, name: &[u8]) -> Result<()> {
        match self.state.vars.get(name) {
            Some(v) if v.attrs.intersects(Attributes::READONLY) => Err(readonly_error(name)),
            _ => Ok(()),
        }
    }

    /// Checks that an element, a list or an assignment before a command may be written. Messages
    /// about these show the name as it was written, not the target of a nameref.
    pub(crate) fn check_array_writable(&self, base: &[u8], written: &[u8]) -> Result<()> {
        self.check_writable(base).map_err(|_| readonly_error(written))
    }

    /// Converts the value as the attributes require.
    pub(crate) fn convert_value(&mut self, attrs: Attributes, value: Str) -> Result<Str> {
        if attrs.intersects(Attributes::INTEGER) {
            let n = sh_expand::arith::eval_text(self, &value)?;
            return Ok(Rc::new(decimal_digits(n)));
        }
        let (first, rest) = if attrs.intersects(Attributes::LOWERCASE) {
            (None, CaseKind::Lower)
        } else if attrs.intersects(Attributes::UPPERCASE) {
            (None, CaseKind::Upper)
        } else if attrs.intersects(Attributes::CAPITALIZE) {
            (Some(CaseKind::Upper), CaseKind::Lower)
        } else {
            return Ok(value);
        };
        let utf8 = !self.state.options.expand().c_locale;
        Ok(sh_expand::in_case(&value, first, rest, utf8))
    }

    /// Assigns to a scalar, or to element 0 of an array. `name` is a base name.
    pub fn set_scalar(&mut self, name: &[u8], value: Str) -> Result<()> {
        if self.state.here.own_scope.is_some() {
            self.set_beneath(name, &value)?;
        }
        self.put_scalar(name, value)
    }

    /// Repeats a builtin's assignment on a hidden variable, if the visible one was set by an
    /// assignment before the builtin.
    fn set_beneath(&mut self, name: &[u8], value: &Str) -> Result<()> {
        let Some(v) = self.state.vars.get(name) else { return Ok(()) };
        if Some(v.level) != self.state.here.own_scope {
            return Ok(());
        }
        let (above, level) = (v.clone(), v.level);
        self.state.vars.reveal_hidden(name, level);
        let done = self.put_scalar(name, value.clone());
        *self.state.vars.declare_var(name, level) = above;
        done
    }

    /// Assigns to the visible variable alone, without side effects.
    pub(crate) fn put_scalar(&mut self, name: &[u8], value: Str) -> Result<()> {
        let allexport = self.state.options.has_set(SetOpt::AllExport);
        // The common case, an existing plain scalar, needs only one lookup.
        if let Some(v) = self.state.vars.get(name) {
            let a = v.attrs;
            if a.intersects(Attributes::READONLY) {
                return Err(readonly_error(name));
            }
            if let VarSlot::Dynamic(d) = v.slot {
                return self.set_dynamic(name, d, &value);
            }
            let begins = a.intersects(Attributes::INTEGER)
                && !a.intersects(Attributes::NAMEREF)
                && !v.is_set();
            let array = v.is_array();
            let value = if a.intersects(Attributes::NAMEREF) {
                value
            } else if begins && array {
                // The array exists even if the value is not a number.
                make_array(self.state.vars.entry_or_insert(name), false);
                self.convert_value(a, value)?
            } else if begins {
                self.first_number(name, a, value)?
            } else {
                self.convert_value(a, value)?
            };
            let Some(v) = self.state.vars.get_mut(name) else { return Ok(()) };
            if a.intersects(Attributes::ARRAY) {
                make_array(v, a.intersects(Attributes::ASSOC));
            }
            match &mut v.slot {
                VarSlot::Indexed(array) => Rc::make_mut(array).set(0, value),
                VarSlot::Assoc(array) => Rc::make_mut(array).set(b"0", value),
                slot => *slot = VarSlot::Scalar(value),
            }
            if allexport {
                v.attrs |= Attributes::EXPORT;
            }
            if a.intersects(Attributes::EXPORT) || allexport {
                self.state.vars.touch_env();
            }
        } else {
            let v = self.state.vars.entry_or_insert(name);
            v.slot = VarSlot::Scalar(value);
            if allexport {
                v.attrs |= Attributes::EXPORT;
                self.state.vars.touch_env();
            }
        }
        self.after_set(name);
        Ok(())
    }

    /// Assigns the first value of an integer variable. The variable exists but is null while its
    /// expression is evaluated.
    fn first_number(&mut self, name: &[u8], attrs: Attributes, value: Str) -> Result<Str> {
        let put = |shell: &mut Self, slot| {
            if let Some(v) = shell.state.vars.get_mut(name) {
                v.slot = slot;
            }
        };
        put(self, VarSlot::Scalar(Str::default()));
        let number = self.convert_value(attrs, value);
        put(self, VarSlot::Unset);
        number
    }

    /// Assigns a number; returns `false` if the slow path must do it.
    #[inline]
    pub fn set_number(&mut self, name: &[u8], value: i64) -> Result<bool> {
        let Some(v) = self.state.vars.get(name) else { return Ok(false) };
        // `-i` has no effect on the assignment of a number, and `-t` has no effect on variables.
        if !(v.attrs - Attributes::INTEGER - Attributes::TRACE).is_empty() {
            return Ok(false);
        }
        if !matches!(v.slot, VarSlot::Int(_) | VarSlot::Scalar(_)) || is_special(name) {
            return Ok(false);
        }
        if self.state.options.has_set(SetOpt::AllExport) {
            return Ok(false);
        }
        if let Some(v) = self.state.vars.get_mut(name) {
            v.slot = VarSlot::Int(value);
        }
        Ok(true)
    }

    /// Performs `name+=value`.
    pub fn append_scalar(&mut self, name: &[u8], value: Str) -> Result<()> {
        let Some(v) = self.state.vars.get(name) else { return self.set_scalar(name, value) };
        let a = v.attrs;
        if a.intersects(Attributes::READONLY) {
            return Err(readonly_error(name));
        }
        if matches!(v.slot, VarSlot::Dynamic(_)) {
            let mut text = self.text_of(name).unwrap_or_default().to_vec();
            text.extend_from_slice(&value);
            return self.set_scalar(name, Rc::new(text));
        }
        if a.intersects(Attributes::INTEGER) {
            let old = v.text().unwrap_or_default();
            let old = sh_expand::arith::eval_text(self, &old)?;
            let add = sh_expand::arith::eval_text(self, &value)?;
            return self.set_scalar(name, Rc::new(decimal_digits(old.wrapping_add(add))));
        }
        if a.intersects(Attributes::CASES) || v.is_array() || !v.is_set() {
            let mut text = v.text().map(|t| t.to_vec()).unwrap_or_default();
            text.extend_from_slice(&value);
            return self.set_scalar(name, Rc::new(text));
        }
        let allexport = self.state.options.has_set(SetOpt::AllExport);
        let Some(v) = self.state.vars.get_mut(name) else { return Ok(()) };
        if let VarSlot::Scalar(s) = &v.slot
            && (s.len() + value.len()) as u64 > self.budget.limits.expansion_bytes
        {
            return Err(ExpandCause::TooLarge.into());
        }
        match &mut v.slot {
            VarSlot::Int(n) => {
                let mut text = decimal_digits(*n);
                text.extend_from_slice(&value);
                v.slot = VarSlot::Scalar(Rc::new(text));
            }
            VarSlot::Scalar(s) => Rc::make_mut(s).extend_from_slice(&value),
            _ => {}
        }
        v.attrs.set(Attributes::EXPORT, a.intersects(Attributes::EXPORT) || allexport);
        if a.intersects(Attributes::EXPORT) || allexport {
            self.state.vars.touch_env();
        }
        self.after_set(name);
        Ok(())
    }

    /// Assigns to an array element; a scalar becomes element 0 of a new array.
    pub fn set_array_element(
        &mut self,
        name: &[u8],
        key: &OwnedKey,
        append: bool,
        value: Str,
    ) -> Result<()> {
        let attrs = self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default();
        if attrs.intersects(Attributes::NAMEREF) {
            // The variable is a nameref without a target.
            return Err(ExpandError::not_an_identifier(b""));
        }
        if let Some(ShellVar { slot: VarSlot::Dynamic(d), .. }) = self.state.vars.get(name) {
            let d = *d;
            self.check_writable(name)?;
            return self.set_dynamic_element(name, d, key, value);
        }
        // The key is checked before the value is evaluated.
        check_key(self.state.vars.get(name), name, key)?;
        self.check_writable(name)?;
        let old = if append { self.element_text(name, key) } else { None };
        let value = match old {
            None => self.convert_value(attrs, value)?,
            Some(old) if attrs.intersects(Attributes::INTEGER) => {
                let a = sh_expand::arith::eval_text(self, &old)?;
                let b = sh_expand::arith::eval_text(self, &value)?;
                Rc::new(decimal_digits(a.wrapping_add(b)))
            }
            Some(old) if attrs.intersects(Attributes::CASES) => {
                self.convert_value(attrs, Rc::new([old.as_slice(), &value].concat()))?
            }
            Some(_) => return self.append_element(name, key, &value),
        };
        let v = self.state.vars.entry_or_insert(name);
        make_array(v, matches!(key, OwnedKey::Name(_)));
        match (&mut v.slot, key) {
            (VarSlot::Indexed(a), OwnedKey::Index(i)) => {
                let a = Rc::make_mut(a);
                let Some(i) = a.resolve(*i) else { return Err(bad_subscript(name, *i)) };
                a.set(i, value);
            }
            (VarSlot::Assoc(a), OwnedKey::Name(k)) => Rc::make_mut(a).set(k, value),
            (VarSlot::Assoc(a), OwnedKey::Index(i)) => {
                Rc::make_mut(a).set(&decimal_digits(*i), value)
            }
            _ => {}
        }
        self.after_set(name);
        Ok(())
    }

    fn append_element(&mut self, name: &[u8], key: &OwnedKey, add: &[u8]) -> Result<()> {
        let v = self.state.vars.entry_or_insert(name);
        match (&mut v.slot, key) {
            (VarSlot::Indexed(a), OwnedKey::Index(i)) => {
                let a = Rc::make_mut(a);
                let Some(i) = a.resolve(*i) else { return Err(bad_subscript(name, *i)) };
                // The text is taken out of the array first, so that it has only one owner and grows
                // in place.
                let mut text = a.get(i).cloned().unwrap_or_default();
                a.unset(i);
                Rc::make_mut(&mut text).extend_from_slice(add);
                a.set(i, text);
            }
            (VarSlot::Assoc(a), OwnedKey::Name(k)) => {
                let a = Rc::make_mut(a);
                let mut text = a.get(k).map(|t| t.to_vec()).unwrap_or_default();
                text.extend_from_slice(add);
                a.set(k, Rc::new(text));
            }
            (VarSlot::Int(_) | VarSlot::Scalar(_), OwnedKey::Index(0)) => {
                make_array(v, false);
                return self.append_element(name, key, add);
            }
            _ => {}
        }
        self.after_set(name);
        Ok(())
    }

    /// Returns the text of an element, even of a computed array.
    pub fn element_text(&mut self, name: &[u8], key: &OwnedKey) -> Option<Str> {
        match (self.get(name)?, key) {
            (sh_expand::VarValue::Scalar(s), OwnedKey::Index(0 | -1)) => Some(s),
            (sh_expand::VarValue::Indexed(a), OwnedKey::Index(i)) => a.get(a.resolve(*i)?).cloned(),
            (sh_expand::VarValue::Assoc(a), OwnedKey::Name(k)) => a.get(k).cloned(),
            (sh_expand::VarValue::Assoc(a), OwnedKey::Index(i)) => {
                a.get(&decimal_digits(*i)).cloned()
            }
            _ => None,
        }
    }

    /// Performs an assignment from the source on the visible variable.
    pub fn perform_assignment(&mut self, a: &Assignment) -> Result<()> {
        // `i=$((...))` assigns the number to a plain variable without converting it to text.
        if let (AssignValue::Scalar(word), None, false) = (&a.value, &a.subscript, a.append)
            && let [WordPart::Arith(arith)] = word.parts.as_slice()
        {
            let n = sh_expand::arith::eval_arith(self, arith)?;
            if self.is_tracing() {
                self.trace_assignment(a, Some(&Rc::new(decimal_digits(n))));
            }
            if !self.set_number(&a.name, n)? {
                self.assign_scalar_to(&a.name, None, false, Rc::new(decimal_digits(n)))?;
            }
            return Ok(());
        }
        match &a.value {
            AssignValue::Scalar(word) => {
                let value = sh_expand::expand_assignment_value(self, word)?;
                if self.is_tracing() {
                    self.trace_assignment(a, Some(&value));
                }
                self.assign_scalar_to(&a.name, a.subscript.as_ref(), a.append, value)
            }
            AssignValue::Array(elements) => {
                if let Some(subscript) = &a.subscript {
                    return Err(list_to_member(&a.name, subscript.text()));
                }
                if self.is_tracing() {
                    self.trace_assignment(a, None);
                }
                let target = self.follow_nameref(&a.name)?;
                if let Some(subscript) = &target.subscript {
                    let written = [&target.name, bracket_subscript(subscript).as_slice()].concat();
                    return Err(ExpandCause::NotAnIdentifier(written).into());
                }
                let name = target.name.into_owned();
                if let Some(v) = self
                    .state
                    .vars
                    .get_mut(&name)
                    .filter(|v| v.attrs.intersects(Attributes::NAMEREF))
                {
                    // bash prints a warning and removes the attribute.
                    v.attrs -= Attributes::NAMEREF;
                    v.slot = VarSlot::Unset;
                    self.print_error(&[b"warning: ", &name, b": removing nameref attribute"]);
                }
                self.check_array_writable(&name, &a.name)?;
                // The array is made before its elements are evaluated.
                let v = self.state.vars.entry_or_insert(&name);
                if !matches!(v.slot, VarSlot::Dynamic(_)) && !v.is_array() {
                    make_array(v, false);
                }
                self.set_compound(&name, elements, a.append)
            }
        }
    }

    /// Assigns a value to `name` or `name[subscript]`, following namerefs.
    pub fn assign_scalar_to(
        &mut self,
        name: &[u8],
        subscript: Option<&Subscript>,
        append: bool,
        value: Str,
    ) -> Result<()> {
        // If this is not a nameref, nothing has to be copied.
        if subscript.is_none()
            && self.state.vars.get(name).is_none_or(|v| !v.attrs.intersects(Attributes::NAMEREF))
        {
            return self.put_text(name, append, value);
        }
        let target = self.follow_nameref(name)?;
        let base = target.name.into_owned();
        match (subscript, target.subscript) {
            (Some(sub), None) => {
                if super::compound::is_empty_subscript(sub) {
                    return Err(ExpandError::bad_subscript(name, b""));
                }
                let key = sh_expand::subscript_key(self, &base, sub)?;
                if let (OwnedKey::Name(text), Subscript::Expr(e)) = (&key, sub)
                    && text.is_empty()
                {
                    return Err(ExpandError::bad_subscript(name, &e.word.raw));
                }
                self.set_array_element(&base, &key, append, value).map_err(|error| {
                    if error.reach() == ErrorReach::Readonly {
                        return readonly_error(name);
                    }
                    as_written(error, name, sub.text())
                })
            }
            (None, Some(sub)) => {
                let key = sh_expand::subscript_text_key(self, &base, &sub)?;
                self.set_array_element(&base, &key, append, value)
                    .map_err(|error| as_written(error, &base, &sub))
            }
            (Some(_), Some(sub)) => {
                let written = [base.as_slice(), &bracket_subscript(&sub)].concat();
                Err(ExpandCause::NotAnIdentifier(written).into())
            }
            (None, None) => {
                // A nameref without a target takes the value as its target.
                let takes = self
                    .state
                    .vars
                    .get(&base)
                    .is_some_and(|v| v.attrs.intersects(Attributes::NAMEREF));
                if takes && !is_name(split_reference(&value).0) {
                    return Err(ExpandError::not_an_identifier(&value));
                }
                self.put_text(&base, append, value)
            }
        }
    }

    /// Performs `name=value` or `name+=value` on a base name.
    fn put_text(&mut self, name: &[u8], append: bool, value: Str) -> Result<()> {
        if append { self.append_scalar(name, value) } else { self.set_scalar(name, value) }
    }

    /// Assigns to the variable or element that the text `name` or `name[sub]` refers to (`read`,
    /// `printf -v`, `for`).
    pub fn assign_reference(&mut self, reference: &[u8], value: Str) -> Result<()> {
        let (name, sub) = split_reference(reference);
        match sub {
            None => self.assign_scalar_to(name, None, false, value),
            Some(sub) => {
                let target = self.follow_nameref(name)?;
                let base = target.name.into_owned();
                let key = sh_expand::subscript_text_key(self, &base, sub)?;
                self.set_array_element(&base, &key, false, value).map_err(|error| {
                    if error.reach() == ErrorReach::Readonly {
                        readonly_error(name)
                    } else {
                        as_written(error, &base, sub)
                    }
                })
            }
        }
    }

    /// Replaces a variable by an indexed array (`read -a`, `mapfile`, BASH_REMATCH).
    pub fn set_array(&mut self, name: &[u8], array: IndexedArray) -> Result<()> {
        self.check_writable(name)?;
        let v = self.state.vars.entry_or_insert(name);
        v.attrs |= Attributes::INDEXED;
        v.slot = VarSlot::Indexed(Rc::new(array));
        Ok(())
    }

    /// Returns the text of a scalar or of element 0, even of a computed variable.
    pub fn text_of(&mut self, name: &[u8]) -> Option<Str> {
        match self.state.vars.get(name)? {
            ShellVar { slot: VarSlot::Dynamic(_), .. } => match self.get(name)? {
                sh_expand::VarValue::Scalar(s) => Some(s),
                sh_expand::VarValue::Indexed(a) => a.get(0).cloned(),
                sh_expand::VarValue::Assoc(a) => a.get(b"0").cloned(),
            },
            v => v.text(),
        }
    }

    /// Returns a variable for the shell's own use, following namerefs; `None` if it is unset.
    pub fn variable_text(&mut self, name: &[u8]) -> Option<Str> {
        let target = self.follow_nameref(name).ok()?;
        let name = target.name.into_owned();
        self.text_of(&name)
    }

    /// Sets a variable for the shell itself, ignoring failures such as a readonly variable.
    pub fn set_quietly(&mut self, name: &[u8], value: &[u8]) {
        let _ = self.set_scalar(name, Rc::new(value.to_vec()));
    }

    /// Performs the side effects of assigning certain variables.
    pub(crate) fn after_set(&mut self, name: &[u8]) {
        let name = shown_name(name);
        if !is_special(name) {
            return;
        }
        match name {
            b"PATH" => self.state.commands.forget_all(),
            b"OPTIND" => {
                let text = self.text_of(b"OPTIND").unwrap_or_default();
                let n = sh_expand::arith::plain_integer(&text).unwrap_or(1).max(1);
                self.state.getopts = super::GetOpts { index: n as usize - 1, offset: 0 };
            }
            b"LC_ALL" | b"LC_CTYPE" | b"LANG" => self.sync_locale(),
            b"POSIXLY_CORRECT" => {
                let on = self.state.vars.get(name).is_some();
                self.state.options.switch_set(SetOpt::Posix, on);
            }
            b"GLOBIGNORE" => {
                let on = self.text_of(name).is_some_and(|t| !t.is_empty());
                self.state.options.put_shopt(super::options::ShOpt::DotGlob, on);
            }
            _ => {}
        }
    }

    pub(crate) fn sync_locale(&mut self) {
        let mut locale = Str::default();
        for name in [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"] {
            if let Some(v) =
                self.state.vars.get(name).and_then(ShellVar::text).filter(|t| !t.is_empty())
            {
                locale = v;
                break;
            }
        }
        let upper = locale.to_ascii_uppercase();
        // The guest's locale is UTF-8 by default.
        let c = upper == b"C" || upper == b"POSIX";
        self.state.options.set_c_locale(c);
    }
}

/// Refuses a key that no element of the variable can have.
fn check_key(var: Option<&ShellVar>, name: &[u8], key: &OwnedKey) -> Result<()> {
    match (key, var) {
        (OwnedKey::Name(key), _) if key.is_empty() => Err(ExpandError::bad_subscript(name, b"")),
        (OwnedKey::Index(index @ ..0), Some(ShellVar { slot: VarSlot::Indexed(array), .. }))
            if array.resolve(*index).is_some() =>
        {
            Ok(())
        }
        (OwnedKey::Index(index @ ..=-2), _) => Err(bad_subscript(name, *index)),
        (OwnedKey::Index(-1), Some(v)) if v.is_set() && !v.is_array() => Ok(()),
        (OwnedKey::Index(-1), _) => Err(bad_subscript(name, -1)),
        _ => Ok(()),
    }
}

/// Returns whether assigning the name has side effects; cheap for ordinary names.
#[inline]
pub(crate) fn is_special(name: &[u8]) -> bool {
    matches!(name.first(), Some(b'P' | b'O' | b'L' | b'G'))
        && matches!(
            name,
            b"PATH"
                | b"OPTIND"
                | b"LC_ALL"
                | b"LC_CTYPE"
                | b"LANG"
                | b"POSIXLY_CORRECT"
                | b"GLOBIGNORE"
        )
}

pub(super) fn bad_subscript(name: &[u8], index: i64) -> ExpandError {
    ExpandError::bad_subscript(shown_name(name), &decimal_digits(index))
}

/// Rewrites the error about an element so that it shows the subscript as it was written, for
/// example `a[i]` for `a[-3]`.
pub(crate) fn as_written(mut error: ExpandError, name: &[u8], subscript: &[u8]) -> ExpandError {
    if error.is_missing_element() {
        error = ExpandError::bad_subscript(shown_name(name), subscript);
    }
    error
}

pub(crate) fn bracket_subscript(subscript: &[u8]) -> Vec<u8> {
    [b"[", subscript, b"]"].concat()
}

/// Turns a scalar into an array of one element.
pub(crate) fn make_array(v: &mut ShellVar, assoc: bool) {
    let assoc = assoc || v.attrs.intersects(Attributes::ASSOC);
    match &v.slot {
        VarSlot::Indexed(_) | VarSlot::Assoc(_) | VarSlot::Dynamic(_) => return,
        _ => {}
    }
    if assoc {
        let mut a = AssocArray::new();
        if let Some(t) = v.text() {
            a.set(b"0", t);
        }
        v.attrs |= Attributes::ASSOC;
        v.slot = VarSlot::Assoc(Rc::new(a));
    } else {
        let a: IndexedArray = v.text().into_iter().collect();
        v.attrs |= Attributes::INDEXED;
        v.slot = VarSlot::Indexed(Rc::new(a));
    }
}

/// Converts a borrowed key to an owned one.
pub(crate) fn owned_key(key: ElementKey<'_>) -> OwnedKey {
    match key {
        ElementKey::Index(i) => OwnedKey::Index(i),
        ElementKey::Name(n) => OwnedKey::Name(n.to_vec()),
    }
}
