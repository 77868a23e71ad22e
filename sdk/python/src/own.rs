//! Objects that only the process that made them may use.

use crate::failure::python_error;
use pyo3::PyResult;
use wasibox_sdk::{Refusal, RefusalKind};

/// A value that a forked process (`os.fork`) may neither use nor drop, because the workers of an
/// engine belong to the parent.
pub struct ForkSafe<T> {
    process: u32,
    value: Option<T>,
}

impl<T> ForkSafe<T> {
    pub fn new(value: T) -> ForkSafe<T> {
        ForkSafe { process: std::process::id(), value: Some(value) }
    }

    /// Returns the value.
    ///
    /// # Errors
    /// Returns an error in a forked process.
    pub fn get(&self) -> PyResult<&T> {
        let is_ours = self.process == std::process::id();
        self.value.as_ref().filter(|_| is_ours).ok_or_else(|| {
            let text = "it was made before this process was forked; make another one here";
            python_error(Refusal::new(RefusalKind::Conflict, text))
        })
    }
}

impl<T> Drop for ForkSafe<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.value.take());
        }
    }
}
