//! Number literals, and the text of numbers.
//!
//! jq 1.7 and later keep a literal's decimal value while nothing computes with it, and write it in
//! the General Decimal Arithmetic Specification's to-scientific-string form.

use std::cmp::Ordering;
use std::rc::Rc;

use super::Value;

/// A literal with its double.
#[derive(Debug)]
pub struct Literal {
    pub value: f64,
    negative: bool,
    /// The significant digits, without leading zeros; `0` for zero.
    digits: Box<str>,
    /// The power of ten of the last digit.
    exponent: i64,
}

/// The maximum exponent. Beyond it, jq's decimal numbers also overflow to infinity, or become zero.
const MAX_EXPONENT: i64 = 999_999_999;

/// Reads `-? digits [. digits] [e [+-] digits]` (one of the digit groups may be empty), `nan`
/// and `infinity`. `None` if `s` is none of these.
pub fn parse_number(s: &str) -> Option<Value> {
    let b = s.as_bytes();
    let (negative, rest) = match b.first()? {
        b'-' => (true, &s[1..]),
        b'+' => (false, &s[1..]),
        _ => (false, s),
    };
    let digits_end = rest.bytes().position(|c| !c.is_ascii_digit()).unwrap_or(rest.len());
    // The common case: short integers, whose double prints as they were written.
    if digits_end == rest.len()
        && (1..=15).contains(&digits_end)
        && (digits_end == 1 || !rest.starts_with('0'))
    {
        let n = rest.bytes().fold(0u64, |n, c| n * 10 + u64::from(c - b'0')) as f64;
        return Some(Value::Num(if negative { -n } else { n }));
    }
    let mut at = digits_end;
    let whole = &rest[..digits_end];
    let mut fraction = "";
    if rest[at..].starts_with('.') {
        let after = &rest[at + 1..];
        let end = after.bytes().position(|c| !c.is_ascii_digit()).unwrap_or(after.len());
        fraction = &after[..end];
        at += 1 + end;
    }
    if whole.is_empty() && fraction.is_empty() {
        return special_number(rest, negative);
    }
    let mut exponent = 0i64;
    if rest[at..].starts_with(['e', 'E']) {
        let text = &rest[at + 1..];
        let (minus, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let size = digits.parse::<i64>().unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        exponent = if minus { -size } else { size };
        at = rest.len();
    }
    if at != rest.len() {
        return None;
    }
    // The standard parser takes the same syntax and rounds correctly.
    let value: f64 = rest.parse().ok()?;
    let value = if negative { -value } else { value };
    let all = [whole, fraction].concat();
    let digits = all.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let exponent = exponent.saturating_sub(fraction.len() as i64);
    let adjusted = exponent.saturating_add(digits.len() as i64 - 1);
    if adjusted > MAX_EXPONENT {
        return Some(Value::Num(if negative { f64::NEG_INFINITY } else { f64::INFINITY }));
    }
    if adjusted < -MAX_EXPONENT {
        return Some(Value::Num(if negative { -0.0 } else { 0.0 }));
    }
    let literal = Literal { value, negative, digits: digits.into(), exponent };
    // A literal is not kept if its double prints the same text. A literal with more than 15 digits
    // is always kept, because two different literals may have the same double.
    if digits.len() <= 15 && literal.to_string() == float_text(value) {
        return Some(Value::Num(value));
    }
    Some(Value::Lit(Rc::new(literal)))
}

fn special_number(word: &str, negative: bool) -> Option<Value> {
    let n = if word.eq_ignore_ascii_case("nan") {
        f64::NAN
    } else if word.eq_ignore_ascii_case("infinity") || word.eq_ignore_ascii_case("inf") {
        f64::INFINITY
    } else {
        return None;
    };
    Some(Value::Num(if negative { -n } else { n }))
}

impl Literal {
    /// Returns the literal with the opposite sign.
    pub fn negate_literal(&self) -> Literal {
        Literal {
            value: -self.value,
            negative: !self.negative,
            digits: self.digits.clone(),
            exponent: self.exponent,
        }
    }

    /// Compares the exact decimal values.
    pub fn compare_exact(&self, other: &Literal) -> Ordering {
        let by_double = self.value.partial_cmp(&other.value).unwrap_or(Ordering::Equal);
        if by_double != Ordering::Equal {
            return by_double;
        }
        let zero = |l: &Literal| &*l.digits == "0";
        if zero(self) || zero(other) {
            let sign = |l: &Literal| match (zero(l), l.negative) {
                (true, _) => 0,
                (false, true) => -1,
                (false, false) => 1,
            };
            return sign(self).cmp(&sign(other));
        }
        if self.negative != other.negative {
            return other.negative.cmp(&self.negative);
        }
        let top = |l: &Literal| l.exponent + l.digits.len() as i64;
        let size = top(self).cmp(&top(other)).then_with(|| {
            self.digits.trim_end_matches('0').cmp(other.digits.trim_end_matches('0'))
        });
        if self.negative { size.reverse() } else { size }
    }
}

/// Writes the to-scientific-string form.
impl std::fmt::Display for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        let digits = &*self.digits;
        let count = digits.len() as i64;
        let adjusted = self.exponent + count - 1;
        if self.exponent <= 0 && adjusted >= -6 {
            let point = count + self.exponent;
            if self.exponent == 0 {
                return write!(f, "{sign}{digits}");
            }
            if point > 0 {
                let (whole, fraction) = digits.split_at(point as usize);
                return write!(f, "{sign}{whole}.{fraction}");
            }
            let zeros = "0".repeat(point.unsigned_abs() as usize);
            return write!(f, "{sign}0.{zeros}{digits}");
        }
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        write!(f, "{sign}{first}{dot}{rest}E{adjusted:+}")
    }
}

