//! The parser (stub bodies for the first hour; the signatures are final).

use crate::ast::*;
use crate::error::{SyntaxError, Warning};

/// Bound of nested constructs, in units of about one word-level nesting.
pub const MAX_DEPTH: u32 = 1000;

/// What changes the grammar. May be changed between commands with [`Parser::options_mut`].
#[derive(Clone, Debug)]
pub struct ParseOptions {
    /// POSIX mode.
    pub posix: bool,
    /// `shopt -s extglob`: `@(a|b)` is part of a word.
    pub extglob: bool,
    /// `shopt -s expand_aliases`.
    pub expand_aliases: bool,
    /// Number of the first line.
    pub first_line: u32,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions { posix: false, extglob: false, expand_aliases: false, first_line: 1 }
    }
}

/// The alias table, looked at while parsing when [`ParseOptions::expand_aliases`] is on.
pub trait Aliases {
    fn get(&self, name: &[u8]) -> Option<std::rc::Rc<[u8]>>;
}

/// No aliases at all.
pub struct NoAliases;
impl Aliases for NoAliases {
    fn get(&self, _: &[u8]) -> Option<std::rc::Rc<[u8]>> {
        None
    }
}

/// More source text on demand, for standard input and prompts.
pub trait Input {
    /// Appends the next line, its newline included, to `buf`; `false` at the end of input.
    /// `continuation`: a command has begun already (time for `PS2`).
    fn read_line(&mut self, buf: &mut Vec<u8>, continuation: bool) -> bool;
}

/// Reads one complete command after another.
pub struct Parser<'i> {
    options: ParseOptions,
    _input: Option<Box<dyn Input + 'i>>,
}

impl<'i> Parser<'i> {
    /// Parses a text that is there in full.
    pub fn new(src: impl Into<Vec<u8>>, options: ParseOptions) -> Self {
        let _ = src.into();
        Parser { options, _input: None }
    }

    /// Parses line by line as `input` delivers them, never asking for a line before the one
    /// that completes a command was used up.
    pub fn with_input(input: Box<dyn Input + 'i>, options: ParseOptions) -> Self {
        Parser { options, _input: Some(input) }
    }

    /// The next complete command: everything up to the newline that ends it. `None` at the end.
    /// After an error the parser stands after the offending line.
    pub fn next_command(&mut self, aliases: &dyn Aliases) -> Result<Option<List>, SyntaxError> {
        let _ = aliases;
        Ok(None)
    }

    /// Options for the commands to come (`first_line` has no effect any more).
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        &mut self.options
    }

    /// Number of source bytes used up.
    pub fn offset(&self) -> usize {
        0
    }

    /// The current line number.
    pub fn line(&self) -> u32 {
        self.options.first_line
    }

    /// Warnings since the last call.
    pub fn take_warnings(&mut self) -> Vec<Warning> {
        Vec::new()
    }
}

/// Parses a whole text (functions shipped to a spawned shell, `eval` without aliases).
pub fn parse_all(src: &[u8], options: &ParseOptions) -> Result<List, SyntaxError> {
    let _ = (src, options);
    Ok(List::default())
}

/// Parses `text` as one word in full: blanks and metacharacters outside quotes are literal.
pub fn parse_word(text: &[u8], options: &ParseOptions) -> Result<Word, SyntaxError> {
    let _ = (text, options);
    Ok(Word::default())
}

/// Parses `text` as if within double quotes; a `"` is an ordinary character (`PS4`, `@P`).
pub fn parse_dquoted(text: &[u8], options: &ParseOptions) -> Result<Word, SyntaxError> {
    let _ = (text, options);
    Ok(Word::default())
}

/// Parses the body of an unquoted here-document. Never fails: what does not parse becomes a
/// part that reports its error when it is expanded.
pub fn parse_heredoc_body(text: &[u8], options: &ParseOptions) -> Word {
    let _ = (text, options);
    Word::default()
}

/// Parses what stands between `[` and `]` (`unset 'a[i]'`, `read 'a[1]'`, namerefs).
pub fn parse_subscript(text: &[u8], options: &ParseOptions) -> Result<Subscript, SyntaxError> {
    let _ = (text, options);
    Ok(Subscript::At)
}

/// Parses a parameter reference such as `x`, `x[1]`, `@`, `10` (the value of an indirect
/// expansion or nameref). `None` when it is none.
pub fn parse_parameter(text: &[u8], options: &ParseOptions) -> Option<(ParamName, Option<Subscript>)> {
    let _ = (text, options);
    None
}

/// Splits a run-time operand of `declare` and friends that has the form `name=value`,
/// `name+=value`, `name[sub]=value`; the value is literal text. `None` when it has not that form.
pub fn parse_assignment(text: &[u8], options: &ParseOptions) -> Option<Assignment> {
    let _ = (text, options);
    None
}

/// Parses the text of a compound array value, `(a b [k]=v)`, parentheses included, as
/// `declare -a "x=(...)"` does.
pub fn parse_array(text: &[u8], options: &ParseOptions) -> Result<Vec<ArrayElement>, SyntaxError> {
    let _ = (text, options);
    Ok(Vec::new())
}

/// Parses arithmetic text that may hold expansions (`let`, a subscript's inside).
pub fn parse_arith(text: &[u8], options: &ParseOptions) -> Result<Arith, SyntaxError> {
    let _ = (text, options);
    Ok(Arith { word: Word::default(), expr: None })
}
