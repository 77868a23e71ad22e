//! `${x@op}` (bash manual 3.5.3).

use box_text::escape;
use sh_syntax::ast::{CaseKind, Param};

use super::target::{Content, Part, Target};
use super::{Result, edit, names, str_of};
use crate::env::Env;
use crate::subscript::OwnedKey;
use crate::value::{Attributes, Str, Value};
use crate::word::Expander;

/// Where an expansion stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub quoted: bool,
    /// In double quotes with an `@` list, so that all that is made of a list is one.
    pub apart: bool,
    /// In an assigned value, which is not split.
    pub whole: bool,
}

pub(super) fn transform(
    env: &mut dyn Env,
    target: &Target<'_>,
    content: Content,
    op: u8,
    place: Place,
) -> Result<Content> {
    let nowhere = match target {
        Target::Variable { part: Part::Element(OwnedKey::Index(index)), .. } => *index < 0,
        Target::Variable { part: Part::Element(OwnedKey::Name(key)), .. } => key.is_empty(),
        _ => false,
    };
    if matches!(op, b'a' | b'A') && nowhere && matches!(content, Content::Scalar(None)) {
        // bash looks the element up once more, and complains again.
        target.fetch(env)?;
    }
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
        b'A' => assignment(env, target, content, place),
        _ => Ok(content),
    }
}

/// Whether bash finds no variable of that name, whose attributes it could tell: as for the length,
/// a nameref to an element, an unset nameref, and what is declared only and found by `${!x@a}`.
pub(super) fn finds_no_variable(x: &mut Expander<'_>, param: &Param, target: &Target<'_>) -> bool {
    let unset = |x: &mut Expander<'_>| match target {
        Target::Variable { name, part: Part::Whole } => {
            x.env.get(name).is_none() && (param.indirect || x.env.attributes(name).nameref)
        }
        _ => false,
    };
    names::leads_to_element(x, param) || unset(x)
}

/// Letters of the attributes, in the order bash lists them.
fn flags(attributes: Attributes) -> Vec<u8> {
    let all = [
        (attributes.indexed, b'a'),
        (attributes.assoc, b'A'),
        (attributes.integer, b'i'),
        (attributes.nameref, b'n'),
        (attributes.readonly, b'r'),
        (attributes.trace, b't'),
        (attributes.export, b'x'),
        (attributes.capitalize, b'c'),
        (attributes.lowercase, b'l'),
        (attributes.uppercase, b'u'),
    ];
    all.iter().filter(|(set, _)| *set).map(|&(_, letter)| letter).collect()
}

