//! `${x-word}`, `${x=word}`, `${x?word}`, `${x+word}`.

use sh_syntax::ast::{Param, ParamName, ParamOp, Word};

use super::target::{ParamTarget, ParamValue, VarPart};
use super::{Result, param_text};
use crate::env::ElementKey;
use crate::error::{ExpandCause, ExpandError};
use crate::parts::Expander;
use crate::tilde::Tilde;
use crate::value::{Attributes, Str};
use crate::word;

/// Expands the word that takes the parameter's place, and returns whether that was an `@` list
/// without elements; `None` if the parameter's own value is to be used.
pub(super) fn expand_default(
    x: &mut Expander<'_>,
    param: &Param,
    target: &ParamTarget<'_>,
    content: &ParamValue,
    quoted: bool,
) -> Result<Option<bool>> {
    let missing = |x: &mut Expander<'_>, colon: bool| content.is_missing(x.env, colon, quoted);
    match &param.op {
        ParamOp::Default { colon, word } if missing(x, *colon) => {
            x.expand_operand(&word.parts, quoted)?;
        }
        ParamOp::Alternate { colon, .. } if missing(x, *colon) => {
            // `"${@+x}"` without parameters makes no field, as `"$@"` would.
            let none =
                matches!(content, ParamValue::List { items, star: false } if items.is_empty());
            return Ok(Some(none));
        }
        ParamOp::Alternate { word, .. } => x.expand_operand(&word.parts, quoted)?,
        ParamOp::Error { colon, word } if missing(x, *colon) => {
            return Err(param_error(x, param, *colon, word, quoted)?);
        }
        ParamOp::Assign { colon, word } if missing(x, *colon) => {
            let value = assign_default(x, param, target, word, quoted)?;
            x.append_value(value, quoted)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(false))
}

/// Expands the word to one string, in the place of the operator.
fn default_text(x: &mut Expander<'_>, word: &Word, quoted: bool) -> Result<Str> {
    if quoted {
        word::quoted_text(x.env, &word.parts)
    } else {
        word::expand_text(x.env, word, Tilde::Start)
    }
}

/// Returns the error of `${x?word}`.
fn param_error(
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
        (false, _) => default_text(x, word, quoted)?.to_vec(),
    };
    Ok(ExpandCause::Missing { parameter: param_text(param), reason }.into())
}

/// Performs the assignment of `${x=word}` and returns the variable's new value, which attributes
/// may have changed.
fn assign_default(
    x: &mut Expander<'_>,
    param: &Param,
    target: &ParamTarget<'_>,
    word: &Word,
    quoted: bool,
) -> Result<Str> {
    let is_list = matches!(param.name, ParamName::Special(b'@' | b'*'));
    if is_list || !param.indirect && !matches!(param.name, ParamName::Variable(_)) {
        return Err(ExpandCause::NotAssignable(param_text(param)).into());
    }
    let value = default_text(x, word, quoted)?;
    match target {
        ParamTarget::Variable { name, part: VarPart::Whole } => x.env.set(name, value.clone())?,
        ParamTarget::Variable { name, part: VarPart::Element(key) } => {
            x.env.set_element(name, key.as_key(), value.clone()).map_err(|mut error| {
                if error.is_missing_element() && param.subscript.is_some() {
                    *error.cause = missing_element(param);
                }
                error
            })?;
        }
        ParamTarget::Variable { name, part: VarPart::All { star } }
            if x.env.attributes(name).intersects(Attributes::ASSOC) =>
        {
            // Here bash treats the subscript as a key.
            let key = if *star { b"*" } else { b"@" };
            x.env.set_element(name, ElementKey::Name(key), value.clone())?;
            return Ok(value);
        }
        ParamTarget::Variable { .. } => return Err(missing_element(param).into()),
        ParamTarget::Name(name) => x.env.set(name, value.clone())?,
        ParamTarget::Positional(_)
        | ParamTarget::Special(_)
        | ParamTarget::Nothing
        | ParamTarget::NoElements { .. } => {
            return Err(ExpandCause::InvalidIndirect(param_text(param)).into());
        }
    }
    match target.fetch_value(x.env)? {
        ParamValue::Scalar(Some(now)) => Ok(now),
        _ => Ok(value),
    }
}

/// Returns the cause for an element that cannot exist.
fn missing_element(param: &Param) -> ExpandCause {
    let array = Param { subscript: None, ..param.clone() };
    let subscript = param.subscript.as_ref().map(|sub| sub.text().to_vec());
    ExpandCause::BadSubscript { name: param_text(&array), subscript }
}
