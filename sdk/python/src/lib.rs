//! The module `wasibox._native`: the embedding API for the package's Python files, which define its
//! interface.
//!
//! Options and answers are passed as JSON, in the words of `wasibox-sdk`; bytes as bytes.
//!
//! # Invariants
//! - No call of the engine holds Python's lock. Python's functions (output, progress, tools) are
//!   called on other threads, with it.
//! - A call that the main thread waits for reacts to signals: Ctrl-C ends the guest and raises
//!   `KeyboardInterrupt`.
#![deny(unsafe_code)]

mod engine;
mod failure;
mod own;
mod session;
mod tools;
mod wait;

use pyo3::prelude::*;

/// The native half of the package.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::engine::{Engine, unpack};
    #[pymodule_export]
    use crate::failure::NativeError;
    #[pymodule_export]
    use crate::session::{Cancel, Session};
    #[pymodule_export]
    use crate::tools::ToolCall;
    #[pymodule_export]
    use crate::wait::{settle, spawn};
}
