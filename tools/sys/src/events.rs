//! Caught signals; sleeping and waiting for input, which a caught signal interrupts; and CPU times.
//!
//! A caught signal only becomes pending; the code that caught it checks for it between two of its
//! own steps ([`has_pending`], [`take_pending`]). On the guest, signals arrive at system calls, so
//! code that makes no system calls must call [`poke_signals`] from time to time.
//!
//! Dispositions belong to the process: only the program's main interpreter sets them.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::backend;
use crate::net::{self, Wait};

static PENDING: AtomicU64 = AtomicU64::new(0);
static CAUGHT: AtomicU64 = AtomicU64::new(0);
static IGNORED: AtomicU64 = AtomicU64::new(0);
/// Signals that end in the handler: this process ignores them, its children do not.
static DROPPED: AtomicU64 = AtomicU64::new(0);

/// Returns the bit of a signal in the sets of this module; 0 for numbers that no set can hold.
pub fn signal_bit(signal: u8) -> u64 {
    1u64.checked_shl(u32::from(signal)).unwrap_or(0) & !1
}

/// Catches exactly the signals of the first set and ignores those of the second; all others have
/// their default action. Children inherit the ignored signals. KILL and STOP stay as they are.
pub fn catch_signals(caught: u64, ignored: u64) {
    let fixed = signal_bit(9) | signal_bit(19);
    let (caught, ignored) = (caught & !fixed, ignored & !fixed & !caught);
    let dropped = DROPPED.load(Relaxed);
    let old = (CAUGHT.swap(caught, Relaxed), IGNORED.swap(ignored, Relaxed));
    change_dispositions((old.0 | dropped, old.1), (caught | dropped, ignored));
}

/// Drops signals that are neither caught nor ignored, as if this process ignored them. Unlike
/// ignored signals, its children do not inherit that.
pub fn drop_signals(dropped: u64) {
    let (caught, ignored) = signal_dispositions();
    let old = DROPPED.swap(dropped, Relaxed);
    change_dispositions((caught | old, ignored), (caught | dropped, ignored));
}

/// Changes dispositions from the old pair of sets (handled, ignored) to the new one.
fn change_dispositions(old: (u64, u64), new: (u64, u64)) {
    let ((old_handled, old_ignored), (handled, ignored)) = (old, new);
    let (old, new) = ((old_handled & !old_ignored, old_ignored), (handled & !ignored, ignored));
    if old != new {
        backend::set_dispositions(old, new);
    }
}

/// Makes a write to a pipe without readers end this process, as SIGPIPE does by default. This is
/// for third-party code written for Unix, which expects to be ended and would otherwise report an
/// error.
pub fn end_by_closed_pipes() {
    backend::end_by_closed_pipes();
}

/// Returns the caught and the ignored signals that [`catch_signals`] set last.
pub fn signal_dispositions() -> (u64, u64) {
    (CAUGHT.load(Relaxed), IGNORED.load(Relaxed))
}

/// Returns the signals that this process ignored from its start, because its parent ignored them.
pub fn ignored_at_start() -> u64 {
    backend::ignored_at_start()
}

/// Returns whether a caught signal has arrived.
#[inline]
pub fn has_pending() -> bool {
    PENDING.load(Relaxed) != 0
}

/// Returns the caught signals that have arrived since the last call, and clears them.
pub fn take_pending() -> u64 {
    PENDING.swap(0, Relaxed)
}

/// Forgets a caught signal that arrived; returns whether it had.
pub fn forget_pending(signal: u8) -> bool {
    PENDING.fetch_and(!signal_bit(signal), Relaxed) & signal_bit(signal) != 0
}

/// Lets signals arrive in code that makes no system calls.
pub fn poke_signals() {
    if CAUGHT.load(Relaxed) != 0 && cfg!(target_os = "wasi") {
        std::hint::black_box(Instant::now());
    }
}

/// Records the arrival of a signal. The backend's handler calls it, so it may only touch atomics.
/// Returns whether the signal was one to be caught, dropped or ignored.
pub(crate) fn signal_arrived(signal: u8) -> bool {
    let bit = signal_bit(signal);
    if CAUGHT.load(Relaxed) & bit != 0 {
        PENDING.fetch_or(bit, Relaxed);
        return true;
    }
    (IGNORED.load(Relaxed) | DROPPED.load(Relaxed)) & bit != 0
}

/// Sleeps; `false` if a caught signal ended the sleep early.
pub fn sleep_for(time: Duration) -> bool {
    if CAUGHT.load(Relaxed) == 0 {
        std::thread::sleep(time);
        return true;
    }
    let end = Instant::now().checked_add(time);
    loop {
        if has_pending() {
            return false;
        }
        let left = end.map_or(Duration::MAX, |e| e.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return true;
        }
        backend::pause(left.min(backend::LONGEST_PAUSE));
    }
}

/// Returns whether a read would not block, because there is input or the input has ended. Waits at
/// most `time` for that. Fails with `Interrupted` if a caught signal arrives first.
pub fn poll_readable(file: &File, time: Duration) -> io::Result<bool> {
    net::wait(&[(file, Wait::Read)], Some(time)).map(|ready| ready[0])
}

/// CPU time used (`getrusage(2)`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    pub user: Duration,
    pub system: Duration,
    /// The time of the children that were waited for, including their children.
    pub children_user: Duration,
    pub children_system: Duration,
}

/// Returns the CPU times of this process and its children; zero where the system does not report
/// them.
pub fn cpu_times() -> CpuTimes {
    backend::cpu_times()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits() {
        assert_eq!(signal_bit(0), 0);
        assert_eq!(signal_bit(15), 1 << 15);
        assert_eq!(signal_bit(64), 0);
    }
}
