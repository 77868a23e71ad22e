//! The elements of compound assignments, `name=(...)` (bash manual 6.7). Elements of associative
//! arrays undergo no tilde expansion.

use std::rc::Rc;

use sh_syntax::ast::{ArrayElement, Subscript, WordPart};

use crate::env::ExpandEnv;
use crate::error::ExpandError;
use crate::pathname::PendingPathnames;
use crate::subscript::subscript_text;
use crate::tilde::Tilde;
use crate::value::Str;
use crate::word;

/// One element to assign, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundElement {
    /// The expanded subscript, which for an indexed array is still an expression. `None` means the
    /// place after the previous element of an indexed array, or a word that cannot be assigned to
    /// an associative array.
    pub key: Option<Str>,
    /// `[key]+=value`
    pub append: bool,
    /// The value to assign.
    pub value: Str,
}

/// Expands the elements of `name=(...)`. Elements without a key undergo brace expansion, splitting
/// and pathname expansion; elements with a key do not. For an associative array whose first element
/// has no key, words are alternately keys and values; later elements without a key cannot be
/// assigned.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn compound_elements(
    env: &mut dyn ExpandEnv,
    assoc: bool,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    // A first word that begins with a bracket was meant as a key.
    let is_plain = |e: &ArrayElement| e.key.is_none() && !e.value.raw.starts_with(b"[");
    if assoc && elements.first().is_some_and(is_plain) {
        return expand_pairs(env, elements);
    }
    if !assoc && elements.iter().all(|element| element.key.is_none()) {
        return expand_words(env, elements);
    }
    let mut out = Vec::with_capacity(elements.len());
    for element in elements {
        let Some(subscript) = &element.key else {
            if assoc {
                out.push(plain_element(word::expand_text(env, &element.value, Tilde::Start)?))
            } else {
                out.extend(expand_words(env, std::slice::from_ref(element))?)
            }
            continue;
        };
        let key = subscript_text(env, subscript)?;
        let value = if assoc {
            word::expand_text(env, &element.value, Tilde::Never)?
        } else {
            word::expand_assignment_value(env, &element.value)?
        };
        if !assoc && !is_closed(&key) {
            let equals: &[u8] = if element.append { b"]+=" } else { b"]=" };
            let text = [b"[", key.as_slice(), equals, value.as_slice()].concat();
            out.push(plain_element(Rc::new(text)));
            continue;
        }
        out.push(CompoundElement { key: Some(key), append: element.append, value });
    }
    Ok(out)
}

/// Expands elements without keys of an indexed array: words like those of a command.
fn expand_words(
    env: &mut dyn ExpandEnv,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    let (mut words, mut late) = (Vec::new(), PendingPathnames::default());
    for element in elements {
        word::expand_into(env, &element.value.parts, Tilde::Start, &mut words, &mut late)?;
    }
    late.finish_paths(env, &mut words)?;
    Ok(words.into_iter().map(plain_element).collect())
}

/// Returns whether a bracket behind the expanded subscript of an indexed array would close it. Bash
/// looks for that bracket after the expansion, so that a quote or a bracket from a variable makes
/// the whole text an element without a key.
fn is_closed(key: &[u8]) -> bool {
    let (mut level, mut rest) = (0_usize, key.iter());
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => {
                rest.next();
            }
            b'\'' | b'"' | b'`' if !rest.any(|other| other == byte) => return false,
            b'[' => level += 1,
            b']' if level == 0 => return false,
            b']' => level -= 1,
            _ => {}
        }
    }
    level == 0
}

fn plain_element(value: Str) -> CompoundElement {
    CompoundElement { key: None, append: false, value }
}

/// Returns the parts of an element's text `[key]=value` as one word.
fn whole_parts(element: &ArrayElement) -> Vec<WordPart> {
    let literal = |text: &[u8]| WordPart::Literal(Rc::new(text.to_vec()));
    let Some(key) = &element.key else { return element.value.parts.clone() };
    let mut parts = vec![literal(b"[")];
    match key {
        Subscript::Expr(expr) => parts.extend(expr.word.parts.iter().cloned()),
        list => parts.push(literal(list.text())),
    }
    parts.push(literal(if element.append { b"]+=" } else { b"]=" }));
    parts.extend(element.value.parts.iter().cloned());
    parts
}

/// Expands pairs, for example `a=(key value key value)`. The words are not split, and a missing
/// last value is empty. Later elements with a key are ordinary words.
fn expand_pairs(
    env: &mut dyn ExpandEnv,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    let mut out = Vec::with_capacity(elements.len() / 2 + 1);
    let mut texts = Vec::with_capacity(elements.len());
    for element in elements {
        texts.push(word::one_field(env, &whole_parts(element), Tilde::Never)?.strip_quotes());
    }
    for pair in texts.chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_default();
        out.push(CompoundElement { key: Some(pair[0].clone()), append: false, value });
    }
    Ok(out)
}
