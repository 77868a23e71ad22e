//! Modifying in place: `+=`, `++`, `s = s x`; arithmetic.

use super::place::{inner_as_scalar, number_of};
use super::{AwkMachine, GlobalCell, Result};
use crate::array::ElementSlot;
use crate::code::{ArrayPlace, AssignableTarget, UpdateResult};
use crate::error::AwkRunError;
use crate::token::AwkArith;
use crate::value::AwkValue;

impl AwkMachine<'_, '_> {
    pub(super) fn update_target(
        &mut self,
        arith: AwkArith,
        t: AssignableTarget,
        keep: UpdateResult,
    ) -> Result<()> {
        let b = self.pop_num();
        let non_decimal = self.settings.non_decimal;
        let n = match t {
            AssignableTarget::Global(g) => match &mut self.globals[g as usize] {
                GlobalCell::Value(AwkValue::Num(a)) => {
                    *a = apply_arith(arith, *a, b)?;
                    *a
                }
                GlobalCell::Value(old) => {
                    let n = apply_arith(arith, number_of(old, non_decimal), b)?;
                    *old = AwkValue::Num(n);
                    n
                }
                GlobalCell::Array(_) => return Err(self.array_as_scalar(ArrayPlace::Global(g))),
            },
            AssignableTarget::Element(place) => {
                let sub = self.pop();
                let key = self.to_key(&sub);
                let array = self.array_at(place)?;
                let mut array = array.borrow_mut();
                match array.slot_or_insert(key) {
                    ElementSlot::Value(old) => {
                        let n = apply_arith(arith, number_of(old, non_decimal), b)?;
                        *old = AwkValue::Num(n);
                        n
                    }
                    ElementSlot::Array(_) => return Err(inner_as_scalar()),
                }
            }
            _ => {
                let address = self.pop_address(t)?;
                let old = self.load_target(t, &address)?;
                let n = apply_arith(arith, self.to_number(&old), b)?;
                self.store_target(t, address, AwkValue::Num(n))?;
                n
            }
        };
        if keep != UpdateResult::Nothing {
            self.stack.push(AwkValue::Num(n));
        }
        Ok(())
    }

    pub(super) fn step_target(
        &mut self,
        delta: f64,
        t: AssignableTarget,
        keep: UpdateResult,
    ) -> Result<()> {
        let non_decimal = self.settings.non_decimal;
        let old = match t {
            AssignableTarget::Global(g) => match &mut self.globals[g as usize] {
                GlobalCell::Value(v) => {
                    let old = number_of(v, non_decimal);
                    *v = AwkValue::Num(old + delta);
                    old
                }
                GlobalCell::Array(_) => return Err(self.array_as_scalar(ArrayPlace::Global(g))),
            },
            AssignableTarget::Local(l) => match &mut self.locals[self.base + l as usize] {
                GlobalCell::Value(v) => {
                    let old = number_of(v, non_decimal);
                    *v = AwkValue::Num(old + delta);
                    old
                }
                GlobalCell::Array(_) => return Err(self.array_as_scalar(ArrayPlace::Local(l))),
            },
            AssignableTarget::Element(place) => {
                let sub = self.pop();
                let key = self.to_key(&sub);
                let array = self.array_at(place)?;
                let mut array = array.borrow_mut();
                match array.slot_or_insert(key) {
                    ElementSlot::Value(v) => {
                        let old = number_of(v, non_decimal);
                        *v = AwkValue::Num(old + delta);
                        old
                    }
                    ElementSlot::Array(_) => return Err(inner_as_scalar()),
                }
            }
            _ => {
                let address = self.pop_address(t)?;
                let old = self.load_target(t, &address)?;
                let old = self.to_number(&old);
                self.store_target(t, address, AwkValue::Num(old + delta))?;
                old
            }
        };
        match keep {
            UpdateResult::Nothing => {}
            UpdateResult::Old => self.stack.push(AwkValue::Num(old)),
            UpdateResult::New => self.stack.push(AwkValue::Num(old + delta)),
        }
        Ok(())
    }

    /// Runs `v = v x`.
    pub(super) fn append_to_target(
        &mut self,
        t: AssignableTarget,
        keep: UpdateResult,
    ) -> Result<()> {
        let more = self.pop();
        let cell = match t {
            AssignableTarget::Global(n) => &mut self.globals[n as usize],
            AssignableTarget::Local(n) => &mut self.locals[self.base + n as usize],
            _ => return Ok(()),
        };
        let GlobalCell::Value(v) = cell else {
            let place = match t {
                AssignableTarget::Local(n) => ArrayPlace::Local(n),
                AssignableTarget::Global(n) => ArrayPlace::Global(n),
                _ => ArrayPlace::Inner,
            };
            return Err(self.array_as_scalar(place));
        };
        let mut text = match std::mem::replace(v, AwkValue::Uninit) {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => t,
            other => other.text(&self.convfmt),
        };
        match &more {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => text.push(t),
            other => text.push(&other.text(&self.convfmt)),
        }
        *v = AwkValue::Str(text);
        if keep != UpdateResult::Nothing {
            let v = v.clone();
            self.stack.push(v);
        }
        Ok(())
    }
}

/// Performs one arithmetic operation.
#[inline]
pub(super) fn apply_arith(op: AwkArith, a: f64, b: f64) -> Result<f64> {
    Ok(match op {
        AwkArith::Add => a + b,
        AwkArith::Sub => a - b,
        AwkArith::Mul => a * b,
        AwkArith::Div if b == 0.0 => return Err(AwkRunError::fatal("division by zero attempted")),
        AwkArith::Div => a / b,
        AwkArith::Mod if b == 0.0 => {
            return Err(AwkRunError::fatal("division by zero attempted in `%'"));
        }
        AwkArith::Mod => a % b,
        AwkArith::Pow => number_power(a, b),
    })
}

/// Raises to whole exponents by multiplication, as gawk does.
fn number_power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 1024.0 {
        return base.powi(exponent as i32);
    }
    base.powf(exponent)
}
