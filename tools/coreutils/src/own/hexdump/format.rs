//! Format strings of `hexdump -e`: `COUNT/SIZE "format" ...`.

use box_text::escape::{Dialect, decode};
use box_text::printf::{self, Spec};

/// What a conversion shows.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
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
pub(super) enum Part {
    Text(Vec<u8>),
    Convert { what: What, spec: Spec, size: usize },
}

/// One `COUNT/SIZE "format"`.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    pub repeat: usize,
    /// Whether a count was given.
    pub counted: bool,
    pub parts: Vec<Part>,
}

impl Unit {
    /// Bytes one use takes.
    pub(super) fn size(&self) -> usize {
        self.parts.iter().map(|p| if let Part::Convert { size, .. } = p { *size } else { 0 }).sum()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Format {
    pub units: Vec<Unit>,
    /// Bytes all units take.
    pub size: usize,
}

/// No block is larger than this.
const LIMIT: usize = 1 << 16;

pub(super) fn parse(text: &[u8]) -> Result<Format, String> {
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
        let body = decode(text.get(from..at).ok_or_else(bad)?, Dialect::Format).bytes;
        at += 1;
        let parts = parts(&body, size)?;
        let repeat_count = repeat.unwrap_or(1);
        let unit = Unit { repeat: repeat_count, counted: repeat.is_some(), parts };
        if unit.size().saturating_mul(repeat_count) > LIMIT || repeat_count > LIMIT {
            return Err(bad());
        }
        units.push(unit);
    }
    let size = units.iter().map(|u| u.size() * u.repeat).sum();
    Ok(Format { units, size })
}

fn parts(body: &[u8], size: Option<usize>) -> Result<Vec<Part>, String> {
    let mut out = Vec::new();
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(&c) = body.get(at) {
        at += 1;
        if c != b'%' {
            text.push(c);
            continue;
        }
        if body.get(at) == Some(&b'%') {
            text.push(b'%');
            at += 1;
            continue;
        }
        let flags = body[at..].iter().take_while(|c| b"-+ #0123456789.".contains(c)).count();
        let spec = printf::parse(&[&body[at..at + flags], b"s"].concat())
            .map(|d| d.spec)
            .unwrap_or_default();
        at += flags;
        let unknown =
            |c: &[u8]| format!("bad conversion character %{}", String::from_utf8_lossy(c));
        let letter = *body.get(at).ok_or_else(|| unknown(b""))?;
        at += 1;
        let want = |default: usize, allowed: &[usize]| -> Result<usize, String> {
            let n = size.unwrap_or(default);
            if allowed.contains(&n) {
                Ok(n)
            } else {
                Err(format!("bad byte count for conversion character {}", char::from(letter)))
            }
        };
        let integers = [1, 2, 4, 8];
        let (what, bytes) = match letter {
            b'd' | b'i' => (What::Signed, want(4, &integers)?),
            b'o' | b'u' | b'x' | b'X' => (What::Unsigned(letter), want(4, &integers)?),
            b'e' | b'E' | b'f' | b'g' | b'G' => (What::Float(letter), want(8, &[4, 8])?),
            b'c' => (What::Byte, want(1, &[1])?),
            b's' => {
                let n = size.or(spec.precision).ok_or("%s requires a precision or a byte count")?;
                (What::Text, n.min(LIMIT))
            }
            b'_' => {
                let kind = *body.get(at).ok_or_else(|| unknown(b"_"))?;
                at += 1;
                match kind {
                    b'p' => (What::Printable, want(1, &[1])?),
                    b'c' => (What::Char, want(1, &[1])?),
                    b'u' => (What::Named, want(1, &[1])?),
                    b'a' | b'A' => {
                        let radix = *body
                            .get(at)
                            .filter(|r| b"dox".contains(r))
                            .ok_or_else(|| unknown(&[b'_', kind]))?;
                        at += 1;
                        (
                            if kind == b'a' {
                                What::Address(radix)
                            } else {
                                What::EndAddress(radix)
                            },
                            0,
                        )
                    }
                    other => return Err(unknown(&[b'_', other])),
                }
            }
            other => return Err(unknown(&[other])),
        };
        if !text.is_empty() {
            out.push(Part::Text(std::mem::take(&mut text)));
        }
        let spec = Spec {
            width: spec.width.min(4096),
            precision: spec.precision.map(|p| p.min(4096)),
            ..spec
        };
        out.push(Part::Convert { what, spec, size: bytes });
    }
    if !text.is_empty() {
        out.push(Part::Text(text));
    }
    Ok(out)
}