fn variable_flags(env: &dyn Env, target: &Target<'_>) -> Vec<u8> {
    match target {
        Target::Variable { name, .. } => flags(env.attributes(name)),
        Target::Text(name) => flags(env.attributes(name)),
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
        let text = list_pairs(&value, |key| key, b" ", b"");
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
fn list_pairs(
    value: &Value,
    wrap: impl Fn(Vec<u8>) -> Vec<u8>,
    between: &[u8],
    _: &[u8],
) -> Vec<u8> {
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

/// `@A`: a statement that makes the variable again.
fn assignment(
    env: &mut dyn Env,
    target: &Target<'_>,
    content: Content,
    place: Place,
) -> Result<Content> {
    let Target::Variable { name, part } = target else {
        return Ok(match (target, content) {
            (Target::Special(b'@' | b'*'), Content::List { items, star }) => {
                positional(env, items, star, place)
            }
            _ => Content::Scalar(None),
        });
    };
    // Of a global variable behind a local one the environment's name begins with a mark.
    let mark = name.iter().take_while(|b| b.is_ascii_control()).count();
    let shown = &name[mark..];
    let letters = flags(env.attributes(name));
    if let Part::All { star } = part {
        let mut words: Vec<Vec<u8>> = Vec::new();
        let value = env.get(name);
        let attributes = env.attributes(name);
        let is_array = matches!(value, Some(Value::Indexed(_) | Value::Assoc(_)));
        // A scalar's statement is one text.
        let is_list = is_array || attributes.indexed || attributes.assoc;
        if value.is_none() && letters.is_empty() {
            return Ok(Content::List { items: Vec::new(), star: *star });
        }
        if !letters.is_empty() {
            words.push(b"declare".to_vec());
            words.push([b"-", letters.as_slice()].concat());
        }
        words.push(match value {
            Some(value) if is_array => {
                let list =
                    list_pairs(&value, |key| [b"[".as_slice(), &key, b"]"].concat(), b"=", b"");
                [shown, b"=(".as_slice(), &list, b")"].concat()
            }
            Some(Value::Scalar(text)) => [shown, b"=".as_slice(), &escape::at_q(&text)].concat(),
            _ => shown.to_vec(),
        });
        let items: Vec<Str> = words.into_iter().map(str_of).collect();
        let text = spaced(&items);
        return Ok(if !is_list || *star && !place.apart {
            Content::Scalar(Some(text))
        } else {
            let items = if place.whole { vec![text] } else { split_outside(env, &text) };
            Content::List { items, star: false }
        });
    }
    let value = match content {
        Content::Scalar(value) => value,
        Content::List { items, .. } => items.into_iter().next(),
    };
    if value.is_none() && letters.is_empty() {
        return Ok(Content::Scalar(None));
    }
    let mut out = Vec::new();
    if !letters.is_empty() {
        out.extend_from_slice(b"declare -");
        out.extend_from_slice(&letters);
        out.push(b' ');
    }
    out.extend_from_slice(shown);
    if let Some(value) = value {
        out.push(b'=');
        out.extend_from_slice(&escape::at_q(&value));
    }
    Ok(Content::Scalar(Some(str_of(out))))
}

/// `set -- 'a' 'b'`
fn positional(env: &mut dyn Env, items: Vec<Str>, star: bool, place: Place) -> Content {
    let Some((first, rest)) = items.split_first() else { return Content::List { items, star } };
    let first = [b"set -- ".as_slice(), &escape::at_q(first)].concat();
    let mut made = vec![str_of(first)];
    made.extend(rest.iter().map(|text| str_of(escape::at_q(text))));
    if star && !place.apart {
        return Content::List { items: made, star };
    }
    if star && place.quoted && crate::split::Ifs::of(env).is_null() {
        made = vec![str_of(made.iter().flat_map(|text| text.iter().copied()).collect())];
    }
    let items = match place.whole {
        true => made,
        false => made.iter().flat_map(|text| split_outside(env, text)).collect(),
    };
    Content::List { items, star: false }
}

/// A statement as words: split at the characters of `IFS` outside of quotes and parentheses.
fn split_outside(env: &mut dyn Env, text: &[u8]) -> Vec<Str> {
    let ifs = crate::split::Ifs::of(env);
    let separates = |b: u8| match ifs.is_null() {
        true => b == b' ',
        false => ifs.ordinary_run(&[b]) == 0,
    };
    let (mut quote, mut level) = (0, 0_usize);
    let mut items = Vec::new();
    let mut item = Vec::new();
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        if quote == 0 && level == 0 && separates(byte) {
            items.push(str_of(std::mem::take(&mut item)));
            continue;
        }
        item.push(byte);
        match byte {
            b'\\' if quote != b'\'' => item.extend(bytes.next()),
            _ if byte == quote => quote = 0,
            b'\'' | b'"' if quote == 0 => quote = byte,
            b'(' if quote == 0 => level += 1,
            b')' if quote == 0 => level = level.saturating_sub(1),
            _ => {}
        }
    }
    items.push(str_of(item));
    items
}

fn spaced(items: &[Str]) -> Str {
    let parts: Vec<&[u8]> = items.iter().map(|text| text.as_slice()).collect();
    str_of(parts.join(&b' '))
}
