//! `${x:offset:length}` on strings, arrays and positional parameters.

use std::ops::Range;

use sh_syntax::ast::{ArithText, Param};

use super::target::{ParamTarget, ParamValue, VarPart};
use super::{Result, chars, param_text};
use crate::arith;
use crate::attributed::str_of;
use crate::env::ExpandEnv;
use crate::error::{ErrorReach, ExpandCause, ExpandError};
use crate::value::{Str, VarValue};

/// The requested part of a value or list.
pub(super) struct Slice<'p> {
    pub(super) param: &'p Param,
    pub(super) target: &'p ParamTarget<'p>,
    pub(super) offset: &'p ArithText,
    pub(super) length: Option<&'p ArithText>,
}

impl Slice<'_> {
    /// Returns the part of a value.
    pub(super) fn take_slice(
        &self,
        env: &mut dyn ExpandEnv,
        content: ParamValue,
    ) -> Result<ParamValue> {
        match content {
            ParamValue::Scalar(None) => Ok(ParamValue::Scalar(None)),
            ParamValue::Scalar(Some(text)) => Ok(ParamValue::Scalar(self.of_text(env, text)?)),
            ParamValue::List { items, star } => {
                if let ParamTarget::Variable { name, .. } = self.target {
                    let value = env.get(name);
                    if let (Some(VarValue::Scalar(_)), [text]) = (value, items.as_slice()) {
                        // `${x[@]:1}` of a scalar.
                        let items = self.of_text(env, text.clone())?.into_iter().collect();
                        return Ok(ParamValue::List { items, star });
                    }
                }
                let items = self.of_list(env, items)?;
                Ok(ParamValue::List { items, star })
            }
        }
    }

    /// Returns the selected characters of a text; `None` if the offset lies outside of it.
    fn of_text(&self, env: &mut dyn ExpandEnv, text: Str) -> Result<Option<Str>> {
        let utf8 = !env.options().c_locale;
        let count = chars::char_count(&text, utf8);
        let offset = self.eval_number(env, self.offset)?;
        let Some(start) = string_start(count, offset) else {
            // The length is not evaluated.
            return Ok(None);
        };
        let limit = self.length.map(|expr| self.eval_number(env, expr)).transpose()?;
        let range = match (string_range(count, start, limit), self.length) {
            (None, Some(length)) => return Err(negative_length(length)),
            (range, _) => range.unwrap_or_default(),
        };
        if range == (0..count) {
            return Ok(Some(text));
        }
        let start = chars::byte_offset(&text, range.start, utf8);
        let end = start + chars::byte_offset(&text[start..], range.end - range.start, utf8);
        Ok(Some(str_of(text[start..end].to_vec())))
    }

    /// Returns the selected elements of a list.
    fn of_list(&self, env: &mut dyn ExpandEnv, items: Vec<Str>) -> Result<Vec<Str>> {
        if items.is_empty() && matches!(self.target, ParamTarget::Variable { .. }) {
            return Ok(items);
        }
        let offset = self.eval_number(env, self.offset)?;
        if out_of_range(env, self.target, items.len(), offset) {
            return Ok(Vec::new());
        }
        let limit = match self.length {
            None => usize::MAX,
            Some(length) => usize::try_from(self.eval_number(env, length)?)
                .map_err(|_| negative_length(length))?,
        };
        Ok(slice_items(env, self.target, items, offset, limit))
    }

    /// Evaluates a number. Errors of the arithmetic begin with the parameter's name; errors of
    /// expansions in the expression do not.
    fn eval_number(&self, env: &mut dyn ExpandEnv, expr: &ArithText) -> Result<i64> {
        arith::eval_arith(env, expr).map_err(|error| match error.reach() {
            ErrorReach::Command => {
                ExpandCause::InRange { parameter: param_text(self.param), cause: error.cause }
                    .into()
            }
            _ => error,
        })
    }
}

/// Returns whether an offset lies outside of a list, so that the length is not evaluated.
fn out_of_range(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    count: usize,
    offset: i64,
) -> bool {
    let mut indexed = false;
    let size = match target {
        ParamTarget::Variable { name, .. } => match env.get(name) {
            Some(VarValue::Indexed(array)) => {
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

/// Returns the error for a negative length that ends before the offset. The message shows the
/// length as it was written.
fn negative_length(length: &ArithText) -> ExpandError {
    ExpandCause::NegativeLength(length.word.raw.to_vec()).into()
}

/// Returns the first selected character; `None` if the offset lies outside.
fn string_start(count: usize, offset: i64) -> Option<i64> {
    let size = count as i64;
    let start = if offset < 0 { size + offset.max(-size - 1) } else { offset };
    (0..=size).contains(&start).then_some(start)
}

/// Returns the selected characters; `None` if the end lies before the start.
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

/// Returns the elements of a list from `offset` on.
fn slice_items(
    env: &mut dyn ExpandEnv,
    target: &ParamTarget<'_>,
    items: Vec<Str>,
    offset: i64,
    limit: usize,
) -> Vec<Str> {
    match target {
        // `$0` is number 0 of the positional parameters.
        ParamTarget::Special(_) => {
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
        ParamTarget::Variable { name, part: VarPart::All { .. } } => match env.get(name) {
            Some(VarValue::Indexed(array)) => {
                let end = array.max_index().map_or(0, |last| last.saturating_add(1));
                let start = if offset < 0 { end.saturating_add(offset) } else { offset };
                if start < 0 {
                    return Vec::new();
                }
                array.values_from(start).take(limit).cloned().collect()
            }
            Some(VarValue::Assoc(array)) => {
                // bash counts the elements from 1 here; 0 also means the first.
                let end = array.len() as i64 + 1;
                let start = if offset < 0 { end.saturating_add(offset) } else { offset };
                if start < 0 {
                    return Vec::new();
                }
                let skip = usize::try_from(start).unwrap_or(usize::MAX).saturating_sub(1);
                // A length of 0 also gives one element.
                array.values().skip(skip).take(limit.max(1)).cloned().collect()
            }
            Some(VarValue::Scalar(_)) | None => Vec::new(),
        },
        _ => items,
    }
}
