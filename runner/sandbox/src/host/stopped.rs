//! Stops all code of a session for a moment, to reach a process that is never met in its own code.

use crate::programs::{CodeHolder, Programs};
use std::sync::Arc;

/// A guard during whose life all code of a session is stopped.
pub struct CodeStopGuard(Arc<CodeHolder>);

impl CodeStopGuard {
    /// Makes the programs' code not executable, until the last such value is dropped.
    pub fn new(programs: &Programs) -> CodeStopGuard {
        programs.code.map.stop();
        CodeStopGuard(programs.code.clone())
    }
}

impl Drop for CodeStopGuard {
    fn drop(&mut self) {
        self.0.map.let_run();
    }
}
