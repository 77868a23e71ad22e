//! Arithmetic (bash manual 6.5): `$((...))`, `((...))`, `let`, subscripts, offsets, `declare -i`.
//!
//! Two evaluators with the same meaning:
//! - `tree` walks the expression the parser made; it serves everything that is not an error and
//!   allocates nothing for plain variables.
//! - `text` parses and evaluates a text in one pass, as bash does, with bash's messages and
//!   side effects up to the error. It serves values of variables (`x='y+1'`), text that
//!   became an expression only by expansion, and errors that must quote the source.
//!
//! Numbers wrap at 64 bits. Recursion through variables stops at bash's depth of 1024.

mod number;
mod text;
mod tree;
mod variable;

use sh_syntax::ast::{Arith, Word};

use crate::env::Env;
use crate::error::ExpandError;
use crate::fields::Mode;
use crate::value::Str;
use crate::word::Expander;

pub use number::plain_integer;

/// How deep variables may refer to variables (`x=y y=z ...`), as in bash.
const MAX_RECURSION: u32 = 1024;

/// What an expression within an expression adds to that depth; the native stack, which it takes
/// a lot of, is watched besides.
const EVALUATION_WEIGHT: u32 = 1;

/// Evaluates an expression of the source.
///
/// # Errors
/// bash's messages, without a prefix: `1/0: division by 0 (error token is "0")`.
pub fn eval(env: &mut dyn Env, arith: &Arith) -> Result<i64, ExpandError> {
    if let Some(expr) = &arith.expr {
        match tree::eval(env, expr) {
            Ok(value) => return Ok(value),
            Err(tree::Fail::Error(error)) => return Err(*error),
            Err(tree::Fail::AsText) => {}
            Err(tree::Fail::At(operator)) => {
                let source = expanded(env, &arith.word)?;
                return Err(text::explain(env, &source, operator));
            }
        }
    }
    let source = expanded(env, &arith.word)?;
    text::eval(env, &source, text::Origin::Expanded, 0)
}

/// Evaluates text as it is (`let`, values of integer variables, operands of `[[ -eq ]]`).
///
/// # Errors
/// As for [`eval`].
pub fn eval_text(env: &mut dyn Env, source: &[u8]) -> Result<i64, ExpandError> {
    match plain_integer(source) {
        Some(value) => Ok(value),
        None => text::eval(env, source, text::Origin::Raw, 0),
    }
}

/// The text of an expression after its expansions.
fn expanded(env: &mut dyn Env, word: &Word) -> Result<Str, ExpandError> {
    let mut x = Expander::new(env, Mode::Join);
    x.parts(&word.parts, true)?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}
