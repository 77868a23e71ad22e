//! Arithmetic (bash manual 6.5): `$((...))`, `((...))`, `let`, subscripts, offsets, `declare -i`.
//!
//! Two evaluators with the same meaning:
//! - `tree` walks the expression the parser made; it serves everything that is not an error and
//!   allocates nothing for plain variables.
//! - `text` parses and evaluates a text in one pass, as bash does, with bash's messages and
//!   side effects up to the error. It serves values of variables (`x='y+1'`), text that
//!   became an expression only by expansion, and errors that must quote the source.
//!
//! `operand` makes the text of an expression from a word of `[[ ]]`.
//!
//! Numbers wrap at 64 bits. Recursion through variables stops at bash's depth of 1024.

mod number;
mod operand;
mod text;
mod tree;
mod variable;

use sh_syntax::ast::{Arith, Word, WordPart};

use crate::env::Env;
use crate::error::{ExpandError, Site};
use crate::fields::Mode;
use crate::value::Str;
use crate::word::Expander;

pub use number::plain_integer;
pub use operand::{expand_operand, has_subscript};
pub use text::closing_bracket;

/// How deep variables may refer to variables (`x=y y=z ...`), as in bash, which counts the
/// expression itself, too. The native stack is watched besides.
const MAX_RECURSION: u32 = 1023;

/// Evaluates an expression of the source.
///
/// # Errors
/// bash's messages, without a prefix: `1/0: division by 0 (error token is "0")`.
pub fn eval(env: &mut dyn Env, arith: &Arith) -> Result<i64, ExpandError> {
    if let Some(expr) = arith.expr.as_ref().filter(|_| !has_quoted_tilde(&arith.word)) {
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
    text::eval(env, &source, origin(&arith.word), 0)
}

/// A `~` makes bash expand the text, and so remove quotes from subscripts.
fn has_quoted_tilde(word: &Word) -> bool {
    word.raw.contains(&b'~') && word.raw.iter().any(|b| matches!(b, b'\'' | b'"'))
}

/// Without expansions in it, a text is as raw as a variable's value.
fn origin(word: &Word) -> text::Origin {
    let plain = word.parts.iter().all(|part| matches!(part, WordPart::Quoted(_)));
    match plain && !word.raw.contains(&b'~') {
        true => text::Origin::Raw,
        false => text::Origin::Expanded,
    }
}

/// The text of an expression after its expansions, for traces; [`eval_expanded`] goes on from there.
///
/// # Errors
/// Those of the expansions.
pub fn expand_text(env: &mut dyn Env, arith: &Arith) -> Result<Str, ExpandError> {
    expanded(env, &arith.word)
}

/// Evaluates what [`expand_text`] gave for `arith`.
///
/// # Errors
/// As for [`eval`].
pub fn eval_expanded(env: &mut dyn Env, arith: &Arith, source: &[u8]) -> Result<i64, ExpandError> {
    text::eval(env, source, origin(&arith.word), 0)
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

/// The text of an expression after its expansions. What stands in brackets is expanded as a
/// subscript is, quotes removed, and gets backslashes, so that it still ends where it did.
fn expanded(env: &mut dyn Env, word: &Word) -> Result<Str, ExpandError> {
    let pieces = match origin(word) {
        text::Origin::Raw => None,
        text::Origin::Expanded => brackets(&word.parts),
    };
    let Some(pieces) = pieces else { return joined(env, &word.parts) };
    let mut text = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(parts) => text.extend_from_slice(&joined(env, &parts)?),
            Piece::Bracket(byte) => text.push(byte),
            Piece::Inside(parts) => push_inert(&mut text, &joined(env, &parts)?),
        }
    }
    Ok(Str::new(text))
}

/// Appends what an expansion gave within a subscript, with backslashes before what would mean
/// something there.
fn push_inert(out: &mut Vec<u8>, expanded: &[u8]) {
    for &byte in expanded {
        let comment = byte == b'#' && out.last() == Some(&b'[');
        if comment || b"[]\\\"'$`~".contains(&byte) {
            out.push(b'\\');
        }
        out.push(byte);
    }
}

fn joined(env: &mut dyn Env, parts: &[WordPart]) -> Result<Str, ExpandError> {
    let mut x = Expander::new(env, Mode::Join);
    x.parts(parts, true).map_err(|e| e.at(Site::Expansion))?;
    let volume = x.fields.take_volume();
    x.env.charge(volume)?;
    Ok(x.fields.finish_one().into_text())
}

enum Piece {
    Text(Vec<WordPart>),
    /// A bracket of a subscript, maybe within another one.
    Bracket(u8),
    /// What stands between brackets, without its quotes.
    Inside(Vec<WordPart>),
}

/// Takes an expression apart at the brackets of its source; `None` where that would
/// change nothing, as there is nothing to expand or to unquote within.
fn brackets(parts: &[WordPart]) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut outside: Vec<WordPart> = Vec::new();
    let mut inside: Vec<WordPart> = Vec::new();
    let (mut depth, mut single, mut changed) = (0_usize, false, false);
    for part in parts {
        let text = match part {
            WordPart::Quoted(text) => text,
            WordPart::Param(param) if single => {
                inside.push(WordPart::Quoted(param.raw.to_vec().into()));
                continue;
            }
            other if depth > 0 => {
                changed = true;
                inside.push(other.clone());
                continue;
            }
            other => {
                outside.push(other.clone());
                continue;
            }
        };
        let mut kept = Vec::with_capacity(text.len());
        let mut bytes = text.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\'' if depth > 0 => {
                    single = !single;
                    changed = true;
                    continue;
                }
                b'\\' if depth > 0 && !single => {
                    changed = true;
                    kept.extend(bytes.next());
                    continue;
                }
                b'[' if !single => {
                    let text = WordPart::Quoted(std::mem::take(&mut kept).into());
                    pieces.push(match depth {
                        0 => {
                            outside.push(text);
                            Piece::Text(std::mem::take(&mut outside))
                        }
                        _ => {
                            inside.push(text);
                            Piece::Inside(std::mem::take(&mut inside))
                        }
                    });
                    pieces.push(Piece::Bracket(byte));
                    depth += 1;
                    continue;
                }
                b']' if !single && depth > 0 => {
                    inside.push(WordPart::Quoted(std::mem::take(&mut kept).into()));
                    pieces.push(Piece::Inside(std::mem::take(&mut inside)));
                    pieces.push(Piece::Bracket(byte));
                    depth -= 1;
                    continue;
                }
                _ => {}
            }
            kept.push(byte);
        }
        let list = if depth > 0 { &mut inside } else { &mut outside };
        list.push(WordPart::Quoted(kept.into()));
    }
    pieces.push(Piece::Text(outside));
    (changed && depth == 0).then_some(pieces)
}
