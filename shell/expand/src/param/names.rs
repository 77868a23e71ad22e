//! `${#x}`, `${!prefix@}`, `${!a[@]}`.

use sh_syntax::ast::{Param, ParamName, Subscript};

use super::target::{ParamTarget, ParamValue, VarPart, unbound_error};
use super::{Result, chars};
use crate::attributed::str_of;
use crate::error::ExpandError;
use crate::parts::Expander;
use crate::split::Ifs;
use crate::subscript::{OwnedKey, value_element};
use crate::value::{Str, VarValue};

/// Expands `${#x}` in characters, `${#a[@]}` and `${#@}` in elements.
pub(super) fn expand_length(x: &mut Expander<'_>, param: &Param, quoted: bool) -> Result<bool> {
    let count = match count_elements(x, param)? {
        Some(count) => count,
        None => length_of_value(x, param)?,
    };
    x.append_value(str_of(count.to_string().into_bytes()), quoted)?;
    Ok(false)
}

fn length_of_value(x: &mut Expander<'_>, param: &Param) -> Result<usize> {
    let target = ParamTarget::from_param(x.env, param)?;
    if let ParamTarget::Variable { name, part: VarPart::Element(key) } = &target
        && param.subscript.is_some()
    {
        check_element(x, name, key)?;
        // Reading an element of no variable would warn about a negative subscript.
        if x.env.get(name).is_none() {
            let nounset = x.env.options().nounset;
            return if nounset { Err(unbound_error(param)) } else { Ok(0) };
        }
    }
    let options = x.env.options();
    let (nounset, utf8) = (options.nounset, !options.c_locale);
    Ok(match target.fetch_value(x.env)? {
        ParamValue::Scalar(Some(text)) => chars::char_count(&text, utf8),
        ParamValue::Scalar(None) if nounset && !is_array_element(x, &target) => {
            return Err(unbound_error(param));
        }
        ParamValue::Scalar(None) => 0,
        ParamValue::List { items, .. } => items.len(),
    })
}

/// Checks that a variable with a value can have the element. `${a[-9]}` only warns, but the length
/// of an element before the array's start is an error, as in bash.
fn check_element(x: &mut Expander<'_>, name: &[u8], key: &OwnedKey) -> Result<()> {
    let Some(value) = x.env.get(name) else { return Ok(()) };
    let is_empty_key = matches!(key, OwnedKey::Name(key) if key.is_empty());
    let is_possible = match value {
        VarValue::Assoc(_) => !is_empty_key,
        _ => value_element(&value, key).is_ok(),
    };
    if !is_possible {
        return Err(ExpandError::impossible_element(name));
    }
    Ok(())
}

/// Returns whether the target is a missing element of an array, whose length is 0 even under `set
/// -u`.
fn is_array_element(x: &mut Expander<'_>, target: &ParamTarget<'_>) -> bool {
    match target {
        ParamTarget::Variable { name, part: VarPart::Element(_) } => {
            matches!(x.env.get(name), Some(VarValue::Indexed(_) | VarValue::Assoc(_)))
        }
        _ => false,
    }
}

/// Counts an array without listing it.
fn count_elements(x: &mut Expander<'_>, param: &Param) -> Result<Option<usize>> {
    let name = match (&param.name, &param.subscript, param.indirect) {
        (ParamName::Special(b'@' | b'*'), None, false) => {
            return Ok(Some(x.env.positional().len()));
        }
        (ParamName::Variable(name), Some(Subscript::At | Subscript::Star), false) => name,
        _ => return Ok(None),
    };
    let (name, _) = x.env.resolve(name)?;
    Ok(Some(match x.env.get(&name) {
        // With `set -u`, bash counts only the elements of an array that was assigned to.
        None | Some(VarValue::Scalar(_)) if x.env.options().nounset => {
            return Err(ExpandError::unbound_variable(&name));
        }
        None => 0,
        Some(VarValue::Scalar(_)) => 1,
        Some(VarValue::Indexed(array)) => array.len(),
        Some(VarValue::Assoc(array)) => array.len(),
    }))
}

/// Expands `${!prefix@}` and `${!prefix*}` to names of variables.
pub(super) fn with_prefix(
    x: &mut Expander<'_>,
    param: &Param,
    at: bool,
    quoted: bool,
) -> Result<bool> {
    let ParamName::Variable(prefix) = &param.name else { return Ok(false) };
    let names = x.env.names_with_prefix(prefix).into_iter().map(str_of).collect();
    if at { x.append_list(names, false, quoted) } else { star_list(x, names, b"", quoted) }
}

/// Expands `${!a[@]}` and `${!a[*]}` to an array's keys.
pub(super) fn expand_keys(
    x: &mut Expander<'_>,
    param: &Param,
    at: bool,
    quoted: bool,
) -> Result<bool> {
    let ParamName::Variable(name) = &param.name else { return Ok(false) };
    let (name, _) = x.env.resolve(name)?;
    let keys: Vec<Str> = match x.env.get(&name) {
        None => Vec::new(),
        Some(VarValue::Scalar(_)) => vec![str_of(b"0".to_vec())],
        Some(VarValue::Indexed(array)) => {
            array.iter().map(|(i, _)| str_of(i.to_string().into_bytes())).collect()
        }
        Some(VarValue::Assoc(array)) => array.iter().map(|(key, _)| str_of(key.to_vec())).collect(),
    };
    if at { x.append_list(keys, false, quoted) } else { star_list(x, keys, b" ", quoted) }
}

/// Appends names or keys as a `*` list. If they are unquoted and `IFS` is null, so that nothing
/// separates them, they are one word in bash; Oils' cases for its bug 627 rely on this.
fn star_list(
    x: &mut Expander<'_>,
    items: Vec<Str>,
    separator: &[u8],
    quoted: bool,
) -> Result<bool> {
    if quoted || !Ifs::from_env(x.env).is_null() {
        return x.append_list(items, true, quoted);
    }
    let items: Vec<&[u8]> = items.iter().map(|item| item.as_slice()).collect();
    x.append_value(str_of(items.join(separator)), quoted).map(|()| false)
}
