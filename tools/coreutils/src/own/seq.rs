//! `seq` (GNU): numbers from FIRST to LAST. Decimal operands are computed exactly.

use std::io::Write;

use box_applet::opts::{Opt, Spec, UsageError};
use box_applet::{Ctx, Exit};
use box_text::printf::{self, LongDouble};

use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... LAST\n  or:  seq [OPTION]... FIRST LAST\n  or:  seq [OPTION]... FIRST INCREMENT LAST",
    about: "Print numbers from FIRST to LAST, in steps of INCREMENT.",
    options: &[
        Opt::value('f', "format", "FORMAT", "use printf style floating-point FORMAT"),
        Opt::value('s', "separator", "STRING", "use STRING to separate numbers (default: \\n)"),
        Opt::flag('w', "equal-width", "equalize width by padding with leading zeroes"),
    ],
    after: "If FIRST or INCREMENT is omitted, it defaults to 1.  FORMAT must be suitable\nfor printing one argument of type 'double'; it defaults to %.PRECf if FIRST,\nINCREMENT, and LAST are all fixed point decimal numbers with maximum precision\nPREC, and to %g otherwise.",
    posix_order: true,
};

/// A number as written.
#[derive(Clone, Debug)]
struct Number {
    text: Vec<u8>,
    value: f64,
    /// Value times ten to the `places`, where that is exact.
    exact: Option<i128>,
    places: usize,
    /// Whether it is a fixed-point decimal (no exponent, no hexadecimal).
    fixed: bool,
    /// Digits before the point, sign included, as `-w` counts them.
    width: usize,
}

