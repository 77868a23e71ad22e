//! Decodes escapes to bytes.

/// The language of the escapes; each has its own set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeDialect {
    /// `$'...'`: has `\'`, `\cX` for a control character, and `\x{...}`; the text ends at the first
    /// NUL.
    AnsiC,
    /// `echo -e`: octal only as `\0nnn`, `\c` ends all output.
    Echo,
    /// The escapes of GNU's program `echo`: also `\nnn`, but no `\u`, `\U` or `\E`.
    GnuEcho,
    /// The argument of `printf %b`: as `echo -e`, and `\nnn`.
    PrintfB,
    /// A `printf` format: `\nnn`, `\"`, `\'`, `\?`; `\c` is text.
    Format,
    /// The same for GNU's `printf`, where `\c` ends all output.
    GnuFormat,
}

impl EscapeDialect {
    /// Returns whether this is the language of a `printf` format.
    fn is_format(self) -> bool {
        matches!(self, EscapeDialect::Format | EscapeDialect::GnuFormat)
    }
}

/// Result of [`decode_escapes`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DecodedText {
    pub bytes: Vec<u8>,
    /// Whether the text has a `\c`, after which there is no output at all.
    pub stop: bool,
    /// The escapes that `printf` warns about, which stay unchanged.
    pub warnings: Vec<EscapeWarning>,
}

/// A malformed escape in a `printf` format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeWarning {
    /// `missing hex digit for \x`
    MissingHexDigit,
    /// `missing unicode digit for \u` (or `\U`, as given)
    MissingUnicodeDigit(u8),
}

/// Decodes the escapes of a whole text.
pub fn decode_escapes(text: &[u8], dialect: EscapeDialect) -> DecodedText {
    let mut out = DecodedText { bytes: Vec::with_capacity(text.len()), ..DecodedText::default() };
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        out.bytes.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let start = out.bytes.len();
        let used = decode_escape(rest, dialect, &mut out);
        if out.stop {
            return out;
        }
        if dialect == EscapeDialect::AnsiC && out.bytes[start..].contains(&0) {
            out.bytes.truncate(start);
            return out;
        }
        rest = &rest[used..];
    }
    out.bytes.extend_from_slice(rest);
    out
}

/// Returns the bytes of a `$'...'` string, given the text between its quotes.
pub fn ansi_c(text: &[u8]) -> Vec<u8> {
    decode_escapes(text, EscapeDialect::AnsiC).bytes
}

/// Returns the control character that C writes as a backslash and this letter (ISO C 6.4.4.4).
pub fn control_char(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        _ => return None,
    })
}

/// Returns the letter that C writes after a backslash for a control character: the reverse of
/// [`control_char`].
pub fn control_letter(control: u8) -> Option<u8> {
    (b'a'..=b'v').find(|l| control_char(*l) == Some(control))
}

/// Appends a byte as C writes it after a backslash: as a letter if it has one (`\n`), otherwise as
/// three octal digits (`\001`).
pub fn push_escaped(byte: u8, out: &mut Vec<u8>) {
    match control_letter(byte) {
        Some(letter) => out.extend_from_slice(&[b'\\', letter]),
        None => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
    }
}

/// Decodes one escape, given the text after its backslash; returns the number of bytes it used.
fn decode_escape(rest: &[u8], dialect: EscapeDialect, out: &mut DecodedText) -> usize {
    let Some(&byte) = rest.first() else {
        out.bytes.push(b'\\');
        return 0;
    };
    let plain = match byte {
        b'E' | b'u' | b'U' if dialect == EscapeDialect::GnuEcho => return keep_byte(byte, out),
        b'e' | b'E' => 0x1b,
        b'\\' => b'\\',
        b'"' if dialect == EscapeDialect::GnuFormat => byte,
        b'\'' | b'"' | b'?' if matches!(dialect, EscapeDialect::AnsiC | EscapeDialect::Format) => {
            byte
        }
        b'0'..=b'7' => return decode_octal(rest, dialect, out),
        b'x' => return decode_hex(rest, dialect, out),
        b'u' | b'U' => return decode_unicode(rest, dialect, out),
        b'c' => return decode_control(rest, dialect, out),
        _ => match control_char(byte) {
            Some(control) => control,
            None => return keep_byte(byte, out),
        },
    };
    out.bytes.push(plain);
    1
}

fn keep_byte(byte: u8, out: &mut DecodedText) -> usize {
    out.bytes.extend_from_slice(&[b'\\', byte]);
    1
}

fn decode_octal(rest: &[u8], dialect: EscapeDialect, out: &mut DecodedText) -> usize {
    // `\0nnn` has three digits after the zero, `\nnn` three in all.
    let zero_form = rest[0] == b'0'
        && matches!(dialect, EscapeDialect::Echo | EscapeDialect::GnuEcho | EscapeDialect::PrintfB);
    if dialect == EscapeDialect::Echo && !zero_form {
        return keep_byte(rest[0], out);
    }
    let limit = if zero_form { 4 } else { 3 };
    let digits = rest.iter().take(limit).take_while(|b| (b'0'..=b'7').contains(b)).count();
    let value = rest[..digits].iter().fold(0u32, |value, &b| value * 8 + u32::from(b - b'0'));
    out.bytes.push(value as u8);
    digits
}

fn hex_digits(rest: &[u8], limit: usize) -> (u32, usize) {
    let mut value = 0u32;
    let mut count = 0;
    for &byte in rest.iter().take(limit) {
        let Some(digit) = char::from(byte).to_digit(16) else { break };
        value = value.wrapping_mul(16).wrapping_add(digit);
        count += 1;
    }
    (value, count)
}

