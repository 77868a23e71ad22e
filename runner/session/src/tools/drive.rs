//! Polling a tool's future on the thread of its call, until it is done, cancelled or late.

use super::calls::ToolCallsInner;
use super::{Acting, ToolError};
use serde_json::Value;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

/// A call that runs or waits for its turn.
#[derive(Default)]
pub(super) struct Ticket {
    is_cancelled: AtomicBool,
    thread: OnceLock<Thread>,
}

impl Ticket {
    /// Whether nobody waits for it any more.
    pub fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Acquire)
    }

    /// Nobody waits any more.
    pub fn cancel_call(&self) {
        self.is_cancelled.store(true, Ordering::Release);
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

/// A place among the calls that run, which is given back with this.
pub(super) struct CallSlot(pub Arc<ToolCallsInner>);

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.0.clone().next();
    }
}

/// What became of a future.
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

/// Polls a future on this thread. It is dropped in the end, however that comes.
pub(super) fn drive_future(
    make: impl FnOnce() -> Acting,
    ticket: &Ticket,
    until: Option<Instant>,
) -> DriveResult {
    let me = std::thread::current();
    let waker = Waker::from(Arc::new(UnparkWaker(me.clone())));
    // Before the first look at the ticket: who cancels after that finds the thread.
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

/// A value that a thread makes, and who waits for it.
struct ThreadValue<T>(Mutex<(Option<T>, Option<Waker>)>);

impl<T> ThreadValue<T> {
    fn lock(&self) -> std::sync::MutexGuard<'_, (Option<T>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A future of what a function gives that blocks. The function goes on if the future is dropped.
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
