//! Delimited patterns, and the escapes that belong to sed, not to regular expressions.

use std::rc::Rc;

use box_text::regex::{Regex, RegexError, RegexOptions, RegexSyntax};

use super::{Result, SedParser};
use crate::error::ScriptError;
use crate::script::SedPattern;

impl SedParser<'_> {
    /// Reads up to an unescaped delimiter, and consumes that. `\n` stays; an escaped delimiter
    /// loses its backslash. In a pattern, a bracket expression may contain the delimiter. Returns
    /// `None` if the text (or, in a pattern, the line) ends before the delimiter.
    pub(super) fn read_delimited(&mut self, delimiter: u8, pattern: bool) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        loop {
            let c = self.take_byte()?;
            if c == delimiter {
                return Some(out);
            }
            match c {
                b'\n' => {
                    // The byte is not consumed, because the error is reported at its position.
                    self.at -= 1;
                    return None;
                }
                b'\\' => {
                    let next = self.take_byte()?;
                    if next == delimiter && (pattern || next != b'&') {
                        // `s,x\,y,z,`: the backslash is removed.
                        out.push(next);
                    } else if next == b'\n' && pattern {
                        out.push(b'\n');
                    } else {
                        out.extend([b'\\', next]);
                    }
                }
                b'[' if pattern => self.copy_bracket(delimiter, &mut out),
                _ => out.push(c),
            }
        }
    }

    /// Copies a bracket expression after its `[`. One that is not closed extends to the end.
    fn copy_bracket(&mut self, delimiter: u8, out: &mut Vec<u8>) {
        out.push(b'[');
        let rest = &self.text[self.at..];
        let mut n = 0;
        if rest.first() == Some(&b'^') {
            n += 1;
        }
        if rest.get(n) == Some(&b']') {
            n += 1;
        }
        loop {
            match rest.get(n) {
                None => {
                    self.at = self.text.len();
                    return;
                }
                Some(b']') => break,
                Some(b'[') if matches!(rest.get(n + 1), Some(b':' | b'.' | b'=')) => {
                    let kind = rest[n + 1];
                    let end = rest[n + 2..].windows(2).position(|w| w == [kind, b']']);
                    n += end.map_or(2, |end| end + 4);
                }
                Some(b'\\') if rest.get(n + 1) == Some(&delimiter) => n += 2,
                Some(_) => n += 1,
            }
        }
        // An escaped delimiter keeps its backslash here, because that is an ordinary character in
        // brackets.
        out.extend_from_slice(&rest[..=n]);
        self.at += n + 1;
    }

    /// Compiles a pattern's text.
    pub(super) fn compile_pattern(
        &mut self,
        body: &[u8],
        icase: bool,
        multiline: bool,
    ) -> Result<SedPattern> {
        if body.is_empty() {
            if icase || multiline {
                return self.error_here("cannot specify modifiers on empty regexp");
            }
            return Ok(SedPattern::Last);
        }
        let body = resolve_escapes(body);
        let syntax = if self.dialect.extended { RegexSyntax::Ere } else { RegexSyntax::Bre };
        let mut options = RegexOptions::new(syntax).icase(icase).utf8(self.dialect.utf8);
        options = options.outer_brackets();
        // For `M`, GNU compiles with REG_NEWLINE.
        options = options.newline_apart(multiline);
        match (multiline, self.dialect.null_data) {
            // With `-z`, the lines of `M` also end with NULs.
            (true, true) => options = options.lines(0),
            (multiline, _) => options = options.multiline(multiline),
        }
        match Regex::new(&body, &options) {
            Ok(re) => Ok(SedPattern::Regex(Rc::new(re))),
            // GNU's matcher reports this error itself, without a place.
            Err(e @ RegexError::ClassSyntax) => {
                Err(ScriptError { offset: None, message: e.to_string() })
            }
            Err(e) => self.error_here(e.to_string()),
        }
    }
}

/// Parses one of sed's escapes, given without its backslash. Returns the character and the length
/// of the escape. `\n` is not among these escapes.
pub(super) fn parse_escape(text: &[u8]) -> Option<(u8, usize)> {
    let number = |base: u32, most: usize| -> Option<(u8, usize)> {
        let digits = text[1..].iter().take(most).map_while(|c| char::from(*c).to_digit(base));
        let (n, len) = digits.fold((0u32, 0), |(n, len), d| (n * base + d, len + 1));
        (len > 0).then_some((n as u8, len + 1))
    };
    match *text.first()? {
        b'a' => Some((0x07, 1)),
        b'f' => Some((0x0c, 1)),
        b'r' => Some((b'\r', 1)),
        b't' => Some((b'\t', 1)),
        b'v' => Some((0x0b, 1)),
        b'c' => text.get(1).map(|c| (c.to_ascii_uppercase() ^ 0x40, 2)),
        b'd' => number(10, 3),
        b'o' => number(8, 3),
        b'x' => number(16, 2),
        _ => None,
    }
}

/// Replaces sed's escapes in a pattern by the characters that they stand for.
fn resolve_escapes(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut at = 0;
    let mut bracket = false;
    while at < body.len() {
        let c = body[at];
        if c == b'\\' && at + 1 < body.len() {
            let rest = &body[at + 1..];
            if rest[0] == b'n' {
                out.push(b'\n');
                at += 2;
                continue;
            }
            if let Some((byte, len)) = parse_escape(rest) {
                // A character that is an operator acts as one, as in GNU sed 4.9.
                out.push(byte);
                at += 1 + len;
                continue;
            }
            // Without digits, these escapes are their letters; in brackets, the backslash is
            // removed.
            if !bracket || !matches!(rest[0], b'd' | b'o' | b'x') {
                out.push(c);
            }
            // In brackets a backslash is an ordinary character, but two are read together, so that
            // the `n` of `[\\n]` is a letter.
            if !bracket || rest[0] == b'\\' {
                out.push(rest[0]);
                at += 1;
            }
            at += 1;
            continue;
        }
        if bracket {
            if c == b'[' && matches!(body.get(at + 1), Some(b':' | b'.' | b'=')) {
                let kind = body[at + 1];
                if let Some(end) = body[at + 2..].windows(2).position(|w| w == [kind, b']']) {
                    out.extend_from_slice(&body[at..at + end + 4]);
                    at += end + 4;
                    continue;
                }
            }
            bracket = c != b']';
        } else if c == b'[' {
            bracket = true;
            out.push(c);
            at += 1;
            if body.get(at) == Some(&b'^') {
                out.push(b'^');
                at += 1;
            }
            if body.get(at) == Some(&b']') {
                out.push(b']');
                at += 1;
            }
            continue;
        }
        out.push(c);
        at += 1;
    }
    out
}
