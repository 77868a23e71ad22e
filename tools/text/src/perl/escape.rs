//! Escapes: characters by number, classes, properties.

use std::fmt::Write as _;

use super::{PatternRewriter, PerlDialect, PerlPatternError, Result};

/// Returns the class of one of Perl's letters, as the content of a bracket expression; `None` for
/// any other letter. A class of two bytes has the same meaning without brackets.
pub fn class_text(letter: char, dialect: PerlDialect) -> Option<&'static str> {
    const HORIZONTAL: &str = r"\t\x20\xA0\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}";
    const NOT_HORIZONTAL: &str =
        r"^\t\x20\xA0\x{1680}\x{180e}\x{2000}-\x{200a}\x{202f}\x{205f}\x{3000}";
    Some(match (dialect, letter) {
        (PerlDialect::Pcre2, 'd') => "0-9",
        (PerlDialect::Pcre2, 'D') => "^0-9",
        (PerlDialect::Pcre2, 'w') => "0-9A-Za-z_",
        (PerlDialect::Pcre2, 'W') => "^0-9A-Za-z_",
        (PerlDialect::Pcre2, 's') => r"\t-\r\x20",
        (PerlDialect::Pcre2, 'S') => r"^\t-\r\x20",
        (PerlDialect::Pcre2, 'h') => HORIZONTAL,
        (PerlDialect::Pcre2, 'H') => NOT_HORIZONTAL,
        (PerlDialect::Pcre2, 'v') => r"\n-\r\x{85}\x{2028}\x{2029}",
        (PerlDialect::Pcre2, 'V') => r"^\n-\r\x{85}\x{2028}\x{2029}",
        (PerlDialect::Oniguruma, 'd') => r"\d",
        (PerlDialect::Oniguruma, 'D') => r"\D",
        (PerlDialect::Oniguruma, 'w') => r"\w",
        (PerlDialect::Oniguruma, 'W') => r"\W",
        (PerlDialect::Oniguruma, 's') => r"\s",
        (PerlDialect::Oniguruma, 'S') => r"\S",
        _ => return None,
    })
}

/// Returns the content of a bracket expression for a class by its POSIX name.
pub fn named_class(name: &str, dialect: PerlDialect) -> Option<&'static str> {
    let ascii = dialect == PerlDialect::Pcre2;
    Some(match name {
        "alpha" if ascii => "A-Za-z",
        "digit" if ascii => "0-9",
        "alnum" if ascii => "0-9A-Za-z",
        "upper" if ascii => "A-Z",
        "lower" if ascii => "a-z",
        "space" if ascii => r"\t-\r\x20",
        "blank" if ascii => r"\t\x20",
        "cntrl" if ascii => r"\x00-\x1f\x7f",
        "graph" if ascii => r"\x21-\x7e",
        "print" if ascii => r"\x20-\x7e",
        "punct" if ascii => r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
        "word" if ascii => "0-9A-Za-z_",
        "alpha" => r"\p{Alphabetic}",
        "digit" => r"\p{Nd}",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "space" => r"\s",
        "blank" => r"\t\p{Zs}",
        "cntrl" => r"\p{Cc}",
        "graph" => r"^\s\p{Cc}\p{Cn}\p{Cs}",
        "print" => r"\p{Zs}[^\s\p{Cc}\p{Cn}\p{Cs}]",
        "punct" => r"\p{P}\p{S}",
        "word" => r"\w",
        "xdigit" => "0-9A-Fa-f",
        "ascii" => r"\x00-\x7f",
        _ => return None,
    })
}

/// Appends a character so that it stands for itself, in brackets or without them.
pub fn push_char(out: &mut String, c: char) {
    match c {
        '<' | '>' | '_' => out.push(c),
        ' ' => out.push_str(r"\x20"),
        _ if c.is_ascii_punctuation() => out.extend(['\\', c]),
        _ if c.is_control() => {
            let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
        }
        _ => out.push(c),
    }
}

