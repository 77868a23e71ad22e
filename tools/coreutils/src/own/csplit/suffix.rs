//! The suffixes of file names: a number in a format of `printf(3)`.

use box_text::printf::{ConversionSpec, put_unsigned};

/// The maximum width of a number, which is more than a file name may have on any system.
const MAX_COLUMNS: usize = 1 << 20;

/// A format with one conversion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SuffixFormat {
    before: Vec<u8>,
    after: Vec<u8>,
    spec: ConversionSpec,
    conversion: u8,
}

impl SuffixFormat {
    /// Returns a format for decimal numbers with at least this number of digits.
    pub(super) fn of_digits(digits: usize) -> SuffixFormat {
        let spec = ConversionSpec { zero: true, width: digits, ..ConversionSpec::default() };
        SuffixFormat { before: Vec::new(), after: Vec::new(), spec, conversion: b'u' }
    }

    /// Parses the argument of `-b`.
    ///
    /// # Errors
    ///
    /// The message about a format that has no conversion, several, or one that is not for unsigned
    /// numbers.
    pub(super) fn parse(text: &[u8]) -> Result<SuffixFormat, Vec<u8>> {
        let mut texts = [Vec::new(), Vec::new()];
        let mut found: Option<(ConversionSpec, u8)> = None;
        let mut rest = text;
        while let [byte, after @ ..] = rest {
            rest = after;
            if *byte == b'%' && rest.first() != Some(&b'%') {
                if found.is_some() {
                    return Err(b"too many % conversion specifications in suffix".to_vec());
                }
                found = Some(parse_conversion(&mut rest)?);
                continue;
            }
            if *byte == b'%' {
                rest = rest.get(1..).unwrap_or_default();
            }
            texts[usize::from(found.is_some())].push(*byte);
        }
        let Some((spec, conversion)) = found else {
            return Err(b"missing % conversion specification in suffix".to_vec());
        };
        let [before, after] = texts;
        Ok(SuffixFormat { before, after, spec, conversion })
    }

    /// Returns the suffix of a number; `None` if it would be longer than any name.
    pub(super) fn format(&self, number: u64) -> Option<Vec<u8>> {
        if self.spec.width.max(self.spec.precision.unwrap_or(0)) > MAX_COLUMNS {
            return None;
        }
        let mut out = self.before.clone();
        put_unsigned(&mut out, &self.spec, self.conversion, number);
        out.extend_from_slice(&self.after);
        Some(out)
    }
}

/// Parses the conversion after a `%`.
fn parse_conversion(rest: &mut &[u8]) -> Result<(ConversionSpec, u8), Vec<u8>> {
    let mut spec = ConversionSpec::default();
    while let [flag @ (b'-' | b'0' | b'\'' | b'#'), after @ ..] = *rest {
        match flag {
            b'-' => spec.minus = true,
            b'0' => spec.zero = true,
            b'#' => spec.alt = true,
            _ => spec.group = true,
        }
        *rest = after;
    }
    spec.width = parse_count(rest);
    if let [b'.', after @ ..] = *rest {
        *rest = after;
        spec.precision = Some(parse_count(rest));
    }
    let Some((&conversion, after)) = rest.split_first() else {
        return Err(b"missing conversion specifier in suffix".to_vec());
    };
    *rest = after;
    let wrong_flag = match conversion {
        b'd' | b'i' | b'u' => spec.alt.then_some('#'),
        b'o' | b'x' | b'X' => spec.group.then_some('\''),
        other => {
            let shown = match other {
                b' '..=b'~' => char::from(other).to_string(),
                _ => format!("\\{other:03o}"),
            };
            return Err(format!("invalid conversion specifier in suffix: {shown}").into_bytes());
        }
    };
    if let Some(flag) = wrong_flag {
        let letter = char::from(conversion);
        let text = format!("invalid flags in conversion specification: %{flag}{letter}");
        return Err(text.into_bytes());
    }
    Ok((spec, conversion))
}

fn parse_count(rest: &mut &[u8]) -> usize {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    number.iter().fold(0usize, |n, d| n.saturating_mul(10).saturating_add(usize::from(d - b'0')))
}

#[cfg(test)]
mod tests {
    use super::SuffixFormat;

    fn check(format: &str, want: Result<[&str; 2], &str>) {
        let made = SuffixFormat::parse(format.as_bytes())
            .map(|f| [0, 10].map(|n| String::from_utf8(f.format(n).unwrap()).unwrap()))
            .map_err(|e| String::from_utf8(e).unwrap());
        let want = want.map(|names| names.map(String::from)).map_err(String::from);
        assert_eq!(made, want, "{format}");
    }

    // Expected values: GNU coreutils 9.1.
    #[test]
    fn formats() {
        check("%03d.txt", Ok(["000.txt", "010.txt"]));
        check("%%%-5x|", Ok(["%0    |", "%a    |"]));
        check("%#o%%", Ok(["0%", "012%"]));
        check("%.d", Ok(["", "10"]));
        check("%'d", Ok(["0", "10"]));
        check("%-#5d", Err("invalid flags in conversion specification: %#d"));
        check("%#'x", Err("invalid flags in conversion specification: %'x"));
        check("%s%d", Err("invalid conversion specifier in suffix: s"));
        check("%\u{1}", Err("invalid conversion specifier in suffix: \\001"));
        check("%d%", Err("too many % conversion specifications in suffix"));
        check("%5", Err("missing conversion specifier in suffix"));
        check("a%%", Err("missing % conversion specification in suffix"));
        assert_eq!(SuffixFormat::parse(b"%.9999999999999999999999d").unwrap().format(1), None);
    }
}
