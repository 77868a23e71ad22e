//! The elements of compound assignments, `name=(...)` (bash manual 6.7). Those of associative arrays have
//! no tildes.

use std::rc::Rc;

use sh_syntax::ast::{ArrayElement, Subscript, Word, WordPart};

use crate::brace;
use crate::env::Env;
use crate::error::ExpandError;
use crate::lists;
use crate::subscript::{OwnedKey, subscript_key};
use crate::value::Str;
use crate::word;

/// One element to assign, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundElement {
    /// `None`: the place behind the element before (indexed arrays); for associative arrays a
    /// word that nothing can be done with.
    pub key: Option<OwnedKey>,
    /// `[key]+=value`
    pub append: bool,
    pub value: Str,
}

/// Expands the elements of `name=(...)` (`name` is a base name). Elements without a key go through brace
/// expansion, splitting and pathname expansion, those with one do not. For an associative
/// array whose first element has no key, words are keys and values in turn; later ones without
/// one cannot be assigned.
///
/// # Errors
/// Those of the expansions.
pub fn compound_elements(
    env: &mut dyn Env,
    name: &[u8],
    assoc: bool,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    if assoc && elements.first().is_some_and(|e| e.key.is_none()) {
        return pairs(env, elements);
    }
    // What has a key or is not split, and how many fields of plain words stand before it.
    let mut single: Vec<(usize, CompoundElement)> = Vec::new();
    let (mut words, mut late) = (Vec::new(), word::Late::default());
    for element in elements {
        match &element.key {
            Some(subscript) => {
                let key = if assoc {
                    assoc_key(env, subscript)?
                } else {
                    subscript_key(env, name, subscript)?
                };
                let value = match assoc {
                    true => lists::text(env, &element.value, word::Tilde::Never)?,
                    false => word::expand_assignment_value(env, &element.value)?,
                };
                let element = CompoundElement { key: Some(key), append: element.append, value };
                single.push((words.len(), element));
            }
            None if assoc => {
                let value = word::single(env, &element.value, word::Tilde::Start)?;
                single.push((words.len(), CompoundElement { key: None, append: false, value }));
            }
            None => {
                word::expand_into(env, &element.value, word::Tilde::Start, &mut words, &mut late)?;
            }
        }
    }
    let moved = late.finish(env, &mut words)?;
    let mut words = words.into_iter();
    let mut out = Vec::with_capacity(words.len() + single.len());
    let mut taken = 0;
    for (before, element) in single {
        let by: isize = moved.iter().filter(|(at, _)| *at < before).map(|(_, by)| by).sum();
        let before = before.saturating_add_signed(by);
        out.extend(words.by_ref().take(before - taken).map(plain_element));
        taken = before;
        out.push(element);
    }
    out.extend(words.map(plain_element));
    Ok(out)
}

fn plain_element(value: Str) -> CompoundElement {
    CompoundElement { key: None, append: false, value }
}

/// The elements of an indexed array with `[k]={a,b}` turned into plain words: bash takes an
/// element for a word like any other once its braces expanded. `None`: as they are.
///
/// # Errors
/// A limit hit in [`Env::charge`].
pub fn brace_elements(
    env: &mut dyn Env,
    elements: &[ArrayElement],
) -> Result<Option<Vec<ArrayElement>>, ExpandError> {
    let keyed = |e: &ArrayElement| e.key.is_some() && e.value.raw.contains(&b'{');
    if !env.options().braceexpand || !elements.iter().any(keyed) {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(elements.len());
    for element in elements {
        let word = whole_word(element);
        out.push(match brace::expand(env, &word)? {
            Some(_) if keyed(element) => ArrayElement { key: None, append: false, value: word },
            _ => element.clone(),
        });
    }
    Ok(Some(out))
}

/// An element with its key as one word.
fn whole_word(element: &ArrayElement) -> Word {
    let literal = |text: &[u8]| WordPart::Literal(Rc::new(text.to_vec()));
    // The brackets are none of a pattern.
    let bracket = |text: &[u8]| WordPart::Quoted(Rc::new(text.to_vec()));
    let sign: &[u8] = if element.append { b"]+=" } else { b"]=" };
    let mut parts = vec![bracket(b"[")];
    let mut raw = b"\\[".to_vec();
    match &element.key {
        None => return element.value.clone(),
        Some(Subscript::At) => {
            parts.push(literal(b"@"));
            raw.push(b'@');
        }
        Some(Subscript::Star) => {
            parts.push(literal(b"*"));
            raw.push(b'*');
        }
        Some(Subscript::Expr(expr)) => {
            parts.extend(expr.word.parts.iter().cloned());
            raw.extend_from_slice(&expr.word.raw);
        }
    }
    parts.push(bracket(sign));
    raw.push(b'\\');
    raw.extend_from_slice(sign);
    parts.extend(element.value.parts.iter().cloned());
    raw.extend_from_slice(&element.value.raw);
    Word { parts, raw: raw.into() }
}

/// A key as text whatever the variable is so far (`declare -A a=([x]=1)`).
fn assoc_key(env: &mut dyn Env, subscript: &Subscript) -> Result<OwnedKey, ExpandError> {
    Ok(OwnedKey::Name(match subscript {
        Subscript::At => b"@".to_vec(),
        Subscript::Star => b"*".to_vec(),
        Subscript::Expr(expr) => lists::text(env, &expr.word, word::Tilde::Never)?.to_vec(),
    }))
}

/// `a=(key value key value)`: no splitting, a missing last value is empty. Later elements with a key
/// are words like any other.
fn pairs(
    env: &mut dyn Env,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    let mut out = Vec::with_capacity(elements.len() / 2 + 1);
    let mut texts = Vec::with_capacity(elements.len());
    for element in elements {
        let word = whole_word(element);
        texts.push(word::single(env, &word, word::Tilde::Never)?);
    }
    for pair in texts.chunks(2) {
        let key = Some(OwnedKey::Name(pair[0].to_vec()));
        let value = pair.get(1).cloned().unwrap_or_default();
        out.push(CompoundElement { key, append: false, value });
    }
    Ok(out)
}
