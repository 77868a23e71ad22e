//! Objects, keys and paths.

use std::rc::Rc;

use super::{Native, fail_with, natives, take_argument};
use crate::json;
use crate::value::{
    Map, Result, Str, Value, are_equal, delete_paths, has_key, not_iterable, set_path, shown_value,
    type_error, type_error2,
};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "keys"/0 => |_, v, _| object_keys(v, true),
    "keys_unsorted"/0 => |_, v, _| object_keys(v, false),
    "has"/1 => |_, v, a| has_key(&v, &take_argument(a, 0)),
    "contains"/1 => |_, v, a| {
        let part = take_argument(a, 0);
        if v.type_name() != part.type_name() {
            return Err(type_error2(&v, &part, "cannot have their containment checked"));
        }
        contains_value(&v, &part, 0).map(Value::Bool)
    },
    "to_entries"/0 => |_, v, _| to_entries(v),
    "from_entries"/0 => |_, v, _| from_entries(v),
    "setpath"/2 => |_, v, a| {
        let Value::Arr(path) = take_argument(a, 0) else {
            return fail_with("Path must be specified as an array");
        };
        set_path(v, &path, take_argument(a, 1))
    },
    "delpaths"/1 => |_, v, a| delete_paths(v, &take_argument(a, 0)),
};

/// The maximum depth of a check by `contains`.
const MAX_DEPTH: usize = 10_000;

fn object_keys(v: Value, sorted: bool) -> Result<Value> {
    match &v {
        Value::Arr(a) => Ok((0..a.len()).map(Value::int).collect()),
        Value::Obj(o) if sorted => {
            Ok(o.sorted_entries().into_iter().map(|(k, _)| Value::Str(k.clone())).collect())
        }
        Value::Obj(o) => Ok(o.iter().map(|(k, _)| Value::Str(k.clone())).collect()),
        other => Err(type_error(other, "has no keys")),
    }
}

fn contains_value(a: &Value, b: &Value, depth: usize) -> Result<bool> {
    if depth > MAX_DEPTH {
        return fail_with("Containment check too deep");
    }
    Ok(match (a, b) {
        (Value::Obj(a), Value::Obj(b)) => {
            for (k, v) in b.iter() {
                match a.get_shared(k) {
                    Some(w) if contains_value(w, v, depth + 1)? => {}
                    _ => return Ok(false),
                }
            }
            true
        }
        (Value::Arr(a), Value::Arr(b)) => {
            for v in b.iter() {
                let mut found = false;
                for w in a.iter() {
                    if contains_value(w, v, depth + 1)? {
                        found = true;
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Str(a), Value::Str(b)) => a.contains(b.as_str()),
        _ => are_equal(a, b),
    })
}

fn to_entries(v: Value) -> Result<Value> {
    let entry = |k: Value, v: &Value| {
        let mut m = Map::with_capacity(2);
        m.insert(Rc::new("key".to_string()), k);
        m.insert(Rc::new("value".to_string()), v.clone());
        Value::obj(m)
    };
    match &v {
        Value::Obj(o) => Ok(o.iter().map(|(k, v)| entry(Value::Str(k.clone()), v)).collect()),
        Value::Arr(a) => Ok(a.iter().enumerate().map(|(i, v)| entry(Value::int(i), v)).collect()),
        other => Err(type_error(other, "has no keys")),
    }
}

/// Returns the value of the first of the names that exists; unless `null_counts`, of the first
/// whose value is not null.
fn pick_first(o: &Map, names: &[&str], null_counts: bool) -> Value {
    let mut found = names.iter().filter_map(|n| o.get(n));
    let first = if null_counts { found.next() } else { found.find(|v| !matches!(v, Value::Null)) };
    first.cloned().unwrap_or(Value::Null)
}

fn from_entries(v: Value) -> Result<Value> {
    let entries: Vec<&Value> = match &v {
        Value::Arr(a) => a.iter().collect(),
        Value::Obj(o) => o.iter().map(|(_, v)| v).collect(),
        other => return Err(not_iterable(other)),
    };
    let mut out = Map::with_capacity(entries.len());
    for e in entries {
        let (key, value) = match e {
            Value::Obj(o) => (
                pick_first(o, &["key", "k", "name", "Name", "Key", "K"], false),
                pick_first(o, &["value", "v", "Value", "V"], true),
            ),
            Value::Null => (Value::Null, Value::Null),
            other => {
                return fail_with(format!(
                    "Cannot index {} with string \"key\"",
                    other.type_name()
                ));
            }
        };
        let key: Str = match key {
            Value::Str(s) => s,
            Value::Bool(_) | Value::Num(_) | Value::Lit(_) | Value::Null => {
                Rc::new(json::to_text(&key))
            }
            other => {
                return fail_with(format!(
                    "Cannot use {} ({}) as object key",
                    other.type_name(),
                    shown_value(&other, 14)
                ));
            }
        };
        out.insert(key, value);
    }
    Ok(Value::obj(out))
}
