//! The functions of `bc -l`: `e l s c a j`. Each is computed in fixed-point integers with more
//! digits than requested, and truncated to the scale.

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive, Zero};

use super::decimal::Decimal;

/// The number of digits computed beyond the result's scale.
const GUARD: usize = 15;

/// Fixed-point arithmetic with `unit` = 10^places.
struct FixedPoint {
    places: usize,
    unit: BigInt,
}

impl FixedPoint {
    fn new(places: usize) -> FixedPoint {
        let unit = BigInt::from(10).pow(u32::try_from(places).unwrap_or(u32::MAX));
        FixedPoint { places, unit }
    }

    fn fixed_from(&self, x: &Decimal) -> BigInt {
        x.to_fixed(self.places)
    }

    fn multiply(&self, a: &BigInt, b: &BigInt) -> BigInt {
        a * b / &self.unit
    }

    fn divide(&self, a: &BigInt, b: &BigInt) -> BigInt {
        a * &self.unit / b
    }

    fn sqrt(&self, a: &BigInt) -> BigInt {
        (a * &self.unit).sqrt()
    }

    fn to_decimal(&self, x: BigInt, scale: usize) -> Decimal {
        Decimal::from_fixed(x, self.places).rescale(scale)
    }

    /// Returns e^x for |x| up to about 1: x is halved until it is small, the series is summed, and
    /// the sum is squared as many times.
    fn exp(&self, x: &BigInt) -> BigInt {
        let halvings = 8 + (x.abs() / &self.unit).bits();
        let small = x >> halvings;
        let mut sum = self.unit.clone();
        let mut term = self.unit.clone();
        let mut n = 1u32;
        while !term.is_zero() {
            term = self.multiply(&term, &small) / n;
            sum += &term;
            n += 1;
        }
        for _ in 0..halvings {
            sum = self.multiply(&sum, &sum);
        }
        sum
    }

    /// Returns artanh(y) by its series; |y| must be well below 1.
    fn artanh(&self, y: &BigInt) -> BigInt {
        let square = self.multiply(y, y);
        let mut power = y.clone();
        let mut sum = BigInt::zero();
        let mut n = 1u32;
        while !power.is_zero() {
            sum += &power / n;
            power = self.multiply(&power, &square);
            n += 2;
        }
        sum
    }

    /// Returns the natural logarithm of a positive number. Powers of two are factored out and
    /// square roots taken until the number is near 1, then the result is 2 artanh((x-1)/(x+1)).
    fn ln(&self, x: &BigInt) -> BigInt {
        let shift = x.bits() as i64 - self.unit.bits() as i64;
        let mut m = if shift >= 0 { x >> shift } else { x << (-shift) };
        const ROOTS: usize = 6;
        for _ in 0..ROOTS {
            m = self.sqrt(&m);
        }
        let series =
            |m: &BigInt| self.artanh(&self.divide(&(m - &self.unit), &(m + &self.unit))) * 2;
        let two = self.artanh(&(&self.unit / 3)) * 2;
        (series(&m) << ROOTS) + two * shift
    }

    /// Returns the arc tangent: the angle is halved with the formula for tan(a/2), then the series
    /// is summed.
    fn atan(&self, x: &BigInt) -> BigInt {
        const HALVINGS: usize = 5;
        let mut t = x.clone();
        for _ in 0..HALVINGS {
            let root = self.sqrt(&(&self.unit + self.multiply(&t, &t)));
            t = self.divide(&t, &(&self.unit + root));
        }
        let square = self.multiply(&t, &t);
        let mut power = t;
        let mut sum = BigInt::zero();
        let mut n = 1i64;
        while !power.is_zero() {
            sum += &power / n;
            power = -self.multiply(&power, &square);
            n = if n > 0 { n + 2 } else { n - 2 };
        }
        sum << HALVINGS
    }

    /// Returns arctan(1/n), for Machin's formula.
    fn atan_inverse(&self, n: u32) -> BigInt {
        let mut power = &self.unit / n;
        let mut sum = BigInt::zero();
        let mut k = 1u32;
        let mut plus = true;
        while !power.is_zero() {
            if plus {
                sum += &power / k
            } else {
                sum -= &power / k
            }
            power /= n * n;
            k += 2;
            plus = !plus;
        }
        sum
    }

    fn pi(&self) -> BigInt {
        self.atan_inverse(5) * 16 - self.atan_inverse(239) * 4
    }

