//! Operands of `[[ -eq ]]` and relatives (bash manual 6.4): words that become expressions.

use sh_syntax::ast::{Word, WordPart};

use super::push_inert;
use crate::env::Env;
use crate::error::ExpandError;
use crate::value::Str;
use crate::word::expand_single;

/// Expands an operand to the text of its expression, as traces show it. What an expansion gives
/// within the brackets of a subscript stands behind backslashes then, so that it is not expanded
/// once more: in `[[ a[$x] -eq 1 ]]` an `x` of `$(cmd)` runs nothing.
///
/// # Errors
/// Those of the expansions.
pub fn expand_operand(env: &mut dyn Env, word: &Word) -> Result<Str, ExpandError> {
    if !word.raw.contains(&b'[') {
        return expand_single(env, word);
    }
    let mut pieces = Pieces::default();
    pieces.take(&word.parts, false);
    if pieces.depth > 0 || !pieces.list.iter().any(|piece| piece.escaped) {
        return expand_single(env, word);
    }
    let mut text = Vec::new();
    for piece in pieces.list {
        let raw = word.raw.clone();
        let expanded = expand_single(env, &Word { parts: piece.parts, raw })?;
        match piece.escaped {
            true => push_inert(&mut text, &expanded),
            false => text.extend_from_slice(&expanded),
        }
    }
    Ok(Str::new(text))
}

/// A word taken apart at what is expanded or quoted within brackets.
#[derive(Default)]
struct Pieces {
    list: Vec<Piece>,
    /// Open brackets.
    depth: usize,
}

struct Piece {
    parts: Vec<WordPart>,
    escaped: bool,
}

impl Pieces {
    /// `within`: the parts stand in double quotes.
    fn take(&mut self, parts: &[WordPart], within: bool) {
        for part in parts {
            match part {
                WordPart::DoubleQuoted(inside) if !inside.is_empty() => self.take(inside, true),
                WordPart::Literal(text) => self.text(text, part),
                WordPart::Quoted(text) if within => self.text(text, part),
                part if within => self.add(WordPart::DoubleQuoted(vec![part.clone()])),
                part => self.add(part.clone()),
            }
        }
    }

    fn text(&mut self, text: &[u8], part: &WordPart) {
        let open = self.depth > 0;
        for byte in text {
            match byte {
                b'[' => self.depth += 1,
                b']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        match part {
            // No tilde: the word began before.
            WordPart::Literal(text) if open => self.keep(WordPart::Quoted(text.clone())),
            part => self.keep(part.clone()),
        }
    }

    fn add(&mut self, part: WordPart) {
        match self.depth {
            0 => self.keep(part),
            _ => self.list.push(Piece { parts: vec![part], escaped: true }),
        }
    }

    fn keep(&mut self, part: WordPart) {
        match self.list.last_mut() {
            Some(piece) if !piece.escaped => piece.parts.push(part),
            _ => self.list.push(Piece { parts: vec![part], escaped: false }),
        }
    }
}
