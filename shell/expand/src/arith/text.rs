//! Expressions that become a text before they are parsed.
//!
//! In that text, the result of an expansion within a subscript is escaped with backslashes, because
//! a subscript is expanded again when it is evaluated: if the value of `x` is `$(cmd)`, `a[$x]`
//! does not run the command.

use sh_syntax::ast::{ArithText, Word, WordPart};

use super::operand::ExpansionResult;
use crate::env::ExpandEnv;
use crate::error::ExpandError;
use crate::value::Str;
use crate::word::{expand_single, quoted_text};

/// Returns the text of an expression after its expansions, for traces;
/// [`eval_text`](super::eval_text) can evaluate the text.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_text(env: &mut dyn ExpandEnv, arith: &ArithText) -> Result<Str, ExpandError> {
    expand_text_with(env, &arith.word, Vec::new())
}

/// Returns the text of an expression after its expansions. `operands` are the results of those that
/// are already done.
pub(super) fn expand_text_with(
    env: &mut dyn ExpandEnv,
    word: &Word,
    operands: Vec<ExpansionResult>,
) -> Result<Str, ExpandError> {
    if let [WordPart::Quoted(text) | WordPart::Literal(text)] = word.parts.as_slice() {
        return Ok(text.clone());
    }
    let mut source = ArithSource { known: operands.into_iter(), ..ArithSource::default() };
    source.add_parts(env, &word.parts)?;
    Ok(source.text.finish())
}

/// Expands an operand of `[[ -eq ]]` and similar operators (bash manual 6.4) to the text of its
/// expression, as traces show it.
///
/// # Errors
/// Returns the errors of the expansions.
pub fn expand_operand(env: &mut dyn ExpandEnv, word: &Word) -> Result<Str, ExpandError> {
    if !word.raw.contains(&b'[') {
        return expand_single(env, word);
    }
    let mut expand =
        |part: WordPart| expand_single(env, &Word { parts: vec![part], raw: word.raw.clone() });
    let mut text = QuotedText::default();
    add_operand(&mut text, &word.parts, 0, &mut expand)?;
    Ok(text.finish())
}

/// Returns whether a word contains a subscript, whose brackets open and close within the same
/// quotes.
pub fn has_subscript(word: &Word) -> bool {
    let mut text = QuotedText::default();
    let added = add_operand(&mut text, &word.parts, 0, &mut |_| Ok(Str::default()));
    added.is_ok() && text.closed && text.open.is_empty()
}

/// Adds the expansion of some parts. `quotes` identifies the double quotes around them by their
/// number in the word, from 1; 0 means none.
fn add_operand(
    text: &mut QuotedText,
    parts: &[WordPart],
    quotes: usize,
    expand: &mut dyn FnMut(WordPart) -> Result<Str, ExpandError>,
) -> Result<(), ExpandError> {
    for part in parts {
        match part {
            WordPart::DoubleQuoted(inside) => {
                text.quotes += 1;
                add_operand(text, inside, text.quotes, expand)?;
            }
            WordPart::Literal(written) => text.push_source(written, quotes),
            WordPart::Quoted(written) if quotes > 0 => text.push_source(written, quotes),
            part if quotes > 0 => {
                text.push_given(&expand(WordPart::DoubleQuoted(vec![part.clone()]))?)
            }
            part => text.push_given(&expand(part.clone())?),
        }
    }
    Ok(())
}

/// The text of an expression under construction.
#[derive(Default)]
struct QuotedText {
    /// The text with backslashes.
    text: Vec<u8>,
    /// The text without backslashes, for a bracket that stays open.
    plain: Vec<u8>,
    /// The open brackets, each as the number that identifies the quotes around it (0: none).
    open: Vec<usize>,
    /// Whether a bracket was closed.
    closed: bool,
    /// The number of pairs of double quotes so far.
    quotes: usize,
}

impl QuotedText {
    /// Adds text of the source, which is within the quotes of this number.
    fn push_source(&mut self, text: &[u8], quotes: usize) {
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
        self.text.extend_from_slice(text);
        self.plain.extend_from_slice(text);
    }

    /// Adds text that has no special meaning, because it was expanded or quoted.
    fn push_given(&mut self, text: &[u8]) {
        self.plain.extend_from_slice(text);
        if self.open.is_empty() {
            return self.text.extend_from_slice(text);
        }
        for &byte in text {
            let comment = byte == b'#' && self.text.last() == Some(&b'[');
            if comment || b"[]\\\"'$`~".contains(&byte) {
                self.text.push(b'\\');
            }
            self.text.push(byte);
        }
    }

    fn finish(self) -> Str {
        Str::new(if self.open.is_empty() { self.text } else { self.plain })
    }
}

/// An expression of the source, whose quotes are text except within subscripts.
#[derive(Default)]
struct ArithSource {
    text: QuotedText,
    known: std::vec::IntoIter<ExpansionResult>,
    /// Whether the next part is within single quotes in a subscript.
    single: bool,
}

impl ArithSource {
    fn add_parts(
        &mut self,
        env: &mut dyn ExpandEnv,
        parts: &[WordPart],
    ) -> Result<(), ExpandError> {
        for part in parts {
            match part {
                WordPart::Quoted(text) | WordPart::Literal(text) => self.push_source(text),
                WordPart::DoubleQuoted(inside) => self.add_parts(env, inside)?,
                WordPart::Param(param) if self.single => self.text.push_given(&param.raw),
                part => {
                    let text = match self.known.next() {
                        Some(operand) => operand.text(),
                        None => quoted_text(env, std::slice::from_ref(part))?,
                    };
                    self.text.push_given(&text);
                }
            }
        }
        Ok(())
    }

    fn push_source(&mut self, text: &[u8]) {
        let mut bytes = text.iter();
        while let Some(byte) = bytes.next() {
            let inside = !self.text.open.is_empty();
            match byte {
                b'\'' if inside => self.single = !self.single,
                b'\\' if inside && !self.single => {
                    self.text.push_given(bytes.next().map_or(&[], std::slice::from_ref));
                }
                byte if self.single => self.text.push_given(&[*byte]),
                byte => self.text.push_source(&[*byte], 0),
            }
        }
    }
}
