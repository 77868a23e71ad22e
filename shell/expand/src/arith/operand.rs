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
    let pieces = Pieces::of(word);
    if !pieces.open.is_empty() || !pieces.list.iter().any(|piece| piece.escaped) {
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

/// Whether a word spells a subscript: brackets that close within the quotes they open in.
pub fn has_subscript(word: &Word) -> bool {
    let pieces = Pieces::of(word);
    pieces.closed && pieces.open.is_empty()
}

/// A word taken apart at what is expanded or quoted within brackets.
#[derive(Default)]
struct Pieces {
    list: Vec<Piece>,
    /// The open brackets, each by the quotes it stands in (0: none).
    open: Vec<usize>,
    /// A bracket was closed.
    closed: bool,
    /// Pairs of double quotes so far.
    quotes: usize,
}

struct Piece {
    parts: Vec<WordPart>,
    escaped: bool,
}

impl Pieces {
    fn of(word: &Word) -> Pieces {
        let mut pieces = Pieces::default();
        pieces.take(&word.parts, 0);
        pieces
    }

    /// `quotes`: which double quotes the parts stand in.
    fn take(&mut self, parts: &[WordPart], quotes: usize) {
        for part in parts {
            match part {
                WordPart::DoubleQuoted(inside) if !inside.is_empty() => {
                    self.quotes += 1;
                    self.take(inside, self.quotes);
                }
                WordPart::Literal(text) => self.text(text, part, quotes),
                WordPart::Quoted(text) if quotes > 0 => self.text(text, part, quotes),
                part if quotes > 0 => self.add(WordPart::DoubleQuoted(vec![part.clone()])),
                part => self.add(part.clone()),
            }
        }
    }

    fn text(&mut self, text: &[u8], part: &WordPart, quotes: usize) {
        let open = !self.open.is_empty();
        for byte in text {
            match byte {
                b'[' if self.open.last().is_none_or(|outer| *outer == quotes) => {
                    self.open.push(quotes);
                }
                b']' if self.open.last() == Some(&quotes) => {
                    self.open.pop();
                    self.closed = true;
                }
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
        match self.open.is_empty() {
            true => self.keep(part),
            false => self.list.push(Piece { parts: vec![part], escaped: true }),
        }
    }

    fn keep(&mut self, part: WordPart) {
        match self.list.last_mut() {
            Some(piece) if !piece.escaped => piece.parts.push(part),
            _ => self.list.push(Piece { parts: vec![part], escaped: false }),
        }
    }
}
