//! Strings.

use super::{Native, fail_with, natives, take_argument};
use crate::value::{Result, Value, index};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "startswith"/1 => |_, v, a| test_affix(&v, &take_argument(a, 0), "startswith", |s, x| s.starts_with(x)),
    "endswith"/1 => |_, v, a| test_affix(&v, &take_argument(a, 0), "endswith", |s, x| s.ends_with(x)),
    "ltrimstr"/1 => |_, v, a| {
        let x = take_argument(a, 0);
        let found = test_affix(&v, &x, "startswith", |s, x| s.starts_with(x))?.is_truthy();
        let rest = v.as_str().and_then(|s| s.strip_prefix(x.as_str()?));
        Ok(if let (true, Some(rest)) = (found, rest) { rest.into() } else { v })
    },
    "rtrimstr"/1 => |_, v, a| {
        let x = take_argument(a, 0);
        let found = test_affix(&v, &x, "endswith", |s, x| s.ends_with(x))?.is_truthy();
        let rest = v.as_str().and_then(|s| s.strip_suffix(x.as_str()?));
        Ok(if let (true, Some(rest)) = (found, rest) { rest.into() } else { v })
    },
    "trim"/0 => |_, v, _| trim_text(&v, str::trim),
    "ltrim"/0 => |_, v, _| trim_text(&v, str::trim_start),
    "rtrim"/0 => |_, v, _| trim_text(&v, str::trim_end),
    "ascii_downcase"/0 => |_, v, _| match &v {
        Value::Str(s) => Ok(s.to_ascii_lowercase().into()),
        _ => fail_with("ascii_downcase input must be a string"),
    },
    "ascii_upcase"/0 => |_, v, _| match &v {
        Value::Str(s) => Ok(s.to_ascii_uppercase().into()),
        _ => fail_with("ascii_upcase input must be a string"),
    },
    "explode"/0 => |_, v, _| match &v {
        Value::Str(s) => Ok(s.chars().map(|c| Value::Num(f64::from(u32::from(c)))).collect()),
        _ => fail_with("explode input must be a string"),
    },
    "implode"/0 => |_, v, _| implode_codepoints(&v),
    "split"/1 => |_, v, a| match (&v, &take_argument(a, 0)) {
        (Value::Str(s), Value::Str(by)) => Ok(split_text(s, by)),
        _ => fail_with("split input and separator must be strings"),
    },
    "indices"/1 => |_, v, a| find_indices(&v, &take_argument(a, 0)),
    "index"/1 => |_, v, a| {
        let all = find_indices(&v, &take_argument(a, 0))?;
        index(&all, &Value::Num(0.0))
    },
    "rindex"/1 => |_, v, a| {
        let all = find_indices(&v, &take_argument(a, 0))?;
        index(&all, &Value::Num(-1.0))
    },
};

fn test_affix(v: &Value, x: &Value, name: &str, test: fn(&str, &str) -> bool) -> Result<Value> {
    match (v, x) {
        (Value::Str(s), Value::Str(x)) => Ok(test(s, x).into()),
        _ => fail_with(format!("{name}() requires string inputs")),
    }
}

fn trim_text(v: &Value, f: fn(&str) -> &str) -> Result<Value> {
    match v {
        Value::Str(s) => Ok(f(s).into()),
        _ => fail_with("trim input must be a string"),
    }
}

/// Splits a text at a separator, or into its characters if the separator is empty.
pub fn split_text(s: &str, by: &str) -> Value {
    if s.is_empty() {
        return Value::arr(Vec::new());
    }
    if by.is_empty() {
        return s.chars().map(Value::str).collect();
    }
    s.split(by).map(Value::from).collect()
}

/// Makes text from codepoints; invalid ones become U+FFFD.
fn implode_codepoints(v: &Value) -> Result<Value> {
    let Value::Arr(codes) = v else {
        return fail_with("implode input must be an array");
    };
    let mut out = String::with_capacity(codes.len());
    for c in codes.iter() {
        let Some(n) = c.as_num() else {
            return fail_with("Unicode codepoint must be numeric");
        };
        let code = if n >= 0.0 { n as u32 } else { u32::MAX };
        out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
    }
    Ok(out.into())
}

fn find_indices(v: &Value, what: &Value) -> Result<Value> {
    match (v, what) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Str(s), Value::Str(part)) => Ok(text_indices(s, part)),
        (Value::Arr(_), Value::Arr(_)) => index(v, what),
        (Value::Arr(_), other) => index(v, &Value::arr(vec![other.clone()])),
        _ => index(v, what),
    }
}

/// Returns the positions in codepoints at which a text occurs, including those that overlap.
fn text_indices(s: &str, part: &str) -> Value {
    let mut out = Vec::new();
    let Some(first) = part.chars().next() else { return Value::arr(out) };
    let (mut at, mut codepoints) = (0, 0);
    while let Some(found) = s[at..].find(part) {
        codepoints += s[at..at + found].chars().count();
        out.push(Value::int(codepoints));
        at += found + first.len_utf8();
        codepoints += 1;
    }
    Value::arr(out)
}

/// Decodes percent signs; `None` if an escape is broken or the result is not UTF-8.
pub fn percent_decode(s: &str) -> Option<String> {
    let mut out = Vec::with_capacity(s.len());
    let mut rest = s.as_bytes();
    while let Some((&c, tail)) = rest.split_first() {
        rest = tail;
        if c != b'%' {
            out.push(c);
            continue;
        }
        let digits = rest.get(..2)?;
        let byte = digits.iter().try_fold(0, |n, d| Some(n * 16 + (*d as char).to_digit(16)?))?;
        out.push(byte as u8);
        rest = &rest[2..];
    }
    String::from_utf8(out).ok()
}
