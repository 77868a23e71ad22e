//! Access by key, index, slice and path: reading, setting, deleting.
//!
//! A path is a list of keys: strings, numbers, and `{"start","end"}` objects for slices.

use std::rc::Rc;

use super::{JqItems, Map, Result, Str, Value, are_equal, compare_total};

/// The maximum length of an array that setting an index creates; the bound is jq's.
const MAX_INDEX: f64 = 536_870_911.0;

/// The maximum depth of a path whose handling recurses.
const MAX_NESTING: usize = 10_000;

fn fail_with<T>(text: impl Into<String>) -> Result<T> {
    Err(Value::str(text))
}

/// Returns the key object of a slice.
pub fn slice_key(start: Value, end: Value) -> Value {
    let mut m = Map::with_capacity(2);
    m.insert(Rc::new("start".to_string()), start);
    m.insert(Rc::new("end".to_string()), end);
    Value::obj(m)
}

/// The positions that a slice covers: `start <= end <= len`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceBounds {
    pub start: usize,
    pub end: usize,
}

impl SliceBounds {
    /// Returns the bounds that a slice key has for an array of this length. Starts are rounded down
    /// and ends up, negative bounds count from the end, and `nan` counts as no bound. Returns
    /// `None` if a bound is not a number.
    pub fn from_key(key: &Map, len: usize) -> Option<SliceBounds> {
        let bound = |name: &str| match key.get(name) {
            None | Some(Value::Null) => Some(None),
            Some(v) => v.as_num().map(|n| (!n.is_nan()).then_some(n)),
        };
        let size = len as f64;
        let place = |n: f64| if n < 0.0 { n + size } else { n }.clamp(0.0, size);
        let start = bound("start")?.map_or(0.0, |n| place(n).floor()) as usize;
        let end = bound("end")?.map_or(size, |n| place(n).ceil()) as usize;
        Some(SliceBounds { start, end: end.max(start) })
    }
}

const BAD_SLICE: &str = "Start and end indices of an array slice must be numbers";

/// Returns the part of a text between two codepoint positions.
fn text_slice(s: &str, key: &Map) -> Option<String> {
    if s.is_ascii() {
        let b = SliceBounds::from_key(key, s.len())?;
        return Some(s[b.start..b.end].to_string());
    }
    let b = SliceBounds::from_key(key, s.chars().count())?;
    let at = |n: usize| s.char_indices().nth(n).map_or(s.len(), |(i, _)| i);
    Some(s[at(b.start)..at(b.end)].to_string())
}

/// Converts an index to a position in an array; `None` before the start or for `nan`.
fn index_position(n: f64, len: usize) -> Option<usize> {
    if n.is_nan() {
        return None;
    }
    let at = n.trunc();
    let at = if at < 0.0 { at + len as f64 } else { at };
    (at >= 0.0).then_some(at as usize)
}

/// Returns `t[k]`.
pub fn index(t: &Value, k: &Value) -> Result<Value> {
    Ok(match (t, k) {
        (Value::Obj(o), Value::Str(k)) => o.get_shared(k).cloned().unwrap_or(Value::Null),
        (Value::Arr(a), Value::Num(_) | Value::Lit(_)) => k
            .as_num()
            .and_then(|n| index_position(n, a.len()))
            .and_then(|i| a.get(i).cloned())
            .unwrap_or(Value::Null),
        (Value::Null, Value::Str(_) | Value::Num(_) | Value::Lit(_) | Value::Obj(_)) => Value::Null,
        (Value::Arr(a), Value::Obj(k)) => match SliceBounds::from_key(k, a.len()) {
            Some(b) => Value::Arr(Rc::new(JqItems::slice_items(a, b.start..b.end))),
            None => return fail_with(BAD_SLICE),
        },
        (Value::Str(s), Value::Obj(k)) => match text_slice(s, k) {
            Some(part) => Value::str(part),
            None => return fail_with("Start and end indices of an string slice must be numbers"),
        },
        (Value::Arr(a), Value::Arr(k)) => subarray_positions(a, k),
        _ => return Err(index_error(t, k)),
    })
}

fn index_error(t: &Value, k: &Value) -> Value {
    Value::str(match k {
        Value::Str(s) if s.len() < 30 => {
            format!("Cannot index {} with string \"{s}\"", t.type_name())
        }
        _ => format!("Cannot index {} with {}", t.type_name(), k.type_name()),
    })
}

