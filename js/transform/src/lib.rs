//! TypeScript and JSX to JavaScript, places of syntax errors, and modules as functions for the
//! bundler.
//!
//! Everything is a function of a text: no file is read, no option looked up. The program `js` finds
//! files and `tsconfig.json`, and gives the engine the result.
//!
//! | task | place |
//! |---|---|
//! | removing types and JSX, decorators and enums to code | [`transform`] |
//! | the place of a syntax error | [`check`](check::check_syntax) |
//! | a module as the body of a function | [`module`] |
//! | small names and dead code | [`minify`] |
//!
//! # Deliberately absent
//! Types are not checked. Decorators of ECMAScript's proposal are refused; those of
//! `experimentalDecorators` are code.
#![forbid(unsafe_code)]

pub mod check;
mod error;
mod helpers;
pub mod minify;
pub mod module;
mod options;
#[cfg(test)]
mod tests;
pub mod transform;

pub use error::JsSyntaxError;
pub use helpers::helpers_object as helpers;
pub use options::{CompilerOptions, Jsx, SourceKind};

/// The result of transforming a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub code: String,
    /// The field `mappings` of a source map (ECMA-426) with one source and no names.
    pub mappings: String,
}
