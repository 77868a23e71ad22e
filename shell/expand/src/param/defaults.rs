//! `${x-word}`, `${x=word}`, `${x?word}`, `${x+word}`.

use sh_syntax::ast::{Param, ParamName, Word, WordPart};
use sh_syntax::parse::ParseOptions;

use super::target::{Part, Target};
use super::{Result, shown};
use crate::env::Key;
use crate::error::{Cause, ExpandError, Site};
use crate::fields::Mode;
use crate::lists;
use crate::subscript::OwnedKey;

use crate::value::Str;
use crate::word::{Expander, Tilde, default_text};

/// Adds the word in place of the parameter, part by part: it is split as the expansion is.
pub(super) fn word(x: &mut Expander<'_>, word: &Word, quoted: bool) -> Result<bool> {
    let outer = std::mem::replace(&mut x.in_operand, true);
    if quoted {
        let before = x.fields.mark();
        // Only a here-document asks whether this is an operand.
        x.in_operand = outer || x.in_heredoc;
        let result = match splits_quoted(x, word) {
            true => split_quoted(x, word),
            false => x.parts(&word.parts, true),
        };
        x.in_operand = outer;
        let added = x.fields.mark() != before;
        if lists::count_lists(x.env, &word.parts) > 0 && !(added && x.fields.rejoin()) {
            // Unlike the list itself: `"${x-$@}"` is a field.
            x.fields.start();
        }
        return result.map(|()| false);
    }
    let result = match x.fields.mode {
        Mode::Split => match lists_of(x, word) {
            Lists::None => unquoted_word(x, word),
            lists => word_of_lists(x, word, lists),
        },
        _ => unquoted_word(x, word),
    };
    x.in_operand = outer;
    result.map(|()| false)
}

/// The characters that bash looks at for tildes, and does not quote then.
const TILDE_MARKS: &[u8] = b":=~";

/// Whether literal text of the word of `"${x-word}"` is split: beside an `@` list, at those
/// characters if they are in `IFS`.
fn splits_quoted(x: &mut Expander<'_>, word: &Word) -> bool {
    if x.beside_lists == 0
        || x.in_heredoc
        || x.fields.mode != Mode::Split
        || !word.raw.iter().any(|byte| TILDE_MARKS.contains(byte))
    {
        return false;
    }
    x.load_ifs();
    x.fields.ifs().is_some_and(|ifs| ifs.ordinary_run(TILDE_MARKS) < TILDE_MARKS.len())
}

/// The fields of that word: the first goes on with what stands before, the last with what follows.
fn split_quoted(x: &mut Expander<'_>, word: &Word) -> Result<()> {
    let mut inner = Expander::new(x.env, Mode::Split);
    inner.beside_lists = x.beside_lists;
    inner.quotes_lists = x.quotes_lists;
    inner.splits_quoted = true;
    inner.load_ifs();
    inner.parts(&word.parts, true)?;
    let parted = inner.fields.has_ended();
    for (at, field) in inner.fields.finish().into_iter().enumerate() {
        if at > 0 {
            x.fields.end_field();
        }
        x.fields.append(&field);
        x.fields.start();
    }
    if parted {
        x.fields.end_parted();
    }
    Ok(())
}

/// Text of it.
pub(crate) fn split_at_marks(x: &mut Expander<'_>, text: &[u8]) {
    let is_mark = |byte: &u8| TILDE_MARKS.contains(byte);
    for piece in text.chunk_by(|a, b| !is_mark(a) && !is_mark(b)) {
        match piece {
            [mark]
                if is_mark(mark)
                    && x.fields.ifs().is_some_and(|ifs| ifs.ordinary_run(piece) == 0) =>
            {
                x.fields.push_split(piece);
            }
            piece => x.fields.push_quoted(piece),
        }
    }
}

/// The `@` lists of the word of an operator, for which bash makes fields of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lists {
    /// None, or only such that splitting has the same effect here.
    None,
    /// Only unquoted ones: the fields are joined by spaces.
    Bare,
    /// A quoted one in a nested operand: they stay fields if that is made of several.
    Nested,
    /// A quoted one, too: they stay fields.
    Quoted,
}

