//! Changing values in place: `+=`, `++`, `s = s x`; arithmetic.

use super::place::{number_of, scalar_slot};
use super::{AwkMachine, GlobalCell, Result};
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
                GlobalCell::Array(_) => {
                    let n = apply_arith(arith, 0.0, b)?;
                    *self.scalar_at(ArrayPlace::Global(g))? = AwkValue::Num(n);
                    n
                }
            },
            AssignableTarget::Element(place) => {
                let sub = self.pop();
                let key = self.to_key(&sub);
                let array = self.array_at(place)?;
                let mut array = array.borrow_mut();
                let old = scalar_slot(array.slot_or_insert(key))?;
                let n = apply_arith(arith, number_of(old, non_decimal), b)?;
                *old = AwkValue::Num(n);
                n
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
        let step = |v: &mut AwkValue| {
            let old = number_of(v, non_decimal);
            *v = AwkValue::Num(old + delta);
            old
        };
        let old = match t {
            AssignableTarget::Global(g) => step(self.scalar_at(ArrayPlace::Global(g))?),
            AssignableTarget::Local(l) => step(self.scalar_at(ArrayPlace::Local(l))?),
            AssignableTarget::Element(place) => {
                let sub = self.pop();
                let key = self.to_key(&sub);
                let array = self.array_at(place)?;
                step(scalar_slot(array.borrow_mut().slot_or_insert(key))?)
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
        let place = match t {
            AssignableTarget::Global(n) => ArrayPlace::Global(n),
            AssignableTarget::Local(n) => ArrayPlace::Local(n),
            _ => return Ok(()),
        };
        // The text is taken out, because it grows in place only without a second owner.
        let mut text = match std::mem::replace(self.scalar_at(place)?, AwkValue::Uninit) {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => t,
            other => other.text(&self.convfmt),
        };
        match &more {
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => text.push(t),
            other => text.push(&other.text(&self.convfmt)),
        }
        if keep != UpdateResult::Nothing {
            self.stack.push(AwkValue::Str(text.clone()));
        }
        *self.scalar_at(place)? = AwkValue::Str(text);
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

/// Computes a power; for whole exponents by multiplication, as gawk does.
fn number_power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 1024.0 {
        return base.powi(exponent as i32);
    }
    base.powf(exponent)
}
