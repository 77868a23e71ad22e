//! Tokens of `bc`.

#[derive(Clone, Debug, PartialEq)]
pub(super) enum BcToken {
    Number(Vec<u8>),
    Text(Vec<u8>),
    Name(String),
    /// A reserved word.
    Word(&'static str),
    /// An operator or punctuation.
    Op(&'static str),
    Newline,
    End,
}

const WORDS: [&str; 21] = [
    "auto", "break", "continue", "define", "else", "for", "halt", "ibase", "if", "last", "length",
    "limits", "obase", "print", "quit", "read", "return", "scale", "sqrt", "void", "while",
];

const OPS: [&str; 34] = [
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "&&", "||", "+", "-",
    "*", "/", "%", "^", "=", "<", ">", "!", "(", ")", "[", "]", "{", "}", ",", ";", "&", ".",
];

/// The reason why there is no next token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LexError {
    /// A string or comment is not closed.
    Incomplete,
    Illegal(u8),
}

/// Returns the token at a position, and its end. A backslash at the end of a line joins it to the
/// next one.
pub(super) fn next(text: &[u8], mut at: usize) -> Result<(BcToken, usize), LexError> {
    loop {
        match text.get(at) {
            None => return Ok((BcToken::End, at)),
            Some(b' ' | b'\t' | b'\r' | 0x0b | 0x0c) => at += 1,
            Some(b'\\') if text.get(at + 1) == Some(&b'\n') => at += 2,
            Some(b'#') => {
                at += memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
            }
            Some(b'/') if text.get(at + 1) == Some(&b'*') => {
                let end =
                    memchr::memmem::find(&text[at + 2..], b"*/").ok_or(LexError::Incomplete)?;
                at += end + 4;
            }
            _ => break,
        }
    }
    let c = text[at];
    if c == b'\n' {
        return Ok((BcToken::Newline, at + 1));
    }
    if c == b'"' {
        let end = memchr::memchr(b'"', &text[at + 1..]).ok_or(LexError::Incomplete)?;
        return Ok((BcToken::Text(text[at + 1..at + 1 + end].to_vec()), at + end + 2));
    }
    let digit =
        |i: usize| text.get(i).is_some_and(|c| c.is_ascii_digit() || c.is_ascii_uppercase());
    if digit(at) || c == b'.' && digit(at + 1) {
        let mut number = Vec::new();
        let mut point = false;
        loop {
            match text.get(at) {
                Some(c) if c.is_ascii_digit() || c.is_ascii_uppercase() => number.push(*c),
                Some(b'.') if !point => {
                    point = true;
                    number.push(b'.');
                }
                Some(b'\\') if text.get(at + 1) == Some(&b'\n') => at += 1,
                _ => {
                    // As in GNU bc, a single digit after zeros keeps its own value in every input
                    // base.
                    let zeros = number.iter().take_while(|c| **c == b'0').count();
                    number.drain(..zeros.min(number.len() - 1));
                    return Ok((BcToken::Number(number), at));
                }
            }
            at += 1;
        }
    }
    if c.is_ascii_lowercase() {
        let from = at;
        while text
            .get(at)
            .is_some_and(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'_')
        {
            at += 1;
        }
        let name = String::from_utf8_lossy(&text[from..at]).into_owned();
        return Ok(match WORDS.iter().find(|w| **w == name) {
            Some(w) => (BcToken::Word(w), at),
            None => (BcToken::Name(name), at),
        });
    }
    match OPS.iter().find(|o| text[at..].starts_with(o.as_bytes())) {
        Some(o) => Ok((BcToken::Op(o), at + o.len())),
        None => Err(LexError::Illegal(c)),
    }
}
