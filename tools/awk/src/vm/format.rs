//! `printf` and `sprintf` (POSIX awk, "Output Statements"; gawk manual 5.5).

use box_text::number::utf8_len;
use box_text::printf::{self, ConversionSpec, FieldCount};

use super::{AwkMachine, Result};
use crate::error::AwkRunError;
use crate::value::{AwkValue, append_special};

/// The maximum width, so that a mistake does not use up all memory.
pub(super) const MAX_WIDTH: usize = 1 << 28;

/// Returns the error about a width beyond the maximum.
pub(super) fn too_wide() -> AwkRunError {
    AwkRunError::fatal("format width or precision is too large")
}

impl AwkMachine<'_, '_> {
    /// Formats `args[1..]` by `args[0]`.
    pub(super) fn format_values(&mut self, args: &[AwkValue], out: &mut Vec<u8>) -> Result<()> {
        let Some(first) = args.first() else { return Ok(()) };
        let format = first.text(&self.convfmt);
        let mut rest: &[u8] = &format;
        let mut next = 1;
        while let Some(at) = memchr::memchr(b'%', rest) {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            let Some(d) = printf::parse(rest) else {
                // An unfinished conversion is printed as it is.
                out.push(b'%');
                continue;
            };
            let written = &rest[..d.len];
            rest = &rest[d.len..];
            if d.conversion == b'%' {
                out.push(b'%');
                continue;
            }
            if !b"diouxXeEfFgGaAcs".contains(&d.conversion) {
                out.push(b'%');
                out.extend_from_slice(written);
                continue;
            }
            let mut spec = d.spec;
            if let FieldCount::Star(n) = d.width {
                let v = self.format_argument(args, n, &mut next, &format)?;
                spec.set_width(v.num() as i64);
            }
            if let FieldCount::Star(n) = d.precision {
                let v = self.format_argument(args, n, &mut next, &format)?;
                spec.set_precision(v.num() as i64);
            }
            if spec.width > MAX_WIDTH || spec.precision.is_some_and(|p| p > MAX_WIDTH) {
                return Err(too_wide());
            }
            let v = self.format_argument(args, d.position, &mut next, &format)?;
            match d.conversion {
                b's' => {
                    let text = v.text(&self.convfmt);
                    if self.settings.utf8 {
                        printf::string_chars(out, &spec, &text);
                    } else {
                        printf::put_string(out, &spec, &text);
                    }
                }
                b'c' => self.format_character(out, &spec, v),
                conversion => self.format_numeric(out, &spec, conversion, v),
            }
        }
        out.extend_from_slice(rest);
        Ok(())
    }

    fn format_argument<'v>(
        &self,
        args: &'v [AwkValue],
        position: Option<usize>,
        next: &mut usize,
        format: &[u8],
    ) -> Result<&'v AwkValue> {
        let n = position.unwrap_or(*next);
        if position.is_none() {
            *next += 1;
        }
        args.get(n).ok_or_else(|| {
            let shown = String::from_utf8_lossy(format);
            AwkRunError::fatal(format!(
                "not enough arguments to satisfy format string\n\t`{shown}'"
            ))
        })
    }

    /// Formats `%c`: a number is a character's code, a string its first character.
    fn format_character(&self, out: &mut Vec<u8>, spec: &ConversionSpec, v: &AwkValue) {
        let number = match v {
            AwkValue::Num(n) => Some(*n),
            AwkValue::Input(_) => v.comparable_number(),
            AwkValue::Uninit | AwkValue::NoField => Some(0.0),
            _ => None,
        };
        if let Some(n) = number {
            let code = n as i64 as u32;
            let ch = char::from_u32(code).filter(|_| self.settings.utf8 && code >= 0x80);
            match ch {
                Some(ch) => {
                    printf::put_character(out, spec, ch.encode_utf8(&mut [0; 4]).as_bytes())
                }
                None => printf::put_character(out, spec, &[code as u8]),
            }
            return;
        }
        let text = v.text(&self.convfmt);
        let len = if self.settings.utf8 { utf8_len(&text) } else { usize::from(!text.is_empty()) };
        // An empty string gives a NUL, as in gawk.
        let first = if text.is_empty() { &[0][..] } else { &text[..len.min(text.len())] };
        printf::put_character(out, spec, first);
    }

    fn format_numeric(
        &self,
        out: &mut Vec<u8>,
        spec: &ConversionSpec,
        conversion: u8,
        v: &AwkValue,
    ) {
        let n = self.to_number(v);
        if !n.is_finite() {
            // As in gawk, the width has no effect.
            return append_special(out, n);
        }
        match conversion {
            b'd' | b'i' => {
                let n = n.trunc();
                if n.abs() < 9.2e18 {
                    return printf::put_signed(out, spec, n as i64);
                }
                // A number beyond 64 bits is printed with all its digits.
                let sign: &[u8] = match (n < 0.0, spec.plus, spec.space) {
                    (true, ..) => b"-",
                    (_, true, _) => b"+",
                    (_, _, true) => b" ",
                    _ => b"",
                };
                printf::put_integer(out, spec, sign, &whole_digits(n.abs()));
            }
            b'o' | b'u' | b'x' | b'X' => {
                let n = n.trunc();
                if n <= -9.3e18 || n >= 1.9e19 {
                    // gawk falls back to %g.
                    return printf::put_float(out, spec, b'g', n);
                }
                let bits = if n < 0.0 { n as i64 as u64 } else { n as u64 };
                printf::put_unsigned(out, spec, conversion, bits);
            }
            c => printf::put_float(out, spec, c, n),
        }
    }
}

/// Returns all digits of a whole number.
fn whole_digits(n: f64) -> Vec<u8> {
    let mut digits = Vec::new();
    let spec = ConversionSpec { precision: Some(0), ..ConversionSpec::default() };
    printf::put_float(&mut digits, &spec, b'f', n);
    digits
}
