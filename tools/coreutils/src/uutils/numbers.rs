//! Numbers of options, within the bounds that GNU's tools have, before a library that would panic sees them.

use super::refusal::UsageRefusal;

/// The treatment of a number that is larger than the largest one.
#[derive(Clone, Copy)]
enum Above {
    Refused,
    /// The same as this one.
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

const I32: i128 = i32::MAX as i128;
const I64: i128 = i64::MAX as i128;
const U64: i128 = u64::MAX as i128;

use Above::{Meaning, Refused};

/// As GNU coreutils 9.1 has them. A least number of `i128::MIN` leaves small ones to the library.
const BOUNDS: &[NumberBound] = &[
    bound("b2sum", "length", "length", (i128::MIN, U64), Refused),
    bound("base32", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("base64", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("basenc", "wrap", "wrap size", (i128::MIN, I64), Meaning("0")),
    bound("cksum", "length", "length", (i128::MIN, U64), Refused),
    bound("fmt", "goal", "width", (i128::MIN, I32), Refused),
    bound("fmt", "width", "width", (i128::MIN, I32), Refused),
    bound("fold", "width", "number of columns", (1, U64 - 9), Refused),
    bound("ptx", "gap-size", "gap width", (i128::MIN, I64), Refused),
    bound("ptx", "width", "line width", (i128::MIN, I64), Refused),
    bound("shred", "size", "file size", (i128::MIN, I64), Refused),
    bound("shuf", "head-count", "line count", (i128::MIN, U64), Meaning("18446744073709551615")),
];

/// Numbers that the libraries write out as columns, of which they can only have so many.
const COLUMNS: &[(&str, &str, i128)] =
    &[("ptx", "gap-size", 1_000_000), ("ptx", "width", 1_000_000)];

const TOO_LARGE: &str = "Value too large for defined data type";

/// Returns the value of an option as the library is to see it.
///
/// # Errors
/// A number that is out of its bounds.
pub(super) fn checked(util: &str, option: &str, value: Vec<u8>) -> Result<Vec<u8>, UsageRefusal> {
    let Some(bound) = BOUNDS.iter().find(|b| b.util == util && b.option == option) else {
        return Ok(value);
    };
    // Blanks before a number count for nothing.
    let value = value.trim_ascii_start().to_vec();
    let Some(n) = number(&value) else { return Ok(value) };
    let refused = |why: &str| {
        let shown = String::from_utf8_lossy(&value);
        // This tool says no more.
        let why = if util == "ptx" { String::new() } else { format!(": {why}") };
        Err(UsageRefusal::Value(format!("invalid {}: '{shown}'{why}", bound.noun)))
    };
    // The columns of `fold` are read without a sign.
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
    let most = COLUMNS.iter().find(|(tool, name, _)| *tool == util && *name == option);
    if most.is_some_and(|(_, _, most)| n > *most) {
        return refused(TOO_LARGE);
    }
    Ok(value)
}

/// Parses a whole text as a number; one with too many digits becomes a very large one.
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

    // As GNU coreutils 9.1 answers.
    #[test]
    fn bounds() {
        let check = |util: &str, option: &str, value: &str| {
            checked(util, option, value.into()).map(|v| String::from_utf8(v).unwrap())
        };
        let refused = |text: &str| Err(UsageRefusal::Value(text.to_string()));
        assert_eq!(check("shuf", "head-count", &"9".repeat(40)), Ok(u64::MAX.to_string()));
        let text = "invalid number of columns: '0': Numerical result out of range";
        assert_eq!(check("fold", "width", "0"), refused(text));
        let text = "invalid width: '2147483648': Value too large for defined data type";
        assert_eq!(check("fmt", "width", "2147483648"), refused(text));
        assert_eq!(check("fmt", "width", "20"), Ok("20".into()));
    }
}
