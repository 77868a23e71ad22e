//! The test whether the calling thread must leave a long operation.
//!
//! A guest process has a thread of its own, and may be killed while it is in this crate. The kernel
//! sets the test once per thread instead of passing it to each call, because the calls otherwise
//! have nothing to do with processes.

use crate::errno::Errno;
use std::cell::RefCell;

type Test = Box<dyn Fn() -> bool>;

thread_local! {
    static STOP: RefCell<Option<Test>> = const { RefCell::new(None) };
}

/// A guard during whose life the thread's operations end with EINTR once the test returns true.
#[derive(Debug)]
#[must_use]
pub struct StopGuard(());

/// Makes the calling thread's operations end with EINTR once `test` returns true.
pub fn stop_when(test: impl Fn() -> bool + 'static) -> StopGuard {
    STOP.with_borrow_mut(|stop| *stop = Some(Box::new(test)));
    StopGuard(())
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        // A thread that ends may have dropped the test already.
        let _ = STOP.try_with(|stop| stop.borrow_mut().take());
    }
}

/// Returns EINTR if the thread must leave.
pub(crate) fn check_stop() -> Result<(), Errno> {
    let stop = STOP.try_with(|stop| stop.borrow().as_ref().is_some_and(|test| test()));
    if stop.unwrap_or(false) { Err(Errno::INTR) } else { Ok(()) }
}
