//! Counts and sizes in options, and human-readable sizes.

pub(crate) use box_text::number::{SizeError as NumberError, parse_size};

use box_text::number::{BlockSizeError, parse_block_size, suffix_factor};

/// Parses a number in C's notation (decimal, octal or hexadecimal) with a suffix as in
/// [`parse_size`].
pub(crate) fn any_base(text: &[u8]) -> Result<u64, NumberError> {
    let n = box_text::number::parse_integer(text, 0);
    let suffix = text.get(n.len..).unwrap_or_default();
    let factor = suffix_factor(suffix).filter(|_| n.len > 0 && !n.negative);
    let value = u128::from(n.magnitude).saturating_mul(factor.ok_or(NumberError::Invalid)?);
    if n.overflow {
        Err(NumberError::Overflow)
    } else {
        value.try_into().map_err(|_| NumberError::Overflow)
    }
}

/// Returns the text that follows the number in an error message: empty, or the reason that the
/// number is too large.
pub(crate) fn error_suffix(e: NumberError) -> &'static [u8] {
    match e {
        NumberError::Invalid => b"",
        NumberError::Overflow => b": Value too large for defined data type",
    }
}

/// Parses an unsigned decimal number; returns `None` if the text is not one or does not fit.
pub(crate) fn parse_decimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return None;
    }
    count(text).ok()
}

/// The reason why the number of an option is refused. A wrong suffix has a message of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountError {
    Invalid,
    Suffix,
    Overflow,
}

impl From<BlockSizeError> for CountError {
    fn from(e: BlockSizeError) -> CountError {
        match e {
            BlockSizeError::Invalid => CountError::Invalid,
            BlockSizeError::Suffix => CountError::Suffix,
            BlockSizeError::Overflow => CountError::Overflow,
        }
    }
}

impl CountError {
    /// Returns the message about the value of an option.
    pub(crate) fn message(self, option: &str, text: &[u8]) -> Vec<u8> {
        let (before, after) = match self {
            CountError::Invalid => ("invalid ", ""),
            CountError::Suffix => ("invalid suffix in ", ""),
            CountError::Overflow => ("", " too large"),
        };
        let shown = super::quote::quote_in_sentence(text);
        [format!("{before}{option} argument ").as_bytes(), &shown, after.as_bytes()].concat()
    }
}

/// Parses a number at the beginning of a text as `strtoumax(3)` does, after optional blanks and a
/// plus sign. Returns the number with the rest of the text, or `None` if there are no digits.
pub(crate) fn leading(text: &[u8]) -> Option<(Result<u64, CountError>, &[u8])> {
    let blanks = text.iter().take_while(|c| c.is_ascii_whitespace() || **c == 0x0b).count();
    let text = &text[blanks..];
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let (digits, rest) = text.split_at(text.iter().take_while(|c| c.is_ascii_digit()).count());
    if digits.is_empty() {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0u64, |value, digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')));
    Some((value.ok_or(CountError::Overflow), rest))
}

/// Parses a number without a suffix, by the rules of [`leading`].
pub(crate) fn count(text: &[u8]) -> Result<u64, CountError> {
    match leading(text) {
        None => Err(CountError::Invalid),
        Some((value, b"")) => value,
        Some(_) => Err(CountError::Suffix),
    }
}

/// The reason why a number that must lie within bounds is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BoundError {
    Invalid,
    /// The number is out of bounds, but GNU's tools do not call it too large.
    OutOfRange,
    TooLarge,
}

impl BoundError {
    /// Returns the text that follows the number in an error message.
    pub(crate) fn suffix(self) -> &'static [u8] {
        match self {
            BoundError::Invalid => b"",
            BoundError::OutOfRange => b": Numerical result out of range",
            BoundError::TooLarge => b": Value too large for defined data type",
        }
    }
}