fn number(text: &[u8]) -> Option<Number> {
    let trimmed = text.trim_ascii_start();
    let (value, used) = box_text::number::strtod(trimmed);
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
        return Some(Number {
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
    // The exponent moves the point; what `1e3` and `1.5e1` need after it.
    let places = usize::try_from(fraction.len() as i64 - exponent).unwrap_or(0);
    let all: Vec<u8> = [whole, fraction].concat();
    let zeros = usize::try_from(exponent - fraction.len() as i64).unwrap_or(0);
    let exact = std::str::from_utf8(&all)
        .ok()
        .and_then(|d| if d.is_empty() { Some(0) } else { d.parse::<i128>().ok() })
        .and_then(|n| n.checked_mul(10i128.checked_pow(u32::try_from(zeros).ok()?)?))
        .map(|n| if negative { -n } else { n });
    let whole_len = (whole.len() as i64 + exponent).max(1) as usize;
    let width = whole_len + usize::from(negative || body.starts_with(b"-"));
    Some(Number { text: trimmed.to_vec(), value, exact, places, fixed: true, width })
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let (p, operands) = match parse(ctx, args) {
        Ok(x) => x,
        Err(e) => return e,
    };
    let ops = operands;
    if ops.is_empty() {
        input::missing_operand(ctx, None);
        return Exit::FAILURE;
    }
    if let Some(extra) = ops.get(3) {
        input::extra_operand(ctx, extra);
        return Exit::FAILURE;
    }
    let mut numbers = Vec::new();
    for o in &ops {
        match number(o) {
            Some(n) => numbers.push(n),
            None => {
                let nan = box_text::number::strtod(o);
                let what = if nan.1 == o.len() && nan.0.is_nan() {
                    "'not-a-number'"
                } else {
                    "floating point"
                };
                input::usage_error(
                    ctx,
                    &[b"invalid ", what.as_bytes(), b" argument: ", &quote::always(o)],
                );
                return Exit::FAILURE;
            }
        }
    }
    let one = number(b"1");
    let (first, step, last) = match (numbers.as_slice(), one) {
        ([l], Some(one)) => (one.clone(), one, l.clone()),
        ([f, l], Some(one)) => (f.clone(), one, l.clone()),
        ([f, s, l], _) => (f.clone(), s.clone(), l.clone()),
        _ => return Exit::FAILURE,
    };
    if step.value == 0.0 {
        input::usage_error(ctx, &[b"invalid Zero increment value: ", &quote::always(&step.text)]);
        return Exit::FAILURE;
    }
    let separator = p.last('s').unwrap_or(b"\n").to_vec();
    if let Some(f) = p.last('f') {
        if p.has('w') {
            input::usage_error(
                ctx,
                &[b"format string may not be specified when printing equal width strings"],
            );
            return Exit::FAILURE;
        }
        let format = match Format::parse(f) {
            Ok(f) => f,
            Err(m) => {
                ctx.error_bytes(&[&m]);
                return Exit::FAILURE;
            }
        };
        return floats(ctx, &first, &step, &last, &separator, &Show::Format(format));
    }
    let places = first.places.max(step.places);
    let all_fixed = first.fixed && step.fixed && (last.fixed || last.value.is_infinite());
    if all_fixed && places != usize::MAX {
        if let Some(e) = exact(ctx, &first, &step, &last, &separator, p.has('w'), places) {
            return e;
        }
        return floats(ctx, &first, &step, &last, &separator, &Show::Fixed(places));
    }
    floats(ctx, &first, &step, &last, &separator, &Show::General)
}

/// Negative numbers are operands, not options.
fn parse(
    ctx: &mut Ctx<'_>,
    args: &[Vec<u8>],
) -> Result<(box_applet::opts::Parsed, Vec<Vec<u8>>), Exit> {
    let is_number = |a: &[u8]| {
        matches!(a, [b'-', c, ..] if c.is_ascii_digit() || *c == b'.')
            || a == b"-inf"
            || a == b"-infinity"
    };
    let mut at = 0;
    while let Some(a) = args.get(at) {
        if is_number(a) || !a.starts_with(b"-") || a.len() == 1 {
            break;
        }
        if a == b"--" {
            break;
        }
        let takes = matches!(a.as_slice(), b"-s" | b"-f" | b"-ws" | b"-wf")
            || matches!(SPEC.parse(std::slice::from_ref(a)), Err(UsageError::Message(m)) if m.contains("requires an argument"));
        at += 1 + usize::from(takes);
    }
    let (options, rest) = args.split_at(at.min(args.len()));
    let p = SPEC.parse_or_exit(ctx, options, Exit::FAILURE)?;
    let rest = rest.strip_prefix(&[b"--".to_vec()]).unwrap_or(rest);
    let mut operands = p.operands.clone();
    operands.extend_from_slice(rest);
    Ok((p, operands))
}

/// Decimal fixed-point numbers, exactly. `None` if they are too large for that.
fn exact(
    ctx: &mut Ctx<'_>,
    first: &Number,
    step: &Number,
    last: &Number,
    separator: &[u8],
    equal_width: bool,
    places: usize,
) -> Option<Exit> {
    let scale = |n: &Number, to: usize| -> Option<i128> {
        let by = 10i128.checked_pow(u32::try_from(to.checked_sub(n.places)?).ok()?)?;
        n.exact?.checked_mul(by)
    };
    let deep = places.max(if last.value.is_infinite() { 0 } else { last.places });
    let (mut x, by) = (scale(first, deep)?, scale(step, deep)?);
    let end = if last.value.is_infinite() {
        if (last.value > 0.0) == (by > 0) {
            if by > 0 { i128::MAX } else { i128::MIN }
        } else if by > 0 {
            i128::MIN
        } else {
            i128::MAX
        }
    } else {
        scale(last, deep)?
    };
    let unit = 10i128.checked_pow(u32::try_from(deep - places).ok()?)?;
    let width = if equal_width {
        let last_width = if last.value.is_infinite() { 0 } else { last.width };
        let w = first.width.max(last_width);
        // A first operand written as -0 keeps room for its sign.
        w + if places > 0 { places + 1 } else { 0 }
    } else {
        0
    };
    let minus_zero = first.text.starts_with(b"-") && x == 0;
    let mut out = Vec::with_capacity(64 * 1024);
    let past = |x: i128| if by > 0 { x > end } else { x < end };
    if past(x) {
        return Some(Exit::SUCCESS);
    }
    let mut start = true;
    loop {
        if !start {
            out.extend_from_slice(separator);
        }
        push_fixed(&mut out, x / unit, places, width, minus_zero && start);
        start = false;
        if out.len() >= 60 * 1024 {
            if ctx.stdout.write_all(&out).is_err() {
                return Some(Exit::FAILURE);
            }
            out.clear();
        }
        x = match x.checked_add(by) {
            Some(n) if !past(n) => n,
            _ => break,
        };
    }
    out.push(b'\n');
    Some(if ctx.stdout.write_all(&out).is_ok() { Exit::SUCCESS } else { Exit::FAILURE })
}

/// `value` divided by ten to the `places`, padded with zeros to `width`.
fn push_fixed(out: &mut Vec<u8>, value: i128, places: usize, width: usize, negative_zero: bool) {
    let negative = value < 0 || negative_zero;
    let mut buf = [0u8; 48];
    let mut at = buf.len();
    // Most numbers fit in 64 bits, whose division is much faster.
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

enum Show {
    Fixed(usize),
    General,
    Format(Format),
}

/// A `-f` format: text around one conversion.
struct Format {
    before: Vec<u8>,
    spec: printf::Spec,
    conversion: u8,
    after: Vec<u8>,
}

impl Format {
    fn parse(text: &[u8]) -> Result<Format, Vec<u8>> {
        let shown = || quote::always(text);
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
        if !b"aAeEfFgG".contains(&d.conversion) || d.position.is_some() {
            let c = [d.conversion];
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
        Ok(Format { before, spec, conversion: d.conversion, after })
    }
}

fn floats(
    ctx: &mut Ctx<'_>,
    first: &Number,
    step: &Number,
    last: &Number,
    separator: &[u8],
    show: &Show,
) -> Exit {
    let mut out = Vec::with_capacity(64 * 1024);
    let scaled = exact_values(first, step, last);
    let past = |x: f64| if step.value > 0.0 { x > last.value } else { x < last.value };
    let mut i = 0u64;
    let mut any = false;
    loop {
        // Operands that are decimal stay exact for formats too: 0.3 is reached from 0.1.
        let value = match &scaled {
            Some((f, s, l, unit)) => {
                let Some(x) = s.checked_mul(i128::from(i)).and_then(|d| f.checked_add(d)) else {
                    break;
                };
                if if *s > 0 { x > *l } else { x < *l } {
                    break;
                }
                long(x, *unit)
            }
            None => {
                let x = first.value + i as f64 * step.value;
                if past(x) {
                    break;
                }
                LongDouble::from_f64(x)
            }
        };
        if any {
            out.extend_from_slice(separator);
        }
        any = true;
        match show {
            Show::Format(f) => {
                out.extend_from_slice(&f.before);
                printf::long_double(&mut out, &f.spec, f.conversion, &value);
                out.extend_from_slice(&f.after);
            }
            Show::Fixed(p) => {
                let spec = printf::Spec { precision: Some((*p).min(4000)), ..Default::default() };
                printf::long_double(&mut out, &spec, b'f', &value);
            }
            Show::General => printf::long_double(&mut out, &printf::Spec::default(), b'g', &value),
        }
        if out.len() >= 60 * 1024 {
            if ctx.stdout.write_all(&out).is_err() {
                return Exit::FAILURE;
            }
            out.clear();
        }
        i = match i.checked_add(1) {
            Some(n) => n,
            None => break,
        };
    }
    if any {
        out.push(b'\n');
    }
    if ctx.stdout.write_all(&out).is_ok() { Exit::SUCCESS } else { Exit::FAILURE }
}

/// All three operands on one decimal scale.
fn exact_values(first: &Number, step: &Number, last: &Number) -> Option<(i128, i128, i128, usize)> {
    if !(first.fixed && step.fixed && last.fixed) {
        return None;
    }
    let places = first.places.max(step.places).max(last.places);
    let scale = |n: &Number| {
        n.exact?.checked_mul(10i128.checked_pow(u32::try_from(places - n.places).ok()?)?)
    };
    Some((scale(first)?, scale(step)?, scale(last)?, places))
}

fn long(value: i128, places: usize) -> LongDouble {
    let mut text = Vec::new();
    push_fixed(&mut text, value, places, 0, false);
    LongDouble::parse(&text).0
}
