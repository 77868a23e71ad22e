//! x86's 80-bit `long double`, read from decimal text and printed, both correctly rounded.
//!
//! The `printf %f` of bash and coreutils uses this type, so that `printf %.20f 0.1` shows
//! `0.10000000000000000000`, where a double would show `0.10000000000000000555`. Conversions are
//! exact by means of a small big-integer type; there is no arithmetic on long doubles.

use super::float::DecimalFloat;
use crate::number::parse_float;

/// An 80-bit float: sign, 64-bit mantissa, exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongDouble {
    negative: bool,
    class: FloatClass,
    /// The mantissa, whose top bit is set unless the value is zero or subnormal.
    mantissa: u64,
    /// The value is `mantissa * 2^exponent`.
    exponent: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FloatClass {
    Finite,
    Infinite,
    Nan,
}

/// The exponents of the lowest mantissa bit of the smallest and the largest normal number.
const MIN_EXPONENT: i64 = -16382 - 63;
const MAX_EXPONENT: i64 = 16383 - 63;
/// The number of digits that are kept of a text, enough for any midpoint between two numbers. The
/// digits after them only decide whether the number is exact.
const MAX_DIGITS: usize = 12_000;

impl LongDouble {
    const ZERO: LongDouble =
        LongDouble { negative: false, class: FloatClass::Finite, mantissa: 0, exponent: 0 };

    /// Converts a double, exactly.
    pub fn from_f64(value: f64) -> LongDouble {
        let negative = value.is_sign_negative();
        if !value.is_finite() {
            let class = if value.is_nan() { FloatClass::Nan } else { FloatClass::Infinite };
            return LongDouble { negative, class, ..Self::ZERO };
        }
        let bits = value.to_bits();
        let (fraction, field) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        let (mantissa, exponent) =
            if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
        Self::normal(negative, mantissa, exponent)
    }

    /// Reads a number in its memory layout: 64 bits of mantissa, and sign and exponent.
    pub fn from_bits(mantissa: u64, sign_exponent: u16) -> LongDouble {
        let negative = sign_exponent >> 15 == 1;
        let field = i32::from(sign_exponent & 0x7fff);
        // Above the minimum exponent, the mantissa's top bit must be set; otherwise this is not a
        // number.
        let class = match (field, mantissa >> 63, mantissa << 1) {
            (0x7fff, 1, 0) => FloatClass::Infinite,
            (0x7fff, ..) | (1.., 0, _) => FloatClass::Nan,
            _ => return Self::normal(negative, mantissa, field.max(1) - 16383 - 63),
        };
        LongDouble { negative, class, ..Self::ZERO }
    }

    /// Returns an integer, exactly.
    pub fn from_u64(value: u64) -> LongDouble {
        Self::normal(false, value, 0)
    }

    /// Returns an integer, exactly.
    pub fn from_i64(value: i64) -> LongDouble {
        Self::normal(value < 0, value.unsigned_abs(), 0)
    }

    fn normal(negative: bool, mantissa: u64, exponent: i32) -> LongDouble {
        if mantissa == 0 {
            return LongDouble { negative, ..Self::ZERO };
        }
        let shift = mantissa.leading_zeros();
        LongDouble {
            negative,
            mantissa: mantissa << shift,
            exponent: exponent - shift as i32,
            ..Self::ZERO
        }
    }

    /// Parses the number at the start of a text as `strtold(3)` reads it: value, bytes used (0 if
    /// there is none) and whether it was out of range (ERANGE).
    pub fn parse(text: &[u8]) -> (LongDouble, usize, bool) {
        let (double, len) = parse_float(text);
        let used = &text[..len];
        let start = used.iter().position(|c| !crate::number::is_space(*c)).unwrap_or(len);
        let negative = used.get(start) == Some(&b'-');
        let body = &used[start.min(len)..];
        let body = body.strip_prefix(b"-").or(body.strip_prefix(b"+")).unwrap_or(body);
        // Hexadecimal text, infinities and NaN. (Hexadecimal with more than 53 bits is rounded.)
        let plain = body.first().is_some_and(|c| c.is_ascii_digit() || *c == b'.');
        if !plain || matches!(body.get(1), Some(b'x' | b'X')) {
            return (Self::from_f64(double), len, false);
        }
        let (value, range) = Self::decimal(negative, body);
        (value, len, range)
    }

