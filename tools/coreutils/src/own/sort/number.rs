//! Comparison of numbers of any length, sizes, months and versions, which are given as text.

use std::cmp::Ordering;

use box_text::number::parse_float;

fn skip_blanks(text: &[u8]) -> &[u8] {
    let n = text.iter().take_while(|c| matches!(c, b' ' | b'\t' | b'\n')).count();
    &text[n..]
}

/// The parts of a decimal number: its sign, the digits before the point without leading zeros, and
/// the digits after it without trailing zeros.
struct SortParts<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
}

fn split_number(text: &[u8]) -> (SortParts<'_>, &[u8]) {
    let text = skip_blanks(text);
    let (negative, text) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    let digits = |t: &[u8]| t.iter().take_while(|c| c.is_ascii_digit()).count();
    let n = digits(text);
    let (whole, mut rest) = text.split_at(n);
    let zeros = whole.iter().take_while(|c| **c == b'0').count();
    let whole = &whole[zeros..];
    let mut fraction = &[][..];
    if rest.first() == Some(&b'.') {
        let n = digits(&rest[1..]);
        fraction = &rest[1..1 + n];
        rest = &rest[1 + n..];
        let keep = fraction.iter().rposition(|c| *c != b'0').map_or(0, |i| i + 1);
        fraction = &fraction[..keep];
    }
    let zero = whole.is_empty() && fraction.is_empty();
    (SortParts { negative: negative && !zero, whole, fraction }, rest)
}

fn compare_magnitude(a: &SortParts<'_>, b: &SortParts<'_>) -> Ordering {
    a.whole
        .len()
        .cmp(&b.whole.len())
        .then_with(|| a.whole.cmp(b.whole))
        .then_with(|| a.fraction.cmp(b.fraction))
}

