//! Arithmetic (bash manual 6.5): `$((...))`, `((...))`, `let`, subscripts, offsets, `declare -i`.
//!
//! `tree` walks an expression. The parser made it with the command, or it is made here from a text
//! by the same parser: from values of variables (`x='y+1'`), and from text that becomes an
//! expression only by expansion. `variable` reads and writes what it names; `operand` makes the text of an expression from a word of `[[ ]]`.
//!
//! Numbers wrap at 64 bits. Recursion through variables stops at bash's depth of 1024.

mod number;
mod operand;
mod tree;
mod variable;

use sh_syntax::ast::{Arith, Word, WordPart};

use crate::env::Env;
use crate::error::ExpandError;
use crate::value::Str;
use crate::word;
use tree::Origin;

pub use number::plain_integer;
pub use operand::{expand_operand, has_subscript};
pub use sh_syntax::arith::closing_bracket;

/// How deep variables may refer to variables (`x=y y=z ...`), as in bash, which counts the
/// expression itself, too. The native stack is watched besides.
const MAX_RECURSION: u32 = 1023;

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
            Err(fail) => {
                let source = expanded(env, &arith.word)?;
                return Err(tree::error(fail, &source));
            }
        }
    }
    let source = expanded(env, &arith.word)?;
    tree::eval_text(env, &source, origin(&arith.word), 0)
}

/// Without expansions in it, a text is as raw as a variable's value.
fn origin(word: &Word) -> Origin {
    match word.parts.iter().all(|part| matches!(part, WordPart::Quoted(_))) {
        true => Origin::Raw,
        false => Origin::Expanded,
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
    tree::eval_text(env, source, origin(&arith.word), 0)
}

/// Evaluates text as it is (`let`, values of integer variables, operands of `[[ -eq ]]`).
///
/// # Errors
/// As for [`eval`].
pub fn eval_text(env: &mut dyn Env, source: &[u8]) -> Result<i64, ExpandError> {
    match plain_integer(source) {
        Some(value) => Ok(value),
        None => tree::eval_text(env, source, Origin::Raw, 0),
    }
}

/// The text of an expression after its expansions. What stands in brackets is expanded as a
/// subscript is, quotes removed, and gets backslashes, so that it still ends where it did.
fn expanded(env: &mut dyn Env, word: &Word) -> Result<Str, ExpandError> {
    let pieces = match origin(word) == Origin::Expanded {
        true => brackets(&word.parts),
        false => None,
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
    word::quoted_text(env, parts)
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
    let mut brackets = Brackets::default();
    for part in parts {
        brackets.part(part);
    }
    brackets.pieces.push(Piece::Text(brackets.parts));
    (brackets.changed && brackets.depth == 0).then_some(brackets.pieces)
}

#[derive(Default)]
struct Brackets {
    pieces: Vec<Piece>,
    /// What came since the last bracket.
    parts: Vec<WordPart>,
    /// How many brackets are open.
    depth: usize,
    /// Within single quotes in brackets.
    single: bool,
    /// Something is expanded or unquoted within brackets.
    changed: bool,
}

impl Brackets {
    fn part(&mut self, part: &WordPart) {
        match part {
            WordPart::Quoted(text) => self.text(text),
            WordPart::Param(param) if self.single => {
                self.parts.push(WordPart::Quoted(param.raw.to_vec().into()));
            }
            other => {
                self.changed |= self.depth > 0;
                self.parts.push(other.clone());
            }
        }
    }

    fn text(&mut self, text: &[u8]) {
        let mut kept = Vec::with_capacity(text.len());
        let mut bytes = text.iter().copied();
        while let Some(byte) = bytes.next() {
            match byte {
                b'\'' if self.depth > 0 => {
                    self.single = !self.single;
                    self.changed = true;
                }
                b'\\' if self.depth > 0 && !self.single => {
                    self.changed = true;
                    kept.extend(bytes.next());
                }
                b'[' if !self.single => {
                    self.bracket(byte, std::mem::take(&mut kept));
                    self.depth += 1;
                }
                b']' if !self.single && self.depth > 0 => {
                    self.bracket(byte, std::mem::take(&mut kept));
                    self.depth -= 1;
                }
                _ => kept.push(byte),
            }
        }
        self.parts.push(WordPart::Quoted(kept.into()));
    }

    /// Ends the piece before a bracket with its last text.
    fn bracket(&mut self, bracket: u8, text: Vec<u8>) {
        self.parts.push(WordPart::Quoted(text.into()));
        let parts = std::mem::take(&mut self.parts);
        self.pieces.push(match self.depth {
            0 => Piece::Text(parts),
            _ => Piece::Inside(parts),
        });
        self.pieces.push(Piece::Bracket(bracket));
    }
}