    /// `digits[.digits][e[sign]digits]`.
    fn decimal(negative: bool, body: &[u8]) -> (LongDouble, bool) {
        let mut digits = BigUnsigned::default();
        let (mut count, mut scale, mut sticky, mut point) = (0usize, 0i64, false, false);
        let mut at = 0;
        while let Some(&c) = body.get(at) {
            match c {
                b'.' => point = true,
                b'0'..=b'9' => {
                    if count < MAX_DIGITS {
                        digits.multiply_add(10, u32::from(c - b'0'));
                        count += usize::from(!digits.is_zero());
                        scale -= i64::from(point);
                    } else {
                        sticky |= c != b'0';
                        scale += i64::from(!point);
                    }
                }
                _ => break,
            }
            at += 1;
        }
        if at < body.len() {
            scale =
                scale.saturating_add(crate::number::parse_integer(&body[at + 1..], 10).signed().0);
        }
        if digits.is_zero() {
            return (LongDouble { negative, ..Self::ZERO }, false);
        }
        let magnitude = scale.saturating_add(count as i64);
        if magnitude > 5000 {
            return (LongDouble { negative, class: FloatClass::Infinite, ..Self::ZERO }, true);
        }
        if magnitude < -5000 {
            return (LongDouble { negative, ..Self::ZERO }, true);
        }
        // value = top * 2^exponent, top at least 66 bits or exact.
        let (top, exponent) = if scale >= 0 {
            digits.multiply_power(10, scale as usize);
            (digits, 0)
        } else {
            let mut divisor = BigUnsigned::from(1);
            divisor.multiply_power(10, scale.unsigned_abs() as usize);
            let shift = (divisor.bits() as i64 - digits.bits() as i64 + 68).max(0);
            digits.shift_left(shift as usize);
            let (quotient, exact) = digits.divide(divisor);
            sticky |= !exact;
            (quotient, -shift)
        };
        Self::round(negative, &top, exponent, sticky)
    }

    /// Rounds `top * 2^exponent` (plus a little if `sticky`) to 64 bits, half to even.
    fn round(negative: bool, top: &BigUnsigned, exponent: i64, sticky: bool) -> (LongDouble, bool) {
        let bits = top.bits() as i64;
        // The lowest kept bit's exponent.
        let low = (exponent + bits - 64).max(MIN_EXPONENT);
        let drop = low - exponent;
        let (mut mantissa, rest_half, rest_more) = if drop <= 0 {
            (u128::from(top.window(0)) << drop.unsigned_abs().min(64), false, sticky)
        } else {
            let drop = drop as usize;
            (u128::from(top.window(drop)), top.bit(drop - 1), sticky || top.any_below(drop - 1))
        };
        if rest_half && (rest_more || mantissa & 1 == 1) {
            mantissa += 1;
        }
        let (mut mantissa, mut low) = (mantissa, low);
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            low += 1;
        }
        if low > MAX_EXPONENT {
            return (LongDouble { negative, class: FloatClass::Infinite, ..Self::ZERO }, true);
        }
        let range = mantissa >> 63 == 0 && (rest_half || rest_more || mantissa == 0);
        (Self::normal(negative, mantissa as u64, low as i32), range)
    }

    /// Returns whether the sign bit is set.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// Returns whether it is neither infinite nor NaN.
    pub fn is_finite(&self) -> bool {
        self.class == FloatClass::Finite
    }

    /// Returns whether it is not a number.
    pub fn is_nan(&self) -> bool {
        self.class == FloatClass::Nan
    }

    /// Returns the mantissa with its top bit set (0 for zero), and the exponent of its lowest bit.
    pub(super) fn parts(&self) -> (u64, i32) {
        (self.mantissa, self.exponent)
    }

    /// Returns all decimal digits, and the number of places after the point, which may exceed the
    /// number of digits.
    fn digits(&self) -> (Vec<u8>, usize) {
        let zeros = self.mantissa.trailing_zeros() % 64;
        let mut big = BigUnsigned::from(self.mantissa >> zeros);
        let exponent = self.exponent + zeros as i32;
        if self.mantissa == 0 {
            return (b"0".to_vec(), 0);
        }
        if exponent >= 0 {
            big.shift_left(exponent as usize);
            return (big.to_decimal(), 0);
        }
        let places = exponent.unsigned_abs() as usize;
        big.multiply_power(5, places);
        (big.to_decimal(), places)
    }
}

/// Rounds digits to the first `keep` (0 or more), half to even. Returns whether a carry out of the
/// top made them one digit longer.
fn round_digits(digits: &mut Vec<u8>, keep: usize) -> bool {
    if keep >= digits.len() {
        return false;
    }
    let rest = &digits[keep..];
    let more = rest[1..].iter().any(|d| *d != b'0');
    let odd = keep > 0 && digits[keep - 1] & 1 == 1;
    let up = rest[0] > b'5' || (rest[0] == b'5' && (more || odd));
    digits.truncate(keep);
    if !up {
        return false;
    }
    for d in digits.iter_mut().rev() {
        if *d < b'9' {
            *d += 1;
            return false;
        }
        *d = b'0';
    }
    digits.insert(0, b'1');
    true
}

impl DecimalFloat for LongDouble {
    fn fixed(&self, precision: usize) -> Vec<u8> {
        let (mut digits, mut places) = self.digits();
        if digits.len() <= places {
            let missing = places + 1 - digits.len();
            digits.splice(0..0, std::iter::repeat_n(b'0', missing));
        }
        let whole = digits.len() - places;
        if precision < places {
            round_digits(&mut digits, whole + precision);
            places = precision;
        }
        let at = digits.len() - places;
        digits.resize(digits.len() + precision - places, b'0');
        if precision > 0 {
            digits.insert(at, b'.');
        }
        digits
    }

