//! Parameter expansion (POSIX XCU 2.6.2, bash manual 3.5.3).
//!
//! | step | file |
//! |---|---|
//! | finding the parameter, and its value or list of values | `target` |
//! | `${x-w}` and similar operators | `defaults` |
//! | `${#x}`, `${!prefix@}`, `${!a[@]}` | `names` |
//! | `${x:o:l}` | `substring` |
//! | `${x#p}`, `${x%p}`, `${x^p}` | `edit` |
//! | `${x/p/r}` | `replace` |
//! | `${x@op}` | `transform` |
//! | characters in byte strings | `chars` |

pub(crate) mod chars;
mod defaults;
pub(crate) mod edit;
mod names;
mod replace;
mod substring;
mod target;
mod transform;

use sh_syntax::ast::{Param, ParamName, ParamOp};

use crate::env::VarLookup;
use crate::error::{ExpandCause, ExpandError};
use crate::parts::Expander;
use crate::value::VarValue;
pub use target::push_subscript;
use target::{ParamTarget, ParamValue};

type Result<T> = std::result::Result<T, ExpandError>;

/// Returns the name, if the expansion is a plain `$name` or `${name}`.
pub(crate) fn plain_name(param: &Param) -> Option<&[u8]> {
    match param {
        Param {
            name: ParamName::Variable(name),
            subscript: None,
            indirect: false,
            op: ParamOp::Plain,
            ..
        } => Some(name),
        _ => None,
    }
}

/// Expands a parameter into the phrase under construction. Returns true if it was an `@` list
/// without elements, in which case `"$@"` alone makes no field.
pub(crate) fn expand_param(x: &mut Expander<'_>, param: &Param, quoted: bool) -> Result<bool> {
    if let Some(name) = plain_name(param) {
        match x.env.lookup(name) {
            VarLookup::Value(VarValue::Scalar(text)) => {
                return x.append_value(text, quoted).map(|()| false);
            }
            VarLookup::Unset if !x.env.options().nounset => return Ok(false),
            _ => {}
        }
    }
    match &param.op {
        ParamOp::Bad => return Err(ExpandCause::BadSubstitution(param.raw.to_vec()).into()),
        ParamOp::NamesWithPrefix { at } => return names::with_prefix(x, param, *at, quoted),
        ParamOp::Keys { at } => return names::expand_keys(x, param, *at, quoted),
        ParamOp::Length => return names::expand_length(x, param, quoted),
        _ => {}
    }
    let target = ParamTarget::from_param(x.env, param)?;
    let content = target.fetch_value(x.env)?;
    let content = match &param.op {
        ParamOp::Default { .. }
        | ParamOp::Assign { .. }
        | ParamOp::Alternate { .. }
        | ParamOp::Error { .. } => {
            match defaults::expand_default(x, param, &target, &content, quoted)? {
                Some(empty_list) => return Ok(empty_list),
                None => content,
            }
        }
        op => {
            let of_variable = matches!(op, ParamOp::Transform(b'a' | b'A'));
            if !(of_variable && target.is_declared(x.env)) {
                content.require_set(x.env, param)?;
            }
            if content.needs_no_operand(op) {
                content
            } else {
                apply_operator(x, param, &target, content)?
            }
        }
    };
    match content {
        ParamValue::Scalar(None) => Ok(false),
        ParamValue::Scalar(Some(text)) => x.append_value(text, quoted).map(|()| false),
        ParamValue::List { items, star } => x.append_list(items, star, quoted),
    }
}

/// Applies the operators that make a value from a value.
fn apply_operator(
    x: &mut Expander<'_>,
    param: &Param,
    target: &ParamTarget<'_>,
    content: ParamValue,
) -> Result<ParamValue> {
    let env = &mut *x.env;
    match &param.op {
        ParamOp::RemovePrefix { longest, pattern } => {
            edit::remove_prefix(env, content, pattern, *longest)
        }
        ParamOp::RemoveSuffix { longest, pattern } => {
            edit::remove_suffix(env, content, pattern, *longest)
        }
        ParamOp::Replace { kind, pattern, replacement } => {
            replace::replace_content(env, content, *kind, pattern, replacement.as_ref())
        }
        ParamOp::Case { kind, all, pattern } => {
            edit::edit_case(env, content, *kind, *all, pattern.as_ref())
        }
        ParamOp::Substring { offset, length } => {
            substring::Slice { param, target, offset, length: length.as_ref() }
                .take_slice(env, content)
        }
        ParamOp::Transform(op) => transform::transform_content(env, target, content, *op),
        ParamOp::UnknownTransform => Err(ExpandCause::UnknownTransform(param.raw.to_vec()).into()),
        _ => Ok(content),
    }
}

/// Returns the parameter as messages name it: `x`, `a[$i]`, `1`, `@`, `!x`.
fn param_text(param: &Param) -> Vec<u8> {
    let mut out = if param.indirect { vec![b'!'] } else { Vec::new() };
    out.extend_from_slice(&shown_directly(param));
    out
}

/// Returns the text of the parameter itself; for `${!x}`, that of the one that holds the name.
fn shown_directly(param: &Param) -> Vec<u8> {
    let mut out = match &param.name {
        ParamName::Variable(name) => name.to_vec(),
        ParamName::Positional(n) => n.to_string().into_bytes(),
        ParamName::Special(c) => vec![*c],
    };
    target::push_subscript(param.subscript.as_ref(), &mut out);
    out
}
