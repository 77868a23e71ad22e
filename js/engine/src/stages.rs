//! The ways to start the program: as a whole, to prepare memory, or from prepared memory.
//!
//! A runtime that keeps prepared memory calls `wasibox_prepare` once and `wasibox_resume` in each
//! later process; all other runtimes call `_start`. All three call the same function of the
//! program, with a [`StartStage`].

/// The part of the program's work that a start does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartStage {
    /// All of the work (`_start`).
    Whole,
    /// The work that does not depend on arguments, environment, time or random numbers. The program
    /// then returns.
    Prepare,
    /// The rest of the work, in memory as [`StartStage::Prepare`] left it.
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

    /// Whether the program is prepared. In prepared memory this is true from the start.
    static IS_PREPARED: AtomicBool = AtomicBool::new(false);

    /// Prepares the program, unless the process started from prepared memory.
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

/// Defines the two functions that the exports of this module and of [`crate::cells`] call. The
/// arguments are paths of the program's functions: `fn(StartStage) -> u8`, which returns the exit
/// status, and `fn(CellInput) -> JsCellAnswer`.
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
