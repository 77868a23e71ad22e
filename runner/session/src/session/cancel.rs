//! Cancellation of one call, and of no other.

use std::sync::Mutex;
use wasibox_vfs::lock_mutex;

use crate::control::Interrupt;

/// Tracks whether the caller of [`Session::call`] still waits for its call, so that a cancellation
/// ends that call and no other.
#[derive(Default)]
pub struct Cancel(Mutex<CancelState>);

#[derive(Default)]
struct CancelState {
    is_cancelled: bool,
    is_running: bool,
}

impl Cancel {
    /// Cancels the call: ends it through the session's handle if it is running, and otherwise keeps
    /// it from starting.
    ///
    /// ```no_run
    /// # let engine = wasibox::Engine::open("image.webc".as_ref())?;
    /// # let session = engine.session(wasibox::Policy::default())?;
    /// use wasibox::{Cancel, Exec, Streams};
    ///
    /// let cancel = Cancel::default();
    /// let interrupt = session.interrupter();
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         let streams = Streams { cancel: Some(&cancel), ..Streams::default() };
    ///         session.call(Exec::script("sleep 60"), streams)
    ///     });
    ///     cancel.cancel(&interrupt);
    /// });
    /// # Ok::<(), wasibox::Error>(())
    /// ```
    pub fn cancel(&self, interrupt: &Interrupt) {
        let mut waited = lock_mutex(&self.0);
        // The call is interrupted only once, because a second interrupt could reach the worker
        // after this call has ended, and end the next one.
        let is_first = !std::mem::replace(&mut waited.is_cancelled, true);
        if is_first && waited.is_running {
            interrupt.interrupt();
        }
    }

    /// Returns whether the call was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        lock_mutex(&self.0).is_cancelled
    }

    pub(super) fn begin_call(&self) -> bool {
        let mut waited = lock_mutex(&self.0);
        waited.is_running = !waited.is_cancelled;
        waited.is_running
    }

    /// Marks the call as over, after which it cannot be interrupted, and returns whether it was
    /// cancelled before.
    pub(super) fn end_call(&self) -> bool {
        let mut waited = lock_mutex(&self.0);
        waited.is_running = false;
        waited.is_cancelled
    }
}
