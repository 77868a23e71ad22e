//! The language: from text to a syntax tree.

pub mod ast;
mod lexer;
mod object;
mod parser;
mod postfix;

pub use parser::{parse_defs, parse_module};

/// What is wrong with a program, and where.
#[derive(Debug)]
pub struct JqSyntaxError {
    pub message: String,
    /// Byte offset in the program.
    pub at: usize,
}
