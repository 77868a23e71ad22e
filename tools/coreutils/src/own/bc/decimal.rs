//! Decimal numbers of any length: an integer and the number of its digits after the point. Results
//! are truncated, never rounded, as POSIX requires for `bc`.

use std::cmp::Ordering;

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// The maximum number of digits after the point, and the maximum exponent.
pub(super) const MAX: usize = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: BigInt,
    scale: usize,
}

fn power_of_ten(power: usize) -> BigInt {
    BigInt::from(10).pow(u32::try_from(power).unwrap_or(u32::MAX))
}

impl Decimal {
    pub(super) fn zero() -> Decimal {
        Decimal { digits: BigInt::zero(), scale: 0 }
    }

    pub(super) fn from_int(n: i64) -> Decimal {
        Decimal { digits: BigInt::from(n), scale: 0 }
    }

    /// Returns the value as an integer in units of 10^-places, truncated.
    pub(super) fn to_fixed(&self, places: usize) -> BigInt {
        self.rescale(places).digits
    }

    /// Returns the number that consists of `digits` units of 10^-places.
    pub(super) fn from_fixed(digits: BigInt, places: usize) -> Decimal {
        Decimal { digits, scale: places }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_zero()
    }

    pub(super) fn is_negative(&self) -> bool {
        self.digits.is_negative()
    }

    pub(super) fn scale(&self) -> usize {
        self.scale
    }

    /// Returns the number of significant digits, which is the result of bc's `length()`.
    pub(super) fn length(&self) -> usize {
        let n = self.digits.magnitude().to_str_radix(10).len();
        if self.digits.is_zero() { self.scale.max(1) } else { n.max(self.scale) }
    }

    /// Returns the integer part, if it fits.
    pub(super) fn to_i64(&self) -> Option<i64> {
        self.whole().to_i64()
    }

    fn whole(&self) -> BigInt {
        &self.digits / power_of_ten(self.scale)
    }

    /// Returns whether any digit after the point is not zero.
    pub(super) fn has_fraction(&self) -> bool {
        !(&self.digits % power_of_ten(self.scale)).is_zero()
    }

    /// Parses a constant in an input base. A digit that is too large for the base counts as the
    /// base's largest digit, except in constants of one digit.
    pub(super) fn parse(text: &[u8], base: u32) -> Decimal {
        let value =
            |c: u8| if c.is_ascii_digit() { u32::from(c - b'0') } else { u32::from(c - b'A') + 10 };
        let (whole, fraction) = match text.iter().position(|c| *c == b'.') {
            Some(i) => (&text[..i], &text[i + 1..]),
            None => (text, &text[text.len()..]),
        };
        let single = whole.len() + fraction.len() == 1;
        let digit = |c: u8| if single { value(c) } else { value(c).min(base - 1) };
        if base == 10 && !whole.iter().chain(fraction).any(|c| c.is_ascii_uppercase()) {
            let all: Vec<u8> = [whole, fraction].concat();
            let digits = if all.is_empty() {
                BigUint::zero()
            } else {
                BigUint::parse_bytes(&all, 10).unwrap_or_default()
            };
            return Decimal {
                digits: BigInt::from_biguint(Sign::Plus, digits),
                scale: fraction.len(),
            };
        }
        let fold = |part: &[u8]| part.iter().fold(BigInt::zero(), |n, c| n * base + digit(*c));
        let mut out = Decimal { digits: fold(whole), scale: 0 };
        if !fraction.is_empty() {
            // The result has as many decimal places as the constant has digits after its point.
            let part = fold(fraction) * power_of_ten(fraction.len())
                / BigInt::from(base).pow(fraction.len() as u32);
            out = out.add(&Decimal { digits: part, scale: fraction.len() });
        }
        out
    }

    /// Returns the same number with another scale, truncated or padded.
    pub(super) fn rescale(&self, scale: usize) -> Decimal {
        let digits = match scale.cmp(&self.scale) {
            Ordering::Equal => return self.clone(),
            Ordering::Greater => &self.digits * power_of_ten(scale - self.scale),
            Ordering::Less => &self.digits / power_of_ten(self.scale - scale),
        };
        Decimal { digits, scale }
    }

    pub(super) fn negate(&self) -> Decimal {
        Decimal { digits: -&self.digits, scale: self.scale }
    }

    pub(super) fn add(&self, o: &Decimal) -> Decimal {
        let scale = self.scale.max(o.scale);
        Decimal { digits: self.rescale(scale).digits + o.rescale(scale).digits, scale }
    }

    pub(super) fn subtract(&self, o: &Decimal) -> Decimal {
        self.add(&o.negate())
    }

    /// Multiplies two numbers. The scale of the product is the sum of both scales, but at most the
    /// largest of both and `scale`.
    pub(super) fn multiply(&self, o: &Decimal, scale: usize) -> Decimal {
        let full = self.scale + o.scale;
        let product = Decimal { digits: &self.digits * &o.digits, scale: full };
        product.rescale(full.min(scale.max(self.scale).max(o.scale)))
    }

    /// Divides two numbers; `None` for a division by zero.
    pub(super) fn divide(&self, o: &Decimal, scale: usize) -> Option<Decimal> {
        if o.is_zero() {
            return None;
        }
        let up = scale + o.scale;
        let numerator = if up >= self.scale {
            &self.digits * power_of_ten(up - self.scale)
        } else {
            &self.digits / power_of_ten(self.scale - up)
        };
        Some(Decimal { digits: numerator / &o.digits, scale })
    }

