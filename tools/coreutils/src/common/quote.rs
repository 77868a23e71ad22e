//! File names in messages and listings, as GNU's quotearg quotes them (`ls --quoting-style`).

use box_text::escape::push_escaped;
use box_text::number::utf8_len;

/// A style for quoting names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuoteStyle {
    Literal,
    /// Quotes for the shell where necessary; control characters stay as they are.
    Shell,
    ShellAlways,
    /// Quotes for the shell where necessary; control characters become `$'\n'` and the like.
    ShellEscape,
    ShellEscapeAlways,
    C,
    Escape,
}

impl QuoteStyle {
    /// Returns the style with this name in `--quoting-style`.
    pub(crate) fn parse(name: &[u8]) -> Option<QuoteStyle> {
        Some(match name {
            b"literal" => QuoteStyle::Literal,
            b"shell" => QuoteStyle::Shell,
            b"shell-always" => QuoteStyle::ShellAlways,
            b"shell-escape" => QuoteStyle::ShellEscape,
            b"shell-escape-always" => QuoteStyle::ShellEscapeAlways,
            b"c" | b"c-maybe" | b"clocale" | b"locale" => QuoteStyle::C,
            b"escape" => QuoteStyle::Escape,
            _ => return None,
        })
    }
}

/// Quotes a name even where it is not necessary: `'x'`. Messages that name a file within a sentence
/// use this form.
pub(crate) fn quote_in_sentence(name: &[u8]) -> Vec<u8> {
    quote_name(name, QuoteStyle::ShellEscapeAlways)
}

/// Quotes a name if necessary; a colon makes it necessary, too. Messages such as
/// `TOOL: FILE: reason` use this form.
pub(crate) fn quote_with_colon(name: &[u8]) -> Vec<u8> {
    if name.contains(&b':') {
        quote_in_sentence(name)
    } else {
        quote_name(name, QuoteStyle::ShellEscape)
    }
}

/// Quotes a text that is not a name: `'x'` with the escapes of C.
pub(crate) fn quote_as_text(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    c_escape(text, Some(b'\''), &mut out);
    out.push(b'\'');
    out
}

/// Quotes a name in a style.
pub(crate) fn quote_name(name: &[u8], style: QuoteStyle) -> Vec<u8> {
    match style {
        QuoteStyle::Literal => name.to_vec(),
        QuoteStyle::Shell => shell_quote(name, false, false),
        QuoteStyle::ShellAlways => shell_quote(name, true, false),
        QuoteStyle::ShellEscape => shell_quote(name, false, true),
        QuoteStyle::ShellEscapeAlways => shell_quote(name, true, true),
        QuoteStyle::C => {
            let mut out = vec![b'"'];
            c_escape(name, Some(b'"'), &mut out);
            out.push(b'"');
            out
        }
        QuoteStyle::Escape => {
            let mut out = Vec::with_capacity(name.len());
            c_escape(name, Some(b' '), &mut out);
            out
        }
    }
}

/// Returns whether a character is a control character or an invalid byte, which cannot be shown as
/// it is.
fn is_control(c: &[u8]) -> bool {
    match c {
        [b] => *b < 0x20 || *b >= 0x7f,
        // C1 controls U+0080 to U+009F.
        [0xc2, b] => *b < 0xa0,
        _ => false,
    }
}

/// Splits a text into characters as slices. Each invalid byte is a slice by itself.
fn split_characters(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let n = utf8_len(text);
        if n == 0 {
            return None;
        }
        let (c, rest) = text.split_at(n);
        text = rest;
        Some(c)
    })
}

fn c_escape(name: &[u8], also: Option<u8>, out: &mut Vec<u8>) {
    for c in split_characters(name) {
        if is_control(c) {
            c.iter().for_each(|b| push_escaped(*b, out));
        } else {
            if c == b"\\" || also.is_some_and(|a| c == [a]) {
                out.push(b'\\');
            }
            out.extend_from_slice(c);
        }
    }
}

fn needs_shell_quotes(name: &[u8]) -> bool {
    name.is_empty()
        || matches!(name[0], b'#' | b'~')
        || name == b"{"
        || name == b"}"
        || name.iter().any(|b| {
            matches!(
                b,
                b' ' | b'!'
                    | b'"'
                    | b'$'
                    | b'&'
                    | b'\''
                    | b'('
                    | b')'
                    | b'*'
                    | b';'
                    | b'<'
                    | b'='
                    | b'>'
                    | b'?'
                    | b'['
                    | b'\\'
                    | b'^'
                    | b'`'
                    | b'|'
                    | b'\n'
                    | b'\t'
            )
        })
}

fn shell_quote(name: &[u8], quote_always: bool, escape: bool) -> Vec<u8> {
    let controls = escape && split_characters(name).any(is_control);
    if !quote_always && !controls && !needs_shell_quotes(name) {
        return name.to_vec();
    }
    let mut out = Vec::with_capacity(name.len() + 2);
    // A name whose only special character is an apostrophe is easier to read in double quotes.
    let odd = |b: &u8| matches!(b, b'"' | b'$' | b'`' | b'\\' | b'!');
    if !controls && name.contains(&b'\'') && !name.iter().any(odd) {
        out.push(b'"');
        out.extend_from_slice(name);
        out.push(b'"');
        return out;
    }
    out.push(b'\'');
    let mut in_escape = false;
    for c in split_characters(name) {
        if escape && is_control(c) {
            if !in_escape {
                out.extend_from_slice(b"'$'");
                in_escape = true;
            }
            c.iter().for_each(|b| push_escaped(*b, &mut out));
            continue;
        }
        if in_escape {
            out.extend_from_slice(b"''");
            in_escape = false;
        }
        if c == b"'" {
            out.extend_from_slice(b"'\\''");
        } else {
            out.extend_from_slice(c);
        }
    }
    out.push(b'\'');
    // GNU shows no empty '' before a leading escape when quoting is optional.
    if !quote_always && out.starts_with(b"''$") {
        return out;
    }
    out
}

/// Returns a text as a JSON string; invalid bytes become replacement characters.
pub(crate) fn json_text(text: &[u8]) -> String {
    serde_json::Value::from(String::from_utf8_lossy(text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: `ls --quoting-style=STYLE` of coreutils 9.1.
    #[test]
    fn like_gnu() {
        let cases: [(&[u8], QuoteStyle, &[u8]); 11] = [
            (b"plain", QuoteStyle::ShellEscape, b"plain"),
            (b"a b", QuoteStyle::ShellEscape, b"'a b'"),
            (b"it's", QuoteStyle::ShellEscape, b"\"it's\""),
            (b"a'b$c", QuoteStyle::ShellEscape, b"'a'\\''b$c'"),
            (b"a\nb", QuoteStyle::ShellEscape, b"'a'$'\\n''b'"),
            (b"a\nb", QuoteStyle::Shell, b"'a\nb'"),
            (b"plain", QuoteStyle::ShellAlways, b"'plain'"),
            (b"a b", QuoteStyle::Escape, b"a\\ b"),
            (b"a\"b\t", QuoteStyle::C, b"\"a\\\"b\\t\""),
            (b"\xc3\xa9", QuoteStyle::ShellEscape, b"\xc3\xa9"),
            (b"x\xff", QuoteStyle::ShellEscape, b"'x'$'\\377'"),
        ];
        for (name, style, want) in cases {
            let got = quote_name(name, style);
            assert_eq!(got, want, "{}", String::from_utf8_lossy(&got));
        }
    }
}
