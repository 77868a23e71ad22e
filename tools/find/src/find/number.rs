//! Numeric arguments: `N`, `+N`, `-N`.

use super::expr::NumberTest;

/// A non-negative integer with its sign as comparison.
pub fn integer(text: &[u8]) -> Option<NumberTest<u64>> {
    let (wrap, digits): (fn(u64) -> NumberTest<u64>, _) = match text {
        [b'+', rest @ ..] => (NumberTest::More, rest),
        [b'-', rest @ ..] => (NumberTest::Less, rest),
        _ => (NumberTest::Equal, text),
    };
    plain(digits).map(wrap)
}

/// As [`integer`] with decimals.
pub fn decimal(text: &[u8]) -> Option<NumberTest<f64>> {
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

/// Digits only.
pub fn plain(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}
