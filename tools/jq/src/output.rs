//! Values as jq prints them: 17 significant digits, escapes, indentation, colours
//! (jq manual, "Invoking jq" and "COLORS").

use std::io::{self, Write};

use jaq_json::{Num, Val};

use crate::options::Indent;

/// How values are written.
#[derive(Clone, Debug)]
pub struct Style {
    pub indent: Indent,
    pub sort_keys: bool,
    pub ascii: bool,
    pub colors: Option<Colors>,
}

/// Escape sequences by kind of value.
#[derive(Clone, Debug)]
pub struct Colors {
    null: Vec<u8>,
    no: Vec<u8>,
    yes: Vec<u8>,
    number: Vec<u8>,
    string: Vec<u8>,
    array: Vec<u8>,
    object: Vec<u8>,
    key: Vec<u8>,
}

impl Colors {
    /// jq's defaults, changed by a `JQ_COLORS` value.
    pub fn new(spec: &[u8]) -> Colors {
        let esc = |s: &[u8]| [b"\x1b[", s, b"m"].concat();
        let mut c = Colors {
            null: esc(b"0;90"),
            no: esc(b"0;39"),
            yes: esc(b"0;39"),
            number: esc(b"0;39"),
            string: esc(b"0;32"),
            array: esc(b"1;39"),
            object: esc(b"1;39"),
            key: esc(b"34;1"),
        };
        if spec.iter().all(|b| matches!(b, b'0'..=b'9' | b';' | b':')) && !spec.is_empty() {
            let slots = [
                &mut c.null,
                &mut c.no,
                &mut c.yes,
                &mut c.number,
                &mut c.string,
                &mut c.array,
                &mut c.object,
                &mut c.key,
            ];
            for (field, slot) in spec.split(|&b| b == b':').zip(slots) {
                *slot = esc(field);
            }
        }
        c
    }
}

const RESET: &[u8] = b"\x1b[0m";

/// Deepest nesting that is written; jq gives up at 10,000 as well.
const MAX_DEPTH: usize = 10_000;

/// Writes one value without a newline.
pub fn write(out: &mut dyn Write, v: &Val, style: &Style) -> io::Result<()> {
    value(out, v, style, 0)
}

/// A value as compact JSON text.
pub fn compact(v: &Val) -> Vec<u8> {
    let style = Style { indent: Indent::None, sort_keys: false, ascii: false, colors: None };
    let mut out = Vec::new();
    // Writing to memory cannot fail.
    let _ = write(&mut out, v, &style);
    out
}

fn value(out: &mut dyn Write, v: &Val, style: &Style, depth: usize) -> io::Result<()> {
    if depth > MAX_DEPTH {
        return out.write_all(b"<skipped: too deep>");
    }
    let colors = style.colors.as_ref();
    let paint = |out: &mut dyn Write,
                 pick: fn(&Colors) -> &Vec<u8>,
                 text: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
        let Some(c) = colors else { return text(out) };
        out.write_all(pick(c))?;
        text(out)?;
        out.write_all(RESET)
    };
    match v {
        Val::Null => paint(out, |c| &c.null, &|o| o.write_all(b"null")),
        Val::Bool(false) => paint(out, |c| &c.no, &|o| o.write_all(b"false")),
        Val::Bool(true) => paint(out, |c| &c.yes, &|o| o.write_all(b"true")),
        Val::Num(n) => paint(out, |c| &c.number, &|o| o.write_all(&number(n))),
        Val::TStr(s) | Val::BStr(s) => paint(out, |c| &c.string, &|o| string(o, s, style.ascii)),
        Val::Arr(a) => {
            let items: Vec<Item<'_>> = a.iter().map(|v| Item { key: None, value: v }).collect();
            container(out, (b'[', b']'), &items, style, depth)
        }
        Val::Obj(o) => {
            let mut items: Vec<Item<'_>> =
                o.iter().map(|(k, v)| Item { key: Some(k), value: v }).collect();
            if style.sort_keys {
                items.sort_by(|a, b| a.key.cmp(&b.key));
            }
            container(out, (b'{', b'}'), &items, style, depth)
        }
    }
}

