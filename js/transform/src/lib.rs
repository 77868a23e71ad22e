//! Transforms TypeScript and JSX into JavaScript, finds the places of syntax errors, and rewrites
//! modules as functions for the bundler.
//!
//! Everything is a function of a text: no file is read, and no option is looked up. The program
//! `js` finds files and `tsconfig.json`, and passes the result to the engine.
//!
//! | task | place |
//! |---|---|
//! | removing types; turning JSX, decorators and enums into code | [`transform`] |
//! | finding the place of a syntax error | [`check`](check::check_syntax) |
//! | rewriting a module as the body of a function | [`module`] |
//! | shortening names and removing dead code | [`minify`] |
//!
//! # Deliberately absent
//! Types are not checked. Decorators of ECMAScript's proposal are refused; only those of
//! `experimentalDecorators` are supported.
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