/// Returns the positions at which an array occurs in another; null for an empty array.
fn subarray_positions(a: &[Value], part: &[Value]) -> Value {
    if part.is_empty() {
        return Value::Null;
    }
    a.windows(part.len())
        .enumerate()
        .filter(|(_, w)| w.iter().zip(part).all(|(x, y)| are_equal(x, y)))
        .map(|(i, _)| Value::int(i))
        .collect()
}

/// Runs `has`.
pub fn has_key(t: &Value, k: &Value) -> Result<Value> {
    match (t, k) {
        (Value::Null, _) => Ok(false.into()),
        (Value::Obj(o), Value::Str(k)) => Ok(o.get_shared(k).is_some().into()),
        (Value::Arr(a), Value::Num(_) | Value::Lit(_)) => {
            let n = k.as_num().unwrap_or(f64::NAN);
            Ok((n >= 0.0 && n.trunc() < a.len() as f64).into())
        }
        _ => fail_with(format!(
            "Cannot check whether {} has a {} key",
            t.type_name(),
            match k {
                Value::Str(_) => "string",
                other => other.type_name(),
            }
        )),
    }
}

/// Returns the value at a path; null below null.
pub fn get_path(t: &Value, path: &[Value]) -> Result<Value> {
    let mut at = t.clone();
    for k in path {
        if matches!(at, Value::Null) {
            break;
        }
        at = index(&at, k)?;
    }
    Ok(at)
}

/// Takes out the value at a path, for an update that replaces it, and leaves null there. The value
/// then has no second owner, so that the update can change it in place.
pub fn take_path(root: &mut Value, path: &[Value]) -> Result<Value> {
    let mut at = root;
    for (i, k) in path.iter().enumerate() {
        at = match (at, k) {
            (Value::Obj(o), Value::Str(k)) => match Rc::make_mut(o).get_mut(k) {
                Some(v) => v,
                None => return Ok(Value::Null),
            },
            (Value::Arr(a), Value::Num(_) | Value::Lit(_)) => {
                let n = k.as_num().unwrap_or(f64::NAN);
                match index_position(n, a.len()).and_then(|p| Rc::make_mut(a).get_mut(p)) {
                    Some(v) => v,
                    None => return Ok(Value::Null),
                }
            }
            // A slice always makes a new value, and `index` reports errors.
            (other, _) => return get_path(other, path.get(i..).unwrap_or_default()),
        };
    }
    Ok(std::mem::replace(at, Value::Null))
}

/// Runs `setpath`, which creates missing containers and pads arrays with null.
pub fn set_path(mut root: Value, path: &[Value], value: Value) -> Result<Value> {
    set_at(&mut root, path, value, 0)?;
    Ok(root)
}

fn set_at(root: &mut Value, path: &[Value], value: Value, depth: usize) -> Result<()> {
    if depth > MAX_NESTING {
        return fail_with("Path too deep");
    }
    let mut at = root;
    for (i, k) in path.iter().enumerate() {
        if matches!(at, Value::Null) {
            match k {
                Value::Str(_) => *at = Value::obj(Map::default()),
                Value::Num(_) | Value::Lit(_) | Value::Obj(_) => *at = Value::arr(Vec::new()),
                _ => {}
            }
        }
        at = match (at, k) {
            (Value::Obj(o), Value::Str(k)) => field_mut(Rc::make_mut(o), k),
            (Value::Arr(a), Value::Num(_) | Value::Lit(_)) => {
                item_mut(Rc::make_mut(a), k.as_num().unwrap_or(f64::NAN))?
            }
            (Value::Arr(a), Value::Obj(k)) => {
                let Some(b) = SliceBounds::from_key(k, a.len()) else {
                    return fail_with(BAD_SLICE);
                };
                let mut part = Value::Arr(Rc::new(JqItems::slice_items(a, b.start..b.end)));
                set_at(&mut part, path.get(i + 1..).unwrap_or_default(), value, depth + 1)?;
                let Value::Arr(part) = part else {
                    return fail_with("A slice of an array can only be assigned another array");
                };
                Rc::make_mut(a).vec_mut().splice(b.start..b.end, super::into_vec(part));
                return Ok(());
            }
            (Value::Str(_), Value::Obj(_)) => return fail_with("Cannot update string slices"),
            (other, k) => {
                index(other, k)?;
                return fail_with(format!(
                    "Cannot update field at {} index of {}",
                    k.type_name(),
                    other.type_name()
                ));
            }
        };
    }
    *at = value;
    Ok(())
}

fn field_mut<'m>(m: &'m mut Map, k: &Str) -> &'m mut Value {
    if m.get_shared(k).is_none() {
        m.insert(k.clone(), Value::Null);
    }
    m.get_mut(k).expect("the key was just inserted")
}