struct Item<'a> {
    key: Option<&'a Val>,
    value: &'a Val,
}

fn container(
    out: &mut dyn Write,
    (open, close): (u8, u8),
    items: &[Item<'_>],
    style: &Style,
    depth: usize,
) -> io::Result<()> {
    let color = style.colors.as_ref().map(|c| if open == b'[' { &c.array } else { &c.object });
    let start = |out: &mut dyn Write| color.map_or(Ok(()), |c| out.write_all(c));
    let stop = |out: &mut dyn Write| color.map_or(Ok(()), |_| out.write_all(RESET));
    start(out)?;
    out.write_all(&[open])?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            start(out)?;
            out.write_all(b",")?;
        }
        newline(out, style, depth + 1)?;
        stop(out)?;
        if let Some(key) = item.key {
            let text = |out: &mut dyn Write| match key {
                Val::TStr(s) | Val::BStr(s) => string(out, s, style.ascii),
                other => string(out, &compact(other), style.ascii),
            };
            match &style.colors {
                Some(c) => {
                    out.write_all(&c.key)?;
                    text(out)?;
                    out.write_all(RESET)?;
                    out.write_all(&c.object)?;
                    out.write_all(b":")?;
                }
                None => {
                    text(out)?;
                    out.write_all(b":")?;
                }
            }
            if style.indent != Indent::None {
                out.write_all(b" ")?;
            }
            stop(out)?;
        }
        value(out, item.value, style, depth + 1)?;
    }
    start(out)?;
    if !items.is_empty() {
        newline(out, style, depth)?;
        start(out)?;
    }
    out.write_all(&[close])?;
    stop(out)
}

fn newline(out: &mut dyn Write, style: &Style, depth: usize) -> io::Result<()> {
    let (unit, count) = match style.indent {
        Indent::None => return Ok(()),
        Indent::Spaces(n) => (b' ', n * depth),
        Indent::Tab => (b'\t', depth),
    };
    out.write_all(b"\n")?;
    out.write_all(&vec![unit; count])
}

/// A number as jq 1.8 prints it: integers and unchanged literals as they are, others with up to 17
/// significant digits; NaN is null, infinities are the largest finite numbers.
pub fn number(n: &Num) -> Vec<u8> {
    match n {
        Num::Int(i) => i.to_string().into_bytes(),
        Num::BigInt(i) => i.to_string().into_bytes(),
        Num::Float(f) => float(*f).into_bytes(),
        Num::Dec(text) => literal(text),
    }
}

/// A literal that no arithmetic touched, in the General Decimal Arithmetic Specification's
/// to-scientific-string form, which jq 1.7 and later keep: `1.000` stays, `1e3` is `1E+3`.
fn literal(text: &str) -> Vec<u8> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |r| ("-", r));
    let (mantissa, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let Ok(exponent) = exponent.parse::<i64>() else { return text.as_bytes().to_vec() };
    let all = format!("{whole}{fraction}");
    let digits = all.trim_start_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    let exponent = exponent - fraction.len() as i64;
    let count = digits.len() as i64;
    let adjusted = exponent + count - 1;
    if exponent <= 0 && adjusted >= -6 {
        let point = count + exponent;
        return match (exponent, point > 0) {
            (0, _) => format!("{sign}{digits}"),
            (_, true) => {
                format!("{sign}{}.{}", &digits[..point as usize], &digits[point as usize..])
            }
            (_, false) => format!("{sign}0.{}{digits}", "0".repeat(point.unsigned_abs() as usize)),
        }
        .into_bytes();
    }
    let dot = if count > 1 { "." } else { "" };
    format!("{sign}{}{dot}{}E{adjusted:+}", &digits[..1], &digits[1..]).into_bytes()
}

