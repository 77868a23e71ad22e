//! Sizes with suffixes.

/// Why a size is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeError {
    Invalid,
    /// Too large for 64 bits ("Value too large for defined data type").
    Overflow,
}

/// A size as GNU tools read it: digits and `K`, `M`, `G`, `T`, `P`, `E` (powers of 1024),
/// also `KiB`; `KB`, `MB`, ... (powers of 1000); `b` is 512; `k` is `K`. Without digits the
/// suffix counts once (`K` is 1024). coreutils manual, 2.2 "Block size".
pub fn parse_size(text: &[u8]) -> Result<u64, SizeError> {
    let end = text.iter().position(|c| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(end);
    if text.is_empty() {
        return Err(SizeError::Invalid);
    }
    let mut value = u64::from(digits.is_empty());
    for d in digits {
        let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(d - b'0')));
        value = next.ok_or(SizeError::Overflow)?;
    }
    let (letter, rest) = match suffix {
        [] => return Ok(value),
        [b'b'] => return value.checked_mul(512).ok_or(SizeError::Overflow),
        [letter, rest @ ..] => (letter.to_ascii_uppercase(), rest),
    };
    let power = match b"KMGTPEZYRQ".iter().position(|l| *l == letter) {
        Some(p)
            if letter == b'K' || suffix[0].is_ascii_uppercase() || b"mgt".contains(&suffix[0]) =>
        {
            p + 1
        }
        _ => return Err(SizeError::Invalid),
    };
    let base: u64 = match rest {
        b"" | b"iB" => 1024,
        b"B" => 1000,
        _ => return Err(SizeError::Invalid),
    };
    if value == 0 {
        return Ok(0);
    }
    let factor = base.checked_pow(power as u32).ok_or(SizeError::Overflow)?;
    value.checked_mul(factor).ok_or(SizeError::Overflow)
}

/// A size for people as `ls -h` (`base` 1024) or `ls --si` (1000) print it: rounded up, one
/// decimal below ten (`1.1K`, `11K`, `1023`).
pub fn human(value: u64, base: u64) -> String {
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
