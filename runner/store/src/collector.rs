//! Garbage collections in the background, for histories that became shorter by themselves.
//!
//! A call whose commit was one too many must not wait until the whole store was searched, so a
//! thread collects the garbage. A store has one such thread at a time, and after a collection it
//! rests for [`REST`] times as long as the collection took, so that a busy store spends a twentieth
//! of its time on collections at most. What is garbage meanwhile is removed by the next one.
//!
//! # Deliberately absent
//! A collection of a removed commit's objects alone: other sessions may have the same objects, which
//! only a search of the whole store shows.

use crate::Store;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The rest after a collection, as a multiple of the time that it took.
const REST: u32 = 20;

/// The number of collections of this process that are running in the background.
static RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

/// The collections of a store in the background.
#[derive(Debug, Default)]
pub struct BackgroundCollection {
    is_running: bool,
    /// No collection begins before this time.
    rest: Option<Instant>,
}

/// Counts a running collection until it is dropped.
struct RunningCollection;

impl RunningCollection {
    fn begin() -> RunningCollection {
        *lock_running() += 1;
        RunningCollection
    }
}

impl Drop for RunningCollection {
    fn drop(&mut self) {
        *lock_running() -= 1;
        RUNNING.1.notify_all();
    }
}

fn lock_running() -> MutexGuard<'static, usize> {
    RUNNING.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no collection runs in the background, but at most this time. A program that ends
/// after each call would otherwise end each collection, too.
///
/// ```
/// wasibox_store::wait_for_collections(std::time::Duration::from_secs(10));
/// ```
pub fn wait_for_collections(most: Duration) {
    let running = lock_running();
    drop(RUNNING.1.wait_timeout_while(running, most, |count| *count > 0));
}

impl Store {
    /// Begins to collect garbage in the background, unless a collection is running or the last one
    /// was only just now.
    pub(crate) fn collect_soon(&self) {
        {
            let mut background = self.lock_background();
            if background.is_running || background.rest.is_some_and(|rest| Instant::now() < rest) {
                return;
            }
            background.is_running = true;
        }
        let (store, running) = (self.clone(), RunningCollection::begin());
        let collect = move || {
            let _running = running;
            let begun = Instant::now();
            // An error means that the store is damaged, or the disk is full. The next collection
            // tries it again, and one that somebody asks for reports it.
            let _ = store.collect_garbage();
            let mut background = store.lock_background();
            background.is_running = false;
            background.rest = Some(Instant::now() + begun.elapsed() * REST);
        };
        let begun = std::thread::Builder::new().name("collection".into()).spawn(collect);
        if begun.is_err() {
            self.lock_background().is_running = false;
        }
    }

    fn lock_background(&self) -> MutexGuard<'_, BackgroundCollection> {
        self.shared.background.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
