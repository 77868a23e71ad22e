//! Cells: an interpreter that is kept and runs one piece of code after another.
//!
//! The runtime calls `wasibox_cell` once for each cell, always in the same process. The memory of
//! that process begins as prepared memory ([`crate::stages`]) or as the module's own initial
//! memory, and keeps its state and descriptors between two calls. `wasibox_cell` returns with an
//! empty stack. Its result is the address of five numbers: status, address and length of the value,
//! address and length of the JSON (`runner/sandbox/src/cell.rs`).

/// The code of a cell and its environment.
#[derive(Clone, Debug, Default)]
pub struct CellInput {
    pub code: Vec<u8>,
    /// The names and values of the variables at the time of the cell.
    pub environment: Vec<(String, String)>,
    /// Whether this is the first cell of the interpreter.
    pub is_first: bool,
    /// Whether the interpreter is a copy of another one, which may still exist.
    pub is_fork: bool,
}

/// The result of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JsCellAnswer {
    /// The status of the cell, like the exit status of a process: 0 for success.
    pub status: u8,
    /// The value as text.
    pub value: Option<Vec<u8>>,
    /// The value as JSON, if it is plain data.
    pub json: Option<Vec<u8>>,
}

#[cfg(target_os = "wasi")]
mod exports {
    use super::{CellInput, JsCellAnswer};
    use crate::{environment, stages};
    use std::cell::RefCell;
    use std::os::wasi::ffi::OsStringExt;

    /// Bits of the argument of `wasibox_cell`.
    const BEGIN: u32 = 1;
    const FORK: u32 = 2;

    unsafe extern "Rust" {
        /// The program's function that runs a cell, defined by [`crate::program`].
        safe fn wasibox_js_cell(given: CellInput) -> JsCellAnswer;
    }

    thread_local! {
        /// The last answer, and the five numbers by which the host finds it in memory.
        static ANSWER: RefCell<(JsCellAnswer, Box<[u32; 5]>)> = RefCell::default();
    }

    fn bytes_address(bytes: Option<&Vec<u8>>) -> [u32; 2] {
        bytes.map_or([0, 0], |b| [b.as_ptr() as u32, b.len() as u32])
    }

    // JUSTIFICATION: the runtime finds it by its name. SAFETY: no other symbol has this name.
    #[unsafe(no_mangle)]
    extern "C" fn wasibox_cell(kind: u32) -> u32 {
        if kind & BEGIN != 0 {
            stages::prepare_once();
            environment::refresh_environment();
        }
        let code = std::env::args_os().nth(1).map(OsStringExt::into_vec).unwrap_or_default();
        let answer = wasibox_js_cell(CellInput {
            code,
            environment: environment::environment_variables(),
            is_first: kind & BEGIN != 0,
            is_fork: kind & FORK != 0,
        });
        ANSWER.with_borrow_mut(|(kept, numbers)| {
            *kept = answer;
            let [value, size] = bytes_address(kept.value.as_ref());
            let [json, json_size] = bytes_address(kept.json.as_ref());
            **numbers = [u32::from(kept.status), value, size, json, json_size];
            numbers.as_ptr() as u32
        })
    }
}
