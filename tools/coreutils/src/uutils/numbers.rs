//! Checks the numbers that options take against the bounds of GNU's tools, because some of the
//! libraries would panic at larger ones.

use super::refusal::UsageRefusal;

/// The treatment of a number above the upper bound.
#[derive(Clone, Copy)]
enum Above {
    Refused,
    /// The number is replaced by this one.
    Meaning(&'static str),
}

/// The bounds of an option's number.
struct NumberBound {
    util: &'static str,
    /// The option's long name.
    option: &'static str,
    /// The noun for the number in messages.
    noun: &'static str,
    least: i128,
    most: i128,
    above: Above,
}

const fn bound(
    util: &'static str,
    option: &'static str,
    noun: &'static str,
    (least, most): (i128, i128),
    above: Above,
) -> NumberBound {
    NumberBound { util, option, noun, least, most, above }
}

const I64: i128 = i64::MAX as i128;
const U64: i128 = u64::MAX as i128;

use Above::{Meaning, Refused};

/// The bounds of GNU coreutils 9.1. If the lower bound is `i128::MIN`, the library checks for
/// numbers that are too small.
const BOUNDS: &[NumberBound] = &[
    bound("b2sum", "length", "length", (i128::MIN, U64), Refused),
    bound("base32", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("base64", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("basenc", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("cksum", "length", "length", (i128::MIN, U64), Refused),
    bound("fold", "width", "number of columns", (1, U64 - 9), Refused),
    bound("shred", "size", "file size", (i128::MIN, I64), Refused),
    bound("shuf", "head-count", "line count", (i128::MIN, U64), Meaning("18446744073709551615")),
];

const TOO_LARGE: &str = "Value too large for defined data type";

/// Returns the value of an option as it is passed to the library.
///
/// # Errors
/// The number is out of its bounds.
pub(super) fn checked(util: &str, option: &str, value: Vec<u8>) -> Result<Vec<u8>, UsageRefusal> {
    let Some(bound) = BOUNDS.iter().find(|b| b.util == util && b.option == option) else {
        return Ok(value);
    };
    // Blanks before a number are ignored.
    let value = value.trim_ascii_start().to_vec();
    let Some(n) = number(&value) else { return Ok(value) };
    let refused = |why: &str| {
        let shown = String::from_utf8_lossy(&value);
        Err(UsageRefusal::Value(format!("invalid {}: '{shown}': {why}", bound.noun)))
    };
    // `fold` accepts no sign, so the library refuses a negative number.
    if n < 0 && util == "fold" {
        return Ok(value);
    }
    if n < bound.least {
        return refused("Numerical result out of range");
    }
    if n > bound.most {
        return match bound.above {
            Refused => refused(TOO_LARGE),
            Meaning(text) => Ok(text.as_bytes().to_vec()),
        };
    }
    Ok(value)
}

/// Parses a whole text as a number. A number with too many digits becomes the largest or smallest
/// one.
fn number(text: &[u8]) -> Option<i128> {
    let (sign, digits) = match text {
        [b'-', digits @ ..] => (-1, digits),
        [b'+', digits @ ..] => (1, digits),
        digits => (1, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits
        .iter()
        .fold(0i128, |n, digit| n.saturating_mul(10).saturating_add(i128::from(digit - b'0')));
    Some(sign * value)
}

#[cfg(test)]
mod tests {
    use super::{UsageRefusal, checked};

    // Expected values: GNU coreutils 9.1.
    #[test]
    fn bounds() {
        let check = |util: &str, option: &str, value: &str| {
            checked(util, option, value.into()).map(|v| String::from_utf8(v).unwrap())
        };
        let refused = |text: &str| Err(UsageRefusal::Value(text.to_string()));
        assert_eq!(check("shuf", "head-count", &"9".repeat(40)), Ok(u64::MAX.to_string()));
        let text = "invalid number of columns: '0': Numerical result out of range";
        assert_eq!(check("fold", "width", "0"), refused(text));
        assert_eq!(check("fold", "width", "20"), Ok("20".into()));
    }
}
