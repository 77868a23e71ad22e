//! The expansions in an expression of the source, which are operands of its tree.

use sh_syntax::arith::MARKER;
use sh_syntax::ast::{ArithExpr, ParamName, ParamOp, Word, WordPart};

use super::plain_integer;
use crate::env::ExpandEnv;
use crate::error::ExpandError;
use crate::subscript;
use crate::value::Str;
use crate::word::quoted_text;

/// The result of an expansion.
#[derive(Debug)]
pub(super) enum ExpansionResult {
    Number(i64),
    /// A text that is not a plain number, or one that would combine with the text before it.
    Text(Str),
}

impl ExpansionResult {
    pub(super) fn text(&self) -> Str {
        match self {
            ExpansionResult::Number(number) => Str::new(number.to_string().into_bytes()),
            ExpansionResult::Text(text) => text.clone(),
        }
    }
}

/// Performs all expansions of an expression, in the order of the source.
pub(super) fn expand_operands(
    env: &mut dyn ExpandEnv,
    word: &Word,
) -> Result<Vec<ExpansionResult>, ExpandError> {
    fn add_operands(
        env: &mut dyn ExpandEnv,
        parts: &[WordPart],
        before: &mut u8,
        operands: &mut Vec<ExpansionResult>,
    ) -> Result<(), ExpandError> {
        for part in parts {
            match part {
                WordPart::Literal(text) | WordPart::Quoted(text) => {
                    *before = text.last().copied().unwrap_or(*before);
                }
                WordPart::DoubleQuoted(inner) => add_operands(env, inner, before, operands)?,
                part => operands.push(match expand_operand(env, part)? {
                    // `x-$y` may become `x--1`, which means something else.
                    number @ ExpansionResult::Number(..0) if *before == b'-' => {
                        ExpansionResult::Text(number.text())
                    }
                    operand => operand,
                }),
            }
        }
        Ok(())
    }
    let mut operands = Vec::new();
    add_operands(env, &word.parts, &mut 0, &mut operands)?;
    Ok(operands)
}

/// Returns the result of an expansion that is known to be a number without being converted to text.
pub(super) fn number_part(
    env: &mut dyn ExpandEnv,
    part: &WordPart,
) -> Result<Option<i64>, ExpandError> {
    Ok(match part {
        WordPart::Arith(arith) => Some(super::eval_arith(env, arith)?),
        WordPart::Param(param)
            if param.op == ParamOp::Plain && param.subscript.is_none() && !param.indirect =>
        {
            match &param.name {
                ParamName::Variable(name) => env.get_int(name),
                ParamName::Positional(n) => (*n as usize)
                    .checked_sub(1)
                    .and_then(|at| env.positional().get(at).and_then(|t| plain_integer(t))),
                ParamName::Special(b'#') => i64::try_from(env.positional().len()).ok(),
                ParamName::Special(_) => None,
            }
        }
        _ => None,
    })
}

fn expand_operand(
    env: &mut dyn ExpandEnv,
    part: &WordPart,
) -> Result<ExpansionResult, ExpandError> {
    if let Some(number) = number_part(env, part)? {
        return Ok(ExpansionResult::Number(number));
    }
    let text = quoted_text(env, std::slice::from_ref(part))?;
    Ok(plain_integer(&text).map_or(ExpansionResult::Text(text), ExpansionResult::Number))
}

/// Returns whether the tree can be evaluated with these operands. An operand that is not a number
/// must be the whole key of an associative array.
pub(super) fn operands_fit(
    env: &mut dyn ExpandEnv,
    expr: &ArithExpr,
    operands: &[ExpansionResult],
) -> bool {
    if operands.iter().all(|operand| matches!(operand, ExpansionResult::Number(_))) {
        return true;
    }
    let mut todo = vec![expr];
    while let Some(expr) = todo.pop() {
        let place = match expr {
            ArithExpr::Number(_) => None,
            ArithExpr::Operand(at) => match operands.get(*at) {
                Some(ExpansionResult::Number(_)) => None,
                _ => return false,
            },
            ArithExpr::Variable(place) | ArithExpr::Step { target: place, .. } => Some(place),
            ArithExpr::Assign(_, place, value) => {
                todo.push(value);
                Some(place)
            }
            ArithExpr::Unary(_, operand) => {
                todo.push(operand);
                None
            }
            ArithExpr::Binary(_, left, right, _)
            | ArithExpr::LogicalAnd(left, right)
            | ArithExpr::LogicalOr(left, right)
            | ArithExpr::Comma(left, right) => {
                todo.extend([&**left, &**right]);
                None
            }
            ArithExpr::Ternary(condition, yes, no) => {
                todo.extend([&**condition, &**yes, &**no]);
                None
            }
        };
        let Some(place) = place else { continue };
        let Some(index) = place.index.as_ref().and_then(|index| index.expr.as_ref()) else {
            continue;
        };
        match env.resolve(&place.name) {
            Ok((base, None)) if subscript::is_assoc(env, &base) => {}
            _ => todo.push(index),
        }
    }
    true
}

/// Returns a text with the operands in place of its markers, and the place in it that corresponds
/// to `at` in the source.
pub(super) fn spell_operands(
    marked: &[u8],
    operands: &[ExpansionResult],
    at: usize,
) -> (Vec<u8>, usize) {
    let mut operands = operands.iter();
    let (mut text, mut place) = (Vec::with_capacity(marked.len()), None);
    for (i, &byte) in marked.iter().enumerate() {
        if i == at {
            place = Some(text.len());
        }
        match byte {
            MARKER => text
                .extend_from_slice(&operands.next().map(ExpansionResult::text).unwrap_or_default()),
            byte => text.push(byte),
        }
    }
    let end = text.len();
    (text, place.unwrap_or(end))
}
