//! The shell language: lexing, parsing and printing. No I/O, no state.
//!
//! # Map
//! - [`ast`]: the tree, the contract with expansion and execution.
//! - [`parse`]: [`parse::Parser`] reads one complete command after another, so that an alias or
//!   `shopt -s extglob` takes effect from the next command on and a syntax error is reported only
//!   after the commands before it have run. Functions for text met at run time are there, too.
//! - [`arith`]: arithmetic expressions, from text to [`ast::ArithExpr`].
//! - [`mod@print`]: the tree back to shell text, in the layout of bash's `declare -f`.
//! - [`word`]: the word at the end of a line that is being typed, for completion.
//! - [`error`]: [`error::SyntaxError`] with bash's wording, [`error::ArithError`].
//!
//! # Invariants
//! - Input is hostile: nothing panics, nesting is bounded by [`parse::MAX_DEPTH`], time is linear
//!   in the input (up to that bound).
//! - `parse(print(tree))` is `tree` except for lines and source spellings.
#![forbid(unsafe_code)]

pub mod arith;
pub mod ast;
pub mod error;
mod lex;
pub mod parse;
pub mod print;
pub mod word;

/// Runs the examples of the README as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
