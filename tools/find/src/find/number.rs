//! Numeric arguments: `N`, `+N`, `-N`.

use super::expr::NumberTest;

/// Parses a non-negative integer as `strtoumax(3)` does. A sign before the integer selects the
/// comparison.
pub fn parse_integer(text: &[u8]) -> Option<NumberTest<u64>> {
    let (wrap, digits): (fn(u64) -> NumberTest<u64>, _) = match text {
        [b'+', rest @ ..] => (NumberTest::More, rest),
        [b'-', rest @ ..] => (NumberTest::Less, rest),
        _ => (NumberTest::Equal, text),
    };
    let n = box_text::number::parse_integer(digits, 10);
    (n.len > 0 && n.len == digits.len() && !n.negative && !n.overflow).then(|| wrap(n.magnitude))
}

/// Parses a number as [`parse_integer`] does, but with decimals.
pub fn parse_decimal(text: &[u8]) -> Option<NumberTest<f64>> {
    let (wrap, digits): (fn(f64) -> NumberTest<f64>, _) = match text {
        [b'+', rest @ ..] => (NumberTest::More, rest),
        [b'-', rest @ ..] => (NumberTest::Less, rest),
        _ => (NumberTest::Equal, text),
    };
    if !digits.first()?.is_ascii_digit() && digits.first() != Some(&b'.') {
        return None;
    }
    let value: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    value.is_finite().then(|| wrap(value))
}

/// Parses a number that consists only of digits.
pub fn parse_digits(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}
