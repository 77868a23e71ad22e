//! One `printf(3)` conversion of integers, floats and byte strings, with exact C semantics (ISO C
//! 7.21.6.1; POSIX XBD 5), and with the digits and rounding of glibc.
//!
//! A caller splits the format with [`parse`], fetches the arguments in its own way, fills `*`
//! counts in with [`ConversionSpec::set_width`] and [`ConversionSpec::set_precision`], and calls
//! the function of the conversion. All append to a caller's buffer.
//!
//! ```
//! use box_text::printf;
//! let d = printf::parse(b"-08.3f|").unwrap();
//! let mut out = Vec::new();
//! printf::put_float(&mut out, &d.spec, d.conversion, 3.14159);
//! assert_eq!((out.as_slice(), d.len), (&b"3.142   "[..], 6));
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `printf/float` | `e f g a` over `f64` and [`LongDouble`] |
//! | `printf/command` | the command `printf`, as the shell's builtin and coreutils' applet run it |
//! | `printf/extended` | [`LongDouble`]: x86's 80-bit format, which bash's and coreutils' printf use |
//!
//! Absent: length modifiers (`l`, `h`, ... are skipped by [`parse`]), `%n`, `%ls`.

pub mod command;
mod extended;
mod float;

pub use extended::LongDouble;
pub use float::{long_double, put_float};

/// The maximum width or precision, C's `INT_MAX`. [`parse`] and the setters clamp to it.
pub const MAX_COUNT: usize = i32::MAX as usize;

/// Flags, width and precision of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversionSpec {
    /// `-`: pad on the right.
    pub minus: bool,
    /// `+`: always write a sign.
    pub plus: bool,
    /// ` `: a space where a plus would be.
    pub space: bool,
    /// `0`: pad with zeros after the sign.
    pub zero: bool,
    /// `#`: alternative form.
    pub alt: bool,
    /// `'`: thousands grouping; without effect in the C and POSIX locales.
    pub group: bool,
    /// The minimum number of bytes (or characters, see [`string_chars`]).
    pub width: usize,
    pub precision: Option<usize>,
}

impl ConversionSpec {
    /// Sets a width from an argument: a negative one means `-` and its absolute value.
    pub fn set_width(&mut self, n: i64) {
        self.minus |= n < 0;
        self.width = usize::try_from(n.unsigned_abs()).unwrap_or(MAX_COUNT).min(MAX_COUNT);
    }

    /// Sets a precision from an argument: a negative one counts as absent.
    pub fn set_precision(&mut self, n: i64) {
        self.precision = (n >= 0).then(|| usize::try_from(n).unwrap_or(MAX_COUNT).min(MAX_COUNT));
    }
}

/// A width or precision as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FieldCount {
    #[default]
    Absent,
    /// A number, which is already in the [`ConversionSpec`].
    Given,
    /// `*`: the next argument; `*N$`: argument number N, from 1.
    Star(Option<usize>),
}

/// One parsed directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintfDirective {
    pub spec: ConversionSpec,
    pub width: FieldCount,
    pub precision: FieldCount,
    /// `%N$d`: the argument's number, from 1.
    pub position: Option<usize>,
    /// The conversion letter as written; `%` for `%%`. Not checked: `%y` gives `y`.
    pub conversion: u8,
    /// The number of bytes of the directive after the `%`.
    pub len: usize,
}