/// A double in the shortest form that reads back equal, in jq's notation.
pub fn float(f: f64) -> String {
    if f.is_nan() {
        return "null".to_string();
    }
    if f.is_infinite() {
        return if f > 0.0 { "1.7976931348623157e+308" } else { "-1.7976931348623157e+308" }
            .to_string();
    }
    if f == 0.0 {
        return if f.is_sign_negative() { "-0" } else { "0" }.to_string();
    }
    let sci = format!("{f:e}");
    let (mantissa, exponent) = sci.split_once('e').unwrap_or((&sci, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let count = digits.len() as i32;
    // jq writes an exponent for less than 1e-4, and where more than 15 zeros would follow the digits.
    if exponent > -5 && exponent < count + 15 {
        if exponent < 0 {
            let zeros = "0".repeat((-exponent - 1) as usize);
            return format!("{sign}0.{zeros}{digits}");
        }
        if exponent + 1 >= count {
            let zeros = "0".repeat((exponent + 1 - count) as usize);
            return format!("{sign}{digits}{zeros}");
        }
        let (whole, rest) = digits.split_at((exponent + 1) as usize);
        return format!("{sign}{whole}.{rest}");
    }
    let (first, rest) = digits.split_at(1);
    let dot = if rest.is_empty() { "" } else { "." };
    let esign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{first}{dot}{rest}e{esign}{:02}", exponent.abs())
}

/// A JSON string; bytes that are no UTF-8 become U+FFFD.
pub fn string(out: &mut dyn Write, s: &[u8], ascii: bool) -> io::Result<()> {
    out.write_all(b"\"")?;
    for chunk in s.utf8_chunks() {
        let text = chunk.valid();
        let mut plain = 0;
        for (i, c) in text.char_indices() {
            let escape = match c {
                '"' => "\\\"".to_string(),
                '\\' => "\\\\".to_string(),
                '\n' => "\\n".to_string(),
                '\t' => "\\t".to_string(),
                '\r' => "\\r".to_string(),
                '\u{8}' => "\\b".to_string(),
                '\u{c}' => "\\f".to_string(),
                c if (c as u32) < 0x20 || c == '\u{7f}' => format!("\\u{:04x}", c as u32),
                c if ascii && !c.is_ascii() => {
                    let mut units = [0u16; 2];
                    c.encode_utf16(&mut units).iter().map(|u| format!("\\u{u:04x}")).collect()
                }
                _ => continue,
            };
            out.write_all(&text.as_bytes()[plain..i])?;
            out.write_all(escape.as_bytes())?;
            plain = i + c.len_utf8();
        }
        out.write_all(&text.as_bytes()[plain..])?;
        if !chunk.invalid().is_empty() {
            out.write_all(if ascii { b"\\ufffd" } else { "\u{fffd}".as_bytes() })?;
        }
    }
    out.write_all(b"\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: `jq -nc '[...]'` of jq 1.6, which prints doubles as 1.8 does.
    #[test]
    fn floats() {
        for (f, text) in [
            (1.0, "1"),
            (0.1, "0.1"),
            (1e15, "1000000000000000"),
            (1e17, "1e+17"),
            (12345678901234567890.0, "12345678901234567000"),
            (1.5e300, "1.5e+300"),
            (1e-5, "1e-05"),
            (0.0001, "0.0001"),
            (3.0e-7, "3e-07"),
            (-2.5, "-2.5"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(float(f), text, "{f}");
        }
    }

    /// Expected values: examples of the General Decimal Arithmetic Specification, to-scientific-string.
    #[test]
    fn literals() {
        for (given, text) in [
            ("123", "123"),
            ("1.23E3", "1.23E+3"),
            ("12.3", "12.3"),
            ("0.00123", "0.00123"),
            ("0.00000123", "0.00000123"),
            ("0.000000123", "1.23E-7"),
            ("-1.000", "-1.000"),
        ] {
            assert_eq!(literal(given), text.as_bytes(), "{given}");
        }
    }
}
