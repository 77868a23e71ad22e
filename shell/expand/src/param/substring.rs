//! `${x:offset:length}` on strings, arrays and positional parameters.

use std::ops::Range;

use sh_syntax::ast::{Arith, Param};

use super::target::{Content, Part, Target};
use super::{Result, chars, shown, str_of};
use crate::arith;
use crate::env::Env;
use crate::error::{Cause, ExpandError, Reach};
use crate::value::{Str, Value};

pub(super) fn substring(
    env: &mut dyn Env,
    param: &Param,
    target: &Target<'_>,
    content: Content,
    offset: &Arith,
    length: Option<&Arith>,
) -> Result<Content> {
    let is_there = match &content {
        Content::Scalar(text) => text.is_some(),
        Content::List { items, .. } => {
            !items.is_empty() || !matches!(target, Target::Variable { .. })
        }
    };
    if is_there && length.is_none() && is_open(&offset.word.raw) {
        // bash looks for the colon behind the parenthesis.
        let text: &[u8] = &offset.word.raw;
        return Err(Cause::NoClosing { close: b')', text: text.to_vec() }.into());
    }
    match content {
        Content::Scalar(None) => Ok(Content::Scalar(None)),
        Content::Scalar(Some(text)) => {
            let utf8 = !env.options().c_locale;
            let count = chars::char_count(&text, utf8);
            let offset = number(env, param, offset)?;
            let Some(start) = string_start(count, offset) else {
                // The length is not looked at, and there is no text, not even an empty one.
                return Ok(Content::Scalar(None));
            };
            let limit = length.map(|expr| number(env, param, expr)).transpose()?;
            let range = match (string_range(count, start, limit), length) {
                (None, Some(length)) => return Err(negative(length)),
                (range, _) => range.unwrap_or_default(),
            };
            if range == (0..count) {
                return Ok(Content::Scalar(Some(text)));
            }
            let start = chars::byte_offset(&text, range.start, utf8);
            let end = start + chars::byte_offset(&text[start..], range.end - range.start, utf8);
            Ok(Content::Scalar(Some(str_of(text[start..end].to_vec()))))
        }
        Content::List { items, star } => {
            if let (Target::Variable { name, .. }, [text]) = (target, items.as_slice())
                && matches!(env.get(name), Some(Value::Scalar(_)))
            {
                // `${x[@]:1}` of a scalar.
                let content = Content::Scalar(Some(text.clone()));
                let made = substring(env, param, target, content, offset, length)?;
                return Ok(match made {
                    Content::Scalar(None) => Content::List { items: Vec::new(), star },
                    other => other,
                });
            }
            if items.is_empty() && (param.indirect || matches!(target, Target::Variable { .. })) {
                return Ok(Content::List { items, star });
            }
            let offset = number(env, param, offset)?;
            if out_of_range(env, target, items.len(), offset) {
                return Ok(Content::List { items: Vec::new(), star });
            }
            let limit = match length.map(|expr| number(env, param, expr)).transpose()? {
                None => usize::MAX,
                Some(limit) => match (usize::try_from(limit), length) {
                    (Ok(limit), _) => limit,
                    (Err(_), Some(length)) => return Err(negative(length)),
                    (Err(_), None) => 0,
                },
            };
            Ok(Content::List { items: slice(env, target, items, offset, limit), star })
        }
    }
}

/// Whether a parenthesis outside quotes is never closed.
fn is_open(text: &[u8]) -> bool {
    let mut depth = 0usize;
    let mut quote = None;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', None | Some(b'"')) => drop(bytes.next()),
            (b'\'' | b'"', None) => quote = Some(*byte),
            (end, Some(open)) if *end == open => quote = None,
            (b'(', None) => depth += 1,
            (b')', None) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    depth > 0
}

/// Whether an offset lies outside of a list, so that the length is not looked at.
fn out_of_range(env: &mut dyn Env, target: &Target<'_>, count: usize, offset: i64) -> bool {
    let mut indexed = false;
    let size = match target {
        Target::Variable { name, .. } => match env.get(name) {
            Some(Value::Indexed(array)) => {
                indexed = true;
                array.max_index().map_or(0, |last| last.saturating_add(1))
            }
            _ => count as i64,
        },
        // `$0` counts, too.
        _ => count as i64 + 1,
    };
    let start = if offset < 0 { offset.saturating_add(size) } else { offset };
    !(0..=size).contains(&start) || indexed && start == size
}

/// Errors in the arithmetic show the parameter's name in front, those of expansions in it do not.
fn number(env: &mut dyn Env, param: &Param, expr: &Arith) -> Result<i64> {
    arith::eval(env, expr).map_err(|error| match error.reach() {
        Reach::Command => Cause::InRange { parameter: shown(param), cause: error.cause }.into(),
        _ => error,
    })
}

/// A length that leads before the offset, shown as it was written.
fn negative(length: &Arith) -> ExpandError {
    Cause::NegativeLength(length.word.raw.to_vec()).into()
}

/// The first character meant; `None` if the offset lies outside.
fn string_start(count: usize, offset: i64) -> Option<i64> {
    let size = count as i64;
    let start = if offset < 0 { size + offset.max(-size - 1) } else { offset };
    (0..=size).contains(&start).then_some(start)
}

/// The characters meant; `None` if the end lies before the start.
fn string_range(count: usize, start: i64, length: Option<i64>) -> Option<Range<usize>> {
    let size = count as i64;
    let end = match length {
        None => size,
        Some(length) if length >= 0 => start.saturating_add(length).min(size),
        Some(length) => {
            let end = size.saturating_add(length);
            if end < start {
                return None;
            }
            end
        }
    };
    Some(start as usize..end as usize)
}

/// Elements of a list from `offset` on.
fn slice(
    env: &mut dyn Env,
    target: &Target<'_>,
    items: Vec<Str>,
    offset: i64,
    limit: usize,
) -> Vec<Str> {
    match target {
        // `$0` is number 0 of the positional parameters.
        Target::Special(_) => {
            let count = items.len() as i64;
            let start =
                if offset < 0 { count.saturating_add(1).saturating_add(offset) } else { offset };
            if start < 0 {
                return Vec::new();
            }
            let zero = (start == 0 && limit > 0).then(|| env.special(b'0')).flatten();
            let left = limit - usize::from(zero.is_some());
            let skip = usize::try_from(start).unwrap_or(usize::MAX).saturating_sub(1);
            zero.into_iter().chain(items.into_iter().skip(skip).take(left)).collect()
        }
        Target::Variable { name, part: Part::All { .. } } => match env.get(name) {
            Some(Value::Indexed(array)) => {
                let end = array.max_index().map_or(0, |last| last.saturating_add(1));
                let start = if offset < 0 { end.saturating_add(offset) } else { offset };
                if start < 0 {
                    return Vec::new();
                }
                array.values_from(start).take(limit).cloned().collect()
            }
            Some(Value::Assoc(array)) => {
                // bash counts the elements from 1 here; 0 means the first, too.
                let end = array.len() as i64 + 1;
                let start = if offset < 0 { end.saturating_add(offset) } else { offset };
                if start < 0 {
                    return Vec::new();
                }
                let skip = usize::try_from(start).unwrap_or(usize::MAX).saturating_sub(1);
                // None of them is one, too.
                array.values().skip(skip).take(limit.max(1)).cloned().collect()
            }
            Some(Value::Scalar(_)) | None => Vec::new(),
        },
        _ => items,
    }
}