/// Parses the text after a `%`. Returns `None` if it ends before a conversion letter.
pub fn parse(text: &[u8]) -> Option<PrintfDirective> {
    let mut at = 0;
    let mut spec = ConversionSpec::default();
    let number = |at: &mut usize| -> Option<usize> {
        let from = *at;
        let mut n = 0usize;
        while let Some(d) = text.get(*at).filter(|c| c.is_ascii_digit()) {
            n = n.saturating_mul(10).saturating_add(usize::from(d - b'0')).min(MAX_COUNT);
            *at += 1;
        }
        (*at > from).then_some(n)
    };
    let mut position = None;
    let mut ahead = 0;
    if let Some(n) = number(&mut ahead)
        && n > 0
        && text.get(ahead) == Some(&b'$')
    {
        position = Some(n);
        at = ahead + 1;
    }
    loop {
        match text.get(at)? {
            b'-' => spec.minus = true,
            b'+' => spec.plus = true,
            b' ' => spec.space = true,
            b'0' => spec.zero = true,
            b'#' => spec.alt = true,
            b'\'' => spec.group = true,
            _ => break,
        }
        at += 1;
    }
    let star = |at: &mut usize| -> FieldCount {
        *at += 1;
        let mut ahead = *at;
        match number(&mut ahead) {
            Some(n) if n > 0 && text.get(ahead) == Some(&b'$') => {
                *at = ahead + 1;
                FieldCount::Star(Some(n))
            }
            _ => FieldCount::Star(None),
        }
    };
    let mut width = FieldCount::Absent;
    if text.get(at) == Some(&b'*') {
        width = star(&mut at);
    } else if let Some(n) = number(&mut at) {
        spec.width = n;
        width = FieldCount::Given;
    }
    let mut precision = FieldCount::Absent;
    if text.get(at) == Some(&b'.') {
        at += 1;
        if text.get(at) == Some(&b'*') {
            precision = star(&mut at);
        } else {
            spec.precision = Some(number(&mut at).unwrap_or(0));
            precision = FieldCount::Given;
        }
    }
    while matches!(text.get(at), Some(b'h' | b'l' | b'L' | b'q' | b'j' | b'z' | b't')) {
        at += 1;
    }
    let conversion = *text.get(at)?;
    Some(PrintfDirective { spec, width, precision, position, conversion, len: at + 1 })
}

/// Formats `%d`, `%i`.
pub fn put_signed(out: &mut Vec<u8>, spec: &ConversionSpec, value: i64) {
    let mut buf = [0; 64];
    let digits = radix_digits(&mut buf, value.unsigned_abs(), 10, false);
    put_integer(out, spec, sign_prefix(spec, value < 0), digits);
}

/// Formats `%u`, `%o`, `%x`, `%X`, `%b`, `%B`; any other letter counts as `u`.
pub fn put_unsigned(out: &mut Vec<u8>, spec: &ConversionSpec, conversion: u8, value: u64) {
    let (base, prefix): (u64, &[u8]) = match conversion {
        b'o' => (8, b""),
        b'x' => (16, b"0x"),
        b'X' => (16, b"0X"),
        b'b' => (2, b"0b"),
        b'B' => (2, b"0B"),
        _ => (10, b""),
    };
    let mut buf = [0; 65];
    let mut digits = radix_digits(&mut buf, value, base, conversion == b'X');
    let with_zero;
    if conversion == b'o' && spec.alt && digits.first() != Some(&b'0') {
        // "increases the precision if and only if necessary, to force the first digit to be 0"
        if spec.precision.unwrap_or(0) <= digits.len() {
            with_zero = [b"0", digits].concat();
            digits = &with_zero;
        }
    }
    if conversion == b'o' && spec.alt && value == 0 {
        // `%#.0o` of 0 is "0", not empty.
        let spec = ConversionSpec { precision: spec.precision.map(|p| p.max(1)), ..*spec };
        return put_integer(out, &spec, b"", digits);
    }
    let prefix = if spec.alt && value != 0 { prefix } else { b"" };
    put_integer(out, spec, prefix, digits);
}

/// Lays out an integer given as digits, also for numbers beyond 64 bits: first the precision as the
/// minimum number of digits, then the width. `prefix` is the sign or `0x`. As in C, the digit `0`
/// with precision 0 gives nothing.
pub fn put_integer(out: &mut Vec<u8>, spec: &ConversionSpec, prefix: &[u8], digits: &[u8]) {
    let digits = if spec.precision == Some(0) && digits == b"0" { b"" } else { digits };
    let zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    let len = prefix.len() + zeros + digits.len();
    let fill = spec.width.saturating_sub(len);
    let zero_fill = spec.zero && !spec.minus && spec.precision.is_none();
    if !spec.minus && !zero_fill {
        put_padding(out, b' ', fill);
    }
    out.extend_from_slice(prefix);
    put_padding(out, b'0', if zero_fill { fill + zeros } else { zeros });
    out.extend_from_slice(digits);
    if spec.minus {
        put_padding(out, b' ', fill);
    }
}

