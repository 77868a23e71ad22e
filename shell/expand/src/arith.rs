//! Arithmetic (bash manual 6.5): `$((...))`, `((...))`, `let`, subscripts, offsets, `declare -i`.
//!
//! bash expands all of an expression, then evaluates the resulting text. This crate does the same,
//! but without making a text where that changes nothing. When the command was read, the parser made
//! a tree whose operands are the expansions (`operand`); `tree` walks it if the results of all
//! expansions are plain numbers. Otherwise, and for values of variables (`x='y+1'`), `text` makes
//! the text, and the same parser makes a tree of it. `variable` reads and writes the variables that
//! an expression names.
//!
//! Numbers wrap at 64 bits. Recursion through variables stops at bash's depth of 1024.

mod number;
mod operand;
mod parsed;
mod text;
mod tree;
mod variable;

use sh_syntax::ast::{ArithExpr, ArithText, WordPart};

use crate::env::ExpandEnv;
use crate::error::ExpandError;

pub use number::plain_integer;
pub use sh_syntax::arith::closing_bracket;
pub use text::{expand_operand, expand_text, has_subscript};

/// The maximum depth of variables that refer to variables (`x=y y=z ...`), as in bash, which also
/// counts the expression itself. The native stack is checked separately.
const MAX_RECURSION: u32 = 1023;

/// Evaluates an expression of the source.
///
/// # Errors
/// Returns bash's messages, without a prefix: `1/0: division by 0 (error token is "0")`.
pub fn eval_arith(env: &mut dyn ExpandEnv, arith: &ArithText) -> Result<i64, ExpandError> {
    let parts = arith.word.parts.as_slice();
    let Some(expr) = &arith.expr else {
        let source = text::expand_text_with(env, &arith.word, Vec::new())?;
        return tree::eval_text(env, &source, 0);
    };
    // The fast path: most expressions, above all those in loops, have no expansions.
    if !parts.iter().any(is_expansion) {
        return tree::eval_tree(env, expr, &[]).map_err(|fail| tree_failed(fail, arith, &[]));
    }
    if let (ArithExpr::Operand(_), [part]) = (&**expr, parts)
        && let Some(number) = operand::number_part(env, part)?
    {
        return Ok(number);
    }
    let operands = operand::expand_operands(env, &arith.word)?;
    if operand::operands_fit(env, expr, &operands) {
        return tree::eval_tree(env, expr, &operands)
            .map_err(|fail| tree_failed(fail, arith, &operands));
    }
    let source = text::expand_text_with(env, &arith.word, operands)?;
    tree::eval_text(env, &source, 0)
}

fn is_expansion(part: &WordPart) -> bool {
    match part {
        WordPart::Literal(_) | WordPart::Quoted(_) => false,
        WordPart::DoubleQuoted(inner) => inner.iter().any(is_expansion),
        _ => true,
    }
}

/// Returns the error of a tree that could not be evaluated, with the expression's text.
#[cold]
fn tree_failed(
    fail: tree::ArithFailure,
    arith: &ArithText,
    operands: &[operand::ExpansionResult],
) -> ExpandError {
    tree::arith_error(fail, &sh_syntax::arith::marked_text(&arith.word), operands)
}

/// Evaluates text as it is (`let`, values of integer variables, operands of `[[ -eq ]]`).
///
/// # Errors
/// The same as [`eval_arith`].
pub fn eval_text(env: &mut dyn ExpandEnv, source: &[u8]) -> Result<i64, ExpandError> {
    match plain_integer(source) {
        Some(value) => Ok(value),
        None => tree::eval_text(env, source, 0),
    }
}
