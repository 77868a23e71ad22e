//! Which parameter an expansion means, through indirection and namerefs, and its value.

use std::borrow::Cow;

use sh_syntax::ast::{Param, ParamName, ParamOp, Subscript};
use sh_syntax::parse::{ParseOptions, parse_parameter};

use super::{Result, shown, shown_directly};
use crate::env::Env;
use crate::error::{Cause, ExpandError};
use crate::parts::join;
use crate::subscript::{self, OwnedKey};
use crate::value::{Attributes, Str, Value};

/// A parameter, ready to be read.
#[derive(Debug)]
pub(super) enum Target<'p> {
    /// A variable, after namerefs.
    Variable {
        name: Cow<'p, [u8]>,
        part: Part,
    },
    Positional(u32),
    Special(u8),
    /// `${!ref}` of a nameref: the name it refers to is the value.
    Name(Str),
    /// What is always unset: `${!x}` where `x` is there but has no value, `${ref[0]}` of a nameref to an element.
    Nothing,
    /// `${ref[@]}` of a nameref to an element, or to all elements: it has none.
    NoElements {
        star: bool,
    },
}

/// Which part of a variable.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
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
pub(super) enum Content {
    Scalar(Option<Str>),
    /// `$@`, `$*`, `${a[@]}`, `${a[*]}`.
    List {
        items: Vec<Str>,
        star: bool,
    },
}

impl<'p> Target<'p> {
    /// Follows `${!x}` to the parameter that is meant.
    pub(super) fn of(env: &mut dyn Env, param: &'p Param) -> Result<Target<'p>> {
        if !param.indirect {
            return Target::direct(env, &param.name, param.subscript.as_ref());
        }
        if let (ParamName::Variable(name), None) = (&param.name, &param.subscript)
            && let Some(referenced) = env.nameref(name)
        {
            return Ok(Target::Name(referenced));
        }
        let text = match Target::direct(env, &param.name, param.subscript.as_ref())?.fetch(env)? {
            Content::Scalar(Some(text)) => text,
            Content::List { items, star } if !items.is_empty() => join(env, &items, star),
            _ => {
                let known = match &param.name {
                    ParamName::Variable(name) => {
                        env.is_declared(name) && !env.attributes(name).has(Attributes::NAMEREF)
                    }
                    _ => true,
                };
                return match known {
                    true => Ok(Target::Nothing),
                    false => Err(Cause::InvalidIndirect(shown_directly(param)).into()),
                };
            }
        };
        let parsed = parse_parameter(&text, &ParseOptions::default());
        let Some((name, sub)) = parsed.filter(|_| subscript::closes_at_end(&text)) else {
            return Err(Cause::InvalidName(text.to_vec()).into());
        };
        Ok(Target::direct(env, &name, sub.as_ref())?.into_owned())
    }

    pub(super) fn direct<'a>(
        env: &mut dyn Env,
        name: &'a ParamName,
        sub: Option<&Subscript>,
    ) -> Result<Target<'a>> {
        let name = match name {
            ParamName::Positional(n) => return Ok(Target::Positional(*n)),
            ParamName::Special(c) => return Ok(Target::Special(*c)),
            ParamName::Variable(name) => &**name,
        };
        let (name, through) = env.resolve(name)?;
        if env.attributes(&name).has(Attributes::NAMEREF) && env.get(&name).is_some() {
            // A nameref that leads back to itself.
            return Ok(Target::Nothing);
        }
        let part = match (sub, through) {
            (None, None) => Part::Whole,
            (None, Some(text)) => match text.as_slice() {
                b"@" => Part::All { star: false },
                b"*" => Part::All { star: true },
                text => Part::Element(subscript::subscript_text_key(env, &name, text)?),
            },
            (Some(Subscript::At), Some(_)) => return Ok(Target::NoElements { star: false }),
            (Some(Subscript::Star), Some(_)) => return Ok(Target::NoElements { star: true }),
            (Some(_), Some(_)) => return Ok(Target::Nothing),
            (Some(Subscript::At), _) => Part::All { star: false },
            (Some(Subscript::Star), _) => Part::All { star: true },
            (Some(sub), _) => Part::Element(subscript::subscript_key(env, &name, sub)?),
        };
        Ok(Target::Variable { name, part })
    }

    fn into_owned(self) -> Target<'static> {
        match self {
            Target::Variable { name, part } => {
                Target::Variable { name: Cow::Owned(name.into_owned()), part }
            }
            Target::Positional(n) => Target::Positional(n),
            Target::Special(c) => Target::Special(c),
            Target::Name(name) => Target::Name(name),
            Target::Nothing => Target::Nothing,
            Target::NoElements { star } => Target::NoElements { star },
        }
    }

    /// Whether it is a variable that was declared, even without a value.
    pub(super) fn is_declared(&self, env: &mut dyn Env) -> bool {
        match self {
            Target::Variable { name, .. } => env.is_declared(name),
            Target::Name(name) => env.is_declared(name),
            _ => false,
        }
    }

    /// The current value.
    pub(super) fn fetch(&self, env: &mut dyn Env) -> Result<Content> {
        Ok(match self {
            Target::Name(name) => Content::Scalar(Some(name.clone())),
            Target::Nothing => Content::Scalar(None),
            Target::NoElements { star } => Content::List { items: Vec::new(), star: *star },
            Target::Positional(n) => {
                let index = (*n as usize).wrapping_sub(1);
                Content::Scalar(env.positional().get(index).cloned())
            }
            Target::Special(c @ (b'@' | b'*')) => {
                Content::List { items: env.positional().to_vec(), star: *c == b'*' }
            }
            Target::Special(c) => Content::Scalar(env.special(*c)),
            Target::Variable { name, part } => match part {
                Part::Whole => Content::Scalar(whole(env, name)),
                Part::All { star } => Content::List { items: all(env, name), star: *star },
                Part::Element(key) => Content::Scalar(element(env, name, key)?),
            },
        })
    }
}