    fn scientific(&self, precision: usize) -> (Vec<u8>, i32) {
        let (mut digits, places) = self.digits();
        let mut exponent = digits.len() as i64 - places as i64 - 1;
        if self.mantissa == 0 {
            exponent = 0;
        }
        if round_digits(&mut digits, precision.saturating_add(1)) {
            digits.pop();
            exponent += 1;
        }
        digits.resize(precision + 1, b'0');
        if precision > 0 {
            digits.insert(1, b'.');
        }
        (digits, exponent as i32)
    }
}

/// An unsigned integer of any size, least significant word first, no leading zero words.
#[derive(Clone, Debug, Default)]
struct BigUnsigned(Vec<u32>);

impl From<u64> for BigUnsigned {
    fn from(value: u64) -> BigUnsigned {
        let mut big = BigUnsigned(vec![value as u32, (value >> 32) as u32]);
        big.normalize();
        big
    }
}

impl BigUnsigned {
    fn normalize(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    fn bits(&self) -> usize {
        self.0.last().map_or(0, |w| self.0.len() * 32 - w.leading_zeros() as usize)
    }

    fn bit(&self, at: usize) -> bool {
        self.0.get(at / 32).is_some_and(|w| w >> (at % 32) & 1 == 1)
    }

    fn any_below(&self, at: usize) -> bool {
        let words = (at / 32).min(self.0.len());
        self.0[..words].iter().any(|w| *w != 0)
            || self.0.get(at / 32).is_some_and(|w| w & ((1u32 << (at % 32)) - 1) != 0)
    }

    /// Returns the 64 bits from bit `at` up.
    fn window(&self, at: usize) -> u64 {
        let word = |i: usize| u128::from(self.0.get(i).copied().unwrap_or(0));
        let i = at / 32;
        ((word(i) | word(i + 1) << 32 | word(i + 2) << 64) >> (at % 32)) as u64
    }

    fn multiply_add(&mut self, factor: u32, add: u32) {
        let mut carry = u64::from(add);
        for w in &mut self.0 {
            let v = u64::from(*w) * u64::from(factor) + carry;
            *w = v as u32;
            carry = v >> 32;
        }
        if carry != 0 {
            self.0.push(carry as u32);
        }
    }

    /// Multiplies by a power of `base`, which is 5 or 10.
    fn multiply_power(&mut self, base: u32, mut power: usize) {
        // 10^9 and 5^13 are the largest powers that fit in a word.
        let (step, count) = if base == 5 { (1_220_703_125, 13) } else { (1_000_000_000, 9) };
        while power >= count {
            self.multiply_add(step, 0);
            power -= count;
        }
        for _ in 0..power {
            self.multiply_add(base, 0);
        }
    }

    fn shift_left(&mut self, count: usize) {
        let bits = count % 32;
        if bits > 0 {
            self.multiply_add(1 << bits, 0);
        }
        if !self.is_zero() {
            self.0.splice(0..0, std::iter::repeat_n(0, count / 32));
        }
    }

    fn shift_right_one(&mut self) {
        let mut carry = 0;
        for w in self.0.iter_mut().rev() {
            let next = *w << 31;
            *w = *w >> 1 | carry;
            carry = next;
        }
        self.normalize();
    }

    fn not_less(&self, other: &BigUnsigned) -> bool {
        self.0
            .len()
            .cmp(&other.0.len())
            .then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
            .is_ge()
    }

    fn subtract(&mut self, other: &BigUnsigned) {
        let mut borrow = 0i64;
        for (i, w) in self.0.iter_mut().enumerate() {
            let v = i64::from(*w) - i64::from(other.0.get(i).copied().unwrap_or(0)) + borrow;
            *w = v as u32;
            borrow = v >> 32;
        }
        self.normalize();
    }

    /// Returns the quotient, which is a few bits long, and whether it is exact.
    fn divide(mut self, mut divisor: BigUnsigned) -> (BigUnsigned, bool) {
        let steps = (self.bits() + 1).saturating_sub(divisor.bits());
        divisor.shift_left(steps);
        let mut quotient = BigUnsigned::default();
        for _ in 0..=steps {
            quotient.multiply_add(2, 0);
            if self.not_less(&divisor) {
                self.subtract(&divisor);
                if quotient.is_zero() {
                    quotient.0.push(1);
                } else {
                    quotient.0[0] |= 1;
                }
            }
            divisor.shift_right_one();
        }
        (quotient, self.is_zero())
    }

    fn to_decimal(&self) -> Vec<u8> {
        let mut words = self.0.clone();
        let mut out = Vec::with_capacity(words.len() * 10);
        while !words.is_empty() {
            let mut rest = 0u64;
            for w in words.iter_mut().rev() {
                let v = rest << 32 | u64::from(*w);
                *w = (v / 1_000_000_000) as u32;
                rest = v % 1_000_000_000;
            }
            while words.last() == Some(&0) {
                words.pop();
            }
            for _ in 0..9 {
                out.push(b'0' + (rest % 10) as u8);
                rest /= 10;
            }
        }
        while out.last() == Some(&b'0') {
            out.pop();
        }
        out.reverse();
        if out.is_empty() { b"0".to_vec() } else { out }
    }
}
