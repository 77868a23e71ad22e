//! Numbers in arithmetic.

/// Parses a plain decimal integer: no blanks, no leading zero, no sign but `-`, no overflow. This
/// test keeps most values away from the expression parser.
pub fn plain_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (&first, rest) = digits.split_first()?;
    // 18 digits always fit.
    if digits.len() > 18
        || !first.is_ascii_digit()
        || (first == b'0' && (!rest.is_empty() || negative))
    {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(digit - b'0');
    }
    Some(if negative { -value } else { value })
}
