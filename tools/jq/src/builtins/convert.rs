//! Types and conversions.

use super::{Native, fail_with, natives};
use crate::json;
use crate::value::{Result, Value, compare_values, parse_number, type_error};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "type"/0 => |_, v, _| Ok(v.type_name().into()),
    "tojson"/0 => |_, v, _| Ok(json::to_text(&v).into()),
    "tostring"/0 => |_, v, _| Ok(to_string(v)),
    "fromjson"/0 => |_, v, _| from_json(v),
    "tonumber"/0 => |_, v, _| to_number(v),
    "toboolean"/0 => |_, v, _| match &v {
        Value::Bool(_) => Ok(v),
        Value::Str(s) if s.as_str() == "true" => Ok(true.into()),
        Value::Str(s) if s.as_str() == "false" => Ok(false.into()),
        _ => Err(type_error(&v, "cannot be parsed as a boolean")),
    },
    "length"/0 => |_, v, _| match &v {
        Value::Null => Ok(Value::Num(0.0)),
        Value::Bool(_) => Err(type_error(&v, "has no length")),
        Value::Num(n) => Ok(Value::Num(n.abs())),
        Value::Lit(_) => absolute_value(v),
        Value::Str(s) => Ok(Value::int(s.chars().count())),
        Value::Arr(a) => Ok(Value::int(a.len())),
        Value::Obj(o) => Ok(Value::int(o.len())),
    },
    "utf8bytelength"/0 => |_, v, _| match &v {
        Value::Str(s) => Ok(Value::int(s.len())),
        other => Err(type_error(other, "only strings have UTF-8 byte length")),
    },
    "abs"/0 => |_, v, _| absolute_value(v),
};

/// Returns a string as it is, any other value as JSON.
pub fn to_string(v: Value) -> Value {
    match v {
        Value::Str(_) => v,
        other => json::to_text(&other).into(),
    }
}

/// Returns `if . < 0 then -. else . end`, as the manual defines it.
fn absolute_value(v: Value) -> Result<Value> {
    if compare_values(&v, &Value::Num(0.0)).is_lt() { super::negate_value(v) } else { Ok(v) }
}

fn from_json(v: Value) -> Result<Value> {
    let Value::Str(s) = &v else {
        return Err(type_error(&v, "only strings can be parsed"));
    };
    json::parse_one(s.as_bytes()).or_else(|e| fail_with(format!("{e} (while parsing '{s}')")))
}

fn to_number(v: Value) -> Result<Value> {
    match &v {
        Value::Num(_) | Value::Lit(_) => Ok(v),
        Value::Str(s) if s.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
            parse_number(s).ok_or_else(|| type_error(&v, "cannot be parsed as a number"))
        }
        other => Err(type_error(other, "cannot be parsed as a number")),
    }
}
