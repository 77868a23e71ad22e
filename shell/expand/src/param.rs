//! Parameter expansion (POSIX XCU 2.6.2, bash manual 3.5.3).
//!
//! | step | file |
//! |---|---|
//! | which parameter is meant, and its value or list of values | `target` |
//! | `${x-w}` and relatives | `defaults` |
//! | `${#x}`, `${!prefix@}`, `${!a[@]}` | `names` |
//! | `${x:o:l}` | `substring` |
//! | `${x#p}`, `${x%p}`, `${x^p}` | `edit` |
//! | `${x/p/r}`: what is looked for, and what takes its place | `sought`, `replace` |
//! | `${x@op}` | `transform` |
//! | characters in byte strings | `chars` |

pub(crate) mod chars;
mod defaults;
pub(crate) mod edit;
mod names;
mod replace;
mod sought;
mod substring;
mod target;
mod transform;

use std::rc::Rc;

use sh_syntax::ast::{Param, ParamName, ParamOp, WordPart};
use sh_syntax::parse::{ParseOptions, parse_parameter};

use crate::env::Lookup;
use crate::error::{Cause, ExpandError};
use crate::fields::Mode;
use crate::lists;
use crate::split::Ifs;
use crate::value::{Str, Value};
use crate::word::Expander;
pub(crate) use defaults::split_at_marks;
pub use target::push_subscript;
pub(crate) use target::whole as whole_value;
use target::{Content, Target};

type Result<T> = std::result::Result<T, ExpandError>;

/// The name, if the expansion is a plain `$name` or `${name}`.
pub(crate) fn plain_name(param: &Param) -> Option<&[u8]> {
    match param {
        Param {
            name: ParamName::Variable(name),
            subscript: None,
            indirect: false,
            op: ParamOp::Plain,
            ..
        } => Some(name),
        _ => None,
    }
}

/// `${!#}` and `${!?}` mean something else in POSIX mode, and bash reads them when it expands them:
/// the expansion as it is read now, if it was read in the other mode.
fn read_anew(x: &Expander<'_>, param: &Param) -> Option<Param> {
    if !matches!(param.raw.get(..4), Some(b"${!#" | b"${!?")) {
        return None;
    }
    let posix = x.env.options().posix;
    let options = ParseOptions { posix, ..ParseOptions::default() };
    let word = sh_syntax::parse::parse_word(&param.raw, &options).ok()?;
    match word.parts.as_slice() {
        [WordPart::Param(now)] if **now != *param => Some((**now).clone()),
        _ => None,
    }
}

