//! `${x@op}` (bash manual 3.5.3).

use box_text::escape;
use sh_syntax::ast::CaseKind;

use super::target::{ParamTarget, ParamValue, VarPart};
use super::{Result, edit};
use crate::attributed::str_of;
use crate::env::ExpandEnv;
use crate::value::{Str, VarValue};

/// Applies the operator `op` to a parameter or to its value.
pub(super) fn transform_content(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    content: ParamValue,
    op: u8,
) -> Result<ParamValue> {
    let utf8 = !env.options().c_locale;
    let cased = |text: &[u8], kind, all| Ok(edit::change_case(text, kind, all, utf8, |_| true));
    match op {
        b'Q' => content.map_values(|text| Ok(str_of(escape::at_q(&text)))),
        b'E' => content.map_values(|text| Ok(str_of(escape::ansi_c(&text)))),
        b'P' => content.map_values(|text| env.prompt(&text).map(str_of)),
        b'U' => content.map_values(|text| cased(&text, CaseKind::Upper, true)),
        b'u' => content.map_values(|text| cased(&text, CaseKind::Upper, false)),
        b'L' => content.map_values(|text| cased(&text, CaseKind::Lower, true)),
        b'K' | b'k' => key_values(env, target, content, op == b'K'),
        b'a' => Ok(attribute_letters(env, target, content)),
        b'A' => Ok(assignment_text(env, target, content)),
        _ => Ok(content),
    }
}

fn variable_flags(env: &dyn ExpandEnv, target: &ParamTarget<'_>) -> Vec<u8> {
    match target {
        ParamTarget::Variable { name, .. } => env.attributes(name).letters(),
        ParamTarget::Name(name) => env.attributes(name).letters(),
        _ => Vec::new(),
    }
}

fn attribute_letters(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    content: ParamValue,
) -> ParamValue {
    let letters = str_of(variable_flags(env, target));
    let of_list = matches!(content, ParamValue::List { star: false, .. });
    if of_list && letters.is_empty() && matches!(target, ParamTarget::Variable { .. }) {
        // `${x[@]@a}` of a scalar without attributes makes no field.
        return ParamValue::List { items: Vec::new(), star: false };
    }
    let has_value = match target {
        ParamTarget::Variable { name, .. } => env.get(name).is_some(),
        _ => true,
    };
    match content {
        // A variable that is declared but unset still has letters to show.
        ParamValue::Scalar(_) => ParamValue::Scalar(Some(letters)),
        // So has a declared array, but not an array that was assigned an empty list.
        ParamValue::List { items, star }
            if items.is_empty() && (letters.is_empty() || has_value) =>
        {
            ParamValue::List { items, star }
        }
        ParamValue::List { items, star } => {
            ParamValue::List { items: vec![letters; items.len().max(1)], star }
        }
    }
}

/// Performs `@K` and `@k`: keys and values of an array; any other value is quoted.
fn key_values(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    content: ParamValue,
    quoted: bool,
) -> Result<ParamValue> {
    let ParamTarget::Variable { name, part: VarPart::All { star } } = target else {
        return content.map_values(|text| Ok(str_of(escape::at_q(&text))));
    };
    let value = match env.get(name) {
        Some(value @ (VarValue::Indexed(_) | VarValue::Assoc(_))) => value,
        _ => return content.map_values(|text| Ok(str_of(escape::at_q(&text)))),
    };
    if quoted {
        let text = list_pairs(&value, |key| key, b" ");
        if text.is_empty() {
            return Ok(ParamValue::List { items: Vec::new(), star: *star });
        }
        return Ok(ParamValue::Scalar(Some(str_of(text))));
    }
    let mut items: Vec<Str> = Vec::new();
    each_pair(&value, |key, value| {
        items.push(str_of(key.to_vec()));
        items.push(value.clone());
    });
    Ok(ParamValue::List { items, star: *star })
}

fn each_pair(value: &VarValue, mut f: impl FnMut(&[u8], &Str)) {
    match value {
        VarValue::Scalar(text) => f(b"0", text),
        VarValue::Indexed(array) => {
            array.iter().for_each(|(index, value)| f(index.to_string().as_bytes(), value))
        }
        VarValue::Assoc(array) => array.iter().for_each(|(key, value)| f(key, value)),
    }
}

/// Returns `key "value" ...` in the style of `declare -p`; bash puts a space after each pair of an
/// associative array.
fn list_pairs(value: &VarValue, wrap: impl Fn(Vec<u8>) -> Vec<u8>, between: &[u8]) -> Vec<u8> {
    let assoc = matches!(value, VarValue::Assoc(_));
    let mut out = Vec::new();
    each_pair(value, |key, value| {
        if !assoc && !out.is_empty() {
            out.push(b' ');
        }
        let key = if assoc { quote_key(key) } else { key.to_vec() };
        out.extend_from_slice(&wrap(key));
        out.extend_from_slice(between);
        out.extend_from_slice(&escape::declare_quote(value));
        if assoc {
            out.push(b' ');
        }
    });
    out
}

/// Returns a key of an associative array as bash lists it.
fn quote_key(key: &[u8]) -> Vec<u8> {
    if escape::needs_ansi_c(key) {
        escape::ansi_c_quote(key)
    } else if escape::needs_quotes(key) || matches!(key, b"@" | b"*") {
        escape::double_quote(key)
    } else {
        key.to_vec()
    }
}

/// Performs `@A`: returns a statement that recreates the variable, as one text even for elements
/// and lists.
fn assignment_text(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    content: ParamValue,
) -> ParamValue {
    let ParamTarget::Variable { name, part } = target else {
        return match (target, content) {
            (ParamTarget::Special(b'@' | b'*'), ParamValue::List { items, star }) => {
                positional_text(items, star)
            }
            _ => ParamValue::Scalar(None),
        };
    };
    // The environment's name for a global variable that a local one hides begins with a mark.
    let mark = name.iter().take_while(|b| b.is_ascii_control()).count();
    let shown = &name[mark..];
    let letters = env.attributes(name).letters();
    let value = match part {
        VarPart::All { .. } => env.get(name),
        _ => match content {
            ParamValue::Scalar(value) => value.map(VarValue::Scalar),
            ParamValue::List { .. } => None,
        },
    };
    if value.is_none() && letters.is_empty() {
        return match part {
            VarPart::All { star } => ParamValue::List { items: Vec::new(), star: *star },
            _ => ParamValue::Scalar(None),
        };
    }
    let mut out = Vec::new();
    if !letters.is_empty() {
        out = [b"declare -".as_slice(), &letters, b" "].concat();
    }
    out.extend_from_slice(shown);
    match value {
        Some(VarValue::Scalar(text)) => {
            out.push(b'=');
            out.extend_from_slice(&escape::at_q(&text));
        }
        Some(value) => {
            let pairs = list_pairs(&value, |key| [b"[".as_slice(), &key, b"]"].concat(), b"=");
            out.extend([b"=(".as_slice(), &pairs, b")"].concat());
        }
        None => {}
    }
    ParamValue::Scalar(Some(str_of(out)))
}

/// Returns a text such as `set -- 'a' 'b'`.
fn positional_text(items: Vec<Str>, star: bool) -> ParamValue {
    if items.is_empty() {
        return ParamValue::List { items, star };
    }
    let quoted: Vec<Vec<u8>> = items.iter().map(|text| escape::at_q(text)).collect();
    ParamValue::Scalar(Some(str_of([b"set -- ".to_vec(), quoted.join(&b' ')].concat())))
}
