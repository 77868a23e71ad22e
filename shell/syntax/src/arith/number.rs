//! Numbers in arithmetic.

/// Parses a constant: decimal, octal after `0`, hexadecimal after `0x`, or `base#digits` with bases
/// 2 to 64. Wraps at 64 bits. Reports the leftmost error, as bash does.
pub(super) fn parse_constant(text: &[u8]) -> Result<i64, &'static str> {
    let (mut base, mut base_known, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, true, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, true, digits),
        digits => (10, false, digits),
    };
    let mut value = 0i64;
    for (at, &byte) in digits.iter().enumerate() {
        if byte == b'#' {
            if base_known {
                return Err("invalid number");
            }
            if !(2..=64).contains(&value) {
                return Err("invalid arithmetic base");
            }
            if at + 1 == digits.len() {
                return Err("invalid integer constant");
            }
            (base, base_known, value) = (value, true, 0);
            continue;
        }
        let digit = i64::from(digit_value(byte, base).ok_or("invalid number")?);
        if digit >= base {
            return Err("value too great for base");
        }
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Ok(value)
}

/// Returns the value of a digit. Digits beyond 9 are letters, lower case before upper case unless
/// the base makes no difference between them, then `@` and `_`.
fn digit_value(byte: u8, base: i64) -> Option<u8> {
    Some(match byte {
        b'0'..=b'9' => byte - b'0',
        b'a'..=b'z' => byte - b'a' + 10,
        b'A'..=b'Z' if base <= 36 => byte - b'A' + 10,
        b'A'..=b'Z' => byte - b'A' + 36,
        b'@' => 62,
        b'_' => 63,
        _ => return None,
    })
}