/// A variable without subscript: an array stands for its element 0.
fn whole(env: &mut dyn Env, name: &[u8]) -> Option<Str> {
    match env.get(name)? {
        Value::Scalar(text) => Some(text),
        Value::Indexed(array) => array.get(0).cloned(),
        Value::Assoc(array) => array.get(b"0").cloned(),
    }
}

fn all(env: &mut dyn Env, name: &[u8]) -> Vec<Str> {
    match env.get(name) {
        None => Vec::new(),
        Some(Value::Scalar(text)) => vec![text],
        Some(Value::Indexed(array)) => array.values().cloned().collect(),
        Some(Value::Assoc(array)) => array.values().cloned().collect(),
    }
}

fn element(env: &mut dyn Env, name: &[u8], key: &OwnedKey) -> Result<Option<Str>> {
    if matches!(key, OwnedKey::Name(key) if key.is_empty())
        && env.attributes(name).has(Attributes::ASSOC)
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
    match subscript::element(&value, key) {
        Ok(element) => Ok(element),
        Err(subscript::NoSuchPlace) => {
            env.warn(&[name, b": bad array subscript"].concat())?;
            Ok(None)
        }
    }
}

impl Content {
    /// Unset; with `colon` also null. Of several elements only those of a quoted `*` list are null, if the one
    /// string that they make is.
    pub(super) fn is_missing(&self, env: &mut dyn Env, colon: bool, quoted: bool) -> bool {
        match self {
            Content::Scalar(None) => true,
            Content::Scalar(Some(text)) => colon && text.is_empty(),
            Content::List { items, star } => match items.as_slice() {
                [] => true,
                [only] => colon && only.is_empty(),
                items => colon && quoted && *star && join(env, items, true).is_empty(),
            },
        }
    }

    /// Whether an operator has nothing to work on: its operands are not even expanded then.
    /// `${@:0}` looks at `$0`.
    pub(super) fn needs_no_operand(&self, op: &ParamOp) -> bool {
        match self {
            Content::Scalar(value) => value.is_none() && !matches!(op, ParamOp::Transform(_)),
            Content::List { items, .. } => {
                items.is_empty() && !matches!(op, ParamOp::Transform(_) | ParamOp::Substring { .. })
            }
        }
    }

    /// `set -u`.
    pub(super) fn require_set(&self, env: &dyn Env, param: &Param) -> Result<()> {
        match self {
            Content::Scalar(None) if env.options().nounset => Err(unbound(param)),
            _ => Ok(()),
        }
    }

    /// Applies a function to the value or to each element.
    pub(super) fn map(self, mut f: impl FnMut(Str) -> Result<Str>) -> Result<Content> {
        Ok(match self {
            Content::Scalar(None) => Content::Scalar(None),
            Content::Scalar(Some(text)) => Content::Scalar(Some(f(text)?)),
            Content::List { items, star } => {
                Content::List { items: items.into_iter().map(f).collect::<Result<_>>()?, star }
            }
        })
    }
}

/// `x: unbound variable`; a parameter written without braces shows its dollar if it is no name.
pub(super) fn unbound(param: &Param) -> ExpandError {
    let plain =
        matches!(param.op, ParamOp::Plain) && !param.indirect && !param.raw.starts_with(b"${");
    let name = match param.name {
        ParamName::Variable(_) => shown(param),
        _ if plain => param.raw.to_vec(),
        _ => shown(param),
    };
    ExpandError::unbound(&name)
}

/// Appends a subscript as it was written: `[key]`, `[@]`, or nothing.
pub fn push_subscript(sub: Option<&Subscript>, out: &mut Vec<u8>) {
    if let Some(sub) = sub {
        out.push(b'[');
        out.extend_from_slice(sub.text());
        out.push(b']');
    }
}
