//! `${x#p}`, `${x%p}`, `${x^p}` and similar operators.

use sh_syntax::ast::{CaseKind, Word};

use super::target::ParamValue;
use super::{Result, chars};
use crate::attributed::str_of;
use crate::env::ExpandEnv;
use crate::pattern::{case_pattern, operator_pattern};
use crate::value::Str;
use box_text::glob::GlobPattern;

/// Removes a matching prefix from each value.
pub(super) fn remove_prefix(
    env: &mut dyn ExpandEnv,
    content: ParamValue,
    word: &Word,
    longest: bool,
) -> Result<ParamValue> {
    let find = if longest { GlobPattern::longest_prefix } else { GlobPattern::shortest_prefix };
    let pattern = operator_pattern(env, word)?;
    content
        .map_values(|text| Ok(kept_text(text, |text| find(&pattern, text).map(|end| &text[end..]))))
}

/// Removes a matching suffix from each value.
pub(super) fn remove_suffix(
    env: &mut dyn ExpandEnv,
    content: ParamValue,
    word: &Word,
    longest: bool,
) -> Result<ParamValue> {
    let find = if longest { GlobPattern::longest_suffix } else { GlobPattern::shortest_suffix };
    let pattern = operator_pattern(env, word)?;
    content.map_values(|text| {
        Ok(kept_text(text, |text| find(&pattern, text).map(|start| &text[..start])))
    })
}

/// Returns the rest of a value, or the value itself, shared, if nothing was removed.
fn kept_text(text: Str, rest: impl Fn(&[u8]) -> Option<&[u8]>) -> Str {
    match rest(&text) {
        Some(rest) if rest.len() < text.len() => str_of(rest.to_vec()),
        _ => text,
    }
}

/// Changes the case of the first or of all characters that match.
pub(super) fn edit_case(
    env: &mut dyn ExpandEnv,
    content: ParamValue,
    kind: CaseKind,
    all: bool,
    word: Option<&Word>,
) -> Result<ParamValue> {
    let pattern = match word {
        Some(word) => case_pattern(env, word)?,
        None => None,
    };
    let utf8 = !env.options().c_locale;
    content.map_values(|text| {
        let matches = |c: &[u8]| pattern.as_ref().is_none_or(|p| p.is_match(c));
        Ok(change_case(&text, kind, all, utf8, matches))
    })
}

/// Returns the text converted to the case `rest`, and its first character to `first` if given
/// (`declare -l`, `-u`, `-c`).
pub fn in_case(text: &[u8], first: Option<CaseKind>, rest: CaseKind, utf8: bool) -> Str {
    let changed = change_case(text, rest, true, utf8, |_| true);
    match first {
        Some(first) => change_case(&changed, first, false, utf8, |_| true),
        None => changed,
    }
}

/// Changes the case of characters; letters whose other case is not one character stay.
pub(super) fn change_case(
    text: &[u8],
    kind: CaseKind,
    all: bool,
    utf8: bool,
    matches: impl Fn(&[u8]) -> bool,
) -> Str {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (c, tail) = rest.split_at(chars::first_width(rest, utf8));
        if matches(c) {
            push_changed(c, kind, &mut out);
        } else {
            out.extend_from_slice(c);
        }
        rest = tail;
        if !all {
            out.extend_from_slice(rest);
            break;
        }
    }
    str_of(out)
}

fn push_changed(bytes: &[u8], kind: CaseKind, out: &mut Vec<u8>) {
    if let [byte] = bytes
        && byte.is_ascii()
    {
        out.push(match kind {
            CaseKind::Upper => byte.to_ascii_uppercase(),
            CaseKind::Lower => byte.to_ascii_lowercase(),
            CaseKind::Toggle if byte.is_ascii_uppercase() => byte.to_ascii_lowercase(),
            CaseKind::Toggle => byte.to_ascii_uppercase(),
        });
        return;
    }
    let Some(c) = std::str::from_utf8(bytes).ok().and_then(|s| s.chars().next()) else {
        out.extend_from_slice(bytes);
        return;
    };
    let upper = match kind {
        CaseKind::Upper => true,
        CaseKind::Lower => false,
        CaseKind::Toggle => !c.is_uppercase(),
    };
    let changed = if upper {
        single_char(c.to_uppercase())
    } else if c == '\u{130}' {
        // This is the only letter whose lower case is a character and a combining mark.
        Some('i')
    } else {
        single_char(c.to_lowercase())
    };
    out.extend_from_slice(changed.unwrap_or(c).encode_utf8(&mut [0; 4]).as_bytes());
}

fn single_char(mut chars: impl Iterator<Item = char>) -> Option<char> {
    match (chars.next(), chars.next()) {
        (Some(c), None) => Some(c),
        _ => None,
    }
}