fn lists_of(x: &mut Expander<'_>, word: &Word) -> Lists {
    let quoted = lists::has_quoted_list(x.env, &word.parts);
    if !quoted && !lists::has_bare_list(x.env, &word.parts) {
        return Lists::None;
    }
    x.load_ifs();
    if quoted && lists::has_splitting_list(x.env, &word.parts, false) {
        return Lists::Quoted;
    }
    match x.fields.ifs() {
        Some(ifs) if !ifs.is_null() && ifs.separator() != b" " => match quoted {
            true => Lists::Nested,
            false => Lists::Bare,
        },
        _ => Lists::None,
    }
}

/// A word with such lists as fields of its own.
fn word_of_lists(x: &mut Expander<'_>, word: &Word, lists: Lists) -> Result<()> {
    let mut inner = Expander::new(x.env, Mode::Split);
    inner.in_operand = true;
    inner.beside_quoted_list = lists == Lists::Quoted;
    inner.colons = x.colons;
    unquoted_word(&mut inner, word)?;
    let stay = lists == Lists::Quoted || lists == Lists::Nested && inner.made_fields;
    let parted = lists == Lists::Nested && inner.fields.has_ended();
    let fields = inner.fields.finish();
    x.made_fields |= stay && fields.len() > 1;
    for (at, field) in fields.into_iter().enumerate() {
        match stay {
            _ if at == 0 => {}
            true => x.fields.end_field(),
            false => x.fields.push_split(b" "),
        }
        x.fields.append(&field);
        x.fields.start();
    }
    if parted {
        x.fields.end_parted();
    }
    Ok(())
}

/// Literal text in the word is the result of an expansion now: it is split.
fn unquoted_word(x: &mut Expander<'_>, word: &Word) -> Result<()> {
    let last = word.parts.len().wrapping_sub(1);
    for (at, part) in word.parts.iter().enumerate() {
        match part {
            WordPart::Literal(text) if x.colons && text.contains(&b'~') => {
                crate::tilde::expand(x, text, true, at == 0, at == last);
            }
            WordPart::Literal(text) if at == 0 && text.first() == Some(&b'~') => {
                tilde_then_split(x, text, at == last)?
            }
            WordPart::Literal(text) => split(x, text),
            part => x.parts(std::slice::from_ref(part), false)?,
        }
    }
    Ok(())
}

fn split(x: &mut Expander<'_>, text: &[u8]) {
    x.load_ifs();
    x.fields.push_split(text);
}

/// `${x-~/a b}`: the tilde's value is not split, what follows is. Only a slash ends the prefix, so
/// that `${x-~ a}` has none; what follows a colon in it is not split either.
fn tilde_then_split(x: &mut Expander<'_>, text: &[u8], last: bool) -> Result<()> {
    let end = text.iter().position(|b| *b == b'/').unwrap_or(text.len());
    let prefix = &text[..end];
    let name = prefix.split(|b| *b == b':').next().unwrap_or(prefix);
    match crate::tilde::resolve(x.env, &name[1..]).filter(|_| last || end < text.len()) {
        Some(home) => {
            x.fields.push_quoted(&home);
            x.fields.push_quoted(&prefix[name.len()..]);
            split(x, &text[end..]);
        }
        None => split(x, text),
    }
    Ok(())
}

/// The error of `${x?word}`.
pub(super) fn error(
    x: &mut Expander<'_>,
    param: &Param,
    colon: bool,
    word: &Word,
) -> Result<ExpandError> {
    let name = shown(param);
    // The words it makes, quoted or not, joined by spaces.
    let options = ParseOptions { first_line: x.env.line(), ..ParseOptions::default() };
    let unquoted = sh_syntax::parse::parse_word(&word.raw, &options);
    x.env.fails();
    let mut inner = Expander::new(x.env, Mode::Split);
    inner.load_ifs();
    inner.word(&unquoted.as_ref().unwrap_or(word).parts, Tilde::Start)?;
    let fields: Vec<Str> =
        inner.fields.finish().into_iter().map(|field| field.into_text()).collect();
    let fields: Vec<&[u8]> = fields.iter().map(|field| field.as_slice()).collect();
    let text = fields.join(&b' ');
    let reason: &[u8] = match (word.parts.is_empty(), colon) {
        (true, true) => b"parameter null or not set",
        (true, false) => b"parameter not set",
        (false, _) => &text,
    };
    Ok(Cause::Missing { parameter: name, reason: reason.to_vec() }.into())
}

