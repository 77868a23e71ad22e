//! Types of `od -t`: the form and the width of a number or character.

use box_text::number::{parse_float, parse_integer};
use box_text::printf::{self, ConversionSpec, LongDouble};

use crate::common::quote;

/// The form in which bytes are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OdKind {
    /// `a`: names of control characters; the highest bit is ignored.
    Named,
    /// `c`: characters, or escapes such as `\n`.
    Character,
    Signed,
    Unsigned,
    Octal,
    Hexadecimal,
    Float,
}

/// One format of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub kind: OdKind,
    /// The number of bytes of each number.
    pub size: usize,
    /// `z`: whether the line's printable characters follow.
    pub characters: bool,
}

/// Parses the types in the argument of `-t`. The error is a message.
pub(super) fn parse(text: &[u8]) -> Result<Vec<Type>, Vec<u8>> {
    let shown = || quote::quote_in_sentence(text);
    let mut types = Vec::new();
    let mut rest = text;
    while let Some((letter, after)) = rest.split_first() {
        rest = after;
        let kind = match letter {
            b'a' => OdKind::Named,
            b'c' => OdKind::Character,
            b'd' => OdKind::Signed,
            b'f' => OdKind::Float,
            b'o' => OdKind::Octal,
            b'u' => OdKind::Unsigned,
            b'x' => OdKind::Hexadecimal,
            _ => {
                let start = [b"invalid character '", &[*letter][..], b"' in type string "].concat();
                return Err([start, shown()].concat());
            }
        };
        let size = match kind {
            OdKind::Named | OdKind::Character => 1,
            _ => parse_type_size(kind, &mut rest)
                .map_err(|why| [b"invalid type string ", &*shown(), &why].concat())?,
        };
        let characters = rest.first() == Some(&b'z');
        rest = &rest[usize::from(characters)..];
        types.push(Type { kind, size, characters });
    }
    Ok(types)
}

/// Parses the size after a letter, in digits or as the letter of a C type. The error is the message
/// about a size that the type does not have.
fn parse_type_size(kind: OdKind, rest: &mut &[u8]) -> Result<usize, Vec<u8>> {
    let float = kind == OdKind::Float;
    let named = match (rest.first(), float) {
        (Some(b'C'), false) => Some(1),
        (Some(b'S'), false) => Some(2),
        (Some(b'I'), false) | (Some(b'F'), true) => Some(4),
        (Some(b'L'), false) | (Some(b'D'), true) => Some(8),
        (Some(b'L'), true) => Some(16),
        _ => None,
    };
    if let Some(size) = named {
        *rest = &rest[1..];
        return Ok(size);
    }
    let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
    let (number, after) = rest.split_at(digits);
    *rest = after;
    let sizes: &[u64] = if float { &[4, 8, 16] } else { &[1, 2, 4, 8] };
    match parse_integer(number, 10) {
        n if n.len == 0 => Ok(if float { 8 } else { 4 }),
        n if sizes.contains(&n.magnitude) => Ok(n.magnitude as usize),
        n if n.magnitude == u64::MAX => Err(Vec::new()),
        n => {
            let what = if float { "floating point" } else { "integral" };
            let n = n.magnitude;
            Err(format!(";\nthis system doesn't provide a {n}-byte {what} type").into_bytes())
        }
    }
}

impl Type {
    /// Returns the number of columns of one number, without the space before it.
    pub(super) fn width(self) -> usize {
        let widths = match self.kind {
            OdKind::Named | OdKind::Character => return 3,
            OdKind::Signed => [4, 6, 11, 20, 0],
            OdKind::Unsigned => [3, 5, 10, 20, 0],
            OdKind::Octal => [3, 6, 11, 22, 0],
            OdKind::Hexadecimal => [2, 4, 8, 16, 0],
            OdKind::Float => [0, 0, 15, 24, 29],
        };
        widths[self.size.ilog2() as usize]
    }

