//! All code of a session stopped for a moment, to reach a process that never runs its own code.

use crate::programs::{CodeHolder, Programs};
use std::sync::Arc;

/// All code of a session is stopped while this lives.
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
