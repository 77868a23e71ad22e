//! The exception for failures, which the package turns into exceptions of its own classes.

use pyo3::PyErr;
use wasibox_sdk::Refusal;

pyo3::create_exception!(
    _native,
    NativeError,
    pyo3::exceptions::PyException,
    "(kind, text, code): why something was not done."
);

/// Returns the exception for a refusal.
pub fn python_error(failure: impl Into<Refusal>) -> PyErr {
    let refusal: Refusal = failure.into();
    let (class, text) = (refusal.class_name(), refusal.full_text().to_owned());
    NativeError::new_err((class, text, refusal.code))
}
