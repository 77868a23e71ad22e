//! The limits of a session's requests, and the counts of their use.

use crate::error::{BridgeLimit, RequestError};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Maximum length of a URL.
pub const MAX_URL: usize = 8192;

/// The limits of a session's requests. A hop of a redirect counts as a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BridgeLimits {
    /// Maximum number of requests of a session.
    pub requests: u64,
    /// Maximum number of requests between two calls of [`crate::Bridge::begin_call`].
    pub requests_per_call: u64,
    /// Maximum number of requests in progress at once.
    pub concurrent: u32,
    /// The time for which a request beyond `concurrent` waits, on its caller's thread, before it is
    /// refused.
    pub turn: Duration,
    /// Maximum bytes of a request's body.
    pub upload: u64,
    /// Maximum bytes of a response's body, both as received and as decoded.
    pub download: u64,
    pub session_upload: u64,
    pub session_download: u64,
    /// Maximum bytes of header names and values together, for a request and for a response.
    pub header_bytes: u32,
    pub headers: u32,
    pub redirects: u32,
    /// Time limit for resolving, connecting and the handshake of one hop.
    pub connect: Duration,
    /// Time limit from the last byte of a request to the head of its response.
    pub first_byte: Duration,
    /// Time limit for a request with all its hops, to the last byte of its response.
    pub total: Duration,
    /// Maximum bytes of a body that are kept for sending it again after a redirect.
    pub kept_body: u64,
    /// Maximum ratio of decoded to received bytes, for decoded bodies longer than 8 MiB.
    pub ratio: u32,
}

impl Default for BridgeLimits {
    fn default() -> Self {
        Self {
            requests: 10_000,
            requests_per_call: 1_000,
            concurrent: 16,
            turn: Duration::from_secs(10),
            upload: 64 << 20,
            download: 256 << 20,
            session_upload: 1 << 30,
            session_download: 4 << 30,
            header_bytes: 64 << 10,
            headers: 100,
            redirects: 20,
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(60),
            total: Duration::from_secs(300),
            kept_body: 1 << 20,
            ratio: 100,
        }
    }
}

/// The totals of a session's requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeUsage {
    pub requests: u64,
    pub sent: u64,
    pub received: u64,
}

#[derive(Debug, Default)]
pub(crate) struct RequestCounters {
    requests: AtomicU64,
    call: AtomicU64,
    active: Mutex<u32>,
    /// Notified when a request has ended.
    ended: Condvar,
    sent: AtomicU64,
    received: AtomicU64,
}

/// A place among the requests in progress, until the request ends or is aborted.
#[derive(Debug)]
pub(crate) struct ActiveRequest {
    counters: Arc<RequestCounters>,
    ended: AtomicBool,
}

impl ActiveRequest {
    /// Releases the place, so that another request may run.
    pub(crate) fn end(&self) {
        if !self.ended.swap(true, Relaxed) {
            *lock_active(&self.counters.active) -= 1;
            self.counters.ended.notify_one();
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.end();
    }
}

impl RequestCounters {
    pub(crate) fn begin_call(&self) {
        self.call.store(0, Relaxed);
    }

    pub(crate) fn usage(&self) -> BridgeUsage {
        BridgeUsage {
            requests: self.requests.load(Relaxed),
            sent: self.sent.load(Relaxed),
            received: self.received.load(Relaxed),
        }
    }

    pub(crate) fn activate(
        self: &Arc<Self>,
        limits: &BridgeLimits,
    ) -> Result<ActiveRequest, RequestError> {
        let full = |n: &mut u32| *n >= limits.concurrent;
        let waited = self.ended.wait_timeout_while(lock_active(&self.active), limits.turn, full);
        let (mut active, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *active >= limits.concurrent {
            return Err(RequestError::Limit(BridgeLimit::Concurrent));
        }
        *active += 1;
        Ok(ActiveRequest { counters: Arc::clone(self), ended: AtomicBool::new(false) })
    }

    pub(crate) fn count_request(&self, limits: &BridgeLimits) -> Result<(), RequestError> {
        let over = |_| RequestError::Limit(BridgeLimit::Requests);
        add_counted(&self.call, 1, limits.requests_per_call).map_err(over)?;
        add_counted(&self.requests, 1, limits.requests).map_err(over)
    }

    pub(crate) fn count_sent(&self, bytes: u64, limits: &BridgeLimits) -> Result<(), RequestError> {
        add_counted(&self.sent, bytes, limits.session_upload)
            .map_err(|_| RequestError::Limit(BridgeLimit::Upload))
    }

    pub(crate) fn count_received(
        &self,
        bytes: u64,
        limits: &BridgeLimits,
    ) -> Result<(), RequestError> {
        add_counted(&self.received, bytes, limits.session_download)
            .map_err(|_| RequestError::Limit(BridgeLimit::Download))
    }
}

fn lock_active(active: &Mutex<u32>) -> MutexGuard<'_, u32> {
    active.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add_counted(counter: &AtomicU64, more: u64, limit: u64) -> Result<(), u64> {
    let sum = |n: u64| n.checked_add(more).filter(|n| *n <= limit);
    counter.fetch_update(Relaxed, Relaxed, sum).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_counted_by_call_and_session() {
        let limits = BridgeLimits { requests: 3, requests_per_call: 2, ..BridgeLimits::default() };
        let counters = RequestCounters::default();
        assert!(counters.count_request(&limits).is_ok());
        assert!(counters.count_request(&limits).is_ok());
        assert_eq!(
            counters.count_request(&limits),
            Err(RequestError::Limit(BridgeLimit::Requests))
        );
        counters.begin_call();
        assert!(counters.count_request(&limits).is_ok());
        assert_eq!(
            counters.count_request(&limits),
            Err(RequestError::Limit(BridgeLimit::Requests))
        );
        assert_eq!(counters.usage().requests, 3);
    }

    #[test]
    fn what_has_ended_is_no_longer_active() {
        let limits =
            BridgeLimits { concurrent: 1, turn: Duration::ZERO, ..BridgeLimits::default() };
        let counters = Arc::new(RequestCounters::default());
        let one = counters.activate(&limits).unwrap();
        assert!(counters.activate(&limits).is_err());
        drop(one);
        assert!(counters.activate(&limits).is_ok());
    }

    #[test]
    fn a_further_one_waits_for_its_turn() {
        let limits = BridgeLimits {
            concurrent: 1,
            turn: Duration::from_secs(60),
            ..BridgeLimits::default()
        };
        let counters = Arc::new(RequestCounters::default());
        let one = counters.activate(&limits).unwrap();
        let (theirs, bounds) = (counters.clone(), limits.clone());
        let other = std::thread::spawn(move || theirs.activate(&bounds).map(drop));
        std::thread::sleep(Duration::from_millis(20));
        one.end();
        assert_eq!(other.join().unwrap(), Ok(()));
    }
}
