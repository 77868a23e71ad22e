//! Values: numbers, strings, and strings from input that may look numeric (POSIX awk,
//! "Expressions in awk": strnum).

use std::cmp::Ordering;

use box_text::number::decimal_prefix;
use box_text::printf::{self, ConversionSpec};

use crate::text::AwkText;

/// An awk value.
#[derive(Clone, Debug)]
pub enum AwkValue {
    /// A variable that was never assigned: both 0 and the empty string.
    Uninit,
    /// A field beyond NF: the empty string, but 0 for `%c`.
    NoField,
    Num(f64),
    Str(AwkText),
    /// A string from input, which counts as a number if it looks like one.
    Input(AwkText),
    /// A strongly typed regular expression, `@/re/` (gawk).
    Regex(AwkText),
}

impl AwkValue {
    /// The empty string.
    pub const EMPTY: AwkValue = AwkValue::Str(AwkText::EMPTY);

    /// Returns 1 or 0.
    pub fn bool(b: bool) -> AwkValue {
        AwkValue::Num(if b { 1.0 } else { 0.0 })
    }

    /// Returns a string, which is compared as text.
    pub fn str(text: &[u8]) -> AwkValue {
        AwkValue::Str(AwkText::new(text))
    }

    /// Returns the numeric value.
    #[inline]
    pub fn num(&self) -> f64 {
        match self {
            AwkValue::Num(n) => *n,
            AwkValue::Uninit | AwkValue::NoField => 0.0,
            AwkValue::Input(t) | AwkValue::Str(t) | AwkValue::Regex(t) => t.number(),
        }
    }

    /// Returns the truth value: a number is true if not 0, a string if not empty.
    #[inline]
    pub fn is_true(&self) -> bool {
        match self {
            AwkValue::Num(n) => *n != 0.0,
            AwkValue::Uninit | AwkValue::NoField => false,
            AwkValue::Str(t) | AwkValue::Regex(t) => !t.is_empty(),
            AwkValue::Input(t) => match t.whole_number() {
                Some(n) => n != 0.0,
                None => !t.is_empty(),
            },
        }
    }

    /// Returns the number, if the value counts as one in comparisons.
    #[inline]
    pub fn comparable_number(&self) -> Option<f64> {
        match self {
            AwkValue::Num(n) => Some(*n),
            AwkValue::Uninit => Some(0.0),
            AwkValue::Input(t) => t.whole_number(),
            AwkValue::Str(_) | AwkValue::Regex(_) | AwkValue::NoField => None,
        }
    }

    /// Appends the string value; `format` is CONVFMT or OFMT.
    #[inline]
    pub fn append_to(&self, out: &mut Vec<u8>, format: &NumberFormat) {
        match self {
            AwkValue::Uninit | AwkValue::NoField => {}
            AwkValue::Num(n) => format.append(out, *n),
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => out.extend_from_slice(t),
        }
    }

    /// Returns the string value.
    pub fn text(&self, format: &NumberFormat) -> AwkText {
        match self {
            AwkValue::Uninit | AwkValue::NoField => AwkText::EMPTY,
            AwkValue::Str(t) | AwkValue::Input(t) | AwkValue::Regex(t) => t.clone(),
            AwkValue::Num(n) => {
                let mut out = Vec::with_capacity(24);
                format.append(&mut out, *n);
                AwkText::from_vec(out)
            }
        }
    }
}

/// Compares as awk does: numerically if both are numbers or look like numbers, otherwise as bytes.
/// NaN is greater than all numbers and equal to itself, as in gawk. `icase` says whether IGNORECASE
/// is set.
pub fn compare_values(a: &AwkValue, b: &AwkValue, format: &NumberFormat, icase: bool) -> Ordering {
    if let (Some(x), Some(y)) = (a.comparable_number(), b.comparable_number()) {
        return x.partial_cmp(&y).unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()));
    }
    if icase {
        let (x, y) = (a.text(format), b.text(format));
        return x.to_ascii_lowercase().cmp(&y.to_ascii_lowercase());
    }
    match (a, b) {
        (
            AwkValue::Str(x) | AwkValue::Input(x) | AwkValue::Regex(x),
            AwkValue::Str(y) | AwkValue::Input(y) | AwkValue::Regex(y),
        ) => x.as_bytes().cmp(y.as_bytes()),
        _ => a.text(format).as_bytes().cmp(b.text(format).as_bytes()),
    }
}

