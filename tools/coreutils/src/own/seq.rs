//! `seq` (GNU): prints the numbers from FIRST to LAST. Decimal operands are computed exactly.

mod digits;

use std::io::{self, Write};

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit, OutStream};
use box_text::printf::{self, LongDouble};
use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;

use crate::common::{input, quote};
use digits::SeqDigits;

/// An option of `seq`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SeqFlag {
    EqualWidth,
    Format,
    Separator,
}

const SPEC: Spec<SeqFlag> = Spec::new(
    "[OPTION]... LAST\n[OPTION]... FIRST LAST\n[OPTION]... FIRST STEP LAST",
    "Print the numbers from FIRST (1) to LAST in steps of STEP (1).",
    &[
        Opt::new(SeqFlag::Format, 'f', "format")
            .with_argument("FORMAT", "Print by FORMAT, as printf does: %g, %05.2f"),
        Opt::new(SeqFlag::Separator, 's', "separator")
            .with_argument("STRING", "Put STRING between numbers instead of a newline"),
        Opt::new(SeqFlag::EqualWidth, 'w', "equal-width")
            .with_help("Pad with zeros to equal width"),
    ],
)
.with_examples(&[("seq -w 8 11", "Prints 08 to 11"), ("seq -s, 5", "Prints 1,2,3,4,5")])
.with_footer("Numbers are printed with as many decimals as FIRST and STEP have.")
.posix_order();

/// A parsed operand.
#[derive(Clone, Debug)]
struct SeqNumber {
    text: Vec<u8>,
    value: f64,
    /// The value times ten to the power of `places`; `None` if the number is not decimal.
    exact: Option<BigInt>,
    /// The number of decimal places; `usize::MAX` if the number is not decimal.
    places: usize,
    /// Whether the number is decimal: neither hexadecimal nor infinite.
    fixed: bool,
    /// The number of characters before the point, sign included, as `-w` counts them.
    width: usize,
}

fn parse_number(text: &[u8]) -> Option<SeqNumber> {
    let trimmed = text.trim_ascii_start();
    let (value, used) = box_text::number::parse_float(trimmed);
    if used == 0 || used != trimmed.len() || value.is_nan() {
        return None;
    }
    let body = trimmed.strip_prefix(b"+").unwrap_or(trimmed);
    let (negative, digits) = match body.strip_prefix(b"-") {
        Some(d) => (true, d),
        None => (false, body),
    };
    let (mantissa, exponent) = match digits.iter().position(|c| matches!(c, b'e' | b'E')) {
        Some(i) if !digits.starts_with(b"0x") && !digits.starts_with(b"0X") => {
            let e = std::str::from_utf8(&digits[i + 1..]).ok()?.parse::<i64>().ok();
            (&digits[..i], e)
        }
        _ => (digits, Some(0)),
    };
    let decimal = mantissa.iter().all(|c| c.is_ascii_digit() || *c == b'.') && !mantissa.is_empty();
    if !decimal {
        let width = value.abs().trunc().to_string().len() + usize::from(negative);
        return Some(SeqNumber {
            text: trimmed.to_vec(),
            value,
            exact: None,
            places: usize::MAX,
            fixed: false,
            width,
        });
    }
    let dot = mantissa.iter().position(|c| *c == b'.');
    let whole = &mantissa[..dot.unwrap_or(mantissa.len())];
    let fraction = dot.map_or(&[][..], |d| &mantissa[d + 1..]);
    let exponent = exponent.filter(|e| (-4000..4000).contains(e))?;
    // The exponent moves the point. For example, `1e3` and `1.5e1` have no decimal places, and
    // `1.25e1` has one.
    let places = usize::try_from(fraction.len() as i64 - exponent).unwrap_or(0);
    let all: Vec<u8> = [whole, fraction].concat();
    let zeros = usize::try_from(exponent - fraction.len() as i64).unwrap_or(0);
    let exact = std::str::from_utf8(&all)
        .ok()
        .and_then(|d| if d.is_empty() { Some(BigInt::ZERO) } else { d.parse::<BigInt>().ok() })
        .map(|n| n * power_of_ten(zeros))
        .map(|n| if negative { -n } else { n });
    let whole_len = (whole.len() as i64 + exponent).max(1) as usize;
    let width = whole_len + usize::from(negative || body.starts_with(b"-"));
    Some(SeqNumber { text: trimmed.to_vec(), value, exact, places, fixed: true, width })
}

