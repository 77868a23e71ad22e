//! `typeof` and `isarray`.

use super::{Cell, Machine, Result};
use crate::array::Slot;
use crate::code::Place;
use crate::special::Special;
use crate::value::Value;

impl Machine<'_, '_> {
    pub(super) fn type_of(&mut self, place: Place, name: bool) {
        let cell = match place {
            Place::Global(n) => match Special::from_index(n) {
                Some(s) if s.computed() => {
                    Cell::Value(self.load_special(s).unwrap_or(Value::Uninit))
                }
                _ => self.globals[n as usize].clone(),
            },
            Place::Local(n) => self.locals[self.base + n as usize].clone(),
            Place::Inner => Cell::Value(Value::Uninit),
        };
        match cell {
            Cell::Array(_) => self.push_type(Err("array"), name),
            Cell::Value(Value::Uninit) => self.push_type(Err("untyped"), name),
            Cell::Value(v) => self.push_type(Ok(v), name),
        }
    }

    pub(super) fn type_of_element(&mut self, place: Place, name: bool) -> Result<()> {
        let (array, key) = self.subscript(place)?;
        let known = match array.borrow_mut().slot(key) {
            Slot::Array(_) => Err("array"),
            Slot::Value(Value::Uninit) => Err("untyped"),
            Slot::Value(v) => Ok(v.clone()),
        };
        self.push_type(known, name);
        Ok(())
    }

    pub(super) fn push_type(&mut self, v: std::result::Result<Value, &'static str>, name: bool) {
        let text = match &v {
            Err(t) => t,
            Ok(Value::Uninit | Value::NoField) => "unassigned",
            Ok(Value::Num(_)) => "number",
            Ok(Value::Str(_)) => "string",
            Ok(Value::Regex(_)) => "regexp",
            Ok(Value::Input(t)) => match crate::value::looks_numeric(t) {
                Some(_) => "strnum",
                None => "string",
            },
        };
        let result = if name { Value::str(text.as_bytes()) } else { Value::bool(text == "array") };
        self.stack.push(result);
    }
}
