//! Tilde expansion (POSIX XCU 2.6.1, bash manual 3.5.2).

use crate::env::Env;
use crate::value::Value;
use crate::word::Expander;

/// Where the value begins if unquoted text has the form of an assignment (`a=`, `a+=`, `a[1]=`).
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

/// Adds unquoted text that holds tildes. `start`: it begins the word (or value); `last`: it ends
/// the word, so a tilde-prefix may run up to its end; `colons`: tildes count behind colons, too.
pub(crate) fn expand(x: &mut Expander<'_>, text: &[u8], colons: bool, start: bool, last: bool) {
    let mut from = 0;
    let mut at = 0;
    while at < text.len() {
        let candidate =
            text[at] == b'~' && (if at == 0 { start } else { colons && text[at - 1] == b':' });
        if !candidate {
            at += 1;
            continue;
        }
        let ends = |k: usize| matches!(text[k], b'/' | b':') || text[k..].starts_with(b"=~");
        let length = (at..text.len()).position(ends).unwrap_or(text.len() - at);
        let end = at + length;
        // A quote before the first slash keeps the tilde as it is, behind a colon, too.
        let whole = last || text[end..].contains(&b'/');
        if (end < text.len() || last)
            && (whole || colons)
            && let Some(home) = resolve(x.env, &text[at + 1..end])
        {
            x.fields.push_literal(&text[from..at]);
            x.fields.push_quoted(&home);
            from = end;
        }
        at = end;
    }
    x.fields.push_literal(&text[from..]);
}

/// What `~name` stands for.
pub(crate) fn resolve(env: &mut dyn Env, name: &[u8]) -> Option<Vec<u8>> {
    let variable = |env: &mut dyn Env, name: &[u8]| match env.get(name) {
        Some(Value::Scalar(text)) => Some(text.to_vec()),
        _ => None,
    };
    match name {
        b"" => variable(env, b"HOME").or_else(|| env.home_dir(None)),
        b"+" => variable(env, b"PWD"),
        b"-" => variable(env, b"OLDPWD"),
        b"0" | b"+0" => variable(env, b"PWD"),
        [b'-', digits @ ..] if is_number(digits) => env.dir_stack(number(digits)?, true),
        [b'+', digits @ ..] | digits if is_number(digits) => env.dir_stack(number(digits)?, false),
        user => env.home_dir(Some(user)),
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}
