//! The formats `@text`, `@json`, `@csv` and others.

use box_text::base64;

use super::{Native, fail_with, natives, strings, take_argument};
use crate::json;
use crate::value::{Result, Value, type_error};

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "format"/1 => |_, v, a| {
        let name = take_argument(a, 0);
        let Value::Str(name) = &name else {
            return Err(type_error(&name, "is not a valid format"));
        };
        let mut out = String::new();
        format_into(&mut out, &v, name)?;
        Ok(out.into())
    },
};

/// Appends a value in a format.
pub fn format_into(out: &mut String, v: &Value, name: &str) -> Result<()> {
    match name {
        "text" => match v {
            Value::Str(s) => out.push_str(s),
            other => out.push_str(&json::to_text(other)),
        },
        "json" => out.push_str(&json::to_text(v)),
        "csv" => format_row(out, v, ",", "csv", |out, s| {
            out.push('"');
            out.push_str(&s.replace('"', "\"\""));
            out.push('"');
        })?,
        "tsv" => format_row(out, v, "\t", "tsv", |out, s| {
            escape_text(out, s, |c| match c {
                '\t' => Some("\\t"),
                '\n' => Some("\\n"),
                '\r' => Some("\\r"),
                '\\' => Some("\\\\"),
                _ => None,
            });
        })?,
        "html" => escape_text(out, &value_text(v), |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '\'' => Some("&apos;"),
            '"' => Some("&quot;"),
            _ => None,
        }),
        "uri" => {
            for b in value_text(v).bytes() {
                if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'~') {
                    out.push(b as char);
                } else {
                    out.push_str(&format!("%{b:02X}"));
                }
            }
        }
        "urid" => match strings::percent_decode(&value_text(v)) {
            Some(s) => out.push_str(&s),
            None => return Err(type_error(v, "is not a valid uri encoding")),
        },
        "sh" => format_shell(out, v)?,
        "base64" => out.push_str(&base64::encode_base64(value_text(v).as_bytes())),
        "base64d" => match base64_decode(&value_text(v)) {
            Ok(bytes) => out.push_str(&crate::value::text_from_bytes(bytes)),
            Err(message) => return Err(type_error(v, message)),
        },
        "base32" => format_base32(out, value_text(v).as_bytes()),
        "base32d" => match base32_decode(&value_text(v)) {
            Some(bytes) => out.push_str(&crate::value::text_from_bytes(bytes)),
            None => return Err(type_error(v, "is not valid base32 data")),
        },
        _ => return fail_with(format!("{name} is not a valid format")),
    }
    Ok(())
}

/// Returns the text of a string, or the JSON of any other value.
fn value_text(v: &Value) -> String {
    match v {
        Value::Str(s) => s.to_string(),
        other => json::to_text(other),
    }
}

fn escape_text(out: &mut String, s: &str, f: impl Fn(char) -> Option<&'static str>) {
    for c in s.chars() {
        match f(c) {
            Some(e) => out.push_str(e),
            None => out.push(c),
        }
    }
}

fn format_row(
    out: &mut String,
    v: &Value,
    separator: &str,
    name: &str,
    field: impl Fn(&mut String, &str),
) -> Result<()> {
    let Value::Arr(items) = v else {
        return Err(type_error(v, &format!("cannot be {name}-formatted, only an array can be")));
    };
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(separator);
        }
        match item {
            Value::Null => {}
            Value::Num(n) if n.is_nan() => {}
            Value::Bool(_) | Value::Num(_) | Value::Lit(_) => out.push_str(&json::to_text(item)),
            Value::Str(s) => field(out, s),
            other => return Err(type_error(other, &format!("is not valid in a {name} row"))),
        }
    }
    Ok(())
}

fn format_shell(out: &mut String, v: &Value) -> Result<()> {
    let items = match v {
        Value::Arr(a) => &a[..],
        other => std::slice::from_ref(other),
    };
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match item {
            Value::Str(s) => {
                out.push('\'');
                out.push_str(&s.replace('\'', "'\\''"));
                out.push('\'');
            }
            Value::Arr(_) | Value::Obj(_) => {
                return Err(type_error(item, "can not be escaped for shell"));
            }
            other => out.push_str(&json::to_text(other)),
        }
    }
    Ok(())
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Decodes base64. Like jq it stops at the first `=` and returns the complete bytes before it.
fn base64_decode(s: &str) -> Result<Vec<u8>, &'static str> {
    let mut out = Vec::with_capacity(s.len() * 3 / 4);
    let (mut bits, mut count, mut digits) = (0u32, 0, 0usize);
    for c in s.bytes().take_while(|c| *c != b'=') {
        let Some(digit) = base64::DIGITS.iter().position(|b| *b == c) else {
            return Err("is not valid base64 data");
        };
        digits += 1;
        bits = bits << 6 | digit as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    if digits % 4 == 1 {
        return Err("trailing base64 byte found");
    }
    Ok(out)
}

fn format_base32(out: &mut String, data: &[u8]) {
    for chunk in data.chunks(5) {
        let mut block = [0u8; 8];
        block[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(block);
        let used = (chunk.len() * 8).div_ceil(5);
        for i in 0..8 {
            let digit = BASE32[(bits >> (35 - 5 * i)) as usize & 31];
            out.push(if i < used { digit as char } else { '=' });
        }
    }
}

fn base32_decode(s: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(s.len() * 5 / 8);
    let (mut bits, mut count) = (0u32, 0);
    for c in s.bytes().take_while(|c| *c != b'=') {
        let digit = BASE32.iter().position(|b| *b == c)?;
        bits = (bits << 5 | digit as u32) & 0xfff;
        count += 5;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formatted(v: &str, name: &str) -> String {
        let mut out = String::new();
        match format_into(&mut out, &v.into(), name) {
            Ok(()) => out,
            Err(e) => format!("error: {}", value_text(&e)),
        }
    }

    /// The expected values are those of RFC 4648, section 10; the messages are those of jq 1.6.
    #[test]
    fn bases() {
        for (plain, b64, b32) in [
            ("", "", ""),
            ("f", "Zg==", "MY======"),
            ("fo", "Zm8=", "MZXQ===="),
            ("foo", "Zm9v", "MZXW6==="),
            ("foob", "Zm9vYg==", "MZXW6YQ="),
            ("fooba", "Zm9vYmE=", "MZXW6YTB"),
            ("foobar", "Zm9vYmFy", "MZXW6YTBOI======"),
        ] {
            assert_eq!(formatted(plain, "base64"), b64);
            assert_eq!(formatted(b64, "base64d"), plain);
            assert_eq!(formatted(plain, "base32"), b32);
            assert_eq!(formatted(b32, "base32d"), plain);
        }
        assert_eq!(formatted("=", "base64d"), "");
        assert_eq!(formatted("Z", "base64d"), "error: string (\"Z\") trailing base64 byte found");
        assert_eq!(formatted("!", "base64d"), "error: string (\"!\") is not valid base64 data");
    }
}
