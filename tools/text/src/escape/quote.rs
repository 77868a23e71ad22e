//! From bytes to shell source that the shell reads as the same bytes, in the styles that bash
//! writes.

use super::push_escaped;

/// Quotes as `printf %q` does: with backslashes, `$'...'` if there are control characters or
/// invalid bytes, and `''` for the empty string.
pub fn printf_q(text: &[u8]) -> Vec<u8> {
    if text.is_empty() {
        return b"''".to_vec();
    }
    if needs_ansi_c(text) {
        return ansi_c_quote(text);
    }
    let mut out = Vec::with_capacity(text.len() + 8);
    for (at, &byte) in text.iter().enumerate() {
        if is_special(byte) || byte == b',' || special_by_place(text, at) {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}

/// Quotes as `${x@Q}` does: always, as `'...'` or `$'...'`.
pub fn at_q(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) { ansi_c_quote(text) } else { single_quote(text) }
}

/// Quotes as `declare -p` and `export -p` do: `"..."` or `$'...'`.
pub fn declare_quote(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) { ansi_c_quote(text) } else { double_quote(text) }
}

/// Quotes as `set` without operands does: only where needed.
pub fn set_quote(text: &[u8]) -> Vec<u8> {
    if needs_ansi_c(text) {
        ansi_c_quote(text)
    } else if needs_quotes(text) {
        single_quote(text)
    } else {
        text.to_vec()
    }
}

/// Quotes as `alias` and `trap` do: always `'...'`, with control characters unchanged.
pub fn alias_quote(text: &[u8]) -> Vec<u8> {
    single_quote(text)
}

/// Quotes as `'...'`, where an inner quote becomes `'\''`; a lone quote is `\'`.
pub fn single_quote(text: &[u8]) -> Vec<u8> {
    if text == b"'" {
        return b"\\'".to_vec();
    }
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for &byte in text {
        if byte == b'\'' {
            out.extend_from_slice(b"'\\''");
        } else {
            out.push(byte);
        }
    }
    out.push(b'\'');
    out
}

/// Quotes as `"..."` with `$`, backquote, `"` and backslash escaped.
pub fn double_quote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'"');
    for &byte in text {
        if matches!(byte, b'$' | b'`' | b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out.push(b'"');
    out
}

/// Quotes as `$'...'`, with printable characters unchanged and other bytes as escapes.
pub fn ansi_c_quote(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 8);
    out.extend_from_slice(b"$'");
    let mut rest = text;
    while let Some(&byte) = rest.first() {
        let width = printable_width(rest);
        if width > 0 {
            if matches!(byte, b'\'' | b'\\') {
                out.push(b'\\');
            }
            out.extend_from_slice(&rest[..width]);
            rest = &rest[width..];
            continue;
        }
        match byte {
            0x1b => out.extend_from_slice(b"\\E"),
            _ => push_escaped(byte, &mut out),
        }
        rest = &rest[1..];
    }
    out.push(b'\'');
    out
}

/// Returns whether `'...'` would show control characters or invalid bytes.
pub fn needs_ansi_c(text: &[u8]) -> bool {
    if text.iter().all(|b| (0x20..0x7f).contains(b)) {
        return false;
    }
    let mut rest = text;
    while !rest.is_empty() {
        match printable_width(rest) {
            0 => return true,
            width => rest = &rest[width..],
        }
    }
    false
}

/// Returns whether the text holds characters special to the shell.
pub fn needs_quotes(text: &[u8]) -> bool {
    text.iter().enumerate().any(|(at, &byte)| is_special(byte) || special_by_place(text, at))
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b' ' | b'\t'
            | b'\n'
            | b'\''
            | b'"'
            | b'\\'
            | b'|'
            | b'&'
            | b';'
            | b'('
            | b')'
            | b'<'
            | b'>'
            | b'!'
            | b'{'
            | b'}'
            | b'*'
            | b'['
            | b']'
            | b'?'
            | b'^'
            | b'$'
            | b'`'
    )
}

/// Returns whether a byte is special because of its place: `#` at the start; `~` at the start or
/// after `:` or `=`.
fn special_by_place(text: &[u8], at: usize) -> bool {
    match text[at] {
        b'#' => at == 0,
        b'~' => at == 0 || matches!(text[at - 1], b':' | b'='),
        _ => false,
    }
}

/// Returns the length of the printable character at the start; 0 if there is none.
fn printable_width(text: &[u8]) -> usize {
    let Some(&first) = text.first() else { return 0 };
    if first < 0x80 {
        return usize::from((0x20..0x7f).contains(&first));
    }
    let width = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => return 0,
    };
    let c =
        text.get(..width).and_then(|b| std::str::from_utf8(b).ok()).and_then(|s| s.chars().next());
    match c {
        Some(c)
            if !c.is_control()
                && !matches!(c, '\u{2028}' | '\u{2029}')
                && u32::from(c) & 0xFFFE != 0xFFFE =>
        {
            width
        }
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &[u8]) -> [String; 4] {
        [printf_q(text), at_q(text), declare_quote(text), set_quote(text)]
            .map(|b| String::from_utf8_lossy(&b).into_owned())
    }

    /// The values are those of `printf %q`, `${v@Q}`, `declare -p v` and `set` in bash 5.2
    /// (C.UTF-8).
    #[test]
    fn styles_as_bash() {
        let cases: &[(&[u8], [&str; 4])] = &[
            (b"", ["''", "''", "\"\"", ""]),
            (b"abc", ["abc", "'abc'", "\"abc\"", "abc"]),
            (b"a'b", [r"a\'b", r"'a'\''b'", "\"a'b\"", r"'a'\''b'"]),
            (b"'", [r"\'", r"\'", "\"'\"", r"\'"]),
            (b"a\nb", [r"$'a\nb'", r"$'a\nb'", r"$'a\nb'", r"$'a\nb'"]),
            (b"\x01x", [r"$'\001x'", r"$'\001x'", r"$'\001x'", r"$'\001x'"]),
            ("\u{e9}".as_bytes(), ["\u{e9}", "'\u{e9}'", "\"\u{e9}\"", "\u{e9}"]),
            (b"a\xffb", [r"$'a\377b'"; 4]),
            (b"a$b", [r"a\$b", "'a$b'", r#""a\$b""#, "'a$b'"]),
            (b"a~", ["a~", "'a~'", "\"a~\"", "a~"]),
            (b"a:~", [r"a:\~", "'a:~'", "\"a:~\"", "'a:~'"]),
            (b"{a,b}", [r"\{a\,b\}", "'{a,b}'", "\"{a,b}\"", "'{a,b}'"]),
            (b"a,b", [r"a\,b", "'a,b'", "\"a,b\"", "a,b"]),
            (b"#a", [r"\#a", "'#a'", "\"#a\"", "'#a'"]),
            (b"a#", ["a#", "'a#'", "\"a#\"", "a#"]),
            ("\u{20ac}\n".as_bytes(), ["$'\u{20ac}\\n'"; 4]),
            ("\u{2028}".as_bytes(), [r"$'\342\200\250'"; 4]),
        ];
        for (text, expected) in cases {
            assert_eq!(row(text), expected.map(String::from), "{text:?}");
        }
    }
}
