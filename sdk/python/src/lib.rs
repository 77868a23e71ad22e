//! The module `wasibox._native`: the embedding API for the package's Python files, which define its
//! interface.
//!
//! Options and answers are passed as JSON with the field names of `wasibox-sdk`, and bytes as
//! `bytes` objects.
//!
//! # Invariants
//! - Python's global lock is not held during a call of the engine. Functions in Python (output,
//!   progress, tools) are called on other threads, which hold it.
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
    use crate::session::{Cancel, ExposedPort, Session};
    #[pymodule_export]
    use crate::tools::ToolCall;
    #[pymodule_export]
    use crate::wait::{settle, spawn};
}
