//! Arithmetic expressions (bash manual 6.5): text to tree.
//!
//! [`parse`] takes expanded text, at run time. [`from_word`] takes a word at parse time. It makes a
//! tree if each of the word's expansions is in the place of an operand and not next to a name or
//! number; all other words are expanded before they are parsed.
//!
//! # Map
//! [`token`]: bytes to tokens, with bash's quirks of `++` and `--`; [`tree`]: tokens to tree, by
//! precedence climbing; [`number`]: constants with bases.
//!
//! # Invariants
//! The tree is never deeper than [`MAX_DEPTH`]: long chains of an associative operator become
//! balanced trees (`+` and `-` wrap, so that sums are associative); other chains that are too long
//! are refused.

mod number;
mod token;
mod tree;

use crate::ast::{ArithExpr, ArithText, Word, WordPart};
use crate::error::ArithError;

pub use token::closing_bracket;

/// The maximum depth of a tree.
pub const MAX_DEPTH: u32 = 300;

/// Parses expanded arithmetic text. Empty or blank text is `None` (it has the value 0).
pub fn parse(text: &[u8]) -> Result<Option<ArithExpr>, ArithError> {
    tree::ArithParser::new(text).parse_whole()
}

/// Returns an arithmetic word, with its expression if that can be parsed before expansion.
pub(crate) fn from_word(word: Word) -> ArithText {
    // Single quotes stay in an index (which is then not a number), but are removed from a key.
    let quoted = memchr::memchr(b'\'', &word.raw).is_some();
    let expr = if quoted { None } else { static_expr(&word).map(Box::new) };
    ArithText { word, expr }
}

/// The byte that represents an expansion in the text for the tokenizer.
pub const MARKER: u8 = 0;

fn static_expr(word: &Word) -> Option<ArithExpr> {
    let text = marked_text(word);
    if word.raw.contains(&MARKER) || is_glued(&text) {
        return None;
    }
    tree::ArithParser::new(&text).in_place()
}

/// Returns the text of an expression with a [`MARKER`] for each of its expansions.
pub fn marked_text(word: &Word) -> Vec<u8> {
    fn add_marked(parts: &[WordPart], text: &mut Vec<u8>) {
        for part in parts {
            match part {
                WordPart::Literal(t) | WordPart::Quoted(t) => text.extend_from_slice(t),
                WordPart::DoubleQuoted(inner) => add_marked(inner, text),
                _ => text.push(MARKER),
            }
        }
    }
    let mut text = Vec::with_capacity(word.raw.len());
    add_marked(&word.parts, &mut text);
    text
}

/// Returns whether an expansion is next to a name, a number or another expansion, so that its value
/// would become part of that.
fn is_glued(text: &[u8]) -> bool {
    text.windows(2).any(|pair| match pair {
        [before, MARKER] => glues_tokens(*before) || *before == MARKER,
        [MARKER, after] => glues_tokens(*after) || *after == b'[',
        _ => false,
    })
}

fn glues_tokens(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'_' | b'#' | b'@')
}

#[cfg(test)]
mod tests;
