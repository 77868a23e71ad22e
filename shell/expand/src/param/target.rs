//! The parameter that an expansion refers to, through indirection and namerefs, and its value.

use std::borrow::Cow;

use sh_syntax::ast::{Param, ParamName, ParamOp, Subscript};
use sh_syntax::parse::{ParseOptions, parse_parameter};

use super::{Result, param_text, shown_directly};
use crate::env::ExpandEnv;
use crate::error::{ExpandCause, ExpandError};
use crate::parts::join_items;
use crate::subscript::{self, OwnedKey};
use crate::value::{Attributes, Str, VarValue};

/// A resolved parameter.
#[derive(Debug)]
pub(super) enum ParamTarget<'p> {
    /// A variable, after namerefs were followed.
    Variable {
        name: Cow<'p, [u8]>,
        part: VarPart,
    },
    Positional(u32),
    Special(u8),
    /// `${!ref}` of a nameref: the value is the name that it refers to.
    Name(Str),
    /// A target that is always unset: `${!x}` where `x` is declared without a value, `${ref[0]}` of
    /// a nameref to an element.
    Nothing,
    /// `${ref[@]}` of a nameref to an element, or to all elements. The value is a list without
    /// elements.
    NoElements {
        star: bool,
    },
}

/// The selected part of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum VarPart {
    /// The scalar, or element 0 of an array.
    Whole,
    /// `[@]`, `[*]`
    All {
        star: bool,
    },
    Element(OwnedKey),
}

/// A parameter's value.
#[derive(Clone, Debug)]
pub(super) enum ParamValue {
    Scalar(Option<Str>),
    /// `$@`, `$*`, `${a[@]}`, `${a[*]}`.
    List {
        items: Vec<Str>,
        star: bool,
    },
}

