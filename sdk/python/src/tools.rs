//! Makes Python functions host tools.

use crate::wait::ThreadGuard;
use pyo3::prelude::*;
use wasibox_sdk::Refusal;
use wasibox_sdk::wasibox::{HostTool, ToolContext};

/// A call of a tool, for the function that executes it.
#[pyclass(frozen, module = "wasibox._native")]
pub struct ToolCall(ToolContext);

#[pymethods]
impl ToolCall {
    /// Returns whether the call was cancelled.
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// A Python function. It is dropped with Python's global lock held.
struct PythonFunction(Option<Py<PyAny>>);

impl Drop for PythonFunction {
    fn drop(&mut self) {
        let act = self.0.take();
        // Once the interpreter has ended, there is nothing to drop.
        let _ = Python::try_attach(move |_| drop(act));
    }
}

/// Creates a host tool from its description and a Python function. The function takes a
/// [`ToolCall`] and the arguments, and returns whether it succeeded, and the result or the reason.
pub fn host_tool(description: &str, act: Py<PyAny>) -> Result<HostTool, Refusal> {
    let act = PythonFunction(Some(act));
    wasibox_sdk::host_tool(description, move |arguments, context| {
        let _counted = ThreadGuard::begin();
        let ended = || "the program's interpreter has ended".to_owned();
        let act = act.0.as_ref().ok_or_else(ended)?;
        let called = Python::try_attach(|py| {
            let call = ToolCall(context.clone());
            let answer = act.call1(py, (call, arguments))?;
            answer.extract::<(bool, String)>(py)
        });
        match called {
            None => Err(ended()),
            Some(Ok((true, result))) => Ok(result),
            Some(Ok((false, why))) => Err(why),
            // The function catches the tool's own exceptions and returns them as reasons, so this
            // is an exception that ends the thread.
            Some(Err(e)) => Err(e.to_string()),
        }
    })
}