fn compare_parts(a: &SortParts<'_>, b: &SortParts<'_>) -> Ordering {
    match (a.negative, b.negative) {
        (false, false) => compare_magnitude(a, b),
        (true, true) => compare_magnitude(b, a),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// Compares texts by `-n`: by the decimal number at the start, which is 0 if it is missing.
pub(super) fn compare_numeric(a: &[u8], b: &[u8]) -> Ordering {
    compare_parts(&split_number(a).0, &split_number(b).0)
}

/// Returns the first 15 significant digits of a number as the bits of a float, in a form that keeps
/// their order. Further digits are cut off and not rounded, so a larger number never gets a smaller
/// value.
pub(super) fn numeric_prefix(key: &[u8]) -> u64 {
    const DIGITS: usize = 15;
    let (p, _) = split_number(key);
    let mut mantissa = 0u64;
    let mut used = 0;
    for d in p.whole.iter().take(DIGITS) {
        mantissa = mantissa * 10 + u64::from(d - b'0');
        used += 1;
    }
    let mut exponent = (p.whole.len() - used) as i32;
    if exponent == 0 {
        // Zeros at the start of a fraction change the exponent but are not significant digits.
        for d in p.fraction {
            if used >= DIGITS {
                break;
            }
            mantissa = mantissa * 10 + u64::from(d - b'0');
            used += usize::from(mantissa > 0);
            exponent -= 1;
        }
    }
    let value = if (-300..=290).contains(&exponent) {
        if exponent < 0 {
            mantissa as f64 / 10f64.powi(-exponent)
        } else {
            mantissa as f64 * 10f64.powi(exponent)
        }
    } else if exponent < 0 {
        0.0
    } else {
        f64::MAX
    };
    order_bits(if p.negative { -value } else { value })
}

/// Returns the bits of a float as an integer that has the same order as the float.
fn order_bits(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Compares texts by `-h`: by sign, then by unit, then by number. For example, `2K` is less than
/// `1M`.
pub(super) fn compare_human(a: &[u8], b: &[u8]) -> Ordering {
    fn unit_rank(rest: &[u8]) -> i32 {
        let letter = rest.first().copied().unwrap_or_default();
        let power = match letter {
            b'k' => Some(0),
            _ => b"KMGTPEZYRQ".iter().position(|l| *l == letter),
        };
        power.map_or(0, |p| p as i32 + 1)
    }
    let ((x, xr), (y, yr)) = (split_number(a), split_number(b));
    let signed = |p: &SortParts<'_>, u: i32| {
        let zero = p.whole.is_empty() && p.fraction.is_empty();
        if zero {
            0
        } else if p.negative {
            -u - 1
        } else {
            u + 1
        }
    };
    signed(&x, unit_rank(xr)).cmp(&signed(&y, unit_rank(yr))).then_with(|| compare_parts(&x, &y))
}

/// Compares texts by `-g`. Texts without a number come first, then NaN, then numbers in their
/// order.
pub(super) fn compare_general(a: &[u8], b: &[u8]) -> Ordering {
    let ((x, xn), (y, yn)) = (parse_float(a), parse_float(b));
    match (xn > 0, yn > 0) {
        (false, false) => Ordering::Equal,
        (false, true) => Ordering::Less,
        (true, false) => Ordering::Greater,
        (true, true) => match (x.is_nan(), y.is_nan()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            _ => x.partial_cmp(&y).unwrap_or(Ordering::Equal),
        },
    }
}

/// Returns the month for `-M`: 1 to 12, or 0 for any other text.
pub(super) fn month_number(text: &[u8]) -> usize {
    let Some(name) = skip_blanks(text).get(..3) else { return 0 };
    let name = name.to_ascii_uppercase();
    let all = b"JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
    all.chunks_exact(3).position(|m| m == name).map_or(0, |i| i + 1)
}

/// Compares texts as versions, for `ls -v` and `sort -V`. The order is Debian's, and file suffixes
/// are compared only if the rest is equal.
pub(crate) fn compare_version(a: &[u8], b: &[u8]) -> Ordering {
    if a == b {
        return Ordering::Equal;
    }
    // The empty name comes first, then `.`, `..` and hidden files, then all other names.
    let rank = |t: &[u8]| match t {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    let (x, y) = (rank(a), rank(b));
    if x != y || x < 3 {
        return x.cmp(&y);
    }
    let (sa, sb) = (a.len() - suffix_len(a), b.len() - suffix_len(b));
    let (pa, pb) = (&a[..sa], &b[..sb]);
    let order = if pa == pb { Ordering::Equal } else { parts_order(pa, pb) };
    order.then_with(|| parts_order(a, b))
}

/// Returns the length of a trailing `(\.[A-Za-z~][A-Za-z0-9~]*)*`.
fn suffix_len(text: &[u8]) -> usize {
    let mut start = text.len();
    let mut at = 0;
    let mut in_suffix = false;
    let mut begin = 0;
    while at < text.len() {
        let c = text[at];
        if c == b'.' && text.get(at + 1).is_some_and(|n| n.is_ascii_alphabetic() || *n == b'~') {
            if !in_suffix {
                begin = at;
                in_suffix = true;
            }
            at += 2;
            continue;
        }
        if in_suffix && !(c.is_ascii_alphanumeric() || c == b'~') {
            in_suffix = false;
        }
        at += 1;
    }
    // A suffix never is the whole name.
    if in_suffix && begin > 0 {
        start = begin;
    }
    text.len() - start
}

fn char_weight(c: Option<u8>) -> i32 {
    match c {
        None => -1,
        Some(b'~') => -2,
        Some(c) if c.is_ascii_digit() => 0,
        Some(c) if c.is_ascii_alphabetic() => i32::from(c),
        Some(c) => i32::from(c) + 256,
    }
}

/// Compares runs of non-digits by character and runs of digits by value, alternately.
fn parts_order(a: &[u8], b: &[u8]) -> Ordering {
    let (mut i, mut j) = (0, 0);
    let digit = |t: &[u8], at: usize| t.get(at).is_some_and(u8::is_ascii_digit);
    while i < a.len() || j < b.len() {
        while i < a.len() && !digit(a, i) || j < b.len() && !digit(b, j) {
            let x = if i < a.len() { char_weight(Some(a[i])) } else { char_weight(None) };
            let y = if j < b.len() { char_weight(Some(b[j])) } else { char_weight(None) };
            if x != y {
                return x.cmp(&y);
            }
            i += 1;
            j += 1;
        }
        while a.get(i) == Some(&b'0') {
            i += 1;
        }
        while b.get(j) == Some(&b'0') {
            j += 1;
        }
        let mut first = Ordering::Equal;
        while digit(a, i) && digit(b, j) {
            first = first.then(a[i].cmp(&b[j]));
            i += 1;
            j += 1;
        }
        if digit(a, i) {
            return Ordering::Greater;
        }
        if digit(b, j) {
            return Ordering::Less;
        }
        if first.is_ne() {
            return first;
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected orders: `printf '%s\n' ... | LC_ALL=C sort -n|-V|-h -c`, coreutils 9.1.
    #[test]
    fn orders() {
        let sorted = |list: &[&str], f: fn(&[u8], &[u8]) -> Ordering| {
            for w in list.windows(2) {
                assert_eq!(f(w[0].as_bytes(), w[1].as_bytes()), Ordering::Less, "{w:?}");
            }
        };
        sorted(
            &[
                "-10",
                "-9.5",
                "-0.5",
                "0",
                "0.001",
                "0.01",
                "1",
                "1.5",
                "2",
                "10",
                "100000000000000000001",
                "100000000000000000002",
            ],
            compare_numeric,
        );
        sorted(&["-1M", "-1K", "0", "5", "1K", "1.5K", "900M", "1G"], compare_human);
        sorted(
            &["", ".", "..", ".a", "a", "a1", "a1.2", "a1.10", "a2", "b-1", "b-10.tar.gz"],
            compare_version,
        );
        assert_eq!(month_number(b"  feb"), 2);
        assert_eq!(month_number(b"xx"), 0);
    }

    #[test]
    fn prefixes_agree() {
        let list = [
            "-1e9",
            "-10.5",
            "-10",
            "-0.001",
            "0",
            "0.0001",
            "0.00011",
            "3",
            "3.14",
            "99999999999999999999",
            "100000000000000000000",
        ];
        for w in list.windows(2) {
            let (a, b) = (numeric_prefix(w[0].as_bytes()), numeric_prefix(w[1].as_bytes()));
            if a != b {
                assert_eq!(a.cmp(&b), compare_numeric(w[0].as_bytes(), w[1].as_bytes()), "{w:?}");
            }
        }
    }
}
