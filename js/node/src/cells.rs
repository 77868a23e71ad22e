//! Cells: code for a long-lived interpreter (`js_engine::cells`). `lib/cell.js` implements them.
//!
//! `process.exit` ends the cell, not the interpreter: it throws an error that scripts cannot catch
//! and that is caught here.

use crate::native::TextArgument;
use crate::{native, start};
use js_engine::cells::{CellInput, JsCellAnswer};
use js_engine::interrupt;
use rquickjs::{Array, CatchResultExt, Ctx, Error, Function, Result};
use std::cell::Cell;
use std::io::Write;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellState {
    /// A process of its own.
    Process,
    /// A cell runs.
    Cell,
    /// It has asked for its end, with this status.
    Ending(i32),
}

thread_local! {
    static STATE: Cell<CellState> = const { Cell::new(CellState::Process) };
}

/// Returns the error that ends a cell which exits; `None` in a process of its own.
pub fn end_cell(ctx: &Ctx<'_>, status: i32) -> Option<Error> {
    if STATE.get() == CellState::Process {
        return None;
    }
    STATE.set(CellState::Ending(status));
    Some(interrupt::throw_uncatchable(ctx, "exit"))
}

/// Returns the ending error again, for callers that would lose it on its way.
pub fn ending_error(ctx: &Ctx<'_>) -> Option<Error> {
    match STATE.get() {
        CellState::Ending(status) => end_cell(ctx, status),
        _ => None,
    }
}

/// Runs the program's cells, for [`js_engine::program`].
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
                // Of the JavaScript half, or of memory that has run out.
                let told = Err::<(), _>(error).catch(ctx).err().map(|e| e.to_string());
                let _ = writeln!(std::io::stderr(), "{}", told.unwrap_or_default());
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

/// Runs the cells of a file, each begun by a line `//# cell`, and prints their answers: for work on
/// them without an image.
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
