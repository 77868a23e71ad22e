//! Which parameter an expansion means, through indirection and namerefs, and its value.

use std::borrow::Cow;

use sh_syntax::ast::{Param, ParamName, ParamOp, Subscript};
use sh_syntax::parse::{ParseOptions, parse_parameter};

use super::{Result, shown, shown_directly, str_of};
use crate::env::Env;
use crate::error::{Asked, Cause, ExpandError};
use crate::fields::Mode;
use crate::subscript::{self, OwnedKey};
use crate::value::{Str, Value};

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
    Text(Str),
    /// `${!x}` where `x` is there but has no value: unset.
    Nothing,
    /// `${r[@]}` of a nameref to an element.
    NoList {
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
    /// `unquoted`: the mode of the fields that what stands outside double quotes goes into.
    pub(super) fn of(
        env: &mut dyn Env,
        param: &'p Param,
        unquoted: Option<Mode>,
    ) -> Result<Target<'p>> {
        if !param.indirect {
            return Target::direct(env, &param.name, param.subscript.as_ref());
        }
        if let (ParamName::Variable(name), None) = (&param.name, &param.subscript)
            && let Some(referenced) = env.nameref(name)
        {
            let (base, through) = env.resolve(name)?;
            if !base.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
                // No name: it leads around in a circle.
                return Err(Cause::InvalidIndirect(shown_directly(param)).into());
            }
            let array =
                through.is_some() || !matches!(env.get(&base), None | Some(Value::Scalar(_)));
            if array && works_on_value(&param.op) {
                // What leads into an array is followed all the way then.
                return Target::direct(env, &param.name, None);
            }
            return Ok(Target::Text(referenced));
        }
        let target = Target::direct(env, &param.name, param.subscript.as_ref())?;
        let text = match target.fetch(env)? {
            Content::Scalar(Some(text)) => text,
            Content::List { items, star } if !items.is_empty() => {
                let array = matches!(param.name, ParamName::Variable(_));
                // Found by experiment: by `IFS` for an array's `[@]`, too, but not if that is null.
                let null = crate::split::Ifs::of(env).is_null();
                match unquoted {
                    Some(Mode::HereDoc) => join(env, &items, array && (star || !null)),
                    Some(mode) if star && array && null && mode != Mode::Split => {
                        // bash takes the marks of quoted characters for the name's.
                        let marked: Vec<u8> =
                            items.iter().flat_map(|i| i.iter()).flat_map(|c| [1, *c]).collect();
                        return Err(Cause::InvalidName(marked).into());
                    }
                    Some(_) if array && null => join(env, &items, false),
                    _ => join(env, &items, star || array && !null),
                }
            }
            _ => {
                let unknown = match (&param.name, &param.subscript) {
                    (ParamName::Variable(name), None) => {
                        !env.is_declared(name) || env.attributes(name).nameref
                    }
                    (ParamName::Variable(name), Some(_)) => {
                        let (name, through) = env.resolve(name)?;
                        through.is_some()
                            || !env.is_declared(&name)
                            || env.attributes(&name).nameref
                    }
                    _ => false,
                };
                if !unknown {
                    if matches!(param.op, ParamOp::Transform(b'a' | b'A') | ParamOp::Assign { .. })
                    {
                        // bash looks the element up once more, and complains again.
                        target.fetch(env)?;
                    }
                    return Ok(Target::Nothing);
                }
                return Err(Cause::InvalidIndirect(shown_directly(param)).into());
            }
        };
        let parsed = parse_parameter(&text, &ParseOptions::default());
        let Some((name, sub)) = parsed.filter(|_| subscript::closes_at_end(&text)) else {
            return Err(Cause::InvalidName(text.to_vec()).into());
        };
        let target = Target::direct(env, &name, sub.as_ref())?.into_owned();
        let last_job = ParamName::Special(b'!');
        if name == last_job
            && env.options().nounset
            && matches!(target.fetch(env)?, Content::Scalar(None))
        {
            // Whatever the operator.
            env.warn(b"$!: unbound variable")?;
            return Err(Cause::BadSubstitution(param.raw.to_vec()).into());
        }
        Ok(target)
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
        if env.attributes(&name).nameref && env.get(&name).is_some() {
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
            // `r=a[1]; ${r[0]}`: there is no such thing.
            (Some(Subscript::Expr(_)), Some(_)) => return Ok(Target::Nothing),
            (Some(list), Some(_)) => {
                return Ok(Target::NoList { star: *list == Subscript::Star });
            }
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
            Target::Text(text) => Target::Text(text),
            Target::Nothing => Target::Nothing,
            Target::NoList { star } => Target::NoList { star },
        }
    }

    /// Whether it is in an array that has elements.
    pub(super) fn is_filled_array(&self, env: &mut dyn Env) -> bool {
        match self {
            Target::Variable { name, part: Part::Whole } => match env.get(name) {
                Some(Value::Indexed(array)) => !array.is_empty(),
                Some(Value::Assoc(array)) => !array.is_empty(),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether it is a list, not a scalar written as one.
    pub(super) fn is_list(&self, env: &mut dyn Env) -> bool {
        match self {
            Target::Special(b'@' | b'*') => true,
            Target::Variable { name, part: Part::All { .. } } => {
                matches!(env.get(name), Some(Value::Indexed(_) | Value::Assoc(_)))
            }
            _ => false,
        }
    }

    /// The current value.
    pub(super) fn fetch(&self, env: &mut dyn Env) -> Result<Content> {
        Ok(match self {
            Target::Text(text) => Content::Scalar(Some(text.clone())),
            Target::Nothing => Content::Scalar(None),
            Target::NoList { star } => Content::List { items: Vec::new(), star: *star },
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

/// `${!r}` of a nameref, which is never unset.
pub(super) fn is_indirect_nameref(env: &dyn Env, param: &Param) -> bool {
    match (&param.name, &param.subscript) {
        (ParamName::Variable(name), None) => param.indirect && env.nameref(name).is_some(),
        _ => false,
    }
}

/// Operators that change a value, in contrast to those that look whether there is one.
fn works_on_value(op: &ParamOp) -> bool {
    matches!(
        op,
        ParamOp::RemovePrefix { .. }
            | ParamOp::RemoveSuffix { .. }
            | ParamOp::Replace { .. }
            | ParamOp::Case { .. }
            | ParamOp::Substring { .. }
            | ParamOp::Transform(_)
    )
}

/// A variable without subscript: an array stands for its element 0.
pub(crate) fn whole(env: &mut dyn Env, name: &[u8]) -> Option<Str> {
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

pub(super) fn element(env: &mut dyn Env, name: &[u8], key: &OwnedKey) -> Result<Option<Str>> {
    if matches!(key, OwnedKey::Name(key) if key.is_empty()) && env.attributes(name).assoc {
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
    /// Unset; with `colon` also null. A list is null if it is as one string: `*` joined by
    /// `IFS`, `@` by spaces.
    pub(super) fn is_missing(&self, env: &mut dyn Env, colon: bool, joined: bool) -> bool {
        match self {
            Content::Scalar(None) => true,
            Content::Scalar(Some(text)) => colon && text.is_empty(),
            Content::List { items, star } => match items.as_slice() {
                [] => true,
                [only] => colon && only.is_empty(),
                many => {
                    let joined_null = |env: &mut dyn Env| {
                        *star
                            && joined
                            && many.iter().all(|item| item.is_empty())
                            && crate::split::Ifs::of(env).is_null()
                    };
                    colon && joined_null(env)
                }
            },
        }
    }

    /// Whether an operator has nothing to work on: its operands are not even expanded then.
    /// An empty text is nothing to `#` and `%` only, nor is a list of one unless it is `one_string`;
    /// `${@:n}` looks at `$0`.
    pub(super) fn needs_no_operand(&self, op: &ParamOp, one_string: bool) -> bool {
        let removal = matches!(op, ParamOp::RemovePrefix { .. } | ParamOp::RemoveSuffix { .. });
        match self {
            Content::Scalar(None) => !matches!(op, ParamOp::Transform(_)),
            Content::Scalar(Some(text)) => removal && text.is_empty(),
            Content::List { items, .. } if items.is_empty() => {
                removal || matches!(op, ParamOp::Replace { .. } | ParamOp::Case { .. })
            }
            Content::List { items, .. } => {
                removal && !one_string && matches!(items.as_slice(), [only] if only.is_empty())
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
    ExpandError::unbound(&name, Asked::Parameter)
}

/// Appends a subscript as it was written: `[key]`, `[@]`, or nothing.
pub fn push_subscript(sub: Option<&Subscript>, out: &mut Vec<u8>) {
    if let Some(sub) = sub {
        out.push(b'[');
        out.extend_from_slice(sub.text());
        out.push(b']');
    }
}

/// Joins a list as one string: `$@` by spaces, others by the first character of `IFS`.
pub(super) fn join(env: &mut dyn Env, items: &[Str], star: bool) -> Str {
    let ifs = crate::split::Ifs::of(env);
    let parts: Vec<&[u8]> = items.iter().map(|item| item.as_slice()).collect();
    let separator: &[u8] = if star { ifs.separator() } else { b" " };
    str_of(parts.join(separator))
}