impl<'p> ParamTarget<'p> {
    /// Follows `${!x}` to the parameter that it refers to.
    pub(super) fn from_param(env: &mut dyn ExpandEnv, param: &'p Param) -> Result<ParamTarget<'p>> {
        if !param.indirect {
            return ParamTarget::from_name(env, &param.name, param.subscript.as_ref());
        }
        if let (ParamName::Variable(name), None) = (&param.name, &param.subscript)
            && let Some(referenced) = env.nameref(name)
        {
            return Ok(ParamTarget::Name(referenced));
        }
        let text = match ParamTarget::from_name(env, &param.name, param.subscript.as_ref())?
            .fetch_value(env)?
        {
            ParamValue::Scalar(Some(text)) => text,
            ParamValue::List { items, star } if !items.is_empty() => join_items(env, &items, star),
            _ => {
                let known = match &param.name {
                    ParamName::Variable(name) => {
                        env.is_declared(name)
                            && !env.attributes(name).intersects(Attributes::NAMEREF)
                    }
                    _ => true,
                };
                return if known {
                    Ok(ParamTarget::Nothing)
                } else {
                    Err(ExpandCause::InvalidIndirect(shown_directly(param)).into())
                };
            }
        };
        let parsed = parse_parameter(&text, &ParseOptions::default());
        let Some((name, sub)) = parsed.filter(|_| subscript::closes_at_end(&text)) else {
            return Err(ExpandCause::InvalidName(text.to_vec()).into());
        };
        Ok(ParamTarget::from_name(env, &name, sub.as_ref())?.into_owned())
    }

    pub(super) fn from_name<'a>(
        env: &mut dyn ExpandEnv,
        name: &'a ParamName,
        sub: Option<&Subscript>,
    ) -> Result<ParamTarget<'a>> {
        let name = match name {
            ParamName::Positional(n) => return Ok(ParamTarget::Positional(*n)),
            ParamName::Special(c) => return Ok(ParamTarget::Special(*c)),
            ParamName::Variable(name) => &**name,
        };
        let (name, through) = env.resolve(name)?;
        if env.attributes(&name).intersects(Attributes::NAMEREF) && env.get(&name).is_some() {
            // A nameref that forms a cycle.
            return Ok(ParamTarget::Nothing);
        }
        let part = match (sub, through) {
            (None, None) => VarPart::Whole,
            (None, Some(text)) => match text.as_slice() {
                b"@" => VarPart::All { star: false },
                b"*" => VarPart::All { star: true },
                text => VarPart::Element(subscript::subscript_text_key(env, &name, text)?),
            },
            (Some(Subscript::At), Some(_)) => return Ok(ParamTarget::NoElements { star: false }),
            (Some(Subscript::Star), Some(_)) => return Ok(ParamTarget::NoElements { star: true }),
            (Some(_), Some(_)) => return Ok(ParamTarget::Nothing),
            (Some(Subscript::At), _) => VarPart::All { star: false },
            (Some(Subscript::Star), _) => VarPart::All { star: true },
            (Some(sub), _) => VarPart::Element(subscript::subscript_key(env, &name, sub)?),
        };
        Ok(ParamTarget::Variable { name, part })
    }

    fn into_owned(self) -> ParamTarget<'static> {
        match self {
            ParamTarget::Variable { name, part } => {
                ParamTarget::Variable { name: Cow::Owned(name.into_owned()), part }
            }
            ParamTarget::Positional(n) => ParamTarget::Positional(n),
            ParamTarget::Special(c) => ParamTarget::Special(c),
            ParamTarget::Name(name) => ParamTarget::Name(name),
            ParamTarget::Nothing => ParamTarget::Nothing,
            ParamTarget::NoElements { star } => ParamTarget::NoElements { star },
        }
    }

    /// Returns whether the target is a declared variable, with or without a value.
    pub(super) fn is_declared(&self, env: &mut dyn ExpandEnv) -> bool {
        match self {
            ParamTarget::Variable { name, .. } => env.is_declared(name),
            ParamTarget::Name(name) => env.is_declared(name),
            _ => false,
        }
    }

    /// Returns the current value.
    pub(super) fn fetch_value(&self, env: &mut dyn ExpandEnv) -> Result<ParamValue> {
        Ok(match self {
            ParamTarget::Name(name) => ParamValue::Scalar(Some(name.clone())),
            ParamTarget::Nothing => ParamValue::Scalar(None),
            ParamTarget::NoElements { star } => ParamValue::List { items: Vec::new(), star: *star },
            ParamTarget::Positional(n) => {
                let index = (*n as usize).wrapping_sub(1);
                ParamValue::Scalar(env.positional().get(index).cloned())
            }
            ParamTarget::Special(c @ (b'@' | b'*')) => {
                ParamValue::List { items: env.positional().to_vec(), star: *c == b'*' }
            }
            ParamTarget::Special(c) => ParamValue::Scalar(env.special(*c)),
            ParamTarget::Variable { name, part } => match part {
                VarPart::Whole => ParamValue::Scalar(whole_value(env, name)),
                VarPart::All { star } => {
                    ParamValue::List { items: all_values(env, name), star: *star }
                }
                VarPart::Element(key) => ParamValue::Scalar(element_value(env, name, key)?),
            },
        })
    }
}

/// Returns the value of a variable without a subscript; an array stands for its element 0.
fn whole_value(env: &mut dyn ExpandEnv, name: &[u8]) -> Option<Str> {
    match env.get(name)? {
        VarValue::Scalar(text) => Some(text),
        VarValue::Indexed(array) => array.get(0).cloned(),
        VarValue::Assoc(array) => array.get(b"0").cloned(),
    }
}

fn all_values(env: &mut dyn ExpandEnv, name: &[u8]) -> Vec<Str> {
    match env.get(name) {
        None => Vec::new(),
        Some(VarValue::Scalar(text)) => vec![text],
        Some(VarValue::Indexed(array)) => array.values().cloned().collect(),
        Some(VarValue::Assoc(array)) => array.values().cloned().collect(),
    }
}

