//! `%e %f %g %a` and their capitals.

use std::io::Write;

use super::{ConversionSpec, LongDouble, put_padding, sign_prefix};

/// The maximum precision that is passed to `std`, which refuses those above 65535. No double has
/// more than 1074 fraction digits or 767 significant ones; further digits are zeros.
const EXACT: usize = 1100;

/// Formats a double by `%e %E %f %F %g %G %a %A`; any other letter counts as `g`.
pub fn put_float(out: &mut Vec<u8>, spec: &ConversionSpec, conversion: u8, value: f64) {
    if !value.is_finite() {
        return put_special(out, spec, conversion, value.is_sign_negative(), value.is_nan());
    }
    let sign = sign_prefix(spec, value.is_sign_negative());
    if conversion.eq_ignore_ascii_case(&b'a') {
        let bits = value.to_bits();
        let (fraction, field) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        let hex = match (field, fraction) {
            (0, 0) => Hex { lead: 0, fraction: 0, exponent: 0 },
            (0, _) => Hex { lead: 0, fraction: fraction << 12, exponent: -1022 },
            _ => Hex { lead: 1, fraction: fraction << 12, exponent: field - 1023 },
        };
        return put_hexadecimal(out, spec, conversion, sign, hex);
    }
    put_decimal(out, spec, conversion, sign, &value.abs());
}

/// Formats an x86 `long double` by the same conversions, because bash's and coreutils' `printf` use
/// that type.
pub fn long_double(out: &mut Vec<u8>, spec: &ConversionSpec, conversion: u8, value: &LongDouble) {
    let negative = value.is_negative();
    if !value.is_finite() {
        return put_special(out, spec, conversion, negative, value.is_nan());
    }
    let sign = sign_prefix(spec, negative);
    if conversion.eq_ignore_ascii_case(&b'a') {
        let (mantissa, exponent) = value.parts();
        let exponent = if mantissa == 0 { 0 } else { exponent + 60 };
        let hex = Hex { lead: mantissa >> 60, fraction: mantissa << 4, exponent };
        return put_hexadecimal(out, spec, conversion, sign, hex);
    }
    put_decimal(out, spec, conversion, sign, value);
}

/// A finite number without sign that can be rounded in decimal, half to even on its exact value.
pub(super) trait DecimalFloat {
    /// Returns the digits, with `precision` ones after the point; without a point if it is 0.
    fn fixed(&self, precision: usize) -> Vec<u8>;
    /// Returns `d.ddd`, with `precision` digits after the point (no point if that is 0), and the
    /// exponent of ten.
    fn scientific(&self, precision: usize) -> (Vec<u8>, i32);
}

impl DecimalFloat for f64 {
    fn fixed(&self, precision: usize) -> Vec<u8> {
        let mut text = Vec::with_capacity(32);
        let _ = write!(text, "{:.*}", precision.min(EXACT), self);
        put_padding(&mut text, b'0', precision.saturating_sub(EXACT));
        text
    }

    fn scientific(&self, precision: usize) -> (Vec<u8>, i32) {
        let mut text = Vec::with_capacity(32);
        let _ = write!(text, "{:.*e}", precision.min(EXACT), self);
        let at = text.iter().rposition(|c| *c == b'e').unwrap_or(text.len());
        let exponent = std::str::from_utf8(&text[at..]).ok().and_then(|t| t.get(1..)?.parse().ok());
        text.truncate(at);
        put_padding(&mut text, b'0', precision.saturating_sub(EXACT));
        (text, exponent.unwrap_or(0))
    }
}

fn put_decimal(
    out: &mut Vec<u8>,
    spec: &ConversionSpec,
    conversion: u8,
    sign: &[u8],
    value: &impl DecimalFloat,
) {
    let precision = spec.precision.unwrap_or(6);
    let upper = conversion.is_ascii_uppercase();
    let body = match conversion {
        b'f' | b'F' => add_point(value.fixed(precision), precision, spec.alt),
        b'e' | b'E' => {
            let (digits, exponent) = value.scientific(precision);
            with_exponent(add_point(digits, precision, spec.alt), exponent, upper)
        }
        _ => general_digits(value, precision.max(1), spec.alt, upper),
    };
    put_layout(out, spec, sign, &body, true);
}

