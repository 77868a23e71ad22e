//! Operators.

use std::rc::Rc;

use super::{Native, fail_with, natives};
use crate::lang::ast::BinOp;
use crate::value::{
    Map, Result, Value, are_equal, compare_values, into_vec, type_error, type_error2,
    value_elements,
};

/// The maximum length of a repeated text; the bound is jq's.
const MAX_TEXT: f64 = i32::MAX as f64;

/// The depth to which `*` merges objects; below it, the right side replaces the left one.
const MAX_MERGE: usize = 10_000;

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "not"/0 => |_, v, _| Ok((!v.is_truthy()).into()),
    "add"/0 => |_, v, _| sum_values(v),
};

/// Applies an operator.
pub fn apply_binary(op: BinOp, a: Value, b: Value) -> Result<Value> {
    Ok(match op {
        BinOp::Eq => are_equal(&a, &b).into(),
        BinOp::Ne => (!are_equal(&a, &b)).into(),
        BinOp::Lt => compare_values(&a, &b).is_lt().into(),
        BinOp::Le => compare_values(&a, &b).is_le().into(),
        BinOp::Gt => compare_values(&a, &b).is_gt().into(),
        BinOp::Ge => compare_values(&a, &b).is_ge().into(),
        BinOp::Add => return add_values(a, b),
        BinOp::Sub => return subtract_values(a, b),
        BinOp::Mul => return multiply_values(a, b),
        BinOp::Div => return divide_values(a, b),
        BinOp::Mod => return modulo_values(a, b),
    })
}

/// Negates a number; a literal keeps its digits.
pub fn negate_value(v: Value) -> Result<Value> {
    match v {
        Value::Num(n) => Ok(Value::Num(-n)),
        Value::Lit(l) => Ok(Value::Lit(Rc::new(l.negate_literal()))),
        other => Err(type_error(&other, "cannot be negated")),
    }
}

/// Computes `a + b`. Appends to `a` in place if it has no other owner.
pub fn add_values(a: Value, b: Value) -> Result<Value> {
    Ok(match (a, b) {
        (Value::Null, v) | (v, Value::Null) => v,
        (Value::Str(mut a), Value::Str(b)) => {
            Rc::make_mut(&mut a).push_str(&b);
            Value::Str(a)
        }
        (Value::Arr(mut a), Value::Arr(b)) => {
            Rc::make_mut(&mut a).append_items(b);
            Value::Arr(a)
        }
        (Value::Obj(mut a), Value::Obj(b)) => {
            let map = Rc::make_mut(&mut a);
            for (k, v) in b.iter() {
                map.insert(k.clone(), v.clone());
            }
            Value::Obj(a)
        }
        (a, b) => match (a.as_num(), b.as_num()) {
            (Some(x), Some(y)) => Value::Num(x + y),
            _ => return Err(type_error2(&a, &b, "cannot be added")),
        },
    })
}

fn subtract_values(a: Value, b: Value) -> Result<Value> {
    match (a, b) {
        (Value::Arr(a), Value::Arr(b)) => {
            let mut items = into_vec(a);
            items.retain(|x| !b.iter().any(|y| are_equal(x, y)));
            Ok(Value::arr(items))
        }
        (a, b) => match (a.as_num(), b.as_num()) {
            (Some(x), Some(y)) => Ok(Value::Num(x - y)),
            _ => Err(type_error2(&a, &b, "cannot be subtracted")),
        },
    }
}

fn multiply_values(a: Value, b: Value) -> Result<Value> {
    match (a, b) {
        (Value::Obj(mut a), Value::Obj(b)) => {
            merge_objects(Rc::make_mut(&mut a), &b, 0);
            Ok(Value::Obj(a))
        }
        (a, b) => match (&a, &b, a.as_num(), b.as_num()) {
            (_, _, Some(x), Some(y)) => Ok(Value::Num(x * y)),
            (Value::Str(s), _, _, Some(n)) | (_, Value::Str(s), Some(n), _) => repeat_text(s, n),
            _ => Err(type_error2(&a, &b, "cannot be multiplied")),
        },
    }
}

fn repeat_text(s: &str, n: f64) -> Result<Value> {
    if n.is_nan() || n < 0.0 {
        return Ok(Value::Null);
    }
    let n = n.trunc().min(MAX_TEXT);
    if s.len() as f64 * n >= MAX_TEXT {
        return fail_with("Repeat string result too long");
    }
    Ok(Value::str(s.repeat(n as usize)))
}

fn merge_objects(into: &mut Map, from: &Map, depth: usize) {
    for (k, v) in from.iter() {
        if depth < MAX_MERGE
            && let (Some(Value::Obj(old)), Value::Obj(new)) = (into.get_mut(k), v)
        {
            merge_objects(Rc::make_mut(old), new, depth + 1);
            continue;
        }
        into.insert(k.clone(), v.clone());
    }
}

fn divide_values(a: Value, b: Value) -> Result<Value> {
    match (&a, &b, a.as_num(), b.as_num()) {
        (_, _, Some(_), Some(0.0)) => {
            Err(type_error2(&a, &b, "cannot be divided because the divisor is zero"))
        }
        (_, _, Some(x), Some(y)) => Ok(Value::Num(x / y)),
        (Value::Str(a), Value::Str(b), _, _) => Ok(super::strings::split_text(a, b)),
        _ => Err(type_error2(&a, &b, "cannot be divided")),
    }
}

/// Returns the remainder of the integer parts, with the sign of the dividend. The conversion
/// saturates, so that infinities become the largest integers.
fn modulo_values(a: Value, b: Value) -> Result<Value> {
    let (Some(x), Some(y)) = (a.as_num(), b.as_num()) else {
        return Err(type_error2(&a, &b, "cannot be divided (remainder)"));
    };
    if x.is_nan() || y.is_nan() {
        return Ok(Value::Num(f64::NAN));
    }
    let (x, y) = (x as i64, y as i64);
    if y == 0 {
        return Err(type_error2(
            &a,
            &b,
            "cannot be divided (remainder) because the divisor is zero",
        ));
    }
    Ok(Value::Num(x.wrapping_rem(y) as f64))
}

/// Runs `add`.
fn sum_values(v: Value) -> Result<Value> {
    value_elements(v)?.into_iter().try_fold(Value::Null, add_values)
}