    /// Appends the value of `bytes`, whose number is the type's size, right-aligned in `width`
    /// columns.
    pub(super) fn show(self, bytes: &[u8], big_endian: bool, width: usize, out: &mut Vec<u8>) {
        let value = if big_endian {
            bytes.iter().fold(0, |n, byte| n << 8 | u128::from(*byte))
        } else {
            bytes.iter().rev().fold(0, |n, byte| n << 8 | u128::from(*byte))
        };
        let low = value as u64;
        let spec = ConversionSpec { width, ..ConversionSpec::default() };
        match self.kind {
            OdKind::Named => {
                printf::put_string(out, &spec, control_name(low as u8 & 0x7f).as_bytes())
            }
            OdKind::Character => {
                printf::put_string(out, &spec, character_text(low as u8).as_bytes())
            }
            OdKind::Signed => {
                let unused = 64 - 8 * self.size as u32;
                let value = (low << unused) as i64 >> unused;
                put_digits(out, width, value.unsigned_abs(), 10, 1, value < 0);
            }
            OdKind::Unsigned => put_digits(out, width, low, 10, 1, false),
            OdKind::Octal => put_digits(out, width, low, 8, self.width(), false),
            OdKind::Hexadecimal => put_digits(out, width, low, 16, self.width(), false),
            OdKind::Float => printf::put_string(out, &spec, &float_text(self.size, value)),
        }
    }
}

/// Appends a number with at least `least` digits.
fn put_digits(
    out: &mut Vec<u8>,
    width: usize,
    mut value: u64,
    base: u64,
    least: usize,
    minus: bool,
) {
    let start = out.len();
    out.resize(start + width, b' ');
    let mut places = out[start..].iter_mut().rev();
    let mut written = 0;
    for place in places.by_ref() {
        *place = b"0123456789abcdef"[(value % base) as usize];
        value /= base;
        written += 1;
        if value == 0 && written >= least {
            break;
        }
    }
    if let Some(place) = places.next().filter(|_| minus) {
        *place = b'-';
    }
}

/// Returns the shortest decimal form of a float of 4, 8 or 16 bytes that is parsed as the same
/// number.
fn float_text(size: usize, bits: u128) -> Vec<u8> {
    let number = match size {
        4 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits as u64),
    };
    let long = LongDouble::from_bits(bits as u64, (bits >> 64) as u16);
    // `sure` digits are exact for every normal number of the size; no number needs more than
    // `most`.
    let (sure, most, normal) = match size {
        4 => (6, 9, number.abs() >= f64::from(f32::MIN_POSITIVE)),
        8 => (15, 17, number.abs() >= f64::MIN_POSITIVE),
        _ => (18, 21, bits >> 64 & 0x7fff != 0),
    };
    let least = if normal { sure } else { 1 };
    let mut text = Vec::new();
    for precision in least..=most {
        text.clear();
        let spec = ConversionSpec { precision: Some(precision), ..ConversionSpec::default() };
        let same = match size {
            16 => {
                printf::long_double(&mut text, &spec, b'g', &long);
                LongDouble::parse(&text).0 == long
            }
            size => {
                printf::put_float(&mut text, &spec, b'g', number);
                let read = parse_float(&text).0;
                if size == 4 { read as f32 == number as f32 } else { read == number }
            }
        };
        if same {
            break;
        }
    }
    text
}

/// Returns the name of a control character, or the character.
pub(in crate::own) fn control_name(byte: u8) -> String {
    const NAMES: [&str; 33] = [
        "nul", "soh", "stx", "etx", "eot", "enq", "ack", "bel", "bs", "ht", "nl", "vt", "ff", "cr",
        "so", "si", "dle", "dc1", "dc2", "dc3", "dc4", "nak", "syn", "etb", "can", "em", "sub",
        "esc", "fs", "gs", "rs", "us", "sp",
    ];
    match byte {
        0x7f => "del".to_string(),
        _ => NAMES.get(usize::from(byte)).map_or(char::from(byte).to_string(), |n| n.to_string()),
    }
}

/// Returns a character, its escape in C, or its octal code.
pub(in crate::own) fn character_text(byte: u8) -> String {
    match byte {
        0 => "\\0".to_string(),
        7..=13 => format!("\\{}", char::from(b"abtnvfr"[usize::from(byte - 7)])),
        0x20..0x7f => char::from(byte).to_string(),
        _ => format!("{byte:03o}"),
    }
}
