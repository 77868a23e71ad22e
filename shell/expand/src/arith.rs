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

use sh_syntax::ast::{Arith, Word, WordPart};

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

/// The text of an expression after its expansions, for traces; [`eval_expanded`] goes on from there.
///
/// # Errors
/// Those of the expansions.
pub fn expand_text(env: &mut dyn Env, arith: &Arith) -> Result<Str, ExpandError> {
    expanded(env, &arith.word)
}

/// Evaluates what [`expand_text`] gave.
///
/// # Errors
/// As for [`eval`].
pub fn eval_expanded(env: &mut dyn Env, source: &[u8]) -> Result<i64, ExpandError> {
    text::eval(env, source, text::Origin::Expanded, 0)
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
    let unquoted = without_key_quotes(env, &word.parts);
    let mut x = Expander::new(env, Mode::Join);
    match unquoted {
        Some(parts) => x.parts(&parts, true)?,
        None => x.parts(&word.parts, true)?,
    };
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

/// The parts with the quotes in keys of associative arrays (`m['a b']`, `m[\k]`) removed, while
/// it can be told which are the source's own and which came out of an expansion; `None` if
/// there are none.
fn without_key_quotes(env: &dyn Env, parts: &[WordPart]) -> Option<Vec<WordPart>> {
    let quotes = |part: &WordPart| match part {
        WordPart::Quoted(text) => text.iter().any(|b| matches!(b, b'\'' | b'\\')),
        _ => false,
    };
    if !parts.iter().any(quotes) {
        return None;
    }
    // Brackets that are open, and whether the outermost holds a key.
    let (mut depth, mut key) = (0usize, false);
    let (mut single, mut removed) = (false, false);
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        let text = match part {
            WordPart::Quoted(text) => text,
            WordPart::Param(param) if single => {
                out.push(WordPart::Quoted(param.raw.to_vec().into()));
                continue;
            }
            other => {
                out.push(other.clone());
                continue;
            }
        };
        let mut kept = Vec::with_capacity(text.len());
        let mut bytes = text.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\'' if key => {
                    single = !single;
                    removed = true;
                    continue;
                }
                b'\\' if key && !single => {
                    removed = true;
                    kept.extend(bytes.next());
                    continue;
                }
                b'[' if !single => {
                    if depth == 0 {
                        key = is_assoc(env, &kept);
                    }
                    depth += 1;
                }
                b']' if !single => {
                    depth = depth.saturating_sub(1);
                    key &= depth > 0;
                }
                _ => {}
            }
            kept.push(byte);
        }
        out.push(WordPart::Quoted(kept.into()));
    }
    (removed && !single).then_some(out)
}

/// Whether the text ends in the name of an associative array.
fn is_assoc(env: &dyn Env, text: &[u8]) -> bool {
    let name = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let start = text.iter().rposition(|b| !name(b)).map_or(0, |at| at + 1);
    env.resolve(&text[start..]).is_ok_and(|(base, _)| env.attributes(&base).assoc)
}
