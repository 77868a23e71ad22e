//! Where bash finds the end of `$((...))` as it expands it: the word is looked through once more,
//! comments included, and if the end is lost there the command fails with a message of its own.

use super::table::{NAME, is};
use crate::ast::WordPart;
use crate::error::Cause;
use std::rc::Rc;

/// What bash misses in `$((...` spelled so, if it finds no end of it.
pub(crate) fn lost(spelled: &[u8]) -> Option<u8> {
    let text = spelled.get(3..)?;
    let mut at = 0;
    let mut open = 2usize;
    let mut comments = false;
    while let Some(&c) = text.get(at) {
        at += 1;
        match c {
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            b'\\' => at += 1,
            b'\'' | b'`' => at = after(text, at, c),
            b'"' => {
                let end = after(text, at, b'"');
                if opens_brace(text, at, end) {
                    return Some(b'}');
                }
                at = end;
            }
            // What is in there is looked through by itself.
            b'$' if matches!(text.get(at), Some(b'{' | b'(')) => return None,
            b'#' if matches!(text.get(..at - 1)?.last(), Some(b' ' | b'\t' | b'\n')) => {
                let newline = text[at..].iter().position(|b| *b == b'\n');
                match newline {
                    Some(n) => at += n,
                    None => return Some(b')'),
                }
                comments = true;
            }
            _ => {}
        }
    }
    (comments && open > 0).then_some(b')')
}

/// The part that says that bash finds no end of `${...`; the word is to be added.
pub(crate) fn no_brace() -> WordPart {
    super::command_sub::no_closing(b'}', b"")
}

/// Behind the next `quote` that has no backslash before it.
fn after(text: &[u8], mut at: usize, quote: u8) -> usize {
    while let Some(&c) = text.get(at) {
        at += 1;
        match c {
            b'\\' if quote != b'\'' => at += 1,
            c if c == quote => break,
            _ => {}
        }
    }
    at
}

/// Whether the quoted text has a `${name[` without a bracket to close it further on.
fn opens_brace(text: &[u8], start: usize, end: usize) -> bool {
    let inside = text.get(start..end.min(text.len())).unwrap_or_default();
    if memchr::memmem::find(inside, b"$(").is_some() || inside.contains(&b'`') {
        return false;
    }
    let mut openers = inside.windows(2).enumerate().filter(|(_, two)| *two == b"${");
    openers.any(|(at, _)| {
        if inside.get(..at).is_some_and(|before| before.ends_with(b"\\")) {
            return false;
        }
        let rest = &text[start + at + 2..];
        let rest = rest.strip_prefix(b"!").unwrap_or(rest);
        let name = rest.iter().take_while(|b| is(**b, NAME)).count();
        let name = if name == 0 && matches!(rest.first(), Some(b'@' | b'*')) { 1 } else { name };
        name > 0 && rest.get(name) == Some(&b'[') && !rest.contains(&b']')
    })
}

/// Has the first of those messages show the word; the others are never reached. True if there is one.
pub(crate) fn name_lost(parts: &mut [WordPart], word: &[u8]) -> bool {
    parts.iter_mut().any(|part| match part {
        WordPart::DoubleQuoted(parts) => name_lost(parts, word),
        WordPart::CommandSub(sub) => match sub.error.as_deref().map(|e| &e.cause) {
            Some(Cause::NoClosing { close: b'}' | b')', text }) if text.is_empty() => {
                if let Some(error) = Rc::make_mut(sub).error.as_deref_mut()
                    && let Cause::NoClosing { text, .. } = &mut error.cause
                {
                    *text = word.into();
                }
                true
            }
            _ => false,
        },
        _ => false,
    })
}