/// Returns the number at the start of a string. `+inf`, `-nan` and similar words count only with a
/// sign and as the whole string (gawk manual, "Other Stuff to Know": math definitions).
#[inline]
pub fn to_number(text: &[u8]) -> f64 {
    let (n, len) = decimal_prefix(text);
    if len == 0 { special_number(text).unwrap_or(0.0) } else { n }
}

/// Parses `+inf`, `-inf`, `+nan` and `-nan`, in upper or lower case, with blanks around.
#[cold]
fn special_number(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    let (sign, word) = text.split_first()?;
    let value = match () {
        () if word.eq_ignore_ascii_case(b"inf") => f64::INFINITY,
        () if word.eq_ignore_ascii_case(b"nan") => f64::NAN,
        () => return None,
    };
    match sign {
        b'+' => Some(value),
        b'-' => Some(-value),
        _ => None,
    }
}

/// Returns the number that a string consists of, apart from blanks around it.
#[inline]
pub fn looks_numeric(text: &[u8]) -> Option<f64> {
    let first = *text.first()?;
    if first.is_ascii_alphabetic() {
        return None;
    }
    let (n, len) = decimal_prefix(text);
    if len == 0 {
        return special_number(text);
    }
    text[len..].iter().all(|c| box_text::number::is_space(*c)).then_some(n)
}

/// CONVFMT or OFMT, parsed once.
#[derive(Clone, Debug)]
pub struct NumberFormat {
    /// Text before and after the conversion.
    before: Vec<u8>,
    after: Vec<u8>,
    spec: ConversionSpec,
    conversion: u8,
}

impl NumberFormat {
    /// Creates a number format from text such as `%.6g`. A text without a floating-point conversion
    /// is printed unchanged.
    pub fn new(format: &[u8]) -> NumberFormat {
        let plain = NumberFormat {
            before: format.to_vec(),
            after: Vec::new(),
            spec: ConversionSpec::default(),
            conversion: 0,
        };
        let Some(at) = format.iter().position(|c| *c == b'%') else { return plain };
        match printf::parse(&format[at + 1..]) {
            Some(d) if b"eEfFgGaAdi".contains(&d.conversion) => NumberFormat {
                before: format[..at].to_vec(),
                after: format[at + 1 + d.len..].to_vec(),
                spec: d.spec,
                conversion: d.conversion,
            },
            _ => plain,
        }
    }

    /// Returns the larger one of width and precision.
    pub fn width(&self) -> usize {
        self.spec.width.max(self.spec.precision.unwrap_or(0))
    }

    /// Appends a number: integers in full, others by the format.
    #[inline]
    pub fn append(&self, out: &mut Vec<u8>, n: f64) {
        if n.fract() == 0.0 && n.abs() < 1e15 {
            return append_int(out, n as i64);
        }
        self.append_other(out, n);
    }

    fn append_other(&self, out: &mut Vec<u8>, n: f64) {
        if !n.is_finite() {
            return append_special(out, n);
        }
        if n.fract() == 0.0 {
            let spec = ConversionSpec { precision: Some(0), ..ConversionSpec::default() };
            return printf::put_float(out, &spec, b'f', n);
        }
        out.extend_from_slice(&self.before);
        match self.conversion {
            0 => {}
            b'd' | b'i' => append_int(out, n as i64),
            c => printf::put_float(out, &self.spec, c, n),
        }
        out.extend_from_slice(&self.after);
    }
}

/// Appends `+inf`, `-inf`, `+nan`, `-nan`, as gawk prints them.
pub fn append_special(out: &mut Vec<u8>, n: f64) {
    out.extend_from_slice(match (n.is_nan(), n.is_sign_negative()) {
        (true, true) => b"-nan",
        (true, false) => b"+nan",
        (false, true) => b"-inf",
        (false, false) => b"+inf",
    });
}

/// Appends an integer.
#[inline]
pub fn append_int(out: &mut Vec<u8>, n: i64) {
    let mut buf = [0u8; 20];
    let mut at = buf.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        buf[at] = b'-';
    }
    out.extend_from_slice(&buf[at..]);
}
