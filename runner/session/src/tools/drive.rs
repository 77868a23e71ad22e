//! Polls a tool's future on the thread of its call until it is done, cancelled or late.

use super::calls::ToolCallsInner;
use super::{Acting, ToolError};
use serde_json::Value;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;
use wasibox_vfs::lock_mutex;

/// The state of a call that runs or is queued.
#[derive(Default)]
pub(super) struct Ticket {
    is_cancelled: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Ticket {
    /// Returns whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Cancels the call and wakes its thread.
    pub fn cancel_call(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// A place among the running calls, released when this is dropped.
pub(super) struct CallSlot(pub Arc<ToolCallsInner>);

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.0.clone().next();
    }
}

/// The result of driving a future.
pub(super) enum DriveResult {
    Done(Result<Value, ToolError>),
    Cancelled,
    Late,
}

struct UnparkWaker(Thread);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread. It is dropped at the end in every case.
pub(super) fn drive_future(
    make: impl FnOnce() -> Acting,
    ticket: &Ticket,
    until: Option<Instant>,
) -> DriveResult {
    let me = std::thread::current();
    let waker = Waker::from(Arc::new(UnparkWaker(me.clone())));
    // Set before the ticket is first checked, so that a later cancellation finds the thread.
    let _ = ticket.thread.set(me);
    let mut context = Context::from_waker(&waker);
    let failed = || DriveResult::Done(Err(ToolError::new("the tool has panicked")));
    let Ok(mut future) = catch_unwind(AssertUnwindSafe(make)) else { return failed() };
    loop {
        if ticket.is_cancelled() {
            return DriveResult::Cancelled;
        }
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context))) {
            Ok(Poll::Ready(result)) => return DriveResult::Done(result),
            Ok(Poll::Pending) => {}
            Err(_) => return failed(),
        }
        match until.map(|until| until.saturating_duration_since(Instant::now())) {
            Some(left) if left.is_zero() => return DriveResult::Late,
            Some(left) => std::thread::park_timeout(left),
            None => std::thread::park(),
        }
    }
}

/// A value made by a thread, and the waker of the task that waits for it.
struct ThreadValue<T>(Mutex<(Option<T>, Option<Waker>)>);

impl<T> ThreadValue<T> {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Option<T>, Option<Waker>)> {
        lock_mutex(&self.0)
    }
}

/// Runs a blocking function on a thread and waits for its result. The function continues if the
/// future is dropped.
pub(super) async fn on_thread(
    act: impl FnOnce() -> Result<Value, ToolError> + Send + 'static,
) -> Result<Value, ToolError> {
    let made = Arc::new(ThreadValue(Mutex::new((None, None))));
    let to = made.clone();
    std::thread::Builder::new().name("host tool".into()).spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(act));
        let result = result.unwrap_or_else(|_| Err(ToolError::new("the tool has panicked")));
        let waker = {
            let mut made = to.lock();
            made.0 = Some(result);
            made.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    })?;
    poll_fn(move |context| {
        let mut made = made.lock();
        match made.0.take() {
            Some(result) => Poll::Ready(result),
            None => {
                made.1 = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
    .await
}
