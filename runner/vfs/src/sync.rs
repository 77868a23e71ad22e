//! One way to lock a mutex, for all of the host's crates.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex, even if a thread has panicked while holding it. This is sound because every
/// critical section of these crates leaves its data consistent between two statements. So a session
/// whose thread has panicked can still be read and ended.
///
/// ```
/// let names = std::sync::Mutex::new(vec!["a"]);
/// wasibox_vfs::lock_mutex(&names).push("b");
/// assert_eq!(*wasibox_vfs::lock_mutex(&names), ["a", "b"]);
/// ```
pub fn lock_mutex<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
