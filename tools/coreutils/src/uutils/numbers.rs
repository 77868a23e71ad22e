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
    bound("csplit", "digits", "number", (0, I32), Refused),
    bound("fmt", "goal", "width", (i128::MIN, I32), Refused),
    bound("fmt", "width", "width", (i128::MIN, I32), Refused),
    bound("fold", "width", "number of columns", (1, U64 - 9), Refused),
    bound("nl", "join-blank-lines", "line number of blank lines", (1, I64), Refused),
    bound("nl", "line-increment", "line number increment", (-I64 - 1, I64), Refused),
    bound("nl", "number-width", "line number field width", (1, I32), Refused),
    bound("nl", "starting-line-number", "starting line number", (-I64 - 1, I64), Refused),
    bound("ptx", "gap-size", "gap width", (i128::MIN, I64), Refused),
    bound("ptx", "width", "line width", (i128::MIN, I64), Refused),
    bound("shred", "size", "file size", (i128::MIN, I64), Refused),
    bound("shuf", "head-count", "line count", (i128::MIN, U64), Meaning("18446744073709551615")),
];

/// Numbers that the libraries write out as columns, of which they can only have so many.
const COLUMNS: &[(&str, &str, i128)] = &[
    ("csplit", "digits", 65_535),
    ("nl", "number-width", 65_535),
    ("ptx", "gap-size", 1_000_000),
    ("ptx", "width", 1_000_000),
];

const TOO_LARGE: &str = "Value too large for defined data type";

/// Returns the value of an option as the library is to see it.
///
/// # Errors
/// A number that is out of its bounds.
pub(super) fn checked(util: &str, option: &str, value: Vec<u8>) -> Result<Vec<u8>, UsageRefusal> {
    if (util, option) == ("csplit", "suffix-format") {
        let is_wide = value
            .split(|byte| !byte.is_ascii_digit())
            .any(|digits| number(digits).is_some_and(|n| n > 65_535));
        return if is_wide {
            Err(UsageRefusal::Value("memory exhausted".into()))
        } else {
            Ok(value)
        };
    }
    let Some(bound) = BOUNDS.iter().find(|b| b.util == util && b.option == option) else {
        return Ok(value);
    };
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

/// Checks the patterns of `csplit`, which stand behind its file.
///
/// # Errors
/// A number that is none, or is too large.
pub(super) fn check_patterns(operands: &[Vec<u8>]) -> Result<(), UsageRefusal> {
    for pattern in operands.iter().skip(1) {
        let refused = |why: &str| {
            let shown = String::from_utf8_lossy(pattern);
            Err(UsageRefusal::Value(format!("'{shown}': {why}")))
        };
        match pattern.as_slice() {
            [b'{', count @ .., b'}'] => {
                let is_count = |n: i128| (0..=I64).contains(&n) && count[0].is_ascii_digit();
                if count != b"*" && !number(count).is_some_and(is_count) {
                    return refused("integer required between '{' and '}'");
                }
            }
            [delimiter @ (b'/' | b'%'), rest @ ..] => {
                let Some(end) = rest.iter().rposition(|byte| byte == delimiter) else { continue };
                let offset = &rest[end + 1..];
                if offset.is_empty() {
                    continue;
                }
                match number(offset) {
                    Some(n) if n.abs() <= I32 => {}
                    Some(n) if n.abs() <= I64 => return refused("line number out of range"),
                    _ => return refused("integer expected after delimiter"),
                }
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{UsageRefusal, check_patterns, checked};

    // As GNU coreutils 9.1 answers.
    #[test]
    fn bounds() {
        let check = |util: &str, option: &str, value: &str| {
            checked(util, option, value.into()).map(|v| String::from_utf8(v).unwrap())
        };
        let refused = |text: &str| Err(UsageRefusal::Value(text.to_string()));
        assert_eq!(check("nl", "line-increment", "-5"), Ok("-5".into()));
        assert_eq!(check("shuf", "head-count", &"9".repeat(40)), Ok(u64::MAX.to_string()));
        let text = "invalid line number field width: '0': Numerical result out of range";
        assert_eq!(check("nl", "number-width", "0"), refused(text));
        let text = "invalid number: '2147483648': Value too large for defined data type";
        assert_eq!(check("csplit", "digits", "2147483648"), refused(text));
        assert_eq!(check("csplit", "suffix-format", "%99999d"), refused("memory exhausted"));
        assert_eq!(check("csplit", "suffix-format", "%03d"), Ok("%03d".into()));
    }

    #[test]
    fn patterns() {
        let check = |pattern: &str| check_patterns(&["f".into(), pattern.into()]);
        for good in ["5", "/a/", "/a/+1", "%a/b%-3", "{*}", "{3}"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for bad in ["/a/+x", "/a/+", "{}", "{-1}", "{99999999999999999999}", "/a/+2147483648"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
