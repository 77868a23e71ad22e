//! Waiting without Python's lock.

use crate::failure::python_error;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasibox_sdk::lock_mutex;

/// The interval at which the main thread looks for signals while it waits.
const SIGNALS: Duration = Duration::from_millis(20);

/// Does something that takes time. For the main thread (`is_main`) it is done on another one, which
/// stays for the next call, and `end` is called when a signal's handler raises.
///
/// # Errors
/// The exception that the handler has raised; if there can be no thread.
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
        // The waiting thread is woken even if that fails.
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

/// Threads that may still take Python's lock, and whether one has ended.
static UNDER_WAY: Mutex<usize> = Mutex::new(0);
static ENDED: Condvar = Condvar::new();
/// The time for which the interpreter's end waits for them. A guest's work takes any time; a thread
/// that has reported its end needs the lock for an instant more, and releasing it while the
/// interpreter ends is fatal.
const SETTLING: Duration = Duration::from_secs(1);

/// Counts a thread among those that are under way.
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

/// Waits for threads that are about to end; called at the interpreter's end.
#[pyfunction]
pub fn settle(py: Python<'_>) {
    py.detach(|| {
        // A slower thread does not hold the end up.
        let _ = ENDED.wait_timeout_while(under_way(), SETTLING, |n| *n > 0);
    });
}

/// Calls `act` on a thread of the package's, then `done` with the exception that it has raised, or
/// None, and its result. The interpreter does not wait for such a thread when it ends.
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
            // They are Python objects, which must not be dropped without Python's lock.
            drop((act, done));
        });
    };
    py.detach(|| wasibox_sdk::spawn_job(job))
        .map_err(|e| python_error(wasibox_sdk::Refusal::from(e)))
}
