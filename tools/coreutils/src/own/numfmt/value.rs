//! Numbers with unit letters: parsing, scaling, rounding and formatting. Values are exact
//! fractions; GNU's are floating-point numbers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

/// Unit letters, by the power of the base.
const UNITS: &[u8] = b"KMGTPEZY";
/// The number of digits that GNU's numbers hold exactly, and the maximum that GNU accepts.
const MAX_UNSCALED_DIGITS: usize = 18;
const MAX_DIGITS: usize = 27;

/// The meaning of unit letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumfmtScale {
    None,
    Auto,
    Si,
    Iec,
    IecI,
}

impl NumfmtScale {
    fn base(self) -> u32 {
        if matches!(self, NumfmtScale::Iec | NumfmtScale::IecI) { 1024 } else { 1000 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
    FromZero,
    TowardsZero,
    Nearest,
}

/// The reason why a text is not a number, for GNU's message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Invalid {
    Number,
    TooLarge,
    ForbiddenSuffix,
    Suffix,
    MissingI,
    /// The text from this position on is not part of the number.
    Rest(usize),
}

/// A number.
#[derive(Clone, Debug)]
pub(super) struct NumfmtValue {
    numerator: BigInt,
    /// The denominator, which is positive.
    denominator: BigInt,
    /// Whether the value is negative: a value that rounds to zero keeps its sign.
    negative: bool,
    /// The number of digits after the point in the text.
    pub(super) precision: usize,
}

fn integer_power(base: u32, exponent: usize) -> BigInt {
    BigInt::from(base).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

impl NumfmtValue {
    /// Reads a number with an optional unit.
    pub(super) fn parse(text: &[u8], scale: NumfmtScale) -> Result<NumfmtValue, Invalid> {
        let digits = |from: usize| {
            let rest = text.get(from..).unwrap_or(&[]);
            from + rest.iter().take_while(|c| c.is_ascii_digit()).count()
        };
        let negative = text.first() == Some(&b'-');
        let start = usize::from(negative);
        let whole = digits(start);
        let significant = text[start..whole].iter().skip_while(|c| **c == b'0').count();
        let point = text.get(whole) == Some(&b'.');
        if whole == start && !point {
            return Err(Invalid::Number);
        }
        if significant > MAX_DIGITS {
            return Err(Invalid::TooLarge);
        }
        let mut at = whole;
        let mut fraction: &[u8] = &[];
        if point {
            at = digits(whole + 1);
            fraction = &text[whole + 1..at];
            if fraction.is_empty() {
                return Err(Invalid::Number);
            }
            if fraction.iter().skip_while(|c| **c == b'0').count() > MAX_DIGITS {
                return Err(Invalid::TooLarge);
            }
        }
        let all = [&text[start..whole], fraction].concat();
        let number = BigInt::parse_bytes(&all, 10).unwrap_or_default();
        let mut value = NumfmtValue {
            numerator: if negative { -number } else { number },
            denominator: integer_power(10, fraction.len()),
            negative: negative && all.iter().any(|c| *c != b'0'),
            precision: fraction.len(),
        };
        let mut after = at;
        while matches!(text.get(after), Some(b' ' | b'\t')) {
            after += 1;
        }
        let Some(letter) = text.get(after) else {
            return if scale == NumfmtScale::IecI { Err(Invalid::MissingI) } else { Ok(value) };
        };
        let Some(exponent) = UNITS.iter().position(|u| u == letter) else {
            return Err(Invalid::Suffix);
        };
        if scale == NumfmtScale::None {
            return Err(Invalid::ForbiddenSuffix);
        }
        after += 1;
        let i = text.get(after) == Some(&b'i');
        let base = match scale {
            NumfmtScale::Auto if i => 1024,
            other => other.base(),
        };
        match scale {
            NumfmtScale::Auto | NumfmtScale::IecI if i => after += 1,
            NumfmtScale::IecI => return Err(Invalid::MissingI),
            _ => {}
        }
        if after < text.len() {
            return Err(Invalid::Rest(after));
        }
        value.numerator *= integer_power(base, exponent + 1);
        value.precision = 0;
        Ok(value)
    }

    /// Multiplies the value by one unit size and divides it by another.
    pub(super) fn convert_unit(&mut self, from: u64, to: u64) {
        self.numerator *= BigInt::from(from);
        self.denominator *= BigInt::from(to.max(1));
    }

    /// Returns whether the absolute value is below `limit`.
    fn is_below(&self, limit: &BigInt) -> bool {
        self.numerator.abs() < limit * &self.denominator
    }

    /// Returns the number of digits before the point, minus one.
    fn magnitude(&self) -> usize {
        let whole = (self.numerator.abs() / &self.denominator).to_string();
        whole.len() - 1
    }

    /// Returns the approximate value, for messages.
    pub(super) fn about_text(&self) -> String {
        let whole = (&self.numerator / &self.denominator).to_string();
        let text = format!("{:.5e}", whole.parse::<f64>().unwrap_or(f64::INFINITY));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e+{exponent:0>2}", mantissa.trim_end_matches('0').trim_end_matches('.'))
    }

    /// Rounds to a whole number of units of 10^-places.
    fn round_to(&self, places: usize, how: Round) -> BigInt {
        let n = &self.numerator * integer_power(10, places);
        let (floor, rest) = n.div_mod_floor(&self.denominator);
        if rest.is_zero() {
            return floor;
        }
        let up = match how {
            Round::Up => true,
            Round::Down => false,
            Round::FromZero => !n.is_negative(),
            Round::TowardsZero => n.is_negative(),
            Round::Nearest => {
                let twice = rest * 2;
                // Halves are rounded away from zero.
                if n.is_negative() { twice > self.denominator } else { twice >= self.denominator }
            }
        };
        if up { floor + BigInt::one() } else { floor }
    }

    /// Formats the value as `printf %.Nf` does, with zeros in front up to `width`.
    fn fixed_text(&self, places: usize, width: usize) -> String {
        let n = self.numerator.abs() * integer_power(10, places);
        let (mut q, rest) = n.div_mod_floor(&self.denominator);
        let twice = rest * 2;
        if twice > self.denominator || (twice == self.denominator && q.is_odd()) {
            q += 1;
        }
        let digits = format!("{:0>1$}", q.to_string(), places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        let point = if places > 0 { "." } else { "" };
        let sign = if self.negative { "-" } else { "" };
        let width = width.saturating_sub(sign.len() + point.len() + places);
        format!("{sign}{whole:0>width$}{point}{fraction}")
    }
}

/// The style in which numbers are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct NumfmtStyle {
    pub(super) scale: NumfmtScale,
    pub(super) round: Round,
    /// The number of digits after the point, if the format sets it.
    pub(super) precision: Option<usize>,
    /// The width up to which zeros are put in front.
    pub(super) zeros: usize,
}

impl NumfmtStyle {
    /// Returns the number as text. The error is GNU's message about a number that cannot be shown.
    pub(super) fn write(&self, value: &NumfmtValue) -> Result<String, String> {
        let precision = self.precision.unwrap_or(value.precision);
        let magnitude = value.magnitude();
        if self.scale == NumfmtScale::None && magnitude + precision > MAX_UNSCALED_DIGITS {
            let about = value.about_text();
            return Err(if precision > 0 {
                format!(
                    "value/precision too large to be printed: '{about}/{precision}' (consider using --to)"
                )
            } else {
                format!("value too large to be printed: '{about}' (consider using --to)")
            });
        }
        if magnitude > MAX_DIGITS - 1 {
            let about = value.about_text();
            return Err(format!(
                "value too large to be printed: '{about}' (cannot handle values > 999Y)"
            ));
        }
        let with = |n: BigInt, places: usize| NumfmtValue {
            numerator: n,
            denominator: integer_power(10, places),
            negative: value.negative,
            precision: 0,
        };
        if self.scale == NumfmtScale::None {
            let rounded = with(value.round_to(precision, self.round), precision);
            return Ok(rounded.fixed_text(precision, self.zeros));
        }
        let base = BigInt::from(self.scale.base());
        let ten = BigInt::from(10);
        let mut scaled = value.clone();
        let mut exponent = 0;
        while !scaled.is_below(&base) {
            scaled.denominator *= &base;
            exponent += 1;
        }
        let places = match self.precision {
            Some(p) => p.min(exponent * 3),
            None => usize::from(scaled.is_below(&ten)),
        };
        let mut rounded = with(scaled.round_to(places, self.round), places);
        if !rounded.is_below(&base) {
            rounded.denominator *= &base;
            exponent += 1;
        }
        let tenth = !rounded.numerator.is_zero() && rounded.is_below(&ten) && exponent > 0;
        let mut out = rounded.fixed_text(self.precision.unwrap_or(usize::from(tenth)), self.zeros);
        if let Some(unit) = exponent.checked_sub(1).and_then(|n| UNITS.get(n)) {
            out.push(char::from(*unit));
            if self.scale == NumfmtScale::IecI {
                out.push('i');
            }
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn human(text: &str, scale: NumfmtScale, round: Round) -> String {
        let style = NumfmtStyle { scale, round, precision: None, zeros: 0 };
        style.write(&NumfmtValue::parse(text.as_bytes(), NumfmtScale::Auto).unwrap()).unwrap()
    }

    #[test]
    fn as_gnu_writes() {
        for (text, want) in [
            ("999", "999"),
            ("1000", "1.0K"),
            ("1001", "1.1K"),
            ("9999", "10K"),
            ("999999", "1.0M"),
            ("-0.5", "-0"),
            ("1.5", "2"),
        ] {
            assert_eq!(human(text, NumfmtScale::Si, Round::FromZero), want, "{text}");
        }
        assert_eq!(human("1Ki", NumfmtScale::IecI, Round::Up), "1.0Ki");
        assert_eq!(human("1023.9", NumfmtScale::Iec, Round::Up), "1.0K");
        assert_eq!(human("-1550", NumfmtScale::Si, Round::Nearest), "-1.6K");
    }

    #[test]
    fn what_is_no_number() {
        let error = |text: &str, scale| NumfmtValue::parse(text.as_bytes(), scale).unwrap_err();
        assert_eq!(error("", NumfmtScale::Si), Invalid::Number);
        assert_eq!(error("1.", NumfmtScale::Si), Invalid::Number);
        assert_eq!(error("+5", NumfmtScale::Si), Invalid::Number);
        assert_eq!(error("5K", NumfmtScale::None), Invalid::ForbiddenSuffix);
        assert_eq!(error("5k", NumfmtScale::Si), Invalid::Suffix);
        assert_eq!(error("5K", NumfmtScale::IecI), Invalid::MissingI);
        assert_eq!(error("5Ki", NumfmtScale::Si), Invalid::Rest(2));
        assert_eq!(error(&"9".repeat(28), NumfmtScale::None), Invalid::TooLarge);
    }
}
