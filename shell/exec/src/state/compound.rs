//! Compound array assignment: `name=(...)`, `name+=(...)` (bash manual 6.7).
//!
//! All words of the list are expanded first. Then the elements are assigned one after another, so
//! that the subscripts of an indexed array and the expressions of integers see the earlier
//! elements.

use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{Attributes, CompoundElement, ErrorReach, ExpandError, OwnedKey, Str};
use sh_syntax::ast::{ArrayElement, Subscript};

use super::assign::Result;
use super::options::SetOpt;
use super::vars::{ShellVar, VarSlot};
use crate::Shell;

/// Returns whether a subscript is the empty `[]`.
pub(super) fn is_empty_subscript(subscript: &Subscript) -> bool {
    matches!(subscript, Subscript::Expr(e) if e.word.raw.is_empty())
}

/// Returns an element in the form that messages show.
fn element_text(element: &CompoundElement) -> Vec<u8> {
    let Some(key) = &element.key else { return element.value.to_vec() };
    let sign: &[u8] = if element.append { b"]+=" } else { b"]=" };
    [b"[", key.as_slice(), sign, &element.value].concat()
}

impl Shell<'_> {
    /// Performs `name=(...)` and `name+=(...)` on the visible variable.
    ///
    /// # Errors
    /// Fails for a readonly variable, and with the errors of the expansions, of subscripts and of
    /// values that must be numbers.
    pub fn set_compound(
        &mut self,
        name: &[u8],
        elements: &[ArrayElement],
        append: bool,
    ) -> Result<()> {
        self.check_writable(name)?;
        let assoc = self.is_assoc(name);
        let elements = sh_expand::compound_elements(self, assoc, elements)?;
        self.set_elements(name, elements, append)
    }

    /// Assigns elements that were expanded for the variable's kind.
    pub(crate) fn set_elements(
        &mut self,
        name: &[u8],
        elements: Vec<CompoundElement>,
        append: bool,
    ) -> Result<()> {
        let done = if self.is_assoc(name) {
            self.set_assoc(name, elements, append)
        } else {
            self.set_indexed(name, elements, append)
        };
        self.after_set(name);
        done
    }

    pub(crate) fn is_assoc(&self, name: &[u8]) -> bool {
        self.state.vars.get(name).is_some_and(ShellVar::is_assoc)
    }

    /// Assigns the elements of an indexed array. Elements before one that fails keep their new
    /// values.
    fn set_indexed(
        &mut self,
        name: &[u8],
        elements: Vec<CompoundElement>,
        append: bool,
    ) -> Result<()> {
        let attrs = self.state.vars.get(name).map(|v| v.attrs).unwrap_or_default();
        let v = self.state.vars.entry_or_insert(name);
        if matches!(v.slot, VarSlot::Dynamic(_)) {
            // FUNCNAME, DIRSTACK and similar variables ignore the assignment.
            return Ok(());
        }
        let mut array = match (&mut v.slot, append) {
            (_, false) => IndexedArray::new(),
            (VarSlot::Indexed(array), true) => std::mem::take(Rc::make_mut(array)),
            // A scalar becomes the first element.
            (_, true) => v.text().into_iter().collect(),
        };
        let mut next = array.max_index().map_or(0, |max| max.saturating_add(1));
        let plain = !attrs.intersects(Attributes::INTEGER)
            && elements.iter().all(|element| element.key.is_none());
        if plain {
            // No code reads the array in the meantime.
            for element in elements {
                array.set(next, self.convert_value(attrs, element.value)?);
                next = next.saturating_add(1);
            }
            self.put_indexed(name, array);
            return Ok(());
        }
        self.put_indexed(name, array);
        for element in elements {
            let index = match &element.key {
                None => next,
                Some(key) => match self.index_of(name, key, &element)? {
                    Some(index) => index,
                    None => continue,
                },
            };
            self.set_array_element(name, &OwnedKey::Index(index), element.append, element.value)?;
            next = index.saturating_add(1);
        }
        Ok(())
    }

    fn put_indexed(&mut self, name: &[u8], array: IndexedArray) {
        let v = self.state.vars.entry_or_insert(name);
        v.attrs |= Attributes::INDEXED;
        v.slot = VarSlot::Indexed(Rc::new(array));
    }

    /// Returns the index that a key means; `None` after an error message about an impossible
    /// element.
    fn index_of(
        &mut self,
        name: &[u8],
        key: &[u8],
        element: &CompoundElement,
    ) -> Result<Option<i64>> {
        let wrong: &[u8] = match key {
            b"" => b": bad array subscript",
            b"@" | b"*" => b": cannot assign to non-numeric index",
            _ => {
                let index = sh_expand::element_index(self, key)?;
                let place = match self.state.vars.get(name).map(|v| &v.slot) {
                    Some(VarSlot::Indexed(array)) => array.resolve(index),
                    _ => Some(index),
                };
                if place.is_some() {
                    return Ok(place);
                }
                b": bad array subscript"
            }
        };
        self.element_error(&[&element_text(element), wrong])?;
        Ok(None)
    }

    /// Assigns the elements of an associative array. Elements before one that fails keep their new
    /// values.
    fn set_assoc(
        &mut self,
        name: &[u8],
        elements: Vec<CompoundElement>,
        append: bool,
    ) -> Result<()> {
        let v = self.state.vars.entry_or_insert(name);
        let keeps =
            append && matches!(v.slot, VarSlot::Assoc(_)) || matches!(v.slot, VarSlot::Dynamic(_));
        if !keeps {
            v.attrs |= Attributes::ASSOC;
            v.slot = VarSlot::Assoc(Rc::new(AssocArray::new()));
        }
        for element in elements {
            match &element.key {
                None => {
                    let message = b": must use subscript when assigning associative array";
                    self.element_error(&[name, b": ", &element.value, message])?;
                }
                Some(key) if key.is_empty() => {
                    self.element_error(&[&element_text(&element), b": bad array subscript"])?;
                }
                Some(key) => {
                    let key = OwnedKey::Name(key.to_vec());
                    self.set_array_element(name, &key, element.append, element.value)?;
                }
            }
        }
        Ok(())
    }

    /// Reports an impossible element. The remaining elements are still assigned, except in a shell
    /// that exits on errors.
    fn element_error(&mut self, message: &[&[u8]]) -> Result<()> {
        self.print_error(message);
        if self.state.options.has_set(SetOpt::ErrExit) {
            Err(ExpandError::already_printed(ErrorReach::Readonly))
        } else {
            Ok(())
        }
    }

    /// Returns the text of a list that is assigned before a command. An array cannot be exported,
    /// so bash passes the text of the list.
    ///
    /// # Errors
    /// Returns the errors of the expansions.
    pub(crate) fn compound_text(&mut self, list: &[ArrayElement]) -> Result<Str> {
        let mut out = b"(".to_vec();
        for (at, element) in list.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            if let Some(key) = &element.key {
                out.push(b'[');
                out.extend_from_slice(&sh_expand::subscript_text(self, key)?);
                out.extend_from_slice(if element.append { b"]+=" } else { b"]=" });
            }
            out.extend_from_slice(&sh_expand::expand_key(self, &element.value)?);
        }
        out.push(b')');
        Ok(Rc::new(out))
    }
}