/// Returns a double in the shortest form that reads back equal, in jq's notation; NaN is null and
/// infinities are the largest finite numbers, because JSON has neither.
pub fn float_text(f: f64) -> String {
    if f.is_nan() {
        return "null".to_string();
    }
    if f.is_infinite() {
        return float_text(if f > 0.0 { f64::MAX } else { f64::MIN });
    }
    if f == f.trunc() && f.abs() < 1e16 {
        return if f == 0.0 && f.is_sign_negative() {
            "-0".to_string()
        } else {
            (f as i64).to_string()
        };
    }
    let sci = format!("{f:e}");
    let (mantissa, exponent) = sci.split_once('e').unwrap_or((&sci, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = digits.len() as i32;
    // An exponent is written for numbers below 1e-4, and if more than 15 zeros would follow the
    // digits.
    if exponent > -5 && exponent < count + 15 {
        if exponent < 0 {
            let zeros = "0".repeat((-exponent - 1) as usize);
            return format!("{sign}0.{zeros}{digits}");
        }
        if exponent + 1 >= count {
            let zeros = "0".repeat((exponent + 1 - count) as usize);
            return format!("{sign}{digits}{zeros}");
        }
        let (whole, rest) = digits.split_at((exponent + 1) as usize);
        return format!("{sign}{whole}.{rest}");
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let esign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{dot}{rest}e{esign}{:02}", exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are those of `jq -nc '[...]'` in jq 1.6, which writes doubles as 1.8
    /// does.
    #[test]
    fn doubles() {
        for (f, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e17, "1e+17"),
            (12345678901234567890.0, "12345678901234567000"),
            (1.5e300, "1.5e+300"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (3.0e-7, "3e-07"),
            (-2.5, "-2.5"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(float_text(f), text, "{f}");
        }
    }

    fn shown(s: &str) -> String {
        match parse_number(s) {
            Some(Value::Num(n)) => float_text(n),
            Some(Value::Lit(l)) => l.to_string(),
            _ => "no number".to_string(),
        }
    }

    /// The expected values are those of the General Decimal Arithmetic Specification,
    /// to-scientific-string.
    #[test]
    fn literals() {
        for (given, text) in [
            ("123", "123"),
            ("1.23E3", "1.23E+3"),
            ("12.3", "12.3"),
            ("0.00123", "0.00123"),
            ("0.00000123", "0.00000123"),
            ("0.000000123", "1.23E-7"),
            ("-1.000", "-1.000"),
            ("100000000000000000000000", "100000000000000000000000"),
            (".5", "0.5"),
            ("1e1000", "1E+1000"),
            ("1e9999999999", "1.7976931348623157e+308"),
            ("1.", "1"),
            ("007", "7"),
            ("1e", "no number"),
            ("1x", "no number"),
            ("", "no number"),
            ("-", "no number"),
        ] {
            assert_eq!(shown(given), text, "{given}");
        }
    }

    #[test]
    fn exact_comparison() {
        let lit = |s: &str| match parse_number(s) {
            Some(Value::Lit(l)) => l,
            _ => panic!("{s} is no literal"),
        };
        let cmp = |a, b| lit(a).compare_exact(&lit(b));
        assert_eq!(cmp("13911860366432393", "13911860366432392.0"), Ordering::Greater);
        assert_eq!(cmp("1.000", "1.00"), Ordering::Equal);
        assert_eq!(cmp("-1E+1000", "-1E+999"), Ordering::Less);
    }
}
