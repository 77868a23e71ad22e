//! One limit on the host memory that a session may occupy for any purpose.
//!
//! Linear memories, file contents, bytes in pipes, arguments of processes and all other memory that
//! the host keeps because a guest asked for it are taken from the same [`Budget`] before they are
//! kept, and given back when they are freed. The kernel and this crate share it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

thread_local! {
    /// Whether a request of this thread was refused. The cell has no destructor, because stacks
    /// grow in a signal handler.
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether a request of this thread was refused since the last call.
pub fn take_refused_here() -> bool {
    REFUSED.try_with(|refused| refused.replace(false)).unwrap_or(false)
}

/// Bytes of host memory: the limit, the bytes in use, and their maximum.
#[derive(Debug)]
pub struct Budget {
    limit: AtomicU64,
    used: AtomicU64,
    peak: AtomicU64,
    refused: AtomicBool,
    host_has_room: fn() -> bool,
}

impl Budget {
    /// Creates a budget of `limit` bytes.
    pub fn new(limit: u64) -> Arc<Budget> {
        Budget::with_host_check(limit, || true)
    }

    /// Creates a budget of `limit` bytes that also refuses while `host_has_room` returns false: for
    /// a host with limited memory that the budget does not fully count.
    pub fn with_host_check(limit: u64, host_has_room: fn() -> bool) -> Arc<Budget> {
        Arc::new(Budget { limit: AtomicU64::new(limit), host_has_room, ..Budget::default() })
    }

    /// Returns the limit.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Changes the limit. If more bytes are in use, they stay, and no more are given.
    pub fn set_limit(&self, limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
    }

    /// Takes `n` bytes, or refuses and records the refusal.
    pub fn take_bytes(&self, n: u64) -> bool {
        let limit = self.limit();
        let took = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(n).filter(|total| *total <= limit && (self.host_has_room)())
        });
        match took {
            Ok(before) => {
                self.peak.fetch_max(before + n, Ordering::Relaxed);
                true
            }
            Err(_) => {
                let _ = REFUSED.try_with(|refused| refused.set(true));
                self.refused.store(true, Ordering::Relaxed);
                false
            }
        }
    }

    /// Takes `n` bytes even past the limit, where a refusal is not possible: for copies of memory
    /// that was counted already, whose number is bounded. No more is given until there is room
    /// again.
    pub fn take_anyway(&self, n: u64) {
        let before = self.used.fetch_add(n, Ordering::Relaxed);
        self.peak.fetch_max(before.saturating_add(n), Ordering::Relaxed);
    }

    /// Takes bytes as [`Budget::take_anyway`] does; they are given back when the reservation is
    /// dropped.
    pub fn reserve_anyway(self: &Arc<Budget>, n: u64) -> Reservation {
        self.take_anyway(n);
        Reservation { bytes: n, budget: self.clone() }
    }

    /// Gives back `n` bytes that were taken.
    pub fn give_bytes(&self, n: u64) {
        self.used.fetch_sub(n, Ordering::Relaxed);
    }

    /// Takes `n` bytes that are given back when the reservation is dropped.
    pub fn reserve_bytes(self: &Arc<Budget>, n: u64) -> Option<Reservation> {
        self.take_bytes(n).then(|| Reservation { bytes: n, budget: self.clone() })
    }

    /// Returns whether `n` more bytes would be given now.
    pub fn has_room(&self, n: u64) -> bool {
        let fits = |total| total <= self.limit() && (self.host_has_room)();
        self.used.load(Ordering::Relaxed).checked_add(n).is_some_and(fits)
    }

    /// Returns the bytes in use.
    pub fn used_bytes(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Returns the maximum of the bytes in use since the last call, and whether a request was
    /// refused since then.
    pub fn take_report(&self) -> (u64, bool) {
        let peak = self.peak.swap(self.used_bytes(), Ordering::Relaxed);
        (peak, self.refused.swap(false, Ordering::Relaxed))
    }

    /// Returns whether a request was refused since the last report.
    pub fn has_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

impl Default for Budget {
    /// Creates a budget without a limit.
    fn default() -> Budget {
        Budget {
            limit: AtomicU64::new(u64::MAX),
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            refused: AtomicBool::new(false),
            host_has_room: || true,
        }
    }
}

/// Bytes taken from a budget; dropping it gives them back.
#[derive(Debug)]
pub struct Reservation {
    bytes: u64,
    budget: Arc<Budget>,
}

impl Reservation {
    /// Returns the bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves as many bytes again, even past the limit.
    pub fn reserve_again(&self) -> Reservation {
        self.budget.reserve_anyway(self.bytes)
    }

    /// Returns whether its bytes belong to that budget.
    pub fn is_of(&self, budget: &Arc<Budget>) -> bool {
        Arc::ptr_eq(&self.budget, budget)
    }

    /// Returns whether both belong to one budget.
    pub fn shares_budget(&self, other: &Reservation) -> bool {
        Arc::ptr_eq(&self.budget, &other.budget)
    }

    /// Splits off `n` of its bytes as a separate reservation; `None` if it has fewer.
    pub fn split_off(&mut self, n: u64) -> Option<Reservation> {
        self.bytes = self.bytes.checked_sub(n)?;
        Some(Reservation { bytes: n, budget: self.budget.clone() })
    }

    /// Takes `n` more bytes; returns false, and takes none, if the budget has no room.
    pub fn grow_by(&mut self, n: u64) -> bool {
        let took = self.budget.take_bytes(n);
        if took {
            self.bytes += n;
        }
        took
    }

    /// Gives back all but `n` bytes.
    pub fn shrink_to(&mut self, n: u64) {
        let surplus = self.bytes.saturating_sub(n);
        self.bytes -= surplus;
        self.budget.give_bytes(surplus);
    }

    /// Adds the bytes of another reservation of the same budget.
    pub fn absorb_other(&mut self, mut other: Reservation) {
        debug_assert!(self.shares_budget(&other));
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.give_bytes(self.bytes);
    }
}

/// The bytes that a cloneable value holds of a budget; none at first. A clone holds as many again.
#[derive(Debug, Default)]
pub struct HeldBytes(Option<Reservation>);

impl HeldBytes {
    /// Holds `n` bytes of the budget, even past the limit.
    pub fn force_hold(budget: &Arc<Budget>, n: u64) -> HeldBytes {
        HeldBytes(Some(budget.reserve_anyway(n)))
    }

    /// Takes `n` more bytes; returns false, and takes none, if the budget has no room.
    pub fn grow_by(&mut self, budget: &Arc<Budget>, n: u64) -> bool {
        match &mut self.0 {
            Some(held) => held.grow_by(n),
            None => {
                self.0 = budget.reserve_bytes(n);
                self.0.is_some()
            }
        }
    }

    /// Gives back `n` bytes, or all if it has fewer.
    pub fn shrink_by(&mut self, n: u64) {
        if let Some(held) = &mut self.0 {
            held.shrink_to(held.bytes().saturating_sub(n));
        }
    }
}

impl Clone for HeldBytes {
    fn clone(&self) -> HeldBytes {
        HeldBytes(self.0.as_ref().map(Reservation::reserve_again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_up_to_the_ceiling_and_gives_back() {
        let budget = Budget::new(100);
        let mut a = budget.reserve_bytes(60).unwrap();
        assert!(budget.reserve_bytes(41).is_none() && budget.has_refused());
        let b = a.split_off(20).unwrap();
        assert!(a.split_off(41).is_none());
        assert_eq!((a.bytes(), b.bytes(), budget.used_bytes()), (40, 20, 60));
        assert!(a.grow_by(40) && !a.grow_by(1));
        drop(b);
        assert_eq!(budget.used_bytes(), 80);
        a.shrink_to(30);
        assert_eq!((budget.used_bytes(), budget.take_report()), (30, (100, true)));
        assert_eq!(budget.take_report(), (30, false));
        let c = budget.reserve_bytes(5).unwrap();
        a.absorb_other(c);
        assert_eq!((a.bytes(), budget.used_bytes()), (35, 35));
        drop(a);
        assert_eq!(budget.used_bytes(), 0);
    }

    #[test]
    fn a_lower_ceiling_gives_nothing_more() {
        let budget = Budget::new(100);
        let held = budget.reserve_bytes(80).unwrap();
        budget.set_limit(50);
        assert!(!budget.take_bytes(1) && !budget.has_room(0));
        drop(held);
        assert!(budget.has_room(50) && !budget.take_bytes(51));
    }

    #[test]
    fn nothing_is_given_while_the_host_has_no_room() {
        static ROOM: AtomicBool = AtomicBool::new(true);
        let budget = Budget::with_host_check(100, || ROOM.load(Ordering::Relaxed));
        let held = budget.reserve_bytes(60).unwrap();
        ROOM.store(false, Ordering::Relaxed);
        assert!(!budget.has_room(1) && budget.reserve_bytes(1).is_none());
        assert!(budget.has_refused() && budget.used_bytes() == 60);
        drop(held);
        assert_eq!(budget.used_bytes(), 0);
        ROOM.store(true, Ordering::Relaxed);
        assert!(budget.take_bytes(100));
    }

    #[test]
    fn a_copy_holds_as_much_again() {
        let budget = Budget::new(100);
        let mut held = HeldBytes::default();
        assert!(held.grow_by(&budget, 60) && !held.grow_by(&budget, 41));
        let copy = held.clone();
        assert_eq!((budget.used_bytes(), budget.has_room(0)), (120, false));
        held.shrink_by(50);
        assert_eq!(budget.used_bytes(), 70);
        drop((held, copy));
        assert_eq!(budget.used_bytes(), 0);
    }
}
