//! Compound array assignment: `name=(...)`, `name+=(...)` (bash manual 6.7).

use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{Attributes, OwnedKey, Str};
use sh_syntax::ast::{ArrayElement, Subscript};

use super::assign::{Result, bad_subscript};
use super::options::SetOpt;
use super::vars::{Dynamic, Slot, Var, decimal};
use crate::Shell;

/// `[]`
pub(super) fn is_empty_subscript(subscript: &Subscript) -> bool {
    matches!(subscript, Subscript::Expr(e) if e.word.raw.is_empty())
}

impl Shell<'_> {
    /// `name=(...)` and `name+=(...)` on the visible variable.
    pub fn set_compound(
        &mut self,
        name: &[u8],
        elements: &[ArrayElement],
        append: bool,
    ) -> Result<()> {
        self.check_writable(name)?;
        let attrs = self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default();
        let assoc = attrs.assoc
            || matches!(self.state.vars.get(name), Some(Var { slot: Slot::Assoc(_), .. }));
        if !assoc && let Some(elements) = sh_expand::brace_elements(self, elements)? {
            return self.set_keyed(name, &elements, append);
        }
        if !assoc && elements.iter().any(|e| e.key.is_some()) {
            return self.set_keyed(name, elements, append);
        }
        let values = sh_expand::compound_elements(self, name, assoc, elements)?;
        self.store_compound(name, assoc, append, values)
    }

    /// An indexed array with subscripts: all values are expanded first, then each subscript is
    /// evaluated with the elements before it already in place.
    fn set_keyed(&mut self, name: &[u8], elements: &[ArrayElement], append: bool) -> Result<()> {
        let mut values = Vec::with_capacity(elements.len());
        for e in elements {
            match &e.key {
                Some(_) => {
                    let value = sh_expand::expand_assignment_value(self, &e.value)?;
                    values.push((Some(e), value));
                }
                None => {
                    let list = std::slice::from_ref(e);
                    for v in sh_expand::compound_elements(self, name, false, list)? {
                        values.push((None, v.value));
                    }
                }
            }
        }
        self.store_compound(name, false, append, Vec::new())?;
        let mut next = match self.state.vars.get(name).map(|v| &v.slot) {
            Some(Slot::Indexed(a)) => a.max_index().map_or(0, |m| m.saturating_add(1)),
            _ => 0,
        };
        for (e, value) in values {
            if e.and_then(|e| e.key.as_ref()).is_some_and(is_empty_subscript) {
                self.error(&[b"[]=", &value, b": bad array subscript"]);
                continue;
            }
            let (key, plus) = match e.and_then(|e| e.key.as_ref().map(|k| (k, e.append))) {
                Some((k, plus)) => (sh_expand::element_key(self, name, k)?, plus),
                None => (OwnedKey::Index(next), false),
            };
            let index = match (&key, self.state.vars.get(name).map(|v| &v.slot)) {
                (OwnedKey::Index(i), Some(Slot::Indexed(a))) => a.resolve(*i).unwrap_or(*i),
                _ => next,
            };
            self.set_array_element(name, &key, plus, value)?;
            next = index.saturating_add(1);
        }
        Ok(())
    }

    pub(crate) fn store_compound(
        &mut self,
        name: &[u8],
        assoc: bool,
        append: bool,
        values: Vec<sh_expand::CompoundElement>,
    ) -> Result<()> {
        let attrs = self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default();
        let plain = !(attrs.integer || attrs.lowercase || attrs.uppercase || attrs.capitalize);
        if let Some(Var { slot: Slot::Dynamic(d), .. }) = self.state.vars.get(name)
            && !matches!(d, Dynamic::BashAliases | Dynamic::BashCmds)
        {
            return Ok(());
        }
        let allexport = self.state.options.has(SetOpt::AllExport);
        if assoc {
            // Without `+=` before the list, `[k]+=v` in it still adds to the old element.
            let (mut array, old) = match self.state.vars.get_mut(name).map(|v| &mut v.slot) {
                Some(Slot::Assoc(a)) if append => (std::mem::take(Rc::make_mut(a)), None),
                Some(Slot::Assoc(a)) => (AssocArray::new(), Some(a.clone())),
                _ => (AssocArray::new(), None),
            };
            for e in values {
                let Some(OwnedKey::Name(key)) = e.key else { continue };
                if key.is_empty() {
                    // bash says so and goes on.
                    self.error(&[b"[]=", &e.value, b": bad array subscript"]);
                    continue;
                }
                let mut value = e.value;
                if e.append
                    && let Some(old) = old.as_deref().unwrap_or(&array).get(&key)
                {
                    value = self.joined(attrs, old.clone(), value)?;
                }
                let value = if plain { value } else { self.converted(attrs, value)? };
                array.set(&key, value);
            }
            let v = self.state.vars.entry(name);
            v.attrs.assoc = true;
            v.slot = Slot::Assoc(Rc::new(array));
        } else {
            let mut array = match self.state.vars.get_mut(name).map(|v| &mut v.slot) {
                Some(Slot::Indexed(a)) if append => std::mem::take(Rc::make_mut(a)),
                Some(slot @ (Slot::Scalar(_) | Slot::Int(_))) if append => {
                    let old = std::mem::replace(slot, Slot::Unset);
                    let var = Var { slot: old, attrs, level: 0 };
                    var.text().into_iter().collect()
                }
                _ => IndexedArray::new(),
            };
            let mut next = array.max_index().map_or(0, |m| m.saturating_add(1));
            for e in values {
                let index = match e.key {
                    Some(OwnedKey::Index(i)) => match array.resolve(i) {
                        Some(i) => i,
                        None => return Err(bad_subscript(name, i)),
                    },
                    _ => next,
                };
                let mut value = e.value;
                if e.append
                    && let Some(old) = array.get(index)
                {
                    value = self.joined(attrs, old.clone(), value)?;
                }
                let value = if plain { value } else { self.converted(attrs, value)? };
                array.set(index, value);
                next = index.saturating_add(1);
            }
            let v = self.state.vars.entry(name);
            v.attrs.indexed = true;
            v.slot = Slot::Indexed(Rc::new(array));
        }
        if allexport {
            self.state.vars.entry(name).attrs.export = true;
        }
        self.after_set(name);
        Ok(())
    }

    fn joined(&mut self, attrs: Attributes, old: Str, add: Str) -> Result<Str> {
        if attrs.integer {
            let a = sh_expand::arith::eval_text(self, &old)?;
            let b = sh_expand::arith::eval_text(self, &add)?;
            return Ok(Rc::new(decimal(a.wrapping_add(b))));
        }
        let mut text = old.to_vec();
        text.extend_from_slice(&add);
        Ok(Rc::new(text))
    }
}
