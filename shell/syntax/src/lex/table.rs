//! Byte classes of the shell grammar (POSIX XCU 2.3), as one table of bits.

/// Ends an unquoted word: blank, newline, `; & | ( ) < >`.
pub const BREAK: u8 = 1;
/// Begins a quote or expansion inside an unquoted word: quotes, backslash, `$`, backquote.
pub const QUOTE: u8 = 2;
/// Has a special meaning inside double quotes: `" \ $` and backquote.
pub const DQUOTE: u8 = 4;
/// Letter or underscore.
pub const NAME_START: u8 = 8;
/// Letter, underscore or digit.
pub const NAME: u8 = 16;
/// A decimal digit.
pub const DIGIT: u8 = 32;
/// A blank or tab.
pub const BLANK: u8 = 64;

/// The classes of each byte.
pub static CLASS: [u8; 256] = build_table();

const fn build_table() -> [u8; 256] {
    let mut t = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        let b = i as u8;
        let mut c = 0;
        if matches!(b, b' ' | b'\t') {
            c |= BLANK;
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') {
            c |= BREAK;
        }
        if matches!(b, b'\\' | b'\'' | b'"' | b'$' | b'`') {
            c |= QUOTE;
        }
        if matches!(b, b'\\' | b'"' | b'$' | b'`') {
            c |= DQUOTE;
        }
        if b.is_ascii_alphabetic() || b == b'_' {
            c |= NAME_START | NAME;
        }
        if b.is_ascii_digit() {
            c |= NAME | DIGIT;
        }
        t[i] = c;
        i += 1;
    }
    t
}

/// Returns whether `b` has one of the classes in `bits`.
#[inline(always)]
pub fn has_class(b: u8, bits: u8) -> bool {
    CLASS[b as usize] & bits != 0
}

/// Returns the length of the run at the start of `s` that has none of the classes in `bits`.
#[inline]
pub fn run_without(s: &[u8], bits: u8) -> usize {
    s.iter().position(|&b| has_class(b, bits)).unwrap_or(s.len())
}

/// Returns the length of the run at the start of `s` that has one of the classes in `bits`.
#[inline]
pub fn run_with(s: &[u8], bits: u8) -> usize {
    s.iter().position(|&b| !has_class(b, bits)).unwrap_or(s.len())
}

/// Returns whether `s` is a shell name (`[A-Za-z_][A-Za-z0-9_]*`).
pub fn is_name(s: &[u8]) -> bool {
    s.first().is_some_and(|&b| has_class(b, NAME_START)) && s.iter().all(|&b| has_class(b, NAME))
}