    /// Returns `a - (a/b) * b` with the quotient at the given scale.
    pub(super) fn modulo(&self, o: &Decimal, scale: usize) -> Option<Decimal> {
        let quotient = self.divide(o, scale)?;
        let keep = (scale + o.scale).max(self.scale);
        let product =
            Decimal { digits: &quotient.digits * &o.digits, scale: quotient.scale + o.scale };
        Some(self.subtract(&product).rescale(keep))
    }

    /// Returns an integer power. `None` for zero to a negative power, or an exponent that is too
    /// large.
    pub(super) fn power(&self, exponent: &Decimal, scale: usize) -> Option<Decimal> {
        let n = exponent.to_i64()?;
        let count = usize::try_from(n.unsigned_abs()).ok()?;
        let bits = usize::try_from(self.digits.bits()).ok()?;
        if count.saturating_mul(bits.max(1)) > MAX * 8
            && !self.digits.magnitude().is_one()
            && !self.is_zero()
        {
            return None;
        }
        if n == 0 {
            return Some(Decimal::from_int(1));
        }
        let full = Decimal {
            digits: num_traits::pow(self.digits.clone(), count),
            scale: self.scale.checked_mul(count)?,
        };
        if n < 0 {
            return Decimal::from_int(1).divide(&full, scale);
        }
        Some(full.rescale((self.scale * count).min(scale.max(self.scale))))
    }

    /// Returns the square root; `None` for a negative number.
    pub(super) fn sqrt(&self, scale: usize) -> Option<Decimal> {
        if self.is_negative() {
            return None;
        }
        let scale = scale.max(self.scale);
        let digits = self.rescale(2 * scale).digits.sqrt();
        Some(Decimal { digits, scale })
    }

    pub(super) fn compare(&self, o: &Decimal) -> Ordering {
        let scale = self.scale.max(o.scale);
        self.rescale(scale).digits.cmp(&o.rescale(scale).digits)
    }

    /// Returns the number as `bc` prints it in an output base: without a zero before the point.
    pub(super) fn show(&self, base: i64) -> String {
        let mut out = String::new();
        if self.is_zero() {
            return "0".to_string();
        }
        if self.is_negative() {
            out.push('-');
        }
        let magnitude = Decimal { digits: self.digits.abs(), scale: self.scale };
        let (whole, rest) = magnitude.digits.div_rem(&power_of_ten(self.scale));
        if base == 10 {
            if !whole.is_zero() {
                out.push_str(&whole.to_str_radix(10));
            }
            if self.scale > 0 {
                out.push('.');
                out.push_str(&format!("{:0>width$}", rest.to_str_radix(10), width = self.scale));
            }
            return out;
        }
        // In bases above 16, digits are written as decimal numbers of fixed width.
        let wide = base > 16;
        let width = (base - 1).to_string().len();
        let push = |out: &mut String, d: i64| {
            if wide {
                out.push_str(&format!(" {d:0width$}"));
            } else {
                out.push(char::from_digit(d as u32, 16).unwrap_or('0').to_ascii_uppercase());
            }
        };
        let mut digits = Vec::new();
        let mut n = whole;
        let b = BigInt::from(base);
        if (2..=36).contains(&base) {
            let text = n.to_str_radix(base as u32);
            if text != "0" {
                digits = text.chars().rev().filter_map(|c| c.to_digit(36)).map(i64::from).collect();
            }
        } else {
            while !n.is_zero() {
                let (q, r) = n.div_rem(&b);
                digits.push(r.to_i64().unwrap_or(0));
                n = q;
            }
        }
        for d in digits.iter().rev() {
            push(&mut out, *d);
        }
        if self.scale > 0 {
            out.push('.');
            // The fraction gets as many digits as the precision of the scale needs.
            let unit = power_of_ten(self.scale);
            let mut rest = rest;
            let mut reach = BigInt::one();
            let mut first = true;
            while reach.to_str_radix(10).len() <= self.scale {
                rest *= &b;
                reach *= &b;
                let (d, r) = rest.div_rem(&unit);
                rest = r;
                let d = d.to_i64().unwrap_or(0);
                if wide && first {
                    out.push_str(&format!("{d:0width$}"));
                } else {
                    push(&mut out, d);
                }
                first = false;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(t: &str) -> Decimal {
        match t.strip_prefix('-') {
            Some(p) => Decimal::parse(p.as_bytes(), 10).negate(),
            None => Decimal::parse(t.as_bytes(), 10),
        }
    }

    // Expected values: GNU bc 1.07.1.
    #[test]
    fn like_gnu() {
        assert_eq!(d("1").divide(&d("3"), 20).unwrap().show(10), ".33333333333333333333");
        assert_eq!(d("1.23").multiply(&d("4.5"), 0).show(10), "5.53");
        assert_eq!(d("10").modulo(&d("3"), 0).unwrap().show(10), "1");
        assert_eq!(d("-7").modulo(&d("2"), 0).unwrap().show(10), "-1");
        assert_eq!(d("2").power(&d("100"), 0).unwrap().show(10), "1267650600228229401496703205376");
        assert_eq!(d("2").sqrt(10).unwrap().show(10), "1.4142135623");
        assert_eq!(d("255").show(16), "FF");
        assert_eq!(d("1000").show(100), " 10 00");
        assert_eq!(Decimal::parse(b"FF", 16).show(10), "255");
        assert_eq!(d("-0.5").show(10), "-.5");
    }
}