impl PatternRewriter {
    /// Reads a character by number after `\x`, `\o` or `\c`.
    pub(super) fn read_code(&mut self, letter: char) -> Result<char> {
        match letter {
            'c' => {
                let c = self.next_char().ok_or(PerlPatternError::TrailingBackslash)?;
                char::from_u32(u32::from(c.to_ascii_uppercase()) ^ 0x40)
                    .ok_or(PerlPatternError::UnknownEscape)
            }
            'o' if self.skip_char('{') => self.read_braced(8, PerlPatternError::OctalDigit),
            'o' => Ok('o'),
            _ if self.skip_char('{') => self.read_braced(16, PerlPatternError::HexDigit),
            _ => {
                let first = self.read_digits(16, 2);
                if self.is_pcre() || first < 0x80 {
                    return char::from_u32(first).ok_or(PerlPatternError::LargeCode);
                }
                self.read_bytes(first)
            }
        }
    }

    /// Reads up to `most` octal digits, of which the first has been read.
    pub(super) fn read_octal(&mut self, first: char, most: usize) -> Result<char> {
        let rest = most - 1;
        let from = self.at;
        let value = self.read_digits(8, rest);
        let shift = 3 * (self.at - from) as u32;
        let code = (first.to_digit(8).unwrap_or(0) << shift) | value;
        char::from_u32(code).ok_or(PerlPatternError::LargeCode)
    }

    fn read_digits(&mut self, base: u32, most: usize) -> u32 {
        let mut value = 0;
        for _ in 0..most {
            let Some(d) = self.peek_char(0).and_then(|c| c.to_digit(base)) else { break };
            value = value * base + d;
            self.at += 1;
        }
        value
    }

    fn read_braced(&mut self, base: u32, error: PerlPatternError) -> Result<char> {
        let value = self.read_digits(base, 8);
        if !self.skip_char('}') {
            return Err(error);
        }
        char::from_u32(value).ok_or(PerlPatternError::LargeCode)
    }

    /// Reads the other bytes of a character whose first byte was given by number, as Oniguruma
    /// does.
    fn read_bytes(&mut self, first: u32) -> Result<char> {
        let mut bytes = vec![first as u8];
        while bytes.len() < 4 {
            if let Ok(text) = std::str::from_utf8(&bytes) {
                return text.chars().next().ok_or(PerlPatternError::BrokenText);
            }
            let escaped = self.peek_char(0) == Some('\\') && self.peek_char(1) == Some('x');
            let digit = self.peek_char(2).is_some_and(|c| c.is_ascii_hexdigit());
            if !escaped || !digit {
                break;
            }
            self.at += 2;
            bytes.push(self.read_digits(16, 2) as u8);
        }
        let text = std::str::from_utf8(&bytes).map_err(|_| PerlPatternError::BrokenText)?;
        text.chars().next().ok_or(PerlPatternError::BrokenText)
    }

    /// Reads a property after `\p` or `\P`; returns it in the syntax of `fancy-regex`.
    pub(super) fn read_property(&mut self, negated: bool) -> Result<String> {
        let mut name = String::new();
        if self.skip_char('{') {
            loop {
                match self.next_char() {
                    Some('}') => break,
                    Some(c) => name.push(c),
                    None => return Err(PerlPatternError::Property),
                }
            }
        } else {
            name.extend(self.next_char());
        }
        let (negated, name) = match name.strip_prefix('^') {
            Some(rest) => (!negated, rest),
            None => (negated, name.as_str()),
        };
        let known = named_class(&name.to_ascii_lowercase(), PerlDialect::Oniguruma);
        Ok(match known.filter(|_| !self.is_pcre()) {
            Some(class) => bracketed_class(class, negated),
            None => format!("\\{}{{{name}}}", if negated { 'P' } else { 'p' }),
        })
    }
}

/// Returns a class as a separate bracket expression.
pub fn bracketed_class(class: &str, negated: bool) -> String {
    match (class.strip_prefix('^'), negated) {
        (Some(rest), true) => format!("[{rest}]"),
        (None, true) => format!("[^{class}]"),
        (_, false) => format!("[{class}]"),
    }
}
