//! Integer constants: decimal, `0` octal, `0x` hexadecimal, `base#digits` with bases 2 to 64.

/// The value of a constant, wrapping at 64 bits, or bash's message.
///
/// Digits above 9 are letters in either case up to base 36; above that lower case comes
/// before upper case, then `@` and `_`.
pub fn parse_constant(text: &[u8]) -> Result<i64, &'static str> {
    let (base, digits, explicit) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest, false),
        [b'0', rest @ ..] if !rest.is_empty() && !text.contains(&b'#') => (8, rest, false),
        _ => match text.iter().position(|&b| b == b'#') {
            Some(i) => {
                let base = wrapping_decimal(text.get(..i).unwrap_or_default());
                let octal = text.first() == Some(&b'0');
                if octal {
                    return Err("invalid number");
                }
                let Some(base) = base.filter(|b| (2..=64).contains(b)) else {
                    return Err("invalid arithmetic base");
                };
                let digits = text.get(i + 1..).unwrap_or_default();
                if digits.is_empty() {
                    return Err("invalid integer constant");
                }
                (base, digits, true)
            }
            None => (10, text, false),
        },
    };
    let mut n = 0i64;
    for &b in digits {
        let digit = match b {
            b'0'..=b'9' => b - b'0',
            b'a'..=b'z' => b - b'a' + 10,
            b'A'..=b'Z' if base <= 36 => b - b'A' + 10,
            b'A'..=b'Z' => b - b'A' + 36,
            b'@' => 62,
            b'_' => 63,
            _ => return Err(if explicit { "invalid number" } else { "invalid integer constant" }),
        };
        if i64::from(digit) >= base {
            return Err("value too great for base");
        }
        n = n.wrapping_mul(base).wrapping_add(i64::from(digit));
    }
    Ok(n)
}

/// Decimal digits as a number that wraps at 64 bits; `None` if there is anything else.
pub fn wrapping_decimal(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0i64, |n, &b| {
        b.is_ascii_digit().then(|| n.wrapping_mul(10).wrapping_add(i64::from(b - b'0')))
    })
}