/// Formats `%s`: width and precision count bytes (C, POSIX, bash).
pub fn put_string(out: &mut Vec<u8>, spec: &ConversionSpec, value: &[u8]) {
    let value = &value[..spec.precision.unwrap_or(value.len()).min(value.len())];
    put_padded(out, spec, value, value.len());
}

/// Formats `%s` where width and precision count UTF-8 characters (gawk in a UTF-8 locale). A byte
/// that is not part of a character counts as one.
pub fn string_chars(out: &mut Vec<u8>, spec: &ConversionSpec, value: &[u8]) {
    if spec.width == 0 && spec.precision.is_none() {
        out.extend_from_slice(value);
        return;
    }
    let (mut end, mut count) = (0, 0);
    while end < value.len() && spec.precision.is_none_or(|p| count < p) {
        end += crate::number::utf8_len(&value[end..]);
        count += 1;
    }
    put_padded(out, spec, &value[..end], count);
}

/// Formats `%c` of a byte or an encoded character: one column wide; precision is ignored.
pub fn put_character(out: &mut Vec<u8>, spec: &ConversionSpec, value: &[u8]) {
    put_padded(out, spec, value, 1);
}

fn put_padded(out: &mut Vec<u8>, spec: &ConversionSpec, value: &[u8], len: usize) {
    let fill = spec.width.saturating_sub(len);
    if !spec.minus {
        put_padding(out, b' ', fill);
    }
    out.extend_from_slice(value);
    if spec.minus {
        put_padding(out, b' ', fill);
    }
}

fn put_padding(out: &mut Vec<u8>, byte: u8, count: usize) {
    out.resize(out.len() + count, byte);
}

/// Returns the sign that the flags request.
fn sign_prefix(spec: &ConversionSpec, negative: bool) -> &'static [u8] {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => b"-",
        (_, true, _) => b"+",
        (_, _, true) => b" ",
        _ => b"",
    }
}

