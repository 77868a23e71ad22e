//! Failures as an exception, which the package turns into its classes.

use pyo3::PyErr;
use wasibox_sdk::SdkFailure;

pyo3::create_exception!(
    _native,
    NativeError,
    pyo3::exceptions::PyException,
    "(kind, text, code): why something was not done."
);

/// Returns the exception for a failure.
pub fn python_error(failure: impl Into<SdkFailure>) -> PyErr {
    let SdkFailure { kind, text, code } = failure.into();
    NativeError::new_err((kind.name(), text, code))
}