fn item_mut(a: &mut JqItems, n: f64) -> Result<&mut Value> {
    if n.is_nan() {
        return fail_with("Cannot set array element at NaN index");
    }
    if n > MAX_INDEX {
        return fail_with("Array index too large");
    }
    let Some(at) = index_position(n, a.len()) else {
        return fail_with("Out of bounds negative array index");
    };
    a.reserve_length(at + 1);
    Ok(&mut a[at])
}

/// Runs `delpaths`. The longest paths are deleted first, so that no deletion moves the values at
/// later paths.
pub fn delete_paths(t: Value, paths: &Value) -> Result<Value> {
    let Value::Arr(list) = paths else {
        return fail_with("Paths must be specified as an array");
    };
    let mut sorted: Vec<&[Value]> = Vec::with_capacity(list.len());
    let mut order: Vec<&Value> = list.iter().collect();
    order.sort_by(|a, b| compare_total(a, b));
    for p in order {
        match p {
            Value::Arr(p) => sorted.push(p),
            other => {
                return fail_with(format!(
                    "Path must be specified as array, not {}",
                    other.type_name()
                ));
            }
        }
    }
    match sorted.first() {
        None => Ok(t),
        Some([]) => Ok(Value::Null),
        Some(_) => delete_sorted(t, &sorted, 0),
    }
}

fn delete_sorted(mut t: Value, paths: &[&[Value]], depth: usize) -> Result<Value> {
    if depth > MAX_NESTING {
        return fail_with("Path too deep");
    }
    let mut whole = Vec::new();
    let mut i = 0;
    while let Some(path) = paths.get(i) {
        let Some(key) = path.get(depth) else { break };
        let mut j = i + 1;
        while paths.get(j).and_then(|p| p.get(depth)).is_some_and(|k| are_equal(k, key)) {
            j += 1;
        }
        if path.len() == depth + 1 {
            whole.push(key.clone());
        } else {
            let part = take_path(&mut t, std::slice::from_ref(key))?;
            if !matches!(part, Value::Null) {
                let part = delete_sorted(part, &paths[i..j], depth + 1)?;
                t = set_path(t, std::slice::from_ref(key), part)?;
            }
        }
        i = j;
    }
    delete_keys(t, &whole)
}

fn delete_keys(mut t: Value, keys: &[Value]) -> Result<Value> {
    if keys.is_empty() {
        return Ok(t);
    }
    match &mut t {
        Value::Null => {}
        Value::Obj(o) => {
            let o = Rc::make_mut(o);
            for k in keys {
                let Value::Str(k) = k else {
                    return fail_with(format!("Cannot delete {} field of object", k.type_name()));
                };
                o.remove(k);
            }
        }
        Value::Arr(a) => {
            if let [Value::Num(n)] = keys {
                let at = index_position(*n, a.len()).filter(|at| *at < a.len());
                if let Some(at) = at {
                    Rc::make_mut(a).remove_item(at);
                }
                return Ok(t);
            }
            let mut gone = vec![false; a.len()];
            for k in keys {
                match k {
                    Value::Num(_) | Value::Lit(_) => {
                        let at = index_position(k.as_num().unwrap_or(f64::NAN), a.len());
                        if let Some(g) = at.and_then(|i| gone.get_mut(i)) {
                            *g = true;
                        }
                    }
                    Value::Obj(k) => match SliceBounds::from_key(k, a.len()) {
                        Some(b) => gone[b.start..b.end].fill(true),
                        None => return fail_with(BAD_SLICE),
                    },
                    other => {
                        return fail_with(format!(
                            "Cannot delete {} element of array",
                            other.type_name()
                        ));
                    }
                }
            }
            let mut gone = gone.into_iter();
            Rc::make_mut(a).vec_mut().retain(|_| !gone.next().unwrap_or(false));
        }
        other => return fail_with(format!("Cannot delete fields from {}", other.type_name())),
    }
    Ok(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(start: f64, end: f64) -> (usize, usize) {
        let Value::Obj(k) = slice_key(Value::Num(start), Value::Num(end)) else { panic!() };
        let b = SliceBounds::from_key(&k, 10).expect("numbers");
        (b.start, b.end)
    }

    /// The expected values are those of `[range(10)] | .[A:B]` in jq 1.6.
    #[test]
    fn slices_round_outwards() {
        assert_eq!(bounds(1.2, 3.5), (1, 4));
        assert_eq!(bounds(-2.0, 99.0), (8, 10));
        assert_eq!(bounds(5.0, 2.0), (5, 5));
        assert_eq!(bounds(f64::NAN, f64::NAN), (0, 10));
    }
}
