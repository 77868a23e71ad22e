//! The values of jq: JSON with numbers as doubles or as literals in their written form, and with
//! ordered objects.
//!
//! Containers are reference counted and changed in place when they have no other owner, so that
//! `reduce` over an array takes linear time. Dropping a deeply nested value does not recurse
//! deeply: see [`JqItems`].

mod compare;
mod items;
mod map;
mod number;
mod path;

pub use compare::{are_equal, compare_total, compare_values};
pub use items::{JqItems, into_vec};
pub use map::Map;
pub use number::{Literal, float_text, parse_number};
pub use path::{delete_paths, get_path, has_key, index, set_path, slice_key, take_path};

use std::rc::Rc;

/// A text, which is always valid UTF-8, because invalid bytes of the input are replaced.
pub type Str = Rc<String>;

/// A jq value.
#[derive(Clone, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Num(f64),
    /// A number literal whose text has more information than its double: `1.000`,
    /// `100000000000000000000`.
    Lit(Rc<Literal>),
    Str(Str),
    Arr(Rc<JqItems>),
    Obj(Rc<Map>),
}

/// The result of a filter; the error is the value that `catch` receives.
pub type Result<T, E = Value> = std::result::Result<T, E>;

impl Value {
    /// Returns a string.
    pub fn str(s: impl Into<String>) -> Value {
        Value::Str(Rc::new(s.into()))
    }

    /// Makes text from bytes; invalid UTF-8 becomes U+FFFD.
    pub fn bytes(b: impl Into<Vec<u8>>) -> Value {
        Value::str(text_from_bytes(b.into()))
    }

    /// Returns an array.
    pub fn arr(v: Vec<Value>) -> Value {
        Value::Arr(Rc::new(JqItems::from_vec(v)))
    }

    /// Returns an object.
    pub fn obj(m: Map) -> Value {
        Value::Obj(Rc::new(m))
    }

    /// Returns a number.
    pub fn int(i: usize) -> Value {
        Value::Num(i as f64)
    }

    /// Returns true for all values except `null` and `false`.
    pub fn is_truthy(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// Returns the double of a number.
    pub fn as_num(&self) -> Option<f64> {
        match self {
            Value::Num(n) => Some(*n),
            Value::Lit(l) => Some(l.value),
            _ => None,
        }
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// Returns the elements of an array.
    pub fn as_arr(&self) -> Option<&[Value]> {
        match self {
            Value::Arr(a) => Some(a),
            _ => None,
        }
    }

    /// Returns the name that `type` returns.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Num(_) | Value::Lit(_) => "number",
            Value::Str(_) => "string",
            Value::Arr(_) => "array",
            Value::Obj(_) => "object",
        }
    }

    /// Returns whether both are the same container in memory, or equal scalars. Path expressions
    /// are checked with this.
    pub fn is_identical(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Num(a), Value::Num(b)) => a.to_bits() == b.to_bits(),
            (Value::Lit(a), Value::Lit(b)) => Rc::ptr_eq(a, b),
            (Value::Str(a), Value::Str(b)) => Rc::ptr_eq(a, b),
            (Value::Arr(a), Value::Arr(b)) => Rc::ptr_eq(a, b),
            (Value::Obj(a), Value::Obj(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Value {
        Value::Bool(b)
    }
}

impl From<f64> for Value {
    fn from(n: f64) -> Value {
        Value::Num(n)
    }
}

impl From<&str> for Value {
    fn from(s: &str) -> Value {
        Value::str(s)
    }
}

impl From<String> for Value {
    fn from(s: String) -> Value {
        Value::str(s)
    }
}

impl FromIterator<Value> for Value {
    fn from_iter<I: IntoIterator<Item = Value>>(iter: I) -> Value {
        Value::arr(iter.into_iter().collect())
    }
}

/// Converts bytes to text, without a copy if they are valid UTF-8; otherwise invalid bytes become
/// U+FFFD.
pub fn text_from_bytes(b: Vec<u8>) -> String {
    String::from_utf8(b).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
}

/// Returns `TYPE (VALUE)`, by which jq's errors name a value, with the value cut to `limit` bytes
/// (the sizes of jq's buffers without their NUL: 14 in type errors, 29 for objects in path errors).
pub fn shown_value(v: &Value, limit: usize) -> String {
    let mut text = crate::json::to_text(v);
    if text.len() > limit {
        let mut end = limit - 3;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push_str("...");
    }
    text
}

/// Returns the error `TYPE (VALUE) MESSAGE`.
pub fn type_error(v: &Value, message: &str) -> Value {
    Value::str(format!("{} ({}) {message}", v.type_name(), shown_value(v, 14)))
}

/// Returns the error `TYPE (VALUE) and TYPE (VALUE) MESSAGE`.
pub fn type_error2(a: &Value, b: &Value, message: &str) -> Value {
    Value::str(format!(
        "{} ({}) and {} ({}) {message}",
        a.type_name(),
        shown_value(a, 14),
        b.type_name(),
        shown_value(b, 14)
    ))
}

/// Returns the elements of an array or the values of an object.
pub fn value_elements(v: Value) -> Result<Vec<Value>> {
    match v {
        Value::Arr(a) => Ok(into_vec(a)),
        Value::Obj(o) => Ok(o.iter().map(|(_, v)| v.clone()).collect()),
        other => Err(not_iterable(&other)),
    }
}

/// Returns jq's error about a value that has no elements.
pub fn not_iterable(v: &Value) -> Value {
    Value::str(format!("Cannot iterate over {} ({})", v.type_name(), shown_value(v, 14)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_values_drop_without_recursion() {
        let mut v = Value::Null;
        for i in 0..1_000_000 {
            v = if i % 2 == 0 {
                Value::arr(vec![v])
            } else {
                let mut m = Map::default();
                m.insert(Rc::new("a".to_string()), v);
                Value::obj(m)
            };
        }
        drop(v);
    }
}