    /// Returns the sine; the argument is first reduced to near zero by quarter turns.
    fn sin(&self, x: &BigInt) -> BigInt {
        let quarter = self.pi() / 2;
        // The nearest multiple of a quarter turn.
        let turns: BigInt = (x * 2 + &quarter * x.signum()) / (&quarter * 2);
        let rest: BigInt = x - &turns * &quarter;
        let phase = ((&turns % 4i32) + 4i32) % 4i32;
        let (mut term, mut sum, mut n) = match phase.to_u32() {
            Some(0 | 2) => (rest.clone(), rest.clone(), 2u32),
            _ => (self.unit.clone(), self.unit.clone(), 1),
        };
        let square = self.multiply(&rest, &rest);
        while !term.is_zero() {
            term = -self.multiply(&term, &square) / (n * (n + 1));
            sum += &term;
            n += 2;
        }
        if matches!(phase.to_u32(), Some(2 | 3)) { -sum } else { sum }
    }
}

/// Returns the approximate number of digits before the point.
fn digit_magnitude(x: &Decimal) -> usize {
    x.length().saturating_sub(x.scale())
}

/// Calls the function of this name, if there is one.
pub(super) fn call_function(
    name: &str,
    args: &[Decimal],
    scale: usize,
) -> Option<Result<Decimal, String>> {
    let value = match (name, args) {
        ("e", [x]) => exponential(x, scale),
        ("l", [x]) => Ok(logarithm(x, scale)),
        ("s", [x]) => Ok(sine(x, scale, false)),
        ("c", [x]) => Ok(sine(x, scale, true)),
        ("a", [x]) => {
            let f = FixedPoint::new(scale + GUARD + digit_magnitude(x));
            Ok(f.to_decimal(f.atan(&f.fixed_from(x)), scale))
        }
        ("j", [n, x]) => bessel(n, x, scale),
        ("e" | "l" | "s" | "c" | "a" | "j", _) => Err("Parameter number mismatch".to_string()),
        _ => return None,
    };
    Some(value)
}

/// The maximum exponent; the result of a larger one would have more digits than are ever printed.
const MAX_EXPONENT: i64 = 500_000;

fn exponential(x: &Decimal, scale: usize) -> Result<Decimal, String> {
    let whole = x.to_i64().filter(|n| n.abs() <= MAX_EXPONENT);
    let Some(whole) = whole else {
        return if x.is_negative() {
            Ok(Decimal::zero().rescale(scale))
        } else {
            Err("exponent too large in e".to_string())
        };
    };
    // Squaring magnifies errors in proportion to the result.
    let growth = (whole.unsigned_abs() as usize) / 2 + 8;
    let f = FixedPoint::new(scale + GUARD + growth);
    Ok(f.to_decimal(f.exp(&f.fixed_from(x)), scale))
}

fn logarithm(x: &Decimal, scale: usize) -> Decimal {
    if x.is_negative() || x.is_zero() {
        // GNU bc returns the smallest number of this scale.
        let nines = Decimal::from_int(10)
            .power(&Decimal::from_int(scale as i64), 0)
            .unwrap_or_else(Decimal::zero);
        return Decimal::from_int(1).subtract(&nines).rescale(scale);
    }
    // Small numbers begin with zeros after the point, so more digits are computed.
    let f = FixedPoint::new(scale + GUARD + x.length().max(x.scale()));
    f.to_decimal(f.ln(&f.fixed_from(x)), scale)
}

fn sine(x: &Decimal, scale: usize, cosine: bool) -> Decimal {
    let f = FixedPoint::new(scale + GUARD + digit_magnitude(x));
    let mut a = f.fixed_from(x);
    if cosine {
        a += f.pi() / 2;
    }
    f.to_decimal(f.sin(&a), scale)
}

fn bessel(n: &Decimal, x: &Decimal, scale: usize) -> Result<Decimal, String> {
    let too_large = || "argument too large in j".to_string();
    let order = n.to_i64().filter(|n| n.abs() <= 100_000).ok_or_else(too_large)?;
    let size = x.to_i64().filter(|x| x.abs() <= 100_000).ok_or_else(too_large)?;
    let count = order.unsigned_abs();
    // The terms, which alternate in sign, grow like e^x before they shrink.
    let f = FixedPoint::new(scale + GUARD + size.unsigned_abs() as usize);
    let half = f.fixed_from(x) / 2;
    let mut term = f.unit.clone();
    for k in 1..=count {
        term = f.multiply(&term, &half) / k;
    }
    let square = f.multiply(&half, &half);
    let mut sum = term.clone();
    let mut k = 1u64;
    while !term.is_zero() {
        term = -f.multiply(&term, &square) / (k * (k + count));
        sum += &term;
        k += 1;
    }
    if order < 0 && count % 2 == 1 {
        sum = -sum;
    }
    Ok(f.to_decimal(sum, scale))
}
