//! Numeric arguments: `N`, `+N`, `-N`.

use super::expr::Cmp;

/// A non-negative integer with its sign as comparison.
pub fn integer(text: &[u8]) -> Option<Cmp<u64>> {
    let (wrap, digits): (fn(u64) -> Cmp<u64>, _) = match text {
        [b'+', rest @ ..] => (Cmp::More, rest),
        [b'-', rest @ ..] => (Cmp::Less, rest),
        _ => (Cmp::Equal, text),
    };
    plain(digits).map(wrap)
}

/// As [`integer`] with decimals.
pub fn decimal(text: &[u8]) -> Option<Cmp<f64>> {
    let (wrap, digits): (fn(f64) -> Cmp<f64>, _) = match text {
        [b'+', rest @ ..] => (Cmp::More, rest),
        [b'-', rest @ ..] => (Cmp::Less, rest),
        _ => (Cmp::Equal, text),
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
