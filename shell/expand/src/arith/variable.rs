//! Reading and writing the operands of arithmetic.

use std::borrow::Cow;

use super::MAX_RECURSION;
use super::number::plain_integer;
use super::tree;
use crate::env::{ElementKey, ExpandEnv, VarLookup};
use crate::error::{ExpandCause, ExpandError};
use crate::subscript::{self, NoSuchPlace, OwnedKey};
use crate::value::{Attributes, Str, VarValue};

/// The number of variables that were followed to reach the one that is read. If there are too many,
/// the message quotes `text`, in which the variable is named, from `name` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Depth<'t> {
    pub(super) variables: u32,
    pub(super) text: &'t [u8],
    pub(super) name: &'t [u8],
}

impl Depth<'_> {
    /// Returns the depth at which the variable's value is evaluated.
    pub(super) fn next_depth(&self, env: &mut dyn ExpandEnv) -> Result<u32, ExpandError> {
        if self.variables < MAX_RECURSION && !env.stack_low() {
            Ok(self.variables + 1)
        } else {
            Err(too_deep(self.text, self.name))
        }
    }

    /// Returns the value of a text that is a plain number; `None` at the maximum depth, where bash
    /// does not evaluate it either.
    fn plain_number(&self, text: &[u8]) -> Option<i64> {
        plain_integer(text).filter(|_| self.variables < MAX_RECURSION)
    }
}

/// A variable or element that is read or assigned.
#[derive(Debug)]
pub(super) enum ArithVariable<'n> {
    Scalar(Cow<'n, [u8]>),
    /// The array, the element, and the subscript as messages show it.
    Element(Cow<'n, [u8]>, OwnedKey, Cow<'n, [u8]>),
    /// `a[@]`, `a[*]` or `a[]` of an indexed array: reading it gives 0, assigning to it has no
    /// effect, and both print an error.
    Nothing {
        name: Vec<u8>,
        subscript: Vec<u8>,
    },
}

impl<'n> ArithVariable<'n> {
    /// Returns a variable by name; namerefs may lead to an element.
    pub(super) fn from_name(
        env: &mut dyn ExpandEnv,
        name: &'n [u8],
    ) -> Result<ArithVariable<'n>, ExpandError> {
        let (name, sub) = env.resolve(name)?;
        match sub {
            None => Ok(ArithVariable::Scalar(name)),
            Some(text) => {
                let key = subscript::subscript_text_key(env, &name, &text)?;
                Ok(ArithVariable::Element(name, key, Cow::Owned(text.to_vec())))
            }
        }
    }

    /// Returns the value as a number.
    pub(super) fn read(
        &self,
        env: &mut dyn ExpandEnv,
        depth: &Depth<'_>,
    ) -> Result<i64, ExpandError> {
        let value = match self {
            ArithVariable::Scalar(name) => {
                // An array without element 0 counts as 0 even under `set -u`.
                match env.get(name) {
                    None if env.options().nounset => {
                        return Err(ExpandError::unbound_variable(name));
                    }
                    None => None,
                    Some(VarValue::Scalar(text)) => Some(text),
                    Some(VarValue::Indexed(array)) => array.get(0).cloned(),
                    Some(VarValue::Assoc(array)) => array.get(b"0").cloned(),
                }
            }
            ArithVariable::Nothing { name, subscript } => {
                env.warn(&ExpandError::bad_subscript(name, subscript).message())?;
                return Ok(0);
            }
            // An unset element of an array that exists counts as 0 even under `set -u`.
            ArithVariable::Element(name, key, _) => match env.get(name) {
                None if env.options().nounset && !env.is_declared(name) => {
                    return Err(ExpandError::unbound_variable(name));
                }
                _ if matches!(key, OwnedKey::Name(key) if key.is_empty()) => {
                    env.warn(&[name, b": bad array subscript".as_slice()].concat())?;
                    None
                }
                None => {
                    if matches!(key, OwnedKey::Index(index) if *index < 0) {
                        env.warn(&[name, b": bad array subscript".as_slice()].concat())?;
                    }
                    None
                }
                Some(value) => match subscript::value_element(&value, key) {
                    Ok(value) => value,
                    Err(NoSuchPlace) => {
                        env.warn(&[name, b": bad array subscript".as_slice()].concat())?;
                        None
                    }
                },
            },
        };
        match value {
            Some(text) => text_number(env, &text, depth),
            None => Ok(0),
        }
    }

    pub(super) fn write(&self, env: &mut dyn ExpandEnv, value: i64) -> Result<(), ExpandError> {
        let text = Str::new(value.to_string().into_bytes());
        match self {
            ArithVariable::Scalar(name) if env.attributes(name).intersects(Attributes::NAMEREF) => {
                // A nameref without a target: the number would become its target, but it is not a
                // name.
                not_an_identifier(env, &text)
            }
            ArithVariable::Scalar(name) => env.set(name, text),
            ArithVariable::Nothing { name, subscript } => {
                env.warn(&ExpandError::bad_subscript(name, subscript).message())
            }
            ArithVariable::Element(name, OwnedKey::Index(index), written) => {
                match env.set_element(name, ElementKey::Index(*index), text) {
                    // bash reports this and continues.
                    Err(e) if matches!(*e.cause, ExpandCause::NotAnIdentifier(_)) => {
                        env.warn_by_name(&e.message())
                    }
                    Err(e) if e.is_missing_element() => {
                        env.warn(&[&**name, b"[", written, b"]: bad array subscript"].concat())
                    }
                    other => other,
                }
            }
            ArithVariable::Element(name, OwnedKey::Name(key), written) if key.is_empty() => {
                env.warn(&[&**name, b"[", written, b"]: bad array subscript"].concat())
            }
            ArithVariable::Element(name, OwnedKey::Name(key), _) => {
                match env.set_element(name, ElementKey::Name(key), text) {
                    Err(e) if matches!(*e.cause, ExpandCause::NotAnIdentifier(_)) => {
                        env.warn_by_name(&e.message())
                    }
                    other => other,
                }
            }
        }
    }
}