fn decode_hex(rest: &[u8], dialect: EscapeDialect, out: &mut DecodedText) -> usize {
    if dialect == EscapeDialect::AnsiC && rest.get(1) == Some(&b'{') {
        let (value, count) = hex_digits(&rest[2..], usize::MAX);
        let closed = rest.get(2 + count) == Some(&b'}');
        if count > 0 {
            out.bytes.push(value as u8);
            return 2 + count + usize::from(closed);
        }
        // bash reads `\x{}` as a NUL, which ends the string.
        out.bytes.push(0);
        return 2;
    }
    let (value, count) = hex_digits(&rest[1..], 2);
    if count == 0 {
        if dialect.is_format() || dialect == EscapeDialect::PrintfB {
            out.warnings.push(EscapeWarning::MissingHexDigit);
        }
        return keep_byte(b'x', out);
    }
    out.bytes.push(value as u8);
    1 + count
}

fn decode_unicode(rest: &[u8], dialect: EscapeDialect, out: &mut DecodedText) -> usize {
    let (value, count) = hex_digits(&rest[1..], if rest[0] == b'u' { 4 } else { 8 });
    if count == 0 {
        if dialect.is_format() || dialect == EscapeDialect::PrintfB {
            out.warnings.push(EscapeWarning::MissingUnicodeDigit(rest[0]));
        }
        return keep_byte(rest[0], out);
    }
    push_code_point(value, &mut out.bytes);
    1 + count
}

fn decode_control(rest: &[u8], dialect: EscapeDialect, out: &mut DecodedText) -> usize {
    match dialect {
        EscapeDialect::Echo
        | EscapeDialect::GnuEcho
        | EscapeDialect::PrintfB
        | EscapeDialect::GnuFormat => {
            out.stop = true;
            1
        }
        EscapeDialect::Format => keep_byte(b'c', out),
        EscapeDialect::AnsiC => {
            let Some(&byte) = rest.get(1) else { return keep_byte(b'c', out) };
            out.bytes.push(if byte == b'?' { 0x7f } else { byte.to_ascii_uppercase() & 0x1f });
            // `\c\\`: the backslash itself was written escaped.
            if byte == b'\\' && rest.get(2) == Some(&b'\\') { 3 } else { 2 }
        }
    }
}

/// Appends a code point as UTF-8, in the original scheme of up to six bytes, surrogates
/// included, as bash does; values above 31 bits give nothing.
pub fn push_code_point(code: u32, out: &mut Vec<u8>) {
    if let Some(c) = char::from_u32(code) {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        return;
    }
    let (lead, tail) = match code {
        0..=0xFFFF => (0xE0, 2),
        0x1_0000..=0x1F_FFFF => (0xF0, 3),
        0x20_0000..=0x3FF_FFFF => (0xF8, 4),
        0x400_0000..=0x7FFF_FFFF => (0xFC, 5),
        _ => return,
    };
    out.push(lead | (code >> (6 * tail)) as u8);
    for k in (0..tail).rev() {
        out.push(0x80 | ((code >> (6 * k)) & 0x3F) as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> [Vec<u8>; 4] {
        [EscapeDialect::Echo, EscapeDialect::PrintfB, EscapeDialect::Format, EscapeDialect::AnsiC]
            .map(|d| decode_escapes(text.as_bytes(), d).bytes)
    }

    /// The values are those of `echo -en`, `printf %b`, `printf` and `$'..'` in bash 5.2, through
    /// xxd.
    #[test]
    fn dialects_as_bash() {
        let cases: &[(&str, [&[u8]; 4])] = &[
            (r"A\d\qZ", [br"A\d\qZ", br"A\d\qZ", br"A\d\qZ", br"A\d\qZ"]),
            (r"A\'Z", [br"A\'Z", br"A\'Z", b"A'Z", b"A'Z"]),
            (r"A\101Z", [br"A\101Z", b"AAZ", b"AAZ", b"AAZ"]),
            (r"A\0101Z", [b"AAZ", b"AAZ", b"A\x081Z", b"A\x081Z"]),
            (r"A\400Z", [br"A\400Z", b"A\0Z", b"A\0Z", b"A"]),
            (r"A\0400Z", [b"A\0Z", b"A\0Z", b"A 0Z", b"A 0Z"]),
            (r"A\x414Z", [b"AA4Z", b"AA4Z", b"AA4Z", b"AA4Z"]),
            (r"A\x{41}Z", [br"A\x{41}Z", br"A\x{41}Z", br"A\x{41}Z", b"AAZ"]),
            (r"A\u00e9aZ", ["A\u{e9}aZ".as_bytes(); 4]),
            (r"A\ud800Z", [b"A\xed\xa0\x80Z"; 4]),
            (r"A\U110000Z", [b"A\xf4\x90\x80\x80Z"; 4]),
            (r"A\UFFFFFFFFZ", [b"AZ"; 4]),
            (r"A\caZ", [b"A", b"A", br"A\caZ", b"A\x01Z"]),
            (r"A\c?Z", [b"A", b"A", br"A\c?Z", b"A\x7fZ"]),
            (r"A\xgZ", [br"A\xgZ"; 4]),
            (r"A\e\E\a\b\f\n\r\t\v\\Z", [b"A\x1b\x1b\x07\x08\x0c\n\r\t\x0b\\Z"; 4]),
            (r"A\", [br"A\"; 4]),
        ];
        for (text, expected) in cases {
            let got = all(text);
            for (k, (g, e)) in got.iter().zip(expected).enumerate() {
                assert_eq!(g.as_slice(), *e, "{text} dialect {k}");
            }
        }
        assert_eq!(
            decode_escapes(br"\x", EscapeDialect::Format).warnings,
            [EscapeWarning::MissingHexDigit]
        );
        assert!(decode_escapes(br"a\cb", EscapeDialect::Echo).stop);
    }
}
