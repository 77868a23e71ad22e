//! The parser: recursive descent over the grammar of POSIX XCU 2.10 and bash manual section 3.
//!
//! # Map
//! - [`Parser`] (this file): complete commands, one after another; options and input.
//! - [`list`], [`pipeline`]: `;`, `&`, `&&`, `||`, `|`, `!`, `time`.
//! - [`command`]: choosing the construct; one file per compound command.
//! - [`simple`], [`redirect`]: simple commands, redirections.
//! - [`runtime`]: functions for text met at run time ([`parse_word`] and others).
//!
//! # Invariants
//! - A function that parses a construct starts with the construct's first token read ahead or
//!   consumed, as its comment says, and reads at most one token after the construct ahead.
//! - Errors are bash's: the first token that cannot continue the command is reported.

mod arith_command;
mod case;
mod command;
mod complete;
mod cond;
mod coproc;
mod for_;
mod function;
mod group;
mod if_;
mod list;
mod pipeline;
mod redirect;
mod runtime;
mod simple;
mod while_;

use crate::ast::CommandList;
use crate::error::{SyntaxError, SyntaxWarning};
use crate::lex::{CommandParser, ParseState};

pub use complete::is_complete;
pub use runtime::{
    parse_all, parse_arith, parse_array, parse_assignment, parse_dquoted, parse_heredoc_body,
    parse_parameter, parse_subscript, parse_word,
};

/// The maximum depth of nested constructs. A level of nesting in a word costs about 1, other
/// constructs more.
pub const MAX_DEPTH: u32 = 1000;

/// The options that affect the grammar. [`Parser::options_mut`] can change them between commands.
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

/// The alias table, which the parser searches when [`ParseOptions::expand_aliases`] is on.
pub trait Aliases {
    fn get(&self, name: &[u8]) -> Option<std::rc::Rc<[u8]>>;
}

/// An empty alias table.
pub struct NoAliases;
impl Aliases for NoAliases {
    fn get(&self, _: &[u8]) -> Option<std::rc::Rc<[u8]>> {
        None
    }
}

/// A source of more text on demand, for standard input and prompts.
pub trait SourceInput {
    /// Appends the next line, including its newline, to `buf`; returns `false` at the end of input.
    /// `continuation` says that a command has already begun, so that the prompt is `PS2`.
    fn read_line(&mut self, buf: &mut Vec<u8>, continuation: bool) -> bool;
}

/// A parser that reads one complete command after another.
pub struct Parser<'i> {
    state: ParseState<'i>,
}

impl<'i> Parser<'i> {
    /// Returns a parser of a complete text.
    pub fn new(src: impl Into<Vec<u8>>, options: ParseOptions) -> Self {
        let mut src = src.into();
        crate::lex::end_line(&mut src);
        Parser {
            state: ParseState {
                src,
                line: options.first_line,
                opts: options,
                ..ParseState::default()
            },
        }
    }

    /// Returns a parser that reads line by line from `input`. After the line that completes a
    /// command, it requests no line until the next call.
    pub fn with_input(input: Box<dyn SourceInput + 'i>, options: ParseOptions) -> Self {
        let mut parser = Parser::new(Vec::new(), options);
        parser.state.input = Some(input);
        parser
    }

    /// Returns the next complete command, up to the newline that ends it; `None` at the end. After
    /// an error, the parser is at the start of the line after the offending one.
    pub fn next_command(
        &mut self,
        aliases: &dyn Aliases,
    ) -> Result<Option<CommandList>, SyntaxError> {
        self.forget_used();
        let mut machine = CommandParser { st: std::mem::take(&mut self.state), aliases };
        let result = machine.complete_command();
        if result.is_err() {
            machine.recover_from_error();
        }
        self.state = machine.st;
        result.map_err(|e| *e)
    }

    /// Returns the options for later commands (`first_line` no longer has an effect).
    pub fn options_mut(&mut self) -> &mut ParseOptions {
        &mut self.state.opts
    }

    /// Returns the number of source bytes consumed.
    pub fn offset(&self) -> usize {
        self.state.pos.saturating_add_signed(-self.state.shift)
    }

    /// Returns the current line number: that of the line after the last command.
    pub fn line(&self) -> u32 {
        self.state.line
    }

    /// Returns the number of the line on which the last command ended.
    pub fn last_line(&self) -> u32 {
        let st = &self.state;
        let after_newline = st.pos > 0 && st.src.get(st.pos - 1) == Some(&b'\n');
        st.line - u32::from(after_newline && st.line > 1)
    }

    /// Returns the warnings since the last call.
    pub fn take_warnings(&mut self) -> Vec<SyntaxWarning> {
        std::mem::take(&mut self.state.warnings)
    }

    /// Frees the memory of consumed text, because the input may never end.
    fn forget_used(&mut self) {
        const KEEP: usize = 1 << 16;
        let st = &mut self.state;
        if st.input.is_some() && st.pos > KEEP && st.pos * 2 > st.src.len() {
            st.src.drain(..st.pos);
            st.shift -= st.pos as isize;
            st.pos = 0;
        }
    }
}

impl CommandParser<'_, '_> {
    /// Prepares the state for the next command after an error: skips the rest of the line.
    fn recover_from_error(&mut self) {
        self.st.look = None;
        self.st.depth = 0;
        self.st.subs = 0;
        self.st.words = 0;
        self.st.edits.clear();
        self.st.docs.clear_all();
        self.st.lines = Default::default();
        self.st.reset_aliases();
        if self.st.pos > 0 && self.st.src.get(self.st.pos - 1) == Some(&b'\n') {
            return;
        }
        match memchr::memchr(b'\n', self.rest_bytes()) {
            Some(i) => {
                self.st.pos += i + 1;
                self.add_lines(1);
            }
            None => self.st.pos = self.st.src.len(),
        }
    }
}