/// Reports an invalid identifier; bash continues after it.
fn not_an_identifier(env: &mut dyn ExpandEnv, place: &[u8]) -> Result<(), ExpandError> {
    env.warn_by_name(&ExpandError::not_an_identifier(place).message())
}

/// Returns whether a subscript stands for all of an indexed array or for nothing.
pub(super) fn whole_array(
    env: &mut dyn ExpandEnv,
    name: &[u8],
    base: &[u8],
    subscript: &[u8],
) -> Option<ArithVariable<'static>> {
    if !matches!(subscript, b"" | b"@" | b"*") || subscript::is_assoc(env, base) {
        return None;
    }
    Some(ArithVariable::Nothing { name: name.to_vec(), subscript: subscript.to_vec() })
}

/// Checks that there is an array before its subscript is evaluated, as `set -u` requires.
pub(super) fn require_array(env: &mut dyn ExpandEnv, name: &[u8]) -> Result<(), ExpandError> {
    if env.options().nounset {
        let (base, _) = env.resolve(name)?;
        if env.get(&base).is_none() {
            return Err(ExpandError::unbound_variable(&base));
        }
    }
    Ok(())
}

/// Reads a variable by name.
#[inline]
pub(super) fn read(
    env: &mut dyn ExpandEnv,
    name: &[u8],
    depth: &Depth<'_>,
) -> Result<i64, ExpandError> {
    if depth.variables < MAX_RECURSION
        && let Some(value) = env.get_int(name)
    {
        return Ok(value);
    }
    match env.lookup(name) {
        VarLookup::Value(VarValue::Scalar(text)) => text_number(env, &text, depth),
        VarLookup::Unset if env.options().nounset => Err(ExpandError::unbound_variable(name)),
        VarLookup::Unset => Ok(0),
        _ => ArithVariable::from_name(env, name)?.read(env, depth),
    }
}

/// Assigns to a variable by name.
pub(super) fn write(env: &mut dyn ExpandEnv, name: &[u8], value: i64) -> Result<(), ExpandError> {
    if env.set_int(name, value)? {
        return Ok(());
    }
    ArithVariable::from_name(env, name)?.write(env, value)
}

/// Returns the number that a variable's text means, which is evaluated as an expression. A text
/// that is only the name of another variable is followed without recursion.
fn text_number(env: &mut dyn ExpandEnv, text: &Str, depth: &Depth<'_>) -> Result<i64, ExpandError> {
    if let Some(value) = depth.plain_number(text) {
        return Ok(value);
    }
    if is_blank(text) {
        return Ok(0);
    }
    let mut text = text.clone();
    let mut variables = depth.next_depth(env)?;
    while is_name(&text) {
        match env.lookup(&text) {
            VarLookup::Value(VarValue::Scalar(next)) if is_blank(&next) => return Ok(0),
            VarLookup::Value(VarValue::Scalar(next)) => {
                let depth = Depth { variables, text: &text, name: &text };
                if let Some(value) = depth.plain_number(&next) {
                    return Ok(value);
                }
                variables = depth.next_depth(env)?;
                text = next;
            }
            VarLookup::Unset if !env.options().nounset => return Ok(0),
            _ => break,
        }
    }
    tree::eval_text(env, &text, variables)
}

/// Returns whether a text has nothing to evaluate, which does not count as a deeper level.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b' ' | b'\t' | b'\n'))
}

fn is_name(text: &[u8]) -> bool {
    let is = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    text.first().is_some_and(|b| !b.is_ascii_digit()) && text.iter().all(is)
}

/// Returns the error for a chain of too many variables, which stopped at `name`.
pub(super) fn too_deep(text: &[u8], name: &[u8]) -> ExpandError {
    let at = text.windows(name.len().max(1)).position(|part| part == name).unwrap_or_default();
    ExpandCause::Arithmetic {
        expression: text.to_vec(),
        reason: "expression recursion level exceeded".to_string(),
        token: text.get(at..).unwrap_or_default().to_vec(),
    }
    .into()
}
