//! `${#x}`, `${!prefix@}`, `${!a[@]}`.

use sh_syntax::ast::{Param, ParamName, Subscript};

use super::target::{Content, Part, Target, join, unbound};
use super::{Result, chars, str_of};
use crate::error::{Asked, Cause, ExpandError};
use crate::fields::Mode;
use crate::lists;
use crate::split::Ifs;
use crate::subscript::OwnedKey;
use crate::value::{Str, Value};
use crate::word::Expander;

/// `${#x}` in characters, `${#a[@]}` and `${#@}` in elements.
pub(super) fn length(x: &mut Expander<'_>, param: &Param, quoted: bool) -> Result<bool> {
    let count = match count_elements(x, param)? {
        Some(count) => count,
        None => {
            if let (ParamName::Variable(name), Some(Subscript::Expr(_)), false) =
                (&param.name, &param.subscript, param.indirect)
                && let nounset = x.env.options().nounset
                && (matches!(x.env.lookup(name), crate::env::Lookup::Unset)
                    || nounset && matches!(x.env.get(name), None | Some(Value::Scalar(_))))
            {
                // The subscript is not looked at.
                if nounset {
                    return Err(ExpandError::unbound(name, Asked::Length));
                }
                x.number(str_of(b"0".to_vec()), quoted)?;
                return Ok(false);
            }
            let unquoted = x.naming(quoted);
            let target = Target::of(x.env, param, unquoted)?;
            refuse_bad_element(x, param, &target)?;
            let leads = leads_to_element(x, param);
            if leads && !x.env.options().nounset {
                // bash finds no variable of that name, unless it has to be there.
                x.number(str_of(b"0".to_vec()), quoted)?;
                return Ok(false);
            }
            let options = x.env.options();
            let (nounset, utf8) = (options.nounset, !options.c_locale);
            match target.fetch(x.env)? {
                Content::Scalar(None) if matches!(target, Target::Special(_)) => 0,
                Content::Scalar(None) if nounset && !leads && !is_array_element(x, &target) => {
                    return Err(match (&param.name, &target) {
                        (ParamName::Variable(name), Target::Variable { .. }) => {
                            ExpandError::unbound(name, Asked::Parameter)
                        }
                        _ => unbound(param),
                    });
                }
                Content::Scalar(None) => 0,
                Content::Scalar(Some(text)) => chars::char_count(&text, utf8),
                Content::List { items, .. } if leads => {
                    chars::char_count(&join(x.env, &items, false), utf8)
                }
                Content::List { items, .. } => items.len(),
            }
        }
    };
    x.number(str_of(count.to_string().into_bytes()), quoted)?;
    Ok(false)
}

/// An element that an array lacks: its length is 0 even under `set -u`.
fn is_array_element(x: &mut Expander<'_>, target: &Target<'_>) -> bool {
    match target {
        Target::Variable { name, part: Part::Element(_) } => {
            matches!(x.env.get(name), Some(Value::Indexed(_) | Value::Assoc(_)))
        }
        _ => false,
    }
}

/// Whether the parameter is a nameref to an element of an array.
pub(super) fn leads_to_element(x: &Expander<'_>, param: &Param) -> bool {
    match (&param.name, &param.subscript, param.indirect) {
        (ParamName::Variable(name), None, false) => {
            x.env.resolve(name).is_ok_and(|(_, subscript)| subscript.is_some())
        }
        _ => false,
    }
}

