//! Modifying in place: `+=`, `++`, `s = s x`; arithmetic.

use super::place::{inner_as_scalar, number_of};
use super::{Cell, Machine, Result};
use crate::array::Slot;
use crate::code::{Keep, Place, Target};
use crate::error::RunError;
use crate::token::Arith;
use crate::value::Value;

impl Machine<'_, '_> {
    pub(super) fn update(&mut self, arith: Arith, t: Target, keep: Keep) -> Result<()> {
        let b = self.pop_num();
        let non_decimal = self.settings.non_decimal;
        let n = match t {
            Target::Global(g) => match &mut self.globals[g as usize] {
                Cell::Value(Value::Num(a)) => {
                    *a = calculate(arith, *a, b)?;
                    *a
                }
                Cell::Value(old) => {
                    let n = calculate(arith, number_of(old, non_decimal), b)?;
                    *old = Value::Num(n);
                    n
                }
                Cell::Array(_) => return Err(self.array_as_scalar(Place::Global(g))),
            },
            Target::Element(place) => {
                let sub = self.pop();
                let key = self.key(&sub);
                let array = self.array(place)?;
                let mut array = array.borrow_mut();
                match array.slot(key) {
                    Slot::Value(old) => {
                        let n = calculate(arith, number_of(old, non_decimal), b)?;
                        *old = Value::Num(n);
                        n
                    }
                    Slot::Array(_) => return Err(inner_as_scalar()),
                }
            }
            _ => {
                let address = self.address(t)?;
                let old = self.load_target(t, &address)?;
                let n = calculate(arith, self.number(&old), b)?;
                self.store_target(t, address, Value::Num(n))?;
                n
            }
        };
        if keep != Keep::Nothing {
            self.stack.push(Value::Num(n));
        }
        Ok(())
    }

    pub(super) fn step(&mut self, delta: f64, t: Target, keep: Keep) -> Result<()> {
        let non_decimal = self.settings.non_decimal;
        let old = match t {
            Target::Global(g) => match &mut self.globals[g as usize] {
                Cell::Value(v) => {
                    let old = number_of(v, non_decimal);
                    *v = Value::Num(old + delta);
                    old
                }
                Cell::Array(_) => return Err(self.array_as_scalar(Place::Global(g))),
            },
            Target::Local(l) => match &mut self.locals[self.base + l as usize] {
                Cell::Value(v) => {
                    let old = number_of(v, non_decimal);
                    *v = Value::Num(old + delta);
                    old
                }
                Cell::Array(_) => return Err(self.array_as_scalar(Place::Local(l))),
            },
            Target::Element(place) => {
                let sub = self.pop();
                let key = self.key(&sub);
                let array = self.array(place)?;
                let mut array = array.borrow_mut();
                match array.slot(key) {
                    Slot::Value(v) => {
                        let old = number_of(v, non_decimal);
                        *v = Value::Num(old + delta);
                        old
                    }
                    Slot::Array(_) => return Err(inner_as_scalar()),
                }
            }
            _ => {
                let address = self.address(t)?;
                let old = self.load_target(t, &address)?;
                let old = self.number(&old);
                self.store_target(t, address, Value::Num(old + delta))?;
                old
            }
        };
        match keep {
            Keep::Nothing => {}
            Keep::Old => self.stack.push(Value::Num(old)),
            Keep::New => self.stack.push(Value::Num(old + delta)),
        }
        Ok(())
    }

    /// `v = v x`.
    pub(super) fn append(&mut self, t: Target, keep: Keep) -> Result<()> {
        let more = self.pop();
        let cell = match t {
            Target::Global(n) => &mut self.globals[n as usize],
            Target::Local(n) => &mut self.locals[self.base + n as usize],
            _ => return Ok(()),
        };
        let Cell::Value(v) = cell else {
            let place = match t {
                Target::Local(n) => Place::Local(n),
                Target::Global(n) => Place::Global(n),
                _ => Place::Inner,
            };
            return Err(self.array_as_scalar(place));
        };
        let mut text = match std::mem::replace(v, Value::Uninit) {
            Value::Str(t) | Value::Input(t) | Value::Regex(t) => t,
            other => other.text(&self.convfmt),
        };
        match &more {
            Value::Str(t) | Value::Input(t) | Value::Regex(t) => text.push(t),
            other => text.push(&other.text(&self.convfmt)),
        }
        *v = Value::Str(text);
        if keep != Keep::Nothing {
            let v = v.clone();
            self.stack.push(v);
        }
        Ok(())
    }
}

/// One arithmetic operation.
#[inline]
pub(super) fn calculate(op: Arith, a: f64, b: f64) -> Result<f64> {
    Ok(match op {
        Arith::Add => a + b,
        Arith::Sub => a - b,
        Arith::Mul => a * b,
        Arith::Div if b == 0.0 => return Err(RunError::fatal("division by zero attempted")),
        Arith::Div => a / b,
        Arith::Mod if b == 0.0 => return Err(RunError::fatal("division by zero attempted in `%'")),
        Arith::Mod => a % b,
        Arith::Pow => power(a, b),
    })
}

/// Whole exponents by multiplication, as gawk does.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent.fract() == 0.0 && exponent.abs() <= 1024.0 {
        return base.powi(exponent as i32);
    }
    base.powf(exponent)
}
