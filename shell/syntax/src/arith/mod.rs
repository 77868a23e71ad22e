//! Arithmetic expressions (bash manual 6.5): text to tree.
//!
//! [`parse`] takes expanded text, at run time. [`from_word`] takes a word at parse time: it
//! succeeds in making a tree where the word's expansions are plain `$name` or `${name}` standing
//! where an operand can stand; everything else is expanded first and parsed then.
//!
//! # Map
//! [`token`]: bytes to tokens, with bash's quirks of `++` and `--`; [`tree`]: tokens to tree,
//! by precedence climbing; [`number`]: constants with bases.
//!
//! # Invariants
//! The tree is never deeper than [`MAX_DEPTH`]: long chains of an associative operator become
//! balanced trees (`+` and `-` wrap, so that they are associative), other chains are refused.

mod number;
mod token;
mod tree;

use crate::ast::{Arith, ArithExpr, ParamOp, Word, WordPart};
use crate::error::ArithError;

pub use token::closing_bracket;

/// Bound of the depth of a tree.
pub const MAX_DEPTH: u32 = 300;

/// Parses expanded arithmetic text. Empty or blank text is `None` (it has the value 0).
pub fn parse(text: &[u8]) -> Result<Option<ArithExpr>, ArithError> {
    tree::Parser::new(text, &[]).whole()
}

/// An arithmetic word with its expression, where that can be known before expansion.
pub(crate) fn from_word(word: Word) -> Arith {
    // As an index, text in single quotes keeps them (and is no number); as a key it loses them.
    let quoted = memchr::memchr(b'\'', &word.raw).is_some();
    let expr = if quoted { None } else { static_expr(&word).map(Box::new) };
    Arith { word, expr }
}

/// Stands for a parameter in the text given to the tokenizer.
pub(crate) const MARKER: u8 = 0;

fn static_expr(word: &Word) -> Option<ArithExpr> {
    let mut text = Vec::with_capacity(word.raw.len());
    let mut params = Vec::new();
    if !flatten(&word.parts, &mut text, &mut params) {
        return None;
    }
    tree::Parser::new(&text, &params).in_place()
}

fn flatten<'a>(
    parts: &'a [WordPart],
    text: &mut Vec<u8>,
    params: &mut Vec<&'a crate::ast::Param>,
) -> bool {
    for (i, part) in parts.iter().enumerate() {
        match part {
            WordPart::Literal(t) | WordPart::Quoted(t) => {
                if t.contains(&MARKER) {
                    return false;
                }
                text.extend_from_slice(t);
            }
            WordPart::DoubleQuoted(inner) => {
                if !flatten(inner, text, params) {
                    return false;
                }
            }
            WordPart::Param(p) => {
                let plain = matches!(p.op, ParamOp::Plain) && p.subscript.is_none() && !p.indirect;
                // Next to a name or number its value would become part of that.
                let glued_before = text.last().is_some_and(|&b| glues(b) || b == MARKER);
                let glued_after = match parts.get(i + 1) {
                    Some(WordPart::Literal(t) | WordPart::Quoted(t)) => {
                        t.first().is_some_and(|&b| glues(b) || b == b'[')
                    }
                    Some(_) => true,
                    None => false,
                };
                if !plain || glued_before || glued_after {
                    return false;
                }
                text.push(MARKER);
                params.push(p);
            }
            WordPart::CommandSub(_) | WordPart::Arith(_) | WordPart::ProcessSub(_) => return false,
        }
    }
    true
}

fn glues(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#' | b'@')
}

#[cfg(test)]
mod tests;
