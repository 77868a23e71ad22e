//! Numbers in text: those that `strtod(3)`, `strtoimax(3)` and awk read at the start of a string,
//! and sizes as GNU tools read and print them.
//!
//! | function | user |
//! |---|---|
//! | [`decimal_prefix`] | awk: decimal floats only, ` 12abc` is 12 |
//! | [`parse_float`] | C: also hexadecimal floats, `inf`, `nan` |
//! | [`parse_integer`] | C: integers in a base, or base 0 with `0x` and `0` prefixes |
//! | [`parse_size`] | `head -c`, `split -b`, `cmp -n`: `2K`, `1MB` |
//! | [`parse_block_size`] | `du -B`, `cmp -i`, `hexdump -n`: in any base, without the unit `b` |
//! | [`human_size`] | `ls -h`, `du -h`, `df -h` |

mod float;
mod size;

pub use float::{decimal_prefix, parse_float};
pub use size::{
    BlockSizeError, SizeError, human_size, parse_block_size, parse_size, suffix_factor,
};

/// The result of [`parse_integer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer {
    pub negative: bool,
    /// The absolute value; `u64::MAX` on overflow.
    pub magnitude: u64,
    /// Whether the digits do not fit in 64 bits.
    pub overflow: bool,
    /// The number of bytes used, including leading blanks and the sign; 0 if there is no number.
    pub len: usize,
}

impl Integer {
    /// Returns the value as `strtoimax` does: saturated, with `true` if it was out of range
    /// (ERANGE).
    pub fn signed(self) -> (i64, bool) {
        let limit = if self.negative { 1 << 63 } else { i64::MAX as u64 };
        if self.overflow || self.magnitude > limit {
            return (if self.negative { i64::MIN } else { i64::MAX }, true);
        }
        (
            if self.negative {
                (self.magnitude as i64).wrapping_neg()
            } else {
                self.magnitude as i64
            },
            false,
        )
    }

    /// Returns the value as `strtoumax` does: a minus sign negates in 64 bits.
    pub fn unsigned(self) -> (u64, bool) {
        if self.overflow {
            return (u64::MAX, true);
        }
        (if self.negative { self.magnitude.wrapping_neg() } else { self.magnitude }, false)
    }
}

/// Returns whether the byte is whitespace of the C locale (`isspace`).
pub const fn is_space(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Returns the length of leading whitespace.
fn blank_len(text: &[u8]) -> usize {
    text.iter().position(|c| !is_space(*c)).unwrap_or(text.len())
}

/// Returns the length in bytes of the UTF-8 character at the start: 1 for an invalid or truncated
/// one, 0 for an empty text. Surrogates and overlong forms are invalid (RFC 3629).
pub fn utf8_len(text: &[u8]) -> usize {
    let Some(&first) = text.first() else { return 0 };
    let len = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return 1,
    };
    match text.get(..len) {
        Some(bytes) if std::str::from_utf8(bytes).is_ok() => len,
        _ => 1,
    }
}

/// Parses the integer at the start of a text, as `strtoimax(3)` reads it. With `base` 0, `0x` and a
/// leading `0` choose the base. Bases 2 to 36 are used as given, and base 16 allows `0x`.
pub fn parse_integer(text: &[u8], base: u32) -> Integer {
    let mut at = blank_len(text);
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    let digit = |i: usize, base: u32| text.get(i).and_then(|c| char::from(*c).to_digit(base));
    let mut base = base;
    let hex = text.get(at) == Some(&b'0')
        && matches!(text.get(at + 1), Some(b'x' | b'X'))
        && digit(at + 2, 16).is_some();
    if hex && matches!(base, 0 | 16) {
        base = 16;
        at += 2;
    } else if base == 0 {
        base = if text.get(at) == Some(&b'0') { 8 } else { 10 };
    }
    let from = at;
    let (mut magnitude, mut overflow) = (0u64, false);
    while let Some(d) = digit(at, base) {
        match magnitude.checked_mul(u64::from(base)).and_then(|m| m.checked_add(u64::from(d))) {
            Some(m) => magnitude = m,
            None => (magnitude, overflow) = (u64::MAX, true),
        }
        if overflow {
            magnitude = u64::MAX;
        }
        at += 1;
    }
    Integer { negative, magnitude, overflow, len: if at > from { at } else { 0 } }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values are those of glibc 2.36's `strtod`.
    #[test]
    fn floats_as_strtod() {
        let cases: &[(&[u8], f64, usize)] = &[
            (b"12abc", 12.0, 2),
            (b"  -1.5e3x", -1500.0, 8),
            (b"1e", 1.0, 1),
            (b"1e+", 1.0, 1),
            (b".5", 0.5, 2),
            (b".", 0.0, 0),
            (b"+", 0.0, 0),
            (b"5.", 5.0, 2),
            (b"0x1fp1", 62.0, 6),
            (b"0x", 0.0, 1),
            (b"0x.8", 0.5, 4),
            (b"0x1p-1080", 0.0, 9),
            (b"0x1p-1074", 5e-324, 9),
            (b"0x1.fffffffffffff8p0", 2.0, 20),
            (b"1e400", f64::INFINITY, 5),
            (b"-infinit", f64::NEG_INFINITY, 4),
            (b"9007199254740993", 9007199254740992.0, 16),
            (b"0.1", 0.1, 3),
            (b"123456789012345678901234567890", 1.2345678901234568e29, 30),
        ];
        for (text, value, len) in cases {
            let text_shown = String::from_utf8_lossy(text);
            assert_eq!(parse_float(text), (*value, *len), "{text_shown}");
        }
        assert!(parse_float(b"nan(12)x").0.is_nan());
        assert_eq!(parse_float(b"nan(12)x").1, 7);
        assert_eq!(parse_float(b"nan(1").1, 3);
        assert_eq!(decimal_prefix(b"0x1f"), (0.0, 1));
        assert_eq!(decimal_prefix(b"inf"), (0.0, 0));
    }

    /// The values are those of glibc 2.36's `strtoimax`.
    #[test]
    fn integers_as_strtoimax() {
        assert_eq!(parse_integer(b" 0x1fz", 0).signed(), (31, false));
        assert_eq!(parse_integer(b"0x", 0).len, 1);
        assert_eq!(parse_integer(b"-017", 0).signed(), (-15, false));
        assert_eq!(parse_integer(b"99999999999999999999", 10).signed(), (i64::MAX, true));
        assert_eq!(parse_integer(b"-9223372036854775808", 10).signed(), (i64::MIN, false));
        assert_eq!(parse_integer(b"-1", 10).unsigned(), (u64::MAX, false));
        assert_eq!(parse_integer(b"+", 10).len, 0);
        assert_eq!(parse_integer(b"zz", 36).signed(), (1295, false));
    }

    /// The values are those of `head -c` and `ls -lh` in coreutils 9.1.
    #[test]
    fn sizes_as_coreutils() {
        for (n, want) in [
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (10240, "10K"),
            (1 << 20, "1.0M"),
            (1048575, "1.0M"),
        ] {
            assert_eq!(human_size(n, 1024), want);
        }
        assert_eq!(human_size(999_001, 1000), "1.0M");
        assert_eq!(human_size(1500, 1000), "1.5k");
    }

    #[test]
    fn characters() {
        assert_eq!(utf8_len("é".as_bytes()), 2);
        assert_eq!(utf8_len(b"\xe2\x82"), 1);
        assert_eq!(utf8_len(b"\xed\xa0\x80"), 1);
        assert_eq!(utf8_len(b""), 0);
    }
}