/// `%g` (C: "P equal the precision if nonzero, 6 if omitted, or 1 if zero").
fn general_digits(value: &impl DecimalFloat, p: usize, alt: bool, upper: bool) -> Vec<u8> {
    let (digits, exponent) = value.scientific(p - 1);
    let fits = exponent >= -4 && i64::from(exponent) < i64::try_from(p).unwrap_or(i64::MAX);
    if !fits {
        let digits = if alt { add_point(digits, p - 1, true) } else { trim_zeros(digits) };
        return with_exponent(digits, exponent, upper);
    }
    // The digits are the same; only the point moves.
    let mut digits = digits;
    digits.retain(|c| *c != b'.');
    let mut text = Vec::with_capacity(digits.len() + 8);
    if exponent < 0 {
        text.extend_from_slice(b"0.");
        put_padding(&mut text, b'0', exponent.unsigned_abs() as usize - 1);
        text.extend_from_slice(&digits);
    } else {
        let whole = (exponent as usize + 1).min(digits.len());
        text.extend_from_slice(&digits[..whole]);
        if whole < digits.len() {
            text.push(b'.');
            text.extend_from_slice(&digits[whole..]);
        }
    }
    if alt {
        let dot = text.contains(&b'.');
        add_point(text, usize::from(dot), true)
    } else {
        trim_zeros(text)
    }
}

/// Removes trailing zeros of a fraction, and its point.
fn trim_zeros(mut text: Vec<u8>) -> Vec<u8> {
    if text.contains(&b'.') {
        let end = text.iter().rposition(|c| *c != b'0').map_or(0, |i| i + 1);
        text.truncate(end);
        if text.last() == Some(&b'.') {
            text.pop();
        }
    }
    text
}

/// Adds the point that `#` requires even without a fraction.
fn add_point(mut text: Vec<u8>, precision: usize, alt: bool) -> Vec<u8> {
    if alt && precision == 0 {
        text.push(b'.');
    }
    text
}

/// Appends `e+05`: a sign and at least two digits.
fn with_exponent(mut text: Vec<u8>, exponent: i32, upper: bool) -> Vec<u8> {
    let e = if upper { 'E' } else { 'e' };
    let s = if exponent < 0 { '-' } else { '+' };
    let _ = write!(text, "{e}{s}{:02}", exponent.unsigned_abs());
    text
}

/// A number for `%a`: `lead.fraction * 2^exponent`, the fraction left-aligned in 64 bits.
struct Hex {
    lead: u64,
    fraction: u64,
    exponent: i32,
}

fn put_hexadecimal(
    out: &mut Vec<u8>,
    spec: &ConversionSpec,
    conversion: u8,
    sign: &[u8],
    hex: Hex,
) {
    let Hex { mut lead, mut fraction, mut exponent } = hex;
    let mut digits = 16 - (fraction.trailing_zeros() / 4) as usize;
    if let Some(p) = spec.precision {
        if p < digits {
            // Round to p hexadecimal digits, half to even.
            let drop = 64 - 4 * p as u32;
            let (kept, rest) = if drop == 64 {
                (0, fraction)
            } else {
                (fraction >> drop, fraction << (64 - drop))
            };
            let odd = if p == 0 { lead & 1 } else { kept & 1 };
            let half = 1u64 << 63;
            let up = rest > half || (rest == half && odd == 1);
            let kept = kept + u64::from(up && p > 0);
            lead += u64::from(up && p == 0);
            if p > 0 && kept >> (4 * p) != 0 {
                lead += 1;
            }
            fraction = if p == 0 { 0 } else { kept << drop };
        }
        digits = p;
    }
    if lead == 16 {
        (lead, exponent) = (1, exponent + 4);
    }
    let mut body = format!("{lead:x}").into_bytes();
    if digits > 0 || spec.alt {
        body.push(b'.');
    }
    let all = format!("{fraction:016x}");
    body.extend_from_slice(&all.as_bytes()[..digits.min(16)]);
    put_padding(&mut body, b'0', digits.saturating_sub(16));
    let _ = write!(body, "p{exponent:+}");
    let prefix = [sign, b"0x"].concat();
    if conversion == b'A' {
        body.make_ascii_uppercase();
        return put_layout(out, spec, &prefix.to_ascii_uppercase(), &body, true);
    }
    put_layout(out, spec, &prefix, &body, true);
}

fn put_special(
    out: &mut Vec<u8>,
    spec: &ConversionSpec,
    conversion: u8,
    negative: bool,
    nan: bool,
) {
    let body: &[u8] = match (nan, conversion.is_ascii_uppercase()) {
        (true, false) => b"nan",
        (true, true) => b"NAN",
        (false, false) => b"inf",
        (false, true) => b"INF",
    };
    put_layout(out, spec, sign_prefix(spec, negative), body, false);
}

fn put_layout(out: &mut Vec<u8>, spec: &ConversionSpec, prefix: &[u8], body: &[u8], zeros: bool) {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    let zero_fill = zeros && spec.zero && !spec.minus;
    if !spec.minus && !zero_fill {
        put_padding(out, b' ', fill);
    }
    out.extend_from_slice(prefix);
    if zero_fill {
        put_padding(out, b'0', fill);
    }
    out.extend_from_slice(body);
    if spec.minus {
        put_padding(out, b' ', fill);
    }
}
