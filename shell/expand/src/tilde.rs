//! Tilde expansion (POSIX XCU 2.6.1, bash manual 3.5.2).

use std::ops::Range;

use crate::env::ExpandEnv;
use crate::value::VarValue;

/// The places in which tildes are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tilde {
    Never,
    /// At the start only.
    Start,
    /// At the start; if the word looks like an assignment, also after `=` and `:`.
    Word,
    /// At the start and after each `:`.
    Assignment,
}

/// The position of a piece of unquoted text in its word.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TildePosition {
    pub(crate) begins: bool,
    pub(crate) ends: bool,
}

/// Returns the start of the value if unquoted text has the form of an assignment, for example `a=`,
/// `a+=` or `a[1]=`.
pub(crate) fn looks_like_assignment(text: &[u8]) -> Option<usize> {
    let is_name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    if !text.first().is_some_and(|b| is_name(b) && !b.is_ascii_digit()) {
        return None;
    }
    let mut at = text.iter().position(|b| !is_name(b))?;
    if text[at] == b'[' {
        at += text[at..].iter().position(|&b| b == b']')? + 1;
    }
    if text.get(at) == Some(&b'+') {
        at += 1;
    }
    (text.get(at) == Some(&b'=')).then_some(at + 1)
}

/// Returns the tilde-prefixes in unquoted text, with the directories they stand for. A prefix ends
/// at a slash, at a colon, or with the word; a quote or an expansion within it prevents the tilde
/// expansion.
pub(crate) fn tilde_prefixes(
    env: &mut dyn ExpandEnv,
    text: &[u8],
    tilde: Tilde,
    spot: TildePosition,
) -> Vec<(Range<usize>, Vec<u8>)> {
    let colons = tilde == Tilde::Assignment;
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let begins = if at == 0 { spot.begins } else { colons && text[at - 1] == b':' };
        if text[at] != b'~' || !begins {
            at += 1;
            continue;
        }
        let ends = |b: &u8| *b == b'/' || *b == b':';
        let end = text[at..].iter().position(ends).map_or(text.len(), |length| at + length);
        let closed = end < text.len() && (colons || text[end] == b'/') || spot.ends;
        if closed && let Some(home) = tilde_directory(env, &text[at + 1..end]) {
            found.push((at..end, home));
        }
        at = end;
    }
    found
}

/// Returns the directory that `~name` stands for.
fn tilde_directory(env: &mut dyn ExpandEnv, name: &[u8]) -> Option<Vec<u8>> {
    let variable = |env: &mut dyn ExpandEnv, name: &[u8]| match env.get(name) {
        Some(VarValue::Scalar(text)) => Some(text.to_vec()),
        _ => None,
    };
    match name {
        b"" => variable(env, b"HOME").or_else(|| env.home_dir(None)),
        b"+" => variable(env, b"PWD"),
        b"-" => variable(env, b"OLDPWD"),
        b"0" | b"+0" => variable(env, b"PWD"),
        [b'-', digits @ ..] if is_number(digits) => env.dir_stack(parse_number(digits)?, true),
        [b'+', digits @ ..] | digits if is_number(digits) => {
            env.dir_stack(parse_number(digits)?, false)
        }
        user => env.home_dir(Some(user)),
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn parse_number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::looks_like_assignment;

    #[test]
    fn forms_of_assignments() {
        assert_eq!(looks_like_assignment(b"a=~"), Some(2));
        assert_eq!(looks_like_assignment(b"a+=~"), Some(3));
        assert_eq!(looks_like_assignment(b"a[1]=~"), Some(5));
        assert_eq!(looks_like_assignment(b"1a=~"), None);
        assert_eq!(looks_like_assignment(b"a-b=~"), None);
    }
}
