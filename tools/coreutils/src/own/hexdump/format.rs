//! Format strings of `hexdump -e`: `COUNT/SIZE "format" ...`.

use box_text::escape::{EscapeDialect, decode_escapes};
use box_text::printf::{self, ConversionSpec};

/// The kind of value that a conversion prints.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConversionKind {
    Signed,
    /// `o u x X`
    Unsigned(u8),
    Float(u8),
    Byte,
    Text,
    /// `%_p`
    Printable,
    /// `%_c`
    Char,
    /// `%_u`
    Named,
    /// `%_a` in a radix.
    Address(u8),
    /// `%_A`
    EndAddress(u8),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum HexdumpPart {
    Text(Vec<u8>),
    Convert { what: ConversionKind, spec: ConversionSpec, size: usize },
}

/// One `COUNT/SIZE "format"`.
#[derive(Clone, Debug)]
pub(super) struct HexdumpUnit {
    pub repeat: usize,
    /// Whether a count was given.
    pub counted: bool,
    pub parts: Vec<HexdumpPart>,
}

impl HexdumpUnit {
    /// Returns the number of input bytes that the unit takes each time it is applied.
    pub(super) fn size(&self) -> usize {
        self.parts
            .iter()
            .map(|p| if let HexdumpPart::Convert { size, .. } = p { *size } else { 0 })
            .sum()
    }
}

#[derive(Clone, Debug)]
pub(super) struct HexdumpFormat {
    pub units: Vec<HexdumpUnit>,
    /// The number of input bytes that all units take together.
    pub size: usize,
}

/// The maximum size of a block, in bytes.
const LIMIT: usize = 1 << 16;

pub(super) fn parse(text: &[u8]) -> Result<HexdumpFormat, String> {
    let bad = || format!("bad format {{{}}}", String::from_utf8_lossy(text));
    let mut units = Vec::new();
    let mut at = 0;
    let number = |at: &mut usize| -> Option<usize> {
        let from = *at;
        while text.get(*at).is_some_and(u8::is_ascii_digit) {
            *at += 1;
        }
        std::str::from_utf8(&text[from..*at]).ok()?.parse().ok()
    };
    let blanks = |at: &mut usize| {
        while text.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
    };
    loop {
        blanks(&mut at);
        if at >= text.len() {
            break;
        }
        let repeat = number(&mut at);
        blanks(&mut at);
        let mut size = None;
        if text.get(at) == Some(&b'/') {
            at += 1;
            blanks(&mut at);
            size = Some(number(&mut at).ok_or_else(bad)?);
        }
        blanks(&mut at);
        if text.get(at) != Some(&b'"') {
            return Err(bad());
        }
        at += 1;
        let from = at;
        while text.get(at).ok_or_else(bad)? != &b'"' {
            at += if text[at] == b'\\' { 2 } else { 1 };
        }
        let body = decode_escapes(text.get(from..at).ok_or_else(bad)?, EscapeDialect::Format).bytes;
        at += 1;
        let parts = parse_parts(&body, size)?;
        let repeat_count = repeat.unwrap_or(1);
        let unit = HexdumpUnit { repeat: repeat_count, counted: repeat.is_some(), parts };
        if unit.size().saturating_mul(repeat_count) > LIMIT || repeat_count > LIMIT {
            return Err(bad());
        }
        units.push(unit);
    }
    let size = units.iter().map(|u| u.size() * u.repeat).sum();
    Ok(HexdumpFormat { units, size })
}

/// Parses the text and the conversions of a format string.
fn parse_parts(body: &[u8], size: Option<usize>) -> Result<Vec<HexdumpPart>, String> {
    let mut out = Vec::new();
    let mut text = Vec::new();
    let mut rest = body;
    while let Some((&c, after)) = rest.split_first() {
        rest = after;
        match (c, rest.split_first()) {
            (b'%', Some((b'%', after))) => {
                text.push(b'%');
                rest = after;
            }
            (b'%', _) => {
                let (part, after) = parse_conversion(rest, size)?;
                if !text.is_empty() {
                    out.push(HexdumpPart::Text(std::mem::take(&mut text)));
                }
                out.push(part);
                rest = after;
            }
            _ => text.push(c),
        }
    }
    if !text.is_empty() {
        out.push(HexdumpPart::Text(text));
    }
    Ok(out)
}

fn unknown_conversion(letters: &[u8]) -> String {
    format!("bad conversion character %{}", String::from_utf8_lossy(letters))
}

/// Parses one conversion after its `%`; `size` is the byte count of the unit, if it has one.
/// Returns the conversion and the rest of the text.
fn parse_conversion(text: &[u8], size: Option<usize>) -> Result<(HexdumpPart, &[u8]), String> {
    let flags = text.iter().take_while(|c| b"-+ #0123456789.".contains(c)).count();
    let (flags, rest) = text.split_at(flags);
    let spec = printf::parse(&[flags, b"s"].concat()).map(|d| d.spec).unwrap_or_default();
    let (&letter, mut rest) = rest.split_first().ok_or_else(|| unknown_conversion(b""))?;
    let want = |default: usize, allowed: &[usize]| -> Result<usize, String> {
        let n = size.unwrap_or(default);
        if allowed.contains(&n) {
            Ok(n)
        } else {
            Err(format!("bad byte count for conversion character {}", char::from(letter)))
        }
    };
    let integers = [1, 2, 4, 8];
    let (what, size) = match letter {
        b'd' | b'i' => (ConversionKind::Signed, want(4, &integers)?),
        b'o' | b'u' | b'x' | b'X' => (ConversionKind::Unsigned(letter), want(4, &integers)?),
        b'e' | b'E' | b'f' | b'g' | b'G' => (ConversionKind::Float(letter), want(8, &[4, 8])?),
        b'c' => (ConversionKind::Byte, want(1, &[1])?),
        b's' => {
            let n = size.or(spec.precision).ok_or("%s requires a precision or a byte count")?;
            (ConversionKind::Text, n.min(LIMIT))
        }
        b'_' => {
            let (what, after) = parse_special(rest)?;
            rest = after;
            let takes_none =
                matches!(what, ConversionKind::Address(_) | ConversionKind::EndAddress(_));
            let size = if takes_none { 0 } else { want(1, &[1])? };
            (what, size)
        }
        other => return Err(unknown_conversion(&[other])),
    };
    let width = spec.width.min(4096);
    let precision = spec.precision.map(|p| p.min(4096));
    Ok((
        HexdumpPart::Convert { what, spec: ConversionSpec { width, precision, ..spec }, size },
        rest,
    ))
}

/// Parses hexdump's own conversions after `%_`; returns the kind and the rest of the text.
fn parse_special(text: &[u8]) -> Result<(ConversionKind, &[u8]), String> {
    let (&kind, rest) = text.split_first().ok_or_else(|| unknown_conversion(b"_"))?;
    match kind {
        b'p' => Ok((ConversionKind::Printable, rest)),
        b'c' => Ok((ConversionKind::Char, rest)),
        b'u' => Ok((ConversionKind::Named, rest)),
        b'a' | b'A' => {
            let radix = rest.split_first().filter(|(radix, _)| b"dox".contains(radix));
            let (&radix, rest) = radix.ok_or_else(|| unknown_conversion(&[b'_', kind]))?;
            let what = match kind {
                b'a' => ConversionKind::Address(radix),
                _ => ConversionKind::EndAddress(radix),
            };
            Ok((what, rest))
        }
        other => Err(unknown_conversion(&[b'_', other])),
    }
}