/// Expands a parameter into the fields under construction. True if it was an `@` list
/// without elements (`"$@"` alone makes no field then).
pub(crate) fn expand(x: &mut Expander<'_>, param: &Param, quoted: bool) -> Result<bool> {
    if let Some(name) = plain_name(param) {
        match x.env.lookup(name) {
            Lookup::Value(Value::Scalar(text)) => {
                x.value(text, quoted)?;
                return Ok(false);
            }
            Lookup::Unset if !x.env.options().nounset => return Ok(false),
            _ => {}
        }
    }
    if let Some(other) = read_anew(x, param) {
        return expand(x, &other, quoted);
    }
    let unquoted = x.naming(quoted);
    match &param.op {
        ParamOp::Bad { whole }
            if quoted
                && !whole.is_empty()
                && x.fields.mode != Mode::HereDoc
                && !x.in_heredoc
                && is_unclosed(&param.raw) =>
        {
            return Err(Cause::OpenBrace(whole.to_vec()).into());
        }
        ParamOp::Bad { whole } => {
            if param.raw.ends_with(b":}")
                && (param.indirect || !matches!(param.name, ParamName::Special(_)))
            {
                Target::of(x.env, param, unquoted)?.fetch(x.env)?;
            }
            let list = lists::is_bad_list(param);
            return bad_substitution(x, param, whole).map(|()| list);
        }
        ParamOp::NamesWithPrefix { at } => return names::with_prefix(x, param, *at, quoted),
        ParamOp::Keys { at } => return names::keys(x, param, *at, quoted),
        ParamOp::Length => return names::length(x, param, quoted),
        _ => {}
    }
    let target = Target::of(x.env, param, unquoted)?;
    let mut hidden = false;
    let content = match target.fetch(x.env)? {
        Content::List { items, star } => {
            let leads = param.raw.starts_with(b"${") && names::leads_to_element(x, param);
            let heredoc = x.in_heredoc || x.fields.mode == Mode::HereDoc;
            hidden = quoted && (leads || param.indirect) && !(star && heredoc);
            match leads {
                true => one_text(x, &items, star, quoted),
                false => Content::List { items, star },
            }
        }
        content => content,
    };
    let (assigned, nullable, joined) = match &content {
        Content::List { star, .. } => seen_as(x, &target, *star, quoted, hidden),
        Content::Scalar(_) => (false, !hidden, quoted),
    };
    let missing =
        |x: &mut Expander<'_>, colon: bool| content.is_missing(x.env, colon && nullable, joined);
    match &param.op {
        ParamOp::Default { colon, word } => {
            if missing(x, *colon) {
                return defaults::word(x, word, quoted);
            }
        }
        ParamOp::Alternate { colon, word } => {
            if !missing(x, *colon) {
                return defaults::word(x, word, quoted);
            }
            if quoted && matches!(&content, Content::List { items, .. } if !items.is_empty()) {
                x.fields.start();
            }
            // `"${@+x}"` without parameters makes no field, as `"$@"` would.
            return Ok(
                matches!(&content, Content::List { items, star: false } if items.is_empty()),
            );
        }
        ParamOp::Error { colon, word } => {
            if missing(x, *colon) {
                return Err(defaults::error(x, param, *colon, word)?);
            }
        }
        ParamOp::Assign { colon, word } => {
            if missing(x, *colon) {
                let value = defaults::assign(x, param, &target, word, quoted)?;
                if quoted && value.is_empty() {
                    // A field beside an empty `"$@"`, too.
                    x.fields.start();
                }
                x.value(value, quoted)?;
                return Ok(false);
            }
        }
        op => {
            let of_variable = matches!(op, ParamOp::Transform(b'a' | b'A'));
            // `set -u` lets an array without element 0 pass there, and an element to which the
            // nameref in `$r` leads.
            let exempt = |x: &mut Expander<'_>| {
                of_variable && target.is_filled_array(x.env)
                    || target::is_indirect_nameref(x.env, param)
                    || !param.raw.starts_with(b"${") && names::leads_to_element(x, param)
            };
            if x.env.options().nounset && !exempt(x) {
                // Joined, a list that an indirection leads to is unset if it is empty.
                let joined = param.indirect && (quoted || x.fields.mode != Mode::Split);
                if joined
                    && matches!(&content, Content::List { items, star: true } if items.is_empty())
                {
                    return Err(target::unbound(param));
                }
                content.require_set(x.env, param)?;
            }
            if of_variable && transform::finds_no_variable(x, param, &target) {
                return Ok(false);
            }
            if content.needs_no_operand(op, quoted || assigned) {
                return emit(x, param, content, quoted);
            }
            if is_nothing(op) && matches!(content, Content::List { .. }) {
                let plain = Param { op: ParamOp::Plain, ..param.clone() };
                return emit(x, &plain, content, quoted);
            }
            let content = apply(x, param, op, &target, content, quoted)?;
            if param.indirect
                && let Content::List { items, star } = &content
                && is_positional(&target)
                && by_spaces(x, op, items, *star, quoted)?
            {
                return Ok(false);
            }
            let nothing = matches!(&content, Content::Scalar(Some(text)) if text.is_empty());
            if quoted && nothing && leaves_field(op) {
                // A field beside an empty `"$@"`, where plain `$x` is none.
                x.fields.start();
            }
            return emit(x, param, content, quoted);
        }
    }
    emit(x, param, content, quoted)
}

/// How a list is looked at: whether it is one that is assigned; whether it may be null; whether as the
/// string that its elements make. Found by experiment with lists of empty elements.
fn seen_as(
    x: &mut Expander<'_>,
    target: &Target<'_>,
    star: bool,
    quoted: bool,
    hidden: bool,
) -> (bool, bool, bool) {
    if quoted {
        return (false, !hidden, true);
    }
    let (mode, null) = (x.fields.mode, Ifs::of(x.env).is_null());
    let assigned = lists::assigned_mode(x) == Mode::Assign && !x.by_ifs && target.is_list(x.env);
    let positional = is_positional(target);
    if null && star && positional && mode != Mode::Split {
        // In an operand they are joined by spaces.
        return (assigned, true, !x.in_operand && !x.by_ifs);
    }
    let operand = x.in_operand || mode == Mode::Join;
    let never_null = assigned
        || operand && !star && lists::is_never_null(x.env)
        || null && star && mode == Mode::Join && !x.in_operand
        || x.quotes_lists && !(star && positional);
    (assigned, !never_null, false)
}

