//! Tokens of JSON text in a buffer that may end in the middle of one.

use crate::value::{Value, parse_number, text_from_bytes};

/// A token.
pub enum JsonToken {
    /// One of `[]{},:`.
    Mark(u8),
    /// A string or a literal.
    Value(Value),
    /// The start of a record (`--seq`).
    Separator,
    /// Nothing but white space is left.
    End,
    /// The buffer ends inside a token.
    Partial,
}

/// A syntax error in jq's wording.
pub type Problem = &'static str;

/// Reads one token from `data` at `at`, and moves `at` to after the token, or after the offending
/// byte if there is an error. `eof` says that nothing follows `data`.
pub fn next(data: &[u8], at: &mut usize, eof: bool, seq: bool) -> Result<JsonToken, Problem> {
    while let Some(&c) = data.get(*at) {
        match c {
            b' ' | b'\t' | b'\r' | b'\n' => *at += 1,
            b'[' | b']' | b'{' | b'}' | b',' | b':' => {
                *at += 1;
                return Ok(JsonToken::Mark(c));
            }
            b'"' => return scan_string(data, at, eof),
            0x1e if seq => {
                *at += 1;
                return Ok(JsonToken::Separator);
            }
            _ => return scan_literal(data, at, eof, seq),
        }
    }
    Ok(JsonToken::End)
}

fn scan_literal(data: &[u8], at: &mut usize, eof: bool, seq: bool) -> Result<JsonToken, Problem> {
    let rest = &data[*at..];
    let ends = |c: &u8| {
        matches!(c, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b']' | b'{' | b'}' | b',' | b':' | b'"')
            || (seq && *c == 0x1e)
    };
    let end = match rest.iter().position(ends) {
        Some(end) => end,
        None if eof => rest.len(),
        None => return Ok(JsonToken::Partial),
    };
    let word = &rest[..end];
    let value = match word {
        b"true" => Value::Bool(true),
        b"false" => Value::Bool(false),
        b"null" => Value::Null,
        b"nan" => Value::Num(f64::NAN),
        _ => match std::str::from_utf8(word).ok().and_then(parse_number) {
            Some(n) => n,
            None => {
                *at = (*at + end + 1).min(data.len());
                return Err(if matches!(word.first(), Some(b't' | b'f' | b'n')) {
                    "Invalid literal"
                } else {
                    "Invalid numeric literal"
                });
            }
        },
    };
    *at += end;
    Ok(JsonToken::Value(value))
}

fn scan_string(data: &[u8], at: &mut usize, eof: bool) -> Result<JsonToken, Problem> {
    let start = *at + 1;
    let mut i = start;
    let mut escaped = false;
    loop {
        match data.get(i) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = true;
                i += 2;
            }
            Some(_) => i += 1,
            None if eof => {
                *at = data.len();
                return Err("Unfinished string");
            }
            None => return Ok(JsonToken::Partial),
        }
    }
    *at = i + 1;
    let raw = &data[start..i];
    if raw.iter().any(|c| *c < 0x1f && *c != 0) {
        return Err(
            "Invalid string: control characters from U+0000 through U+001F must be escaped",
        );
    }
    let bytes = if escaped { unescape_string(raw)? } else { raw.to_vec() };
    Ok(JsonToken::Value(Value::str(text_from_bytes(bytes))))
}

fn unescape_string(raw: &[u8]) -> Result<Vec<u8>, Problem> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(i) = rest.iter().position(|c| *c == b'\\') {
        out.extend_from_slice(&rest[..i]);
        let escape = rest.get(i + 1).copied();
        rest = rest.get(i + 2..).unwrap_or_default();
        out.push(match escape {
            Some(c @ (b'"' | b'\\' | b'/')) => c,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let c = unescape_unicode(&mut rest)?;
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            Some(_) => return Err("Invalid escape"),
            None => return Err("Expected escape character at end of string"),
        });
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Returns the character for `XXXX` and, for a pair of surrogates, the `\uXXXX` after it; a lone
/// surrogate gives U+FFFD.
fn unescape_unicode(rest: &mut &[u8]) -> Result<char, Problem> {
    let high = parse_hex4(rest.get(..4).ok_or("Invalid \\uXXXX escape")?)
        .ok_or("Invalid characters in \\uXXXX escape")?;
    *rest = &rest[4..];
    if let 0xd800..=0xdbff = high
        && let Some([b'\\', b'u', digits @ ..]) = rest.get(..6)
        && let Some(low @ 0xdc00..=0xdfff) = parse_hex4(digits)
    {
        *rest = &rest[6..];
        let c = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return Ok(char::from_u32(c).unwrap_or('\u{fffd}'));
    }
    Ok(char::from_u32(high).unwrap_or('\u{fffd}'))
}

fn parse_hex4(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |n, c| Some(n * 16 + (*c as char).to_digit(16)?))
}
