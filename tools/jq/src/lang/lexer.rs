//! Tokens of a program, read on demand. The parser reads strings itself, because they can contain
//! programs.

use super::JqSyntaxError;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum JqToken<'a> {
    /// `.name`
    Field(&'a str),
    /// A name or keyword, maybe with `module::`.
    Ident(&'a str),
    /// `@name`
    Format(&'a str),
    Number(&'a str),
    /// The quote that begins a string.
    Quote,
    /// An operator or mark.
    Op(&'static str),
    End,
}

/// Operators, longer ones before their prefixes.
const OPS: &[&str] = &[
    "?//=", "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..",
    "(", ")", "[", "]", "{", "}", "|", ",", ":", ";", ".", "?", "=", "<", ">", "+", "-", "*", "/",
    "%", "$",
];

fn is_start(c: u8) -> bool {
    c.is_ascii_alphabetic() || c == b'_'
}

fn is_name(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// Returns the length of the name at the start of `b`.
fn name_len(b: &[u8]) -> usize {
    if !b.first().is_some_and(|c| is_start(*c)) {
        return 0;
    }
    b.iter().position(|c| !is_name(*c)).unwrap_or(b.len())
}

/// Returns the length of the white space and comments at the start of `b`. A comment continues on
/// the next line if its line ends in an odd number of backslashes.
fn blank_len(b: &[u8]) -> usize {
    let mut i = 0;
    while let Some(&c) = b.get(i) {
        match c {
            b' ' | b'\t' | b'\r' | b'\n' => i += 1,
            b'#' => {
                let mut backslashes = 0;
                while let Some(&c) = b.get(i) {
                    if c == b'\n' && backslashes % 2 == 0 {
                        break;
                    }
                    let before_newline = c == b'\r' && b.get(i + 1) == Some(&b'\n');
                    if !before_newline {
                        backslashes = if c == b'\\' { backslashes + 1 } else { 0 };
                    }
                    i += 1;
                }
            }
            _ => break,
        }
    }
    i
}

/// Returns the token at `at` and the offsets of its start and end.
pub fn next_token(code: &str, at: usize) -> Result<(JqToken<'_>, usize, usize), JqSyntaxError> {
    let start = at + blank_len(code.as_bytes().get(at..).unwrap_or_default());
    let rest = &code[start..];
    let b = rest.as_bytes();
    let done = |t, len: usize| Ok((t, start, start + len));
    let Some(&c) = b.first() else { return done(JqToken::End, 0) };
    if c == b'"' {
        return done(JqToken::Quote, 1);
    }
    if is_start(c) {
        let mut len = name_len(b);
        while b[len..].starts_with(b"::") && name_len(&b[len + 2..]) > 0 {
            len += 2 + name_len(&b[len + 2..]);
        }
        return done(JqToken::Ident(&rest[..len]), len);
    }
    if c == b'.' && name_len(&b[1..]) > 0 {
        let len = 1 + name_len(&b[1..]);
        return done(JqToken::Field(&rest[1..len]), len);
    }
    if c == b'@' {
        let len = 1 + b[1..].iter().position(|c| !is_name(*c)).unwrap_or(b.len() - 1);
        if len > 1 {
            return done(JqToken::Format(&rest[1..len]), len);
        }
    }
    if c.is_ascii_digit() || (c == b'.' && b.get(1).is_some_and(u8::is_ascii_digit)) {
        let len = number_len(b);
        return done(JqToken::Number(&rest[..len]), len);
    }
    for op in OPS {
        if rest.starts_with(op) {
            // `?//=` means `?` and `//=`; it is in the list only so that `?//` does not match.
            let op = if *op == "?//=" { "?" } else { op };
            return done(JqToken::Op(op), op.len());
        }
    }
    Err(JqSyntaxError {
        message: "syntax error, unexpected INVALID_CHARACTER".to_string(),
        at: start,
    })
}

fn number_len(b: &[u8]) -> usize {
    let digits = |from: usize| {
        b[from..].iter().position(|c| !c.is_ascii_digit()).map_or(b.len(), |n| from + n)
    };
    let mut end = digits(0);
    if b.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(b.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(b.get(end + 1), Some(b'+' | b'-')));
        let after = digits((end + 1 + sign).min(b.len()));
        if after > end + 1 + sign {
            end = after;
        }
    }
    end
}
