//! Makes promises that other threads settle.

use napi::bindgen_prelude::{Object, ToNapiValue};
use napi::{Env, Error, Result, Status};
use wasibox_sdk::Refusal;

/// Returns the error for a failure. Its message has the kind, the code and the text on separate
/// lines, and the package's TypeScript half splits it.
pub fn js_error(failure: impl Into<Refusal>) -> Error {
    let refusal: Refusal = failure.into();
    let code = refusal.code.as_deref().unwrap_or_default();
    let text = format!("{}\n{code}\n{}", refusal.class_name(), refusal.full_text());
    Error::new(Status::GenericFailure, text)
}

/// Returns a promise for the result of `act` on another thread.
///
/// # Errors
/// Returns an error if the promise cannot be created, or no thread can be started.
pub fn run_as_promise<'env, T>(
    env: &'env Env,
    act: impl FnOnce() -> std::result::Result<T, Refusal> + Send + 'static,
) -> Result<Object<'env>>
where
    T: ToNapiValue + Send + 'static,
{
    let (deferred, promise) = env.create_deferred()?;
    let job = move || match act() {
        Ok(value) => deferred.resolve(move |_: Env| Ok(value)),
        Err(failure) => deferred.reject(js_error(failure)),
    };
    wasibox_sdk::spawn_job(job).map_err(|e| js_error(Refusal::from(e)))?;
    Ok(promise)
}
