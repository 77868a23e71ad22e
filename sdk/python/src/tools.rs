//! Functions of Python's as host tools.

use crate::wait::ThreadGuard;
use pyo3::prelude::*;
use wasibox_sdk::SdkFailure;
use wasibox_sdk::wasibox::{HostTool, ToolContext};

/// A call of a tool, for the function that executes it.
#[pyclass(frozen, module = "wasibox._native")]
pub struct ToolCall(ToolContext);

#[pymethods]
impl ToolCall {
    /// Whether the call is abandoned.
    fn is_cancelled(&self) -> bool {
        self.0.is_cancelled()
    }
}

/// A function of Python's, which is let go of with Python's lock.
struct PythonFunction(Option<Py<PyAny>>);

impl Drop for PythonFunction {
    fn drop(&mut self) {
        let act = self.0.take();
        // Without an interpreter nothing is left to let go of.
        let _ = Python::try_attach(move |_| drop(act));
    }
}

/// A tool of a function that takes a call and arguments, and gives whether it could, and a result
/// or why not.
pub fn host_tool(told: &str, act: Py<PyAny>) -> Result<HostTool, SdkFailure> {
    let act = PythonFunction(Some(act));
    wasibox_sdk::host_tool(told, move |arguments, context| {
        let _counted = ThreadGuard::begin();
        let ended = || "the program's interpreter has ended".to_owned();
        let act = act.0.as_ref().ok_or_else(ended)?;
        let called = Python::try_attach(|py| {
            let call = ToolCall(context.clone());
            let told = act.call1(py, (call, arguments))?;
            told.extract::<(bool, String)>(py)
        });
        match called {
            None => Err(ended()),
            Some(Ok((true, result))) => Ok(result),
            Some(Ok((false, why))) => Err(why),
            // It reports everything that functions raise: this is the exception that ends threads.
            Some(Err(e)) => Err(e.to_string()),
        }
    })
}
