//! Sizes in options, and sizes in a form for people.

/// The reason why a number in an option is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeError {
    Invalid,
    Overflow,
}

/// Parses a number with a suffix of `head -c`, `split -b`, `dd` or `truncate`: `b` 512, `kB` 1000,
/// `K`/`KiB` 1024, and so on. Blanks and a plus sign may stand before it, as before all numbers
/// that `strtoumax(3)` reads.
///
/// ```
/// assert_eq!(box_text::number::parse_size(b"2K"), Ok(2048));
/// ```
pub fn parse_size(text: &[u8]) -> Result<u64, SizeError> {
    let unsigned = &text[super::blank_len(text)..];
    let unsigned = unsigned.strip_prefix(b"+").unwrap_or(unsigned);
    let digits = unsigned.iter().take_while(|c| c.is_ascii_digit()).count();
    let (number, suffix) = if digits > 0 { unsigned.split_at(digits) } else { (&[][..], text) };
    if text.is_empty() || (digits == 0 && suffix_factor(suffix).is_none()) {
        return Err(SizeError::Invalid);
    }
    let mut value: u128 = u128::from(digits == 0);
    for d in number {
        value = value.saturating_mul(10).saturating_add(u128::from(d - b'0'));
    }
    let factor = suffix_factor(suffix).ok_or(SizeError::Invalid)?;
    u64::try_from(value.saturating_mul(factor)).map_err(|_| SizeError::Overflow)
}

/// The reason why the size of a block is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockSizeError {
    Invalid,
    Suffix,
    Overflow,
}

/// Parses the size of a block, or another number in any base, with a unit as in [`parse_size`],
/// though not `b`.
///
/// ```
/// assert_eq!(box_text::number::parse_block_size(b"0x10K"), Ok(16384));
/// ```
pub fn parse_block_size(text: &[u8]) -> Result<u64, BlockSizeError> {
    let factor_of = |suffix: &[u8]| suffix_factor(suffix).filter(|_| suffix != b"b");
    // A unit alone counts once.
    if text.first().is_some_and(u8::is_ascii_alphabetic) {
        let unit = factor_of(text).ok_or(BlockSizeError::Invalid)?;
        return u64::try_from(unit).map_err(|_| BlockSizeError::Overflow);
    }
    let n = super::parse_integer(text, 0);
    if n.len == 0 || n.negative {
        return Err(BlockSizeError::Invalid);
    }
    let factor = factor_of(&text[n.len..]).ok_or(BlockSizeError::Suffix)?;
    let value = u128::from(n.magnitude).saturating_mul(factor);
    u64::try_from(value).ok().filter(|_| !n.overflow).ok_or(BlockSizeError::Overflow)
}

/// Returns the number that a suffix of a size stands for.
pub fn suffix_factor(suffix: &[u8]) -> Option<u128> {
    let (letter, rest) = match suffix {
        [] => return Some(1),
        [b'b'] => return Some(512),
        [letter, rest @ ..] => (letter, rest),
    };
    let power = match letter {
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'g' | b'G' => 3,
        b't' | b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        _ => return None,
    };
    match rest {
        b"" | b"iB" => Some(1024u128.pow(power)),
        b"B" => Some(1000u128.pow(power)),
        _ => None,
    }
}

/// Returns a size for people as `ls -h` (`base` 1024) or `ls --si` (1000) print it: rounded up, one
/// decimal below ten (`1.1K`, `11K`, `1023`).
pub fn human_size(value: u64, base: u64) -> String {
    let base = u128::from(base.max(2));
    let value = u128::from(value);
    if value < base {
        return value.to_string();
    }
    let letters = if base == 1000 { "kMGTPEZY" } else { "KMGTPEZY" };
    let mut unit = base;
    for letter in letters.chars() {
        let tenths = (value * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = value.div_ceil(unit);
        if whole < base {
            return format!("{whole}{letter}");
        }
        unit *= base;
    }
    value.to_string()
}
