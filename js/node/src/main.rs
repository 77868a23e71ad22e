//! `js` and `node`: JavaScript as Node runs it.
//!
//! The engine is QuickJS; the library is Node's own JavaScript (`lib/*.js` of the pinned release), which
//! runs over bindings of ours in place of Node's C++: [`native`] are plain functions in Rust, `lib/` makes
//! of them what Node's library asks for by `internalBinding(name)`.
//!
//! | stage | where |
//! |---|---|
//! | the library as an archive | `library` |
//! | engine, bindings, Node's bootstrap | `start`, `lib/boot.js` |
//! | modules | `modules`, `lib/esm_loader.js` |
//! | cells: code for an interpreter that stays | `cells`, `lib/cell.js` |
//! | event loop | `lib/process.js`, waiting in `native::process::poll` |
//!
//! # Invariants
//! - What a prepared process keeps (`js_engine::stages`) depends on the library alone: arguments,
//!   environment, directory, seeds and clocks are asked for in each process.
//! - No `unsafe`: it is in `js-engine`.
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
