//! The language: from text to a syntax tree.

pub mod ast;
mod lexer;
mod object;
mod parser;
mod postfix;

pub use parser::{parse_defs, parse_module};

/// A syntax error in a program, and its position.
#[derive(Debug)]
pub struct JqSyntaxError {
    pub message: String,
    /// Byte offset in the program.
    pub at: usize,
}
