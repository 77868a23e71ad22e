//! Waits for calls without holding Python's global lock, and runs functions on other threads.

use crate::failure::python_error;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasibox_sdk::lock_mutex;

/// The interval at which the main thread looks for signals while it waits.
const SIGNALS: Duration = Duration::from_millis(20);

/// Runs `act`, which may take a long time, without Python's global lock. The main thread
/// (`is_main`) runs it on another thread, because it must handle signals meanwhile; if a signal's
/// handler raises an exception, `end` is called.
///
/// # Errors
/// Returns the exception that the handler has raised, or an error if no thread can be started.
pub fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    is_main: bool,
    end: impl Fn(),
    act: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if !is_main {
        return Ok(py.detach(act));
    }
    let (sender, receiver) = sync_channel(1);
    let job = move || {
        // If the call panics, the panic is sent to the waiting thread.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(act)));
    };
    wasibox_sdk::spawn_job(job).map_err(|e| python_error(wasibox_sdk::Refusal::from(e)))?;
    let receiver = Mutex::new(receiver);
    let mut raised = None;
    let done = loop {
        let next = || lock_mutex(&receiver).recv_timeout(SIGNALS);
        match py.detach(next) {
            Ok(done) => break done,
            Err(RecvTimeoutError::Disconnected) => break Err(Box::new("the call's thread ended")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if raised.is_none()
            && let Err(e) = py.check_signals()
        {
            raised = Some(e);
            end();
        }
    };
    match (raised, done) {
        (Some(e), _) => Err(e),
        (None, Ok(done)) => Ok(done),
        (None, Err(panic)) => resume_unwind(panic),
    }
}

/// The number of threads that may still take Python's global lock.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);
/// Notified whenever such a thread has ended.
static ENDED: Condvar = Condvar::new();
/// The time for which the end of the interpreter waits for these threads. A thread that has
/// reported its result still needs the lock for a moment, and releasing it while the interpreter
/// ends is fatal. A guest that still runs may take any time, so the wait is limited.
const SETTLING: Duration = Duration::from_secs(1);

/// Counts a thread in [`UNDER_WAY`] until it is dropped.
pub struct ThreadGuard;

impl ThreadGuard {
    pub fn begin() -> ThreadGuard {
        *under_way() += 1;
        ThreadGuard
    }
}

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        *under_way() -= 1;
        ENDED.notify_all();
    }
}

fn under_way() -> MutexGuard<'static, usize> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for threads that are about to end. The package calls this at the end of the interpreter.
#[pyfunction]
pub fn settle(py: Python<'_>) {
    py.detach(|| {
        // A thread that takes longer does not delay the end.
        let _ = ENDED.wait_timeout_while(under_way(), SETTLING, |n| *n > 0);
    });
}

/// Calls `act` on a thread of the package, and then `done` with the exception that it has raised
/// (or None) and its result (or None). The interpreter does not wait for such a thread when it
/// ends.
#[pyfunction]
pub fn spawn(py: Python<'_>, act: Py<PyAny>, done: Py<PyAny>) -> PyResult<()> {
    let counted = ThreadGuard::begin();
    let job = move || {
        let _counted = counted;
        // When the interpreter ends, no caller waits.
        let _ = Python::try_attach(|py| {
            let result = match act.call0(py) {
                Ok(value) => done.call1(py, (py.None(), value)),
                Err(e) => done.call1(py, (e, py.None())),
            };
            if let Err(e) = result {
                e.write_unraisable(py, Some(done.bind(py)));
            }
            // Python objects must not be dropped without the lock.
            drop((act, done));
        });
    };
    py.detach(|| wasibox_sdk::spawn_job(job))
        .map_err(|e| python_error(wasibox_sdk::Refusal::from(e)))
}