/// `${a[}`: the subscript takes the brace; within quotes bash then misses one.
fn is_unclosed(raw: &[u8]) -> bool {
    let Some(text) = raw.strip_prefix(b"${") else { return false };
    let name = text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    name > 0 && text.get(name) == Some(&b'[') && !text.contains(&b']')
}

fn is_positional(target: &Target<'_>) -> bool {
    matches!(target, Target::Special(_))
}

/// What these operators make of `$@` and `$*` when another variable leads there is one text with spaces
/// between the elements. Where `IFS` begins with a space that is as good as a list. Found by experiment.
fn by_spaces(
    x: &mut Expander<'_>,
    op: &ParamOp,
    items: &[Str],
    star: bool,
    quoted: bool,
) -> Result<bool> {
    let ifs = Ifs::of(x.env);
    let here = matches!(
        op,
        ParamOp::RemovePrefix { .. }
            | ParamOp::RemoveSuffix { .. }
            | ParamOp::Substring { .. }
            | ParamOp::Transform(_)
    );
    if !here || items.is_empty() || ifs.separator() == b" " || ifs.is_null() && quoted && !star {
        return Ok(false);
    }
    let text = target::join(x.env, items, false);
    if !ifs.is_null() || quoted || x.fields.mode != Mode::Split {
        x.value(text, quoted)?;
        return Ok(true);
    }
    for word in text.split(|byte| *byte == b' ') {
        x.fields.end_field_if_any();
        x.value(str_of(word.to_vec()), false)?;
    }
    Ok(true)
}

/// Whether what is not quoted becomes words, but is not split.
fn splits_nothing(x: &mut Expander<'_>) -> bool {
    x.fields.mode == Mode::Split && Ifs::of(x.env).is_null()
}

/// `${x#}` and the like, which remove nothing.
fn is_nothing(op: &ParamOp) -> bool {
    match op {
        ParamOp::RemovePrefix { pattern, longest: false }
        | ParamOp::RemoveSuffix { pattern, longest: false } => pattern.parts.is_empty(),
        _ => false,
    }
}

/// The operators that make a value from a value.
fn apply(
    x: &mut Expander<'_>,
    param: &Param,
    op: &ParamOp,
    target: &Target<'_>,
    content: Content,
    quoted: bool,
) -> Result<Content> {
    match op {
        ParamOp::RemovePrefix { longest, pattern } => {
            edit::remove(x.env, content, pattern, true, *longest, quoted)
        }
        ParamOp::RemoveSuffix { longest, pattern } => {
            edit::remove(x.env, content, pattern, false, *longest, quoted)
        }
        ParamOp::Replace { kind, pattern, replacement } => {
            replace::replace(x.env, content, *kind, pattern, replacement.as_ref(), quoted)
        }
        ParamOp::Case { kind, all, pattern } => {
            edit::case(x.env, content, *kind, *all, pattern.as_ref())
        }
        ParamOp::Substring { offset, length } => {
            substring::substring(x.env, param, target, content, offset, length.as_ref())
        }
        ParamOp::Transform(op) => {
            let apart = match quoted {
                true => x.beside_lists > 0 && x.fields.mode == Mode::Split,
                false => splits_nothing(x),
            };
            let whole = x.by_ifs || x.fields.mode == Mode::Assign;
            let place = transform::Place { quoted, apart, whole };
            transform::transform(x.env, target, content, *op, place)
        }
        _ => Ok(content),
    }
}

