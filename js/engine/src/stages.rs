//! The starting point of a process: from the beginning, for preparation, or from prepared memory.
//!
//! A runtime that keeps prepared memory calls `wasibox_prepare` once and `wasibox_resume` in each
//! later process; all other runtimes call `_start`. The program is the same function each time and
//! asks [`StartStage`].

/// The purpose of a start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStage {
    /// `_start`: everything at once.
    Whole,
    /// Does the work that does not depend on arguments, environment, time or random numbers; then
    /// returns.
    Prepare,
    /// The rest, with memory as it was left.
    Resume,
}

#[cfg(target_os = "wasi")]
mod exports {
    use std::sync::atomic::{AtomicBool, Ordering};

    unsafe extern "Rust" {
        /// The program, defined by [`crate::program`].
        safe fn wasibox_js_program(stage: super::StartStage) -> u8;
    }

    unsafe extern "C" {
        fn __wasm_call_ctors();
    }

    // JUSTIFICATION: the runtime finds it by its name. SAFETY: no other symbol has this name.
    #[unsafe(no_mangle)]
    extern "C" fn wasibox_prepare() {
        prepare_once();
    }

    /// Whether it is prepared; also in the memory that is kept as prepared memory.
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);

    /// Prepares unless the memory began as prepared.
    pub fn prepare_once() {
        if IS_PREPARED.swap(true, Ordering::Relaxed) {
            return;
        }
        // SAFETY: the linker's own function, called once and before all other code, as `_start`
        // would.
        unsafe { __wasm_call_ctors() };
        if wasibox_js_program(super::StartStage::Prepare) != 0 {
            std::process::exit(1);
        }
    }

    // JUSTIFICATION: the runtime finds it by its name. SAFETY: no other symbol has this name.
    #[unsafe(no_mangle)]
    extern "C" fn wasibox_resume() -> i32 {
        crate::environment::refresh_environment();
        std::process::exit(i32::from(wasibox_js_program(super::StartStage::Resume)))
    }
}

#[cfg(target_os = "wasi")]
pub(crate) use exports::prepare_once;

/// Names the program's functions for the exports of this module and of [`crate::cells`]: `fn(Stage)
/// -> u8` with the exit status, and `fn(Given) -> Answer`.
#[macro_export]
macro_rules! program {
    ($function:path, $cell:path) => {
        #[cfg(target_os = "wasi")]
        // JUSTIFICATION: the exports are in the engine's crate, the program above it.
        // SAFETY: used once, with the type that the exports declare.
        #[unsafe(no_mangle)]
        fn wasibox_js_program(stage: $crate::stages::StartStage) -> u8 {
            $function(stage)
        }

        #[cfg(target_os = "wasi")]
        // JUSTIFICATION: the exports are in the engine's crate, the program above it.
        // SAFETY: used once, with the types that the exports declare.
        #[unsafe(no_mangle)]
        fn wasibox_js_cell(given: $crate::cells::CellInput) -> $crate::cells::JsCellAnswer {
            $cell(given)
        }
    };
}