/// Writes the digits of a number in a base up to 16 to the end of `buf`, and returns them.
fn radix_digits(buf: &mut [u8], mut value: u64, base: u64, upper: bool) -> &[u8] {
    let table: &[u8; 16] = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut at = buf.len();
    loop {
        at -= 1;
        buf[at] = table[(value % base) as usize];
        value /= base;
        if value == 0 {
            return &buf[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print_float(format: &[u8], value: f64) -> String {
        let d = parse(format).unwrap();
        let mut out = Vec::new();
        put_float(&mut out, &d.spec, d.conversion, value);
        String::from_utf8(out).unwrap()
    }

    /// The values are those of glibc 2.36's `printf`. (Of 400,000 random conversions, all agreed
    /// except `%#.2g` of 99.5, where glibc omits a digit that C requires.)
    #[test]
    fn floats_as_glibc() {
        let cases: &[(&[u8], f64, &str)] = &[
            (b"f", 0.1, "0.100000"),
            (b".0f", 2.5, "2"),
            (b".0f", 3.5, "4"),
            (b".2f", 1.005, "1.00"),
            (b".20f", 0.1, "0.10000000000000000555"),
            (b"+08.2f", 2.34567, "+0002.35"),
            (b"-8.1e|", 12345.0, "1.2e+04 "),
            (b"g", 100000.0, "100000"),
            (b"g", 1e6, "1e+06"),
            (b"g", 0.0001, "0.0001"),
            (b"g", 0.00001234, "1.234e-05"),
            (b"#g", 1.0, "1.00000"),
            (b"G", 1e-10, "1E-10"),
            (b".3g", 999.9, "1e+03"),
            (b"a", 1.0, "0x1p+0"),
            (b".1a", 1.999, "0x2.0p+0"),
            (b"A", -0.5, "-0X1P-1"),
            (b"a", 5e-324, "0x0.0000000000001p-1022"),
            (b"06f", f64::INFINITY, "   inf"),
            (b"F", f64::NEG_INFINITY, "-INF"),
            (b"f", -0.0, "-0.000000"),
        ];
        for (format, value, want) in cases {
            assert_eq!(print_float(format, *value), *want, "%{}", String::from_utf8_lossy(format));
        }
        assert_eq!(print_float(b".2000f", 0.5).len(), 2002);
    }

    /// The values are those of the `printf` of bash 5.2 and of coreutils 9.1 on x86-64.
    #[test]
    fn long_doubles_as_bash() {
        let cases: &[(&[u8], &[u8], &str)] = &[
            (b".20f", b"0.1", "0.10000000000000000000"),
            (b"f", b"1e1000", ""),
            (b"a", b"1", "0x8p-3"),
            (b"g", b"-2.50", "-2.5"),
            (b".3e", b"123456789", "1.235e+08"),
            (b".0La", b"63.968", "0x1p+6"),
            (b"f", b"3.4e-4950", "0.000000"),
        ];
        for (format, text, want) in cases {
            let d = parse(format).unwrap();
            let (value, len, _) = LongDouble::parse(text);
            let mut out = Vec::new();
            long_double(&mut out, &d.spec, d.conversion, &value);
            assert_eq!(len, text.len());
            if want.is_empty() {
                assert_eq!(out.len(), 1007);
                assert!(out.starts_with(b"9999999999999999999731073176695623534282"));
                assert!(out.ends_with(b"36377366647567795879936.000000"));
            } else {
                assert_eq!(String::from_utf8_lossy(&out), *want);
            }
        }
        assert!(LongDouble::parse(b"1e99999999999999999999").2);
    }

    /// The values are those of glibc 2.36's `printf`.
    #[test]
    fn integers_as_glibc() {
        let int = |f: &[u8], v: i64| {
            let d = parse(f).unwrap();
            let mut out = Vec::new();
            match d.conversion {
                b'd' => put_signed(&mut out, &d.spec, v),
                c => put_unsigned(&mut out, &d.spec, c, v as u64),
            }
            String::from_utf8(out).unwrap()
        };
        assert_eq!(int(b"05d", -42), "-0042");
        assert_eq!(int(b"-5d|", 42), "42   ");
        assert_eq!(int(b"+.3d", 7), "+007");
        assert_eq!(int(b"08.3d", 7), "     007");
        assert_eq!(int(b".0d", 0), "");
        assert_eq!(int(b"#x", 255), "0xff");
        assert_eq!(int(b"#06X", 255), "0X00FF");
        assert_eq!(int(b"#o", 8), "010");
        assert_eq!(int(b"#.0o", 0), "0");
        assert_eq!(int(b"u", -1), "18446744073709551615");
        assert_eq!(int(b"d", i64::MIN), "-9223372036854775808");
    }

    #[test]
    fn strings_and_parsing() {
        let d = parse(b"-5.2s").unwrap();
        let mut out = Vec::new();
        put_string(&mut out, &d.spec, b"abc");
        assert_eq!(out, b"ab   ");
        out.clear();
        string_chars(&mut out, &parse(b"4.2s").unwrap().spec, "éàb".as_bytes());
        assert_eq!(out, "  éà".as_bytes());
        assert_eq!(parse(b"5"), None);
        let d = parse(b"2$*1$.*d").unwrap();
        assert_eq!(
            (d.position, d.width, d.precision),
            (Some(2), FieldCount::Star(Some(1)), FieldCount::Star(None))
        );
        assert_eq!(parse(b"99999999999999999999d").unwrap().spec.width, MAX_COUNT);
    }
}
