//! `${x@op}` (bash manual 3.5.3).

use box_text::escape;
use sh_syntax::ast::CaseKind;

use super::target::{Content, Part, Target};
use super::{Result, edit};
use crate::attributed::str_of;
use crate::env::Env;
use crate::value::{Str, Value};

/// What the operator `op` makes of a parameter or of its value.
pub(super) fn transform(
    env: &mut dyn Env,
    target: &Target<'_>,
    content: Content,
    op: u8,
) -> Result<Content> {
    let utf8 = !env.options().c_locale;
    let cased = |text: &[u8], kind, all| Ok(edit::change_case(text, kind, all, utf8, |_| true));
    match op {
        b'Q' => content.map(|text| Ok(str_of(escape::at_q(&text)))),
        b'E' => content.map(|text| Ok(str_of(escape::ansi_c(&text)))),
        b'P' => content.map(|text| env.prompt(&text).map(str_of)),
        b'U' => content.map(|text| cased(&text, CaseKind::Upper, true)),
        b'u' => content.map(|text| cased(&text, CaseKind::Upper, false)),
        b'L' => content.map(|text| cased(&text, CaseKind::Lower, true)),
        b'K' | b'k' => key_values(env, target, content, op == b'K'),
        b'a' => Ok(attributes(env, target, content)),
        b'A' => Ok(assignment(env, target, content)),
        _ => Ok(content),
    }
}

fn variable_flags(env: &dyn Env, target: &Target<'_>) -> Vec<u8> {
    match target {
        Target::Variable { name, .. } => env.attributes(name).letters(),
        Target::Name(name) => env.attributes(name).letters(),
        _ => Vec::new(),
    }
}

fn attributes(env: &mut dyn Env, target: &Target<'_>, content: Content) -> Content {
    let letters = str_of(variable_flags(env, target));
    let of_list = matches!(content, Content::List { star: false, .. });
    if of_list && letters.is_empty() && matches!(target, Target::Variable { .. }) {
        // A scalar written as a list that has none: no field at all.
        return Content::List { items: Vec::new(), star: false };
    }
    let has_value = match target {
        Target::Variable { name, .. } => env.get(name).is_some(),
        _ => true,
    };
    match content {
        // A variable that is declared but unset still shows them.
        Content::Scalar(_) => Content::Scalar(Some(letters)),
        // So do declared arrays, but not empty ones.
        Content::List { items, star } if items.is_empty() && (letters.is_empty() || has_value) => {
            Content::List { items, star }
        }
        Content::List { items, star } => {
            Content::List { items: vec![letters; items.len().max(1)], star }
        }
    }
}

/// `@K` and `@k`: keys and values of an array; anything else is quoted.
fn key_values(
    env: &mut dyn Env,
    target: &Target<'_>,
    content: Content,
    quoted: bool,
) -> Result<Content> {
    let Target::Variable { name, part: Part::All { star } } = target else {
        return content.map(|text| Ok(str_of(escape::at_q(&text))));
    };
    let value = match env.get(name) {
        Some(value @ (Value::Indexed(_) | Value::Assoc(_))) => value,
        _ => return content.map(|text| Ok(str_of(escape::at_q(&text)))),
    };
    if quoted {
        let text = list_pairs(&value, |key| key, b" ");
        if text.is_empty() {
            return Ok(Content::List { items: Vec::new(), star: *star });
        }
        return Ok(Content::Scalar(Some(str_of(text))));
    }
    let mut items: Vec<Str> = Vec::new();
    each_pair(&value, |key, value| {
        items.push(str_of(key.to_vec()));
        items.push(value.clone());
    });
    Ok(Content::List { items, star: *star })
}

fn each_pair(value: &Value, mut f: impl FnMut(&[u8], &Str)) {
    match value {
        Value::Scalar(text) => f(b"0", text),
        Value::Indexed(array) => {
            array.iter().for_each(|(index, value)| f(index.to_string().as_bytes(), value))
        }
        Value::Assoc(array) => array.iter().for_each(|(key, value)| f(key, value)),
    }
}

/// `key "value" ...` in the style of `declare -p`; bash puts a space behind each pair of an
/// associative array.
fn list_pairs(value: &Value, wrap: impl Fn(Vec<u8>) -> Vec<u8>, between: &[u8]) -> Vec<u8> {
    let assoc = matches!(value, Value::Assoc(_));
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

/// A key of an associative array as bash lists it.
fn quote_key(key: &[u8]) -> Vec<u8> {
    if escape::needs_ansi_c(key) {
        escape::ansi_c_quote(key)
    } else if escape::needs_quotes(key) || matches!(key, b"@" | b"*") {
        escape::double_quote(key)
    } else {
        key.to_vec()
    }
}

/// `@A`: a statement that makes the variable again, one text whatever it is asked of.
fn assignment(env: &mut dyn Env, target: &Target<'_>, content: Content) -> Content {
    let Target::Variable { name, part } = target else {
        return match (target, content) {
            (Target::Special(b'@' | b'*'), Content::List { items, star }) => {
                positional(items, star)
            }
            _ => Content::Scalar(None),
        };
    };
    // Of a global variable behind a local one the environment's name begins with a mark.
    let mark = name.iter().take_while(|b| b.is_ascii_control()).count();
    let shown = &name[mark..];
    let letters = env.attributes(name).letters();
    let value = match part {
        Part::All { .. } => env.get(name),
        _ => match content {
            Content::Scalar(value) => value.map(Value::Scalar),
            Content::List { .. } => None,
        },
    };
    if value.is_none() && letters.is_empty() {
        return match part {
            Part::All { star } => Content::List { items: Vec::new(), star: *star },
            _ => Content::Scalar(None),
        };
    }
    let mut out = Vec::new();
    if !letters.is_empty() {
        out = [b"declare -".as_slice(), &letters, b" "].concat();
    }
    out.extend_from_slice(shown);
    match value {
        Some(Value::Scalar(text)) => {
            out.push(b'=');
            out.extend_from_slice(&escape::at_q(&text));
        }
        Some(value) => {
            let pairs = list_pairs(&value, |key| [b"[".as_slice(), &key, b"]"].concat(), b"=");
            out.extend([b"=(".as_slice(), &pairs, b")"].concat());
        }
        None => {}
    }
    Content::Scalar(Some(str_of(out)))
}

/// `set -- 'a' 'b'`
fn positional(items: Vec<Str>, star: bool) -> Content {
    if items.is_empty() {
        return Content::List { items, star };
    }
    let quoted: Vec<Vec<u8>> = items.iter().map(|text| escape::at_q(text)).collect();
    Content::Scalar(Some(str_of([b"set -- ".to_vec(), quoted.join(&b' ')].concat())))
}