/// All of an array, to which the nameref in `${r}` leads, is one text; in `$r` it is a list. Found
/// by experiment: in assignments `[@]` is joined by spaces, and where `IFS` is null all but a quoted
/// `[*]`.
fn one_text(x: &mut Expander<'_>, items: &[Str], star: bool, quoted: bool) -> Content {
    if items.is_empty() {
        return Content::Scalar(None);
    }
    let null = Ifs::of(x.env).is_null();
    let assigned = x.fields.mode == Mode::Assign;
    let by_ifs = if star { assigned || quoted || !null } else { !assigned && !null };
    Content::Scalar(Some(target::join(x.env, items, by_ifs)))
}

/// Whether an operator that leaves nothing of a quoted value leaves a field nevertheless.
fn leaves_field(op: &ParamOp) -> bool {
    matches!(
        op,
        ParamOp::Replace { .. }
            | ParamOp::Case { .. }
            | ParamOp::Substring { .. }
            | ParamOp::RemovePrefix { .. }
            | ParamOp::RemoveSuffix { .. }
            | ParamOp::Transform(b'E' | b'K' | b'L' | b'Q' | b'U' | b'k' | b'u')
    )
}

fn emit(x: &mut Expander<'_>, param: &Param, content: Content, quoted: bool) -> Result<bool> {
    match content {
        Content::Scalar(None) => Ok(false),
        Content::Scalar(Some(text)) => {
            if matches!(param.op, ParamOp::Plain)
                && !param.indirect
                && matches!(param.name, ParamName::Special(b'?' | b'#' | b'$' | b'!' | b'-'))
            {
                x.number(text, quoted)?;
                return Ok(false);
            }
            x.value(text, quoted)?;
            Ok(false)
        }
        Content::List { items, star } => lists::emit(x, param, items, star, quoted),
    }
}

/// What is no expansion. For an unknown `@` operator bash looks at the variable first: unset, it
/// is nothing; set, the shell ends. Otherwise the command is abandoned.
fn bad_substitution(x: &mut Expander<'_>, param: &Param, whole: &[u8]) -> Result<()> {
    let shown = if whole.is_empty() { &param.raw } else { whole };
    let shown = shown.to_vec();
    let text = param.raw.strip_prefix(b"${").unwrap_or_default();
    let (text, indirect) = match text.strip_prefix(b"!") {
        Some(text) => (text, true),
        None => (text, false),
    };
    let end = match text.first() {
        Some(b'@' | b'*') => 1,
        _ => text.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count(),
    };
    let end = match text.get(end) {
        Some(b'[') => text[end..].iter().position(|b| *b == b']').map_or(end, |n| end + n + 1),
        _ => end,
    };
    // `${!1@}` asks for names, which do not begin so.
    let names = indirect && &text[end..] == b"@}" && text.first() != Some(&b'@');
    let Some((name, subscript)) = (text.get(end) == Some(&b'@') && !names)
        .then(|| parse_parameter(&text[..end], &ParseOptions::default()))
        .flatten()
    else {
        return Err(Cause::BadSubstitution(shown).into());
    };
    let raw = param.raw.clone();
    let looked_at =
        Param { name, subscript, indirect, op: ParamOp::Bad { whole: raw.clone() }, raw };
    let content = Target::of(x.env, &looked_at, None)?.fetch(x.env)?;
    // Attributes and statements are asked of what has no value, too.
    let of_none = matches!(text.get(end + 1), Some(b'a' | b'A'))
        && (matches!(content, Content::List { .. }) || !x.env.options().nounset);
    match !of_none && content.is_missing(x.env, false, false) {
        // Of lists `set -u` does not ask anything.
        true => content.require_set(x.env, &looked_at),
        false => Err(Cause::BadTransformation(shown).into()),
    }
}

/// The parameter as messages name it: `x`, `a[$i]`, `1`, `@`, `!x`.
fn shown(param: &Param) -> Vec<u8> {
    let mut out = if param.indirect { vec![b'!'] } else { Vec::new() };
    out.extend_from_slice(&shown_directly(param));
    out
}

/// The parameter that holds the name of the one that is meant.
fn shown_directly(param: &Param) -> Vec<u8> {
    let mut out = match &param.name {
        ParamName::Variable(name) => name.to_vec(),
        ParamName::Positional(n) => n.to_string().into_bytes(),
        ParamName::Special(c) => vec![*c],
    };
    target::push_subscript(param.subscript.as_ref(), &mut out);
    out
}

pub(crate) fn str_of(bytes: Vec<u8>) -> Str {
    Rc::new(bytes)
}
