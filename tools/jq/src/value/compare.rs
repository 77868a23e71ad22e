//! The order of all values (jq manual, `sort`): null, false, true, numbers, strings by
//! codepoint, arrays by element, objects by their sorted keys and then by value.
//!
//! Nothing here recurses, because a program can make values of any depth.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Value;

fn type_rank(v: &Value) -> u8 {
    match v {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Num(_) | Value::Lit(_) => 3,
        Value::Str(_) => 4,
        Value::Arr(_) => 5,
        Value::Obj(_) => 6,
    }
}

/// Compares numbers, with `nan` below all others; `None` if both are `nan`.
fn compare_numbers(a: &Value, b: &Value) -> Option<Ordering> {
    if let (Value::Lit(a), Value::Lit(b)) = (a, b) {
        return Some(a.compare_exact(b));
    }
    let (a, b) = (a.as_num().unwrap_or(f64::NAN), b.as_num().unwrap_or(f64::NAN));
    match (a.is_nan(), b.is_nan()) {
        (true, true) => None,
        (true, false) => Some(Ordering::Less),
        (false, true) => Some(Ordering::Greater),
        (false, false) => a.partial_cmp(&b),
    }
}

/// The parts of two containers that are still to be compared.
enum JqPending<'a> {
    Arrays(std::slice::Iter<'a, Value>, std::slice::Iter<'a, Value>),
    Values(std::vec::IntoIter<(&'a Value, &'a Value)>),
}

/// Compares in jq's order, in which `nan` is less than `nan`.
pub fn compare_values(a: &Value, b: &Value) -> Ordering {
    compare_by(a, b, Ordering::Less)
}

/// Compares in a total order for sorting, in which `nan` equals `nan`.
pub fn compare_total(a: &Value, b: &Value) -> Ordering {
    compare_by(a, b, Ordering::Equal)
}

fn compare_by(a: &Value, b: &Value, nans: Ordering) -> Ordering {
    let mut stack: Vec<JqPending<'_>> = Vec::new();
    let mut pair = Some((a, b));
    loop {
        if let Some((a, b)) = pair.take() {
            let order = match (a, b) {
                // Only if `nan` equals `nan` is a value always equal to itself.
                (a, b) if nans.is_eq() && is_shared(a, b) => Ordering::Equal,
                (Value::Arr(a), Value::Arr(b)) => {
                    stack.push(JqPending::Arrays(a.iter(), b.iter()));
                    Ordering::Equal
                }
                (Value::Obj(a), Value::Obj(b)) => {
                    let (a, b) = (a.sorted_entries(), b.sorted_entries());
                    let keys =
                        a.iter().map(|e| e.0.as_bytes()).cmp(b.iter().map(|e| e.0.as_bytes()));
                    let values: Vec<_> = a.iter().zip(&b).map(|(a, b)| (a.1, b.1)).collect();
                    stack.push(JqPending::Values(values.into_iter()));
                    keys
                }
                (Value::Str(a), Value::Str(b)) => a.as_bytes().cmp(b.as_bytes()),
                (Value::Num(_) | Value::Lit(_), Value::Num(_) | Value::Lit(_)) => {
                    compare_numbers(a, b).unwrap_or(nans)
                }
                _ => type_rank(a).cmp(&type_rank(b)),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        match stack.last_mut() {
            None => return Ordering::Equal,
            Some(JqPending::Arrays(a, b)) => match (a.next(), b.next()) {
                (Some(a), Some(b)) => pair = Some((a, b)),
                (None, None) => {
                    stack.pop();
                }
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
            },
            Some(JqPending::Values(values)) => match values.next() {
                Some(p) => pair = Some(p),
                None => {
                    stack.pop();
                }
            },
        }
    }
}

/// Returns whether both are the same container in memory. Programs that keep their state in objects
/// share most of it between old and new states; comparing the shared parts would take exponential
/// time.
fn is_shared(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Str(a), Value::Str(b)) => Rc::ptr_eq(a, b),
        (Value::Lit(a), Value::Lit(b)) => Rc::ptr_eq(a, b),
        (Value::Arr(a), Value::Arr(b)) => Rc::ptr_eq(a, b),
        (Value::Obj(a), Value::Obj(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// Returns whether two values are equal for `==`; `nan` equals nothing. As in jq, two references to
/// the same container in memory are equal regardless of their content, even `nan`.
pub fn are_equal(a: &Value, b: &Value) -> bool {
    let mut todo = Vec::new();
    let mut pair = Some((a, b));
    while let Some((a, b)) = pair.take().or_else(|| todo.pop()) {
        if is_shared(a, b) {
            continue;
        }
        match (a, b) {
            (Value::Arr(a), Value::Arr(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                todo.extend(a.iter().zip(b.iter()).rev());
            }
            (Value::Obj(a), Value::Obj(b)) => {
                if a.len() != b.len() {
                    return false;
                }
                for (k, v) in a.iter() {
                    let Some(w) = b.get_shared(k) else { return false };
                    todo.push((v, w));
                }
            }
            (Value::Str(a), Value::Str(b)) if a != b => return false,
            (Value::Num(_) | Value::Lit(_), Value::Num(_) | Value::Lit(_)) => {
                if compare_numbers(a, b) != Some(Ordering::Equal) {
                    return false;
                }
            }
            _ if type_rank(a) != type_rank(b) => return false,
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(s: &str) -> Value {
        crate::json::parse_one(s.as_bytes()).expect("test JSON")
    }

    /// The expected order is that of the jq manual, `sort`; for objects, that of `jq -c sort` in jq
    /// 1.6.
    #[test]
    fn order() {
        let sorted = v(r#"[null,false,true,-1,0,1.5,"","a","a\u0000","b",[],[0],[0,1],[1],{},
            {"a":1},{"a":2},{"a":1,"b":0},{"b":0}]"#);
        let items = sorted.as_arr().expect("array");
        for (i, a) in items.iter().enumerate() {
            for (j, b) in items.iter().enumerate() {
                assert_eq!(compare_values(a, b), i.cmp(&j), "{a:?} {b:?}");
                assert_eq!(are_equal(a, b), i == j, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn nan_is_below_all_numbers_and_itself() {
        let nan = Value::Num(f64::NAN);
        assert_eq!(compare_values(&nan, &nan), Ordering::Less);
        assert_eq!(compare_values(&nan, &Value::Num(f64::NEG_INFINITY)), Ordering::Less);
        assert!(!are_equal(&nan, &nan));
    }
}