/// Parses a whole text as a signed number by the rules of `strtoimax(3)`. The bounds are inclusive.
///
/// # Errors
/// The text is not a number, or the number is out of bounds. As in GNU's tools, a number beyond
/// half of C's `int` is reported as too large.
pub(crate) fn parse_bounded(text: &[u8], (least, most): (i64, i64)) -> Result<i64, BoundError> {
    const NEAR_LEAST: i64 = (i32::MIN / 2) as i64;
    const NEAR_MOST: i64 = (i32::MAX / 2) as i64;
    let parsed = box_text::number::parse_integer(text, 10);
    if parsed.len == 0 || parsed.len != text.len() {
        return Err(BoundError::Invalid);
    }
    match parsed.signed() {
        (n, false) if (least..=most).contains(&n) => Ok(n),
        (n, false) if (NEAR_LEAST..=NEAR_MOST).contains(&n) => Err(BoundError::OutOfRange),
        _ => Err(BoundError::TooLarge),
    }
}

/// The scale on which `ls`, `du` and `df` print sizes: as a number of blocks, or in human-readable
/// form such as `4.0K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SizeScale {
    /// `-h` (1024) or `--si` (1000).
    Human(u64),
    /// Whole units of this many bytes, rounded up, and the text that follows each number.
    Units(u64, &'static str),
}

impl SizeScale {
    /// Parses a `--block-size` argument: `K`, `1M`, `kB`, `512`, `human-readable`, `si`.
    pub(crate) fn parse(text: &[u8]) -> Result<SizeScale, CountError> {
        match text {
            b"human-readable" => return Ok(SizeScale::Human(1024)),
            b"si" => return Ok(SizeScale::Human(1000)),
            _ => {}
        }
        let n = match parse_block_size(text)? {
            0 => return Err(CountError::Invalid),
            n => n,
        };
        // A suffix without a number is shown after each size.
        let shown = match text {
            b"K" | b"k" | b"KiB" => "K",
            b"kB" | b"KB" => "kB",
            b"M" | b"MiB" => "M",
            b"MB" => "MB",
            b"G" | b"GiB" => "G",
            b"GB" => "GB",
            b"T" | b"TiB" => "T",
            b"TB" => "TB",
            b"P" => "P",
            b"E" => "E",
            _ => "",
        };
        Ok(SizeScale::Units(n, shown))
    }

    /// Formats a number of bytes on this scale.
    pub(crate) fn show(self, bytes: u64) -> String {
        match self {
            SizeScale::Human(base) => box_text::number::human_size(bytes, base),
            SizeScale::Units(unit, suffix) => format!("{}{suffix}", bytes.div_ceil(unit.max(1))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size(b"2b"), Ok(1024));
        assert_eq!(parse_size(b"1kB"), Ok(1000));
        assert_eq!(parse_size(b"1K"), Ok(1024));
        assert_eq!(parse_size(b"3MiB"), Ok(3 << 20));
        assert_eq!(parse_size(b"M"), Ok(1 << 20));
        assert_eq!(parse_size(b"1x"), Err(NumberError::Invalid));
        assert_eq!(parse_size(b""), Err(NumberError::Invalid));
        assert_eq!(parse_size(b"99999999999999999999"), Err(NumberError::Overflow));
        assert_eq!(parse_size(b"1Y"), Err(NumberError::Overflow));
        assert_eq!(parse_size(b" +2K"), Ok(2048));
        assert_eq!(parse_size(b"+"), Err(NumberError::Invalid));
        assert_eq!(parse_size(b"+K"), Err(NumberError::Invalid));
        assert_eq!(parse_block_size(b"0x10"), Ok(16));
        assert_eq!(parse_block_size(b"1b"), Err(BlockSizeError::Suffix));
        assert_eq!(parse_block_size(b"b"), Err(BlockSizeError::Invalid));
        assert_eq!(parse_block_size(b"16E"), Err(BlockSizeError::Overflow));
        assert_eq!(parse_decimal(b"18446744073709551616"), None);
    }
}
