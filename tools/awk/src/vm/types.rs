//! `typeof` and `isarray`.

use super::{AwkMachine, GlobalCell, Result};
use crate::array::ElementSlot;
use crate::code::ArrayPlace;
use crate::special::Special;
use crate::value::AwkValue;

impl AwkMachine<'_, '_> {
    pub(super) fn type_of(&mut self, place: ArrayPlace, name: bool) {
        let cell = match place {
            ArrayPlace::Global(n) => match Special::from_index(n) {
                Some(s) if s.is_computed() => {
                    GlobalCell::Value(self.load_special(s).unwrap_or(AwkValue::Uninit))
                }
                _ => self.globals[n as usize].clone(),
            },
            ArrayPlace::Local(n) => self.locals[self.base + n as usize].clone(),
            ArrayPlace::Inner => GlobalCell::Value(AwkValue::Uninit),
        };
        match cell {
            GlobalCell::Array(a) if a.borrow().untyped => self.push_type(Err("untyped"), name),
            GlobalCell::Array(_) => self.push_type(Err("array"), name),
            GlobalCell::Value(AwkValue::Uninit) => self.push_type(Err("untyped"), name),
            GlobalCell::Value(v) => self.push_type(Ok(v), name),
        }
    }

    pub(super) fn type_of_element(&mut self, place: ArrayPlace, name: bool) -> Result<()> {
        let (array, key) = self.pop_subscript(place)?;
        let known = match array.borrow_mut().slot_or_insert(key) {
            ElementSlot::Array(a) if a.borrow().untyped => Err("untyped"),
            ElementSlot::Array(_) => Err("array"),
            ElementSlot::Value(AwkValue::Uninit) => Err("untyped"),
            ElementSlot::Value(v) => Ok(v.clone()),
        };
        self.push_type(known, name);
        Ok(())
    }

    pub(super) fn push_type(&mut self, v: std::result::Result<AwkValue, &'static str>, name: bool) {
        let text = match &v {
            Err(t) => t,
            Ok(AwkValue::Uninit | AwkValue::NoField) => "unassigned",
            Ok(AwkValue::Num(_)) => "number",
            Ok(AwkValue::Str(_)) => "string",
            Ok(AwkValue::Regex(_)) => "regexp",
            Ok(AwkValue::Input(t)) => match t.whole_number() {
                Some(_) => "strnum",
                None => "string",
            },
        };
        let result =
            if name { AwkValue::str(text.as_bytes()) } else { AwkValue::bool(text == "array") };
        self.stack.push(result);
    }
}
