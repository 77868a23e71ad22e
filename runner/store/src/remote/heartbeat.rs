//! The signs of life of workers: each says until when its sessions are its own.

use super::head::{Heartbeat, WorkerId, decode, encode};
use super::{Remote, lock};
use crate::{Store, StoreError, now_nanos};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use wasibox_snapshot::Digest;

pub(super) fn now_millis() -> u64 {
    now_nanos() / 1_000_000
}

fn worker_key(worker: &WorkerId) -> String {
    format!("workers/{}", Digest::hash_bytes(worker))
}

impl Remote {
    /// Returns whether a worker's sessions are still its own.
    pub(super) fn is_alive(&self, worker: &WorkerId) -> Result<bool, StoreError> {
        let Some(found) = self.bucket.get(&worker_key(worker), 1024)? else { return Ok(false) };
        // One that is damaged is none.
        let beat: Result<Heartbeat, _> = decode(&found.bytes);
        Ok(beat.is_ok_and(|beat| beat.until > now_millis()))
    }

    fn beat(&self) -> Result<(), StoreError> {
        let lease = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        let until = now_millis().saturating_add(lease);
        self.bucket.put(&worker_key(&self.worker), &encode(&Heartbeat { until })?)?;
        *lock(&self.until) = until;
        Ok(())
    }

    /// Sends a heartbeat before a session is taken up, and begins those that follow.
    pub(super) fn beat_before_use(&self, store: &Store) -> Result<(), StoreError> {
        let half = u64::try_from(self.lease.as_millis() / 2).unwrap_or(u64::MAX);
        if *lock(&self.until) > now_millis().saturating_add(half) {
            return Ok(());
        }
        let is_first = *lock(&self.until) == 0;
        self.beat()?;
        if is_first {
            let (store, pause) = (Arc::downgrade(&store.shared), self.lease / 4);
            std::thread::spawn(move || keep_beating(&store, pause));
        }
        Ok(())
    }
}

/// Sends heartbeats while the store is in use and has sessions.
fn keep_beating(store: &Weak<crate::StoreInner>, pause: Duration) {
    loop {
        std::thread::sleep(pause);
        let Some(store) = store.upgrade() else { return };
        let Some(remote) = &store.remote else { return };
        if remote.held.load(Ordering::SeqCst) > 0 {
            // If it fails, others may take the sessions, and their changes here fail.
            let _ = remote.beat();
        }
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        if *lock(&self.until) > 0 {
            // The object is small, and a collection removes it otherwise.
            let _ = self.bucket.delete(&worker_key(&self.worker));
        }
    }
}
