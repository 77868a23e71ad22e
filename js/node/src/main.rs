//! `js` and `node`: JavaScript as Node runs it.
//!
//! The engine is QuickJS; the library is Node's own JavaScript (`lib/*.js` of the pinned release),
//! which runs over our own bindings in place of Node's C++: [`native`] has plain functions in Rust,
//! and `lib/` builds from them the objects that Node's library requests by `internalBinding(name)`.
//!
//! | stage | where |
//! |---|---|
//! | the library as an archive | `library` |
//! | engine, bindings, Node's bootstrap | `start`, `lib/boot.js` |
//! | modules | `modules`, `lib/esm_loader.js` |
//! | cells: code for a long-lived interpreter | `cells`, `lib/cell.js` |
//! | event loop | `lib/process.js`, waiting in `native::process::poll` |
//!
//! # Invariants
//! - The state of a prepared process (`js_engine::stages`) depends only on the library. Each
//!   process reads arguments, environment, directory, seeds and clocks itself.
//! - There is no `unsafe` here; it is in `js-engine`.
#![forbid(unsafe_code)]

mod brotli;
mod cells;
mod library;
mod modules;
mod native;
mod start;

use js_engine::stages::StartStage;
use std::process::ExitCode;

js_engine::program!(start::run_program, cells::run_cell);

fn main() -> ExitCode {
    ExitCode::from(start::run_program(StartStage::Whole))
}