fn power_of_ten(exponent: usize) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(u32::MAX))
}

/// The range to print, and the format of the numbers.
struct SeqPlan {
    first: SeqNumber,
    step: SeqNumber,
    last: SeqNumber,
    separator: Vec<u8>,
    equal_width: bool,
    show: SeqShow,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    let printed = match plan.to_integers() {
        Some(integers) => integers.print(&plan, &mut ctx.stdout),
        None => match plan.large() {
            Some(large) => large.print(&plan, &mut ctx.stdout),
            None => print_floats(&plan, &mut ctx.stdout),
        },
    };
    Ok(if printed.is_ok() { Exit::SUCCESS } else { Exit::FAILURE })
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<SeqPlan, Exit> {
    let (p, operands) = parse(ctx, args)?;
    if operands.is_empty() {
        return Err(input::missing_operand(ctx, None));
    }
    if let Some(extra) = operands.get(3) {
        return Err(input::extra_operand(ctx, extra));
    }
    let numbers = operands.iter().map(|o| parse_number(o).ok_or_else(|| no_number(ctx, o)));
    let numbers = numbers.collect::<Result<Vec<SeqNumber>, Exit>>()?;
    let one = || parse_number(b"1").ok_or(Exit::FAILURE);
    let (first, step, last) = match numbers.as_slice() {
        [l] => (one()?, one()?, l.clone()),
        [f, l] => (f.clone(), one()?, l.clone()),
        [f, s, l] => (f.clone(), s.clone(), l.clone()),
        _ => return Err(Exit::FAILURE),
    };
    if step.value == 0.0 {
        let shown = quote::quote_in_sentence(&step.text);
        return Err(input::usage_error(ctx, &[b"invalid Zero increment value: ", &shown]));
    }
    let equal_width = p.has_option(SeqFlag::EqualWidth);
    let places = first.places.max(step.places);
    let all_fixed = first.fixed && step.fixed && (last.fixed || last.value.is_infinite());
    let show = match p.last_value(SeqFlag::Format) {
        Some(_) if equal_width => {
            let text = b"format string may not be specified when printing equal width strings";
            return Err(input::usage_error(ctx, &[text]));
        }
        Some(f) => {
            SeqShow::Format(SeqFormat::parse(f).map_err(|m| input::report_failure(ctx, &[&m]))?)
        }
        None if all_fixed && places != usize::MAX => SeqShow::Fixed(places),
        None => SeqShow::General,
    };
    let separator = p.last_value(SeqFlag::Separator).unwrap_or(b"\n").to_vec();
    Ok(SeqPlan { first, step, last, separator, equal_width, show })
}

fn no_number(ctx: &mut Ctx<'_>, operand: &[u8]) -> Exit {
    let (value, used) = box_text::number::parse_float(operand);
    let is_nan = used == operand.len() && value.is_nan();
    let what: &[u8] = if is_nan { b"'not-a-number'" } else { b"floating point" };
    input::usage_error(
        ctx,
        &[b"invalid ", what, b" argument: ", &quote::quote_in_sentence(operand)],
    )
}

/// Parses the arguments; returns the options and the operands. Negative numbers are operands.
fn parse(
    ctx: &mut Ctx<'_>,
    args: &[Vec<u8>],
) -> Result<(ParsedOptions<SeqFlag>, Vec<Vec<u8>>), Exit> {
    let is_number = |a: &[u8]| {
        matches!(a, [b'-', c, ..] if c.is_ascii_digit() || *c == b'.')
            || a == b"-inf"
            || a == b"-infinity"
    };
    let is_option = |a: &[u8]| a.len() > 1 && a.starts_with(b"-") && a != b"--" && !is_number(a);
    let mut at = 0;
    while let Some(option) = args.get(at).filter(|a| is_option(a)) {
        at += 1 + usize::from(SPEC.takes_next(option));
    }
    let (options, rest) = args.split_at(at.min(args.len()));
    let mut p = SPEC.parse_or_exit(ctx, options, Exit::FAILURE)?;
    let rest = rest.strip_prefix(&[b"--".to_vec()]).unwrap_or(rest);
    let mut operands = std::mem::take(&mut p.operands);
    operands.extend_from_slice(rest);
    Ok((p, operands))
}

/// A range of decimal numbers, each as an integer: the number times a power of ten. The numbers
/// are exact.
struct Integers {
    first: i128,
    step: i128,
    last: i128,
    /// The divisor that drops the decimal places that are not shown.
    unit: i128,
    places: usize,
    width: usize,
}

impl SeqPlan {
    /// Converts the range to integers. Returns `None` if the numbers are not shown as fixed-point
    /// decimals or do not fit in 128 bits.
    fn to_integers(&self) -> Option<Integers> {
        let SeqShow::Fixed(places) = self.show else { return None };
        let SeqPlan { first, step, last, .. } = self;
        let scale = |n: &SeqNumber, to: usize| -> Option<i128> {
            let by = 10i128.checked_pow(u32::try_from(to.checked_sub(n.places)?).ok()?)?;
            n.exact.as_ref()?.to_i128()?.checked_mul(by)
        };
        let endless = last.value.is_infinite();
        let deep = places.max(if endless { 0 } else { last.places });
        let end = match (endless, last.value > 0.0) {
            (true, true) => i128::MAX,
            (true, false) => i128::MIN,
            (false, _) => scale(last, deep)?,
        };
        // The operands' own widths are used, so that a first operand `-0` keeps room for its sign.
        let width = first.width.max(if endless { 0 } else { last.width });
        Some(Integers {
            first: scale(first, deep)?,
            step: scale(step, deep)?,
            last: end,
            unit: 10i128.checked_pow(u32::try_from(deep - places).ok()?)?,
            places,
            width: if self.equal_width {
                width + if places > 0 { places + 1 } else { 0 }
            } else {
                0
            },
        })
    }
}

/// The same as [`Integers`] for numbers that do not fit in 128 bits.
struct Large {
    first: BigInt,
    step: BigInt,
    /// The last number; `None` if there is no end.
    last: Option<BigInt>,
    unit: BigInt,
    places: usize,
    width: usize,
}

impl SeqPlan {
    /// Converts the range to integers of any size. Returns `None` if the numbers are not shown as
    /// fixed-point decimals, or if an infinite end lies in the opposite direction of the steps.
    fn large(&self) -> Option<Large> {
        let SeqShow::Fixed(places) = self.show else { return None };
        let SeqPlan { first, step, last, .. } = self;
        // An infinite end that lies in the direction of the steps is never reached.
        let endless = last.value.is_infinite() && (last.value > 0.0) == (step.value > 0.0);
        let deep = places.max(if endless { 0 } else { last.places });
        let scale =
            |n: &SeqNumber| Some(n.exact.as_ref()? * power_of_ten(deep.checked_sub(n.places)?));
        let width = first.width.max(if endless { 0 } else { last.width });
        let width = width + if places > 0 { places + 1 } else { 0 };
        Some(Large {
            first: scale(first)?,
            step: scale(step)?,
            last: if endless { None } else { Some(scale(last)?) },
            unit: power_of_ten(deep - places),
            places,
            width: if self.equal_width { width } else { 0 },
        })
    }
}

impl Large {
    fn print(&self, plan: &SeqPlan, to: &mut OutStream) -> io::Result<()> {
        let is_up = self.step.sign() == Sign::Plus;
        let past = |x: &BigInt| {
            self.last.as_ref().is_some_and(|last| if is_up { x > last } else { x < last })
        };
        let mut x = self.first.clone();
        let mut out = Vec::new();
        let mut separator: &[u8] = b"";
        while !past(&x) {
            out.extend_from_slice(separator);
            separator = &plan.separator;
            push_large(&mut out, &(&x / &self.unit), self.places, self.width);
            if out.len() >= 60 * 1024 {
                to.write_all(&out)?;
                out.clear();
            }
            x += &self.step;
        }
        if x != self.first {
            out.push(b'\n');
        }
        to.write_all(&out)
    }
}

/// Appends a number of any size, as [`push_fixed`] does.
fn push_large(out: &mut Vec<u8>, value: &BigInt, places: usize, width: usize) {
    let is_negative = value.sign() == Sign::Minus;
    let digits = format!("{:0>least$}", value.magnitude().to_string(), least = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let body = digits.len() + usize::from(places > 0) + usize::from(is_negative);
    if is_negative {
        out.push(b'-');
    }
    out.resize(out.len() + width.saturating_sub(body), b'0');
    out.extend_from_slice(whole.as_bytes());
    if places > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
}

impl Integers {
    fn print(&self, plan: &SeqPlan, to: &mut OutStream) -> io::Result<()> {
        let past = |x: i128| if self.step > 0 { x > self.last } else { x < self.last };
        let mut x = self.first;
        if past(x) {
            return Ok(());
        }
        let minus_zero = plan.first.text.starts_with(b"-") && x == 0;
        let is_plain = self.unit == 1 && self.places == 0 && self.width == 0;
        if is_plain
            && !minus_zero
            && x >= 0
            && let Ok(step) = u32::try_from(self.step)
        {
            return self.print_count_up(step, &plan.separator, to);
        }
        let mut out = Vec::with_capacity(64 * 1024);
        let mut start = true;
        loop {
            if !start {
                out.extend_from_slice(&plan.separator);
            }
            push_fixed(&mut out, x / self.unit, self.places, self.width, minus_zero && start);
            start = false;
            if out.len() >= 60 * 1024 {
                to.write_all(&out)?;
                out.clear();
            }
            x = match x.checked_add(self.step) {
                Some(n) if !past(n) => n,
                _ => break,
            };
        }
        out.push(b'\n');
        to.write_all(&out)
    }

    /// Prints non-negative whole numbers in ascending order. Most calls need only this.
    fn print_count_up(&self, step: u32, separator: &[u8], to: &mut OutStream) -> io::Result<()> {
        let mut digits = SeqDigits::new(self.first.unsigned_abs());
        let mut left = (self.last - self.first) / i128::from(step);
        let mut out = Vec::with_capacity(64 * 1024);
        loop {
            if left == 0 {
                digits.push(b"\n", &mut out);
                return to.write_all(&out);
            }
            digits.push(separator, &mut out);
            if out.len() >= 60 * 1024 {
                to.write_all(&out)?;
                out.clear();
            }
            digits.add(step);
            left -= 1;
        }
    }
}

/// Appends `value` divided by ten to the power of `places`, padded with zeros to `width`.
fn push_fixed(out: &mut Vec<u8>, value: i128, places: usize, width: usize, negative_zero: bool) {
    let negative = value < 0 || negative_zero;
    let mut buf = [0u8; 48];
    let mut at = buf.len();
    // Most numbers fit in 64 bits, and division of 64 bits is much faster.
    match u64::try_from(value.unsigned_abs()) {
        Ok(mut n) => loop {
            at -= 1;
            buf[at] = b'0' + (n % 10) as u8;
            n /= 10;
            if n == 0 {
                break;
            }
        },
        Err(_) => {
            let mut n = value.unsigned_abs();
            while n > 0 {
                at -= 1;
                buf[at] = b'0' + (n % 10) as u8;
                n /= 10;
            }
        }
    }
    let digits = &buf[at..];
    let body = digits.len().max(places + 1) + usize::from(places > 0) + usize::from(negative);
    if negative {
        out.push(b'-');
    }
    out.resize(out.len() + width.saturating_sub(body), b'0');
    if places == 0 {
        out.extend_from_slice(digits);
        return;
    }
    let lead = (places + 1).saturating_sub(digits.len());
    let padded = [vec![b'0'; lead].as_slice(), digits].concat();
    let (whole, fraction) = padded.split_at(padded.len() - places);
    out.extend_from_slice(whole);
    out.push(b'.');
    out.extend_from_slice(fraction);
}

enum SeqShow {
    Fixed(usize),
    General,
    Format(SeqFormat),
}

/// A `-f` format: text around one conversion.
struct SeqFormat {
    before: Vec<u8>,
    spec: printf::ConversionSpec,
    conversion: u8,
    after: Vec<u8>,
}

impl SeqFormat {
    fn parse(text: &[u8]) -> Result<SeqFormat, Vec<u8>> {
        let shown = || quote::quote_in_sentence(text);
        let literal = |t: &[u8]| -> (Vec<u8>, usize) {
            let mut out = Vec::new();
            let mut at = 0;
            while let Some(&c) = t.get(at) {
                if c == b'%' {
                    if t.get(at + 1) != Some(&b'%') {
                        break;
                    }
                    at += 1;
                }
                out.push(c);
                at += 1;
            }
            (out, at)
        };
        let (before, at) = literal(text);
        if at >= text.len() {
            return Err([b"format ", shown().as_slice(), b" has no % directive"].concat());
        }
        let Some(d) = printf::parse(&text[at + 1..]) else {
            return Err([b"format ", shown().as_slice(), b" ends in %"].concat());
        };
        // Of what may stand before the letter of a conversion only `L` has a meaning here.
        let inside = &text[at + 1..at + d.len];
        let refused = inside.iter().find(|c| **c == b'*' || c.is_ascii_alphabetic() && **c != b'L');
        if refused.is_some() || !b"aAeEfFgG".contains(&d.conversion) || d.position.is_some() {
            let c = [refused.copied().unwrap_or(d.conversion)];
            return Err(
                [b"format ", shown().as_slice(), b" has unknown %", &c, b" directive"].concat()
            );
        }
        let rest = &text[at + 1 + d.len..];
        let (after, used) = literal(rest);
        if used < rest.len() {
            return Err([b"format ", shown().as_slice(), b" has too many % directives"].concat());
        }
        let mut spec = d.spec;
        spec.width = spec.width.min(1 << 20);
        spec.precision = spec.precision.map(|p| p.min(1 << 20));
        Ok(SeqFormat { before, spec, conversion: d.conversion, after })
    }
}

/// Prints the numbers by a format, or as floating-point numbers if an operand is not decimal.
fn print_floats(plan: &SeqPlan, to: &mut OutStream) -> io::Result<()> {
    let SeqPlan { first, step, last, .. } = plan;
    // Decimal operands are exact with a format, too. For example, 0.3 is reached from 0.1.
    let scaled = exact_values(first, step, last);
    let value = |i: u64| match &scaled {
        Some((first, step, last, unit)) => {
            let x = first + step * i;
            let past = if step.sign() == Sign::Plus { x > *last } else { x < *last };
            (!past).then(|| to_long_double(&x, *unit))
        }
        None => {
            let x = first.value + i as f64 * step.value;
            let past = if step.value > 0.0 { x > last.value } else { x < last.value };
            (!past).then(|| LongDouble::from_f64(x))
        }
    };
    let mut out = Vec::with_capacity(64 * 1024);
    for i in 0..=u64::MAX {
        let Some(value) = value(i) else {
            if i > 0 {
                out.push(b'\n');
            }
            break;
        };
        if i > 0 {
            out.extend_from_slice(&plan.separator);
        }
        plan.show.push(&mut out, &value);
        if out.len() >= 60 * 1024 {
            to.write_all(&out)?;
            out.clear();
        }
    }
    to.write_all(&out)
}

impl SeqShow {
    fn push(&self, out: &mut Vec<u8>, value: &LongDouble) {
        match self {
            SeqShow::Format(f) => {
                out.extend_from_slice(&f.before);
                printf::long_double(out, &f.spec, f.conversion, value);
                out.extend_from_slice(&f.after);
            }
            SeqShow::Fixed(places) => {
                let precision = Some((*places).min(4000));
                let spec = printf::ConversionSpec { precision, ..Default::default() };
                printf::long_double(out, &spec, b'f', value);
            }
            SeqShow::General => {
                printf::long_double(out, &printf::ConversionSpec::default(), b'g', value)
            }
        }
    }
}

/// Returns the three operands as integers at a common power of ten, and its exponent. Returns
/// `None` if an operand is not decimal.
fn exact_values(
    first: &SeqNumber,
    step: &SeqNumber,
    last: &SeqNumber,
) -> Option<(BigInt, BigInt, BigInt, usize)> {
    if !(first.fixed && step.fixed && last.fixed) {
        return None;
    }
    let places = first.places.max(step.places).max(last.places);
    let scale = |n: &SeqNumber| Some(n.exact.as_ref()? * power_of_ten(places - n.places));
    Some((scale(first)?, scale(step)?, scale(last)?, places))
}

fn to_long_double(value: &BigInt, places: usize) -> LongDouble {
    let mut text = Vec::new();
    push_large(&mut text, value, places, 0);
    LongDouble::parse(&text).0
}