/// `${#a[-9]}` and `${#m[$unset]}`: the error shows the text from the subscript on.
fn refuse_bad_element(x: &mut Expander<'_>, param: &Param, target: &Target<'_>) -> Result<()> {
    let Target::Variable { name, part: Part::Element(key) } = target else { return Ok(()) };
    let bad = match (key, x.env.get(name)) {
        (OwnedKey::Name(key), _) => key.is_empty() && x.env.attributes(name).assoc,
        (OwnedKey::Index(index), Some(Value::Indexed(array))) => array.resolve(*index).is_none(),
        (OwnedKey::Index(index), Some(Value::Scalar(_))) => *index < 0,
        _ => false,
    };
    match &param.subscript {
        Some(Subscript::Expr(e)) if bad => Err(Cause::LengthOfNothing(e.word.raw.to_vec()).into()),
        _ => Ok(()),
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
    let (resolved, through) = x.env.resolve(name)?;
    if through.is_some() {
        return match x.env.options().nounset {
            true => Err(ExpandError::unbound(name, Asked::Length)),
            false => Ok(Some(0)),
        };
    }
    let name = resolved;
    Ok(Some(match x.env.get(&name) {
        // To bash only an array that was assigned to has elements to count.
        None | Some(Value::Scalar(_)) if x.env.options().nounset => {
            return Err(ExpandError::unbound(&name, Asked::Length));
        }
        None => 0,
        Some(Value::Scalar(_)) => 1,
        Some(Value::Indexed(array)) => array.len(),
        Some(Value::Assoc(array)) => array.len(),
    }))
}

pub(super) fn with_prefix(
    x: &mut Expander<'_>,
    param: &Param,
    at: bool,
    quoted: bool,
) -> Result<bool> {
    let ParamName::Variable(prefix) = &param.name else { return Ok(false) };
    let names: Vec<Str> = match &param.subscript {
        None => x.env.names_with_prefix(prefix).into_iter().map(str_of).collect(),
        // `${!a[1]@}`: no name begins so.
        Some(_) => Vec::new(),
    };
    if !at && !quoted && x.fields.mode != Mode::HereDoc && Ifs::of(x.env).is_null() {
        // Found by experiment: without IFS bash has one word of them.
        return one_word(x, &names, b"");
    }
    if !at && x.in_heredoc {
        return lists::in_heredoc(x, names, false, false);
    }
    let star = lists::is_star(x, !at, quoted);
    if !at && !star {
        // Beside an `@` list bash joins them and takes the text apart, names and all.
        x.load_ifs();
        let separator = x.fields.ifs().map(|ifs| ifs.separator().to_vec()).unwrap_or_default();
        let names: Vec<&[u8]> = names.iter().map(|name| name.as_slice()).collect();
        x.fields.part(&names.join(separator.as_slice()));
        return Ok(false);
    }
    let joint = lists::joint(lists::assigned_mode(x), star, false, quoted, true);
    x.list(names, joint, quoted, star)
}

pub(super) fn keys(x: &mut Expander<'_>, param: &Param, at: bool, quoted: bool) -> Result<bool> {
    let ParamName::Variable(name) = &param.name else { return Ok(false) };
    let (name, through) = x.env.resolve(name)?;
    let keys: Vec<Str> = match x.env.get(&name) {
        _ if through.is_some() => Vec::new(),
        None => Vec::new(),
        Some(Value::Scalar(_)) => vec![str_of(b"0".to_vec())],
        Some(Value::Indexed(array)) => {
            array.iter().map(|(i, _)| str_of(i.to_string().into_bytes())).collect()
        }
        Some(Value::Assoc(array)) => array.iter().map(|(key, _)| str_of(key.to_vec())).collect(),
    };
    if !at && !quoted && x.fields.mode == Mode::Split && Ifs::of(x.env).is_null() {
        return one_word(x, &keys, b" ");
    }
    if !at && x.in_heredoc {
        return lists::in_heredoc(x, keys, true, true);
    }
    // Found by experiment: in a here-document by spaces.
    let star = lists::is_star(x, !at, quoted) && x.fields.mode != Mode::HereDoc;
    let joint = lists::joint(lists::assigned_mode(x), star, false, quoted, false);
    x.list(keys, joint, quoted, false)
}

fn one_word(x: &mut Expander<'_>, items: &[Str], separator: &[u8]) -> Result<bool> {
    let parts: Vec<&[u8]> = items.iter().map(|item| item.as_slice()).collect();
    x.value(str_of(parts.join(separator)), false)?;
    Ok(false)
}
