//! The elements of compound assignments, `name=(...)` (bash manual 6.7).

use sh_syntax::ast::ArrayElement;

use crate::env::Env;
use crate::error::ExpandError;
use crate::subscript::{OwnedKey, element_key};
use crate::value::Str;
use crate::word;

/// One element to assign, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundElement {
    /// `None`: the place behind the element before (indexed arrays).
    pub key: Option<OwnedKey>,
    /// `[key]+=value`
    pub append: bool,
    pub value: Str,
}

/// Expands the elements of `name=(...)` (`name` is a base name). Elements without a key go through brace
/// expansion, splitting and pathname expansion, those with one do not. For an associative
/// array whose first element has no key, words are keys and values in turn.
///
/// # Errors
/// Those of the expansions; `name: words: must use subscript when assigning associative array` is
/// a warning and skips the word, as in bash.
pub fn compound_elements(
    env: &mut dyn Env,
    name: &[u8],
    assoc: bool,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    if assoc && elements.first().is_some_and(|e| e.key.is_none()) {
        return pairs(env, elements);
    }
    let mut out = Vec::with_capacity(elements.len());
    let mut words = Vec::new();
    for element in elements {
        match &element.key {
            Some(subscript) => {
                let key = if assoc {
                    assoc_key(env, subscript)?
                } else {
                    element_key(env, name, subscript)?
                };
                let value = word::expand_assignment_value(env, &element.value)?;
                out.push(CompoundElement { key: Some(key), append: element.append, value });
            }
            None if assoc => {
                let text = word::expand_single(env, &element.value)?;
                let message: [&[u8]; 4] =
                    [name, b": ", &text, b": must use subscript when assigning associative array"];
                env.warn(&message.concat())?;
            }
            None => {
                word::expand_into(env, &element.value, word::Tilde::Start, &mut words)?;
                out.extend(words.drain(..).map(|value| CompoundElement {
                    key: None,
                    append: false,
                    value,
                }));
            }
        }
    }
    Ok(out)
}

/// A key as text whatever the variable is so far (`declare -A a=([x]=1)`).
fn assoc_key(
    env: &mut dyn Env,
    subscript: &sh_syntax::ast::Subscript,
) -> Result<OwnedKey, ExpandError> {
    use sh_syntax::ast::Subscript;
    Ok(OwnedKey::Name(match subscript {
        Subscript::At => b"@".to_vec(),
        Subscript::Star => b"*".to_vec(),
        Subscript::Expr(expr) => word::single(env, &expr.word, word::Tilde::Never)?.to_vec(),
    }))
}

/// `a=(key value key value)`: no splitting, a missing last value is empty.
fn pairs(
    env: &mut dyn Env,
    elements: &[ArrayElement],
) -> Result<Vec<CompoundElement>, ExpandError> {
    let mut out = Vec::with_capacity(elements.len() / 2 + 1);
    let mut texts = Vec::with_capacity(elements.len());
    for element in elements {
        texts.push(word::expand_single(env, &element.value)?);
    }
    for pair in texts.chunks(2) {
        let key = Some(OwnedKey::Name(pair[0].to_vec()));
        let value = pair.get(1).cloned().unwrap_or_default();
        out.push(CompoundElement { key, append: false, value });
    }
    Ok(out)
}
