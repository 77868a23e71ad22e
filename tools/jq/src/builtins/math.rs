//! Mathematics: the C library's functions under their names.

use super::{Native, natives, take_argument};
use crate::value::{Result, Value, type_error};

/// A function of the input.
macro_rules! one {
    ($f:expr) => {
        |_, v, _| take_number(&v).map(|x| Value::Num($f(x)))
    };
}

/// A function of two arguments.
macro_rules! two {
    ($f:expr) => {
        |_, _, a| {
            let (x, y) = (take_number(&take_argument(a, 0))?, take_number(&take_argument(a, 1))?);
            Ok(Value::Num($f(x, y)))
        }
    };
}

fn take_number(v: &Value) -> Result<f64> {
    v.as_num().ok_or_else(|| type_error(v, "number required"))
}

/// The functions of this file.
pub const NATIVES: &[Native] = natives! {
    "nan"/0 => |_, _, _| Ok(Value::Num(f64::NAN)),
    "infinite"/0 => |_, _, _| Ok(Value::Num(f64::INFINITY)),
    "isnan"/0 => |_, v, _| Ok(take_number(&v)?.is_nan().into()),
    "isinfinite"/0 => |_, v, _| Ok(take_number(&v)?.is_infinite().into()),
    "isnormal"/0 => |_, v, _| Ok(take_number(&v)?.is_normal().into()),
    "acos"/0 => one!(f64::acos),
    "acosh"/0 => one!(f64::acosh),
    "asin"/0 => one!(f64::asin),
    "asinh"/0 => one!(f64::asinh),
    "atan"/0 => one!(f64::atan),
    "atan2"/2 => two!(f64::atan2),
    "atanh"/0 => one!(f64::atanh),
    "cbrt"/0 => one!(f64::cbrt),
    "ceil"/0 => one!(f64::ceil),
    "copysign"/2 => two!(f64::copysign),
    "cos"/0 => one!(f64::cos),
    "cosh"/0 => one!(f64::cosh),
    "drem"/2 => two!(libm::remainder),
    "erf"/0 => one!(libm::erf),
    "erfc"/0 => one!(libm::erfc),
    "exp"/0 => one!(f64::exp),
    "exp10"/0 => one!(libm::exp10),
    "exp2"/0 => one!(f64::exp2),
    "expm1"/0 => one!(f64::exp_m1),
    "fabs"/0 => one!(f64::abs),
    "fdim"/2 => two!(libm::fdim),
    "floor"/0 => one!(f64::floor),
    "fma"/3 => |_, _, a| {
        let [x, y, z] = [take_number(&take_argument(a, 0))?, take_number(&take_argument(a, 1))?, take_number(&take_argument(a, 2))?];
        Ok(Value::Num(x.mul_add(y, z)))
    },
    "fmax"/2 => two!(f64::max),
    "fmin"/2 => two!(f64::min),
    "fmod"/2 => two!(|x: f64, y: f64| x % y),
    "frexp"/0 => |_, v, _| {
        let x = take_number(&v)?;
        let (m, e) = if x.is_finite() { libm::frexp(x) } else { (x, 0) };
        Ok(Value::arr(vec![Value::Num(m), Value::Num(f64::from(e))]))
    },
    "gamma"/0 => one!(libm::lgamma),
    "hypot"/2 => two!(f64::hypot),
    "j0"/0 => one!(libm::j0),
    "j1"/0 => one!(libm::j1),
    "jn"/2 => two!(|n, x| libm::jn(n as i32, x)),
    "ldexp"/2 => two!(|x, e: f64| libm::ldexp(x, e as i32)),
    "lgamma"/0 => one!(libm::lgamma),
    "lgamma_r"/0 => |_, v, _| {
        let (value, sign) = libm::lgamma_r(take_number(&v)?);
        Ok(Value::arr(vec![Value::Num(value), Value::Num(f64::from(sign))]))
    },
    "log"/0 => one!(f64::ln),
    "log10"/0 => one!(f64::log10),
    "log1p"/0 => one!(f64::ln_1p),
    "log2"/0 => one!(f64::log2),
    "logb"/0 => one!(binary_exponent),
    "modf"/0 => |_, v, _| {
        let x = take_number(&v)?;
        let fraction = if x.is_infinite() { 0.0_f64.copysign(x) } else { x.fract() };
        Ok(Value::arr(vec![Value::Num(fraction), Value::Num(x.trunc())]))
    },
    "nearbyint"/0 => one!(f64::round_ties_even),
    "nextafter"/2 => two!(libm::nextafter),
    "nexttoward"/2 => two!(libm::nextafter),
    "pow"/2 => two!(f64::powf),
    "pow10"/0 => one!(libm::exp10),
    "remainder"/2 => two!(libm::remainder),
    "rint"/0 => one!(f64::round_ties_even),
    "round"/0 => one!(f64::round),
    "scalb"/2 => two!(|x: f64, e: f64| x * e.exp2()),
    "scalbln"/2 => two!(|x, e: f64| libm::ldexp(x, e as i32)),
    "significand"/0 => one!(scaled_significand),
    "sin"/0 => one!(f64::sin),
    "sinh"/0 => one!(f64::sinh),
    "sqrt"/0 => one!(f64::sqrt),
    "tan"/0 => one!(f64::tan),
    "tanh"/0 => one!(f64::tanh),
    "tgamma"/0 => one!(libm::tgamma),
    "trunc"/0 => one!(f64::trunc),
    "y0"/0 => one!(libm::y0),
    "y1"/0 => one!(libm::y1),
    "yn"/2 => two!(|n, x| libm::yn(n as i32, x)),
};

/// Returns the exponent of `x` as a power of two.
fn binary_exponent(x: f64) -> f64 {
    if x == 0.0 {
        f64::NEG_INFINITY
    } else if x.is_infinite() {
        f64::INFINITY
    } else if x.is_nan() {
        x
    } else {
        f64::from(libm::ilogb(x))
    }
}

/// Returns `x` scaled by a power of two to between 1 and 2.
fn scaled_significand(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { x } else { libm::ldexp(x, -libm::ilogb(x)) }
}
