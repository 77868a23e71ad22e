//! Floats at the start of a text.

use super::{blank_len, parse_integer};

/// Powers of ten that a double holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Returns the decimal number at the start of a text, after blanks: its correctly rounded value,
/// and the number of bytes used. Both are 0 if there is none. Hexadecimal numbers, `inf` and `nan`
/// do not count.
#[inline]
pub fn decimal_prefix(text: &[u8]) -> (f64, usize) {
    let start = match text.first() {
        Some(c) if *c > b' ' => 0,
        _ => blank_len(text),
    };
    let mut at = start;
    let negative = match text.get(at) {
        Some(b'-') => {
            at += 1;
            true
        }
        Some(b'+') => {
            at += 1;
            false
        }
        _ => false,
    };
    let (mut mantissa, mut digits, mut fraction) = (0u64, 0usize, 0usize);
    while let Some(d) = text.get(at).map(|c| c.wrapping_sub(b'0')).filter(|d| *d < 10) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
        digits += 1;
        at += 1;
    }
    if text.get(at) == Some(&b'.') {
        let dot = at;
        at += 1;
        while let Some(d) = text.get(at).map(|c| c.wrapping_sub(b'0')).filter(|d| *d < 10) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(d));
            fraction += 1;
            at += 1;
        }
        if digits + fraction == 0 {
            at = dot;
        }
    }
    if digits + fraction == 0 {
        return (0.0, 0);
    }
    let mut exponent = false;
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'-' | b'+')));
        let mut end = at + 1 + sign;
        if text.get(end).is_some_and(u8::is_ascii_digit) {
            while text.get(end).is_some_and(u8::is_ascii_digit) {
                end += 1;
            }
            exponent = true;
            at = end;
        }
    }
    // Both operands are exact, and one division is rounded correctly, so the result is correct
    // (Clinger's fast path).
    if !exponent && digits + fraction <= 15 {
        let value = mantissa as f64 / POWERS[fraction];
        return (if negative { -value } else { value }, at);
    }
    // The scanned bytes are ASCII and in the syntax that `f64::from_str` accepts.
    let value = std::str::from_utf8(&text[start..at]).ok().and_then(|s| s.parse().ok());
    (value.unwrap_or(0.0), at)
}

/// Parses the number at the start of a text as `strtod(3)` reads it: value and bytes used.
pub fn parse_float(text: &[u8]) -> (f64, usize) {
    let start = blank_len(text);
    let sign = usize::from(matches!(text.get(start), Some(b'-' | b'+')));
    let negative = text.get(start) == Some(&b'-');
    let rest = &text[start + sign..];
    let signed = |v: f64| if negative { -v } else { v };
    let starts =
        |word: &[u8]| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word);
    let base = start + sign;
    if starts(b"infinity") {
        return (signed(f64::INFINITY), base + 8);
    }
    if starts(b"inf") {
        return (signed(f64::INFINITY), base + 3);
    }
    if starts(b"nan") {
        let mut len = 3;
        if rest.get(3) == Some(&b'(') {
            let body = &rest[4..];
            let end = body.iter().position(|c| !c.is_ascii_alphanumeric() && *c != b'_');
            if let Some(n) = end.filter(|n| body[*n] == b')') {
                len = n + 5;
            }
        }
        return (signed(f64::NAN), base + len);
    }
    if starts(b"0x")
        && let Some((value, len)) = parse_hexadecimal(&rest[2..])
    {
        return (signed(value), base + 2 + len);
    }
    decimal_prefix(text)
}

/// Parses hexadecimal digits, point and binary exponent after `0x`.
fn parse_hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let (mut mantissa, mut sticky, mut exponent) = (0u64, false, 0i64);
    let (mut at, mut digits, mut point) = (0, 0, false);
    while let Some(&c) = text.get(at) {
        if c == b'.' && !point {
            point = true;
        } else if let Some(d) = char::from(c).to_digit(16) {
            digits += 1;
            if mantissa >> 60 == 0 {
                mantissa = mantissa << 4 | u64::from(d);
                exponent -= if point { 4 } else { 0 };
            } else {
                sticky |= d != 0;
                exponent += if point { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if digits == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'p' | b'P'))
        && !text.get(at + 1).is_none_or(|c| super::is_space(*c))
    {
        let power = parse_integer(&text[at + 1..], 10);
        if power.len > 0 {
            exponent = exponent.saturating_add(power.signed().0);
            at += 1 + power.len;
        }
    }
    Some((scale_mantissa(mantissa, sticky, exponent), at))
}

/// Returns `mantissa * 2^exponent`, rounded once to nearest even. `sticky` says that lower bits
/// were lost.
pub(crate) fn scale_mantissa(mantissa: u64, sticky: bool, exponent: i64) -> f64 {
    if mantissa == 0 {
        return 0.0;
    }
    let shift = mantissa.leading_zeros();
    let mantissa = mantissa << shift;
    let exponent = exponent.saturating_sub(i64::from(shift));
    // The value is mantissa/2^63 * 2^top, with the first factor in [1, 2).
    let top = exponent.saturating_add(63);
    if top > 1023 {
        return f64::INFINITY;
    }
    // The number of bits that a double keeps: 53, and fewer for subnormals.
    let keep = if top >= -1022 { 53 } else { 53 + (top + 1022).max(-54) };
    let drop = (64 - keep).min(64) as u32;
    let (kept, rest) = match drop {
        64 => (0, mantissa),
        d if d > 64 => (0, 1),
        d => (mantissa >> d, mantissa << (64 - d)),
    };
    let half = 1u64 << 63;
    let up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    let up = up && keep >= 0;
    let significand = kept + u64::from(up);
    // For normal numbers, adding the significand also carries its hidden bit into the exponent
    // field.
    let bits = if top >= -1022 { (((top + 1022) as u64) << 52) + significand } else { significand };
    f64::from_bits(bits)
}
