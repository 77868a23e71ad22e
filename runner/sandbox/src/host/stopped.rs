//! All code of a session stopped for a moment, for a process that is not met in its own code.

use crate::programs::{Code, Programs};
use std::sync::Arc;

/// All code of a session is stopped while this lives.
pub struct Stopped(Arc<Code>);

impl Stopped {
    /// Makes the programs' code not executable, until the last such value is dropped.
    pub fn new(programs: &Programs) -> Stopped {
        programs.code.map.stop();
        Stopped(programs.code.clone())
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.map.let_run();
    }
}
