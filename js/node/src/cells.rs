//! Runs cells in an interpreter that keeps its state between them (`js_engine::cells`). The half in
//! JavaScript is `lib/cell.js`.
//!
//! `process.exit` ends the cell, not the interpreter: it throws an error that scripts cannot catch,
//! and this file catches it.

use crate::native::TextArgument;
use crate::{native, start};
use js_engine::cells::{CellInput, JsCellAnswer};
use js_engine::interrupt;
use rquickjs::{Array, CatchResultExt, Ctx, Error, Function, Result};
use std::cell::Cell;
use std::io::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellState {
    /// No cell: the program runs as an ordinary process.
    Process,
    /// A cell is running.
    Cell,
    /// The cell has called `process.exit` with this status.
    Ending(i32),
}

thread_local! {
    static STATE: Cell<CellState> = const { Cell::new(CellState::Process) };
}

/// Returns the error that ends the running cell with a status; `None` outside a cell.
pub fn end_cell(ctx: &Ctx<'_>, status: i32) -> Option<Error> {
    if STATE.get() == CellState::Process {
        return None;
    }
    STATE.set(CellState::Ending(status));
    Some(interrupt::throw_uncatchable(ctx, "exit"))
}

/// Creates the error of [`end_cell`] again if the cell is ending; `None` otherwise. Code between
/// `process.exit` and the caller may have dropped the first error.
pub fn ending_error(ctx: &Ctx<'_>) -> Option<Error> {
    match STATE.get() {
        CellState::Ending(status) => end_cell(ctx, status),
        _ => None,
    }
}

/// Runs a cell, as [`js_engine::program`] requires.
pub fn run_cell(given: CellInput) -> JsCellAnswer {
    if given.is_first {
        native::files::adopt(box_sys::take_inherited());
    }
    start::with_cell(|ctx, function| {
        STATE.set(CellState::Cell);
        let result = run(ctx, &function, given);
        match interrupt::unless_interrupted(ctx, result) {
            Some(Ok(answer)) => answer,
            Some(Err(error)) => {
                // `cell.js` has a bug, or memory has run out.
                let message = Err::<(), _>(error).catch(ctx).err().map(|e| e.to_string());
                let _ = writeln!(std::io::stderr(), "{}", message.unwrap_or_default());
                JsCellAnswer { status: 1, ..JsCellAnswer::default() }
            }
            None => JsCellAnswer { status: cell_status(), ..JsCellAnswer::default() },
        }
    })
    .unwrap_or(JsCellAnswer { status: 1, ..JsCellAnswer::default() })
}

fn cell_status() -> u8 {
    match STATE.get() {
        CellState::Ending(status) => (status & 255) as u8,
        _ => 1,
    }
}

fn run<'js>(ctx: &Ctx<'js>, function: &Function<'js>, given: CellInput) -> Result<JsCellAnswer> {
    let code = String::from_utf8_lossy(&given.code).into_owned();
    let environment: Vec<String> = given.environment.into_iter().flat_map(<[_; 2]>::from).collect();
    let cwd = box_sys::initial_cwd().to_string_lossy().into_owned();
    let array: Array = function.call((code, environment, cwd, given.is_first, given.is_fork))?;
    if let Some(error) = ending_error(ctx) {
        return Err(error);
    }
    let text = |n| Ok::<_, Error>(array.get::<Option<TextArgument>>(n)?.map(|t| t.0.into_bytes()));
    let status = (array.get::<i32>(0)? & 255) as u8;
    Ok(JsCellAnswer { status, value: text(1)?, json: text(2)? })
}

/// Runs the cells of a file, each of which begins after a line `//# cell`, and prints their
/// answers. Tests without an image use this.
#[cfg(not(target_os = "wasi"))]
pub fn of_file(path: &std::path::Path) -> std::io::Result<u8> {
    let text = std::fs::read_to_string(path)?;
    let mut status = 0;
    for (n, code) in text.split("//# cell\n").skip(1).enumerate() {
        let environment = std::env::vars().collect();
        let code = code.as_bytes().to_vec();
        let answer = run_cell(CellInput { code, environment, is_first: n == 0, is_fork: false });
        status = answer.status;
        let text = |t: Option<Vec<u8>>| t.map(|t| String::from_utf8_lossy(&t).into_owned());
        let (value, json) = (text(answer.value), text(answer.json));
        println!("[{status}] {} {}", value.unwrap_or_default(), json.unwrap_or_default());
    }
    Ok(status)
}
