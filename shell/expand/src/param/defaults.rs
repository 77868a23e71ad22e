//! `${x-word}`, `${x=word}`, `${x?word}`, `${x+word}`.

use sh_syntax::ast::{Param, ParamName, ParamOp, Word};

use super::target::{Content, Part, Target};
use super::{Result, shown};
use crate::env::Key;
use crate::error::{Cause, ExpandError};
use crate::parts::Expander;
use crate::tilde::Tilde;
use crate::value::{Attributes, Str};
use crate::word;

/// Expands what takes the parameter's place, and says whether that was an `@` list without elements; `None` if the
/// parameter's own value is to be used.
pub(super) fn expand(
    x: &mut Expander<'_>,
    param: &Param,
    target: &Target<'_>,
    content: &Content,
    quoted: bool,
) -> Result<Option<bool>> {
    let missing = |x: &mut Expander<'_>, colon: bool| content.is_missing(x.env, colon, quoted);
    match &param.op {
        ParamOp::Default { colon, word } if missing(x, *colon) => {
            x.operand(&word.parts, quoted)?;
        }
        ParamOp::Alternate { colon, .. } if missing(x, *colon) => {
            // `"${@+x}"` without parameters makes no field, as `"$@"` would.
            let none = matches!(content, Content::List { items, star: false } if items.is_empty());
            return Ok(Some(none));
        }
        ParamOp::Alternate { word, .. } => x.operand(&word.parts, quoted)?,
        ParamOp::Error { colon, word } if missing(x, *colon) => {
            return Err(error(x, param, *colon, word, quoted)?);
        }
        ParamOp::Assign { colon, word } if missing(x, *colon) => {
            let value = assign(x, param, target, word, quoted)?;
            x.value(value, quoted)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(false))
}

/// The word as one string, in the place where the operator stands.
fn text(x: &mut Expander<'_>, word: &Word, quoted: bool) -> Result<Str> {
    match quoted {
        true => word::quoted_text(x.env, &word.parts),
        false => word::text(x.env, word, Tilde::Start),
    }
}

/// The error of `${x?word}`.
fn error(
    x: &mut Expander<'_>,
    param: &Param,
    colon: bool,
    word: &Word,
    quoted: bool,
) -> Result<ExpandError> {
    x.env.fails();
    let reason = match (word.parts.is_empty(), colon) {
        (true, true) => b"parameter null or not set".to_vec(),
        (true, false) => b"parameter not set".to_vec(),
        (false, _) => text(x, word, quoted)?.to_vec(),
    };
    Ok(Cause::Missing { parameter: shown(param), reason }.into())
}

/// Assigns for `${x=word}`; the variable's value afterwards (attributes may change it).
fn assign(
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
    let value = text(x, word, quoted)?;
    match target {
        Target::Variable { name, part: Part::Whole } => x.env.set(name, value.clone())?,
        Target::Variable { name, part: Part::Element(key) } => {
            x.env.set_element(name, key.as_key(), value.clone()).map_err(|mut error| {
                if error.is_missing_element() && param.subscript.is_some() {
                    *error.cause = missing_element(param);
                }
                error
            })?;
        }
        Target::Variable { name, part: Part::All { star } }
            if x.env.attributes(name).has(Attributes::ASSOC) =>
        {
            // Here bash takes it for a key.
            let key = if *star { b"*" } else { b"@" };
            x.env.set_element(name, Key::Name(key), value.clone())?;
            return Ok(value);
        }
        Target::Variable { .. } => return Err(missing_element(param).into()),
        Target::Name(name) => x.env.set(name, value.clone())?,
        Target::Positional(_)
        | Target::Special(_)
        | Target::Nothing
        | Target::NoElements { .. } => {
            return Err(Cause::InvalidIndirect(shown(param)).into());
        }
    }
    match target.fetch(x.env)? {
        Content::Scalar(Some(now)) => Ok(now),
        _ => Ok(value),
    }
}

/// The parameter as an element that cannot exist.
fn missing_element(param: &Param) -> Cause {
    let array = Param { subscript: None, ..param.clone() };
    let subscript = param.subscript.as_ref().map(|sub| sub.text().to_vec());
    Cause::BadSubscript { name: shown(&array), subscript }
}
