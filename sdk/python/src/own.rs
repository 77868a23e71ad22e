//! What belongs to the process that made it.

use crate::failure::raised;
use pyo3::PyResult;
use wasibox_sdk::{Failure, Kind};

/// Something that a copy of the process (`os.fork`) has neither use for nor may end: its workers are the parent's.
pub struct Own<T> {
    process: u32,
    value: Option<T>,
}

impl<T> Own<T> {
    pub fn new(value: T) -> Own<T> {
        Own { process: std::process::id(), value: Some(value) }
    }

    /// The thing itself.
    ///
    /// # Errors
    /// In a copy of the process.
    pub fn get(&self) -> PyResult<&T> {
        let is_ours = self.process == std::process::id();
        self.value.as_ref().filter(|_| is_ours).ok_or_else(|| {
            let text = "it was made before this process was forked; make another one here";
            raised(Failure::new(Kind::Conflict, text))
        })
    }
}

impl<T> Drop for Own<T> {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.value.take());
        }
    }
}