fn element_value(env: &mut dyn ExpandEnv, name: &[u8], key: &OwnedKey) -> Result<Option<Str>> {
    if matches!(key, OwnedKey::Name(key) if key.is_empty())
        && env.attributes(name).intersects(Attributes::ASSOC)
    {
        env.warn(&[name, b": bad array subscript"].concat())?;
        return Ok(None);
    }
    let value = match (env.get(name), key) {
        (Some(value), _) => value,
        (None, OwnedKey::Index(index)) if *index < 0 => {
            env.warn(&[name, b": bad array subscript"].concat())?;
            return Ok(None);
        }
        (None, _) => return Ok(None),
    };
    match subscript::value_element(&value, key) {
        Ok(element) => Ok(element),
        Err(subscript::NoSuchPlace) => {
            env.warn(&[name, b": bad array subscript"].concat())?;
            Ok(None)
        }
    }
}

impl ParamValue {
    /// Returns whether the parameter is unset or, with `colon`, null. A list of several elements is
    /// null only if it is a quoted `*` list whose elements join to an empty string.
    pub(super) fn is_missing(&self, env: &mut dyn ExpandEnv, colon: bool, quoted: bool) -> bool {
        match self {
            ParamValue::Scalar(None) => true,
            ParamValue::Scalar(Some(text)) => colon && text.is_empty(),
            ParamValue::List { items, star } => match items.as_slice() {
                [] => true,
                [only] => colon && only.is_empty(),
                items => colon && quoted && *star && join_items(env, items, true).is_empty(),
            },
        }
    }

    /// Returns whether an operator has no value to work on, in which case its operands are not
    /// expanded. The exceptions are transformations, and substrings of lists because `${@:0}`
    /// includes `$0`. As in bash, nothing is removed from an empty value, but it is replaced.
    pub(super) fn needs_no_operand(&self, op: &ParamOp) -> bool {
        let removes = matches!(op, ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. });
        match self {
            ParamValue::Scalar(Some(text)) => removes && text.is_empty(),
            ParamValue::Scalar(None) => !matches!(op, ParamOp::Transform(_)),
            ParamValue::List { items, .. } => {
                items.is_empty() && !matches!(op, ParamOp::Transform(_) | ParamOp::Substring { .. })
            }
        }
    }

    /// Checks that the parameter is set, as `set -u` requires.
    pub(super) fn require_set(&self, env: &dyn ExpandEnv, param: &Param) -> Result<()> {
        match self {
            ParamValue::Scalar(None) if env.options().nounset => Err(unbound_error(param)),
            _ => Ok(()),
        }
    }

    /// Applies a function to the value or to each element.
    pub(super) fn map_values(self, mut f: impl FnMut(Str) -> Result<Str>) -> Result<ParamValue> {
        Ok(match self {
            ParamValue::Scalar(None) => ParamValue::Scalar(None),
            ParamValue::Scalar(Some(text)) => ParamValue::Scalar(Some(f(text)?)),
            ParamValue::List { items, star } => {
                ParamValue::List { items: items.into_iter().map(f).collect::<Result<_>>()?, star }
            }
        })
    }
}

/// Returns the error `x: unbound variable`; a positional or special parameter without braces is
/// shown with its dollar sign.
pub(super) fn unbound_error(param: &Param) -> ExpandError {
    let plain =
        matches!(param.op, ParamOp::Plain) && !param.indirect && !param.raw.starts_with(b"${");
    let name = match param.name {
        ParamName::Variable(_) => param_text(param),
        _ if plain => param.raw.to_vec(),
        _ => param_text(param),
    };
    ExpandError::unbound_variable(&name)
}

/// Appends a subscript in its written form: `[key]`, `[@]`, or nothing.
pub fn push_subscript(sub: Option<&Subscript>, out: &mut Vec<u8>) {
    if let Some(sub) = sub {
        out.push(b'[');
        out.extend_from_slice(sub.text());
        out.push(b']');
    }
}
