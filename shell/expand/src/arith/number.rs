//! Numbers in arithmetic.

/// A plain decimal integer: no blanks, no leading zero, no sign but `-`, no overflow. The
/// test that keeps most values away from the expression parser.
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

/// Why a constant is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// `value too great for base`
    Digit,
    /// `invalid arithmetic base`
    Base,
    /// `invalid number`
    Number,
    /// `invalid integer constant`
    Constant,
}

/// A constant: decimal, `0` octal, `0x` hexadecimal, `base#digits` with bases 2 to 64.
/// Wraps at 64 bits. The first thing wrong from the left is reported, as bash does.
pub(super) fn constant(text: &[u8]) -> Result<i64, Bad> {
    let (mut base, mut base_known, digits) = match text {
        [b'0', b'x' | b'X', digits @ ..] => (16, true, digits),
        [b'0', digits @ ..] if !digits.is_empty() => (8, true, digits),
        digits => (10, false, digits),
    };
    let mut value = 0i64;
    for (at, &byte) in digits.iter().enumerate() {
        if byte == b'#' {
            if base_known {
                return Err(Bad::Number);
            }
            if !(2..=64).contains(&value) {
                return Err(Bad::Base);
            }
            if at + 1 == digits.len() {
                return Err(Bad::Constant);
            }
            (base, base_known, value) = (value, true, 0);
            continue;
        }
        let digit = i64::from(digit(byte, base).ok_or(Bad::Number)?);
        if digit >= base {
            return Err(Bad::Digit);
        }
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Ok(value)
}

/// Digits beyond 9 are letters, small before capital unless the base makes no difference
/// between them, then `@` and `_`.
fn digit(byte: u8, base: i64) -> Option<u8> {
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
