//! Arrays: sorting, grouping, searching.

use std::cmp::Ordering;

use super::{Native, arith, fail_with, natives, take_argument};
use crate::value::{
    Result, Value, are_equal, compare_total, compare_values, index, into_vec, type_error,
    type_error2, value_elements,
};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "sort"/0 => |_, v, _| {
        let mut items = take_array(v, "cannot be sorted, as it is not an array")?;
        items.sort_by(compare_total);
        Ok(Value::arr(items))
    },
    "_sort_by"/1 => |_, v, a| {
        Ok(sorted_pairs(v, take_argument(a, 0))?.into_iter().map(|(_, v)| v).collect())
    },
    "_group_by"/1 => |_, v, a| {
        Ok(group_values(v, take_argument(a, 0))?.into_iter().map(Value::arr).collect())
    },
    "unique"/0 => |_, v, _| {
        let keys = v.clone();
        unique_values(v, keys)
    },
    "_unique_by"/1 => |_, v, a| unique_values(v, take_argument(a, 0)),
    "min"/0 => |_, v, _| {
        let keys = v.clone();
        extreme_value(v, keys, Ordering::Less)
    },
    "max"/0 => |_, v, _| {
        let keys = v.clone();
        extreme_value(v, keys, Ordering::Greater)
    },
    "_min_by"/1 => |_, v, a| extreme_value(v, take_argument(a, 0), Ordering::Less),
    "_max_by"/1 => |_, v, a| extreme_value(v, take_argument(a, 0), Ordering::Greater),
    "reverse"/0 => |_, v, _| match v {
        Value::Null => Ok(Value::arr(Vec::new())),
        Value::Str(s) => Ok(Value::str(s.chars().rev().collect::<String>())),
        Value::Arr(a) => Ok(into_vec(a).into_iter().rev().collect()),
        other => Err(type_error(&other, "cannot be reversed, as it is not an array")),
    },
    "flatten"/0 => |_, v, _| flatten_array(v, f64::INFINITY),
    "flatten"/1 => |_, v, a| match a.first().and_then(Value::as_num) {
        Some(depth) if depth < 0.0 => fail_with("flatten depth must not be negative"),
        Some(depth) => flatten_array(v, depth),
        None => fail_with("flatten depth must not be negative"),
    },
    "transpose"/0 => |_, v, _| transpose_array(v),
    "bsearch"/1 => |_, v, a| binary_search(v, take_argument(a, 0)),
    "join"/1 => |_, v, a| join_array(v, take_argument(a, 0)),
};

fn take_array(v: Value, message: &str) -> Result<Vec<Value>> {
    match v {
        Value::Arr(a) => Ok(into_vec(a)),
        other => Err(type_error(&other, message)),
    }
}

/// Returns the pairs of keys and values, sorted by key.
fn sorted_pairs(values: Value, keys: Value) -> Result<Vec<(Value, Value)>> {
    match (values, keys) {
        (Value::Arr(values), Value::Arr(keys)) if values.len() == keys.len() => {
            let mut all: Vec<_> = into_vec(keys).into_iter().zip(into_vec(values)).collect();
            all.sort_by(|a, b| compare_total(&a.0, &b.0));
            Ok(all)
        }
        (v, k) => Err(type_error2(&v, &k, "cannot be sorted, as they are not both arrays")),
    }
}

fn group_values(values: Value, keys: Value) -> Result<Vec<Vec<Value>>> {
    let mut out: Vec<Vec<Value>> = Vec::new();
    let mut first: Option<Value> = None;
    for (k, v) in sorted_pairs(values, keys)? {
        match (out.last_mut(), &first) {
            (Some(group), Some(first)) if are_equal(first, &k) => group.push(v),
            _ => {
                out.push(vec![v]);
                first = Some(k);
            }
        }
    }
    Ok(out)
}

/// Returns the first value of each group.
fn unique_values(values: Value, keys: Value) -> Result<Value> {
    if !matches!(values, Value::Arr(_)) {
        return Err(type_error(&values, "cannot be sorted, as it is not an array"));
    }
    let mut all = sorted_pairs(values, keys)?;
    all.dedup_by(|b, a| are_equal(&a.0, &b.0));
    Ok(all.into_iter().map(|(_, v)| v).collect())
}

/// Returns the value with the least or the greatest key; of several, the first least or the last
/// greatest.
fn extreme_value(values: Value, keys: Value, wanted: Ordering) -> Result<Value> {
    let (Value::Arr(v), Value::Arr(k)) = (&values, &keys) else {
        return Err(type_error2(&values, &keys, "cannot be iterated over"));
    };
    let mut best: Option<(&Value, &Value)> = None;
    for (v, k) in v.iter().zip(k.iter()) {
        let better =
            best.is_none_or(|(_, b)| compare_values(k, b).is_lt() == (wanted == Ordering::Less));
        if better {
            best = Some((v, k));
        }
    }
    Ok(best.map_or(Value::Null, |(v, _)| v.clone()))
}

fn flatten_array(v: Value, depth: f64) -> Result<Value> {
    let top = value_elements(v)?;
    let mut out = Vec::new();
    let mut open = vec![top.into_iter()];
    while let Some(items) = open.last_mut() {
        let Some(item) = items.next() else {
            open.pop();
            continue;
        };
        match item {
            Value::Arr(inner) if (open.len() as f64) <= depth => {
                open.push(into_vec(inner).into_iter());
            }
            other => out.push(other),
        }
    }
    Ok(Value::arr(out))
}

fn transpose_array(v: Value) -> Result<Value> {
    let rows = take_array(v, "cannot be iterated over")?;
    let mut width = 0;
    for row in &rows {
        match row {
            Value::Arr(a) => width = width.max(a.len()),
            Value::Null => {}
            other => {
                return fail_with(format!("Cannot index {} with number", other.type_name()));
            }
        }
    }
    (0..width)
        .map(|i| rows.iter().map(|row| index(row, &Value::int(i))).collect::<Result<Value>>())
        .collect()
}

/// Runs `bsearch`: returns the position, or `-1 - p` where `p` is where the target would go.
fn binary_search(v: Value, target: Value) -> Result<Value> {
    let Value::Arr(a) = &v else {
        return Err(type_error(&v, "cannot be searched from"));
    };
    let found = a.binary_search_by(|x| {
        if are_equal(x, &target) { Ordering::Equal } else { compare_values(x, &target) }
    });
    Ok(match found {
        Ok(i) => Value::int(i),
        Err(i) => Value::Num(-1.0 - i as f64),
    })
}

fn join_array(v: Value, separator: Value) -> Result<Value> {
    let items = value_elements(v)?;
    let mut out = Value::Null;
    for item in items {
        let head = match out {
            Value::Null => "".into(),
            text => arith::add_values(text, separator.clone())?,
        };
        let part = match item {
            Value::Null => "".into(),
            Value::Bool(_) | Value::Num(_) | Value::Lit(_) => super::convert::to_string(item),
            other => other,
        };
        out = arith::add_values(head, part)?;
    }
    Ok(if out.is_truthy() { out } else { "".into() })
}
