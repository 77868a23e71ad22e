//! Subscripts: resolving `a[...]` to an element.

use sh_syntax::ast::{Subscript, Word};
use sh_syntax::parse::{ParseOptions, parse_arith, parse_subscript};

use sh_syntax::error::SyntaxError;

use crate::arith;
use crate::env::{ElementKey, ExpandEnv};
use crate::error::{ExpandCause, ExpandError};
use crate::tilde::Tilde;
use crate::value::{Attributes, VarValue};
use crate::word;

/// A subscript after expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnedKey {
    /// The subscript of an indexed array; negative ones are not resolved yet.
    Index(i64),
    /// The key of an associative array.
    Name(Vec<u8>),
}

impl OwnedKey {
    /// Returns the borrowed form that [`ExpandEnv`] takes.
    pub fn as_key(&self) -> ElementKey<'_> {
        match self {
            OwnedKey::Index(index) => ElementKey::Index(*index),
            OwnedKey::Name(name) => ElementKey::Name(name),
        }
    }
}

/// Returns whether `name` (already resolved) is an associative array.
pub(crate) fn is_assoc(env: &mut dyn ExpandEnv, name: &[u8]) -> bool {
    env.attributes(name).intersects(Attributes::ASSOC)
}

/// Returns the element that a subscript of the array `name` (a base name) means: an arithmetic
/// value, or for an associative array the text after expansion.
///
/// # Errors
/// Returns the errors of the expansion, and `name[sub]: bad array subscript` for `@`, `*` on an
/// indexed array.
pub fn subscript_key(
    env: &mut dyn ExpandEnv,
    name: &[u8],
    subscript: &Subscript,
) -> Result<OwnedKey, ExpandError> {
    let assoc = is_assoc(env, name);
    match subscript {
        Subscript::At if assoc => Ok(OwnedKey::Name(b"@".to_vec())),
        Subscript::Star if assoc => Ok(OwnedKey::Name(b"*".to_vec())),
        Subscript::At => Err(ExpandError::bad_subscript(name, b"@")),
        Subscript::Star => Err(ExpandError::bad_subscript(name, b"*")),
        Subscript::Expr(expr) if assoc => {
            let text = word::expand_text(env, &expr.word, Tilde::Never);
            Ok(OwnedKey::Name(text?.to_vec()))
        }
        Subscript::Expr(expr) if expr.word.raw.is_empty() => {
            Err(ExpandError::bad_subscript(name, b""))
        }
        Subscript::Expr(expr) if expr.word.raw.iter().any(|b| matches!(b, b'\'' | b'\\')) => {
            // An index is expanded as if within double quotes, so that single quotes stay.
            let index =
                parse_arith(&expr.word.raw, &ParseOptions::default()).map_err(unread_error)?;
            Ok(OwnedKey::Index(arith::eval_arith(env, &index)?))
        }
        Subscript::Expr(expr) => Ok(OwnedKey::Index(arith::eval_arith(env, expr)?)),
    }
}

/// Returns the text of a subscript in `name=([key]=value)`: quotes are removed from indexes, too.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_key(env: &mut dyn ExpandEnv, word: &Word) -> Result<crate::value::Str, ExpandError> {
    word::expand_text(env, word, Tilde::Never)
}

/// Returns the expanded text of a subscript, before its meaning is known.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn subscript_text(
    env: &mut dyn ExpandEnv,
    subscript: &Subscript,
) -> Result<crate::value::Str, ExpandError> {
    match subscript {
        Subscript::Expr(expr) => expand_key(env, &expr.word),
        Subscript::At | Subscript::Star => Ok(std::rc::Rc::new(subscript.text().to_vec())),
    }
}

/// Returns the index that the expanded text of a subscript means; bash expands the text again.
///
/// # Errors
/// The same as [`subscript_key`].
pub fn element_index(env: &mut dyn ExpandEnv, text: &[u8]) -> Result<i64, ExpandError> {
    if let Some(index) = arith::plain_integer(text) {
        return Ok(index);
    }
    let index = parse_arith(text, &ParseOptions::default()).map_err(unread_error)?;
    arith::eval_arith(env, &index)
}

fn unread_error(e: SyntaxError) -> ExpandError {
    ExpandCause::Syntax(e.cause.message()).into()
}

/// Returns whether the last byte of a reference closes its first bracket; true if there is no
/// bracket.
pub(crate) fn closes_at_end(text: &[u8]) -> bool {
    let Some(at) = text.iter().position(|b| *b == b'[') else { return true };
    let inside = &text[at + 1..];
    arith::closing_bracket(inside).is_some_and(|end| end + 1 == inside.len())
}

/// Returns the key as [`subscript_key`] does, for a subscript that is only known as text at run
/// time (`unset 'a[i]'`, namerefs).
pub fn subscript_text_key(
    env: &mut dyn ExpandEnv,
    name: &[u8],
    text: &[u8],
) -> Result<OwnedKey, ExpandError> {
    if is_assoc(env, name) {
        if !needs_expansion(text) {
            return Ok(OwnedKey::Name(text.to_vec()));
        }
    } else if let Some(index) = arith::plain_integer(text) {
        return Ok(OwnedKey::Index(index));
    }
    let subscript = subscript_from_text(name, text)?;
    subscript_key(env, name, &subscript)
}

/// Returns whether expansion could change a text that is used as a key.
pub(crate) fn needs_expansion(text: &[u8]) -> bool {
    text.iter().any(|b| matches!(b, b'$' | b'`' | b'\\' | b'"' | b'\''))
}

pub(crate) fn subscript_from_text(name: &[u8], text: &[u8]) -> Result<Subscript, ExpandError> {
    parse_subscript(text, &ParseOptions::default())
        .map_err(|_| ExpandError::bad_subscript(name, text))
}

/// Returns the element of a value that a key refers to; a scalar counts as an array of one element.
///
/// # Errors
/// `name: bad array subscript` for a negative subscript before the array's start.
pub(crate) fn value_element(
    value: &VarValue,
    key: &OwnedKey,
) -> Result<Option<crate::value::Str>, NoSuchPlace> {
    match (value, key) {
        (VarValue::Indexed(array), OwnedKey::Index(index)) => {
            let index = array.resolve(*index).ok_or(NoSuchPlace)?;
            Ok(array.get(index).cloned())
        }
        (VarValue::Assoc(array), OwnedKey::Name(name)) => Ok(array.get(name).cloned()),
        (VarValue::Assoc(array), OwnedKey::Index(index)) => {
            Ok(array.get(index.to_string().as_bytes()).cloned())
        }
        (VarValue::Scalar(text), OwnedKey::Index(0)) => Ok(Some(text.clone())),
        (VarValue::Scalar(_), OwnedKey::Index(index)) if *index < 0 => Err(NoSuchPlace),
        (VarValue::Scalar(_) | VarValue::Indexed(_), _) => Ok(None),
    }
}

/// The error for a negative subscript that lies before the array.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSuchPlace;