/// Assigns for `${x=word}`; the variable's value afterwards (attributes may change it).
pub(super) fn assign(
    x: &mut Expander<'_>,
    param: &Param,
    target: &Target<'_>,
    word: &Word,
    quoted: bool,
) -> Result<Str> {
    let is_list = matches!(param.name, ParamName::Special(b'@' | b'*'));
    if is_list || !param.indirect && !matches!(param.name, ParamName::Variable(_)) {
        return Err(Cause::NotAssignable(shown(param)).into());
    }
    let heredoc = x.fields.mode == Mode::HereDoc || x.in_heredoc;
    let mode = if heredoc { Mode::HereDoc } else { Mode::Assign };
    let value = default_text(x.env, word, quoted.then_some(mode))?;
    // IFS itself may be what is assigned.
    if x.fields.mode == Mode::Split {
        x.fields.forget_ifs();
    }
    if param.indirect
        && let Some(name) = unassignable(target)
    {
        return Err(Cause::InvalidName(name).into());
    }
    match target {
        Target::Variable { name, part: Part::Whole } => {
            x.env.set(name, value.clone()).map_err(|e| e.at(Site::Default))?
        }
        Target::Variable { name, part: Part::Element(key) } => {
            x.env.set_element(name, key.as_key(), value.clone()).map_err(|mut error| {
                if error.is_missing_element() && param.subscript.is_some() {
                    *error.cause = missing_element(param);
                }
                error.at(Site::Default)
            })?;
        }
        Target::Variable { name, part: Part::All { star } } if x.env.attributes(name).assoc => {
            // Here bash takes it for a key.
            let key = if *star { b"*" } else { b"@" };
            x.env.set_element(name, Key::Name(key), value.clone())?;
            return Ok(value);
        }
        Target::Variable { .. } | Target::NoList { .. } => {
            return Err(missing_element(param).into());
        }
        Target::Text(name) => x.env.set(name, value.clone()).map_err(|e| e.at(Site::Default))?,
        Target::Positional(_) | Target::Special(_) | Target::Nothing => {
            return Err(Cause::InvalidIndirect(shown(param)).into());
        }
    }
    match target.fetch(x.env)? {
        super::target::Content::Scalar(Some(now)) => Ok(now),
        _ => Ok(value),
    }
}

/// The parameter as an element that cannot exist.
fn missing_element(param: &Param) -> Cause {
    let array = Param { subscript: None, ..param.clone() };
    let subscript = param.subscript.as_ref().map(|sub| sub.text().to_vec());
    Cause::BadSubscript { name: shown(&array), subscript }
}

/// What bash assigns nothing to through `${!ref=w}`, where it takes plain variables only.
fn unassignable(target: &Target<'_>) -> Option<Vec<u8>> {
    let (name, subscript) = match target {
        Target::Variable { name, part: Part::Element(OwnedKey::Index(index)) } => {
            (name, index.to_string().into_bytes())
        }
        Target::Variable { name, part: Part::Element(OwnedKey::Name(key)) } => (name, key.clone()),
        Target::Variable { name, part: Part::All { star: false } } => (name, b"@".to_vec()),
        Target::Variable { name, part: Part::All { star: true } } => (name, b"*".to_vec()),
        Target::Positional(n) => return Some(n.to_string().into_bytes()),
        Target::Special(c) => return Some(vec![*c]),
        _ => return None,
    };
    Some([name, b"[".as_slice(), &subscript, b"]"].concat())
}
